//! The files of a source, in the form that the C++ compiler reads.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Component, Path};

use crate::{DeviceError, Source};

/// The name of the file that includes the kernels and lists them.
pub(super) const MAIN: &str = "simt_module.cpp";
/// The name of the file with the constants of a recorded unit, one `NAME=VALUE` per line.
const DEFINES: &str = "defines.txt";

/// The files and the constants of a translation unit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Unit {
    /// The relative path and the text of each file.
    pub(super) files: Vec<(String, String)>,
    /// The constants, each as `NAME=VALUE`.
    pub(super) defines: Vec<String>,
    /// The source's file name and constants, for messages.
    pub(super) title: String,
}

impl Unit {
    pub(super) fn new(source: &Source) -> Result<Self, DeviceError> {
        let mut files = vec![(source.name().to_owned(), source.text().to_owned())];
        files.extend(source.header_texts().iter().map(|(n, t)| ((*n).to_owned(), (*t).to_owned())));
        for (name, _) in &files {
            if !Path::new(name).components().all(|c| matches!(c, Component::Normal(_))) {
                return Err(DeviceError::Compile {
                    source_title: source.title(),
                    log: format!("`{name}` is not a relative path without `..`"),
                });
            }
        }
        // An unnamed namespace, so that the names of all kernels are local to the unit, and static
        // variables of inline functions and templates may share a section.
        let mut main = format!(
            "namespace {{\n#include \"{}\"\n}}\n#include \"kernel_table.h\"\n",
            source.name()
        );
        let bound =
            |kernel: &str| launch_bound(files.iter().map(|(_, text)| text.as_str()), kernel);
        let entry = |name: &&str| format!("SIMT_KERNEL({name}, {})", bound(name).unwrap_or("0"));
        let kernels: Vec<_> = source.kernels().iter().map(entry).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(main, "SIMT_MODULE({})", kernels.join(", "));
        files.push((MAIN.to_owned(), main));
        let defines = source.defines().iter().map(|(n, v)| format!("{n}={v}")).collect();
        Ok(Self { files, defines, title: source.title() })
    }

    /// Writes the files of the unit, without its constants, into a folder.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        for (name, text) in &self.files {
            let path = folder.join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(path, text)?;
        }
        Ok(())
    }

    /// Writes the files and the constants into a folder, from which [`Unit::read`] reads them.
    pub(super) fn record(&self, folder: &Path) -> io::Result<()> {
        self.write(folder)?;
        fs::write(folder.join(DEFINES), self.defines.join("\n"))
    }

    /// Reads a unit from a folder into which [`Unit::record`] wrote it. The title of the unit is
    /// the path of the folder.
    pub(super) fn read(folder: &Path) -> io::Result<Self> {
        let mut files = vec![];
        read_folder(folder, "", &mut files)?;
        files.sort();
        let at = files.iter().position(|(name, _)| name == DEFINES);
        let defines = at.map(|at| files.remove(at).1).unwrap_or_default();
        let defines = defines.lines().map(str::to_owned).collect();
        Ok(Self { files, defines, title: folder.display().to_string() })
    }
}

/// Returns the largest number of threads of a block of a kernel: the expression that is the first
/// argument of `__launch_bounds__` between `extern "C"` and its name. Returns `None` if there is none,
/// or if there are several different ones, under conditions of the preprocessor.
fn launch_bound<'a>(texts: impl Iterator<Item = &'a str>, kernel: &str) -> Option<&'a str> {
    const BOUNDS: &str = "__launch_bounds__(";
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut bounds = vec![];
    for text in texts {
        for (at, _) in text.match_indices(kernel) {
            let (before, after) = (&text[..at], &text[at + kernel.len()..]);
            if before.ends_with(is_name) || !after.trim_start().starts_with('(') {
                continue;
            }
            let begin = before.rfind("extern \"C\"").unwrap_or(at);
            // A call stands in the body of another function.
            if before[begin..].contains('{') {
                continue;
            }
            for (at, _) in before[begin..].match_indices(BOUNDS) {
                let arguments = &text[begin + at + BOUNDS.len()..];
                let (first, _) = arguments_of_call(arguments)?;
                bounds.push(arguments[..first].trim());
            }
        }
    }
    bounds.sort_unstable();
    bounds.dedup();
    if let [bound] = bounds[..] { Some(bound) } else { None }
}

/// Returns the ends of the first argument and of the whole text `…)` of a call's arguments; `None` if
/// no parenthesis ends it.
fn arguments_of_call(text: &str) -> Option<(usize, usize)> {
    let (mut open, mut first) = (0, None);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => open += 1,
            ')' if open > 0 => open -= 1,
            ')' => return Some((first.unwrap_or(at), at + 1)),
            ',' if open == 0 => first = first.or(Some(at)),
            _ => {}
        }
    }
    None
}

fn read_folder(folder: &Path, prefix: &str, files: &mut Vec<(String, String)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            read_folder(&entry.path(), &format!("{name}/"), files)?;
        } else {
            files.push((name, fs::read_to_string(entry.path())?));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launch_bounds_are_those_before_the_name() {
        let text = "extern \"C\" __global__ void __launch_bounds__(f(A, 2) * 32, 1)\none(int x) {}\n\
                    extern \"C\" __global__ void __launch_bounds__(THREADS)\n#if KIND\ntwo (int x)\n\
                    #else\ntwo_of(int x)\n#endif\n{ one (x); }\n\
                    extern \"C\" void __launch_bounds__(64) three(int x) {}\n\
                    extern \"C\" void __launch_bounds__(96) three(int x) {}\n\
                    extern \"C\" void four(int x) {}\nvoid __launch_bounds__(";
        let bound = |kernel: &str| launch_bound(["", text].into_iter(), kernel);
        assert_eq!(bound("one"), Some("f(A, 2) * 32"));
        assert_eq!((bound("two"), bound("two_of")), (Some("THREADS"), Some("THREADS")));
        // Conditions of the preprocessor are not known here.
        assert_eq!(bound("three"), None);
        for none in ["four", "tw", "on", "x"] {
            assert_eq!(bound(none), None, "{none}");
        }
    }
}
