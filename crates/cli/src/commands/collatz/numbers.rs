//! Large numbers and ranges as people read them.

use warpint::collatz::Highest;

/// `2^40` for a power of two from 2^20 up, otherwise digits.
pub(super) fn number(n: u128) -> String {
    if n.is_power_of_two() && n >> 20 != 0 {
        format!("2^{}", n.trailing_zeros())
    } else {
        n.to_string()
    }
}

/// `every n below 2^40 reaches 1`, `every n from A to B − 1 reaches 1 if all below A do`.
pub(super) fn claim(from: u128, to: u128) -> String {
    if from <= 2 {
        // 1 is at 1, and 0 is not meant.
        return format!("every n from 1 up and below {} reaches 1", number(to));
    }
    let (from, to) = (number(from), number(to));
    format!("every n from {from} up and below {to} reaches 1 if all below {from} do")
}

/// `3.12e13`, or digits where these are few.
pub(super) fn about(x: f64) -> String {
    if x < 1e6 { format!("{x:.0}") } else { format!("{x:.2e}") }
}

/// `highest value walked: 4616, on the path of 27`.
pub(super) fn highest(highest: &Highest) -> String {
    format!("highest value walked: {}, on the path of {}", highest.value, highest.start)
}

/// `27, 31, … (7 in all)`
pub(super) fn list(numbers: &[u128]) -> String {
    const MOST: usize = 20;
    let shown: Vec<String> = numbers.iter().take(MOST).map(ToString::to_string).collect();
    let shown = shown.join(", ");
    match numbers.len() {
        n if n > MOST => format!("{shown}, … ({n} in all)"),
        _ => shown,
    }
}

/// What is said of unresolved numbers.
pub(super) fn unresolved(numbers: &[u128]) -> String {
    let (they, start) =
        if numbers.len() == 1 { ("it", "its start") } else { ("they", "their starts") };
    format!(
        "UNRESOLVED: {}: {they} did not come below {start}; this may be a COUNTER-EXAMPLE of the Collatz conjecture",
        list(numbers)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(number(1 << 40), "2^40");
        assert_eq!(number(1024), "1024");
        assert_eq!(number((1 << 40) + 1), "1099511627777");
        assert_eq!(claim(0, 1 << 40), "every n from 1 up and below 2^40 reaches 1");
        assert_eq!(claim(5, 9), "every n from 5 up and below 9 reaches 1 if all below 5 do");
        assert_eq!((about(3.1234e13).as_str(), about(999.0).as_str()), ("3.12e13", "999"));
        assert_eq!(list(&[1, 2]), "1, 2");
        assert!(list(&[7; 30]).ends_with("7, … (30 in all)"));
        assert!(unresolved(&[27]).starts_with("UNRESOLVED: 27: it did not come below its start"));
    }
}
