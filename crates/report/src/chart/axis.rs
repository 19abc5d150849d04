//! The axes of charts: linear, logarithmic, or of time.

use warpint_gimps as gimps;

/// How values become positions on an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Equal differences are equal distances. The axis begins at 0.
    Linear,
    /// Equal ratios are equal distances.
    Log,
    /// Times in seconds since 1970-01-01 00:00:00 UTC. Equal differences are equal distances.
    Time,
}

/// An axis: its least and largest value, and the positions of these two values in the drawing.
#[derive(Debug)]
pub(super) struct Axis {
    scale: Scale,
    from: f64,
    to: f64,
    positions: (f64, f64),
}

/// A tick: its value, and the text beside it.
pub(super) type Tick = (f64, String);

/// The steps between ticks of an axis of time, in seconds: from 1 s to 5 years.
const TIME_STEPS: [f64; 25] = [
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
const MINUTE: f64 = 60.0;
const HOUR: f64 = 3_600.0;
const DAY: f64 = 86_400.0;
/// The largest number of steps between the ticks of an axis that is not logarithmic.
const MOST_STEPS: f64 = 5.0;

impl Axis {
    /// Creates an axis that covers all values.
    pub(super) fn new(
        scale: Scale,
        values: impl Iterator<Item = f64>,
        positions: (f64, f64),
    ) -> Self {
        let ends = values.fold(None, |ends: Option<(f64, f64)>, x| {
            let (least, most) = ends.unwrap_or((x, x));
            Some((least.min(x), most.max(x)))
        });
        let (from, to) = match (scale, ends) {
            (Scale::Log, Some((least, most))) => {
                // Two steps of 5/2 at least, so that the axis has ticks.
                let room = 1.2f64.max((6.25 * least / most).sqrt());
                (least / room, most * room)
            }
            (Scale::Log, None) => (1.0, 10.0),
            (Scale::Linear, ends) => {
                let most = ends.map_or(1.0, |(_, most)| most);
                (0.0, if most > 0.0 { most * 1.05 } else { 1.0 })
            }
            (Scale::Time, Some((least, most))) if most > least => (least, most),
            (Scale::Time, ends) => {
                let at = ends.map_or(0.0, |(least, _)| least);
                (at - 30.0, at + 30.0)
            }
        };
        Self { scale, from, to, positions }
    }

    /// Returns the position of a value.
    pub(super) fn at(&self, x: f64) -> f64 {
        let (begin, end) = self.positions;
        let share = match self.scale {
            Scale::Log => (x / self.from).ln() / (self.to / self.from).ln(),
            Scale::Linear | Scale::Time => (x - self.from) / (self.to - self.from),
        };
        begin + (end - begin) * share
    }

    /// Returns the ticks in ascending order.
    pub(super) fn ticks(&self) -> Vec<Tick> {
        match self.scale {
            Scale::Linear => self.linear_ticks(),
            Scale::Log => self.log_ticks(),
            Scale::Time => self.time_ticks(),
        }
    }

    /// Returns the multiples of 1, 2 or 5 times a power of 10.
    fn linear_ticks(&self) -> Vec<Tick> {
        let least = (self.to - self.from) / MOST_STEPS;
        let power = 10f64.powf(least.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|n| n * power).into_iter().find(|&s| s >= least);
        let step = step.unwrap_or(least);
        let digits = (-step.log10().floor()).max(0.0) as usize;
        self.multiples(step).map(|x| (x, format!("{x:.digits$}"))).collect()
    }

    /// Returns 1, 2 and 5 times the powers of 10 or, on a long axis, the powers of 10 alone.
    fn log_ticks(&self) -> Vec<Tick> {
        let wide = self.to / self.from > 2e3;
        let steps: &[f64] = if wide { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let powers = self.from.log10().floor() as i32..=self.to.log10().ceil() as i32;
        powers
            .flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)))
            .filter(|x| (self.from..=self.to).contains(x))
            .map(|x| (x, short(x)))
            .collect()
    }

    /// Returns multiples of a step of time. The text is a time of day or, for steps of a day and more, a
    /// date.
    fn time_ticks(&self) -> Vec<Tick> {
        let least = (self.to - self.from) / MOST_STEPS;
        let step = TIME_STEPS.into_iter().find(|&step| step >= least);
        let step = step.unwrap_or(TIME_STEPS[TIME_STEPS.len() - 1]);
        let mut day = String::new();
        self.multiples(step)
            .map(|x| {
                let text = gimps::utc_text(x as i64);
                let (date, clock) = text.split_once(' ').unwrap_or_default();
                let clock = if step < MINUTE { clock } else { clock.get(..5).unwrap_or_default() };
                let short_date = date.get(5..).unwrap_or_default();
                let said = if step >= 90.0 * DAY {
                    date.get(..7).unwrap_or_default().to_owned()
                } else if step >= DAY {
                    short_date.to_owned()
                } else if !day.is_empty() && day != date {
                    format!("{short_date} {clock}")
                } else {
                    clock.to_owned()
                };
                day = date.to_owned();
                (x, said)
            })
            .collect()
    }

    fn multiples(&self, step: f64) -> impl Iterator<Item = f64> + '_ {
        // The number of steps is bounded by MOST_STEPS; the bound below is for axes of more than
        // thousands of years.
        const MOST: u32 = 64;
        let first = (self.from / step).ceil();
        (0..MOST).map(move |i| (first + f64::from(i)) * step).take_while(|&x| x <= self.to)
    }
}

/// Formats the value of a tick, such as `0.05`, `500`, `20K`, `5M` or `1G`.
fn short(x: f64) -> String {
    match x {
        x if x >= 1e12 => format!("{x:.0e}"),
        x if x >= 1e9 => format!("{:.0}G", x / 1e9),
        x if x >= 1e6 => format!("{:.0}M", x / 1e6),
        x if x >= 1e4 => format!("{:.0}K", x / 1e3),
        x if x < 1e-3 => format!("{x:.0e}"),
        x if x < 1.0 => format!("{:.*}", (-x.log10().floor()) as usize, x),
        x => format!("{x:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(scale: Scale, values: &[f64]) -> Vec<String> {
        let axis = Axis::new(scale, values.iter().copied(), (0.0, 100.0));
        axis.ticks().into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(texts(Scale::Linear, &[100.0]), ["0", "50", "100"]);
        assert_eq!(texts(Scale::Linear, &[0.12]), ["0.00", "0.05", "0.10"]);
        assert_eq!(texts(Scale::Log, &[1.5, 30.0]), ["2", "5", "10", "20"]);
        assert_eq!(texts(Scale::Log, &[1e6, 1e10]), ["1M", "10M", "100M", "1G", "10G"]);
        // 2026-01-02 03:04:05 and 40 minutes later; then nine days later.
        let from = 1_767_323_045.0;
        assert_eq!(
            texts(Scale::Time, &[from, from + 2_400.0]),
            ["03:10", "03:20", "03:30", "03:40"]
        );
        assert_eq!(texts(Scale::Time, &[from, from + 8.5 * DAY])[..2], ["01-03", "01-05"]);
        let over_midnight = texts(Scale::Time, &[from, from + DAY]);
        assert_eq!(over_midnight, ["06:00", "12:00", "18:00", "01-03 00:00"]);
    }

    #[test]
    fn every_axis_has_a_finite_position_for_its_values() {
        for scale in [Scale::Linear, Scale::Log, Scale::Time] {
            for values in [vec![], vec![0.07], vec![3.0, 3.0], vec![1.0, 9.9e8]] {
                let axis = Axis::new(scale, values.iter().copied(), (10.0, 90.0));
                for x in values {
                    assert!((10.0..=90.0).contains(&axis.at(x)), "{scale:?} {x}");
                }
                assert!(axis.ticks().len() < 65);
            }
        }
        assert_eq!(Axis::new(Scale::Linear, [0.0].into_iter(), (0.0, 1.0)).at(0.0), 0.0);
    }
}
