//! The Lucas–Lehmer test (Thall 2011, §1.1): s_(k+1) = s_k² − 2, and M_p is
//! prime exactly when s_(p−2) = 0.

use std::time::Duration;

use super::sequence::{Advance, Sequence};
use super::{LlStart, TestKind};
use crate::checkpoint::State;
use crate::{Engine, EngineError, ErrorCounts, Residue, Shift, Step, Verdict};

const S: usize = 0;

/// s_0, s_1, … mod M_p as far as s_target.
pub(super) struct LucasLehmer {
    p: u32,
    start: LlStart,
    target: u64,
    iteration: u64,
    first_shift: Shift,
}

impl LucasLehmer {
    pub(super) fn new(p: u32, start: LlStart, target: u64) -> Self {
        Self { p, start, target, iteration: 0, first_shift: Shift::ZERO }
    }

    fn shift(&self) -> Shift {
        self.first_shift.after_squarings(self.iteration, self.p)
    }

    /// s_0 mod M_p, p odd.
    fn start_residue(&self) -> Residue {
        let value = |v| Residue::from_u64(self.p, v);
        match self.start {
            LlStart::Four => value(4),
            LlStart::Ten => value(10),
            // For odd p, M_p ≡ 1 mod 3, so 2/3 ≡ (2 + M_p)/3 = (2^p + 1)/3:
            // the bits 1, 3, 5, … below p − 1, and bit 0.
            LlStart::TwoThirds => {
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
    fn registers(&self) -> usize {
        1
    }

    fn first(&self) -> State {
        State {
            kind: TestKind::Ll(self.start),
            exponent: self.p,
            iteration: 0,
            residue: self.start_residue(),
            shift: self.first_shift.bits(),
            elapsed: Duration::ZERO,
            errors: ErrorCounts::default(),
            gerbicz: None,
        }
    }

    fn target(&self) -> u64 {
        self.target
    }

    fn load(&mut self, engine: &mut dyn Engine, state: &State) -> Result<(), EngineError> {
        self.iteration = state.iteration;
        self.first_shift = Shift::new(state.shift, self.p);
        engine.write(S, &state.residue, self.shift())
    }

    fn advance(&mut self, engine: &mut dyn Engine, most: u64) -> Result<Advance, EngineError> {
        let n = most.min(self.target - self.iteration);
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

    fn verdict(&self, last: Residue) -> (Verdict, Residue) {
        let verdict = if self.target < TestKind::Ll(self.start).iterations(self.p) {
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
    use warpint_arith::limbs;

    #[test]
    fn two_thirds_times_three_is_two() {
        for p in [3u32, 5, 31, 61, 63, 65, 67, 127, 129, 191, 193, 521] {
            let x = LucasLehmer::new(p, LlStart::TwoThirds, 1).start_residue();
            let three = Residue::from_u64(p, 3);
            let product = limbs::mul_mod(x.limbs(), three.limbs(), p);
            assert_eq!(product, Residue::from_u64(p, 2).limbs(), "2/3 mod M{p}");
        }
    }
}
