//! Compares the operations of every vector type with operations on single numbers.

use super::*;

/// Returns numbers of both signs and many sizes, with zeros, infinities and NaN.
fn sample(seed: u64, len: usize) -> Vec<f64> {
    let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MIN_POSITIVE, 1.0];
    (0..len as u64)
        .map(|i| {
            let x = (i + 1 + (seed << 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let x = (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            match special.get((x >> 58) as usize) {
                Some(&s) => s,
                None => ((x as i64) >> 11) as f64 * 2f64.powi((x & 63) as i32 - 32),
            }
        })
        .collect()
}

/// Compares bit patterns; all NaN count as equal.
#[track_caller]
fn same(what: &str, got: &[f64], want: impl IntoIterator<Item = f64>) {
    let want: Vec<f64> = want.into_iter().collect();
    assert_eq!(got.len(), want.len(), "{what}");
    for (g, w) in got.iter().zip(&want) {
        let equal = g.to_bits() == w.to_bits() || g.is_nan() && w.is_nan();
        assert!(equal, "{what}: {got:?}, but {want:?} was expected");
    }
}

/// Compares the operations on integers with those on single integers.
struct OperationsOnIntegers;

impl Kernel for OperationsOnIntegers {
    type Output = Level;

    #[inline(always)]
    fn run<V: F64s>(self, i: V::Instructions) -> Level {
        let l = V::LANES;
        let corners = [0, 1, u64::MAX, 1 << 63, (1 << 31) - 1, u64::from(u32::MAX), 1 << 32];
        let numbers: Vec<u64> = (0..64 * l as u64)
            .map(|k| {
                corners
                    .get(k as usize % 11)
                    .copied()
                    .unwrap_or(k.wrapping_mul(0x9e37_79b9_7f4a_7c15))
            })
            .collect();
        for pair in numbers.windows(l + 3) {
            let (x, y) = (&pair[..l], &pair[3..]);
            // SAFETY: x and y have l entries of the size and alignment of `f64`.
            let [a, b] = [x, y].map(|x| unsafe { V::load(i, x.as_ptr().cast()) }.to_bits());
            let check = |what: &str, v: V::Integers, f: fn(u64, u64) -> u64| {
                let mut out = vec![0u64; l];
                // SAFETY: `out` has l entries of the size and alignment of `f64`.
                unsafe { V::from_bits(v).store(out.as_mut_ptr().cast()) };
                let want: Vec<u64> = x.iter().zip(y).map(|(&x, &y)| f(x, y)).collect();
                assert_eq!(out, want, "{what}");
            };
            check("add", a.add(b), u64::wrapping_add);
            check("sub", a.sub(b), u64::wrapping_sub);
            check("mul_low", a.mul_low(b), |x, y| u64::from(x as u32) * u64::from(y as u32));
            check("mul_low_signed", a.mul_low_signed(b), |x, y| {
                (i64::from(x as i32) * i64::from(y as i32)) as u64
            });
            check("and", a.and(b), |x, y| x & y);
            check("or", a.or(b), |x, y| x | y);
            check("xor", a.xor(b), |x, y| x ^ y);
            check("shift_left", a.shift_left::<31>(), |x, _| x << 31);
            check("shift_right", a.shift_right::<62>(), |x, _| x >> 62);
            let counts = b.and(V::splat_bits(i, 63));
            check("shift_left_each", a.shift_left_each(counts), |x, y| x << (y & 63));
            check("shift_right_each", a.shift_right_each(counts), |x, y| x >> (y & 63));
        }
        V::LEVEL
    }
}

struct Operations;

impl Kernel for Operations {
    type Output = Level;

    #[inline(always)]
    fn run<V: F64s>(self, i: V::Instructions) -> Level {
        let l = V::LANES;
        for seed in 0..50 {
            let numbers = sample(seed, l * (l + 1));
            // SAFETY: `numbers` has l·(l + 1) entries. So it has l entries from position l·k on,
            // for k ≤ l.
            let vector = |k: usize| unsafe { V::load(i, numbers[l * k..][..l].as_ptr()) };
            let out = |v: V| {
                let mut out = vec![0.0; l];
                // SAFETY: `out` has l entries.
                unsafe { v.store(out.as_mut_ptr()) };
                out
            };
            let (a, b, c) = (vector(0), vector(1), vector(2));
            let each = |f: &dyn Fn(f64, f64, f64) -> f64| {
                (0..l)
                    .map(|j| f(numbers[j], numbers[l + j], numbers[2 * l + j]))
                    .collect::<Vec<_>>()
            };
            same("splat", &out(V::splat(i, numbers[3])), vec![numbers[3]; l]);
            same("add", &out(a.add(b)), each(&|a, b, _| a + b));
            same("sub", &out(a.sub(b)), each(&|a, b, _| a - b));
            same("mul", &out(a.mul(b)), each(&|a, b, _| a * b));
            same("mul_add", &out(a.mul_add(b, c)), each(&|a, b, c| a.mul_add(b, c)));
            same("mul_sub", &out(a.mul_sub(b, c)), each(&|a, b, c| a.mul_add(b, -c)));
            same("neg_mul_add", &out(a.neg_mul_add(b, c)), each(&|a, b, c| (-a).mul_add(b, c)));
            same("neg", &out(a.neg()), each(&|a, _, _| -a));
            same("abs", &out(a.abs()), each(&|a, _, _| a.abs()));
            same("max", &out(a.max(b)), each(&|a, b, _| if a > b { a } else { b }));
            let bits = |f: fn(u64, u64) -> u64| {
                each(&move |a, b, _| f64::from_bits(f(a.to_bits(), b.to_bits())))
            };
            same("xor", &out(a.xor(b)), bits(|a, b| a ^ b));
            same("or", &out(a.or(b)), bits(|a, b| a | b));
            let chosen = V::select(a.at_least(b), b, c);
            same("select", &out(chosen), each(&|a, b, c| if a >= b { b } else { c }));
            same("reverse", &out(a.reverse()), (0..l).rev().map(|j| numbers[j]));
            let [x, y] = a.interleave(b);
            let mixed = (0..l).flat_map(|j| [numbers[j], numbers[l + j]]);
            same("interleave", &[out(x), out(y)].concat(), mixed);
            let [x, y] = x.deinterleave(y);
            same("deinterleave", &[out(x), out(y)].concat(), numbers[..2 * l].to_vec());
            let mut square: Vec<V> = (0..l).map(vector).collect();
            V::transpose(&mut square);
            for (j, row) in square.into_iter().enumerate() {
                same("transpose", &out(row), (0..l).map(|k| numbers[l * k + j]));
            }
        }
        V::LEVEL
    }
}

#[test]
fn operations_are_those_on_single_numbers() {
    assert_eq!(PortableF64s::enter((), Operations), Level::Portable);
    assert_eq!(PortableF64s::enter((), OperationsOnIntegers), Level::Portable);
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(instructions) = Avx2F64s::instructions() {
            assert_eq!(Avx2F64s::enter(instructions, Operations), Level::Avx2);
            assert_eq!(Avx2F64s::enter(instructions, OperationsOnIntegers), Level::Avx2);
        }
        if let Some(instructions) = Avx512F64s::instructions() {
            assert_eq!(Avx512F64s::enter(instructions, Operations), Level::Avx512);
            assert_eq!(Avx512F64s::enter(instructions, OperationsOnIntegers), Level::Avx512);
        }
    }
    assert_eq!(run(Operations), Cpu::get().level);
}

#[test]
fn any_address_may_be_prefetched() {
    prefetch(&1.0);
    prefetch(std::ptr::null());
}
