//! Arithmetic modulo M_p = 2^p − 1 with GMP. Its results are the expected results of engines.

use rug::Integer;
use rug::integer::Order;
use warpint_mersenne::{LlStart, Residue, Shift, Step};

/// Returns M_p = 2^p − 1.
#[must_use]
pub fn mersenne(p: u32) -> Integer {
    (Integer::from(1) << p) - 1
}

/// Returns a residue modulo M_p as an integer from 0 to M_p − 1.
#[must_use]
pub fn integer(x: &Residue) -> Integer {
    Integer::from_digits(x.limbs(), Order::Lsf)
}

/// Returns the residue x mod M_p, computed by GMP's division.
#[must_use]
pub fn residue(x: &Integer, p: u32) -> Residue {
    let canonical = x.clone().modulo(&mersenne(p));
    Residue::from_limbs(p, &canonical.to_digits(Order::Lsf))
}

/// The ring of integers modulo M_p = 2^p − 1, with M_p computed once.
pub struct Ring {
    p: u32,
    modulus: Integer,
}

impl Ring {
    /// Creates the ring of integers modulo M_p = 2^p − 1.
    #[must_use]
    pub fn new(p: u32) -> Self {
        Self { p, modulus: mersenne(p) }
    }

    /// Returns x mod M_p for x ≥ 0. Adds the digits of x in base 2^p, because 2^p ≡ 1.
    #[must_use]
    pub fn reduce(&self, mut x: Integer) -> Integer {
        while x.significant_bits() > self.p {
            let high = Integer::from(&x >> self.p);
            x.keep_bits_mut(self.p);
            x += high;
        }
        if x == self.modulus { Integer::new() } else { x }
    }

    /// Applies `step` n times to a residue r that is stored in shifted form, as
    /// x = r·2^shift mod M_p. Returns the result in shifted form. The shift doubles modulo p at
    /// every step.
    #[must_use]
    pub fn square(&self, mut x: Integer, n: u64, step: Step, shift: Shift) -> Integer {
        let mut s = shift;
        for _ in 0..n {
            s = s.after_squarings(1, self.p);
            x.square_mut();
            match step {
                Step::Square => {}
                Step::SquareMinusTwo => {
                    // 2·2^s is subtracted, with enough multiples of M_p added to stay positive.
                    x += Integer::from(&self.modulus << 2);
                    x -= Integer::from(2) << s.bits();
                }
                Step::SquareTimes(m) => x *= m,
            }
            x = self.reduce(x);
        }
        x
    }

    /// Returns s_n of the Lucas–Lehmer sequence modulo M_p with the given start. Panics if
    /// s_0 = 2/3 and p is even, because 3 then has no inverse.
    #[must_use]
    pub fn ll_residue(&self, start: LlStart, n: u64) -> Residue {
        let s_0 = match start {
            LlStart::Four => Integer::from(4),
            LlStart::Ten => Integer::from(10),
            LlStart::TwoThirds => 2 * self.inverse(3),
        };
        let s_0 = s_0.modulo(&self.modulus);
        self.to_residue(&self.square(s_0, n, Step::SquareMinusTwo, Shift::ZERO))
    }

    /// Returns 3^(M_p − 1) mod M_p by GMP's modular power. This is independent of
    /// [`Self::prp_residue`], which uses squarings and a division by 9.
    #[must_use]
    pub fn fermat_residue(&self) -> Residue {
        let exponent = Integer::from(&self.modulus - 1);
        let power = Integer::from(3).pow_mod(&exponent, &self.modulus);
        self.to_residue(&power.unwrap_or_default())
    }

    /// Returns 3^(M_p − 1) mod M_p, computed as 3^(2^p)/9. This costs a third less than
    /// [`Self::fermat_residue`]. Panics if p is even, because 9 then has no inverse.
    #[must_use]
    pub fn prp_residue(&self) -> Residue {
        let three = Integer::from(3).modulo(&self.modulus);
        let power = self.square(three, u64::from(self.p), Step::Square, Shift::ZERO);
        self.to_residue(&(power * self.inverse(9)))
    }

    /// Returns d^(−1) mod M_p.
    ///
    /// # Panics
    /// Panics if d has no inverse modulo M_p.
    fn inverse(&self, d: u32) -> Integer {
        let inverse = Integer::from(d).invert(&self.modulus);
        assert!(inverse.is_ok(), "{d} has no inverse mod M{}", self.p);
        inverse.unwrap_or_default()
    }

    fn to_residue(&self, x: &Integer) -> Residue {
        residue(x, self.p)
    }
}
