//! The register machine of the engines with registers of balanced digits on the CPU.

use super::super::{BuildOptions, Engine, EngineError, Health, Step};
use super::{Digits, Products, carry};
use crate::engine::fp64::engine::Statistics;
use crate::{Residue, Shift};
use warpint_transform::cpu::goldilocks::Pool;

/// The shortest transform length, in words, at which several threads save time. At shorter lengths,
/// a squaring takes less than half a millisecond, and distributing its three passes over threads
/// costs more than it saves.
const PARALLEL_FROM: usize = 1 << 15;

/// An engine on the CPU: registers of balanced digits, and a transform that multiplies them.
pub(in crate::engine) struct Machine<T: Products> {
    name: &'static str,
    transform: T,
    pool: Pool,
    registers: Vec<Digits>,
    work: T::Spectrum,
    /// The memory for the spectrum of a second factor; `None` before the first product of two
    /// different registers.
    work_2: Option<T::Spectrum>,
    /// The judge of the errors of products; `None` if products are exact for all digits.
    guard: Option<Guard>,
}

/// The judge of the errors of products: their limit and their statistics.
struct Guard {
    limit: f64,
    statistics: Statistics,
}

impl Guard {
    /// Records the error of a product in `length` words.
    fn record(&mut self, measured: f64, length: usize) -> Result<(), EngineError> {
        self.statistics.note(measured);
        let limit = self.limit;
        if measured <= limit {
            return Ok(());
        }
        Err(EngineError::RoundOff { measured, limit, length })
    }
}

impl<T: Products> Machine<T> {
    /// Creates an engine of the family `name`, whose products are exact for all digits. The transform
    /// length is even.
    pub(in crate::engine) fn new(name: &'static str, transform: T, options: BuildOptions) -> Self {
        let n = transform.layout().len();
        let threads = if n < PARALLEL_FROM { 1 } else { options.threads };
        Self {
            name,
            pool: Pool::new(threads),
            registers: vec![Digits::new(n); options.registers],
            work: transform.spectrum(),
            work_2: None,
            guard: None,
            transform,
        }
    }

    /// Returns the engine with measured products. A product whose error exceeds `limit` is an error.
    pub(in crate::engine) fn guarded(self, limit: f64) -> Self {
        Self { guard: Some(Guard { limit, statistics: Statistics::default() }), ..self }
    }

    /// Judges the error of a product.
    fn judge(&mut self, measured: f64) -> Result<(), EngineError> {
        let length = self.transform.layout().len();
        self.guard.as_mut().map_or(Ok(()), |guard| guard.record(measured, length))
    }

    /// Sets `r[dst]` to the balanced digits of Σ f(a_j, b_j)·2^⌈pj/N⌉, where a_j and b_j are the N
    /// digits of `r[a]` and `r[b]`, and p is the exponent.
    fn wordwise(&mut self, dst: usize, a: usize, b: usize, f: impl Fn(i64, i64) -> i64) {
        let mut out = std::mem::take(&mut self.registers[dst]);
        let word = |reg: usize, j: usize, own: i64| {
            if reg == dst { own } else { i64::from(self.registers[reg][j]) }
        };
        carry::balance(self.transform.layout(), &mut out, |j, own| {
            f(word(a, j, own), word(b, j, own))
        });
        self.registers[dst] = out;
    }
}

impl<T: Products> Engine for Machine<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn exponent(&self) -> u32 {
        self.transform.layout().exponent()
    }

    fn length(&self) -> usize {
        self.transform.layout().len()
    }

    fn registers(&self) -> usize {
        self.registers.len()
    }

    fn copy(&mut self, dst: usize, src: usize) -> Result<(), EngineError> {
        assert!(src < self.registers.len(), "there is no register {src}");
        if dst != src {
            let mut out = std::mem::take(&mut self.registers[dst]);
            out.copy_from_slice(&self.registers[src]);
            self.registers[dst] = out;
        }
        Ok(())
    }

    fn square(&mut self, reg: usize, n: u64, step: Step, shift: Shift) -> Result<(), EngineError> {
        let layout = *self.transform.layout();
        let mut shift = shift;
        for _ in 0..n {
            shift = shift.after_squarings(1, layout.exponent());
            let digits = &mut self.registers[reg];
            let measured = self.transform.square(&self.pool, digits, &mut self.work);
            self.judge(measured)?;
            let digits = &mut self.registers[reg];
            match step {
                Step::Square => {}
                Step::SquareMinusTwo => {
                    let (j, bit) = layout.word_at_bit(shift.bits());
                    carry::add_at(&layout, digits, j, -2i64 << bit);
                }
                Step::SquareTimes(m) => {
                    carry::balance(&layout, digits, |_, d| d * i64::from(m));
                }
            }
        }
        Ok(())
    }

    fn mul(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        if a == b {
            self.copy(dst, a)?;
            let digits = &mut self.registers[dst];
            let measured = self.transform.square(&self.pool, digits, &mut self.work);
            return self.judge(measured);
        }
        let work_2 = self.work_2.get_or_insert_with(|| self.transform.spectrum());
        let measured = self.transform.multiply(
            &self.pool,
            &mut self.registers,
            [dst, a, b],
            [&mut self.work, work_2],
        );
        self.judge(measured)
    }

    fn add(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        self.wordwise(dst, a, b, |x, y| x + y);
        Ok(())
    }

    fn sub(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        self.wordwise(dst, a, b, |x, y| x - y);
        Ok(())
    }

    fn read(&mut self, reg: usize, shift: Shift) -> Result<Residue, EngineError> {
        let x = self.transform.layout().residue(&self.registers[reg]);
        Ok(x.rotated_right(shift.bits()))
    }

    fn write(&mut self, reg: usize, x: &Residue, shift: Shift) -> Result<(), EngineError> {
        let digits = self.transform.layout().balanced_digits(&x.rotated_left(shift.bits()));
        self.registers[reg].copy_from_slice(&digits);
        Ok(())
    }

    fn health(&self) -> Health {
        self.guard.as_ref().map_or_else(Health::default, |guard| guard.statistics.health())
    }
}
