//! Transforms of W adjacent columns, with the factors between columns and rows.

use super::fft::Fft;
use super::lanes::Lanes;
use super::shape::Shape;
use super::shared::Shared;

/// The data for transforming the columns of a shape, and for the inverse.
#[derive(Clone, Copy)]
pub struct ColumnPass<'a, V: Lanes> {
    /// The rows and columns: N = R·C.
    pub shape: Shape,
    /// The tables of the transform of R points.
    pub fft: &'a Fft,
    /// The factors by which entry c of group g of a spectrum is multiplied after the transform or
    /// before the inverse, at g·C + c.
    pub factors: &'a [V::Factor],
}

impl<V: Lanes> ColumnPass<'_, V> {
    /// Transforms R entries of the columns c to c + W − 1, multiplies them by their factors, and writes
    /// them into a spectrum of [`Shape::pitch`].
    ///
    /// # Safety
    /// No other thread uses these columns of the spectrum.
    #[inline(always)]
    pub unsafe fn forward(&self, column: &mut [V], c: usize, spectrum: &Shared<'_, V>) {
        let w = V::WIDTH;
        self.fft.forward(column);
        for (g, square) in column.chunks_exact_mut(w).enumerate() {
            V::transpose(square);
            let factors = &self.factors[g * self.shape.columns + c..][..w];
            // SAFETY: the caller's promise.
            let out = unsafe { spectrum.piece(g * self.shape.pitch() + c, w) };
            for ((out, x), f) in out.iter_mut().zip(square).zip(factors) {
                *out = x.mul(*f);
            }
        }
    }

    /// Multiplies the columns c to c + W − 1 of a spectrum by their factors, and transforms them back
    /// to R entries.
    #[inline(always)]
    pub fn inverse(&self, spectrum: &[V], c: usize, column: &mut [V]) {
        let w = V::WIDTH;
        for (g, square) in column.chunks_exact_mut(w).enumerate() {
            let x = &spectrum[g * self.shape.pitch() + c..][..w];
            let factors = &self.factors[g * self.shape.columns + c..][..w];
            for ((out, x), f) in square.iter_mut().zip(x).zip(factors) {
                *out = x.mul(*f);
            }
            V::transpose(square);
        }
        self.fft.inverse(column);
    }
}
