//! The ends and the ticks of axes of time.

use jiff::Timestamp;

const MINUTE: f64 = 60.0;
const HOUR: f64 = 3_600.0;
const DAY: f64 = 86_400.0;

/// The steps between ticks, in seconds: from 1 s to 5 years.
const STEPS: [f64; 25] = [
    1.0,
    2.0,
    5.0,
    10.0,
    15.0,
    30.0,
    MINUTE,
    2.0 * MINUTE,
    5.0 * MINUTE,
    10.0 * MINUTE,
    15.0 * MINUTE,
    30.0 * MINUTE,
    HOUR,
    2.0 * HOUR,
    3.0 * HOUR,
    6.0 * HOUR,
    12.0 * HOUR,
    DAY,
    2.0 * DAY,
    7.0 * DAY,
    14.0 * DAY,
    30.0 * DAY,
    90.0 * DAY,
    365.0 * DAY,
    1825.0 * DAY,
];

/// The largest number of steps of an axis of at most 25 years.
const MOST_STEPS: f64 = 5.0;
/// The largest number of ticks of any axis.
const MOST_TICKS: u32 = 64;

/// Returns the ends of an axis for values from the least to the largest one.
pub(crate) fn ends(values: Option<(f64, f64)>) -> (f64, f64) {
    match values {
        Some((least, most)) if most > least => (least, most),
        all => {
            let at = all.map_or(0.0, |(least, _)| least);
            (at - MINUTE / 2.0, at + MINUTE / 2.0)
        }
    }
}

/// Returns the ticks of an axis: values and labels. From steps of 90 days on, a label is a year and a month, from
/// steps of a day on a month and a day, otherwise a time of day, with the date where the day is another one.
pub(crate) fn ticks(from: f64, to: f64) -> Vec<(f64, String)> {
    let least = (to - from) / MOST_STEPS;
    let longest = STEPS[STEPS.len() - 1];
    let step = STEPS.into_iter().find(|&step| step >= least).unwrap_or(longest);
    let first = (from / step).ceil();
    let values = (0..MOST_TICKS).map(|i| (first + f64::from(i)) * step);
    let mut day = None;
    let mut ticks = vec![];
    for x in values.take_while(|&x| x <= to) {
        let Ok(time) = Timestamp::from_second(x as i64) else { continue };
        let date = time.strftime("%Y-%m-%d").to_string();
        let clock = if step < MINUTE { "%H:%M:%S" } else { "%H:%M" };
        let is_another_day = day.as_ref().is_some_and(|before| *before != date);
        let format = match step {
            step if step >= 90.0 * DAY => "%Y-%m".to_owned(),
            step if step >= DAY => "%m-%d".to_owned(),
            _ if is_another_day => format!("%m-%d {clock}"),
            _ => clock.to_owned(),
        };
        ticks.push((x, time.strftime(&format).to_string()));
        day = Some(date);
    }
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Scale};

    fn labels(values: &[f64]) -> Vec<String> {
        let axis = Axis::new(Scale::Time, values.iter().copied(), (0.0, 100.0));
        axis.ticks().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_whole_times_in_utc() {
        // 2026-01-02 03:04:05, and some time later.
        let from = 1_767_323_045.0;
        assert_eq!(labels(&[from, from + 2_400.0]), ["03:10", "03:20", "03:30", "03:40"]);
        assert_eq!(labels(&[from, from + 8.5 * DAY])[..2], ["01-03", "01-05"]);
        assert_eq!(labels(&[from, from + DAY]), ["06:00", "12:00", "18:00", "01-03 00:00"]);
        assert_eq!(labels(&[from, from + 800.0 * DAY])[..2], ["2026-12", "2027-12"]);
        assert_eq!(labels(&[from])[..2], ["03:03:45", "03:04:00"]);
    }

    #[test]
    fn every_axis_has_finite_positions_and_few_ticks() {
        let wide = [-1e18, 1e18];
        for values in [&[][..], &[7.0], &[3.0, 3.0], &[1.0, 9.9e8], &wide] {
            let axis = Axis::new(Scale::Time, values.iter().copied(), (10.0, 90.0));
            for x in values {
                assert!((10.0..=90.0).contains(&axis.at(*x)), "{x}");
            }
            assert!(axis.ticks().len() <= MOST_TICKS as usize);
        }
    }
}
