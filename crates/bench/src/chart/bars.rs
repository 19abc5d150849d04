//! A chart of panels. Each panel has an axis of its own and a row for each value.

use std::fmt::{self, Display};

use super::lines::titled;
use super::svg;
use warpint_chart::{Axis, Scale};

/// The length of an axis, in pixels. Labels are to the left, values to the right of their bars.
const LENGTH: f64 = 480.0;
/// The least widths of the columns of labels and of values, in pixels, and the space beside them.
const COLUMNS: [f64; 2] = [180.0, 140.0];
const SPACE: f64 = 12.0;
/// The font size of labels and values, in pixels.
const FONT: f64 = 14.0;
/// The height of a row and the thickness of its bar, in pixels.
const ROW: f64 = 26.0;
const THICKNESS: f64 = 16.0;
/// The heights above the first panel, of the title of a panel, of its explanation of limits, and of
/// the labels of its axis.
const TOP: f64 = 48.0;
const TITLE: f64 = 28.0;
const LIMITS: f64 = 20.0;
const TICKS: f64 = 40.0;

/// A chart of panels of bars. `Display` writes an SVG document.
#[derive(Debug, Clone)]
pub struct Bars {
    title: String,
    panels: Vec<Panel>,
}

/// The bars of one quantity. On a linear axis the length of a bar, from 0, is proportional to its
/// value. A logarithmic axis has no 0, so values are dots there.
#[derive(Debug, Clone)]
pub struct Panel {
    title: String,
    scale: Scale,
    limits: String,
    bars: Vec<Bar>,
}

/// One value of a [`Panel`].
#[derive(Debug, Clone)]
pub struct Bar {
    /// The name of the thing that has the value.
    pub label: String,
    /// Bars of the same series have the same colour, in all panels of the chart.
    pub series: String,
    /// The value, in the unit of the panel.
    pub value: f64,
    /// The value as it is written beside the bar.
    pub said: String,
    /// A value for comparison, such as a floor or the value of a data sheet. It is drawn as a stroke
    /// across the bar. [`Panel::limits`] states what it is.
    pub limit: Option<f64>,
}

impl Bars {
    /// Creates a chart without panels. `title` names the quantities; `place` is the name of the
    /// device or CPU and is appended to the title, unless it is empty.
    #[must_use]
    pub fn new(title: &str, place: &str) -> Self {
        Self { title: titled(title, place), panels: vec![] }
    }

    /// Adds a panel below the others. A panel without bars is left out.
    pub fn add(&mut self, panel: Panel) {
        if !panel.bars.is_empty() {
            self.panels.push(panel);
        }
    }

    /// Returns the positions of the left and right end of the axes, and the width of the chart. Long
    /// labels and values make it wider.
    fn widths(&self) -> (f64, f64, f64) {
        let bars = || self.panels.iter().flat_map(|panel| &panel.bars);
        let column = |texts: &mut dyn Iterator<Item = &String>, least| {
            texts.map(|text| svg::width_of(text, FONT)).fold(least, f64::max).ceil() + 2.0 * SPACE
        };
        let left = column(&mut bars().map(|bar| &bar.label), COLUMNS[0]);
        let right = left + LENGTH;
        (left, right, right + column(&mut bars().map(|bar| &bar.said), COLUMNS[1]))
    }

    fn colour(&self, series: &str) -> &'static str {
        let bars = self.panels.iter().flat_map(|panel| &panel.bars);
        svg::colour(bars.map(|bar| bar.series.as_str()), series)
    }

    /// Describes the chart in words: the axes and all values.
    fn description(&self) -> String {
        let mut text = String::from("Bar chart.");
        for panel in &self.panels {
            text += &format!(" {}, {} axis:", panel.title, panel.scale.name());
            for (i, bar) in panel.bars.iter().enumerate() {
                let limit = bar.limit.map_or_else(String::new, |limit| {
                    format!(" ({}: {})", panel.limits, svg::plain(limit))
                });
                let end = if i + 1 == panel.bars.len() { "." } else { ";" };
                text += &format!(" {} {}{limit}{end}", bar.label, bar.said);
            }
        }
        text
    }
}

impl Panel {
    /// Creates a panel without bars. `title` names the quantity and its unit.
    #[must_use]
    pub fn new(title: &str, scale: Scale) -> Self {
        Self { title: title.to_owned(), scale, limits: String::new(), bars: vec![] }
    }

    /// States what the limits of the bars are.
    #[must_use]
    pub fn limits(mut self, what: &str) -> Self {
        what.clone_into(&mut self.limits);
        self
    }

    /// Adds a bar below the others. A bar is ignored unless its value is finite and, on a
    /// logarithmic axis, positive. A limit for which this does not hold is left out.
    pub fn add(&mut self, mut bar: Bar) {
        if self.scale.has(bar.value) {
            bar.limit = bar.limit.filter(|&limit| self.scale.has(limit));
            self.bars.push(bar);
        }
    }

    fn has_limits(&self) -> bool {
        self.bars.iter().any(|bar| bar.limit.is_some())
    }

    /// Returns the height of the panel above its first row.
    fn head(&self) -> f64 {
        TITLE + if self.has_limits() { LIMITS } else { 0.0 }
    }

    fn height(&self) -> f64 {
        self.head() + ROW * self.bars.len() as f64 + TICKS
    }

    /// Draws the panel, whose upper edge is at `top`, with an axis between `left` and `right`.
    fn draw(
        &self,
        f: &mut fmt::Formatter<'_>,
        top: f64,
        (left, right): (f64, f64),
        colour: impl Fn(&str) -> &'static str,
    ) -> fmt::Result {
        let values = self.bars.iter().flat_map(|bar| [Some(bar.value), bar.limit]).flatten();
        // Bars begin at 0.
        let zero = (self.scale == Scale::Linear).then_some(0.0);
        let axis = Axis::new(self.scale, values.chain(zero), (left, right));
        let (first, end) = (top + self.head(), top + self.height() - TICKS);
        svg::text(f, (left, top + 18.0), "font-weight=\"bold\"", &self.title)?;
        if self.has_limits() {
            let at = top + TITLE + 10.0;
            stroke(f, left + 4.0, (at - 8.0, at + 4.0))?;
            svg::text(f, (left + 14.0, at + 3.0), "font-size=\"12\"", &self.limits)?;
        }
        let ticks = axis.ticks();
        writeln!(f, "<g stroke=\"{}\" stroke-opacity=\"0.3\" fill=\"none\">", svg::GREY)?;
        for at in ticks.iter().map(|(tick, _)| axis.at(*tick)) {
            writeln!(f, "<path d=\"M{at:.1} {first:.1}V{end:.1}\"/>")?;
        }
        writeln!(f, "</g>")?;
        for (tick, label) in &ticks {
            let style = "text-anchor=\"middle\" font-size=\"12\"";
            svg::text(f, (axis.at(*tick), end + 16.0), style, label)?;
        }
        for (i, bar) in self.bars.iter().enumerate() {
            let middle = first + ROW * (i as f64 + 0.5);
            let (at, colour) = (axis.at(bar.value), colour(&bar.series));
            svg::text(f, (left - SPACE, middle + 5.0), "text-anchor=\"end\"", &bar.label)?;
            let tooltip = svg::escaped(&format!("{}: {}", bar.label, bar.said));
            let far = match self.scale {
                Scale::Linear | Scale::Time => {
                    let zero = axis.at(0.0);
                    let (x, width) = (at.min(zero), (at - zero).abs());
                    let y = middle - THICKNESS / 2.0;
                    writeln!(
                        f,
                        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
                         height=\"{THICKNESS}\" fill=\"{colour}\"><title>{tooltip}</title></rect>"
                    )?;
                    at.max(zero)
                }
                Scale::Log => {
                    writeln!(
                        f,
                        "<path d=\"M{left:.1} {middle:.1}H{at:.1}\" stroke=\"{colour}\" \
                         stroke-opacity=\"0.5\" stroke-dasharray=\"2 3\" fill=\"none\"/>\n\
                         <circle cx=\"{at:.1}\" cy=\"{middle:.1}\" r=\"6\" fill=\"{colour}\">\
                         <title>{tooltip}</title></circle>"
                    )?;
                    at + 6.0
                }
            };
            let far = bar.limit.map_or(far, |limit| far.max(axis.at(limit)));
            if let Some(limit) = bar.limit {
                stroke(f, axis.at(limit), (middle - ROW / 2.0 + 1.0, middle + ROW / 2.0 - 1.0))?;
            }
            svg::text(f, (far.min(right) + SPACE, middle + 5.0), "", &bar.said)?;
        }
        Ok(())
    }
}

/// Draws the stroke of a limit.
fn stroke(f: &mut fmt::Formatter<'_>, x: f64, (top, bottom): (f64, f64)) -> fmt::Result {
    writeln!(
        f,
        "<path d=\"M{x:.1} {top:.1}V{bottom:.1}\" stroke=\"{}\" stroke-width=\"2.5\" fill=\"none\"/>",
        svg::GREY
    )
}

impl Display for Bars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let height = TOP + self.panels.iter().map(Panel::height).sum::<f64>();
        let (left, right, width) = self.widths();
        svg::begin(f, [width, height], &self.title, &self.description())?;
        svg::headline(f, &self.title, width / 2.0, width)?;
        let mut top = TOP;
        for panel in &self.panels {
            panel.draw(f, top, (left, right), |series| self.colour(series))?;
            top += panel.height();
        }
        writeln!(f, "</svg>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roxmltree::{Document, Node};

    fn bar(label: &str, series: &str, value: f64, limit: Option<f64>) -> Bar {
        let [label, series] = [label, series].map(str::to_owned);
        Bar { label, series, value, said: format!("{value} GB/s"), limit }
    }

    fn all<'a>(svg: &'a Document<'a>, name: &str) -> Vec<Node<'a, 'a>> {
        svg.descendants()
            .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", name)))
            .collect()
    }

    fn number(node: &Node<'_, '_>, name: &str) -> f64 {
        node.attribute(name).unwrap().parse().unwrap()
    }

    #[test]
    fn lengths_are_proportional_to_values() {
        let mut copies = Panel::new("copies, GB/s", Scale::Linear).limits("data sheet");
        copies.add(bar("8 MiB", "in place", 4500.0, Some(4800.0)));
        copies.add(bar("8 MiB & more", "between", 1500.0, None));
        copies.add(bar("no number", "between", f64::NAN, None));
        let mut costs = Panel::new("cost, %", Scale::Linear);
        costs.add(bar("cost", "in place", -0.5, None));
        let mut bars = Bars::new("Rates", "A <GPU>");
        bars.add(copies);
        bars.add(Panel::new("empty", Scale::Log));
        bars.add(costs);
        let text = bars.to_string();
        let svg = Document::parse(&text).unwrap();
        let drawn = all(&svg, "rect");
        let widths: Vec<f64> = drawn.iter().map(|rect| number(rect, "width")).collect();
        assert!(drawn.len() == 3 && (widths[0] / widths[1] - 3.0).abs() < 0.01, "{widths:?}");
        let left = COLUMNS[0] + 2.0 * SPACE;
        assert!(drawn[..2].iter().all(|rect| number(rect, "x") == left));
        // A negative bar ends where positive bars begin.
        let end = number(&drawn[2], "x") + widths[2];
        assert!((end - (left + LENGTH)).abs() < 0.2, "{end}");
        let colours: Vec<_> = drawn.iter().map(|rect| rect.attribute("fill").unwrap()).collect();
        assert!(colours[0] == colours[2] && colours[0] != colours[1]);
        let texts: Vec<_> = all(&svg, "text").iter().map(|t| t.text().unwrap()).collect();
        for expected in [
            "Rates, A <GPU>",
            "copies, GB/s",
            "data sheet",
            "8 MiB & more",
            "1500 GB/s",
            "-0.5 GB/s",
        ] {
            assert!(texts.contains(&expected), "{expected}: {texts:?}");
        }
        assert!(!texts.contains(&"empty"), "a panel without bars is left out");
        let desc = all(&svg, "desc")[0].text().unwrap();
        assert_eq!(
            desc,
            "Bar chart. copies, GB/s, linear axis: 8 MiB 4500 GB/s (data sheet: 4800); \
             8 MiB & more 1500 GB/s. cost, %, linear axis: cost -0.5 GB/s."
        );
    }

    #[test]
    fn values_on_a_logarithmic_axis_are_dots() {
        let mut panel = Panel::new("numbers a second", Scale::Log);
        for (label, value) in [("a", 1e9), ("b", 1e12), ("c", 1e15), ("none", 0.0)] {
            panel.add(bar(label, "", value, None));
        }
        let mut bars = Bars::new("Rates", "");
        bars.add(panel);
        let text = bars.to_string();
        let svg = Document::parse(&text).unwrap();
        let at: Vec<f64> = all(&svg, "circle").iter().map(|dot| number(dot, "cx")).collect();
        assert!(at.len() == 3 && (at[1] - at[0] - (at[2] - at[1])).abs() < 0.2, "{at:?}");
        assert!(all(&svg, "rect").is_empty());
        let height: f64 = number(&svg.root_element(), "height");
        let lowest = all(&svg, "text").iter().map(|text| number(text, "y")).fold(0.0, f64::max);
        assert!(lowest < height, "{lowest} {height}");
    }

    #[test]
    fn a_chart_without_panels_is_well_formed() {
        assert!(Document::parse(&Bars::new("Nothing", "").to_string()).is_ok());
    }
}
