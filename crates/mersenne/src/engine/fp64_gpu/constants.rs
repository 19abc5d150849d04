//! The source texts of the kernels, and the headers and constants that are compiled into them.

use std::fmt::Write;
use std::sync::LazyLock;

use warpint_arith::dd::{Dd, cos_sin_2pi, exp2_ratio};
use warpint_device::Source;

use super::shape::Shape;
use crate::engine::gpu::{Part, StepKind};

/// The headers of the kernels, with their names.
const HEADERS: [(&str, &str); 10] = [
    ("line.cuh", include_str!("../../../kernels/fp64/line.cuh")),
    ("sums.cuh", include_str!("../../../kernels/fp64/sums.cuh")),
    ("column_steps.cuh", include_str!("../../../kernels/fp64/column_steps.cuh")),
    ("weights.cuh", include_str!("../../../kernels/fp64/weights.cuh")),
    ("words.cuh", WORDS),
    ("reduce.cuh", REDUCE),
    ("handover.cuh", include_str!("../../../kernels/fp64/handover.cuh")),
    ("last_word.cuh", include_str!("../../../kernels/fp64/last_word.cuh")),
    ("row_steps.cuh", include_str!("../../../kernels/fp64/row_steps.cuh")),
    ("advance.cuh", include_str!("../../../kernels/fp64/advance.cuh")),
];
pub(super) const WORDS: &str = include_str!("../../../kernels/fp64/words.cuh");
pub(super) const REDUCE: &str = include_str!("../../../kernels/fp64/reduce.cuh");
pub(super) const COLUMNS: &str = include_str!("../../../kernels/fp64/columns.cu");
pub(in crate::engine) const ROWS: &str = include_str!("../../../kernels/fp64/rows.cu");

/// The largest n of the roots e^(2πik/n) and of the powers 2^(k/n) in `constants.cuh`.
const LARGEST_ROOT: u64 = 36;

/// The text of `constants.cuh`: roots of unity and powers of 2 in constant memory, from which
/// instructions can read operands directly. The numbers are computed to 100 bits and rounded once.
static CONSTANTS: LazyLock<String> = LazyLock::new(|| {
    let mut roots = String::new();
    let mut powers = String::new();
    for n in 0..=LARGEST_ROOT {
        for k in 0..n {
            let (re, im) = cos_sin_2pi(k, n);
            // Writing to a String cannot fail.
            let _ = write!(roots, "{:e}, {:e}, ", re.to_f64(), im.to_f64());
        }
        for k in 0..=2 * n {
            // 2^((k − n)/n).
            let v = if n == 0 { Dd::ONE } else { power_of_2(k, n) };
            let _ = write!(powers, "{:e}, ", v.to_f64());
        }
    }
    format!(
        "#pragma once\n#include \"simt.cuh\"\n\
         __constant__ double ROOTS[] = {{{roots}}};\n\
         __constant__ double POWERS_OF_2[] = {{{powers}}};\n\
         template <int k, int n> DEVICE double ROOT_RE() {{ static_assert(n <= {LARGEST_ROOT}, \"no such constant\"); return ROOTS[n * (n - 1) + 2 * k]; }}\n\
         template <int k, int n> DEVICE double ROOT_IM() {{ static_assert(n <= {LARGEST_ROOT}, \"no such constant\"); return ROOTS[n * (n - 1) + 2 * k + 1]; }}\n\
         template <int k, int n> DEVICE double POWER_OF_2() {{ static_assert(n <= {LARGEST_ROOT}, \"no such constant\"); return POWERS_OF_2[n * n + n + k]; }}\n"
    )
});

/// Returns 2^((k − n)/n) in double-double, for k ≤ 2n and n ≥ 1.
fn power_of_2(k: u64, n: u64) -> Dd {
    exp2_ratio(k % n, n).scaled(2f64.powi((k / n) as i32 - 1))
}

/// Adds headers and constants to the source of the kernel `part`: `constants.cuh`, `line.cuh` and
/// the constants that only the family `fp64` needs.
///
/// If `sums`, kernels of columns make the sums by which squarings are checked (`sums.cuh`).
pub(in crate::engine) fn specialise(
    source: Source,
    shape: &Shape,
    p: u32,
    part: Part,
    sums: bool,
) -> Source {
    let source = HEADERS
        .into_iter()
        .fold(source.header("constants.cuh", &CONSTANTS), |source, (name, text)| {
            source.header(name, text)
        })
        .define("STREAMING", u32::from(shape.streaming));
    if !part.is_of_columns() {
        return source
            .define("PAIRS", shape.pairs)
            .define("COLUMN_OUTER_RADIX", shape.column.q)
            .define("COLUMN_RADIX_A", shape.column.a);
    }
    let (step, checked) = match part {
        Part::Columns { step, measured } | Part::SpectrumToDigits { step, measured } => {
            (step, measured)
        }
        _ => (StepKind::Square, false),
    };
    let source = if sums { source.define("SUMS", 1) } else { source };
    source
        .define("CHECKED", u32::from(checked))
        .define("STEP", step as u32)
        .define("P_MOD_Q", p % shape.column.q)
}
