//! The number of squarings by which a test advances.

use warpint_mersenne::Event;

/// Counts the squarings that a run of a test computes, from the events of the run. Squarings that are computed
/// again after an error count once.
#[derive(Debug, Default)]
pub(super) struct Advance {
    squarings: u64,
    /// The furthest iteration so far and the last iteration of the present power; `None` before the first
    /// power and between powers.
    at: Option<(u64, u64)>,
}

impl Advance {
    pub(super) fn event(&mut self, event: &Event) {
        match event {
            Event::Started { iteration, total, .. } => self.at = Some((*iteration, *total)),
            Event::Progress { iteration, .. }
            | Event::Saved { iteration, .. }
            | Event::Verified { iteration, .. } => self.reach(*iteration),
            // Pocklington's test has computed one power and begins another.
            Event::AnotherBase { .. } => self.finish(),
            _ => {}
        }
    }

    fn reach(&mut self, iteration: u64) {
        if let Some((furthest, _)) = &mut self.at {
            self.squarings += iteration.saturating_sub(*furthest);
            *furthest = iteration.max(*furthest);
        }
    }

    /// Counts the rest of a power that has been computed to its end.
    fn finish(&mut self) {
        if let Some((_, total)) = self.at {
            self.reach(total);
            self.at = None;
        }
    }

    /// Returns the number of squarings since the last call, and begins anew. `finished` states whether the
    /// test has ended with a result.
    pub(super) fn take(&mut self, finished: bool) -> u64 {
        if finished {
            self.finish();
        }
        std::mem::take(self).squarings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use warpint_mersenne::Check;

    fn started(iteration: u64) -> Event {
        Event::Started { iteration, total: 1000, resumed_from: None }
    }

    fn progress(iteration: u64) -> Event {
        let per_iteration = Duration::from_micros(1);
        Event::Progress { iteration, total: 1000, per_iteration, round_off: None }
    }

    fn counted(events: &[Event], finished: bool) -> u64 {
        let mut advance = Advance::default();
        events.iter().for_each(|event| advance.event(event));
        advance.take(finished)
    }

    #[test]
    fn only_squarings_of_this_run_count_and_each_once() {
        let failed = Event::CheckFailed { check: Check::Gerbicz, iteration: 700, back_to: 500 };
        let run = [started(400), progress(600), failed, progress(550), progress(800)];
        assert_eq!(counted(&run, false), 400);
        assert_eq!(counted(&run, true), 600);
        assert_eq!(counted(&[], true), 0);
    }

    #[test]
    fn each_power_of_a_test_counts() {
        let another = Event::AnotherBase { base: 7, open: vec![3] };
        let run = [started(0), progress(10), another, started(0), progress(30)];
        assert_eq!(counted(&run, false), 1030);
        assert_eq!(counted(&run, true), 2000);
    }
}
