//! The walk of numbers by tables, in one thread.
//!
//! T(n) is n/2 for even n and (3n + 1)/2 for odd n.

use super::{Residue, TableMethod, width};

/// The number of table steps after which a number is walked exactly if it is not yet below its
/// start.
pub(crate) const MOST_STEPS: u64 = 10_000;

/// The number of low bits that are ignored when numbers of three 32-bit words and more are
/// compared. Devices store numbers multiplied by four, and ignore their lowest word.
pub(crate) const LOW_BITS: u32 = 30;

impl TableMethod {
    /// Walks the numbers residue + h·2^bits for `count` consecutive values h, the first of which is
    /// `first`. Returns the sum of their table steps. Adds some numbers to `over`: those with a
    /// table step whose result is 2^w or more, where w is [`width`] of `words`, and those not below
    /// their starts after [`MOST_STEPS`] table steps. If the walker has a trap, adds all numbers.
    ///
    /// For each number n, the value T^bits(n) must be below 2^w.
    pub(super) fn walk(
        &self,
        residue: Residue,
        bits: u32,
        (first, count): (u128, u64),
        words: u32,
        over: &mut Vec<u128>,
    ) -> u64 {
        let power = u128::from(self.powers[residue.odd as usize]);
        let mut start = u128::from(residue.low) + (first << bits);
        let mut value = u128::from(residue.value) + first * power;
        let mut steps = 0;
        for _ in 0..count {
            let (taken, below) = match words {
                4 => self.descend::<true>(start, value, width(words), LOW_BITS),
                3 => self.descend::<false>(start, value, width(words), LOW_BITS),
                _ => self.descend::<false>(start, value, width(words), 0),
            };
            steps += taken;
            // With a changed rule only the walker is right.
            if !below || self.options.walker.trap.is_some() {
                over.push(start);
            }
            start = start.wrapping_add(1 << bits);
            value = value.wrapping_add(power);
        }
        steps
    }

    /// Performs table steps from `value`, at most [`MOST_STEPS`]. Stops after a step that ends
    /// below `start` or at a value of at least 2^`width`. Returns the number of steps, and whether
    /// the last step ended below `start`. The comparison with `start` ignores the `without` lowest
    /// bits of both numbers. `WIDE` must be true if values may have more than 96 bits.
    #[inline]
    fn descend<const WIDE: bool>(
        &self,
        start: u128,
        value: u128,
        width: u32,
        without: u32,
    ) -> (u64, bool) {
        let start = start >> without;
        let bits = self.tables.bits();
        let mut n = value;
        for steps in 1..=MOST_STEPS {
            let (b, c) = self.tables.both(n as u32);
            let high = n >> bits;
            if WIDE {
                let next = high.checked_mul(b.into()).and_then(|n| n.checked_add(c.into()));
                let Some(next) = next else { return (steps, false) };
                n = next;
            } else {
                // Below 2^(96 − d)·3^d.
                n = high * u128::from(b) + u128::from(c);
            }
            if n >> width != 0 {
                return (steps, false);
            }
            if n >> without < start {
                return (steps, true);
            }
        }
        (MOST_STEPS, false)
    }
}
