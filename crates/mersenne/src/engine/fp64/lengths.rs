//! The transform lengths of the family `fp64` on the CPU: even numbers 2^a·3^b·5^c·7^d.

/// The shortest transform length, in words.
pub(super) const SHORTEST: usize = 8;
/// The longest transform length, in words.
pub(super) const LONGEST: usize = 1 << 28;

/// The number of words from which on transform lengths are restricted. A length of this many words
/// or more must be an entry of [`ODD_PARTS`] times a power of two.
const SELECTED_FROM: usize = 1024;

/// The odd parts of the transform lengths of 1024 words and more. (The odd part of n is n divided
/// by the highest power of 2 that divides it.) Adjacent lengths differ by at most 5.5 %.
const ODD_PARTS: [usize; 20] =
    [1, 3, 5, 7, 9, 15, 21, 25, 27, 35, 45, 63, 75, 105, 135, 175, 189, 225, 315, 945];

/// Returns whether the family `fp64` supports the transform length n on the CPU. The length must be
/// even, from 8 to 2^28 words, and without prime factors above 7. If it is 1024 or more, it must
/// also be an entry of [`ODD_PARTS`] times a power of two.
pub(super) fn is_length(n: usize) -> bool {
    if !(SHORTEST..=LONGEST).contains(&n) || !n.is_multiple_of(2) {
        return false;
    }
    let odd = n >> n.trailing_zeros();
    if n < SELECTED_FROM {
        [3, 5, 7].into_iter().fold(odd, strip) == 1
    } else {
        ODD_PARTS.contains(&odd)
    }
}

/// Returns n divided by the highest power of q that divides it.
fn strip(mut n: usize, q: usize) -> usize {
    while n.is_multiple_of(q) {
        n /= q;
    }
    n
}

/// Returns the transform lengths, in words, that the family `fp64` supports on the CPU in
/// `from..=to`, in ascending order.
pub(super) fn lengths(from: usize, to: usize) -> Vec<usize> {
    let small = (SHORTEST..SELECTED_FROM).filter(|&n| is_length(n));
    let large = ODD_PARTS.into_iter().flat_map(|odd| {
        (1..=LONGEST.ilog2())
            .map(move |a| odd << a)
            .filter(|n| (SELECTED_FROM..=LONGEST).contains(n))
    });
    let mut all: Vec<usize> = small.chain(large).filter(|n| (from..=to).contains(n)).collect();
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_close_from_1024_words_on() {
        let all = lengths(1024, LONGEST);
        for pair in all.windows(2) {
            let ratio = pair[1] as f64 / pair[0] as f64;
            assert!(ratio > 1.0 && ratio < 1.06, "{pair:?}: {ratio}");
        }
        assert_eq!(all.first(), Some(&1024));
        assert_eq!(all.last(), Some(&LONGEST));
    }

    #[test]
    fn the_list_and_the_predicate_agree() {
        let listed = lengths(0, 5000);
        let accepted: Vec<usize> = (0..=5000).filter(|&n| is_length(n)).collect();
        assert_eq!(listed, accepted);
        assert_eq!(&listed[..8], &[8, 10, 12, 14, 16, 18, 20, 24]);
        assert!(!is_length(LONGEST * 2) && !is_length(0) && !is_length(1022));
        assert_eq!(lengths(11, 11), Vec::<usize>::new());
    }
}
