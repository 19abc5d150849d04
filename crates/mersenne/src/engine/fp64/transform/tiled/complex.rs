//! Vectors of complex numbers, with real and imaginary parts in separate vectors.

use warpint_arith::simd::F64s;

/// A vector of complex numbers, one in each lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct C64s<V> {
    pub(crate) re: V,
    pub(crate) im: V,
}

impl<V: F64s> C64s<V> {
    /// Returns z in every lane; z is given as its real and imaginary part.
    #[inline(always)]
    pub(crate) fn splat(i: V::Instructions, [re, im]: [f64; 2]) -> Self {
        Self { re: V::splat(i, re), im: V::splat(i, im) }
    }

    /// Loads the real parts at `at` and the imaginary parts at `at` + `imaginary`.
    ///
    /// # Safety
    /// Both addresses must be valid for reading a vector.
    #[inline(always)]
    pub(crate) unsafe fn load(i: V::Instructions, at: *const f64, imaginary: usize) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self { re: V::load(i, at), im: V::load(i, at.add(imaginary)) } }
    }

    /// Stores the real parts at `at` and the imaginary parts at `at` + `imaginary`.
    ///
    /// # Safety
    /// Both addresses must be valid for writing a vector.
    #[inline(always)]
    pub(crate) unsafe fn store(self, at: *mut f64, imaginary: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            self.re.store(at);
            self.im.store(at.add(imaginary));
        }
    }

    /// Returns z + b, with z = `self`.
    #[inline(always)]
    pub(crate) fn add(self, b: Self) -> Self {
        Self { re: self.re.add(b.re), im: self.im.add(b.im) }
    }

    /// Returns z − b, with z = `self`.
    #[inline(always)]
    pub(crate) fn sub(self, b: Self) -> Self {
        Self { re: self.re.sub(b.re), im: self.im.sub(b.im) }
    }

    /// Returns z + i·b, with z = `self`.
    #[inline(always)]
    pub(crate) fn add_i(self, b: Self) -> Self {
        Self { re: self.re.sub(b.im), im: self.im.add(b.re) }
    }

    /// Returns z − i·b, with z = `self`.
    #[inline(always)]
    pub(crate) fn sub_i(self, b: Self) -> Self {
        Self { re: self.re.add(b.im), im: self.im.sub(b.re) }
    }

    /// Returns z + s·b for real numbers s, with z = `self`.
    #[inline(always)]
    pub(crate) fn add_scaled(self, s: V, b: Self) -> Self {
        Self { re: s.mul_add(b.re, self.re), im: s.mul_add(b.im, self.im) }
    }

    /// Returns s·z for real numbers s, with z = `self`.
    #[inline(always)]
    pub(crate) fn scaled(self, s: V) -> Self {
        Self { re: self.re.mul(s), im: self.im.mul(s) }
    }

    /// Returns z·w, with z = `self`.
    #[inline(always)]
    pub(crate) fn mul(self, w: Self) -> Self {
        Self {
            re: self.im.neg_mul_add(w.im, self.re.mul(w.re)),
            im: self.re.mul_add(w.im, self.im.mul(w.re)),
        }
    }

    /// Returns z·conj w, with z = `self`.
    #[inline(always)]
    pub(crate) fn mul_conj(self, w: Self) -> Self {
        Self {
            re: self.im.mul_add(w.im, self.re.mul(w.re)),
            im: self.re.neg_mul_add(w.im, self.im.mul(w.re)),
        }
    }

    /// Returns the complex conjugate of z, with z = `self`.
    #[inline(always)]
    pub(crate) fn conj(self) -> Self {
        Self { re: self.re, im: self.im.neg() }
    }
}
