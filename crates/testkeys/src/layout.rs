//! Which primes each modulus has, and on which line it stands.

use std::collections::TryReserveError;

use rand::Rng;
use serde::Serialize;

use crate::primes::{Shape, stream};
use crate::{Request, TestKeysError};

/// The kind of a planted weakness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Two moduli share a prime.
    SharedPrime,
    /// Three moduli share their primes in a ring.
    Ring,
    /// A modulus stands on two lines.
    Duplicate,
    /// The second prime of a modulus is the next probable prime after the first.
    ClosePrimes,
    /// A modulus is 2·p·r.
    Even,
}

/// A planted weakness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planted {
    /// The kind of the weakness.
    pub kind: Kind,
    /// The positions of the weak moduli, counted from 0 in the order of the file, ascending.
    pub positions: Vec<usize>,
    /// The indices of the primes that a finding reveals: the shared prime, the three primes of a
    /// ring, or both odd primes of a single modulus. A duplicate reveals none.
    pub primes: Vec<usize>,
}

/// The primes and the order of the moduli of a request. Primes are numbered from 0: first the smaller
/// of close primes, then the shorter primes of even moduli, then all others, and last the larger of
/// close primes.
#[derive(Debug, Clone)]
pub struct Layout {
    close: usize,
    even: usize,
    /// The number of primes that are drawn. The larger ones of close primes follow them.
    drawn: usize,
    /// The indices of the two primes of each modulus, in the order of the file.
    factors: Vec<[usize; 2]>,
    planted: Vec<Planted>,
}

impl Layout {
    /// Lays out the moduli of a request. Memory: 16 bytes for each modulus, and 8 more while they are
    /// shuffled.
    ///
    /// # Errors
    /// The errors of [`Request::sound`]; [`TestKeysError::Memory`].
    pub fn new(request: &Request) -> Result<Self, TestKeysError> {
        let sound = request.sound()? as usize;
        let reserved = |_| TestKeysError::Memory { needed: request.memory() };
        let (close, even) = (request.close as usize, request.even as usize);
        let mut drawn = close + even;
        let mut next = || {
            drawn += 1;
            drawn - 1
        };
        let mut factors: Vec<[usize; 2]> = vec![];
        factors.try_reserve_exact(request.count as usize).map_err(reserved)?;
        let mut planted = vec![];
        let mut plant = |kind, new: &[[usize; 2]], primes: &[usize]| {
            let positions = (factors.len()..factors.len() + new.len()).collect();
            factors.extend(new);
            planted.push(Planted { kind, positions, primes: primes.to_vec() });
        };
        for _ in 0..request.weak_pairs {
            let [p, q, r] = [next(), next(), next()];
            plant(Kind::SharedPrime, &[[p, q], [p, r]], &[p]);
        }
        for _ in 0..request.rings {
            let [p, q, r] = [next(), next(), next()];
            plant(Kind::Ring, &[[p, q], [q, r], [r, p]], &[p, q, r]);
        }
        for _ in 0..request.duplicates {
            let pair = [next(), next()];
            plant(Kind::Duplicate, &[pair, pair], &[]);
        }
        for i in 0..even {
            let pair = [next(), close + i];
            plant(Kind::Even, &[pair], &pair);
        }
        // The primes of sound moduli are drawn before those that follow others.
        let first = drawn;
        drawn += 2 * sound;
        for i in 0..close {
            let pair = [i, drawn + i];
            let positions = vec![factors.len()];
            factors.push(pair);
            planted.push(Planted { kind: Kind::ClosePrimes, positions, primes: pair.to_vec() });
        }
        factors.extend((0..sound).map(|i| [first + 2 * i, first + 2 * i + 1]));
        let mut layout = Self { close, even, drawn, factors, planted };
        layout.shuffle(request.seed).map_err(reserved)?;
        Ok(layout)
    }

    /// Puts the moduli in a random order (Fisher and Yates; Knuth 1997, *The Art of Computer
    /// Programming* 2, §3.4.2, algorithm P).
    fn shuffle(&mut self, seed: u64) -> Result<(), TryReserveError> {
        let mut rng = stream(seed, u64::MAX);
        let count = self.factors.len();
        // The old position of the modulus at each new position, and the other way round. Positions are
        // below 2^30.
        let (mut old, mut new) = (vec![], vec![]);
        old.try_reserve_exact(count)?;
        new.try_reserve_exact(count)?;
        old.extend(0..count as u32);
        for i in (1..count).rev() {
            // Below i + 1. Its deviation from the uniform distribution is below 2^-33.
            let j = (u128::from(rng.next_u64()) * (i as u128 + 1)) >> 64;
            old.swap(i, j as usize);
            self.factors.swap(i, j as usize);
        }
        new.resize(count, 0u32);
        for (position, &old) in (0..).zip(&old) {
            new[old as usize] = position;
        }
        for Planted { positions, .. } in &mut self.planted {
            for position in &mut *positions {
                *position = new[*position] as usize;
            }
            positions.sort_unstable();
        }
        self.planted.sort_by_key(|planted| planted.positions[0]);
        Ok(())
    }

    /// Returns the number of all primes.
    #[must_use]
    pub fn primes(&self) -> usize {
        self.drawn + self.close
    }

    /// Returns the number of primes that are drawn. The primes from this index on follow other
    /// primes: prime `drawn` + i is the next one after prime i.
    pub(crate) fn drawn(&self) -> usize {
        self.drawn
    }

    /// Returns the shape of drawn prime i.
    pub(crate) fn shape(&self, i: usize) -> Shape {
        match i {
            i if i < self.close => Shape::Low,
            i if self.is_short(i) => Shape::Short,
            _ => Shape::Usual,
        }
    }

    /// Returns whether prime i has one bit less than the others, because its double is a factor of
    /// an even modulus.
    pub(crate) fn is_short(&self, i: usize) -> bool {
        (self.close..self.close + self.even).contains(&i)
    }

    /// Returns the indices of the two primes of each modulus, in the order of the file.
    #[must_use]
    pub fn factors(&self) -> &[[usize; 2]] {
        &self.factors
    }

    /// Returns the planted weaknesses, in the order of their first moduli.
    #[must_use]
    pub fn planted(&self) -> &[Planted] {
        &self.planted
    }
}
