//! The section of charts over time.

use warpint_runner::history::{HOUR, History};
use warpint_runner::work::{LogLine, Progress};

use super::series::{Series, temperatures};
use crate::chart::{COLOURS, Chart, Line, Scale};
use crate::html::Html;
use crate::text;

/// Writes the section. Writes nothing if there is nothing to draw.
pub(super) fn write(html: &mut Html, logs: &[Vec<LogLine>], history: &History) {
    let (series, count) = Series::newest(logs, COLOURS);
    let mut charts = Html::default();
    tests(&mut charts, &series);
    temperature(&mut charts, logs);
    throughput(&mut charts, history);
    if charts.is_empty() {
        return;
    }
    html.with("section", &[("aria-labelledby", "charts")], |html| {
        html.element("h2", &[("id", "charts")], "Over time");
        if count > series.len() {
            let said = format!(
                "The charts of single tests have the {} tests of {} whose checkpoints are newest.",
                series.len(),
                text::grouped(count as u64)
            );
            html.element("p", &[], &said);
        }
        html.with("div", &[("class", "charts")], |html| html.append(charts));
    });
}

/// Draws the progress, the time per iteration and the round-off of tests.
fn tests(html: &mut Html, series: &[Series]) {
    let lines = |value: fn(&Progress) -> Option<f64>| -> Vec<Line> {
        let line = |(colour, one): (usize, &Series)| Line {
            name: one.number.clone(),
            colour,
            dash: 0,
            parts: one.points(value),
        };
        series.iter().enumerate().map(line).collect()
    };
    let errors = |one: &Series| {
        let named = |(time, text): &(i64, String)| {
            (*time as f64, format!("{}, {}: {text}", one.number, text::time(*time)))
        };
        one.errors.iter().map(named).collect::<Vec<_>>()
    };
    let marks: Vec<_> = series.iter().flat_map(errors).collect();
    let of_time = |title, unit, lines: Vec<Line>| {
        let marks = marks.clone();
        Chart {
            title,
            x_label: x_label(&lines),
            unit,
            x: Scale::Time,
            y: Scale::Linear,
            lines,
            marks,
        }
    };
    let percent = |p: &Progress| {
        p.total.filter(|&total| total > 0).map(|total| 100.0 * p.iteration as f64 / total as f64)
    };
    of_time("Progress of the tests, in percent of the iterations", "%", lines(percent)).write(html);
    let speed = lines(|p| p.us_per_iteration);
    let y = if is_wide(&speed) { Scale::Log } else { Scale::Linear };
    Chart { y, ..of_time("Time per iteration, in µs", "µs", speed) }.write(html);
    let mut round_off = lines(|p| p.round_off_max);
    let means = lines(|p| p.round_off_mean).into_iter();
    round_off.extend(means.map(|line| Line {
        name: format!("{}, mean", line.name),
        dash: 1,
        ..line
    }));
    of_time("Round-off: largest (solid) and mean (dashed); 0.5 is an error", "", round_off)
        .write(html);
}

fn temperature(html: &mut Html, logs: &[Vec<LogLine>]) {
    let line = |(colour, (name, points)): (usize, (String, Vec<(f64, f64)>))| Line {
        name,
        colour,
        dash: 0,
        parts: vec![points],
    };
    let lines: Vec<_> = temperatures(logs).into_iter().enumerate().map(line).collect();
    let (x_label, marks) = (x_label(&lines), vec![]);
    let title = "Temperature of the devices, in °C";
    let (x, y) = (Scale::Time, Scale::Linear);
    Chart { title, x_label, unit: "°C", x, y, lines, marks }.write(html);
}

/// Draws the number of finished tests. Writes nothing for fewer than three tests.
fn throughput(html: &mut Html, history: &History) {
    if history.by_hour.values().sum::<u64>() < 3 {
        return;
    }
    let times: Vec<i64> = history.tests.iter().filter_map(|test| test.time).collect();
    let points: Vec<(f64, f64)> = if history.tests.len() as u64 == history.count {
        times.iter().enumerate().map(|(i, &time)| (time as f64, (i + 1) as f64)).collect()
    } else {
        // With many tests, only their numbers by the hour are kept.
        let total = |sum: &mut u64, (&hour, &tests): (&i64, &u64)| {
            *sum += tests;
            Some((((hour + 1) * HOUR) as f64, *sum as f64))
        };
        history.by_hour.iter().scan(0, total).collect()
    };
    let line = Line { name: "finished tests".into(), parts: vec![points], ..Line::default() };
    let lines = vec![line];
    let (x_label, marks) = (x_label(&lines), vec![]);
    let (x, y) = (Scale::Time, Scale::Linear);
    Chart { title: "Finished tests in total", x_label, unit: "tests", x, y, lines, marks }
        .write(html);
}

/// Returns the text below an axis of time: the zone, and the first day.
fn x_label(lines: &[Line]) -> String {
    let times = lines.iter().flat_map(|line| line.parts.iter().flatten()).map(|p| p.0);
    let first = times.fold(f64::INFINITY, f64::min);
    if !first.is_finite() {
        return "time (UTC)".into();
    }
    let begin = warpint_gimps::utc_text(first as i64);
    format!("time (UTC), from {}", begin.get(..16).unwrap_or(&begin))
}

/// Returns whether the values span more than a factor of 10.
fn is_wide(lines: &[Line]) -> bool {
    let values = || lines.iter().flat_map(|line| line.parts.iter().flatten()).map(|p| p.1);
    let least = values().filter(|&x| x > 0.0).fold(f64::INFINITY, f64::min);
    values().fold(0.0, f64::max) > 10.0 * least
}
