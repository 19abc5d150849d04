//! The Lucas–Lehmer test (Thall 2011, §1.1): s_(k+1) = s_k² − 2, and M_p is prime exactly when
//! s_(p−2) = 0. The test of Riesel (`riesel`) computes the same sequence modulo k·2^n − 1 from another
//! start, and ends at s_(n−2).
//!
//! A defective machine that returns only zeros would seem to prove every number prime. So a final
//! residue of 0 is not accepted without further evidence. s_(p−2) = 0 means s_(p−3)² ≡ 2 ≡ 2^(p+1).
//! If M_p is prime, this equation has exactly the two roots s_(p−3) = ±2^((p+1)/2). The residue
//! s_(p−3) is read and must be one of these roots. If it is, then s_(p−2) = 2^(p+1) − 2 = 0 by
//! arithmetic alone, whatever the machine computed. In a Riesel test, the host squares s_(n−3) and
//! compares the square with 2.
//!
//! The start 2/3 and the terms after it have patterns. With s_k = m/3^(2^k), the bits of s_k repeat
//! after 2·3^(2^k − 1) places: 2, 6, 54, 4,374, 28,697,814 and 1.2·10^15 for k = 0 to 5. So words of
//! the squares add up coherently: those of s_0² reach 0.22·N·4^(p/N) in N words, where words of random
//! digits have the root mean square 0.18·√N·4^(p/N). The round-off grows in proportion, as do the
//! carries. Engines with a statistical margin cannot square these terms at their usual lengths. So the
//! first five terms after 2/3 are computed on the host, before the engine begins.

use std::borrow::Cow;
use std::time::Duration;

use warpint_natural::limbs;
use warpint_natural::product::{FastProducts, Products};

use super::sequence::{Advance, Sequence};
use super::{LlStart, TestKind};
use crate::checkpoint::{Confirmation, State};
use crate::number::Modulus;
use crate::{Check, Engine, EngineError, ErrorCounts, Number, Residue, Shift, Step, Verdict};

const S: usize = 0;

/// The number of terms from s_0 = 2/3 on whose bits have a pattern.
const PATTERNS: u64 = 5;

/// The least exponent for which terms with a pattern are computed on the host. For smaller exponents,
/// the lengths of engines have at most 1,024 words, and are safe for all digits.
const LEAST_WITH_PATTERNS: u32 = 10_000;

/// The sequence s_(k+1) = s_k² − 2 mod N up to s_target, for N = M_p or N = k·2^n − 1.
#[derive(Clone)]
pub(super) struct LucasLehmer {
    number: Number,
    /// The exponent of the number.
    p: u32,
    start: Start,
    target: u64,
    iteration: u64,
    first_shift: Shift,
    /// The residue before the last, s_(p−3), once the sequence has reached it.
    penultimate: Option<Residue>,
}

/// The first term of the sequence.
#[derive(Clone)]
enum Start {
    Ll(LlStart),
    /// The first term of a Riesel test.
    Riesel(Residue),
}

impl LucasLehmer {
    pub(super) fn new(p: u32, start: LlStart, target: u64) -> Self {
        Self::from(p.into(), Start::Ll(start), target)
    }

    /// Creates the sequence of a Riesel test from its first term.
    pub(super) fn riesel(first: Residue, target: u64) -> Self {
        Self::from(first.number(), Start::Riesel(first), target)
    }

    fn from(number: Number, start: Start, target: u64) -> Self {
        let (p, first_shift) = (number.exponent(), Shift::ZERO);
        Self { number, p, start, target, iteration: 0, first_shift, penultimate: None }
    }

    fn kind(&self) -> TestKind {
        match &self.start {
            Start::Ll(start) => TestKind::Ll(*start),
            Start::Riesel(_) => TestKind::Riesel,
        }
    }

    /// Sets the shift, in bits, of the first term s_0.
    pub(super) fn shifted(mut self, shift: u32) -> Self {
        self.first_shift = Shift::new(shift, self.p);
        self
    }

    /// Returns the number of iterations of a whole test.
    fn end(&self) -> u64 {
        self.kind().iterations(self.number)
    }

    /// Returns whether the residue before the last is known and a square root of 2: s_(p−3) is
    /// ±2^((p+1)/2), or the host computes s_(n−3)² = 2. If so, the last residue is 0 by arithmetic
    /// alone.
    fn is_proven(&self) -> bool {
        if !self.number.is_mersenne() {
            let modulus = Modulus::new(self.number, &FastProducts);
            let square = |s: &Residue| modulus.mul(&FastProducts, s.limbs(), s.limbs());
            let two = Residue::from_u64(self.number, 2);
            return self.penultimate.as_ref().is_some_and(|s| square(s) == two.limbs());
        }
        let root = Residue::from_u64(self.p, 1).rotated_left(self.p.div_ceil(2));
        let zero = Residue::from_u64(self.p, 0);
        let minus_root = limbs::sub_mod(zero.limbs(), root.limbs(), self.p);
        self.penultimate.as_ref().is_some_and(|s| *s == root || s.limbs() == minus_root)
    }

    fn shift(&self) -> Shift {
        self.first_shift.after_squarings(self.iteration, self.p)
    }

    /// Returns whether the bits of the present term have a pattern, and another term is wanted.
    fn has_pattern(&self) -> bool {
        matches!(self.start, Start::Ll(LlStart::TwoThirds))
            && self.p >= LEAST_WITH_PATTERNS
            && self.iteration < PATTERNS.min(self.target)
    }

    /// Returns the first term s_0 of the sequence. p must be odd.
    fn start_residue(&self) -> Residue {
        let value = |v| Residue::from_u64(self.p, v);
        match &self.start {
            Start::Riesel(first) => first.clone(),
            Start::Ll(LlStart::Four) => value(4),
            Start::Ll(LlStart::Ten) => value(10),
            // For odd p, M_p ≡ 1 mod 3, so 2/3 ≡ (2 + M_p)/3 = (2^p + 1)/3. Its set bits are bit 0
            // and the odd bits 1, 3, 5, … below p − 1.
            Start::Ll(LlStart::TwoThirds) => {
                let n = (self.p as usize).div_ceil(64);
                let mut limbs = vec![0xaaaa_aaaa_aaaa_aaaa_u64; n];
                limbs[0] += 1;
                let top = self.p - 1;
                limbs[n - 1] &= (1u64 << (top % 64)) - 1;
                Residue::from_limbs(self.p, &limbs)
            }
        }
    }
}

impl Sequence for LucasLehmer {
    fn check(&self) -> Check {
        Check::Jacobi
    }

    fn registers(&self) -> usize {
        1
    }

    fn step(&self) -> Step {
        Step::SquareMinusTwo
    }

    fn first(&self) -> State {
        State {
            kind: self.kind(),
            iteration: 0,
            residue: self.start_residue(),
            shift: self.first_shift.bits(),
            elapsed: Duration::ZERO,
            errors: ErrorCounts::default(),
            least_length: None,
            confirmed: Confirmation::No,
            gerbicz: None,
            lucas: None,
        }
    }

    fn target(&self) -> u64 {
        self.target
    }

    fn load(&mut self, engine: &mut dyn Engine, state: &State) -> Result<(), EngineError> {
        self.iteration = state.iteration;
        self.penultimate = None;
        self.first_shift = Shift::new(state.shift, self.p);
        let (mut residue, mut products) = (Cow::Borrowed(&state.residue), Products::default());
        while self.has_pattern() {
            let two = Residue::from_u64(self.p, 2);
            let mut square = vec![0; 2 * residue.limbs().len()];
            products.square(&mut square, residue.limbs());
            let next = limbs::sub_mod(&limbs::reduce(&square, self.p), two.limbs(), self.p);
            residue = Cow::Owned(Residue::from_limbs(self.p, &next));
            self.iteration += 1;
        }
        engine.write(S, &residue, self.shift())
    }

    fn advance(&mut self, engine: &mut dyn Engine, most: u64) -> Result<Advance, EngineError> {
        let last_step = self.end().saturating_sub(1);
        if self.iteration == last_step {
            self.penultimate = Some(engine.read(S, self.shift())?);
        }
        let stop = if self.iteration < last_step { last_step } else { self.end() };
        let n = most.min(stop.min(self.target) - self.iteration);
        engine.square(S, n, Step::SquareMinusTwo, self.shift())?;
        self.iteration += n;
        if self.iteration == self.target {
            return Ok(Advance::Finished(engine.read(S, self.shift())?));
        }
        Ok(Advance::Going)
    }

    fn iteration(&self) -> u64 {
        self.iteration
    }

    fn snapshot(&self, engine: &mut dyn Engine) -> Result<State, EngineError> {
        let residue = engine.read(S, self.shift())?;
        Ok(State {
            iteration: self.iteration,
            residue,
            shift: self.first_shift.bits(),
            ..self.first()
        })
    }

    fn verified(&self) -> Option<State> {
        None
    }

    /// Returns whether the residue at this iteration shows an error. If a defective machine gives
    /// 0, the next terms are −2, 2, 2, …. So for p ≥ 13 the values 2 and −2 count as errors at
    /// every iteration after the start, and 0 counts as an error before the end of the test. At the
    /// end, 0 counts as an error unless the residue before it is a square root of 2.
    ///
    /// In a Riesel test, these values can occur at step j without an error only if N is composite and,
    /// for every prime factor q of N, the order of α modulo q divides k·2^(j+2); 639 = 9·71 is an
    /// example. So they count as errors only if N has more than 64 bits. A test of a longer N with this
    /// property would end with an error, not with a verdict.
    fn impossible(&self, iteration: u64, residue: &Residue) -> bool {
        // For smaller exponents the sequence can take these values without an error.
        const SMALLEST: u32 = 13;
        if residue.is(0) && iteration == self.end() {
            return !self.is_proven();
        }
        let is_end = |x: &Residue| x.is(0) || x.is(2) || x.is_minus(2);
        match &self.start {
            Start::Ll(_) => self.p >= SMALLEST && iteration > 0 && is_end(residue),
            Start::Riesel(_) => self.number.bits() > 64 && iteration > 0 && is_end(residue),
        }
    }

    fn verdict(&self, last: Residue) -> (Verdict, Residue) {
        let verdict = if self.target < self.end() {
            Verdict::Interim
        } else if last.is(0) {
            Verdict::Prime
        } else {
            Verdict::Composite
        };
        (verdict, last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{BuildOptions, EngineFamily, fp64::Fp64};
    use crate::{Exponent, Plan};

    #[test]
    fn no_sequence_of_a_small_exponent_is_called_impossible() {
        use warpint_arith::primes::{mul_mod, primes_between};
        for p in primes_between(3, 61) {
            let p = p as u32;
            let m = (1u64 << p) - 1;
            for start in [LlStart::Four, LlStart::Ten, LlStart::TwoThirds] {
                let mut ll = LucasLehmer::new(p, start, u64::from(p) - 2);
                let mut s = ll.start_residue().res64();
                while ll.iteration < ll.target {
                    ll.penultimate = Some(Residue::from_u64(p, s));
                    s = (mul_mod(s, s, m) + m - 2) % m;
                    ll.iteration += 1;
                    let residue = Residue::from_u64(p, s);
                    assert!(
                        !ll.impossible(ll.iteration, &residue),
                        "s_{} of M{p} from {start:?}",
                        ll.iteration
                    );
                }
                for broken in [2, m - 2] {
                    let broken = Residue::from_u64(p, broken);
                    assert_eq!(ll.impossible(1, &broken), p >= 13);
                }
            }
        }
    }

    #[test]
    fn two_thirds_times_three_is_two() {
        for p in [3u32, 5, 31, 61, 63, 65, 67, 127, 129, 191, 193, 521] {
            let x = LucasLehmer::new(p, LlStart::TwoThirds, 1).start_residue();
            let three = Residue::from_u64(p, 3);
            let product = limbs::mul_mod(x.limbs(), three.limbs(), p);
            assert_eq!(product, Residue::from_u64(p, 2).limbs(), "2/3 mod M{p}");
        }
    }

    #[test]
    fn terms_with_a_pattern_are_not_squared_by_the_engine() {
        let square = |x: &Residue| {
            let two = Residue::from_u64(x.exponent(), 2);
            let square = limbs::mul_mod(x.limbs(), x.limbs(), x.exponent());
            Residue::from_limbs(x.exponent(), &limbs::sub_mod(&square, two.limbs(), x.exponent()))
        };
        for (p, start, target, loaded_at) in [
            (86_243, LlStart::TwoThirds, 86_241, PATTERNS),
            (86_243, LlStart::TwoThirds, 3, 3),
            (86_243, LlStart::Four, 86_241, 0),
            (LEAST_WITH_PATTERNS - 1, LlStart::TwoThirds, 5_000, 0),
        ] {
            let mut ll = LucasLehmer::new(p, start, target).shifted(77);
            let plan =
                Plan::of_family(Exponent::new(86_243).unwrap(), &Fp64, None, Some(1)).unwrap();
            let length = if p == 86_243 { plan.length() } else { 1_024 };
            let mut engine = Fp64.build(p, length, BuildOptions::new(1, 1)).unwrap();
            let first = ll.first();
            ll.load(engine.as_mut(), &first).unwrap();
            assert_eq!(ll.iteration(), loaded_at);
            let expected = (0..loaded_at).fold(ll.start_residue(), |s, _| square(&s));
            let state = ll.snapshot(engine.as_mut()).unwrap();
            assert_eq!((state.residue, state.iteration), (expected.clone(), loaded_at));
            if loaded_at == PATTERNS {
                // All further squarings have the round-off of random digits.
                engine.square(0, 20, Step::SquareMinusTwo, ll.shift()).unwrap();
                assert!(engine.health().round_off.unwrap().max < 0.3);
                // A state in between also goes on after the last pattern.
                let between =
                    State { iteration: 2, residue: square(&square(&ll.start_residue())), ..first };
                ll.load(engine.as_mut(), &between).unwrap();
                assert_eq!(ll.snapshot(engine.as_mut()).unwrap().residue, expected);
                // The engine itself refuses the first squaring.
                engine.write(0, &ll.start_residue(), Shift::ZERO).unwrap();
                let refused = engine.square(0, 1, Step::SquareMinusTwo, Shift::ZERO);
                assert!(matches!(refused, Err(EngineError::RoundOff { .. })), "{refused:?}");
            }
        }
    }
}
