//! The values of tests over time, from the lines of logs.

use std::collections::HashMap;

use warpint_runner::work::{LogLine, Logged, Progress};

/// The checkpoints of a test over time.
#[derive(Debug)]
pub(super) struct Series {
    /// The name of the number.
    pub(super) number: String,
    /// The runs: each begins when the test begins or goes on from a checkpoint.
    pub(super) runs: Vec<Vec<(i64, Progress)>>,
    /// The times and texts of errors from which the test has recovered.
    pub(super) errors: Vec<(i64, String)>,
    /// The time of the last checkpoint.
    last: i64,
}

/// The temperatures of devices over time.
pub(super) type Temperatures = Vec<(String, Vec<(f64, f64)>)>;

impl Series {
    /// Returns the series of the tests with the last checkpoints, at most `most`, the oldest first, and
    /// the number of all tests with checkpoints.
    pub(super) fn newest(logs: &[Vec<LogLine>], most: usize) -> (Vec<Self>, usize) {
        let mut found: HashMap<&str, Self> = HashMap::new();
        for line in logs.iter().flatten() {
            let Some((_, number)) = line.test() else { continue };
            let series = found.entry(number).or_insert_with(|| Self {
                number: number.into(),
                runs: vec![],
                errors: vec![],
                last: i64::MIN,
            });
            match line.meaning() {
                Logged::Started => series.runs.push(vec![]),
                Logged::Saved(progress) => {
                    if series.runs.is_empty() {
                        series.runs.push(vec![]);
                    }
                    if let Some(run) = series.runs.last_mut() {
                        run.push((line.time, progress));
                    }
                    series.last = line.time;
                }
                Logged::Trouble => series.errors.push((line.time, line.text.clone())),
                Logged::Other => {}
            }
        }
        let mut all: Vec<Self> = found.into_values().filter(|s| s.last != i64::MIN).collect();
        let count = all.len();
        all.sort_by(|a, b| (a.last, &a.number).cmp(&(b.last, &b.number)));
        all.drain(..count.saturating_sub(most));
        (all, count)
    }

    /// Returns the points of a value in each run. Checkpoints without the value are left out.
    pub(super) fn points(&self, value: impl Fn(&Progress) -> Option<f64>) -> Vec<Vec<(f64, f64)>> {
        let point = |&(time, ref progress): &(i64, Progress)| {
            value(progress).map(|value| (time as f64, value))
        };
        self.runs.iter().map(|run| run.iter().filter_map(point).collect()).collect()
    }
}

/// Returns the temperatures of each device.
pub(super) fn temperatures(logs: &[Vec<LogLine>]) -> Temperatures {
    let mut found: Temperatures = vec![];
    for line in logs.iter().flatten() {
        let Logged::Saved(Progress { celsius: Some(celsius), .. }) = line.meaning() else {
            continue;
        };
        let Some((device, _)) = line.test() else { continue };
        let point = (line.time as f64, celsius);
        match found.iter_mut().find(|(name, _)| name == device) {
            Some((_, points)) => points.push(point),
            None => found.push((device.into(), vec![point])),
        }
    }
    for (_, points) in &mut found {
        // Several workers may use a device.
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_errors_and_temperatures_are_told_apart() {
        let line = |time: i64, text: &str| LogLine {
            time,
            place: "cuda:0 M127".into(),
            text: text.into(),
        };
        let logs = [vec![
            line(0, "begins, 127 iterations"),
            line(1, "saved iteration 10; 10 of 127 (7.87 %), 1.5 µs/it, ETA 0:19, 61 °C"),
            line(
                2,
                "the Gerbicz check at iteration 20 failed: going back to iteration 10, which is verified",
            ),
            line(3, "going on at iteration 10 of 127 from f"),
            line(4, "saved iteration 30; 30 of 127 (23.62 %), 2.5 µs/it, ETA 0:19"),
            LogLine { place: "worker 0".into(), ..line(5, "no work left") },
        ]];
        let (series, count) = Series::newest(&logs, 8);
        assert_eq!((series.len(), count), (1, 1));
        assert_eq!(series[0].points(|p| p.us_per_iteration), [vec![(1.0, 1.5)], vec![(4.0, 2.5)]]);
        assert_eq!(series[0].errors.len(), 1);
        assert_eq!(temperatures(&logs), [("cuda:0".into(), vec![(1.0, 61.0)])]);
        assert!(Series::newest(&logs, 0).0.is_empty());
    }
}
