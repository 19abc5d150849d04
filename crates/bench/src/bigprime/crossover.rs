//! The lengths of transforms at which the big-prime method is faster, and those at which the
//! small-primes method is faster.

use std::fmt;

use serde::Serialize;

use super::row::Row;

/// A range of measured lengths at which the same method is faster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Stretch {
    /// The faster method: `big` or `small`.
    pub way: &'static str,
    /// log2 of the shortest length of the range.
    pub from: u32,
    /// log2 of the longest length of the range.
    pub to: u32,
}

/// The faster method at each length, for one prime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Crossover {
    /// The prime in the notation of options, such as `(2^63+2^34)^8+1`.
    pub prime: String,
    /// The ranges of lengths, each with its faster method, in ascending order.
    pub faster: Vec<Stretch>,
}

/// Returns the faster method at each length, for each prime for which both methods were measured.
/// The primes are in the order of the rows.
pub(super) fn crossovers(rows: &[Row]) -> Vec<Crossover> {
    let mut all: Vec<Crossover> = vec![];
    let mut rows: Vec<(usize, &Row, f64)> = rows
        .iter()
        .filter_map(|row| {
            let place = rows.iter().position(|other| other.prime == row.prime)?;
            Some((place, row, row.small_over_big?))
        })
        .collect();
    rows.sort_by_key(|(place, row, _)| (*place, row.log2));
    for (_, row, ratio) in rows {
        if all.last().is_none_or(|last| last.prime != row.prime) {
            all.push(Crossover { prime: row.prime.clone(), faster: vec![] });
        }
        let way = if ratio >= 1.0 { "big" } else { "small" };
        let Some(Crossover { faster, .. }) = all.last_mut() else { continue };
        match faster.last_mut() {
            Some(stretch) if stretch.way == way => stretch.to = row.log2,
            _ => faster.push(Stretch { way, from: row.log2, to: row.log2 }),
        }
    }
    all
}

/// Formats a crossover as `(2^63+2^34)^8+1      small 2^10 … 2^13, big 2^14 … 2^22`.
impl fmt::Display for Crossover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said: Vec<String> = self
            .faster
            .iter()
            .map(|&Stretch { way, from, to }| {
                if from == to {
                    format!("{way} 2^{from}")
                } else {
                    format!("{way} 2^{from} … 2^{to}")
                }
            })
            .collect();
        write!(f, "{:<20} {}", self.prime, said.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpint_arith::gfn::PRIMES;

    #[test]
    fn stretches_go_from_the_first_length_to_the_last() {
        let row = |which: usize, log2, ratio| Row {
            small_over_big: ratio,
            ..Row::new(PRIMES[which], log2)
        };
        let rows = [
            row(2, 12, Some(1.5)),
            row(2, 10, Some(0.5)),
            row(2, 11, Some(0.75)),
            row(2, 13, None),
            row(2, 14, Some(1.0)),
            row(0, 10, Some(2.0)),
            row(1, 10, None),
        ];
        let lines: Vec<_> = crossovers(&rows).iter().map(Crossover::to_string).collect();
        assert_eq!(
            lines,
            [
                "(2^63+2^34)^8+1      small 2^10 … 2^11, big 2^12 … 2^14",
                "(2^63+2^53)^2+1      big 2^10",
            ]
        );
    }
}
