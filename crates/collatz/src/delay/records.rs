//! Delay records and path records.

use num_bigint::BigUint;

use super::{Delays, Survey, check_range, exact, exact_delay};
use crate::{CollatzError, Watch};

/// A number and its delay, the number of steps n/2 and 3n + 1 from it to 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DelayRecord {
    /// The number whose delay is recorded.
    pub n: u128,
    /// The delay of the number.
    pub delay: u32,
}

impl DelayRecord {
    /// Returns the record with the larger delay. If the delays are equal, returns the record with
    /// the smaller number.
    #[must_use]
    pub fn longer(self, other: Self) -> Self {
        let better = other.delay.cmp(&self.delay).then(self.n.cmp(&other.n)).is_gt();
        if better { other } else { self }
    }
}

/// A number and the maximum of its path. The path consists of steps n/2 and 3n + 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathRecord {
    /// The number at which the path starts.
    pub n: u128,
    /// The largest number on the path, the start included.
    pub maximum: BigUint,
}

/// The records set by the numbers below a range. A field is `None` if numbers below the range are
/// to be ignored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Standing {
    /// The largest delay of the numbers below the range.
    pub delay: Option<u32>,
    /// The largest number on any path that starts below the range.
    pub maximum: Option<BigUint>,
}

/// The records of a range, ascending. They are records among all positive numbers in two cases: the
/// range begins with 1, or the search was given the records of all smaller numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Records {
    /// The delay records: numbers whose delays exceed those of all smaller numbers.
    pub delays: Vec<DelayRecord>,
    /// The path records: numbers whose paths rise higher than those of all smaller numbers.
    pub paths: Vec<PathRecord>,
}

/// The result of the search of a range of numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The first number of the range.
    pub from: u128,
    /// The end of the processed numbers, not included. It is less than the end of the range if the
    /// search was stopped.
    pub to: u128,
    /// The sum of the delays of the processed numbers.
    pub sum: u128,
    /// The largest delay, with the smallest number that has it; `None` if no number was processed.
    pub longest: Option<DelayRecord>,
    /// The records among the processed numbers; empty if they were not requested.
    pub records: Records,
}

/// The count of numbers in the first chunk of a search for records. Each later chunk has twice as
/// many numbers as the chunk before it, up to the engine's limit. A chunk with too many candidates
/// for the engine is halved. The first chunks are small because the record is low at first, so that
/// the paths of many numbers may rise above it.
const FIRST: u64 = 1 << 10;

/// Computes the delays of all n with `from` ≤ n < `to`, and returns the sum of the delays and the
/// largest delay. If `standing` is given, returns the records too.
///
/// After each chunk of numbers, reports progress to the watch, and asks it whether to stop.
///
/// # Errors
/// The range is empty, begins with 0 or goes beyond [`END`](super::END); the device fails, lacks
/// memory or cannot compile a kernel; or a path does not reach 1 within some millions of steps.
pub fn search(
    engine: &mut dyn Delays,
    from: u128,
    to: u128,
    standing: Option<Standing>,
    watch: &dyn Watch,
) -> Result<Found, CollatzError> {
    check_range(from, to)?;
    let mut found = Found { from, to: from, sum: 0, longest: None, records: Records::default() };
    let mut standing = standing;
    let largest = engine.chunk().max(1);
    let mut size = if standing.is_some() { FIRST.min(largest) } else { largest };
    while found.to < to && !watch.is_stopped() {
        let first = found.to;
        let numbers = u64::try_from(to - first).map_or(size, |left| left.min(size));
        // Without a maximum so far, every number may be a record.
        let record = standing.as_ref().map(|s| s.maximum.clone().unwrap_or_default());
        let survey = match engine.survey(first, numbers, record.as_ref())? {
            Some(survey) => survey,
            None if numbers > 1 => {
                size = numbers / 2;
                continue;
            }
            None => Survey { candidates: vec![first], ..Survey::one(first, exact_delay(first)?) },
        };
        if let Some(standing) = &mut standing {
            let new = delay_records(engine, first, survey.longest, standing.delay)?;
            standing.delay = new.last().map(|record| record.delay).or(standing.delay);
            found.records.delays.extend(new);
            for n in survey.candidates {
                let maximum = exact(n)?.maximum;
                if standing.maximum.as_ref().is_none_or(|record| maximum > *record) {
                    standing.maximum = Some(maximum.clone());
                    found.records.paths.push(PathRecord { n, maximum });
                }
            }
        }
        found.sum += survey.sum;
        found.longest =
            Some(found.longest.map_or(survey.longest, |longest| longest.longer(survey.longest)));
        found.to += u128::from(numbers);
        size = (size * 2).min(largest);
        watch.done(numbers.into());
    }
    Ok(found)
}

/// Returns the delay records of a chunk of numbers that begins with `first`, ascending. `longest`
/// is the number with the largest delay of the chunk, and `so_far` is the largest delay of the
/// numbers below `first`. If the delay of `longest` exceeds `so_far`, `longest` is the last record.
/// Of the numbers from `first` to `longest` − 1, the one with the largest delay is the second to
/// last record, if its delay exceeds `so_far`. The function continues in this way.
fn delay_records(
    engine: &mut dyn Delays,
    first: u128,
    longest: DelayRecord,
    so_far: Option<u32>,
) -> Result<Vec<DelayRecord>, CollatzError> {
    let (mut records, mut longest) = (vec![], longest);
    while so_far.is_none_or(|so_far| longest.delay > so_far) {
        records.push(longest);
        if longest.n == first {
            break;
        }
        let numbers = u64::try_from(longest.n - first).unwrap_or(u64::MAX);
        longest = whole(engine, first, numbers)?.longest;
    }
    records.reverse();
    Ok(records)
}

/// Returns the summary of all n with `from` ≤ n < `from` + `numbers`, where `numbers` ≥ 1, without
/// candidates. If the engine refuses to survey all numbers at once, they are surveyed in parts.
pub(super) fn whole(
    engine: &mut dyn Delays,
    from: u128,
    numbers: u64,
) -> Result<Survey, CollatzError> {
    let (mut whole, mut done, mut size) = (None::<Survey>, 0, numbers);
    loop {
        let (first, part) = (from + u128::from(done), size.min(numbers - done));
        let survey = match engine.survey(first, part, None)? {
            Some(survey) => survey,
            None if part > 1 => {
                size = part / 2;
                continue;
            }
            None => Survey::one(first, exact_delay(first)?),
        };
        let sum = match whole {
            Some(whole) => whole.and(survey),
            None => survey,
        };
        done += part;
        if done >= numbers {
            return Ok(sum);
        }
        whole = Some(sum);
    }
}
