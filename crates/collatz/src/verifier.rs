//! What every method of verification takes and gives.

use num_bigint::BigUint;

use crate::evidence::Evidence;
use crate::{CollatzError, Region, Watch};

/// How numbers are verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// Every number step by step.
    Plain,
    /// Some bits at a time by tables, residues that cannot matter left out (Honda 2017, §4.3 and §4.4).
    Table,
    /// Numbers grown from their low bits, whole subtrees left out.
    Sieve,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Table, Self::Sieve];

    /// Its name for users.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Table => "table",
            Self::Sieve => "sieve",
        }
    }
}

/// The largest value of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Highest {
    /// The value: a number of the path under n/2 and 3n + 1, as in the published lists (27 rises to 9,232).
    pub value: BigUint,
    /// The number whose path it is on; the smallest if there are several.
    pub start: u128,
}

impl Highest {
    /// The higher of two; of equal ones that of the smaller start.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        let better = other.value.cmp(&self.value).then(self.start.cmp(&other.start)).is_gt();
        if better { other } else { self }
    }

    /// The same of what may not be known.
    #[must_use]
    pub fn of(a: Option<Self>, b: Option<Self>) -> Option<Self> {
        match (a, b) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        }
    }
}

/// What is known of a region: each of its numbers reaches a smaller number, or a number on the path of a
/// smaller one, `unresolved` ones excepted. So if all smaller numbers reach 1, these do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verified {
    /// Numbers of the region.
    pub numbers: u128,
    /// Those of them that were walked one by one; the others fell to the method's sieves.
    pub walked: u64,
    /// A sum over what was walked, bound to the method, its version and its parameters.
    pub checksum: u64,
    /// The highest value of the paths walked, if the method says it.
    pub highest: Option<Highest>,
    /// Numbers that did not come below their start within the walk's limit of steps, ascending.
    pub unresolved: Vec<u128>,
    /// That the work on the region was done, as far as random parts of it show; nothing for sums of several regions.
    pub evidence: Option<Evidence>,
}

impl Verified {
    /// What is known of both of two regions without common numbers.
    pub fn add(&mut self, other: Self) {
        self.evidence = None;
        self.numbers += other.numbers;
        self.walked += other.walked;
        self.checksum = self.checksum.wrapping_add(other.checksum);
        self.highest = Highest::of(self.highest.take(), other.highest);
        self.unresolved.extend(other.unresolved);
        self.unresolved.sort_unstable();
    }
}

/// A method at a place, with its tables.
pub trait Verifier: Send {
    /// Which one.
    fn method(&self) -> Method;

    /// Of the method: raised when its checksum changes.
    fn version(&self) -> u32;

    /// What else the checksum depends on: `d=32`; no spaces.
    fn parameters(&self) -> String;

    /// The place: `cpu`, `cuda:0`.
    fn place(&self) -> String;

    /// Whether it has a way for a region.
    ///
    /// # Errors
    /// It has none, and [`Verifier::verify`] would say the same.
    fn takes(&self, _region: &Region) -> Result<(), CollatzError> {
        Ok(())
    }

    /// Verifies a region, given all numbers that are smaller than its largest and not in it; nothing if the
    /// watch stopped it.
    ///
    /// # Errors
    /// The device fails, or the method has no way for such a region.
    fn verify(
        &mut self,
        region: &Region,
        watch: &dyn Watch,
    ) -> Result<Option<Verified>, CollatzError>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plain;
    use crate::Unwatched;
    use crate::sieve::{CpuSieve, Sieve};
    use crate::table::{TableMethod, TableOptions};

    #[test]
    fn what_a_method_does_not_take_it_does_not_verify() {
        let sieve = || Box::new(Sieve::new(CpuSieve::default()));
        let options = |bits| TableOptions { sieve_bits: Some(bits), ..TableOptions::default() };
        let table = |bits| Box::new(TableMethod::new(options(bits)).unwrap());
        let class = |bits, low_bits| Region::class(bits, low_bits, 3).unwrap();
        let high = Region::interval(1 << 126, (1 << 126) + (1 << 16)).unwrap();
        let cases: [(Box<dyn Verifier>, Region, bool); 9] = [
            (Box::new(Plain::default()), high, true),
            (sieve(), class(127, 24), false),
            (sieve(), high, false),
            (sieve(), class(20, 4), true),
            (sieve(), class(127, 120), true),
            (table(8), class(20, 9), false),
            (table(9), class(20, 9), true),
            (table(9), class(127, 40), false),
            (table(8), high, true),
        ];
        for (mut verifier, region, takes) in cases {
            let method = verifier.method();
            assert_eq!(verifier.takes(&region).is_ok(), takes, "{method:?}, {region}");
            let verified = verifier.verify(&region, &Unwatched);
            assert_eq!(verified.is_ok(), takes, "{method:?}, {region}");
        }
    }
}
