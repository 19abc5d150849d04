//! Engines on a device: two kernels a squaring, written once for all kinds of arithmetic.
//!
//! | file | subject |
//! |---|---|
//! | `family` | [`OnDevice`]: lengths, margins, variants |
//! | `shape` | how a transform is cut for the kernels |
//! | `kernels` | their sources and builds |
//! | `products` | spectrum, tables and launches |
//! | `machine` | the register machine around them |
//!
//! A transform of R·C points goes along the columns, then along the rows. The kernel of rows
//! transforms, squares and transforms back; the kernel of columns transforms back, carries the
//! words and transforms again (the fusion of carries with the columns' transforms, and carries
//! handed from block to block, are those of Mihai Preda's *PRPLL*). What a family has of its own
//! is an [`Arithmetic`]: points, tables, margins, the texts of both kernels.

mod family;
mod kernels;
mod machine;
mod products;
mod shape;

use std::ops::RangeInclusive;

use bytemuck::Pod;
use warpint_device::{Arg, Device, Source};

use super::{EngineError, EngineFamily, Health, Margin, Step, Work};
use crate::layout::WordLayout;

pub use family::OnDevice;
pub(super) use family::sources;
pub(super) use kernels::{Part, StepKind};
pub(super) use shape::{Line, MAX_THREADS, REGISTERS, Shape, resident};
#[cfg(test)]
pub(super) use {family::lengths, shape::SHARED_MEMORY};
#[cfg(all(test, feature = "sim"))]
pub(super) use {machine::Machine, products::Products};

/// What a family on a device has of its own, beside what its namesake on the CPU says.
pub(super) trait Arithmetic: EngineFamily + Default + Send + 'static {
    /// A point of the spectrum and of the tables.
    type Point: Pod + Send;

    /// How a transform is cut.
    type Shape: Shape;

    /// What the kernels of columns know of words.
    type Words: Words<Self>;

    /// The text of `columns.cu`: `digits_to_spectrum`, `columns`, `spectrum_to_digits`.
    const COLUMNS: &'static str;

    /// The text of `rows.cu`: `square_rows`, `forward_rows`, `multiply_rows`.
    const ROWS: &'static str;

    /// Whether `columns` and `spectrum_to_digits` are built for each kind of step, and `columns`
    /// with and without round-off measured. Otherwise one build of each takes all steps.
    const SPECIALISED: bool;

    /// A source with the headers and constants that only this family has.
    fn specialise(source: Source, shape: &Self::Shape, p: u32, part: Part) -> Source;

    /// Every length that some device may have, ascending.
    fn all_lengths() -> Vec<usize>;

    /// Whether a longer length is known to take less time on the GPUs of [`super::known`].
    fn is_outrun(length: usize) -> bool;

    /// The exponents of a device with these lengths, ascending.
    fn exponents(lengths: &[usize]) -> RangeInclusive<u32>;

    /// Says which exponents are taken, of an exponent that is none of them.
    fn exponents_are(exponents: &RangeInclusive<u32>) -> String;

    /// Says which lengths are taken, of a length that is none of them.
    const LENGTHS_ARE: &'static str;

    /// The margin of an exponent of the device at a length of the device.
    fn margin_on_device(p: u32, length: usize) -> Result<Margin, EngineError>;

    /// What a squaring asks of a device.
    fn work_of(shape: &Self::Shape) -> Work;

    /// Bytes of the device's memory beside registers, with the first shape if there is one; `None`
    /// where that cannot be known.
    fn bytes_beside_registers(length: usize, shape: Option<&Self::Shape>) -> Option<u64>;

    /// Says that there is no shape of that number, but so many.
    fn no_shape(variant: usize, shapes: usize) -> String;

    /// That an engine cannot be had for p bits in a length.
    fn unusable(exponent: u32, length: usize, reason: String) -> EngineError {
        EngineError::Unusable { engine: Self::default().name(), exponent, length, reason }
    }
}

/// The tables that all kernels of columns, and all of rows, read.
pub(super) struct LineTables<P> {
    pub(super) columns: Vec<P>,
    pub(super) rows: Vec<P>,
}

/// What the kernels of columns know of words: arguments, tables, what they report.
pub(super) trait Words<A: Arithmetic>: Send + Sized {
    /// Squarings in a graph. Launching a graph costs the host as much as one kernel.
    const GRAPH_SQUARINGS: u64;

    /// The most products between two calls of [`Self::sync`].
    const MOST_UNSYNCED: u64;

    /// The squarings after a register was written or a sum was made that are all measured.
    const WATCHED: u64;

    /// Numbers that say where 2 is to be subtracted; the first is the shift.
    const ADDEND: usize;

    /// With the tables of the kernels of columns and of rows.
    fn new(
        device: &Device,
        layout: WordLayout,
        shape: &A::Shape,
    ) -> Result<(Self, LineTables<A::Point>), EngineError>;

    /// Whether a product times m can be carried in the words' own kernel.
    fn takes_multiplier(&self, m: u32) -> bool;

    /// The arguments of `digits_to_spectrum` after the tables.
    fn digit_args(&self) -> Vec<Arg>;

    /// The arguments of `columns` and `spectrum_to_digits` after the tables; carries, tickets and
    /// the place of the addend are given.
    fn carry_args(&mut self, scratch: [Arg; 3], step: Step) -> Vec<Arg>;

    /// Waits for the device, and judges the products made since the last call.
    fn sync(&mut self, device: &Device) -> Result<(), EngineError>;

    /// See [`Engine::health`](super::Engine::health).
    fn health(&self) -> Health;
}
