//! The engine on a device. It holds registers of digits and multiplies them with [`Products`].

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use warpint_device::{Arg, Buffer, Capture, Device, Graph, Kernel, Launch, Source, common};

use super::gang::{Gang, Gangs};
use super::kernels::StepKind;
use super::products::{Call, Products};
use super::{Arithmetic, Layout, SquareCheck, Words};
use crate::engine::{Engine, EngineError, Health, KernelTime, KernelTimer, Step, by_kind};
use crate::{Number, Residue, Shift};

const WORDS: &str = include_str!("../../../kernels/words.cu");

/// The number of squarings in a graph of [`Machine::patterns`].
const PATTERN: u64 = 8;

/// The number of threads per block of the kernels of `words.cu`.
const COMBINE_THREADS: u32 = 256;

/// Returns the source of the kernel that adds or subtracts registers.
pub(super) fn words_source(kernel: &'static str) -> Source {
    Source::new("words.cu", WORDS, &[kernel]).headers(common::HEADERS)
}

/// A register machine on a device: registers of digits, with the kernels and buffers that multiply
/// them.
pub(in crate::engine) struct Machine<A: Arithmetic> {
    device: Device,
    layout: A::Layout,
    products: Products<A>,
    registers: Vec<Buffer<i32>>,
    /// Memory for the result of a sum, a difference or a copy. This memory is then exchanged with
    /// the memory of the register that receives the result.
    scratch: Buffer<i32>,
    combine: Option<Kernel>,
    /// A graph of squarings for each of the steps used so far.
    graphs: Vec<(Step, Graph)>,
    /// Graphs of [`PATTERN`] squarings, by m and by bits: the square number j is multiplied by m if bit j is 1.
    patterns: HashMap<(u32, u32), Graph>,
    /// The gang that launches graphs of squarings for this engine; `None` if the engine does so itself.
    gang: Option<Arc<Gang>>,
    /// The number of squarings, from now on, in which round-off is always measured.
    watched: u64,
    /// The number of products since the last call of [`Words::sync`]. It is at most
    /// [`Words::MOST_UNSYNCED`].
    unsynced: u64,
}

impl<A: Arithmetic> Machine<A> {
    pub(in crate::engine) fn new(
        device: &Device,
        layout: A::Layout,
        registers: usize,
        products: Products<A>,
    ) -> Result<Self, EngineError> {
        let zero = vec![0i32; layout.len()];
        let registers: Result<Vec<_>, _> = (0..registers).map(|_| device.upload(&zero)).collect();
        Ok(Self {
            registers: registers?,
            scratch: device.upload(&zero)?,
            combine: None,
            graphs: vec![],
            patterns: HashMap::new(),
            gang: None,
            watched: A::Words::WATCHED,
            unsynced: 0,
            device: device.clone(),
            layout,
            products,
        })
    }

    /// Joins a gang, if there are gangs and the kernels can square several numbers in one launch.
    pub(in crate::engine) fn in_gang(self, gangs: Option<&Gangs>) -> Result<Self, EngineError> {
        let Some(gangs) = gangs.filter(|_| A::GATHERS) else { return Ok(self) };
        let mut machine = self;
        let plan = machine.products.plan_of_gang(A::Words::GRAPH_SQUARINGS);
        // Gangs are formed one after the other. This lets their kernels be compiled at the same time.
        machine.device.programs(&plan.sources())?;
        machine.gang = Some(gangs.join(plan)?);
        Ok(machine)
    }

    /// Waits for the device and evaluates the round-off that was measured since the last call, and
    /// the check of squarings. Returns an error if the round-off of a product is too large, if a
    /// squaring is wrong, or if the device failed.
    fn sync(&mut self) -> Result<(), EngineError> {
        if self.unsynced == 0 {
            return Ok(());
        }
        // Any error is reported once only.
        self.unsynced = 0;
        self.products.sync()
    }

    /// Starts squarings of a register: transforms its digits. If squarings are checked, also makes
    /// the sum over the digits, and, after another root was drawn, the sum by that root.
    fn begin_squarings(&mut self, reg: usize, step: Step, shift: Shift) -> Result<(), EngineError> {
        self.settle()?;
        if let Some(squares) = self.products.words.squares() {
            squares.begin(reg, step, shift)?;
        }
        self.products.digits_to_spectrum(&self.registers[reg])?;
        if let Some(squares) = self.products.words.squares()
            && squares.redraw()?
        {
            self.products.sum_digits(&self.registers[reg])?;
        }
        Ok(())
    }

    /// Evaluates the check of the squarings made so far, if squarings are checked.
    fn settle(&mut self) -> Result<(), EngineError> {
        if self.products.words.squares().is_some() { self.sync() } else { Ok(()) }
    }

    /// Calls `f` if squarings are checked.
    fn with_squares(&mut self, f: impl FnOnce(&mut SquareCheck)) {
        if let Some(squares) = self.products.words.squares() {
            f(squares);
        }
    }

    /// Counts one more product whose errors have not been evaluated. If [`Words::MOST_UNSYNCED`]
    /// products have not been evaluated, first evaluates their errors.
    fn note_product(&mut self) -> Result<(), EngineError> {
        if self.unsynced >= A::Words::MOST_UNSYNCED {
            self.sync()?;
        }
        self.unsynced += 1;
        Ok(())
    }

    /// Squares the spectrum n times. The first `watched` squarings are launched one by one, the
    /// others in graphs as far as possible. Round-off is measured in all watched squarings, in the
    /// first squaring of each graph, and in the first squaring after the graphs.
    ///
    /// In a graph, two launches of the same kernel never follow each other directly. Kernels rely
    /// on this: they count their launches while the preceding kernel may still be running.
    fn squarings(&mut self, mut n: u64, step: Step) -> Result<(), EngineError> {
        self.products.note_launches(n);
        let watched = n.min(self.watched);
        self.watched -= watched;
        for _ in 0..watched {
            self.products.squaring(step, true)?.iter().try_for_each(Call::make)?;
        }
        n -= watched;
        if n >= A::Words::GRAPH_SQUARINGS
            && let Some(gang) = self.gang.as_ref().filter(|_| A::kind(step) == StepKind::Square)
        {
            self.device.synchronize()?;
            gang.square(self.products.args_of_gang(step), n / A::Words::GRAPH_SQUARINGS)?;
        } else if n >= A::Words::GRAPH_SQUARINGS {
            let at = match self.graphs.iter().position(|(of, _)| *of == step) {
                Some(at) => at,
                None => {
                    let record = |capture: &Capture<'_>| {
                        for i in 0..A::Words::GRAPH_SQUARINGS {
                            for call in self.products.squaring(step, i == 0)? {
                                call.record(capture);
                            }
                        }
                        Ok(())
                    };
                    let graph = self.device.capture(record)?;
                    self.graphs.push((step, graph));
                    self.graphs.len() - 1
                }
            };
            for _ in 0..n / A::Words::GRAPH_SQUARINGS {
                self.graphs[at].1.launch()?;
            }
        }
        for i in 0..n % A::Words::GRAPH_SQUARINGS {
            self.products.squaring(step, i == 0)?.iter().try_for_each(Call::make)?;
        }
        Ok(())
    }

    /// Squares the spectrum n times, less often than in a graph. The first of these squarings is number `first` of a
    /// sequence. Round-off is measured in all watched squarings, and in each squaring whose number is a multiple
    /// of the squarings in a graph.
    fn short_run(&mut self, first: u64, n: u64, step: Step) -> Result<(), EngineError> {
        self.products.note_launches(n);
        for j in first..first + n {
            let is_watched = self.watched > 0;
            self.watched -= u64::from(is_watched);
            let measured = is_watched || j.is_multiple_of(A::Words::GRAPH_SQUARINGS);
            self.products.squaring(step, measured)?.iter().try_for_each(Call::make)?;
        }
        Ok(())
    }

    /// Squares the spectrum [`PATTERN`] times. The square number j is multiplied by m if bit j of `bits` is 1.
    fn pattern(&mut self, m: u32, bits: u32) -> Result<(), EngineError> {
        self.products.note_launches(PATTERN);
        let graph = match self.patterns.entry((m, bits)) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let products = &mut self.products;
                let record = |capture: &Capture<'_>| {
                    for j in 0..PATTERN {
                        let has_factor = bits >> j & 1 == 1;
                        let step = if has_factor { Step::SquareTimes(m) } else { Step::Square };
                        for call in products.squaring(step, j == 0)? {
                            call.record(capture);
                        }
                    }
                    Ok(())
                };
                entry.insert(self.device.capture(record)?)
            }
        };
        Ok(graph.launch()?)
    }

    /// Replaces `r[reg]` by m·`r[reg]`² n times. This method is used if the kernels cannot multiply
    /// by m while they propagate carries. After each squaring, multiplies by m through doublings
    /// and additions.
    fn square_then_times(&mut self, reg: usize, n: u64, m: u32) -> Result<(), EngineError> {
        for _ in 0..n {
            self.square(reg, 1, Step::Square, Shift::ZERO)?;
            let mut square = self.device.alloc(self.layout.len())?;
            square.copy_from(&self.registers[reg])?;
            self.registers.push(square);
            let last = self.registers.len() - 1;
            // From the second highest bit of m down.
            let result = (0..m.max(1).ilog2()).rev().try_for_each(|bit| {
                self.combine(reg, reg, reg, 1)?;
                if m >> bit & 1 == 1 { self.combine(reg, reg, last, 1) } else { Ok(()) }
            });
            self.registers.pop();
            result?;
        }
        Ok(())
    }

    /// Sets `r[dst]` to `r[a]` + sign·`r[b]`, where `sign` is 1 or −1.
    fn combine(&mut self, dst: usize, a: usize, b: usize, sign: i32) -> Result<(), EngineError> {
        self.settle()?;
        self.with_squares(|squares| squares.changed(dst));
        let n = self.layout.len() as u32;
        let kernel = match &self.combine {
            Some(kernel) => kernel,
            None => {
                let kernel = self
                    .device
                    .program(&A::Layout::combine_source())?
                    .kernel(A::Layout::COMBINE, 0)?;
                self.combine.insert(kernel)
            }
        };
        let mut args = vec![
            Arg::from(&mut self.scratch),
            Arg::from(&self.registers[a]),
            Arg::from(&self.registers[b]),
            Arg::I32(sign),
        ];
        args.extend(self.layout.combine_args());
        args.push(Arg::U32(n));
        let launch = Launch::linear(n.div_ceil(COMBINE_THREADS), COMBINE_THREADS);
        // SAFETY: the registers and the scratch have n words each; the scratch is not a register.
        unsafe { kernel.launch(launch, &args)? };
        std::mem::swap(&mut self.registers[dst], &mut self.scratch);
        Ok(())
    }
}

impl<A: Arithmetic> Engine for Machine<A> {
    fn name(&self) -> &'static str {
        A::arithmetic()
    }

    fn number(&self) -> Number {
        self.layout.number()
    }

    fn exponent(&self) -> u32 {
        self.layout.number().exponent()
    }

    fn length(&self) -> usize {
        self.layout.len()
    }

    fn is_intact(&self) -> bool {
        self.layout.is_intact()
    }

    fn registers(&self) -> usize {
        self.registers.len()
    }

    fn copy(&mut self, dst: usize, src: usize) -> Result<(), EngineError> {
        assert!(src < self.registers.len(), "there is no register {src}");
        if dst != src {
            self.settle()?;
            self.with_squares(|squares| squares.copied(dst, src));
            self.scratch.copy_from(&self.registers[src])?;
            std::mem::swap(&mut self.registers[dst], &mut self.scratch);
        }
        Ok(())
    }

    fn square(&mut self, reg: usize, n: u64, step: Step, shift: Shift) -> Result<(), EngineError> {
        if let Step::SquareTimes(m) = step
            && !self.products.words.takes_multiplier(m)
        {
            return self.square_then_times(reg, n, m);
        }
        if n == 0 {
            return Ok(());
        }
        self.products.prepare(step, shift, n - 1 <= self.watched)?;
        self.begin_squarings(reg, step, shift)?;
        let mut left = n - 1;
        while left > 0 {
            if self.unsynced >= A::Words::MOST_UNSYNCED {
                self.sync()?;
            }
            let now = left.min(A::Words::MOST_UNSYNCED - self.unsynced);
            self.unsynced += now;
            self.squarings(now, step)?;
            left -= now;
        }
        self.note_product()?;
        self.products.spectrum_to_digits(&mut self.registers[reg], step)?;
        self.with_squares(SquareCheck::end);
        Ok(())
    }

    /// Keeps the spectrum from squaring to squaring, if the kernels that propagate carries can multiply by
    /// m. Squarings are launched in graphs where enough of the same kind follow each other.
    fn square_with_factors(
        &mut self,
        reg: usize,
        n: u64,
        m: u32,
        has_factor: &dyn Fn(u64) -> bool,
        shift: Shift,
    ) -> Result<(), EngineError> {
        let Some(last) = n.checked_sub(1) else { return Ok(()) };
        let words = &mut self.products.words;
        if !words.takes_multiplier(m) || words.squares().is_some() {
            return by_kind(self, reg, n, m, has_factor, shift);
        }
        let step = |j| if has_factor(j) { Step::SquareTimes(m) } else { Step::Square };
        for step in [Step::Square, Step::SquareTimes(m)] {
            self.products.prepare(step, shift, last <= self.watched)?;
        }
        self.products.digits_to_spectrum(&self.registers[reg])?;
        let mut done = 0;
        while done < last {
            if self.unsynced >= A::Words::MOST_UNSYNCED {
                self.sync()?;
            }
            let most = last.min(done.saturating_add(A::Words::MOST_UNSYNCED - self.unsynced));
            let same = (done + 1..most).find(|&j| has_factor(j) != has_factor(done));
            let mut end = same.unwrap_or(most);
            if end - done >= A::Words::GRAPH_SQUARINGS {
                self.unsynced += end - done;
                self.squarings(end - done, step(done))?;
            } else if self.watched == 0 && most - done >= PATTERN {
                end = done + PATTERN;
                self.unsynced += PATTERN;
                let bits = (0..PATTERN).map(|j| u32::from(has_factor(done + j)) << j).sum();
                self.pattern(m, bits)?;
            } else {
                self.unsynced += end - done;
                self.short_run(done, end - done, step(done))?;
            }
            done = end;
        }
        self.note_product()?;
        self.products.spectrum_to_digits(&mut self.registers[reg], step(last))
    }

    fn mul(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        if a == b {
            self.copy(dst, a)?;
            return self.square(dst, 1, Step::Square, Shift::ZERO);
        }
        self.settle()?;
        self.with_squares(|squares| squares.changed(dst));
        self.note_product()?;
        self.products.multiply(&self.registers[a], &self.registers[b])?;
        self.products.carry_into(&mut self.registers[dst], Step::Square)
    }

    fn add(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        self.watched = A::Words::WATCHED;
        self.combine(dst, a, b, 1)
    }

    fn sub(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        self.watched = A::Words::WATCHED;
        self.combine(dst, a, b, -1)
    }

    fn read(&mut self, reg: usize, shift: Shift) -> Result<Residue, EngineError> {
        self.sync()?;
        let digits = self.registers[reg].download()?;
        if let Some(squares) = self.products.words.squares() {
            squares.verify_digits(reg, &digits)?;
        }
        Ok(self.layout.residue_of(&digits, shift))
    }

    fn write(&mut self, reg: usize, x: &Residue, shift: Shift) -> Result<(), EngineError> {
        self.watched = A::Words::WATCHED;
        self.settle()?;
        let digits = self.layout.digits_of(x, shift);
        self.with_squares(|squares| squares.written(reg, &digits));
        Ok(self.registers[reg].upload(&digits)?)
    }

    fn finish(&mut self) -> Result<(), EngineError> {
        self.sync()
    }

    fn health(&self) -> Health {
        self.products.words.health()
    }

    fn kernel_timer(&mut self) -> Option<&mut dyn KernelTimer> {
        Some(self)
    }
}

impl<A: Arithmetic> KernelTimer for Machine<A> {
    fn kernel_times(&mut self, reg: usize, n: u64) -> Result<Vec<KernelTime>, EngineError> {
        assert!((4..=1_000).contains(&n), "kernels are timed over 4 to 1000 squarings, not {n}");
        let step = Step::Square;
        self.sync()?;
        self.with_squares(|squares| squares.changed(reg));
        self.products.prepare(step, Shift::ZERO, false)?;
        self.products.digits_to_spectrum(&self.registers[reg])?;
        // While the device is busy with these, the host runs ahead of it. A gang would be waited for.
        let gang = self.gang.take();
        let started = self.squarings(n / 2, step);
        self.gang = gang;
        started?;
        let timed = n - 1 - n / 2;
        self.products.note_launches(timed);
        let calls = self.products.squaring(step, false)?;
        let launches = calls.len() * timed as usize;
        let times = self.device.times(launches, |i| calls[i % calls.len()].make())?;
        let mean = |(i, call): (usize, &Call<'_>)| {
            let sum: Duration = times.iter().skip(i).step_by(calls.len()).sum();
            KernelTime { kernel: call.kernel.name(), time: sum.div_f64(timed as f64) }
        };
        let means = calls.iter().enumerate().map(mean).collect();
        self.products.spectrum_to_digits(&mut self.registers[reg], step)?;
        self.unsynced = n;
        self.sync()?;
        Ok(means)
    }
}

#[cfg(test)]
#[cfg(feature = "sim")]
impl<A: Arithmetic> Machine<A> {
    pub(in crate::engine) fn products(&mut self) -> &mut Products<A> {
        &mut self.products
    }

    /// Begins squarings of a register.
    pub(in crate::engine) fn begin(&mut self, reg: usize) -> Result<(), EngineError> {
        self.products.prepare(Step::Square, Shift::ZERO, false)?;
        self.begin_squarings(reg, Step::Square, Shift::ZERO)
    }

    /// Ends squarings of a register, with another one.
    pub(in crate::engine) fn end(&mut self, reg: usize) -> Result<(), EngineError> {
        self.products.spectrum_to_digits(&mut self.registers[reg], Step::Square)
    }
}

#[cfg(test)]
#[cfg(feature = "sim")]
mod tests {
    use super::*;
    use crate::engine::BuildOptions;
    use crate::engine::places::families_on;
    use warpint_device::DeviceId;

    #[test]
    fn factors_follow_the_squarings_that_have_them() {
        for family in families_on(DeviceId::Sim).unwrap() {
            let (p, length) = (13_003, 1 << 10);
            for check_squarings in [false, family.checks_squarings(p, length, 0)] {
                let options = BuildOptions { check_squarings, ..BuildOptions::new(2, 1) };
                let mut engine = family.build(p, length, options).unwrap();
                let has_factor = |j: u64| 0b1101_0111_0010_1100_u64 >> (j % 16) & 1 == 1;
                for (m, n) in [(3, 1), (3, 0), (4, 45), (65_535, 20)] {
                    for reg in 0..2 {
                        engine.set(reg, 5, Shift::ZERO).unwrap();
                    }
                    let shift = Shift::ZERO;
                    engine.square_with_factors(0, n, m, &has_factor, shift).unwrap();
                    by_kind(engine.as_mut(), 1, n, m, &has_factor, shift).unwrap();
                    let [found, expected] = [0, 1].map(|reg| engine.read(reg, shift).unwrap());
                    assert_eq!(found, expected, "{}, {n} squarings", family.name());
                }
            }
        }
    }

    #[test]
    fn squarings_whose_kernels_are_timed_are_squarings() {
        for family in families_on(DeviceId::Sim).unwrap() {
            let (p, length) = (13_003, 1 << 10);
            let mut engine = family.build(p, length, BuildOptions::new(2, 1)).unwrap();
            for reg in 0..2 {
                engine.set(reg, 3, Shift::ZERO).unwrap();
            }
            let times = engine.kernel_timer().unwrap().kernel_times(0, 9).unwrap();
            engine.square(1, 9, Step::Square, Shift::ZERO).unwrap();
            let [timed, plain] = [0, 1].map(|reg| engine.read(reg, Shift::ZERO).unwrap());
            assert_eq!(timed, plain, "{}", family.name());
            let names: Vec<_> = times.iter().map(|time| time.kernel).collect();
            let expected: &[&str] = match family.name() {
                "hybrid" | "hybrid-fast" => &["square_rows", "square_exact_rows", "columns"],
                _ => &["square_rows", "columns"],
            };
            assert_eq!(names, expected);
            assert!(times.iter().all(|kernel| kernel.time > Duration::ZERO), "{times:?}");
        }
    }
}
