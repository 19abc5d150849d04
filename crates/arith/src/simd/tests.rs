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
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(instructions) = Avx2F64s::instructions() {
            assert_eq!(Avx2F64s::enter(instructions, Operations), Level::Avx2);
        }
        if let Some(instructions) = Avx512F64s::instructions() {
            assert_eq!(Avx512F64s::enter(instructions, Operations), Level::Avx512);
        }
    }
    assert_eq!(run(Operations), Cpu::get().level);
}

#[test]
fn any_address_may_be_prefetched() {
    prefetch(&1.0);
    prefetch(std::ptr::null());
}
