//! The names of unit files.

use std::fmt;
use std::path::Path;

use crate::runs::Layout;

/// The ending of the name of a unit's file.
const UNIT: &str = ".json";

/// The ending of the name of a unit's lock.
pub(crate) const LOCK: &str = ".json.lock";

/// The ending of the name of an unfinished file.
pub(crate) const UNFINISHED: &str = ".tmp";

/// The number of random letters and digits before the ending of an unfinished file.
const RANDOM: usize = 6;

/// The name of a unit of a layout: `below-2p40-u32-007`, `from-5-to-700-u32-0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) from: u128,
    pub(crate) to: u128,
    pub(crate) unit_bits: u32,
    pub(crate) unit: u64,
    /// The number of units of the range.
    units: u64,
}

impl Name {
    /// Returns the name of a unit of a layout.
    pub(crate) fn new(layout: &Layout, unit: u64) -> Self {
        let (from, to) = (layout.from(), layout.to());
        Self { from, to, unit_bits: layout.unit_bits(), unit, units: layout.units() }
    }

    /// Parses the name of a unit, in exactly the form in which names are written. Returns `None` if
    /// the text has another form, or names a layout that does not exist or has no such unit.
    fn parse(text: &str) -> Option<Self> {
        let (range, unit) = text.rsplit_once("-u")?;
        let (unit_bits, unit) = unit.split_once('-')?;
        let (from, to) = match range.strip_prefix("below-2p") {
            Some(bits) => (0, 1u128.checked_shl(bits.parse().ok()?)?),
            None => {
                let (from, to) = range.strip_prefix("from-")?.split_once("-to-")?;
                (from.parse().ok()?, to.parse().ok()?)
            }
        };
        let layout = Layout::new(from, to, unit_bits.parse().ok()?).ok()?;
        let unit = unit.parse().ok().filter(|unit| *unit < layout.units())?;
        let name = Self::new(&layout, unit);
        // Names with signs, other zeros, or powers of two as intervals are not of this form.
        (name.to_string() == text).then_some(name)
    }

    /// Parses the name of a unit's file; `None` for other files.
    pub(crate) fn of_unit(path: &Path) -> Option<Self> {
        Self::parse(name(path)?.strip_suffix(UNIT)?)
    }

    /// Parses the name of a unit's lock; `None` for other files.
    pub(crate) fn of_lock(path: &Path) -> Option<Self> {
        Self::parse(name(path)?.strip_suffix(LOCK)?)
    }

    /// Parses the name of an unfinished file; `None` for other files.
    pub(crate) fn of_unfinished(path: &Path) -> Option<Self> {
        let (unit, random) = name(path)?.strip_suffix(UNFINISHED)?.rsplit_once('.')?;
        let drawn = random.len() == RANDOM && random.bytes().all(|b| b.is_ascii_alphanumeric());
        Self::parse(unit.strip_suffix(UNIT)?).filter(|_| drawn)
    }

    /// Returns whether the name belongs to a unit of `layout`.
    pub(crate) fn is_of(&self, layout: &Layout) -> bool {
        (self.from, self.to, self.unit_bits) == (layout.from(), layout.to(), layout.unit_bits())
    }

    /// Returns the name of the unit's file.
    pub(crate) fn file(&self) -> String {
        format!("{self}{UNIT}")
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.from == 0 && self.to.is_power_of_two() {
            write!(f, "below-2p{}", self.to.trailing_zeros())?;
        } else {
            write!(f, "from-{}-to-{}", self.from, self.to)?;
        }
        let width = self.units.saturating_sub(1).to_string().len();
        write!(f, "-u{}-{:0width$}", self.unit_bits, self.unit)
    }
}

fn name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for (from, to, bits, unit) in [
            (0, 1 << 40, 32, 7),
            (0, 1 << 127, 127, 0),
            (0, 1, 0, 0),
            (5, 700, 32, 0),
            (1 << 70, (1 << 70) + (1 << 53), 40, 1000),
            (0, 700, 2, 3),
        ] {
            let name = Name::new(&Layout::new(from, to, bits).unwrap(), unit);
            let text = name.to_string();
            assert_eq!(Name::parse(&text), Some(name), "{text}");
            assert_eq!(Name::of_unit(Path::new(&format!("d/{text}.json"))), Some(name));
            assert_eq!(Name::of_lock(Path::new(&format!("d/{text}.json.lock"))), Some(name));
            let unfinished = format!("{text}.json.aZ0123.tmp");
            assert_eq!(Name::of_unfinished(Path::new(&unfinished)), Some(name));
        }
    }

    #[test]
    fn other_names_are_not_ours() {
        for text in [
            "",
            "package",
            "below-2p20-u200-x",
            "below-2p20-u200-0",
            "below-2p20-u18-4",
            "below-2p20-u18-01",
            "below-2p20-u018-1",
            "below-2p+20-u18-1",
            "below-2p20-u18-1 ",
            "below-2p20-u18-1-u18-1",
            "below-2p128-u18-1",
            "below-2p60-u3-1",
            "from-0-to-1024-u8-1",
            "from-7-to-7-u8-0",
            "from-9-to-7-u8-0",
            "from--1-to-7-u8-0",
        ] {
            assert_eq!(Name::parse(text), None, "{text}");
        }
        for file in ["x.json.lock", "package.json.lock", "below-2p20-u18-1.lock"] {
            assert_eq!(Name::of_lock(Path::new(file)), None, "{file}");
        }
        for file in [
            "below-2p20-u18-1.json.x.tmp",
            "below-2p20-u18-1.json.tmp",
            "below-2p20-u18-1.json.12345-.tmp",
            "package.json.abcdef.tmp",
        ] {
            assert_eq!(Name::of_unfinished(Path::new(file)), None, "{file}");
        }
    }
}
