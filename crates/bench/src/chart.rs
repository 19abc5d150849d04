//! A chart of times against sizes, as SVG. Both axes are logarithmic. Each engine or operation has
//! a line with markers. Floors, which are lower bounds on a time, are dashed lines.
//!
//! The chart has no background, and all colours have medium lightness, so that the chart is
//! readable on white and on black.

use std::fmt::{self, Display, Write};

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 540.0;
/// The positions of the frame's left, right, top and bottom edges, in pixels. The legend is to the
/// right of the frame.
const FRAME: [f64; 4] = [76.0, 690.0, 52.0, 476.0];
const GREY: &str = "#808080";
/// The colours of engines, in the order in which the engines are added: blue, orange, green,
/// violet, red, teal, olive, pink. A ninth engine has the first colour again.
const COLOURS: [&str; 8] =
    ["#3d85d6", "#d9731a", "#2e9e6b", "#9a63d1", "#d64545", "#2a9da8", "#8f8a24", "#d0609f"];
/// The distance between entries of the legend, in pixels. It is reduced if the frame is not high
/// enough for all entries.
const LEGEND: f64 = 24.0;
/// The SVG dash patterns of an engine's first and second dashed line. Further lines repeat these
/// patterns.
const DASHES: [&str; 2] = ["9 5", "2 4"];

/// The labels of a chart.
#[derive(Debug, Clone, Copy)]
pub struct Labels {
    /// The title, which names the measured quantity. The name of the device or CPU is appended.
    pub title: &'static str,
    /// The label of the axis of sizes, then the label of the axis of times.
    pub axes: [&'static str; 2],
    /// A function that formats the tooltip of a marker from the line's name, the size and the time.
    pub marker: fn(&str, f64, f64) -> String,
}

/// A chart of lines through points (size, time). `Display` writes an SVG document.
#[derive(Debug, Clone)]
pub struct Chart {
    labels: &'static Labels,
    place: String,
    lines: Vec<Line>,
}

/// A time that another program takes, to be drawn beside measured times.
#[derive(Debug, Clone, PartialEq)]
pub struct Other {
    /// The name of the line: the program, and what it computes with.
    pub name: String,
    /// The size.
    pub size: f64,
    /// The time, in the unit of the chart.
    pub time: f64,
}

/// A line that is not an [`Other`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: '{text}' is not P MICROSECONDS NAME with positive numbers")]
pub struct NoOther {
    line: usize,
    text: String,
}

impl Other {
    /// Parses lines of a size, a time and a name. Empty lines and lines that begin with # are left out.
    ///
    /// # Errors
    /// Returns the first line that has another form.
    pub fn all(text: &str) -> Result<Vec<Self>, NoOther> {
        let lines = text.lines().map(str::trim).enumerate();
        let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        lines
            .map(|(at, line)| {
                Self::parse(line).ok_or_else(|| NoOther { line: at + 1, text: line.to_owned() })
            })
            .collect()
    }

    fn parse(line: &str) -> Option<Self> {
        let positive = |text: &str| text.parse().ok().filter(|x: &f64| x.is_finite() && *x > 0.0);
        let (size, rest) = line.split_once(char::is_whitespace)?;
        let (time, name) = rest.trim_start().split_once(char::is_whitespace)?;
        let name = name.trim_start().to_owned();
        Some(Self { name, size: positive(size)?, time: positive(time)? })
    }
}

#[derive(Debug, Clone)]
struct Line {
    engine: String,
    name: String,
    dashed: bool,
    points: Vec<(f64, f64)>,
}

impl Chart {
    /// Creates a chart without lines. `place` is the name of the device or CPU in the title.
    #[must_use]
    pub fn new(labels: &'static Labels, place: &str) -> Self {
        Self { labels, place: place.to_owned(), lines: vec![] }
    }

    /// Adds a point with a marker to the line of an engine or operation. A point is ignored unless
    /// its size and its time are finite and positive.
    pub fn mark(&mut self, engine: &str, size: f64, time: f64) {
        self.add(engine, engine, false, (size, time));
    }

    /// Adds a point to the dashed line `name`, which has the colour of `engine`. A point is ignored
    /// unless its size and its time are finite and positive.
    pub fn dash(&mut self, engine: &str, name: &str, size: f64, time: f64) {
        self.add(engine, name, true, (size, time));
    }

    /// Adds a point to a line. A point is ignored unless its size and its time are finite and
    /// positive.
    fn add(&mut self, engine: &str, name: &str, dashed: bool, point: (f64, f64)) {
        let has_log = |x: f64| x.is_finite() && x > 0.0;
        if !has_log(point.0) || !has_log(point.1) {
            return;
        }
        match self.lines.iter_mut().find(|line| line.name == name && line.dashed == dashed) {
            Some(line) => line.points.push(point),
            None => self.lines.push(Line {
                engine: engine.to_owned(),
                name: name.to_owned(),
                dashed,
                points: vec![point],
            }),
        }
    }

    fn colour(&self, line: &Line) -> &'static str {
        let mut engines: Vec<&str> = vec![];
        for line in &self.lines {
            if !engines.contains(&line.engine.as_str()) {
                engines.push(&line.engine);
            }
        }
        let place = engines.iter().position(|&engine| engine == line.engine).unwrap_or(0);
        COLOURS[place % COLOURS.len()]
    }

    /// Returns the SVG attributes of a line: its colour, width and dash pattern.
    fn stroke(&self, line: &Line) -> String {
        let colour = self.colour(line);
        if !line.dashed {
            return format!("stroke=\"{colour}\" stroke-width=\"2.5\"");
        }
        let of_engine = self.lines.iter().filter(|l| l.dashed && l.engine == line.engine);
        let place = of_engine.take_while(|l| l.name != line.name).count();
        let dashes = DASHES[place % DASHES.len()];
        format!("stroke=\"{colour}\" stroke-width=\"1.5\" stroke-dasharray=\"{dashes}\"")
    }
}

/// A logarithmic axis: its least and largest value, and the positions of these two values in
/// pixels.
struct Axis {
    from: f64,
    to: f64,
    pixels: (f64, f64),
}

impl Axis {
    /// Creates an axis that covers all values, with a margin at each end. Without values, the axis
    /// goes from 1 to 10. The axis has at least two ticks.
    fn new(values: impl Iterator<Item = f64>, pixels: (f64, f64)) -> Self {
        const ROOM: f64 = 1.3;
        /// The least ratio of the largest value of an axis to its least value. It is (5/2)².
        /// Adjacent ticks have a ratio of at most 5/2, so every axis contains two ticks.
        const LEAST_SPAN: f64 = 6.25;
        let (least, most) =
            values.fold((f64::INFINITY, 0.0f64), |(least, most), x| (least.min(x), most.max(x)));
        let room = ROOM.max((LEAST_SPAN * least / most).sqrt());
        let (from, to) = if most > 0.0 { (least / room, most * room) } else { (1.0, 10.0) };
        Self { from, to, pixels }
    }

    fn at(&self, x: f64) -> f64 {
        let (begin, end) = self.pixels;
        begin + (end - begin) * (x / self.from).ln() / (self.to / self.from).ln()
    }

    /// Returns the values of the ticks: 1, 2 and 5 times the powers of 10. If the largest value of
    /// the axis is more than 10^4 times the least, returns only powers of 10.
    fn ticks(&self) -> Vec<f64> {
        let wide = self.to / self.from > 1e4;
        let steps: &[f64] = if wide { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let powers = self.from.log10().floor() as i32..=self.to.log10().ceil() as i32;
        powers
            .flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)))
            .filter(|x| (self.from..=self.to).contains(x))
            .collect()
    }
}

/// Formats the value of a tick, such as `0.05`, `500`, `20K`, `5M` or `1G`. Numbers of 10,000 or
/// more are in units of K = 10^3, M = 10^6 or G = 10^9.
fn short(x: f64) -> String {
    match x {
        x if x >= 1e9 => format!("{:.0}G", x / 1e9),
        x if x >= 1e6 => format!("{:.0}M", x / 1e6),
        x if x >= 1e4 => format!("{:.0}K", x / 1e3),
        // Steps of 1, 2 and 5 have one digit: 0.2, 0.05.
        x if x < 1.0 => format!("{:.*}", (-x.log10().floor()) as usize, x),
        x => format!("{x:.0}"),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Writes an SVG text element at a position. `style` contains further attributes of the element.
fn text(f: &mut impl Write, (x, y): (f64, f64), style: &str, text: &str) -> fmt::Result {
    writeln!(f, "<text x=\"{x:.1}\" y=\"{y:.1}\" {style}>{}</text>", escaped(text))
}

impl Display for Chart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [left, right, top, bottom] = FRAME;
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let x = Axis::new(points().map(|p| p.0), (left, right));
        let y = Axis::new(points().map(|p| p.1), (bottom, top));
        writeln!(
            f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             width=\"{WIDTH}\" height=\"{HEIGHT}\" font-family=\"system-ui, sans-serif\" \
             font-size=\"14\" fill=\"{GREY}\">"
        )?;
        let middle = f64::midpoint(left, right);
        let Labels { title, axes: [sizes, times], marker } = self.labels;
        let title = format!("{title}, {}", self.place);
        text(f, (middle, 28.0), "text-anchor=\"middle\" font-size=\"17\"", &title)?;
        text(f, (middle, HEIGHT - 16.0), "text-anchor=\"middle\"", sizes)?;
        let height = f64::midpoint(top, bottom);
        let upright = format!("text-anchor=\"middle\" transform=\"rotate(-90 20 {height:.1})\"");
        text(f, (20.0, height), &upright, times)?;
        writeln!(f, "<g stroke=\"{GREY}\" stroke-opacity=\"0.3\" fill=\"none\">")?;
        for at in x.ticks().iter().map(|&tick| x.at(tick)) {
            writeln!(f, "<path d=\"M{at:.1} {top:.1}V{bottom:.1}\"/>")?;
        }
        for at in y.ticks().iter().map(|&tick| y.at(tick)) {
            writeln!(f, "<path d=\"M{left:.1} {at:.1}H{right:.1}\"/>")?;
        }
        writeln!(f, "</g>")?;
        for tick in x.ticks() {
            text(f, (x.at(tick), bottom + 20.0), "text-anchor=\"middle\"", &short(tick))?;
        }
        for tick in y.ticks() {
            text(f, (left - 8.0, y.at(tick) + 5.0), "text-anchor=\"end\"", &short(tick))?;
        }
        let apart = LEGEND.min((bottom - top) / self.lines.len().max(1) as f64);
        for (i, line) in self.lines.iter().enumerate() {
            let (stroke, colour) = (self.stroke(line), self.colour(line));
            let mut points = line.points.clone();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let places: Vec<_> =
                points.iter().map(|p| format!("{:.1},{:.1}", x.at(p.0), y.at(p.1))).collect();
            writeln!(f, "<polyline points=\"{}\" {stroke} fill=\"none\"/>", places.join(" "))?;
            for &(size, time) in points.iter().filter(|_| !line.dashed) {
                let (cx, cy) = (x.at(size), y.at(time));
                let what = escaped(&marker(&line.name, size, time));
                writeln!(
                    f,
                    "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"4.5\" fill=\"{colour}\">\
                     <title>{what}</title></circle>"
                )?;
            }
            let at = top + 12.0 + apart * i as f64;
            let (begin, end) = (right + 16.0, right + 48.0);
            writeln!(f, "<path d=\"M{begin:.1} {at:.1}H{end:.1}\" {stroke} fill=\"none\"/>")?;
            text(f, (end + 8.0, at + 5.0), "", &line.name)?;
        }
        writeln!(f, "</svg>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mersenne::SQUARINGS;
    use roxmltree::Document;

    fn chart() -> Chart {
        let mut chart = Chart::new(&SQUARINGS, "A <GPU> & \"more\"");
        for (p, fp64, integers) in [(6_972_593, 11.5, 17.5), (332_192_831, 330.25, 590.0)] {
            let p = f64::from(p);
            chart.mark("fp64", p, fp64);
            chart.dash("fp64", "fp64: traffic", p, fp64 / 2.0);
            chart.dash("fp64", "fp64: arithmetic", p, fp64 / 3.0);
            chart.mark("goldilocks", p, integers);
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
    }

    #[test]
    fn one_point_or_none_is_a_chart_too() {
        let mut one = Chart::new(&SQUARINGS, "");
        assert!(Document::parse(&one.to_string()).is_ok());
        one.mark("fp64", 7.0, 0.05);
        one.mark("fp64", 11.0, 0.0);
        let text = one.to_string();
        let svg = Document::parse(&text).unwrap();
        assert_eq!(all(&svg, "circle").len(), 1);
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }

    #[test]
    fn times_of_other_programs_are_read() {
        let text = "# a comment\n\n82589933 87.1 PRPLL, FP64\n  6972593\t16.9  PRPLL, FP64 \n";
        let others = Other::all(text).unwrap();
        let found: Vec<_> = others.iter().map(|o| (o.name.as_str(), o.size, o.time)).collect();
        assert_eq!(
            found,
            [("PRPLL, FP64", 82_589_933.0, 87.1), ("PRPLL, FP64", 6_972_593.0, 16.9)]
        );
        for wrong in ["82589933 87.1", "82589933", "x 1 a", "1 -2 a", "1 inf a", "0 1 a"] {
            let error = Other::all(&format!("# one\n{wrong}")).unwrap_err().to_string();
            assert!(error.starts_with(&format!("line 2: '{wrong}' is not")), "{error}");
        }
    }

    #[test]
    fn an_axis_has_two_ticks() {
        for value in [1.0, 3.3, 3217.0, 136_279_841.0, 0.07] {
            for most in [value, 1.4 * value] {
                let axis = Axis::new([value, most].into_iter(), (0.0, 1.0));
                assert!(axis.ticks().len() >= 2, "{value} {most}");
            }
        }
    }

    #[test]
    fn ticks_are_short() {
        let said = [0.05, 0.2, 1.0, 20.0, 5000.0, 20_000.0, 2e6, 1e9].map(short);
        assert_eq!(said, ["0.05", "0.2", "1", "20", "5000", "20K", "2M", "1G"]);
    }
}
