//! The check of every squaring, and of the residues in registers and their conversion.
//!
//! The transform makes the sums of the digits and of the carries
//! ([`squares`](crate::engine::squares)). Between calls of [`Engine::square`](crate::engine::Engine)
//! a residue is packed in a register. Its digits x' are those of [`digits`](crate::engine::fp64::digits).
//! L(x') is kept for each register, and compared when the residue is loaded or read.
//!
//! The digits y of the last squaring of a call need not be balanced, so x' can differ. Both are the
//! same residue if y becomes x' by carries: if u_j is the carry into word j,
//! y_j + u_j = x'_j + u_(j+1)·2^b_j for each word j, where word 0 follows the last word. Then
//! L(x') = L(y) + (1 − 1/s)·L(u). The first equation is verified in integers, the second by the sum
//! that the squaring has reported. Most carries are 0.

use std::ops::Range;

use multiversion::multiversion;
use warpint_arith::m31;

use super::carry::sums::Sums;
use super::digits::{RUN, Run, Start};
use super::transform::Transform;
use crate::engine::EngineError;
use crate::engine::squares::{Element, Known, LEAST_WITH_A_ROOT, Root};
use crate::layout::WordLayout;

/// What an engine knows of its registers and of its root.
pub(super) struct SquareCheck {
    layout: WordLayout,
    root: Root,
    of_run: OfRun,
    /// The sums over the digits x' of the registers.
    known: Known,
    threads: usize,
    since_drawn: u64,
    verified: u64,
}

/// The factors of the words of a run, relative to its first word, and half of them; and the numerators
/// −p·k mod N of the fractions of their weights.
#[derive(Default)]
struct OfRun {
    re: [[i32; RUN]; 2],
    im: [[i32; RUN]; 2],
    numerators: [u64; RUN],
    /// The factor of the word after the run, and half of it, and the numerator of that word.
    next: ([Element; 2], u64),
}

impl OfRun {
    fn new(root: &Root, layout: &WordLayout) -> Self {
        let both = |factor: Element| [factor, factor.times(Element::power_of_2(30))];
        let mut of_run = Self {
            numerators: std::array::from_fn(|k| layout.weight_numerator(k)),
            next: (both(root.factor(RUN)), layout.weight_numerator(RUN)),
            ..Self::default()
        };
        // A residue may have fewer words than a run.
        for (k, factor) in root.factors(0).take(RUN).enumerate() {
            for (wrapped, factor) in both(factor).into_iter().enumerate() {
                [of_run.re[wrapped][k], of_run.im[wrapped][k]] = factor.balanced();
            }
        }
        of_run
    }

    /// Returns the sum over the digits of a run, divided by the factor of its first word. `u` is the
    /// numerator of that word, and `n` the number of words of a residue.
    #[inline(always)]
    fn sum(&self, u: u64, n: u64, digits: &[i32; RUN]) -> Element {
        let (mut re, mut im) = (0, 0);
        for k in 0..RUN {
            let wrapped = u + self.numerators[k] >= n;
            let [a, b] = [&self.re, &self.im].map(|of| if wrapped { of[1][k] } else { of[0][k] });
            re += i64::from(digits[k]) * i64::from(a);
            im += i64::from(digits[k]) * i64::from(b);
        }
        Element { re: m31::reduce_signed(re), im: m31::reduce_signed(im) }
    }
}

/// A word, and how much its digit y exceeds its digit x'.
struct Excess {
    word: usize,
    excess: i64,
}

impl SquareCheck {
    /// Draws a root, by which the transform makes sums from now on.
    pub(super) fn new(layout: WordLayout, threads: usize, transform: &mut dyn Transform) -> Self {
        let mut check = Self {
            layout,
            root: Root::draw(layout),
            of_run: OfRun::default(),
            known: Known::default(),
            threads,
            since_drawn: 0,
            verified: 0,
        };
        check.prepare(transform);
        check
    }

    fn prepare(&mut self, transform: &mut dyn Transform) {
        self.of_run = OfRun::new(&self.root, &self.layout);
        transform.sum_by(&self.root);
    }

    /// Returns the number of squarings that were verified.
    pub(super) fn verified(&self) -> u64 {
        self.verified
    }

    fn wrong(&self) -> EngineError {
        EngineError::WrongSquaring { length: self.layout.len() }
    }

    /// The register `dst` receives the residue of `src`.
    pub(super) fn copied(&mut self, dst: usize, src: usize) {
        self.known.set(dst, self.known.get(src));
    }

    /// The register receives a residue whose sum is not known.
    pub(super) fn changed(&mut self, register: usize) {
        self.known.set(register, None);
    }

    /// The register receives the residue x.
    pub(super) fn written(&mut self, register: usize, x: &[u64]) {
        self.known.set(register, Some(self.sum(x)));
    }

    /// The register receives a residue with the sum `sum`.
    pub(super) fn packed(&mut self, register: usize, sum: Element) {
        self.known.set(register, Some(sum));
    }

    /// Verifies the residue x of a register, if its sum is known.
    pub(super) fn verify_register(
        &mut self,
        register: usize,
        x: &[u64],
    ) -> Result<(), EngineError> {
        match self.known.get(register) {
            Some(sum) if self.exceeds(x) || sum != self.sum(x) => {
                self.known.set(register, None);
                Err(self.wrong())
            }
            _ => Ok(()),
        }
    }

    /// Returns whether x has bits from bit p on. No digit contains them.
    fn exceeds(&self, x: &[u64]) -> bool {
        let last = self.layout.exponent() - 1;
        x.last().is_some_and(|top| top >> 1 >> (last % 64) != 0)
    }

    /// Verifies the residue of a register that the transform has loaded. Returns the sum over the
    /// loaded digits.
    pub(super) fn loaded(
        &self,
        register: usize,
        transform: &dyn Transform,
    ) -> Result<Element, EngineError> {
        let Sums { digits, carries } = transform.sums();
        match self.known.get(register) {
            Some(sum) if sum.plus(self.root.carried(carries)) != digits => Err(self.wrong()),
            _ => Ok(digits),
        }
    }

    /// Returns whether another root should be drawn: enough squarings were made with the present one.
    pub(super) fn is_due(&self) -> bool {
        self.since_drawn >= LEAST_WITH_A_ROOT
    }

    /// Draws another root. The sums of all registers are then no longer known.
    pub(super) fn redraw(&mut self, transform: &mut dyn Transform) {
        self.since_drawn = 0;
        self.known.clear();
        self.root = Root::draw(self.layout);
        self.prepare(transform);
    }

    /// Verifies a squaring of digits with the sum `before`. If it ends at a shift, 2·2^shift was
    /// subtracted from the given word. Returns the sum over the digits of the square.
    pub(super) fn squared(
        &mut self,
        before: Element,
        subtracted: Option<(usize, u32)>,
        transform: &dyn Transform,
    ) -> Result<Element, EngineError> {
        let Sums { digits, carries } = transform.sums();
        let square = self.root.square(before, carries);
        let two = |(word, shift)| self.root.two_from(word, shift);
        if digits != square.minus(subtracted.map_or(Element::ZERO, two)) {
            return Err(self.wrong());
        }
        self.verified += 1;
        self.since_drawn += 1;
        Ok(digits)
    }

    /// Verifies that x is the residue that the transform has packed. `sum` is the sum over the
    /// digits of that residue. Returns the sum over the digits of x.
    pub(super) fn converted(
        &self,
        x: &[u64],
        sum: Element,
        transform: &dyn Transform,
    ) -> Result<Element, EngineError> {
        let (of_x, excesses) = self.compared(x, transform);
        let carries = [0, 1, -1].into_iter().find_map(|first| self.carries(&excesses, first));
        match carries {
            Some(carries) if of_x == sum.plus(self.root.carried(carries)) => Ok(of_x),
            _ => Err(self.wrong()),
        }
    }

    /// Returns the sum L(u) of the carries that remove the excesses, if `first` is the carry out of
    /// the last word and into word 0; `None` if there are no such carries.
    fn carries(&self, excesses: &[Excess], first: i64) -> Option<Element> {
        let mut excesses = excesses.iter().peekable();
        let (mut carry, mut word, mut sum) = (first, 0, Element::ZERO);
        loop {
            if carry == 0 {
                let Some(next) = excesses.peek() else { break };
                word = next.word;
            }
            if word == self.layout.len() {
                break;
            }
            sum = sum.plus(self.root.factor(word).times(Element::of(carry)));
            let here = excesses.next_if(|next| next.word == word).map_or(0, |next| next.excess);
            let (v, bits) = (here + carry, self.layout.bits(word));
            if v & ((1 << bits) - 1) != 0 {
                return None;
            }
            carry = v >> bits;
            word += 1;
        }
        (carry == first && excesses.peek().is_none()).then_some(sum)
    }

    /// Returns L(x') for the digits x' of the residue x.
    fn sum(&self, x: &[u64]) -> Element {
        let parts = self.parts(|words| sum_of_part(self, x, words));
        parts.into_iter().fold(Element::ZERO, Element::plus)
    }

    /// Returns L(x') for the digits x' of the residue x, and the words in which the digits y of the
    /// transform differ.
    fn compared(&self, x: &[u64], transform: &dyn Transform) -> (Element, Vec<Excess>) {
        let mut all = (Element::ZERO, vec![]);
        for (sum, excesses) in self.parts(|words| compare_part(self, x, transform, words)) {
            all.0 = all.0.plus(sum);
            all.1.extend(excesses);
        }
        all
    }

    /// Returns the sum over the digits x' of the residue x in some words. Calls `each` for the runs of
    /// these words, with the first word of the run and its digits. Digits after the last word of the
    /// residue are 0.
    #[inline(always)]
    fn sum_of(
        &self,
        x: &[u64],
        words: Range<usize>,
        mut each: impl FnMut(usize, &[i32; RUN]),
    ) -> Element {
        let (run, n) = (Run::new(&self.layout, 0), self.layout.len());
        let mut factor = self.root.factor(words.start);
        let mut u = self.layout.weight_numerator(words.start);
        let mut sum = Element::ZERO;
        for first in words.step_by(RUN) {
            let mut digits = run.digits(x, Start::new(&self.layout, first));
            if n - first < RUN {
                digits[n - first..].fill(0);
            }
            each(first, &digits);
            sum = sum.plus(self.of_run.sum(u, n as u64, &digits).times(factor));
            let (next, step) = self.of_run.next;
            u += step;
            let wrapped = u >= n as u64;
            u -= if wrapped { n as u64 } else { 0 };
            factor = factor.times(next[usize::from(wrapped)]);
        }
        sum
    }

    /// Divides the words into a part for each thread, and calls `work` for all parts at the same
    /// time.
    fn parts<T: Send>(&self, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
        let n = self.layout.len();
        let width = n.div_ceil(self.threads.max(1)).next_multiple_of(RUN);
        let ranges = (0..n).step_by(width).map(|first| first..(first + width).min(n));
        std::thread::scope(|scope| {
            let mut ranges = ranges;
            let first = ranges.next();
            let others: Vec<_> = ranges
                .map(|range| {
                    let work = &work;
                    scope.spawn(move || work(range))
                })
                .collect();
            let mut results: Vec<T> = first.into_iter().map(&work).collect();
            for other in others {
                match other.join() {
                    Ok(result) => results.push(result),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            results
        })
    }
}

/// Returns the sum over the digits of the residue x in some words.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
fn sum_of_part(check: &SquareCheck, x: &[u64], words: Range<usize>) -> Element {
    check.sum_of(x, words, |_, _| ())
}

/// Returns the sum over the digits of the residue x in some words, and the words in which the digits
/// of the transform differ.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
fn compare_part(
    check: &SquareCheck,
    x: &[u64],
    transform: &dyn Transform,
    words: Range<usize>,
) -> (Element, Vec<Excess>) {
    let (mut excesses, mut others) = (vec![], [0; RUN]);
    let sum = check.sum_of(x, words, |first, digits| {
        transform.digits(first, &mut others);
        if others != *digits {
            let pairs = others.iter().zip(digits).map(|(&a, &b)| i64::from(a) - i64::from(b));
            let differ = pairs.enumerate().filter(|&(_, excess)| excess != 0);
            excesses.extend(differ.map(|(k, excess)| Excess { word: first + k, excess }));
        }
    });
    (sum, excesses)
}
