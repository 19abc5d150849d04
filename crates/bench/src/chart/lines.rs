//! A chart of lines through points. Each engine or operation has a line with markers. Floors, which
//! are lower bounds on a time, are dashed lines.

use std::fmt::{self, Display};

use super::svg;
use warpint_chart::{Axis, Scale};

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 540.0;
/// The positions of the frame's left, right, top and bottom edges, in pixels. The legend is to the
/// right of the frame.
const FRAME: [f64; 4] = [76.0, 690.0, 52.0, 476.0];
/// The position of the names in the legend, and their font size.
const NAMES: (f64, f64) = (FRAME[1] + 56.0, 14.0);
/// The distance between entries of the legend, in pixels. It is reduced if the frame is not high
/// enough for all entries.
const LEGEND: f64 = 24.0;
/// The SVG dash patterns of an engine's first and second dashed line. Further lines repeat these
/// patterns.
const DASHES: [&str; 2] = ["9 5", "2 4"];

/// A chart of lines through points. `Display` writes an SVG document.
#[derive(Debug, Clone)]
pub struct Chart {
    title: String,
    axes: [String; 2],
    scales: [Scale; 2],
    lines: Vec<Line>,
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A line with a marker at each point.
    Marked,
    /// A line without markers.
    Traced,
    /// A thin dashed line without markers.
    Dashed,
}

#[derive(Debug, Clone)]
struct Line {
    engine: String,
    name: String,
    kind: Kind,
    points: Vec<Point>,
}

#[derive(Debug, Clone)]
struct Point {
    x: f64,
    y: f64,
    /// The text that is shown while the pointer is on the marker.
    tooltip: String,
}

impl Chart {
    /// Creates a chart without lines. `title` names the quantity; `place` is the name of the device
    /// or CPU and is appended to the title, unless it is empty. `axes` are the labels of the
    /// horizontal and of the vertical axis, with units. Both axes are logarithmic.
    #[must_use]
    pub fn new(title: &str, place: &str, axes: [&str; 2]) -> Self {
        Self {
            title: titled(title, place),
            axes: axes.map(str::to_owned),
            scales: [Scale::Log; 2],
            lines: vec![],
        }
    }

    /// Sets the scales of the horizontal and of the vertical axis. Points that were added before and
    /// have no position on the new axes are removed.
    #[must_use]
    pub fn with_scales(mut self, scales: [Scale; 2]) -> Self {
        self.scales = scales;
        for line in &mut self.lines {
            line.points.retain(|point| scales[0].has(point.x) && scales[1].has(point.y));
        }
        self.lines.retain(|line| !line.points.is_empty());
        self
    }

    /// Adds a point (x, y) with a marker to the line of an engine or operation. The text `tooltip`
    /// is shown while the pointer is on the marker.
    ///
    /// A point is ignored, here and in the other methods, unless its coordinates are finite and, on
    /// a logarithmic axis, positive.
    pub fn mark(&mut self, engine: &str, point: (f64, f64), tooltip: impl Into<String>) {
        self.add(engine, engine, Kind::Marked, point, tooltip.into());
    }

    /// Adds a point to the line `name`, which has no markers. Lines of many points, such as the
    /// readings of a sensor, are easier to read without markers.
    pub fn trace(&mut self, name: &str, point: (f64, f64)) {
        self.add(name, name, Kind::Traced, point, String::new());
    }

    /// Adds a point to the dashed line `name`, which has the colour of `engine`.
    pub fn dash(&mut self, engine: &str, name: &str, point: (f64, f64)) {
        self.add(engine, name, Kind::Dashed, point, String::new());
    }

    fn add(&mut self, engine: &str, name: &str, kind: Kind, (x, y): (f64, f64), tooltip: String) {
        if !self.scales[0].has(x) || !self.scales[1].has(y) {
            return;
        }
        let point = Point { x, y, tooltip };
        match self.lines.iter_mut().find(|line| line.name == name && line.kind == kind) {
            Some(line) => line.points.push(point),
            None => self.lines.push(Line {
                engine: engine.to_owned(),
                name: name.to_owned(),
                kind,
                points: vec![point],
            }),
        }
    }

    fn colour(&self, line: &Line) -> &'static str {
        svg::colour(self.lines.iter().map(|line| line.engine.as_str()), &line.engine)
    }

    /// Returns the SVG attributes of a line: its colour, width and dash pattern.
    fn stroke(&self, line: &Line) -> String {
        let colour = self.colour(line);
        if line.kind != Kind::Dashed {
            return format!("stroke=\"{colour}\" stroke-width=\"2.5\"");
        }
        let of_engine =
            self.lines.iter().filter(|l| l.kind == Kind::Dashed && l.engine == line.engine);
        let place = of_engine.take_while(|l| l.name != line.name).count();
        let dashes = DASHES[place % DASHES.len()];
        format!("stroke=\"{colour}\" stroke-width=\"1.5\" stroke-dasharray=\"{dashes}\"")
    }

    /// Describes the chart in words: the axes, and the first and last point of every line.
    fn description(&self) -> String {
        let [x, y] = &self.axes;
        let [of_x, of_y] = self.scales.map(Scale::name);
        let mut text =
            format!("Line chart. Horizontal axis, {of_x}: {x}. Vertical axis, {of_y}: {y}.");
        for line in &self.lines {
            let points = line.sorted();
            let at = |point: &Point| format!("{} at {}", svg::plain(point.y), svg::plain(point.x));
            text += &match &points[..] {
                [] => continue,
                [one] => format!(" {}: {}.", line.name, at(one)),
                [first, .., last] => {
                    format!(
                        " {}: {} points, from {} to {}.",
                        line.name,
                        points.len(),
                        at(first),
                        at(last)
                    )
                }
            };
        }
        text
    }

    /// Returns the width of the chart, which is larger if the names of the lines are long.
    fn width(&self) -> f64 {
        let names = self.lines.iter().map(|line| svg::width_of(&line.name, NAMES.1));
        names.fold(WIDTH, |width, of_name| width.max((NAMES.0 + of_name + 8.0).ceil()))
    }
}

impl Line {
    /// Returns the points in the order of x. Points with the same x keep their order.
    fn sorted(&self) -> Vec<&Point> {
        let mut points: Vec<&Point> = self.points.iter().collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        points
    }
}

/// Returns the title of a chart: the quantity and the place.
pub(super) fn titled(title: &str, place: &str) -> String {
    if place.is_empty() { title.to_owned() } else { format!("{title}, {place}") }
}

impl Display for Chart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [left, right, top, bottom] = FRAME;
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let x = Axis::new(self.scales[0], points().map(|p| p.x), (left, right));
        let y = Axis::new(self.scales[1], points().map(|p| p.y), (bottom, top));
        let width = self.width();
        svg::begin(f, [width, HEIGHT], &self.title, &self.description())?;
        let middle = f64::midpoint(left, right);
        svg::headline(f, &self.title, middle, width)?;
        let [of_x, of_y] = &self.axes;
        svg::text(f, (middle, HEIGHT - 16.0), "text-anchor=\"middle\"", of_x)?;
        let height = f64::midpoint(top, bottom);
        let upright = format!("text-anchor=\"middle\" transform=\"rotate(-90 20 {height:.1})\"");
        svg::text(f, (20.0, height), &upright, of_y)?;
        let (x_ticks, y_ticks) = (x.ticks(), y.ticks());
        writeln!(f, "<g stroke=\"{}\" stroke-opacity=\"0.3\" fill=\"none\">", svg::GREY)?;
        for at in x_ticks.iter().map(|(tick, _)| x.at(*tick)) {
            writeln!(f, "<path d=\"M{at:.1} {top:.1}V{bottom:.1}\"/>")?;
        }
        for at in y_ticks.iter().map(|(tick, _)| y.at(*tick)) {
            writeln!(f, "<path d=\"M{left:.1} {at:.1}H{right:.1}\"/>")?;
        }
        writeln!(f, "</g>")?;
        for (tick, label) in &x_ticks {
            svg::text(f, (x.at(*tick), bottom + 20.0), "text-anchor=\"middle\"", label)?;
        }
        for (tick, label) in &y_ticks {
            svg::text(f, (left - 8.0, y.at(*tick) + 5.0), "text-anchor=\"end\"", label)?;
        }
        let apart = LEGEND.min((bottom - top) / self.lines.len().max(1) as f64);
        for (i, line) in self.lines.iter().enumerate() {
            let (stroke, colour) = (self.stroke(line), self.colour(line));
            let points = line.sorted();
            let places: Vec<_> =
                points.iter().map(|p| format!("{:.1},{:.1}", x.at(p.x), y.at(p.y))).collect();
            writeln!(f, "<polyline points=\"{}\" {stroke} fill=\"none\"/>", places.join(" "))?;
            for point in points.iter().filter(|_| line.kind == Kind::Marked) {
                let (cx, cy) = (x.at(point.x), y.at(point.y));
                let what = svg::escaped(&point.tooltip);
                writeln!(
                    f,
                    "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"4.5\" fill=\"{colour}\">\
                     <title>{what}</title></circle>"
                )?;
            }
            let at = top + 12.0 + apart * i as f64;
            let (begin, end) = (right + 16.0, right + 48.0);
            writeln!(f, "<path d=\"M{begin:.1} {at:.1}H{end:.1}\" {stroke} fill=\"none\"/>")?;
            svg::text(f, (NAMES.0, at + 5.0), "", &line.name)?;
        }
        writeln!(f, "</svg>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roxmltree::Document;

    fn squarings(place: &str) -> Chart {
        let axes = ["exponent p (bits)", "µs per squaring"];
        Chart::new("Time of a squaring modulo 2^p − 1", place, axes)
    }

    fn chart() -> Chart {
        let mut chart = squarings("A <GPU> & \"more\"");
        for (p, fp64, integers) in [(6_972_593, 11.5, 17.5), (332_192_831, 330.25, 590.0)] {
            let of = |engine: &str, us: f64| format!("M{p} by {engine}: {us:.2} µs");
            let p = f64::from(p);
            chart.mark("fp64", (p, fp64), of("fp64", fp64));
            chart.dash("fp64", "fp64: traffic", (p, fp64 / 2.0));
            chart.dash("fp64", "fp64: arithmetic", (p, fp64 / 3.0));
            chart.mark("goldilocks", (p, integers), of("goldilocks", integers));
        }
        chart
    }

    /// Returns all elements of a document that have the SVG tag name `name`.
    fn all<'a>(svg: &'a Document<'a>, name: &str) -> Vec<roxmltree::Node<'a, 'a>> {
        svg.descendants()
            .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", name)))
            .collect()
    }

    #[test]
    fn every_row_is_a_marker_at_its_place() {
        let text = chart().to_string();
        let svg = Document::parse(&text).unwrap();
        let circles = all(&svg, "circle");
        let said: Vec<_> =
            circles.iter().map(|c| c.first_element_child().unwrap().text().unwrap()).collect();
        assert_eq!(
            said,
            [
                "M6972593 by fp64: 11.50 µs",
                "M332192831 by fp64: 330.25 µs",
                "M6972593 by goldilocks: 17.50 µs",
                "M332192831 by goldilocks: 590.00 µs",
            ]
        );
        let number = |i: usize, name| circles[i].attribute(name).unwrap().parse::<f64>().unwrap();
        let [left, right, top, bottom] = FRAME;
        for i in 0..4 {
            assert!((left..right).contains(&number(i, "cx")));
            assert!((top..bottom).contains(&number(i, "cy")));
        }
        // Equal ratios are equal distances, upwards.
        let rise = |i: usize, j: usize| number(i, "cy") - number(j, "cy");
        let per_log = rise(0, 1) / (330.25f64 / 11.5).ln();
        assert!((rise(0, 2) / (17.5f64 / 11.5).ln() - per_log).abs() < 0.5 && per_log > 0.0);
        assert_eq!(number(0, "cx"), number(2, "cx"));
    }

    #[test]
    fn lines_axes_and_title_are_named() {
        let text = chart().to_string();
        let svg = Document::parse(&text).unwrap();
        let texts: Vec<_> = all(&svg, "text").iter().map(|t| t.text().unwrap()).collect();
        for expected in [
            "Time of a squaring modulo 2^p − 1, A <GPU> & \"more\"",
            "exponent p (bits)",
            "µs per squaring",
            "10M",
            "200M",
            "5",
            "500",
            "fp64",
            "fp64: traffic",
            "goldilocks",
        ] {
            assert!(texts.contains(&expected), "{expected}: {texts:?}");
        }
        let lines = all(&svg, "polyline");
        let dashes: Vec<_> = lines.iter().map(|l| l.attribute("stroke-dasharray")).collect();
        assert_eq!(dashes, [None, Some("9 5"), Some("2 4"), None]);
        let colours: Vec<_> = lines.iter().map(|l| l.attribute("stroke").unwrap()).collect();
        assert!(colours[0] == colours[1] && colours[1] == colours[2] && colours[2] != colours[3]);
        let root = svg.root_element();
        let [title, desc] = ["title", "desc"].map(|name| {
            root.children()
                .find(|n| n.has_tag_name(("http://www.w3.org/2000/svg", name)))
                .unwrap()
                .text()
                .unwrap()
        });
        assert_eq!(title, texts[0]);
        assert!(
            desc.contains("fp64: 2 points, from 11.5 at 6972593 to 330.2 at 332192831."),
            "{desc}"
        );
    }

    #[test]
    fn one_point_or_none_is_a_chart_too() {
        for scale in [Scale::Log, Scale::Linear] {
            let mut one = squarings("").with_scales([scale; 2]);
            assert!(Document::parse(&one.to_string()).is_ok());
            one.mark("fp64", (7.0, 0.05), "");
            one.mark("fp64", (11.0, f64::NAN), "");
            one.trace("fp64", (f64::INFINITY, 1.0));
            let one = one.with_scales([Scale::Log; 2]);
            let text = one.to_string();
            let svg = Document::parse(&text).unwrap();
            assert_eq!((all(&svg, "circle").len(), all(&svg, "polyline").len()), (1, 1));
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        }
    }

    #[test]
    fn texts_and_points_of_a_file_make_a_chart_over_the_time() {
        let read: serde_json::Value = serde_json::from_str(
            r#"{"name": "temperature of a device with a very long name", "hours": [0, 0.5, 1], "celsius": [31, 58, 61]}"#,
        )
        .unwrap();
        let name = read["name"].as_str().unwrap().to_owned();
        let axes = [String::from("hours"), format!("{} °C", "")];
        let mut chart = Chart::new("Sensors", "", axes.each_ref().map(String::as_str))
            .with_scales([Scale::Linear; 2]);
        for i in 0..3 {
            let of = |key: &str| read[key][i].as_f64().unwrap();
            chart.trace(&name, (of("hours"), of("celsius")));
        }
        let text = chart.to_string();
        let svg = Document::parse(&text).unwrap();
        assert!(all(&svg, "circle").is_empty());
        let points = all(&svg, "polyline")[0].attribute("points").unwrap().to_owned();
        let x: Vec<f64> =
            points.split(' ').map(|p| p.split_once(',').unwrap().0.parse().unwrap()).collect();
        assert!(x[0] == FRAME[0] && (x[2] - x[1] - (x[1] - x[0])).abs() < 0.2, "{points}");
        let width: f64 = svg.root_element().attribute("width").unwrap().parse().unwrap();
        assert!(width > WIDTH, "a long name has room");
    }
}
