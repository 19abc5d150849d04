//! Vectors of `f64` on any processor.

use super::{F64s, Kernel, Level, U64s};

const LANES: usize = 4;

/// Four numbers of type `f64`. The compiler chooses the instructions.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(align(32))]
pub struct PortableF64s([f64; LANES]);

impl PortableF64s {
    #[inline(always)]
    fn with(self, b: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        Self(std::array::from_fn(|i| f(self.0[i], b.0[i])))
    }
}

impl F64s for PortableF64s {
    const LANES: usize = LANES;
    const LEVEL: Level = Level::Portable;
    type Instructions = ();
    type Mask = [bool; LANES];
    type Integers = PortableU64s;

    #[inline(always)]
    fn instructions() -> Option<()> {
        Some(())
    }

    fn enter<K: Kernel>((): (), kernel: K) -> K::Output {
        kernel.run::<Self>(())
    }

    #[inline(always)]
    fn splat((): (), x: f64) -> Self {
        Self([x; LANES])
    }

    #[inline(always)]
    unsafe fn load((): (), from: *const f64) -> Self {
        // SAFETY: the caller guarantees that `from` is valid for reading `LANES` numbers and
        // aligned for `f64`. An array has the alignment of its entries.
        Self(unsafe { from.cast::<[f64; LANES]>().read() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: the caller guarantees that `to` is valid for writing `LANES` numbers and aligned
        // for `f64`. An array has the alignment of its entries.
        unsafe { to.cast::<[f64; LANES]>().write(self.0) }
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        self.with(b, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        self.with(b, |a, b| a - b)
    }

    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        self.with(b, |a, b| a * b)
    }

    // Without instructions for it, a·b + c takes four calls of a function, far slower than the call
    // of this one. If it were inlined, these calls would fill most of the program and of the time to
    // compile it.
    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i].mul_add(b.0[i], c.0[i])))
    }

    #[inline(always)]
    fn mul_sub(self, b: Self, c: Self) -> Self {
        self.mul_add(b, c.neg())
    }

    #[inline(always)]
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        self.neg().mul_add(b, c)
    }

    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0.map(|a| -a))
    }

    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0.map(f64::abs))
    }

    #[inline(always)]
    fn max(self, b: Self) -> Self {
        self.with(b, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn xor(self, b: Self) -> Self {
        self.with(b, |a, b| f64::from_bits(a.to_bits() ^ b.to_bits()))
    }

    #[inline(always)]
    fn or(self, b: Self) -> Self {
        self.with(b, |a, b| f64::from_bits(a.to_bits() | b.to_bits()))
    }

    #[inline(always)]
    fn at_least(self, b: Self) -> [bool; LANES] {
        std::array::from_fn(|i| self.0[i] >= b.0[i])
    }

    #[inline(always)]
    fn select(mask: [bool; LANES], yes: Self, no: Self) -> Self {
        Self(std::array::from_fn(|i| if mask[i] { yes.0[i] } else { no.0[i] }))
    }

    #[inline(always)]
    fn to_bits(self) -> PortableU64s {
        PortableU64s(self.0.map(f64::to_bits))
    }

    #[inline(always)]
    fn from_bits(bits: PortableU64s) -> Self {
        Self(bits.0.map(f64::from_bits))
    }

    #[inline(always)]
    fn reverse(self) -> Self {
        let [a, b, c, d] = self.0;
        Self([d, c, b, a])
    }

    #[inline(always)]
    fn interleave(self, b: Self) -> [Self; 2] {
        let (a, b) = (self.0, b.0);
        [Self([a[0], b[0], a[1], b[1]]), Self([a[2], b[2], a[3], b[3]])]
    }

    #[inline(always)]
    fn deinterleave(self, b: Self) -> [Self; 2] {
        let (a, b) = (self.0, b.0);
        [Self([a[0], a[2], b[0], b[2]]), Self([a[1], a[3], b[1], b[3]])]
    }

    #[inline(always)]
    fn transpose(square: &mut [Self]) {
        assert_eq!(square.len(), LANES, "the matrix is not square");
        for i in 0..LANES {
            for j in 0..i {
                (square[i].0[j], square[j].0[i]) = (square[j].0[i], square[i].0[j]);
            }
        }
    }
}

/// Four integers of 64 bits. The compiler chooses the instructions.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
pub struct PortableU64s([u64; LANES]);

impl PortableU64s {
    #[inline(always)]
    fn with(self, b: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|i| f(self.0[i], b.0[i])))
    }
}

impl U64s for PortableU64s {
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        self.with(b, u64::wrapping_add)
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        self.with(b, u64::wrapping_sub)
    }

    #[inline(always)]
    fn mul_low(self, b: Self) -> Self {
        self.with(b, |a, b| (a & 0xffff_ffff) * (b & 0xffff_ffff))
    }

    #[inline(always)]
    fn mul_low_signed(self, b: Self) -> Self {
        self.with(b, |a, b| (i64::from(a as i32) * i64::from(b as i32)) as u64)
    }

    #[inline(always)]
    fn and(self, b: Self) -> Self {
        self.with(b, |a, b| a & b)
    }

    #[inline(always)]
    fn or(self, b: Self) -> Self {
        self.with(b, |a, b| a | b)
    }

    #[inline(always)]
    fn xor(self, b: Self) -> Self {
        self.with(b, |a, b| a ^ b)
    }

    #[inline(always)]
    fn shift_left<const K: u32>(self) -> Self {
        Self(self.0.map(|a| a << K))
    }

    #[inline(always)]
    fn shift_right<const K: u32>(self) -> Self {
        Self(self.0.map(|a| a >> K))
    }

    #[inline(always)]
    fn shift_left_each(self, counts: Self) -> Self {
        self.with(counts, |a, k| a << (k & 63))
    }

    #[inline(always)]
    fn shift_right_each(self, counts: Self) -> Self {
        self.with(counts, |a, k| a >> (k & 63))
    }
}
