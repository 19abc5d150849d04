//! The axes of charts: positions of values, and ticks with their labels. How a chart is drawn is decided by the
//! crates that use them.

mod axis;
mod time;

pub use axis::{Axis, Scale};
