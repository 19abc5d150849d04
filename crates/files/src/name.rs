//! File names: checks that a name is a single component of a path, and names of temporary files.

use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, RandomState};
use std::path::{Component, Path};

/// The ending of a temporary file's name.
pub(crate) const END: &str = ".tmp";
/// The number of random letters and digits before the ending of a temporary file's name.
const DRAWN: usize = 6;

/// Returns whether a name is exactly one component of a path. Such a name is not empty, has no
/// separator, and is neither `.` nor `..`.
pub(crate) fn is_single(name: &OsStr) -> bool {
    let mut components = Path::new(name).components();
    let single = matches!(components.next(), Some(Component::Normal(part)) if part == name);
    single && components.next().is_none()
}

/// Returns `NAME.<six letters and digits>.tmp` for the name `NAME`. The letters and digits are
/// random.
pub(crate) fn temporary(name: &OsStr) -> OsString {
    const LETTERS: &[u8; 62] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    // The keys of `RandomState` are random numbers of the operating system.
    let mut drawn = RandomState::new().hash_one(std::process::id());
    let mut temporary = name.to_owned();
    temporary.push(".");
    for _ in 0..DRAWN {
        let letter = LETTERS[(drawn % 62) as usize];
        temporary.push(char::from(letter).to_string());
        drawn /= 62;
    }
    temporary.push(END);
    temporary
}

/// Returns the final name of the temporary file `name`. For `NAME.<six letters and digits>.tmp`, it
/// is `NAME`. Returns `None` for a name of another form.
pub(crate) fn of_temporary(name: &OsStr) -> Option<&str> {
    let (name, drawn) = name.to_str()?.strip_suffix(END)?.rsplit_once('.')?;
    let is_drawn = drawn.len() == DRAWN && drawn.bytes().all(|b| b.is_ascii_alphanumeric());
    Some(name).filter(|name| is_drawn && !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_names_differ_and_are_known_again() {
        let [a, b] = [(); 2].map(|()| temporary(OsStr::new("unit.json")));
        assert_ne!(a, b);
        assert_eq!(of_temporary(&a), Some("unit.json"));
        for other in ["unit.json", "unit.tmp", "unit.abc.tmp", ".abcdef.tmp", "a.abcde-.tmp"] {
            assert_eq!(of_temporary(OsStr::new(other)), None, "{other}");
        }
    }

    #[test]
    fn a_path_is_no_name() {
        assert!(is_single(OsStr::new("a.b")));
        for other in ["", ".", "..", "a/b", "/a", "a/", "./a", "../a"] {
            assert!(!is_single(OsStr::new(other)), "{other}");
        }
    }
}
