//! An axis, and the ticks of numbers.

use crate::time;

/// How an axis maps values to positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Equal ratios are equal distances. Only positive values have a position.
    #[default]
    Log,
    /// Equal differences are equal distances.
    Linear,
    /// Times in seconds since 1970-01-01 00:00:00 UTC. Equal differences are equal distances.
    Time,
}

impl Scale {
    /// Returns whether a value has a position on an axis of this scale.
    #[must_use]
    pub fn has(self, x: f64) -> bool {
        x.is_finite() && (self != Self::Log || x > 0.0)
    }

    /// Returns the name of the scale, for the description of a chart.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Log => "logarithmic",
            Self::Linear => "linear",
            Self::Time => "of time",
        }
    }
}

/// An axis: its least and largest value, and the positions of these two values in pixels.
#[derive(Debug, Clone, Copy)]
pub struct Axis {
    scale: Scale,
    from: f64,
    to: f64,
    pixels: (f64, f64),
}

impl Axis {
    /// Creates an axis that covers all values, all of which must have a position on it ([`Scale::has`]). `pixels`
    /// are the positions of its ends. It has at least two ticks, and an axis of numbers a margin at each end. A
    /// linear axis begins at 0 if no value is negative and the least is at most half the largest. Without values,
    /// an axis of numbers goes from 1 to 10. An axis of time whose values are equal is a minute long.
    #[must_use]
    pub fn new(scale: Scale, values: impl Iterator<Item = f64>, pixels: (f64, f64)) -> Self {
        let all = values.fold(None, |all: Option<(f64, f64)>, x| {
            Some(all.map_or((x, x), |(least, most)| (least.min(x), most.max(x))))
        });
        let (from, to) = match (all, scale) {
            (all, Scale::Time) => time::ends(all),
            (None, _) => (1.0, 10.0),
            (Some(all), Scale::Log) => Self::log_ends(all),
            (Some(all), Scale::Linear) => Self::linear_ends(all),
        };
        Self { scale, from, to, pixels }
    }

    fn log_ends((least, most): (f64, f64)) -> (f64, f64) {
        const ROOM: f64 = 1.3;
        /// The least ratio of the largest value of an axis to its least value. It is (5/2)².
        /// Adjacent ticks have a ratio of at most 5/2, so every axis contains two ticks.
        const LEAST_SPAN: f64 = 6.25;
        let room = ROOM.max((LEAST_SPAN * least / most).sqrt());
        (least / room, most * room)
    }

    fn linear_ends((least, most): (f64, f64)) -> (f64, f64) {
        const ROOM: f64 = 0.05;
        let (least, most) = if least >= 0.0 && 2.0 * least <= most {
            (0.0, most)
        } else if most <= 0.0 && 2.0 * most >= least {
            (least, 0.0)
        } else {
            (least, most)
        };
        let span = most - least;
        if span <= 1e-9 * least.abs().max(most.abs()) {
            // One value, or values that differ by the errors of their computation.
            let room = if most == 0.0 { 1.0 } else { most.abs() / 2.0 };
            return (least - room, most + room);
        }
        // 0 is an end of the axis, not a value with a margin.
        let at = |end: f64, room: f64| if end == 0.0 { end } else { end + room };
        (at(least, -ROOM * span), at(most, ROOM * span))
    }

    /// Returns the position of a value, in pixels.
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        let (begin, end) = self.pixels;
        let share = match self.scale {
            Scale::Log => (x / self.from).ln() / (self.to / self.from).ln(),
            Scale::Linear | Scale::Time => (x - self.from) / (self.to - self.from),
        };
        begin + (end - begin) * share
    }

    /// Returns the ticks: values and labels. The values of a logarithmic axis are 1, 2 and 5 times
    /// the powers of 10; if its largest value is more than 10^4 times the least, only powers of 10.
    /// The values of a linear axis are multiples of 1, 2 or 5 times a power of 10. The values of an axis of time
    /// are whole seconds, minutes, hours or days in UTC; a label is a time of day, a date, or both.
    #[must_use]
    pub fn ticks(&self) -> Vec<(f64, String)> {
        match self.scale {
            Scale::Log => self.log_ticks().into_iter().map(|x| (x, short(x))).collect(),
            Scale::Linear => self.linear_ticks(),
            Scale::Time => time::ticks(self.from, self.to),
        }
    }

    fn log_ticks(&self) -> Vec<f64> {
        let wide = self.to / self.from > 1e4;
        let steps: &[f64] = if wide { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let powers = self.from.log10().floor() as i32..=self.to.log10().ceil() as i32;
        powers
            .flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)))
            .filter(|x| (self.from..=self.to).contains(x))
            .collect()
    }

    fn linear_ticks(&self) -> Vec<(f64, String)> {
        /// The number of steps of an axis is between this number and 2.5 times it.
        const STEPS: f64 = 4.0;
        let most = (self.to - self.from) / STEPS;
        let power = 10f64.powi(most.log10().floor() as i32);
        let step = [5.0, 2.0].into_iter().find(|s| s * power <= most).unwrap_or(1.0) * power;
        let largest = self.from.abs().max(self.to.abs());
        let (unit, name) = unit(largest);
        // 0.2 has one digit after the point, 20 has none.
        let digits = (-(step / unit).log10().floor()).max(0.0) as usize;
        let first = (self.from / step).ceil() as i64;
        let last = (self.to / step).floor() as i64;
        (first..=last)
            .map(|k| {
                let x = k as f64 * step;
                let name = if k == 0 { "" } else { name };
                (x, format!("{:.digits$}{name}", x / unit))
            })
            .collect()
    }
}

/// Returns the unit of a value of an axis, and the letter for the unit. Values of 10,000 or more are
/// in units of K = 10^3, M = 10^6, G = 10^9, T = 10^12 or P = 10^15.
fn unit(x: f64) -> (f64, &'static str) {
    match x {
        x if x >= 1e15 => (1e15, "P"),
        x if x >= 1e12 => (1e12, "T"),
        x if x >= 1e9 => (1e9, "G"),
        x if x >= 1e6 => (1e6, "M"),
        x if x >= 1e4 => (1e3, "K"),
        _ => (1.0, ""),
    }
}

/// Formats the value of a tick of a logarithmic axis, such as `5e-5`, `0.05`, `500`, `20K` or `1G`.
fn short(x: f64) -> String {
    // Steps of 1, 2 and 5 have one digit. Rounding may have made 0.001 a little smaller.
    if x < 0.000_99 {
        return format!("{x:.0e}");
    }
    if x < 1.0 {
        return format!("{:.*}", (-(x * 1.001).log10().floor()) as usize, x);
    }
    let (unit, name) = unit(x);
    format!("{:.0}{name}", x / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALES: [Scale; 2] = [Scale::Log, Scale::Linear];

    #[test]
    fn an_axis_has_two_ticks_and_all_its_values() {
        let pixels = (100.0, 300.0);
        for scale in SCALES {
            for value in [1.0, 3.3, 3217.0, 136_279_841.0, 0.07] {
                for most in [value, 1.000_001 * value, 1.4 * value, 9.0 * value, 1e4 * value] {
                    let axis = Axis::new(scale, [value, most].into_iter(), pixels);
                    let ticks = axis.ticks();
                    assert!((2..=16).contains(&ticks.len()), "{scale:?} {value} {most} {ticks:?}");
                    let places = ticks.iter().map(|(x, _)| axis.at(*x));
                    for at in places.chain([axis.at(value), axis.at(most)]) {
                        assert!((99.999..=300.001).contains(&at), "{scale:?} {value} {most} {at}");
                    }
                    let mut labels: Vec<_> = ticks.into_iter().map(|(_, label)| label).collect();
                    let count = labels.len();
                    labels.dedup();
                    assert_eq!(labels.len(), count, "{scale:?} {value} {most}");
                }
            }
        }
    }

    #[test]
    fn a_linear_axis_has_negative_values_and_zero() {
        let ticks = |least: f64, most: f64| {
            let axis = Axis::new(Scale::Linear, [least, most].into_iter(), (0.0, 1.0));
            axis.ticks().into_iter().map(|(_, label)| label).collect::<Vec<_>>()
        };
        assert_eq!(ticks(-1.0, 3.0), ["-1", "0", "1", "2", "3"]);
        assert_eq!(ticks(0.2, 0.7), ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7"]);
        assert_eq!(ticks(40.0, 48.0), ["40", "42", "44", "46", "48"]);
        assert_eq!(ticks(0.0, 12_000.0), ["0", "2K", "4K", "6K", "8K", "10K", "12K"]);
        assert_eq!(
            ticks(10_400.0, 11_600.0),
            ["10.4K", "10.6K", "10.8K", "11.0K", "11.2K", "11.4K", "11.6K"]
        );
        assert_eq!(ticks(0.0, 0.0), ["-1.0", "-0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(ticks(-30.0, -1.0), ["-30", "-25", "-20", "-15", "-10", "-5", "0"]);
    }

    #[test]
    fn without_values_there_is_an_axis() {
        for scale in SCALES {
            assert!(Axis::new(scale, [].into_iter(), (0.0, 1.0)).ticks().len() >= 2);
        }
        assert!(!Scale::Log.has(0.0) && Scale::Linear.has(0.0) && !Scale::Linear.has(f64::NAN));
    }

    #[test]
    fn ticks_are_short() {
        let said = [0.05, 0.2, 1.0, 20.0, 5000.0, 20_000.0, 2e6, 1e9, 1e13, 5e15].map(short);
        assert_eq!(said, ["0.05", "0.2", "1", "20", "5000", "20K", "2M", "1G", "10T", "5P"]);
        let small = [-3, -4, -7].map(|power| short(5.0 * 10f64.powi(power)));
        assert_eq!(small, ["0.005", "5e-4", "5e-7"]);
        assert_eq!(short(10f64.powi(-3)), "0.001");
    }
}
