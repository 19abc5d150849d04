//! Convolutions with vectors that are given by their spectra, modulo many primes below 2^50 at once, on
//! numbers of type `f64`.
//!
//! [`Spectra50`] computes the transforms that [`small_primes`](super::small_primes) needs: of hundreds of
//! primes, with the product by a spectrum within a pass. For transforms alone, in natural or bit-reversed
//! order, of all lengths and with strides, use [`Ntt50`](super::f50::Ntt50).
//!
//! The transforms are X_i = Σ_j x_j·ω^(ij) modulo each of S primes p, for N = 2^m points and a
//! batch of vectors. ω is a root of unity of order N modulo p. A transform of up to 2^12 points is
//! one pass over memory. A longer transform, of up to 2^24 points, takes two passes (Gentleman and
//! Sande 1966; Bailey 1990, *FFTs in external or hierarchical memory*). The first pass transforms
//! columns of 2^(m − 12) points and multiplies by powers of ω. The second pass transforms rows of
//! 2^12 points. A cyclic convolution of such a long vector takes only three passes if the other
//! vector is given by its spectrum. A single pass over the rows transforms them, multiplies by the
//! spectrum, and transforms back.
//!
//! # Layout
//! Residues are of type `f64`. Element i of vector b modulo prime s is at s·stride + b·N + i, where
//! [`stride`](Spectra50::stride) is at least batch·N. The order of the elements of a spectrum is not
//! the natural order; [`frequency`](Plan::frequency) describes it.

mod shape;
mod tables;
#[cfg(test)]
mod tests;

use warpint_arith::f50::F50;
use warpint_device::{
    Arg, Buffer, Cells, Device, DeviceError, ErrorKind, Kernel, Launch, Source, View, assert_room,
};

use crate::Plan;
use shape::{Rows, Shape, row_tile};

/// The reason why a transform cannot be planned, or why it failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Spectra50Error {
    /// The field of a prime lacks the root of unity that the transform length requires.
    #[error("the field of {prime} has no 2^{log2}-th root of unity: choose primes for this length")]
    NoRoot {
        /// The prime p.
        prime: u64,
        /// The exponent m of the transform length 2^m.
        log2: u32,
    },
    /// The transform length, the number of vectors or the number of primes is out of range.
    #[error(
        "cannot plan {batch} transforms of 2^{log2} points modulo {primes} primes: the limits are 2^1 to \
         2^24 points, at most 2^32 in a batch, and 1 to 65535 primes"
    )]
    Size {
        /// The exponent m of the transform length 2^m.
        log2: u32,
        /// The number of vectors in a batch.
        batch: usize,
        /// The number S of primes.
        primes: usize,
    },
    /// A buffer does not have the length that the plan's layout requires.
    #[error("{what}: {found} elements, but the plan's layout requires {wanted}")]
    Length {
        /// The name of the buffer.
        what: &'static str,
        /// The length of the buffer, in elements.
        found: usize,
        /// The required length, in elements.
        wanted: usize,
    },
    /// An operation of the device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl Spectra50Error {
    /// Returns the kind of the error, which says what a caller can do about it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NoRoot { .. } | Self::Size { .. } | Self::Length { .. } => ErrorKind::BadInput,
            Self::Device(e) => e.kind(),
        }
    }
}

/// The base-2 logarithm of the largest number of points of a row.
const MOST_ROW: u32 = 12;
const MOST: u32 = 24;

/// The tables of roots of unity for the forward or for the inverse transform.
#[derive(Debug)]
struct Tables {
    rows: Buffer<[f64; 2]>,
    columns: Option<ColumnTables>,
}

#[derive(Debug)]
struct ColumnTables {
    roots: Buffer<[f64; 2]>,
    low: Buffer<f64>,
    high: Buffer<[f64; 2]>,
    kernel: Kernel,
}

/// A plan of transforms of one length modulo several primes, on a device.
///
/// Inputs of transforms must satisfy |x_j| ≤ p, and inputs of inverse transforms |X_i| ≤ p. Results
/// are from 0 to p − 1. A transform or its inverse is one pass over memory for up to 2^12 points,
/// and two passes for more.
#[derive(Debug)]
pub struct Spectra50 {
    fields: Vec<F50>,
    log2: u32,
    /// The base-2 logarithm of the number of points of a row.
    row: u32,
    /// The base-2 logarithm of the number of columns of a tile, for the kernels that transform
    /// columns.
    inner: u32,
    batch: usize,
    stride: usize,
    constants: Buffer<[f64; 2]>,
    there: Tables,
    back: Tables,
    one: Buffer<[f64; 2]>,
    part: Buffer<[f64; 2]>,
    rows: [Kernel; 3],
    order: Kernel,
}

impl Spectra50 {
    /// Plans transforms of `batch` vectors of 2^log2 points modulo the primes of `fields`.
    ///
    /// # Errors
    /// `log2` is not from 1 to 24. The batch has no vector, or more than 2^32 points. There are no
    /// primes or more than 65,535 primes. The field of a prime has no root of unity of order
    /// 2^log2. A kernel cannot be compiled. The device fails, or does not have enough memory.
    pub fn new(
        device: &Device,
        fields: &[F50],
        log2: u32,
        batch: usize,
    ) -> Result<Self, Spectra50Error> {
        Self::with_rows(device, fields, log2, batch, MOST_ROW)
    }

    /// Plans the same transforms as [`Self::new`], but with rows of at most 2^most points.
    fn with_rows(
        device: &Device,
        fields: &[F50],
        log2: u32,
        batch: usize,
        most: u32,
    ) -> Result<Self, Spectra50Error> {
        let points = u32::try_from(batch).ok().and_then(|batch| u64::from(batch).checked_shl(log2));
        let possible = (1..=MOST.min(MOST_ROW + most)).contains(&log2)
            && points.is_some_and(|points| (1..=1 << 32).contains(&points))
            && (1..=65_535).contains(&fields.len());
        if !possible {
            return Err(Spectra50Error::Size { log2, batch, primes: fields.len() });
        }
        let row = log2.min(most);
        let inner = shape::neighbours(log2 - row, row, device.info().shared_memory_per_block);
        let table = |inverse: bool| -> Result<(Tables, Vec<Vec<f64>>), Spectra50Error> {
            let of = |&field: &F50| {
                let no_root = Spectra50Error::NoRoot { prime: field.modulus(), log2 };
                tables::roots(field, log2, inverse).ok_or(no_root)
            };
            let roots = fields.iter().map(of).collect::<Result<Vec<_>, _>>()?;
            let rows = device.upload(&tables::line(fields, &roots, row))?;
            let mut columns = None;
            if row < log2 {
                let (stages, low) = (log2 - row, shape::low_bits(log2));
                columns = Some(ColumnTables {
                    roots: device.upload(&tables::line(fields, &roots, stages))?,
                    low: device.upload(&tables::low_powers(fields, &roots, log2, low))?,
                    high: device.upload(&tables::high_powers(fields, &roots, log2, low))?,
                    kernel: Shape::Columns { inverse, stages, row, inner }.kernel(device)?,
                });
            }
            Ok((Tables { rows, columns }, roots))
        };
        let kernel = |what| Shape::Rows { what, stages: row, whole: row == log2 }.kernel(device);
        let constants: Vec<[f64; 2]> = fields.iter().map(F50::constants).collect();
        let factors = |of: &dyn Fn(F50) -> f64| -> Vec<[f64; 2]> {
            fields.iter().map(|&field| field.factor(of(field)).constants()).collect()
        };
        let n = f64::from(1u32 << log2);
        Ok(Self {
            fields: fields.to_vec(),
            log2,
            row,
            inner,
            batch,
            stride: (batch << log2).next_multiple_of(1 << row_tile(row)),
            constants: device.upload(&constants)?,
            there: table(false)?.0,
            back: table(true)?.0,
            one: device.upload(&factors(&|_| 1.0))?,
            part: device.upload(&factors(&|field| field.inverse(n)))?,
            rows: [kernel(Rows::Forward)?, kernel(Rows::Inverse)?, kernel(Rows::Multiply)?],
            order: device.program(&shape::order(log2, row))?.kernel("order", 0)?,
        })
    }

    /// Returns the fields modulo the primes of the plan.
    #[must_use]
    pub fn fields(&self) -> &[F50] {
        &self.fields
    }

    /// Returns the distance between the residues of two consecutive primes, in elements: batch·N,
    /// rounded up to a multiple of the number of points of a tile.
    #[must_use]
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Returns a buffer on the device with [`F50::constants`] of each prime p: p, and 1/p rounded
    /// to nearest.
    #[must_use]
    pub fn constants(&self) -> &Buffer<[f64; 2]> {
        &self.constants
    }

    /// Replaces each vector x by its transform divided by N: X_i/N mod p, from 0 to p − 1. The
    /// result is a spectrum for [`Self::multiply`].
    ///
    /// # Errors
    /// The buffer has the wrong length, or the device fails.
    pub fn spectrum(&self, data: &mut Buffer<f64>) -> Result<(), Spectra50Error> {
        self.transform_times(data, &self.part, false)
    }

    /// Transforms `data` in place, forward or inverse, and multiplies the results by one factor for
    /// each prime. The results are X_i times the factor, or N·x_j times the factor if `inverse` is
    /// true. Factors are in the form of [`warpint_arith::f50::Factor::constants`].
    pub(crate) fn transform_times(
        &self,
        data: &mut Buffer<f64>,
        factors: &Buffer<[f64; 2]>,
        inverse: bool,
    ) -> Result<(), Spectra50Error> {
        has("factors", factors.len(), self.fields.len())?;
        let data = data.cells(..);
        if inverse {
            self.launch_rows(Rows::Inverse, data, data.view(), factors, self.stride)?;
            self.columns(&self.back, data)
        } else {
            self.columns(&self.there, data)?;
            self.launch_rows(Rows::Forward, data, data.view(), factors, self.stride)
        }
    }

    /// Replaces each vector of `data` by its cyclic convolution with a vector that is given by its
    /// spectrum, the result of [`Self::spectrum`]. Results are from 0 to p − 1.
    ///
    /// `spectrum` has as many vectors as `data`, or exactly n = max(1, 2^11/N) vectors. In the
    /// second case, vector b of `data` is convolved with vector b mod n of `spectrum`.
    ///
    /// Cost: one pass over memory for up to 2^12 points, three passes for more.
    ///
    /// # Errors
    /// A buffer has the wrong length, or the device fails.
    pub fn multiply(
        &self,
        data: &mut Buffer<f64>,
        spectrum: &Buffer<f64>,
    ) -> Result<(), Spectra50Error> {
        let stride = spectrum.len() / self.fields.len();
        let least = (1usize << self.log2).max(1 << row_tile(self.row));
        if spectrum.len() != self.size() {
            has("a spectrum", spectrum.len(), least * self.fields.len())?;
        }
        let data = data.cells(..);
        self.columns(&self.there, data)?;
        self.launch_rows(Rows::Multiply, data, spectrum.view(..), &self.one, stride)?;
        self.columns(&self.back, data)
    }

    /// Copies spectra to `to` in natural order: X_i of vector b modulo prime s is written to
    /// s·stride + b·N + i. Cost: one pass over memory.
    ///
    /// # Errors
    /// A buffer has the wrong length, or the device fails.
    pub fn natural(
        &self,
        spectra: &Buffer<f64>,
        to: &mut Buffer<f64>,
    ) -> Result<(), Spectra50Error> {
        has("spectra", spectra.len(), self.size())?;
        has("ordered spectra", to.len(), self.size())?;
        let count = self.batch << self.log2;
        let launch = Launch {
            grid: [
                count.div_ceil(shape::ORDER_THREADS as usize) as u32,
                self.fields.len() as u32,
                1,
            ],
            block: [shape::ORDER_THREADS, 1, 1],
            shared_bytes: 0,
        };
        let args =
            [to.into(), spectra.into(), Arg::U64(self.stride as u64), Arg::U64(count as u64)];
        // SAFETY: both have a stride for each prime, and a stride has at least `count` elements.
        Ok(unsafe { self.order.launch(launch, &args) }?)
    }

    /// Transforms the columns. `tables` determines whether the transform is forward or inverse.
    /// Does nothing if a transform consists of a single row.
    fn columns(&self, tables: &Tables, data: Cells<'_, f64>) -> Result<(), Spectra50Error> {
        has("residues", data.len(), self.size())?;
        let Some(columns) = &tables.columns else { return Ok(()) };
        let (inverse, stages) = (false, self.log2 - self.row);
        let shape = Shape::Columns { inverse, stages, row: self.row, inner: self.inner };
        let blocks = (self.batch << (self.row - self.inner)) as u32;
        let args = [
            data.into(),
            Arg::from(&self.constants),
            (&columns.roots).into(),
            (&columns.low).into(),
            (&columns.high).into(),
            Arg::U64(self.stride as u64),
        ];
        // SAFETY: the data have a stride for each prime, which contains the batch's columns;
        // constants and tables were made for the plan.
        Ok(unsafe { columns.kernel.launch(self.shape_of(blocks, shape), &args) }?)
    }

    /// Transforms the rows by the kernel `what`. `spectrum` has `spectrum_stride` elements for each
    /// prime; only [`Rows::Multiply`] reads it. `scale` contains one factor for each prime.
    /// [`Rows::Forward`] and [`Rows::Inverse`] multiply their results by this factor.
    ///
    /// # Panics
    /// If `spectrum` is shorter than `spectrum_stride` for each prime, or there are fewer factors
    /// than primes.
    fn launch_rows(
        &self,
        what: Rows,
        data: Cells<'_, f64>,
        spectrum: View<'_, f64>,
        scale: &Buffer<[f64; 2]>,
        spectrum_stride: usize,
    ) -> Result<(), Spectra50Error> {
        has("residues", data.len(), self.size())?;
        assert_room("a spectrum", spectrum.len(), self.fields.len() * spectrum_stride);
        assert_room("factors", scale.len(), self.fields.len());
        let tile = 1 << row_tile(self.row);
        let shape = Shape::Rows { what, stages: self.row, whole: self.row == self.log2 };
        let args = [
            data.into(),
            spectrum.into(),
            Arg::from(&self.constants),
            (&self.there.rows).into(),
            (&self.back.rows).into(),
            scale.into(),
            Arg::U64(self.stride as u64),
            Arg::U64(spectrum_stride as u64),
            Arg::U32((spectrum_stride / tile) as u32),
        ];
        let blocks = (self.stride / tile) as u32;
        // SAFETY: the data have a stride for each prime, which is a multiple of a tile, a factor,
        // and a spectrum of which the kernel reads whole tiles; constants and tables were made for
        // the plan.
        Ok(unsafe { self.rows[what as usize].launch(self.shape_of(blocks, shape), &args) }?)
    }

    fn copy(&self, x: &Buffer<f64>, out: &mut Buffer<f64>) -> Result<(), Spectra50Error> {
        has("residues", x.len(), self.size())?;
        has("residues", out.len(), self.size())?;
        Ok(out.copy_from(x)?)
    }

    fn shape_of(&self, blocks: u32, shape: Shape) -> Launch {
        Launch {
            grid: [blocks, self.fields.len() as u32, 1],
            block: [shape.threads(), 1, 1],
            shared_bytes: shape.shared_bytes(),
        }
    }
}

impl Plan for Spectra50 {
    type Vectors = Buffer<f64>;
    type Error = Spectra50Error;

    fn points(&self) -> usize {
        1 << self.log2
    }

    fn batch(&self) -> usize {
        self.batch
    }

    /// Returns the number of elements of a buffer: S·stride for S primes.
    fn size(&self) -> usize {
        self.fields.len() * self.stride
    }

    fn forward(&self, x: &mut Buffer<f64>) -> Result<(), Spectra50Error> {
        self.transform_times(x, &self.one, false)
    }

    fn forward_into(&self, x: &Buffer<f64>, out: &mut Buffer<f64>) -> Result<(), Spectra50Error> {
        self.copy(x, out)?;
        self.forward(out)
    }

    fn inverse(&self, x: &mut Buffer<f64>) -> Result<(), Spectra50Error> {
        self.transform_times(x, &self.part, true)
    }

    fn inverse_into(&self, x: &Buffer<f64>, out: &mut Buffer<f64>) -> Result<(), Spectra50Error> {
        self.copy(x, out)?;
        self.inverse(out)
    }

    fn convolve(&self, a: &mut Buffer<f64>, b: &mut Buffer<f64>) -> Result<(), Spectra50Error> {
        self.spectrum(b)?;
        self.multiply(a, b)
    }

    /// Returns (vector, i) for the output X_i that is stored at index `place` of the spectra modulo
    /// one prime. Returns `None` if `place` is beyond the last vector.
    fn frequency(&self, place: usize) -> Option<(usize, usize)> {
        let tile = 1 << row_tile(self.row);
        let (t, thread) = (place % tile / (tile / 16), place % (tile / 16));
        let point = place / tile * tile + thread * 16 + t;
        let vector = point >> self.log2;
        let index = (point % (1 << self.log2)) as u32;
        let reversed = index.reverse_bits() >> (32 - self.log2);
        (place < self.stride && vector < self.batch).then_some((vector, reversed as usize))
    }
}

/// Returns the sources of all shipped kernels of this module, for devices whose blocks have
/// `shared_memory` bytes of shared memory.
#[must_use]
pub fn sources(shared_memory: u32) -> Vec<Source> {
    shape::shipped(shared_memory)
}

fn has(what: &'static str, found: usize, wanted: usize) -> Result<(), Spectra50Error> {
    if found == wanted { Ok(()) } else { Err(Spectra50Error::Length { what, found, wanted }) }
}
