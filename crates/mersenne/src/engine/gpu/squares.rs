//! The check of squarings on a device. Kernels make the sums; the host verifies them.
//!
//! `kernels/fp64/sums.cuh` describes the sums of the kernels.

use warpint_device::{Arg, Buffer, Device, DeviceError};

use super::{Line, Shape};
use crate::Shift;
use crate::engine::squares::{Element, Known, LEAST_WITH_A_ROOT, Root};
use crate::engine::{EngineError, Step};
use crate::layout::WordLayout;

/// The number of sums of a launch, each over some of its blocks: PARTS in `sums.cuh`.
const PARTS: usize = 8;

/// The number of words of a sum: the real and the imaginary part of the sum over digits, then those
/// of the sum over carries.
const WORDS: usize = 4;

/// Returns the shared memory in bytes that kernels of columns with outer radix `q` need in addition,
/// for the factors of the points of a thread.
pub(super) fn shared_bytes(q: u32) -> u32 {
    3 * q * size_of::<[i32; 4]>() as u32
}

/// The tables and sums of a check, and what is known of the registers.
pub(in crate::engine) struct SquareCheck {
    layout: WordLayout,
    /// The radix Q of columns, the number M of rows of a thread's first point, and the number of
    /// columns.
    points: [usize; 3],
    root: Root,
    /// The inverse of [`scale`] for `root`.
    unscale: Element,
    /// The factors of rows and of columns, and those of the points of a thread.
    factors: Buffer<[u32; 2]>,
    point_factors: Buffer<[i32; 4]>,
    /// The sums of the last launches: [launch mod `slots`][part][word].
    sums: Buffer<[[u64; WORDS]; PARTS]>,
    /// The sums of the digits with which squarings begin: by the root of the squarings before, and
    /// by a root drawn since.
    starts: Buffer<[[u64; WORDS]; PARTS]>,
    slots: u64,
    /// The number of launches of `columns` and `spectrum_to_digits`.
    launches: u64,
    /// The sum over the digits of each register by the present root, as far as it is known.
    known: Known,
    stretch: Option<Stretch>,
    /// The number of squarings since the root was drawn.
    since_drawn: u64,
    verified: u64,
}

/// Successive squarings of a register.
struct Stretch {
    register: usize,
    step: Step,
    /// The shift before the first squaring that has not been verified.
    shift: Shift,
    /// The number of squarings that have not been verified.
    pending: u64,
    before: Before,
    ended: bool,
}

/// The sum over the digits before the first squaring that has not been verified.
enum Before {
    Known(Element),
    /// The kernels make the sum. `expected` is the sum that the register must have; `expected` and
    /// the first sum are by the root `old`. If the present root is another, the second sum is by
    /// the present root.
    Start {
        expected: Option<Element>,
        old: Root,
    },
}

impl SquareCheck {
    /// Draws a root for a layout, and creates the buffers for `slots` launches. All registers are
    /// zero.
    pub(in crate::engine) fn new(
        device: &Device,
        layout: WordLayout,
        shape: &impl Shape,
        slots: usize,
    ) -> Result<Self, EngineError> {
        let Line { q, a, b } = shape.column();
        let points = [q, a * b, shape.columns()].map(|n| n as usize);
        let root = Root::draw(layout);
        let (factors, point_factors) = tables(&root, &layout, points);
        Ok(Self {
            layout,
            points,
            unscale: scale(&root, &layout).inverse(),
            root,
            factors: device.upload(&factors)?,
            point_factors: device.upload(&point_factors)?,
            sums: device.upload(&vec![[[0; WORDS]; PARTS]; slots])?,
            starts: device.upload(&[[[0; WORDS]; PARTS]; 2])?,
            slots: slots as u64,
            launches: 0,
            known: Known::default(),
            stretch: None,
            since_drawn: 0,
            verified: 0,
        })
    }

    /// Returns the number of squarings that were verified.
    pub(in crate::engine) fn verified(&self) -> u64 {
        self.verified
    }

    /// Returns the last arguments of `columns` and `spectrum_to_digits`.
    pub(super) fn launch_args(&mut self) -> Vec<Arg> {
        let tables = [Arg::from(&self.factors), Arg::from(&self.point_factors)];
        tables.into_iter().chain([Arg::from(&mut self.sums)]).collect()
    }

    /// Returns the last arguments of `digits_to_spectrum` or, if `redrawn`, of `sum_digits`.
    pub(super) fn start_args(&mut self, redrawn: bool) -> Vec<Arg> {
        let tables = [Arg::from(&self.factors), Arg::from(&self.point_factors)];
        let at = usize::from(redrawn);
        let starts = self.starts.cells(at..at + 1);
        tables.into_iter().chain([Arg::from(starts)]).collect()
    }

    /// Counts `n` launches of `columns` or `spectrum_to_digits`.
    pub(super) fn note_launches(&mut self, n: u64) {
        self.launches += n;
        self.since_drawn += n;
        if let Some(stretch) = self.stretch.as_mut().filter(|stretch| !stretch.ended) {
            stretch.pending += n;
        }
    }

    /// Begins squarings of a register. The sums of all squarings before must have been evaluated.
    pub(super) fn begin(
        &mut self,
        register: usize,
        step: Step,
        shift: Shift,
    ) -> Result<(), DeviceError> {
        self.starts.clear()?;
        let before = Before::Start { expected: self.known.get(register), old: self.root };
        self.stretch = Some(Stretch { register, step, shift, pending: 0, before, ended: false });
        self.known.set(register, None);
        Ok(())
    }

    /// Draws another root if enough squarings were made with the present one. Returns whether it
    /// did. Then the sums of other registers are no longer known.
    pub(super) fn redraw(&mut self) -> Result<bool, DeviceError> {
        if self.since_drawn < LEAST_WITH_A_ROOT {
            return Ok(false);
        }
        self.since_drawn = 0;
        self.known.clear();
        self.root = Root::draw(self.layout);
        self.unscale = scale(&self.root, &self.layout).inverse();
        let (factors, point_factors) = tables(&self.root, &self.layout, self.points);
        self.factors.upload(&factors)?;
        self.point_factors.upload(&point_factors)?;
        Ok(true)
    }

    /// Ends the squarings. Their last launch wrote the digits of the register.
    pub(super) fn end(&mut self) {
        if let Some(stretch) = &mut self.stretch {
            stretch.ended = true;
        }
    }

    /// The register receives these digits.
    pub(super) fn written(&mut self, register: usize, digits: &[i32]) {
        let sum = self.root.sum(digits);
        self.known.set(register, Some(sum));
    }

    /// The register `dst` receives the digits of `src`.
    pub(super) fn copied(&mut self, dst: usize, src: usize) {
        self.known.set(dst, self.known.get(src));
    }

    /// The register receives digits whose sum is not known.
    pub(super) fn changed(&mut self, register: usize) {
        self.known.set(register, None);
    }

    /// Verifies the digits that were read from a register, if their sum is known.
    pub(super) fn verify_digits(
        &mut self,
        register: usize,
        digits: &[i32],
    ) -> Result<(), EngineError> {
        match self.known.get(register) {
            Some(sum) if self.root.sum(digits) != sum => {
                self.known.set(register, None);
                Err(self.wrong())
            }
            _ => Ok(()),
        }
    }

    fn wrong(&self) -> EngineError {
        EngineError::WrongSquaring { length: self.layout.len() }
    }

    /// Waits for the device, and verifies the squarings since the last call. Returns an error if one
    /// is wrong; the sums of no register are then known.
    pub(in crate::engine) fn evaluate(&mut self) -> Result<(), EngineError> {
        let Some(mut stretch) = self.stretch.take() else { return Ok(self.sums.clear()?) };
        let result = self.verify(&mut stretch);
        self.sums.clear()?;
        match (result, &stretch.before) {
            (Err(error), _) => {
                self.known.clear();
                return Err(error);
            }
            (Ok(()), Before::Known(sum)) if stretch.ended => {
                self.known.set(stretch.register, Some(*sum));
            }
            _ => self.stretch = Some(stretch),
        }
        Ok(())
    }

    fn verify(&mut self, stretch: &mut Stretch) -> Result<(), EngineError> {
        let mut before = match stretch.before {
            Before::Known(sum) => sum,
            Before::Start { expected, old } => {
                let starts = self.starts.download()?;
                let of_old = scale(&old, &self.layout).inverse();
                let [first, second] = [(of_old, 0), (self.unscale, 1)].map(|(unscale, at)| {
                    starts.get(at).map_or(Element::ZERO, |s| sums(s, unscale)[0])
                });
                if expected.is_some_and(|expected| expected != first) {
                    return Err(self.wrong());
                }
                if old == self.root { first } else { second }
            }
        };
        let p = self.layout.exponent();
        let first = self.launches - stretch.pending;
        for launch in self.slots(first, stretch.pending)? {
            let [digits, carries] = sums(&launch, self.unscale);
            stretch.shift = stretch.shift.after_squarings(1, p);
            let expected = match stretch.step {
                Step::Square => self.root.square(before, carries),
                Step::SquareMinusTwo => {
                    self.root.square(before, carries).minus(self.root.two(stretch.shift.bits()))
                }
                Step::SquareTimes(m) => self.root.times(before, m, carries),
            };
            if digits != expected {
                return Err(self.wrong());
            }
            before = digits;
        }
        self.verified += stretch.pending;
        stretch.pending = 0;
        stretch.before = Before::Known(before);
        Ok(())
    }

    /// Returns the sums of `count` launches, from number `first` on.
    fn slots(&self, first: u64, count: u64) -> Result<Vec<[[u64; WORDS]; PARTS]>, DeviceError> {
        let (slots, begin) = (self.slots as usize, (first % self.slots) as usize);
        let end = begin + count as usize;
        let mut found = self.sums.download_part(begin..end.min(slots))?;
        if end > slots {
            found.extend(self.sums.download_part(0..end - slots)?);
        }
        Ok(found)
    }
}

/// Returns the sum over digits and the sum over carries from the parts that the kernels made.
/// `unscale` is the inverse of the factor [`scale`] of these parts.
fn sums(parts: &[[u64; WORDS]; PARTS], unscale: Element) -> [Element; 2] {
    [0, 2].map(|at| {
        let sum = parts.iter().map(|part| Element::reduced(part[at], part[at + 1]));
        sum.fold(Element::ZERO, Element::plus).times(unscale)
    })
}

/// Returns the factor that the sums of the kernels have in addition: 2^(b + 2)·s for the number b of
/// bits of a short word.
fn scale(root: &Root, layout: &WordLayout) -> Element {
    let bits = u64::from(layout.exponent()) / layout.len() as u64;
    Element::power_of_2(bits + 2).times(root.s())
}

/// Returns the tables of the kernels: factors of rows and then of columns, and the factors of the
/// points of a thread.
fn tables(
    root: &Root,
    layout: &WordLayout,
    [q, m, columns]: [usize; 3],
) -> (Vec<[u32; 2]>, Vec<[i32; 4]>) {
    let of_rows = (0..m).map(|m| 2 * m * columns);
    let of_columns = (0..columns).map(|column| 2 * column + 1);
    let factors = of_rows.chain(of_columns).map(|word| root.factor(word).parts()).collect();
    let bits = u64::from(layout.exponent()) / layout.len() as u64;
    let second = Element::power_of_2(bits + 1).times(root.s());
    let of_points = (0..q).flat_map(|i| {
        let g = root.factor(2 * i * m * columns);
        [1, 31, 30].map(|e| {
            let g = g.times(Element::power_of_2(e));
            let ([a, b], [c, d]) = (g.balanced(), g.times(second).balanced());
            [a, b, c, d]
        })
    });
    (factors, of_points.collect())
}

#[cfg(test)]
#[cfg(feature = "sim")]
mod tests {
    use super::*;
    use crate::engine::fp64_gpu::Fp64On;
    use crate::engine::goldilocks::Goldilocks;
    use crate::engine::{BuildOptions, Engine, EngineFamily};
    use crate::{Residue, Shift};
    use rand::{RngExt, SeedableRng};

    /// Exponents with lengths: powers of 2, factors 3, 9, 15, 21, 45, 75 and others.
    const CASES: [(u32, usize); 8] = [
        (4_423, 256),
        (6_007, 384),
        (15_013, 896),
        (11_213, 640),
        (16_001, 960),
        (21_701, 1_344),
        (44_497, 2_304),
        (86_243, 4_608),
    ];

    fn engine(p: u32, length: usize) -> Box<dyn Engine> {
        let family = Fp64On::new(Device::simulator().unwrap());
        let options = BuildOptions { check_squarings: true, ..BuildOptions::new(2, 1) };
        family.build(p, length, options).unwrap()
    }

    fn random(p: u32) -> Residue {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(p.into());
        let limbs: Vec<u64> = (0..p.div_ceil(64)).map(|_| rng.random()).collect();
        Residue::from_limbs(p, &limbs)
    }

    #[test]
    fn right_squarings_pass() {
        for (p, length) in CASES {
            let holds = |n: &usize| Goldilocks.margin(p, *n).is_ok_and(|m| m.bits >= 0.0);
            let exact = Goldilocks.lengths(1, length).into_iter().find(holds).unwrap();
            let mut oracle = Goldilocks.build(p, exact, BuildOptions::new(2, 1)).unwrap();
            let mut engine = engine(p, length);
            let shift = Shift::new(1_234_567, p);
            let residues = [engine.as_mut(), oracle.as_mut()].map(|engine| {
                engine.write(0, &random(p), shift).unwrap();
                let mut done = 0;
                for (n, step) in [
                    (1, Step::SquareMinusTwo),
                    (7, Step::SquareMinusTwo),
                    (150, Step::SquareMinusTwo),
                    (2, Step::Square),
                    (2, Step::SquareTimes(3)),
                ] {
                    let shift = shift.after_squarings(done, p);
                    engine.square(0, n, step, shift).unwrap();
                    done += n;
                }
                engine.copy(1, 0).unwrap();
                engine.square(1, 3, Step::Square, Shift::ZERO).unwrap();
                engine.mul(0, 0, 1).unwrap();
                engine.square(0, 2, Step::Square, Shift::ZERO).unwrap();
                engine.read(0, Shift::ZERO).unwrap()
            });
            assert!(residues[0] == residues[1], "M{p}, {length} words");
            assert_eq!(engine.health().checked_squarings, 167);
        }
    }
}
