//! Formats of large numbers in readable form.

use warpint::collatz::Highest;

/// Formats a number as `3.12e13`, or as an integer if it is below 10^6.
pub(in crate::commands) fn about(x: f64) -> String {
    if x < 1e6 { format!("{x:.0}") } else { format!("{x:.2e}") }
}

/// Formats the highest value of the walked paths as `highest value walked: 4616, on the path of
/// 27`.
pub(super) fn highest(highest: &Highest) -> String {
    format!("highest value walked: {}, on the path of {}", highest.value, highest.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!((about(3.1234e13).as_str(), about(999.0).as_str()), ("3.12e13", "999"));
    }
}
