//! The kernels' texts, and how a shape specialises them.

use warpint_device::{Device, DeviceError, Kernel, Source, common};

use super::shape::{Line, Shape};
use super::tables::fifth_root_constants;

const TILE: (&str, &str) = ("tile.cuh", include_str!("../../../kernels/goldilocks/tile.cuh"));
const COLUMNS: &str = include_str!("../../../kernels/goldilocks/columns.cu");
const ROWS: &str = include_str!("../../../kernels/goldilocks/rows.cu");

/// The kernels of a squaring.
pub(super) struct Kernels {
    /// Digits to spectrum.
    pub(super) enter: Kernel,
    /// Spectrum to the spectrum of the carried words.
    pub(super) columns: Kernel,
    /// Spectrum to digits.
    pub(super) leave: Kernel,
    /// Pointwise squares of the rows' transforms.
    pub(super) square: Kernel,
}

/// The kernels of a product of two registers.
pub(super) struct ProductKernels {
    /// The transforms of rows.
    pub(super) forward: Kernel,
    /// Pointwise products with such transforms.
    pub(super) multiply: Kernel,
}

impl Kernels {
    pub(super) fn new(device: &Device, shape: &Shape) -> Result<Self, DeviceError> {
        let shared = shape.column_shared_bytes();
        let programs = device.programs(&sources(shape)[..4])?;
        let [enter, columns, leave, square] = &programs[..] else {
            return Err(missing("square_rows"));
        };
        Ok(Self {
            enter: enter.kernel("enter", shared)?,
            columns: columns.kernel("columns", shared)?,
            leave: leave.kernel("leave", shared)?,
            square: square.kernel("square_rows", shape.row_shared_bytes())?,
        })
    }
}

impl ProductKernels {
    pub(super) fn new(device: &Device, shape: &Shape) -> Result<Self, DeviceError> {
        let programs = device.programs(&sources(shape)[4..])?;
        let [forward, multiply] = &programs[..] else {
            return Err(missing("multiply_rows"));
        };
        Ok(Self {
            forward: forward.kernel("forward_rows", shape.row_shared_bytes())?,
            multiply: multiply.kernel("multiply_rows", shape.row_shared_bytes())?,
        })
    }
}

fn missing(kernel: &str) -> DeviceError {
    DeviceError::Failed { what: kernel.into(), message: "the kernel was not built".into() }
}

/// `enter`, `columns`, `leave`, `square`, `forward`, `multiply` for a shape.
pub(super) fn sources(shape: &Shape) -> [Source; 6] {
    let columns = |kind: u32, name| {
        let source = Source::new("columns.cu", COLUMNS, name).define("KIND", kind);
        line(source, shape.column)
            .define("WIDTH", shape.width)
            .define("CHUNK", shape.chunk())
            .define("COLUMNS", shape.columns())
            .define("THREADS", shape.column_threads())
            .define("BLOCKS", shape.column_blocks())
    };
    let rows = |kind: u32, name| {
        let source = Source::new("rows.cu", ROWS, name).define("KIND", kind);
        line(source, shape.row)
            .define("CHUNK", shape.chunk())
            .define("LINES", shape.lines)
            .define("ROWS", shape.rows())
            .define("THREADS", shape.row_threads())
            .define("BLOCKS", shape.resident_row_blocks())
    };
    [
        columns(0, &["enter"]),
        columns(1, &["columns"]),
        columns(2, &["leave"]),
        rows(0, &["square_rows"]),
        rows(1, &["forward_rows"]),
        rows(2, &["multiply_rows"]),
    ]
}

fn line(source: Source, line: Line) -> Source {
    let mut source = source
        .headers(common::HEADERS)
        .header(TILE.0, TILE.1)
        .define("OUTER_RADIX", line.outer)
        .define("RADIX_A", line.a)
        .define("RADIX_B", line.b);
    if line.outer == 5
        && let Some(constants) = fifth_root_constants()
    {
        for (name, c) in ["FIFTH_0", "FIFTH_1", "FIFTH_2", "FIFTH_3"].into_iter().zip(constants) {
            source = source.define(name, format_args!("{c}ull"));
        }
    }
    source
}
