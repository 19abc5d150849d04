//! The slow, obvious method, which follows the path of every number step by step.

use rayon::prelude::*;

use crate::evidence::asked::{Asked, split, within};
use crate::evidence::{Items, secret};
use crate::walk::Walker;
use crate::{CollatzError, Highest, Method, Region, Verified, Verifier, Watch};

/// The method that follows the path of every number, step by step, to the first value below its
/// start. The checksum is the total number of steps, each n/2 or (3n + 1)/2; unresolved numbers
/// contribute 0.
#[derive(Debug, Clone, Default)]
pub struct Plain {
    /// The walker that follows the paths; it sets the limit of steps.
    pub walker: Walker,
    /// The seed from which challenges are drawn (see [`crate::evidence`]). `None` means a new
    /// random seed for each region.
    pub seed: Option<u64>,
    /// The count E of numbers such that about one challenge is drawn for every E numbers; `None`
    /// means 2^12.
    pub every: Option<u64>,
}

/// By default, about one challenge is drawn for this count of numbers. The check of a challenge
/// takes about as long as following the paths of 64 numbers.
const NUMBERS_OF_A_CHALLENGE: u64 = 1 << 12;

/// The count of numbers between two polls of the watch.
const CHUNK: u128 = 1 << 16;

impl Plain {
    fn one(&self, n: u128) -> Verified {
        let mut verified = Verified { numbers: 1, walked: 1, ..Verified::default() };
        match self.walker.descend(n) {
            Some(descent) => {
                verified.checksum = descent.steps;
                verified.highest = Some(Highest { value: descent.highest, start: n });
            }
            None => verified.unresolved.push(n),
        }
        verified
    }
}

impl Verifier for Plain {
    fn method(&self) -> Method {
        Method::Plain
    }

    fn version(&self) -> u32 {
        1
    }

    fn parameters(&self) -> String {
        "none".into()
    }

    fn place(&self) -> String {
        "cpu".into()
    }

    fn verify(
        &mut self,
        region: &Region,
        watch: &dyn Watch,
    ) -> Result<Option<Verified>, CollatzError> {
        let (numbers, this) = (region.numbers(), &*self);
        let seed = match self.seed {
            Some(seed) => seed,
            None => secret()?,
        };
        let every = self.every.unwrap_or(NUMBERS_OF_A_CHALLENGE);
        let items = Items::Plain { region: *region, walker: self.walker.clone() };
        let asked = Asked::new(self.place(), *region, items, seed, every);
        let challenged = asked.indices();
        let chunks = u64::try_from(numbers.div_ceil(CHUNK)).unwrap_or(u64::MAX);
        let sum = |mut a: Verified, b: Verified| {
            a.add(b);
            a
        };
        let verified = (0..chunks).into_par_iter().try_fold(Verified::default, |all, chunk| {
            if watch.is_stopped() {
                return None;
            }
            let first = u128::from(chunk) * CHUNK;
            let last = numbers.min(first + CHUNK);
            let here = within(&challenged, first..last);
            let all = split(first..last, here).into_iter().fold(all, |all, (part, challenges)| {
                let numbers = part.clone().filter_map(|index| region.nth(index));
                let found = numbers.map(|n| this.one(n)).fold(Verified::default(), sum);
                if challenges > 0 {
                    let shares = part.filter_map(|index| asked.items().share(index));
                    let expected = shares.map(|share| share.checksum).sum();
                    asked.compare("a sum of steps", challenges, found.checksum, expected);
                }
                sum(all, found)
            });
            watch.done(last - first);
            Some(all)
        });
        let verified = verified.try_reduce(Verified::default, |a, b| Some(sum(a, b)));
        let Some(mut verified) = verified else { return Ok(None) };
        verified.evidence = Some(asked.end(&verified)?);
        Ok(Some(verified))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unwatched;

    #[test]
    fn small_numbers_all_come_down() {
        let region = Region::interval(0, 100_000).unwrap();
        let verified = Plain::default().verify(&region, &Unwatched).unwrap().unwrap();
        assert_eq!((verified.numbers, verified.walked), (100_000, 100_000));
        assert!(verified.unresolved.is_empty());
        // A path record of the published lists.
        let highest = verified.highest.unwrap();
        assert_eq!((highest.start, highest.value), (77_671, 1_570_824_736u32.into()));
    }

    #[test]
    fn a_trap_is_found() {
        let mut plain = Plain {
            walker: Walker { trap: Some(4616u32.into()), limit: 1000 },
            ..Plain::default()
        };
        let region = Region::interval(20, 30).unwrap();
        let verified = plain.verify(&region, &Unwatched).unwrap().unwrap();
        assert_eq!(verified.unresolved, [27]);
    }
}
