//! Lines, and the factors that they need. A line is a transform along a column or a row, computed
//! in three steps of radices Q, A and B.

use crate::engine::gpu::Line;

/// The largest radix of a step of a line.
pub(super) const LARGEST_RADIX: u32 = 18;

/// Returns the largest of the radices of a line.
pub(super) fn largest_radix(line: Line) -> u32 {
    line.q.max(line.a).max(line.b)
}

/// Returns every division of a line of `len` points into steps of radix 4 to [`LARGEST_RADIX`], or
/// of radix 2 to 8 for a line of at most 64 points. The radices are Q, A and B; a line of only two
/// steps has A = 1.
pub(super) fn lines(len: u32) -> Vec<Line> {
    let radices = || if len <= 64 { 2..=8 } else { 4..=LARGEST_RADIX };
    let mut lines = vec![];
    for q in radices().filter(|&q| len.is_multiple_of(q)) {
        let rest = len / q;
        for a in radices().chain([1]).filter(|&a| rest.is_multiple_of(a)) {
            let b = rest / a;
            if radices().contains(&b) {
                lines.push(Line { q, a, b });
            }
        }
    }
    lines
}

/// Returns the radix of the first level of a transform of n > 1 points. The function `first_radix`
/// in `fourier.cuh` returns the same radix.
pub(super) fn first_radix(n: u32) -> u32 {
    [11, 7, 5, 3].into_iter().find(|&p| n.is_multiple_of(p)).unwrap_or(2)
}

/// Returns the exponents e of the powers w^e that a transform of n points x_j in registers requires
/// as factors. The transform computes X_k = Σ_j x_j·w^j·e^(±2πijk/n) for a given complex number w.
/// The order is that of `slot_of` in `fourier.cuh`.
pub(super) fn exponents(n: u32) -> Vec<u32> {
    if n == 1 {
        return vec![];
    }
    let p = first_radix(n);
    let m = n / p;
    (1..p).map(|i| i * m).chain(exponents(m)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_of_radices() {
        assert_eq!(exponents(16), [8, 4, 2, 1]);
        assert_eq!(exponents(12), [4, 8, 2, 1]);
        assert_eq!(exponents(9), [3, 6, 1, 2]);
        assert_eq!(exponents(14), [2, 4, 6, 8, 10, 12, 1]);
        assert_eq!(exponents(22), [2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 1]);
        assert!(exponents(1).is_empty());
    }

    #[test]
    fn lines_have_their_length() {
        for len in [8, 16, 60, 64, 96, 105, 1152, 2048, 2304, 4096, 4608] {
            let lines = lines(len);
            assert!(!lines.is_empty(), "{len}");
            assert!(lines.iter().all(|&l| l.len() == len && largest_radix(l) <= LARGEST_RADIX));
        }
        assert_eq!(lines(11), []);
        assert_eq!(lines(1 << 13), []);
    }
}
