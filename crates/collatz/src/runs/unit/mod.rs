//! The result for a unit, and its file.
//!
//! A file is one line of JSON, `{"sha256":"<64 hexadecimal digits>","unit":{…}}`; the digest is the
//! SHA-256 of the text of the unit exactly as it stands in the file. Numbers that may exceed 2^53
//! are strings of decimal digits.

use num_bigint::BigUint;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use warpint_files::ErrorKind;

use crate::evidence::Evidence;
use crate::runs::Layout;
use crate::runs::sample::{self, Sample};
use crate::{Method, Region, Verified, Verifier, decimal};

/// The name of the format, which each file of a unit contains.
const FORMAT: &str = "warpint-collatz-unit";

/// The version of the format. It is incremented when older programs cannot read the new files.
/// Units of version 1 have no evidence.
const FORMAT_VERSION: u32 = 2;

/// The result for a verified unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Unit {
    format: String,
    format_version: u32,
    /// The name and version of the program that verified the unit: `warpint 0.2.0`.
    pub program: String,
    /// The name of the method.
    pub method: String,
    /// The version of the method.
    pub method_version: u32,
    /// The parameters of the method.
    pub parameters: String,
    /// The name of the CPU or device that verified the unit: `cpu`, `cuda:0`.
    pub place: String,
    /// The first number of the range.
    #[serde(with = "decimal")]
    pub from: u128,
    /// The number after the last number of the range.
    #[serde(with = "decimal")]
    pub to: u128,
    /// log2 of the count of numbers in a unit.
    pub unit_bits: u32,
    /// The number of this unit, from 0.
    pub unit: u64,
    /// The number of units of the range.
    pub units: u64,
    /// The set of numbers of this unit.
    pub region: RegionText,
    /// The count of numbers of this unit.
    #[serde(with = "decimal")]
    pub numbers: u128,
    /// The count of numbers walked one by one.
    #[serde(with = "decimal")]
    pub walked: u64,
    /// The highest value of the walked paths, if the method reports it.
    pub highest: Option<HighestText>,
    /// The method's checksum.
    #[serde(with = "decimal")]
    pub checksum: u64,
    /// The version of the sample's definition.
    pub sample_version: u32,
    /// The size of the sample.
    #[serde(with = "decimal")]
    pub sample_numbers: u64,
    /// The sum of the odd steps of the sample's numbers. The odd steps of a number are counted
    /// until its path is below the number.
    #[serde(with = "decimal")]
    pub sample_odd_steps: u64,
    /// The numbers whose paths did not fall below their starts within the limit of steps,
    /// ascending.
    #[serde(with = "decimal::list")]
    pub unresolved: Vec<u128>,
    /// The evidence of the work; units of format version 1 have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    evidence: Option<Evidence>,
    /// The computing time in seconds.
    pub seconds: f64,
    /// The time of completion: `2026-11-22T19:44:54Z`.
    pub finished: String,
}

/// The set of numbers of a unit, in the form that a unit's file contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum RegionText {
    /// The interval of all n with from ≤ n < to.
    Interval {
        /// The first number of the interval.
        #[serde(with = "decimal")]
        from: u128,
        /// The number after the last number of the interval.
        #[serde(with = "decimal")]
        to: u128,
    },
    /// The class of all n < 2^bits with n ≡ residue mod 2^`low_bits`.
    Class {
        /// The number of bits of the numbers, at most 127.
        bits: u32,
        /// The number of bits that the class fixes, at most `bits`.
        low_bits: u32,
        /// The low bits of all numbers of the class, below 2^`low_bits`.
        #[serde(with = "decimal")]
        residue: u128,
    },
}

impl From<Region> for RegionText {
    fn from(region: Region) -> Self {
        match region {
            Region::Interval { from, to } => Self::Interval { from, to },
            Region::Class { bits, low_bits, residue } => Self::Class { bits, low_bits, residue },
        }
    }
}

/// The highest value of a path, in the form that a unit's file contains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HighestText {
    /// The highest value of the path, defined as in [`Highest`](crate::Highest).
    #[serde(with = "decimal")]
    pub value: BigUint,
    /// The start of the path.
    #[serde(with = "decimal")]
    pub start: u128,
}

/// The reason why a text is not a valid unit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnitError {
    /// The text does not have the form of a unit.
    #[error("it is truncated, or not a unit of warpint collatz")]
    Form,
    /// The text was changed after it was written.
    #[error("its checksum does not match: it is damaged")]
    Damaged,
    /// A later version of the program wrote the unit. Its format version, method or sample version
    /// is unknown to this program.
    #[error("it was made by {program}, and this program does not know its {what}")]
    Later {
        /// The name and version of the program that wrote the unit.
        program: String,
        /// The part that is unknown: `method 'x'`.
        what: String,
    },
    /// The unit is well-formed, but its contents are impossible.
    #[error("it contradicts itself: {what}")]
    Contradiction {
        /// A description of the contradiction.
        what: &'static str,
    },
}

impl UnitError {
    /// Returns the kind of the error: always bad input.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::BadInput
    }
}

/// The entries of a unit's text that name its format and its program.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Head {
    format: String,
    format_version: u32,
    program: String,
}

impl Unit {
    /// Creates the result for unit `unit` of a layout.
    #[must_use]
    pub(crate) fn new(
        layout: &Layout,
        unit: u64,
        region: Region,
        verifier: &dyn Verifier,
        verified: Verified,
        sample: Sample,
        seconds: f64,
    ) -> Self {
        let mut unresolved = verified.unresolved;
        unresolved.extend(sample.unresolved);
        unresolved.sort_unstable();
        unresolved.dedup();
        Self {
            format: FORMAT.into(),
            format_version: FORMAT_VERSION,
            program: concat!("warpint ", env!("CARGO_PKG_VERSION")).into(),
            method: verifier.method().name().into(),
            method_version: verifier.version(),
            parameters: verifier.parameters(),
            place: verifier.place(),
            from: layout.from(),
            to: layout.to(),
            unit_bits: layout.unit_bits(),
            unit,
            units: layout.units(),
            region: region.into(),
            numbers: verified.numbers,
            walked: verified.walked,
            highest: verified
                .highest
                .map(|highest| HighestText { value: highest.value, start: highest.start }),
            checksum: verified.checksum,
            sample_version: sample::VERSION,
            sample_numbers: sample.numbers,
            sample_odd_steps: sample.odd_steps,
            unresolved,
            evidence: verified.evidence,
            seconds,
            finished: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        }
    }

    /// Returns the line of text of the unit's file, with its newline.
    ///
    /// # Errors
    /// No error is known to occur: JSON can represent every unit.
    pub fn to_text(&self) -> Result<String, serde_json::Error> {
        let unit = serde_json::to_string(self)?;
        Ok(format!("{{\"sha256\":\"{}\",\"unit\":{unit}}}\n", sha256(&unit)))
    }

    /// Parses the line of a unit's file, checks that it is complete and consistent, and returns the
    /// unit.
    ///
    /// # Errors
    /// [`UnitError`] if the text is not a valid unit.
    pub fn from_text(text: &[u8]) -> Result<Self, UnitError> {
        let (digest, unit) = std::str::from_utf8(text)
            .ok()
            .and_then(|text| text.strip_prefix("{\"sha256\":\"")?.strip_suffix("}\n"))
            .and_then(|text| text.split_once("\",\"unit\":"))
            .ok_or(UnitError::Form)?;
        if digest != sha256(unit) {
            return Err(UnitError::Damaged);
        }
        let head: Head = serde_json::from_str(unit).map_err(|_| UnitError::Form)?;
        if head.format != FORMAT {
            return Err(UnitError::Form);
        }
        if !(1..=FORMAT_VERSION).contains(&head.format_version) {
            let what = format!("format version {}", head.format_version);
            return Err(UnitError::Later { program: head.program, what });
        }
        let mut unit: Self = serde_json::from_str(unit).map_err(|_| UnitError::Form)?;
        if unit.format_version == 1 {
            if unit.evidence.is_some() {
                return Err(UnitError::Form);
            }
            unit.convert_version_1();
        }
        let is_known = Method::ALL.iter().any(|method| method.name() == unit.method);
        let unknown = if !is_known {
            Some(format!("method '{}'", unit.method.escape_debug()))
        } else if unit.sample_version > sample::VERSION {
            Some(format!("sample version {}", unit.sample_version))
        } else {
            None
        };
        if let Some(what) = unknown {
            return Err(UnitError::Later { program: unit.program, what });
        }
        unit.check()?;
        Ok(unit)
    }

    /// Converts a unit of format version 1. Its highest value m is the highest under T(n) = n/2 for
    /// even n and (3n + 1)/2 for odd n. It is converted to the highest value under n/2 and 3n + 1.
    /// If m is not the start, then the step to m is an even step from 2m, or an odd step whose 3n +
    /// 1 is 2m. So 2m is the highest value under n/2 and 3n + 1. If m is the start itself, no
    /// number of the region except 1 takes an odd step, and m remains the highest value.
    fn convert_version_1(&mut self) {
        self.format_version = FORMAT_VERSION;
        if let Some(highest) = self.highest.as_mut()
            && highest.value != BigUint::from(highest.start)
        {
            highest.value <<= 1u32;
        }
    }

    /// Returns an error if the contents of the unit contradict each other.
    pub(crate) fn check(&self) -> Result<(), UnitError> {
        let wrong = |what| UnitError::Contradiction { what };
        let layout =
            self.layout().map_err(|_| wrong("its range cannot be divided into such units"))?;
        if layout.units() != self.units {
            return Err(wrong("the number of units does not match its range"));
        }
        let region = layout.region(self.unit).ok_or(wrong("its range has no such unit"))?;
        if RegionText::from(region) != self.region {
            return Err(wrong("its numbers are not those of its unit"));
        }
        if region.numbers() != self.numbers {
            return Err(wrong("its count of numbers is not that of its unit"));
        }
        let of_region = |n: &u128| region.contains(*n);
        if !self.unresolved.iter().all(of_region)
            || !self.highest.iter().all(|highest| region.contains(highest.start))
        {
            return Err(wrong("a number is not of its unit"));
        }
        if !self.unresolved.is_sorted_by(|a, b| a < b) {
            return Err(wrong("its unresolved numbers are not in order"));
        }
        if self.highest.iter().any(|highest| highest.value < BigUint::from(highest.start)) {
            return Err(wrong("its highest value is below the start of its path"));
        }
        let of_sample = (sample::VERSION, self.numbers.min(sample::NUMBERS));
        if (self.sample_version, u128::from(self.sample_numbers)) != of_sample {
            return Err(wrong("its sample has a wrong count of numbers or an unknown version"));
        }
        if u128::from(self.walked) > self.numbers {
            return Err(wrong("it has more numbers walked than numbers"));
        }
        // Every odd number except 1 takes an odd step at once, and no even number does.
        if self.unresolved.is_empty() && (self.sample_odd_steps > 0) != has_odd(&region) {
            return Err(wrong("its sample is impossible for its numbers"));
        }
        if !self.seconds.is_finite() || self.seconds < 0.0 {
            return Err(wrong("its computing time is not a valid number"));
        }
        Ok(())
    }

    /// Returns the evidence; `None` if the unit has none. [`Evidence::check`] recomputes it.
    #[must_use]
    pub fn evidence(&self) -> Option<&Evidence> {
        self.evidence.as_ref()
    }

    /// Returns the layout: the unit's range and its division into units.
    ///
    /// # Errors
    /// [`LayoutError`](crate::runs::LayoutError) if the layout does not exist, which is impossible
    /// for units that were read or computed.
    pub fn layout(&self) -> Result<Layout, crate::runs::LayoutError> {
        Layout::new(self.from, self.to, self.unit_bits)
    }

    /// Returns whether this is unit `unit` of the given layout.
    #[must_use]
    pub fn is(&self, layout: &Layout, unit: u64) -> bool {
        (self.from, self.to, self.unit_bits, self.unit)
            == (layout.from(), layout.to(), layout.unit_bits(), unit)
    }

    /// Returns the method, its version and its parameters.
    pub(crate) fn how(&self) -> (String, u32, String) {
        (self.method.clone(), self.method_version, self.parameters.clone())
    }

    /// Returns the name of the first quantity in which two results for the same numbers contradict
    /// each other. Returns `None` if the results agree.
    ///
    /// The unresolved numbers and the count of all numbers are always compared. The samples are
    /// compared if their versions are equal. The method's checksum, the count of numbers walked and
    /// the highest value are compared if method, version and parameters are equal.
    #[must_use]
    pub fn disagreement(&self, other: &Self) -> Option<&'static str> {
        let same_sample = self.sample_version == other.sample_version;
        let sample = |unit: &Self| (unit.sample_numbers, unit.sample_odd_steps);
        if same_sample && sample(self) != sample(other) {
            return Some("the sample checksums");
        }
        if self.unresolved != other.unresolved {
            return Some("the unresolved numbers");
        }
        if self.numbers != other.numbers {
            return Some("the counts of numbers");
        }
        if self.how() != other.how() {
            return None;
        }
        if self.checksum != other.checksum {
            Some("the checksums of the method")
        } else if self.walked != other.walked {
            Some("the counts of numbers walked")
        } else if self.highest != other.highest {
            Some("the highest values")
        } else {
            None
        }
    }
}

/// Returns whether a region has an odd number other than 1. Only the first four numbers of the
/// region are inspected: they include an odd number other than 1 if the region has any. In this
/// case the sample has odd numbers too: it has all numbers of the region, or 2^20 random ones.
fn has_odd(region: &Region) -> bool {
    (0..4).filter_map(|index| region.nth(index)).any(|n| n > 1 && n % 2 == 1)
}

fn sha256(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
pub(crate) mod tests;
