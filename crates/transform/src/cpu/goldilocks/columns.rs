//! Transforms of W adjacent columns, and the products by factors between the transforms of columns
//! and of rows. W is the number of lanes. The N = R·C points of a transform have R rows and C
//! columns.

use super::fft::Fft;
use super::lanes::Lanes;
use super::shape::Shape;
use super::shared::Shared;

/// The tables for the transforms of the columns of a shape, and for their inverses. W is the number
/// of lanes of `V`.
#[derive(Clone, Copy)]
pub struct ColumnPass<'a, V: Lanes> {
    /// The division of N = R·C points into R rows and C columns.
    pub shape: Shape,
    /// The tables of transforms of R points, the length of a column.
    pub fft: &'a Fft,
    /// The factors of the entries of a spectrum. The factor of entry c of group g is at index
    /// g·C + c; groups are defined at [`Shape::pitch`]. The entries are multiplied by their factors
    /// after the forward transforms of the columns, or before the inverse transforms.
    pub factors: &'a [V::Factor],
}

impl<V: Lanes> ColumnPass<'_, V> {
    /// Transforms W adjacent columns, multiplies the results by their factors, and writes the
    /// products to columns c to c + W − 1 of a spectrum, in the layout that is described at
    /// [`Shape::pitch`]. `column` contains the R entries of each column, with column c + i in lane
    /// i, and is overwritten.
    ///
    /// # Safety
    /// No other thread may use columns c to c + W − 1 of the spectrum during the call.
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

    /// Multiplies the columns c to c + W − 1 of a spectrum by their factors, and applies
    /// [`Fft::inverse`] to each column. Writes the R entries of each column to `column`, with
    /// column c + i in lane i.
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
