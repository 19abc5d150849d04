//! The kernels' texts, and how a shape specialises them.

use std::fmt::Write;
use std::sync::LazyLock;

use warpint_arith::dd::{Dd, cos_sin_2pi, exp2_ratio};
use warpint_device::{Device, DeviceError, Kernel, Source, common};

use super::line::Line;
use super::shape::Shape;
use crate::engine::Step;

const LINE: (&str, &str) = ("line.cuh", include_str!("../../../kernels/fp64/line.cuh"));
const COLUMNS: &str = include_str!("../../../kernels/fp64/columns.cu");
const ROWS: &str = include_str!("../../../kernels/fp64/rows.cu");

/// The largest n of roots e(k/n), and of powers 2^(k/n), in `constants.cuh`.
const LARGEST_ROOT: u64 = 36;

/// `constants.cuh`: roots of unity and powers of 2, correctly rounded but for one in some
/// thousands, in memory that instructions read as an operand.
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

/// 2^((k − n)/n) for k ≤ 2n.
fn power_of_2(k: u64, n: u64) -> Dd {
    exp2_ratio(k % n, n).scaled(2f64.powi((k / n) as i32 - 1))
}

/// What a kernel of columns does with the words of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepKind {
    Square,
    MinusTwo,
    Times,
}

impl From<Step> for StepKind {
    fn from(step: Step) -> Self {
        match step {
            Step::Square => Self::Square,
            Step::SquareMinusTwo => Self::MinusTwo,
            Step::SquareTimes(_) => Self::Times,
        }
    }
}

/// The kernels that all products need.
pub(super) struct Kernels {
    /// Digits to spectrum.
    pub(super) enter: Kernel,
    /// Pointwise squares of the rows' transforms.
    pub(super) square: Kernel,
}

/// The kernels that carry the words of a product, for one kind of step.
pub(super) struct StepKernels {
    /// Spectrum to digits.
    pub(super) leave: Kernel,
    /// Spectrum to the spectrum of the carried words, with round-off measured.
    pub(super) measured_columns: Kernel,
    /// The same without, once it was asked for.
    pub(super) columns: Option<Kernel>,
}

/// The kernels of a product of two registers.
pub(super) struct ProductKernels {
    /// The transforms of rows.
    pub(super) forward: Kernel,
    /// Pointwise products with such transforms.
    pub(super) multiply: Kernel,
}

impl Kernels {
    pub(super) fn new(device: &Device, shape: &Shape, p: u32) -> Result<Self, DeviceError> {
        let programs = device.programs(&common_sources(shape, p))?;
        let [enter, square] = &programs[..] else {
            return Err(missing("square_rows"));
        };
        Ok(Self {
            enter: enter.kernel("enter", shape.column_shared_bytes())?,
            square: square.kernel("square_rows", shape.row_shared_bytes())?,
        })
    }
}

impl StepKernels {
    /// All of them, or only those with round-off measured.
    pub(super) fn new(
        device: &Device,
        shape: &Shape,
        p: u32,
        step: StepKind,
        all: bool,
    ) -> Result<Self, DeviceError> {
        let shared = shape.column_shared_bytes();
        let sources = step_sources(shape, p, step);
        let programs = device.programs(if all { &sources } else { &sources[..2] })?;
        let [leave, measured, rest @ ..] = &programs[..] else {
            return Err(missing("columns"));
        };
        let columns = rest.first().map(|columns| columns.kernel("columns", shared)).transpose()?;
        Ok(Self {
            leave: leave.kernel("leave", shared)?,
            measured_columns: measured.kernel("columns", shared)?,
            columns,
        })
    }
}

impl ProductKernels {
    pub(super) fn new(device: &Device, shape: &Shape) -> Result<Self, DeviceError> {
        let programs = device.programs(&product_sources(shape))?;
        let [forward, multiply] = &programs[..] else {
            return Err(missing("multiply_rows"));
        };
        Ok(Self {
            forward: forward.kernel("forward_rows", shape.row_shared_bytes())?,
            multiply: multiply.kernel("multiply_rows", shape.row_shared_bytes())?,
        })
    }
}

/// A kernel that was not built.
pub(super) fn missing(kernel: &str) -> DeviceError {
    DeviceError::Failed { what: kernel.into(), message: "the kernel was not built".into() }
}

fn columns(
    shape: &Shape,
    p: u32,
    (kind, checked, step): (u32, u32, StepKind),
    name: &[&'static str],
) -> Source {
    let source = Source::new("columns.cu", COLUMNS, name)
        .define("KIND", kind)
        .define("CHECKED", checked)
        .define("STEP", step as u32);
    line(source, shape.column)
        .define("STREAMING", u32::from(shape.streaming))
        .define("WIDTH", shape.width)
        .define("CHUNK", shape.chunk)
        .define("COLUMNS", shape.columns())
        .define("P_MOD_Q", p % shape.column.q)
        .define("THREADS", shape.column_threads())
        .define("BLOCKS", shape.column_blocks())
}

/// `enter`, `square`.
pub(super) fn common_sources(shape: &Shape, p: u32) -> [Source; 2] {
    [columns(shape, p, (0, 0, StepKind::Square), &["enter"]), rows(shape, 0, &["square_rows"])]
}

/// `leave`, `columns` with round-off measured, and without.
pub(super) fn step_sources(shape: &Shape, p: u32, step: StepKind) -> [Source; 3] {
    [
        columns(shape, p, (2, 1, step), &["leave"]),
        columns(shape, p, (1, 1, step), &["columns"]),
        columns(shape, p, (1, 0, step), &["columns"]),
    ]
}

/// `forward`, `multiply`.
pub(super) fn product_sources(shape: &Shape) -> [Source; 2] {
    [rows(shape, 1, &["forward_rows"]), rows(shape, 2, &["multiply_rows"])]
}

fn rows(shape: &Shape, kind: u32, name: &[&'static str]) -> Source {
    line(Source::new("rows.cu", ROWS, name).define("KIND", kind), shape.row)
        .define("STREAMING", u32::from(shape.streaming))
        .define("CHUNK", shape.chunk)
        .define("PAIRS", shape.pairs)
        .define("ROWS", shape.rows())
        .define("COLUMN_OUTER_RADIX", shape.column.q)
        .define("COLUMN_RADIX_A", shape.column.a)
        .define("THREADS", shape.row_threads())
        .define("BLOCKS", shape.resident_row_blocks())
}

fn line(source: Source, line: Line) -> Source {
    source
        .headers(common::HEADERS)
        .header("constants.cuh", &CONSTANTS)
        .header(LINE.0, LINE.1)
        .define("OUTER_RADIX", line.q)
        .define("RADIX_A", line.a)
        .define("RADIX_B", line.b)
}
