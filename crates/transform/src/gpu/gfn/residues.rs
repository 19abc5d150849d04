//! The constants and tables of roots for `gfn_residues.cuh`, which multiplies elements by
//! transforms of their digits.

use warpint_arith::f50::{F50, Factor, NARROW};
use warpint_device::Source;

use super::plan::GfnFftError;

/// Returns the fields Z/qZ for the three primes q of [`NARROW`].
fn fields() -> Result<[F50; 3], GfnFftError> {
    let [a, b, c] = NARROW.map(|(q, ..)| F50::new(q));
    let failed = |_| GfnFftError::SmallFields;
    Ok([a.map_err(failed)?, b.map_err(failed)?, c.map_err(failed)?])
}

fn pair([x, y]: [f64; 2]) -> String {
    // The shortest decimals that represent the same number.
    format!("{{{x:e},{y:e}}}")
}

fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("{{{}}}", items.into_iter().collect::<Vec<_>>().join(","))
}

/// Defines the constants FIELDS, MIXED, OFFSET and SCALE in a kernel's source, for elements of k
/// digits, and returns the source. The kernels describe these constants.
pub(super) fn constants(source: Source, k: usize) -> Result<Source, GfnFftError> {
    let [a, b, c] = fields()?;
    let of = |field: &F50, x: f64| pair(field.factor(x).constants());
    let inverse = |field: &F50, others: &[F50]| {
        let product = |x: f64, other: &F50| field.mul(x, field.from_u64(other.modulus()));
        field.inverse(others.iter().fold(1.0, product))
    };
    let mixed =
        [of(&b, inverse(&b, &[a])), of(&c, inverse(&c, &[a, b])), of(&c, -inverse(&c, &[b]))];
    let scale = [a, b, c].map(|field| of(&field, field.inverse(field.from_u64(k as u64))));
    // 2^43·q_0·q_1 is below 2^137.
    let product = u128::from(a.modulus()) * u128::from(b.modulus());
    let (low, high) = (product << 43, (product >> 85) as u64);
    let words =
        [low as u64, (low >> 64) as u64, high].map(|word| [word as u32, (word >> 32) as u32]);
    let offset = words.as_flattened()[..5].iter().map(|word| format!("{word}u"));
    Ok(source
        .define("FIELDS", list([a, b, c].map(|field| pair(field.constants()))))
        .define("MIXED", list(mixed))
        .define("SCALE", list(scale))
        .define("OFFSET", list(offset)))
}

/// Returns the factors w of all nodes of the tree of T^k + 1 that `gfn_residues.cuh` describes. For
/// each prime in turn, the result contains k factors and then their k inverses. There is no node 0;
/// the entries at index 0 are 1.
pub(super) fn roots(k: usize) -> Result<Vec<[f64; 2]>, GfnFftError> {
    let mut all = Vec::with_capacity(6 * k);
    // w = ψ^e for the node of T^(2h) − w², ψ of order 2k; −1 is ψ^k.
    let mut exponents = vec![0, k as u64 / 2];
    for n in 2..k {
        let of_parent = exponents[n / 2];
        exponents.push(if n % 2 == 0 { of_parent / 2 } else { (of_parent + k as u64) / 2 });
    }
    for field in fields()? {
        let root = field.root_of_unity(k.ilog2() + 1).ok_or(GfnFftError::SmallFields)?;
        for root in [root, field.inverse(root)] {
            let factor = |&e: &u64| -> Factor { field.factor(field.pow(root, e)) };
            all.extend(exponents.iter().map(factor).map(|factor| factor.constants()));
        }
    }
    Ok(all)
}
