//! Compares the kernels with the slow, obvious algorithms of `limbs`, and both versions of each
//! kernel with each other.

use super::*;
use crate::limbs;
use crate::sample::Sample;

/// Returns numbers of `len` limbs that cause long carries, and random numbers.
fn numbers(len: usize) -> Vec<Vec<u64>> {
    let mut sample = Sample::new(len as u64 + 1);
    let mut top = vec![0; len];
    let mut low = vec![u64::MAX; len];
    if let (Some(top), Some(low)) = (top.last_mut(), low.first_mut()) {
        (*top, *low) = (1 << 63, 1);
    }
    let random = (0..len).map(|_| sample.word()).collect();
    let few = (0..len).map(|i| 1u64.rotate_left(i as u32 * 63)).collect();
    vec![
        vec![u64::MAX; len],
        vec![0; len],
        top,
        low,
        few,
        random,
        sample.number(len),
        sample.number(len),
    ]
}

/// Surrounds memory by marks, calls `work` with the memory, and returns what is between the marks.
///
/// # Panics
/// Panics if `work` has changed a mark.
#[track_caller]
fn marked(len: usize, work: impl FnOnce(&mut [u64])) -> Vec<u64> {
    const MARK: u64 = 0x5555_aaaa_5555_aaaa;
    let mut memory = vec![MARK; len + 16];
    work(&mut memory[8..8 + len]);
    assert!(memory[..8].iter().chain(&memory[8 + len..]).all(|&x| x == MARK), "a mark has changed");
    memory[8..8 + len].to_vec()
}

#[test]
fn products_of_all_short_lengths() {
    for n in 0..=34 {
        for m in (0..=n.min(10)).chain([n / 2, n]) {
            for a in numbers(n) {
                for b in numbers(m) {
                    let want = limbs::mul(&a, &b);
                    assert_eq!(marked(n + m, |out| mul(out, &a, &b)), want, "{a:x?} by {b:x?}");
                    assert_eq!(marked(n + m, |out| mul(out, &b, &a)), want, "{b:x?} by {a:x?}");
                    let portable = marked(n + m, |out| portable::mul(out, &a, &b));
                    assert_eq!(portable, want, "{a:x?} by {b:x?}");
                }
            }
        }
    }
}

#[test]
fn squares_of_all_short_lengths() {
    for n in 0..=60 {
        for a in numbers(n) {
            let want = limbs::mul(&a, &a);
            assert_eq!(marked(2 * n, |out| square(out, &a)), want, "{a:x?}");
            assert_eq!(marked(2 * n, |out| portable::square(out, &a)), want, "{a:x?}");
        }
    }
}

#[test]
fn rows_of_all_short_lengths() {
    type Row = fn(&mut [u64], &[u64], u64) -> u64;
    let (add, sub): ([Row; 2], [Row; 2]) =
        ([add_row, portable::add_row], [sub_row, portable::sub_row]);
    for n in 0..=40 {
        for a in numbers(n) {
            for x in numbers(n) {
                for y in [0, 1, 1 << 63, u64::MAX, 0x0123_4567_89ab_cdef] {
                    let row = limbs::mul(&a, &[y]);
                    let mut sum = row.clone();
                    limbs::add_assign(&mut sum, &x);
                    let mut difference = x.clone();
                    difference.push(0);
                    limbs::sub_assign(&mut difference, &row);
                    let above = difference[n].wrapping_neg();
                    for (add, sub) in add.into_iter().zip(sub) {
                        let mut carry = 0;
                        let low = marked(n, |out| {
                            out.copy_from_slice(&x);
                            carry = add(out, &a, y);
                        });
                        assert_eq!((&low[..], carry), (&sum[..n], sum[n]), "{x:x?} + {a:x?}·{y:x}");
                        let low = marked(n, |out| {
                            out.copy_from_slice(&x);
                            carry = sub(out, &a, y);
                        });
                        let want = (&difference[..n], above);
                        assert_eq!((&low[..], carry), want, "{x:x?} − {a:x?}·{y:x}");
                    }
                }
            }
        }
    }
}

/// Returns −m^(−1) mod 2^(64·w) for odd m, bit by bit.
fn negative_inverse(m: &[u64], w: usize) -> Vec<u64> {
    // m·x + 1 in w limbs; each step clears its lowest bit that is set.
    let (mut x, mut rest) = (vec![0; w], vec![0; w]);
    rest[0] = 1;
    for bit in 0..64 * w {
        if rest[bit / 64] >> (bit % 64) & 1 == 1 {
            let mut power = vec![0; w];
            power[bit / 64] = 1 << (bit % 64);
            let mut multiple = limbs::mul(m, &power);
            multiple.truncate(w);
            limbs::add_assign(&mut rest, &multiple);
            limbs::add_assign(&mut x, &power);
        }
    }
    x
}

#[test]
fn reductions_of_all_short_lengths() {
    for l in 1..=34 {
        for m in &mut numbers(l) {
            m[0] |= 1;
            let inverse = negative_inverse(m, l.min(INVERSE_LIMBS));
            for x in numbers(2 * l) {
                let portable = marked(2 * l, |out| {
                    out.copy_from_slice(&x);
                    portable::reduce(out, m, inverse[0]);
                });
                let found = marked(2 * l, |out| {
                    out.copy_from_slice(&x);
                    reduce(out, m, &inverse);
                });
                for found in [portable, found] {
                    // (H' + L')·R − x is a multiple q·m with q < R.
                    let mut sum = vec![0; 2 * l + 1];
                    sum[l..2 * l].copy_from_slice(&found[l..]);
                    limbs::add_assign(&mut sum[l..], &found[..l]);
                    assert!(!limbs::sub_assign(&mut sum, &x), "{x:x?} mod {m:x?}");
                    let (q, rest) = limbs::div_rem(&sum, m);
                    assert!(rest.is_empty() && q.len() <= l, "{x:x?} mod {m:x?}");
                }
            }
        }
    }
}
