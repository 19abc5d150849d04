//! The sign of a Jacobi symbol during Euclid's algorithm. In a symbol (a | b), a is called the
//! number above the bar, and b the number below the bar.
//!
//! Only a mod 4, b mod 4 and the partial quotients mod 4 are needed (Möller 2019, *Efficient
//! computation of the Jacobi symbol*, arXiv:1907.07795). In the following laws, a and b are natural
//! numbers, the number below each bar is odd, and a − q·b is positive:
//!
//! 1. (a − q·b | b) = (a | b).
//! 2. (b | a) = (a | b)·(−1)^((a−1)/2·(b−1)/2) if both are odd: the sign changes if
//!    a ≡ b ≡ 3 mod 4. If a is below the bar and is to be reduced by an odd b, law 2 first moves it
//!    above the bar. Then law 1 applies.
//! 3. (b | a − q·b) = (b | a) if b ≡ 0 mod 4. Proof: let b = 2^k·b' with b' odd. Both (2 | a)^k and
//!    (b' | a) depend only on a mod b; for (b' | a), this follows from law 2.
//! 4. (b | a − q·b) = (b | a)·(−1)^t if b ≡ 2 mod 4, where t is the number of terms of a, a − b, …,
//!    a − (q−1)·b that are 3 mod 4. Proof for q = 1: let b = 2b' with b' odd. By law 2,
//!    (b' | a)(b' | a − b) = (−1)^((b'−1)/2). The product of this sign and (2 | a)(2 | a − b) is −1
//!    if and only if a ≡ 3 mod 4. As b ≡ 2, the terms alternate between 3 and 1 mod 4. So t = ⌈q/2⌉
//!    if a ≡ 3 and t = ⌊q/2⌋ if a ≡ 1.
//!
//! If a and b are not coprime, all these symbols are 0.

use super::lehmer::Quotients;

/// The state of the computation of a Jacobi symbol by Euclid's algorithm. The symbol to be computed
/// equals ± (a | b) or ± (b | a) for the current numbers a and b.
///
/// Bits 0–1 are a mod 4. Bits 2–3 are b mod 4. Bit 4 is set if a is below the bar, as in (b | a).
/// Bit 5 is set if the sign is −.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Symbol(u8);

const A_BELOW: u8 = 1 << 4;
const NEGATIVE: u8 = 1 << 5;
const STATES: usize = 1 << 6;

/// The table of the next states. The state that follows `state` after a step with quotient q is at
/// index (state·2 + side)·4 + (q mod 4), where side is 0 for the step a ← a − q·b, and 1 for the
/// step b ← b − q·a.
static NEXT: [u8; STATES * 8] = table();

impl Symbol {
    /// Returns the initial state for the symbol (a | b) with odd b.
    pub(super) fn new(a: &[u64], b: &[u64]) -> Self {
        let low = |x: &[u64]| (x.first().copied().unwrap_or(0) & 3) as u8;
        Self(low(a) | low(b) << 2)
    }

    /// Returns the value of the symbol, 1 or −1, at the end of the algorithm, when a = b = 1.
    pub(super) fn of_units(self) -> i8 {
        if self.0 & NEGATIVE == 0 { 1 } else { -1 }
    }
}

impl Quotients for Symbol {
    #[inline(always)]
    fn reduce_a(&mut self, q: u64) {
        self.0 = NEXT[usize::from(self.0 & 63) * 8 + (q & 3) as usize];
    }

    #[inline(always)]
    fn reduce_b(&mut self, q: u64) {
        self.0 = NEXT[usize::from(self.0 & 63) * 8 + 4 + (q & 3) as usize];
    }
}

const fn table() -> [u8; STATES * 8] {
    let mut table = [0; STATES * 8];
    let mut i = 0;
    while i < table.len() {
        table[i] = next((i / 8) as u8, i / 4 % 2 == 1, (i % 4) as u8);
        i += 1;
    }
    table
}

/// Returns the state that follows `state`. The step is a ← a − q·b if `side` is false, and
/// b ← b − q·a if `side` is true. `q` is the quotient mod 4.
const fn next(state: u8, side: bool, q: u8) -> u8 {
    let (a, b) = (state & 3, state >> 2 & 3);
    let (x, y) = if side { (b, a) } else { (a, b) };
    let mut x_below = (state & A_BELOW != 0) != side;
    let mut negative = state & NEGATIVE != 0;
    if x_below {
        if y % 2 == 1 {
            negative ^= x == 3 && y == 3;
            x_below = false;
        } else if y == 2 {
            negative ^= (q + (x == 3) as u8) / 2 % 2 == 1;
        }
    }
    let x = (x + 4 * 4 - q * y) % 4;
    let (a, b) = if side { (y, x) } else { (x, y) };
    let a_below = x_below != side;
    a | b << 2 | if a_below { A_BELOW } else { 0 } | if negative { NEGATIVE } else { 0 }
}
