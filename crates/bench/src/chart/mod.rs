//! Charts as SVG documents.
//!
//! * [`Chart`]: lines through points, on logarithmic or linear axes;
//! * [`Bars`]: panels of horizontal bars, or of dots on a logarithmic axis;
//! * [`Other`]: times of other programs, to be drawn beside measured times.
//!
//! The type of chart follows the data. A quantity that depends on a size or on the time is a line.
//! Quantities of several things, such as rates of a device, are bars, whose lengths are
//! proportional to the values. Quantities that differ by powers of ten are dots.
//!
//! All texts are given when a chart is made, so that a chart can be drawn from data that are read
//! from a file. A chart has no background, and all colours have medium lightness, so that it is
//! readable on white and on black. The elements `title` and `desc` of the document describe the
//! chart for readers who cannot see it.

mod bars;
mod lines;
mod other;
mod svg;

pub use bars::{Bar, Bars, Panel};
pub use lines::Chart;
pub use other::{NoOther, Other};
pub use warpint_chart::Scale;
