//! The order in which `warpint tune` times plans, and when the search ends.
//!
//! 1. Variants are timed rank by rank: first the most promising variant of every length, then the
//!    second most promising of every length, and so on.
//! 2. With a budget, no further variants of a length are timed if its best time is at least
//!    [`SLOW`] times the best time of all lengths. This phase ends when the share [`SEARCH`] of the
//!    budget is spent.
//! 3. In the remaining lengths, variants whose time is at most [`NEAR`] times the fastest time of
//!    their length are timed again, for longer, the fastest first. This phase ends when the whole
//!    budget is spent.
//!
//! The order depends only on the plans, their times and these rules. The elapsed time only decides
//! when the two phases end. At least one plan is timed, however small the budget is.

use std::time::Duration;

/// The duration of each plan's first timing.
const SHORTLY: Duration = Duration::from_millis(50);

/// The duration of the second timing, which only the best plans get.
const AGAIN: Duration = Duration::from_millis(300);

/// The number of plans whose kernels are compiled at a time. To compile kernels, engines are built,
/// and the largest engines take a gigabyte each on the device.
pub(super) const AHEAD: usize = 8;

/// A variant is timed again if its time is at most this factor times the fastest time of its
/// length.
pub(super) const NEAR: f64 = 1.1;

/// A length is not searched further if its best time is this many times the best time of all
/// lengths, or more. The times of variants of one length differ by a smaller factor.
const SLOW: f64 = 1.5;

/// The share of the budget for first timings. The rest is for second timings of the best plans.
const SEARCH: f64 = 0.75;

/// A clock that times plans. A plan is identified by its index in a list.
pub(super) trait Stopwatch {
    /// Compiles the kernels of the given plans at once.
    fn prepare(&mut self, plans: &[usize]);
    /// Returns the time of a squaring by a plan, from a measurement that lasts about `each`.
    fn time(&mut self, plan: usize, each: Duration) -> Result<Duration, String>;
    /// Returns the time since the start of the search.
    fn spent(&self) -> Duration;
    /// Returns whether a stop was requested.
    fn is_stopped(&self) -> bool;
}

/// The result of a search.
pub(super) struct Found {
    /// For each plan, the least time of a squaring, or the error; `None` for a plan that was not
    /// timed.
    pub(super) times: Vec<Option<Result<Duration, String>>>,
    /// Whether the budget was spent, or a stop was requested, before all first and second timings
    /// were done.
    pub(super) ended_early: bool,
}

impl Found {
    /// Returns the least time of a squaring by a plan. Returns `None` if the plan failed or was not
    /// timed.
    pub(super) fn time(&self, plan: usize) -> Option<Duration> {
        self.times.get(plan)?.as_ref()?.as_ref().ok().copied()
    }

    /// Returns the least time of a squaring by any of the given plans. Returns `None` if each of
    /// these plans failed or was not timed.
    fn least(&self, plans: impl Iterator<Item = usize>) -> Option<Duration> {
        plans.filter_map(|plan| self.time(plan)).min()
    }
}

/// Times plans, and returns the times. `lengths[i]` is a number that identifies the engine and
/// length of plan i. Plans with the same number are in descending order of promise. If `budget` is
/// `None`, every plan is timed.
pub(super) fn search(
    lengths: &[usize],
    budget: Option<Duration>,
    watch: &mut dyn Stopwatch,
) -> Found {
    let mut found = Found { times: vec![None; lengths.len()], ended_early: false };
    let of_length = |length| (0..lengths.len()).filter(move |&i| lengths[i] == length);
    let rank = |plan: usize| of_length(lengths[plan]).take_while(|&i| i < plan).count();
    let by_rank = (0..lengths.len()).fold(vec![], |mut by_rank: Vec<Vec<usize>>, plan| {
        let rank = rank(plan);
        by_rank.resize(by_rank.len().max(rank + 1), vec![]);
        by_rank[rank].push(plan);
        by_rank
    });
    let is_over = |watch: &dyn Stopwatch, share: f64| {
        watch.is_stopped() || budget.is_some_and(|budget| watch.spent() >= budget.mul_f64(share))
    };
    let is_slow = |found: &Found, plan: usize| {
        let all = found.least(0..lengths.len());
        match (budget, found.least(of_length(lengths[plan])), all) {
            (Some(_), Some(of_length), Some(all)) => {
                of_length.as_secs_f64() >= SLOW * all.as_secs_f64()
            }
            _ => false,
        }
    };

    'search: for plans in by_rank {
        let mut wanted = plans;
        wanted.retain(|&plan| !is_slow(&found, plan));
        for some in wanted.chunks(AHEAD) {
            for (i, &plan) in some.iter().enumerate() {
                let begun = found.times.iter().any(Option::is_some);
                if begun && is_over(watch, SEARCH) || watch.is_stopped() {
                    found.ended_early = true;
                    break 'search;
                }
                if i == 0 {
                    watch.prepare(some);
                }
                found.times[plan] = Some(watch.time(plan, SHORTLY));
            }
        }
    }

    let is_near = |found: &Found, plan: usize| {
        let best = found.least(of_length(lengths[plan]));
        let times = found.time(plan).zip(best);
        times.is_some_and(|(time, best)| time.as_secs_f64() <= NEAR * best.as_secs_f64())
    };
    let mut near: Vec<usize> = (0..lengths.len())
        .filter(|&plan| is_near(&found, plan) && !is_slow(&found, plan))
        .collect();
    near.sort_by_key(|&plan| found.time(plan));
    for plan in near {
        if is_over(watch, 1.0) {
            found.ended_early = true;
            break;
        }
        let again = watch.time(plan, AGAIN);
        found.times[plan] = Some(match (again, found.time(plan)) {
            (Ok(time), Some(before)) => Ok(time.min(before)),
            (again, _) => again,
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stopwatch whose plans have given times. A timing takes a second of its clock.
    struct Fake {
        micros: Vec<u64>,
        seconds: u64,
        /// The time in seconds at which a stop is requested.
        stop: u64,
        timed: Vec<usize>,
        prepared: Vec<usize>,
    }

    impl Fake {
        fn new(micros: &[u64]) -> Self {
            Self {
                micros: micros.into(),
                seconds: 0,
                stop: u64::MAX,
                timed: vec![],
                prepared: vec![],
            }
        }
    }

    impl Stopwatch for Fake {
        fn prepare(&mut self, plans: &[usize]) {
            self.prepared.extend(plans);
        }

        fn time(&mut self, plan: usize, _: Duration) -> Result<Duration, String> {
            assert!(self.prepared.contains(&plan), "{plan} is timed while it is compiled");
            self.timed.push(plan);
            self.seconds += 1;
            match self.micros[plan] {
                0 => Err("no room".into()),
                micros => Ok(Duration::from_micros(micros)),
            }
        }

        fn spent(&self) -> Duration {
            Duration::from_secs(self.seconds)
        }

        fn is_stopped(&self) -> bool {
            self.seconds >= self.stop
        }
    }

    fn minute() -> Option<Duration> {
        Some(Duration::from_secs(60))
    }

    #[test]
    fn first_variants_come_first_and_slow_lengths_no_further() {
        // Three lengths with three variants each. The first variant of the last length is so slow
        // that its other variants are not timed.
        let lengths = [0, 0, 0, 1, 1, 1, 2, 2, 2];
        let mut fake = Fake::new(&[100, 90, 120, 110, 140, 85, 300, 1, 1]);
        let found = search(&lengths, minute(), &mut fake);
        // First timings by rank; then second timings of the best variants, the fastest first.
        assert_eq!(fake.timed, [0, 3, 6, 1, 4, 2, 5, 5, 1]);
        assert_eq!(found.time(5), Some(Duration::from_micros(85)));
        assert_eq!((found.time(7), found.ended_early), (None, false));
        assert_eq!(fake.prepared, [0, 3, 6, 1, 4, 2, 5]);
    }

    #[test]
    fn without_a_budget_all_are_timed() {
        let lengths = [0, 0, 1, 1];
        let mut fake = Fake::new(&[100, 90, 300, 290]);
        let found = search(&lengths, None, &mut fake);
        assert_eq!(fake.timed, [0, 2, 1, 3, 1, 3, 2]);
        assert!(!found.ended_early);
    }

    #[test]
    fn a_budget_is_kept_and_leaves_time_for_the_best() {
        let lengths: Vec<usize> = (0..200).map(|plan| plan / 25).collect();
        for budget in [0, 1, 8, 20, 60] {
            let mut fake = Fake::new(&[100; 200]);
            let found = search(&lengths, Some(Duration::from_secs(budget)), &mut fake);
            assert!(found.ended_early);
            assert_eq!(fake.seconds, budget.max(1), "{:?}", fake.timed);
            // The first variants of all lengths are timed first, and a quarter of the budget is for
            // second timings.
            let again = fake.timed.len() - found.times.iter().flatten().count();
            assert_eq!(again as u64, budget / 4);
            if budget >= 20 {
                assert_eq!(fake.timed[..8], [0, 25, 50, 75, 100, 125, 150, 175]);
            }
        }
    }

    #[test]
    fn what_was_timed_before_a_stop_is_kept() {
        let lengths = [0, 0, 1, 1];
        let mut fake = Fake { stop: 3, ..Fake::new(&[100, 90, 95, 90]) };
        let found = search(&lengths, None, &mut fake);
        assert_eq!((fake.timed.len(), found.ended_early), (3, true));
        assert_eq!(found.time(1), Some(Duration::from_micros(90)));
        assert_eq!(found.time(3), None);
        let mut fake = Fake { stop: 0, ..Fake::new(&[100]) };
        assert_eq!(search(&[0], minute(), &mut fake).time(0), None);
    }

    #[test]
    fn what_fails_is_told_and_not_timed_again() {
        let mut fake = Fake::new(&[0, 90]);
        let found = search(&[0, 0], minute(), &mut fake);
        assert_eq!(found.times[0], Some(Err("no room".into())));
        assert_eq!(fake.timed, [0, 1, 1]);
    }
}
