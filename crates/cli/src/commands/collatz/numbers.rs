//! Formats of large numbers and of claims about ranges, in readable form.

use warpint::collatz::Highest;
use warpint::collatz::names::number;

/// Formats the claim about a range as `every n from 1 up and below 2^40 reaches 1`, or `every n
/// from A up and below B reaches 1 if all below A do` if the range does not begin at 0, 1 or 2.
pub(super) fn claim(from: u128, to: u128) -> String {
    if from <= 2 {
        // 1 is already at 1, and nothing is claimed about 0.
        return format!("every n from 1 up and below {} reaches 1", number(to));
    }
    let (from, to) = (number(from), number(to));
    format!("every n from {from} up and below {to} reaches 1 if all below {from} do")
}

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
        assert_eq!(claim(0, 1 << 40), "every n from 1 up and below 2^40 reaches 1");
        assert_eq!(claim(5, 9), "every n from 5 up and below 9 reaches 1 if all below 5 do");
        assert_eq!((about(3.1234e13).as_str(), about(999.0).as_str()), ("3.12e13", "999"));
    }
}
