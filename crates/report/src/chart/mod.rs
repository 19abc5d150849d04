//! Charts of lines, as SVG inside the page. The colours come from the style sheet, so that they
//! follow the colour scheme of the reader.

use std::fmt::Write;

use crate::html::Html;
use crate::text;
use warpint_chart::Axis;
pub(crate) use warpint_chart::Scale;

/// The number of colours. The lines after the last colour begin with the first one again.
pub(crate) const COLOURS: usize = 8;
/// The number of patterns of dashed lines.
const DASHES: usize = 4;
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 300.0;
/// The positions of the left, right, top and bottom edges of the frame. Half of a label fits to its right.
const FRAME: [f64; 4] = [62.0, 530.0, 12.0, 250.0];
/// The largest number of points of a line that are drawn.
const MOST_POINTS: usize = 400;
/// The largest number of markers of all lines together. Lines with more points have no markers.
const MOST_MARKERS: usize = 150;

/// A chart of lines through points (x, y).
pub(crate) struct Chart<'a> {
    /// The title, which names the quantity and its unit.
    pub(crate) title: &'a str,
    /// The text below the axis of x.
    pub(crate) x_label: String,
    /// The unit of y.
    pub(crate) unit: &'a str,
    pub(crate) x: Scale,
    pub(crate) y: Scale,
    pub(crate) lines: Vec<Line>,
    /// Instants that are marked by vertical lines, with their texts.
    pub(crate) marks: Vec<(f64, String)>,
}

/// A line of a chart.
#[derive(Debug, Clone, Default)]
pub(crate) struct Line {
    pub(crate) name: String,
    /// The number of the colour.
    pub(crate) colour: usize,
    /// 0 for a solid line; otherwise the number of the pattern of a dashed line, which is a lower bound, a
    /// mean, or another program.
    pub(crate) dash: usize,
    /// The parts of the line. No segment joins the last point of a part with the first of the next.
    pub(crate) parts: Vec<Vec<(f64, f64)>>,
}

impl Line {
    fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.parts.iter().flatten().copied()
    }

    fn css(&self) -> String {
        let dash = match self.dash {
            0 => String::new(),
            n => format!(" dash{}", (n - 1) % DASHES + 1),
        };
        format!("line s{}{dash}", self.colour % COLOURS)
    }

    /// Returns the name, with the number of points and the ends of their values.
    fn described(&self, unit: &str) -> String {
        let count = self.points().count();
        let values = || self.points().map(|(_, y)| y);
        let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
        let last = values().last().unwrap_or(0.0);
        let [least, most, last] = [least, most, last].map(|y| with_unit(y, unit));
        let points = warpint_progress::units::count(count as u64, "point");
        format!("{}: {points}, from {least} to {most}, last {last}.", self.name)
    }
}

impl Chart<'_> {
    /// Writes the chart as a figure. Writes nothing if no line has a point. Points that the scales
    /// cannot show are left out.
    pub(crate) fn write(mut self, html: &mut Html) {
        let (of_x, of_y) = (self.x, self.y);
        for part in self.lines.iter_mut().flat_map(|line| &mut line.parts) {
            part.retain(|&(x, y)| of_x.has(x) && of_y.has(y));
            *part = thinned(part);
        }
        self.lines.iter_mut().for_each(|line| line.parts.retain(|part| !part.is_empty()));
        self.lines.retain(|line| !line.parts.is_empty());
        if self.lines.is_empty() {
            return;
        }
        html.with("figure", &[], |html| {
            html.element("figcaption", &[], self.title);
            html.with("div", &[("class", "drawing")], |html| self.draw(html));
            self.legend(html);
        });
    }

    fn draw(&self, html: &mut Html) {
        let [left, right, top, bottom] = FRAME;
        let points = || self.lines.iter().flat_map(Line::points);
        let x = Axis::new(self.x, points().map(|(x, _)| x), (left, right));
        // Without 0, small differences would look large.
        let zero = (self.y == Scale::Linear).then_some(0.0);
        let y = Axis::new(self.y, points().map(|(_, y)| y).chain(zero), (bottom, top));
        let described: Vec<_> = self.lines.iter().map(|line| line.described(self.unit)).collect();
        let view = format!("0 0 {WIDTH} {HEIGHT}");
        html.with("svg", &[("viewBox", &view), ("class", "chart"), ("role", "img")], |html| {
            html.element("title", &[], self.title);
            html.element("desc", &[], &described.join(" "));
            let mut grid = String::new();
            for (value, text) in x.ticks() {
                let at = x.at(value);
                path(&mut grid, format_args!("M{at:.1} {top:.1}V{bottom:.1}"));
                label(html, (at, bottom + 18.0), "middle", &text);
            }
            for (value, text) in y.ticks() {
                let at = y.at(value);
                path(&mut grid, format_args!("M{left:.1} {at:.1}H{right:.1}"));
                label(html, (left - 7.0, at + 4.5), "end", &text);
            }
            html.element("path", &[("class", "grid"), ("d", &grid)], "");
            label(html, (f64::midpoint(left, right), HEIGHT - 8.0), "middle", &self.x_label);
            for (at, text) in self.marks.iter().filter(|(at, _)| at.is_finite()) {
                let at = x.at(*at).clamp(left, right);
                let line = format!("M{at:.1} {top:.1}V{bottom:.1}");
                html.with("path", &[("class", "mark"), ("d", &line)], |html| {
                    html.element("title", &[], text);
                });
            }
            let marked = points().count() <= MOST_MARKERS;
            for line in &self.lines {
                self.line(html, line, (&x, &y), marked);
            }
        });
    }

    fn line(&self, html: &mut Html, line: &Line, (x, y): (&Axis, &Axis), marked: bool) {
        let mut d = String::new();
        for part in &line.parts {
            for (i, &(px, py)) in part.iter().enumerate() {
                let begin = if i == 0 { 'M' } else { 'L' };
                path(&mut d, format_args!("{begin}{:.1} {:.1}", x.at(px), y.at(py)));
            }
        }
        html.with("path", &[("class", &line.css()), ("d", &d)], |html| {
            html.element("title", &[], &line.name);
        });
        if line.dash > 0 || !marked && line.points().count() > 1 {
            return;
        }
        let class = format!("dot s{}", line.colour % COLOURS);
        for (px, py) in line.points() {
            let (cx, cy) = (format!("{:.1}", x.at(px)), format!("{:.1}", y.at(py)));
            let circle = [("class", class.as_str()), ("cx", &cx), ("cy", &cy), ("r", "3")];
            html.with("circle", &circle, |html| {
                let at = match self.x {
                    Scale::Time => text::time(px as i64),
                    Scale::Linear | Scale::Log => text::measured(px),
                };
                let said = format!("{}, {at}: {}", line.name, with_unit(py, self.unit));
                html.element("title", &[], &said);
            });
        }
    }

    fn legend(&self, html: &mut Html) {
        html.with("ul", &[("class", "legend")], |html| {
            let mut entry = |class: &str, name: &str| {
                html.with("li", &[], |html| {
                    let swatch = [("viewBox", "0 0 28 10"), ("class", "swatch")];
                    html.with("svg", &[swatch[0], swatch[1], ("aria-hidden", "true")], |html| {
                        html.element("path", &[("class", class), ("d", "M1 5H27")], "");
                    });
                    html.text(name);
                });
            };
            self.lines.iter().for_each(|line| entry(&line.css(), &line.name));
            if !self.marks.is_empty() {
                entry("mark", "error, recovered");
            }
        });
    }
}

/// Formats a value with its unit. Round-off has none.
fn with_unit(y: f64, unit: &str) -> String {
    format!("{} {unit}", text::measured(y)).trim_end().to_owned()
}

/// Appends a command to the data of a path.
fn path(data: &mut String, command: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = data.write_fmt(command);
}

fn label(html: &mut Html, (x, y): (f64, f64), anchor: &str, text: &str) {
    let (x, y) = (format!("{x:.1}"), format!("{y:.1}"));
    html.element("text", &[("x", &x), ("y", &y), ("text-anchor", anchor)], text);
}

/// Replaces groups of adjacent points by the point with the largest y, if there are more than
/// [`MOST_POINTS`] points. The first and the last point stay.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= MOST_POINTS {
        return points.to_vec();
    }
    let group = points.len().div_ceil(MOST_POINTS - 2);
    let highest = |group: &[(f64, f64)]| group.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
    let inner = &points[1..points.len() - 1];
    let mut all = vec![points[0]];
    all.extend(inner.chunks(group).filter_map(highest));
    all.push(points[points.len() - 1]);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(parts: Vec<Vec<(f64, f64)>>, scale: Scale) -> String {
        let line = Line { name: "a <b>".into(), parts, ..Line::default() };
        let chart = Chart {
            title: "time & more",
            x_label: "size".into(),
            unit: "µs",
            x: scale,
            y: scale,
            lines: vec![line],
            marks: vec![(2.0, "</svg>".into())],
        };
        let mut html = Html::default();
        chart.write(&mut html);
        html.into_text()
    }

    #[test]
    fn a_chart_is_well_formed_and_has_a_title_and_a_description() {
        let text = chart(vec![vec![(1.0, 2.0), (2.0, 4.0)], vec![(3.0, 1.0)]], Scale::Log);
        let figure = roxmltree::Document::parse(&text).unwrap();
        let all =
            |name: &str| figure.descendants().filter(|n| n.has_tag_name(name)).collect::<Vec<_>>();
        assert_eq!(all("svg")[0].first_element_child().unwrap().text(), Some("time & more"));
        let described = all("desc")[0].text().unwrap();
        assert_eq!(described, "a <b>: 3 points, from 1.000 µs to 4.000 µs, last 1.000 µs.");
        assert_eq!(all("circle").len(), 3);
        let line = all("path").into_iter().find(|p| p.attribute("class") == Some("line s0"));
        let data = line.unwrap().attribute("d").unwrap();
        assert_eq!(data.matches('M').count(), 2, "two parts");
    }

    #[test]
    fn points_without_a_position_are_left_out() {
        let wrong = vec![(1.0, 0.0), (0.0, 1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)];
        assert_eq!(chart(vec![wrong], Scale::Log), "");
        assert_eq!(chart(vec![], Scale::Linear), "");
        let text = chart(vec![vec![(0.0, 0.0)]], Scale::Linear);
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }

    #[test]
    fn long_lines_keep_their_peaks_and_ends() {
        let mut points: Vec<_> = (0..10_000).map(|i| (f64::from(i), 1.0)).collect();
        points[5_000].1 = 9.0;
        let few = thinned(&points);
        assert!(few.len() <= MOST_POINTS);
        assert!(few.contains(&(5_000.0, 9.0)));
        assert_eq!((few[0], few[few.len() - 1]), (points[0], points[9_999]));
    }
}
