//! Texts for users: large numbers, lists of numbers, and reports of unresolved numbers.

/// Returns a number as text. Powers of two that are at least 2^20 have the form `2^40`. All other
/// numbers are written in decimal digits.
#[must_use]
pub fn number(n: u128) -> String {
    if n.is_power_of_two() && n >> 20 != 0 {
        format!("2^{}", n.trailing_zeros())
    } else {
        n.to_string()
    }
}

/// Formats the claim about a verified range as `every n from 1 up and below 2^40 reaches 1`, or `every n
/// from A up and below B reaches 1 if all below A do` if the range does not begin at 0, 1 or 2.
#[must_use]
pub fn claim(from: u128, to: u128) -> String {
    if from <= 2 {
        // 1 is already at 1, and nothing is claimed about 0.
        return format!("every n from 1 up and below {} reaches 1", number(to));
    }
    let (from, to) = (number(from), number(to));
    format!("every n from {from} up and below {to} reaches 1 if all below {from} do")
}

/// Returns a list of numbers as text: `27, 31`. A list of more than 20 numbers is cut after 20
/// numbers, and its length is added: `27, 31, … (30 in all)`.
#[must_use]
pub fn list(numbers: &[u128]) -> String {
    const MOST: usize = 20;
    let shown: Vec<String> = numbers.iter().take(MOST).map(ToString::to_string).collect();
    let shown = shown.join(", ");
    match numbers.len() {
        n if n > MOST => format!("{shown}, … ({n} in all)"),
        _ => shown,
    }
}

/// Returns a message that reports unresolved numbers to users. The paths of unresolved numbers did
/// not fall below their starts within the limit of steps.
#[must_use]
pub fn unresolved(numbers: &[u128]) -> String {
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
    fn nothing_is_claimed_about_0() {
        for from in 0..=2 {
            assert_eq!(claim(from, 1 << 40), "every n from 1 up and below 2^40 reaches 1");
        }
        assert_eq!(claim(3, 9), "every n from 3 up and below 9 reaches 1 if all below 3 do");
        assert_eq!(claim(5, 9), "every n from 5 up and below 9 reaches 1 if all below 5 do");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(number(1 << 40), "2^40");
        assert_eq!(number(1024), "1024");
        assert_eq!(number((1 << 40) + 1), "1099511627777");
        assert_eq!(list(&[1, 2]), "1, 2");
        assert!(list(&[7; 30]).ends_with("7, … (30 in all)"));
        assert!(unresolved(&[27]).starts_with("UNRESOLVED: 27: it did not come below its start"));
    }
}
