//! `warpint collatz merge`

use std::fmt::{self, Display};
use std::time::Duration;

use serde::Serialize;
use warpint::collatz::runs::{Folder, Merged, Missing};

use super::numbers::{claim, highest, list, number, unresolved};
use super::text::{self, MethodObject, printable};
use super::verifiers::refused;
use crate::args::MergeArgs;
use crate::exit::Exit;
use crate::report::{notice, write_out};
use crate::units;

pub(crate) fn run(args: &MergeArgs) -> anyhow::Result<Exit> {
    let folders: Result<Vec<_>, _> = args.dirs.iter().map(|dir| Folder::existing(dir)).collect();
    let merged = Merged::of(&folders.map_err(refused)?)?;
    for unusable in &merged.unusable {
        let line = format!("{}: {}: not counted", unusable.path.display(), unusable.reason);
        notice(&printable(&line));
    }
    for disagreement in &merged.disagreements {
        let (first, second) = (disagreement.first.display(), disagreement.second.display());
        notice(&printable(&format!(
            "DISAGREEMENT: {} of {first} and {second} differ: do that unit once more elsewhere",
            disagreement.what
        )));
    }
    let text = if args.json {
        serde_json::to_string(&Object::new(&merged))?
    } else {
        Report { merged: &merged }.to_string()
    };
    write_out((text + "\n").as_bytes())?;
    Ok(if !merged.unusable.is_empty() {
        Exit::BadInput
    } else if merged.complete().is_some() {
        Exit::Done
    } else {
        Exit::Negative
    })
}

/// Several lines.
struct Report<'a> {
    merged: &'a Merged,
}

impl Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let merged = self.merged;
        match merged.complete() {
            Some((from, to)) => writeln!(f, "verified: {}", claim(from, to))?,
            None if merged.units == 0 => return f.write_str("no units are there"),
            None if !merged.unresolved.is_empty() => {
                writeln!(f, "{}", unresolved(&merged.unresolved))?;
            }
            None => writeln!(f, "not one complete range")?,
        }
        writeln!(f, "{}: {}", units::count(merged.units, "unit"), text::by(&merged.methods))?;
        for &(from, to) in &merged.covered {
            writeln!(f, "covered: {} to below {}", number(from), number(to))?;
        }
        for missing in &merged.missing {
            writeln!(f, "{}", missing_line(missing))?;
        }
        for &(from, to) in &merged.first_gaps {
            writeln!(f, "gap: {} to below {}", number(from), number(to))?;
        }
        let more = merged.gaps - merged.first_gaps.len() as u64;
        if more > 0 {
            writeln!(f, "… and {}", units::count(more, "more gap"))?;
        }
        writeln!(
            f,
            "{}, {}, {}, {} that cannot be used",
            units::count(merged.gaps, "gap"),
            units::count(merged.duplicates, "duplicate"),
            units::count(merged.disagreements.len() as u64, "disagreement"),
            units::count(merged.unusable.len() as u64, "file"),
        )?;
        let time = Duration::try_from_secs_f64(merged.seconds).unwrap_or_default();
        writeln!(f, "computing time {}", units::elapsed(time))?;
        match &merged.highest {
            Some(peak) => f.write_str(&highest(peak)),
            None => f.write_str("highest value not known"),
        }
    }
}

/// `below 2^40: 2 of 256 classes are missing: 3, 6 modulo 2^8`
fn missing_line(missing: &Missing) -> String {
    let Missing { bits, low_bits, classes, some } = missing;
    let more = if some.len() as u128 == *classes { "" } else { ", …" };
    let (below, all) = (number(1 << bits), 1u128 << low_bits);
    let verb = if *classes == 1 { "is" } else { "are" };
    format!(
        "below {below}: {classes} of {all} residue classes {verb} missing: {}{more} modulo 2^{low_bits}",
        list(some)
    )
}

/// The same as JSON. Numbers that may exceed 2^53 are strings of digits.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Object {
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<String>,
    units: u64,
    duplicates: u64,
    covered: Vec<Interval>,
    gaps: u64,
    first_gaps: Vec<Interval>,
    missing: Vec<MissingObject>,
    disagreements: Vec<DisagreementObject>,
    unusable: Vec<UnusableObject>,
    unresolved: Vec<String>,
    highest: Option<Peak>,
    methods: Vec<MethodObject>,
    seconds: f64,
}

#[derive(Serialize)]
struct Interval {
    from: String,
    to: String,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct MissingObject {
    bits: u32,
    low_bits: u32,
    classes: String,
    some: Vec<String>,
}

#[derive(Serialize)]
struct DisagreementObject {
    first: String,
    second: String,
    what: &'static str,
}

#[derive(Serialize)]
struct UnusableObject {
    path: String,
    reason: String,
}

#[derive(Serialize)]
struct Peak {
    value: String,
    start: String,
}

impl Object {
    fn new(merged: &Merged) -> Self {
        let texts = |numbers: &[u128]| numbers.iter().map(ToString::to_string).collect();
        let intervals = |list: &[(u128, u128)]| {
            list.iter()
                .map(|(from, to)| Interval { from: from.to_string(), to: to.to_string() })
                .collect()
        };
        let missing = merged.missing.iter().map(|missing| MissingObject {
            bits: missing.bits,
            low_bits: missing.low_bits,
            classes: missing.classes.to_string(),
            some: texts(&missing.some),
        });
        let disagreements = merged.disagreements.iter().map(|disagreement| DisagreementObject {
            first: disagreement.first.display().to_string(),
            second: disagreement.second.display().to_string(),
            what: disagreement.what,
        });
        let unusable = merged.unusable.iter().map(|unusable| UnusableObject {
            path: unusable.path.display().to_string(),
            reason: unusable.reason.clone(),
        });
        Self {
            complete: merged.complete().is_some(),
            claim: merged.complete().map(|(from, to)| claim(from, to)),
            units: merged.units,
            duplicates: merged.duplicates,
            covered: intervals(&merged.covered),
            gaps: merged.gaps,
            first_gaps: intervals(&merged.first_gaps),
            missing: missing.collect(),
            disagreements: disagreements.collect(),
            unusable: unusable.collect(),
            unresolved: texts(&merged.unresolved),
            highest: merged.highest.as_ref().map(|highest| Peak {
                value: highest.value.to_string(),
                start: highest.start.to_string(),
            }),
            methods: text::objects(&merged.methods),
            seconds: merged.seconds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_classes_are_one_line() {
        let missing = Missing { bits: 40, low_bits: 8, classes: 2, some: vec![3, 6] };
        assert_eq!(
            missing_line(&missing),
            "below 2^40: 2 of 256 residue classes are missing: 3, 6 modulo 2^8"
        );
        let one = Missing { classes: 1, some: vec![3], ..missing.clone() };
        assert!(missing_line(&one).contains("1 of 256 residue classes is missing: 3 modulo"));
        let many = Missing { classes: 12, ..missing };
        assert!(missing_line(&many).ends_with("3, 6, … modulo 2^8"));
    }
}
