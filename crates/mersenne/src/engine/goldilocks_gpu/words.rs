//! The layout of words on a device. It determines some arguments of the kernels of columns, which
//! are computed here.

use warpint_device::{Arg, Buffer, Device};

use super::carries_rest;
use super::shape::Shape;
use super::tables::Tables;
use crate::engine::goldilocks::Goldilocks;
use crate::engine::gpu::{Family as _, LineTables, Words};
use crate::engine::{EngineError, Health, Step};
use crate::layout::WordLayout;

/// The layout of words, and the exponents of their weights in device memory.
pub(in crate::engine) struct ExactWords {
    layout: WordLayout,
    fractions: Buffer<u32>,
}

impl ExactWords {
    /// Returns two arguments of the kernels: ⌊p/N⌋ and p mod N, for the exponent p and N words.
    fn word_bits(&self) -> [Arg; 2] {
        let (p, n) = (self.layout.exponent(), self.layout.len() as u32);
        [Arg::U32(p / n), Arg::U32(p % n)]
    }
}

impl Words<Goldilocks> for ExactWords {
    const GRAPH_SQUARINGS: u64 = 16;
    const MOST_UNSYNCED: u64 = u64::MAX;
    const WATCHED: u64 = 0;
    const ADDEND: usize = 4;

    fn new(
        device: &Device,
        layout: &WordLayout,
        shape: &Shape,
        _check: bool,
    ) -> Result<(Self, LineTables<u64>), EngineError> {
        let tables = Tables::new(layout, shape).map_err(|no_root| {
            Goldilocks::unusable(layout.exponent(), layout.len(), no_root.to_string())
        })?;
        let fractions = device.upload(&tables.fractions)?;
        let Tables { columns, rows, .. } = tables;
        Ok((Self { layout: *layout, fractions }, LineTables { columns, rows }))
    }

    fn takes_multiplier(&self, m: u32) -> bool {
        carries_rest(self.layout.exponent(), self.layout.len(), m)
    }

    fn digit_args(&mut self) -> Vec<Arg> {
        let [_, long_below] = self.word_bits();
        vec![Arg::from(&self.fractions), long_below]
    }

    fn carry_args(&mut self, scratch: [Arg; 3], step: Step) -> Vec<Arg> {
        let (subtrahend, multiplier) = match step {
            Step::Square => (0, 1),
            Step::SquareMinusTwo => (2, 1),
            Step::SquareTimes(m) => (0, m),
        };
        let mut args = vec![Arg::from(&self.fractions)];
        args.extend(scratch);
        args.extend(self.word_bits());
        args.extend([Arg::U32(subtrahend), Arg::U32(multiplier)]);
        args
    }

    fn sync(&mut self, device: &Device) -> Result<(), EngineError> {
        Ok(device.synchronize()?)
    }

    fn health(&self) -> Health {
        Health::default()
    }
}
