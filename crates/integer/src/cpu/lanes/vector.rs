//! The interface of vectors whose lanes hold limbs of different numbers.

/// Repeats `$body` for the constants `$s` = 0, 1 … B − 1. B is at most 8, or at most 10 or 40 with `up
/// to 10` or `up to 40`.
///
/// The compiler does not unroll some loops of this kind, and then keeps arrays in memory instead of
/// registers.
macro_rules! unrolled {
    ($s:ident < $b:ident => $body:expr) => {
        $crate::cpu::lanes::vector::unrolled!(@ $s $b $body; 0 1 2 3 4 5 6 7)
    };
    ($s:ident < $b:ident, up to 10 => $body:expr) => {
        $crate::cpu::lanes::vector::unrolled!(@ $s $b $body; 0 1 2 3 4 5 6 7 8 9)
    };
    ($s:ident < $b:ident, up to 40 => $body:expr) => {
        $crate::cpu::lanes::vector::unrolled!(
            @ $s $b $body; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19
            20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39
        )
    };
    (@ $s:ident $b:ident $body:expr; $($i:literal)*) => {
        debug_assert!($b <= [$($i),*].len(), "too many steps to unroll");
        $(if $i < $b {
            #[allow(non_upper_case_globals)]
            const $s: usize = $i;
            $body;
        })*
    };
}
pub(super) use unrolled;

/// A vector of [`Lanes::LANES`] words of 64 bits. A *group* is as many numbers as a vector has
/// lanes. The limbs of number l of a group are in lane l of a sequence of vectors. A number x is Σ
/// x_j·2^(β·j), where x_j are its limbs and β = [`Lanes::BITS`].
///
/// A vector is used in three roles:
///
/// * a *limb*: an integer from 0 to 2^β − 1 in each lane;
/// * a *factor*: a limb in the form that [`Lanes::mad`] multiplies, made by [`Lanes::factor`];
/// * a *column*: a sum of parts of products that belong to the same power of 2^β. On types with
///   [`Lanes::OFFSET`] = 0, it is an integer from 0 to 2^64 − 1. On other types, it is an
///   integer from −2^62 to 2^64 − 2^62 − 1, mod 2^64.
///
/// A type that needs special instructions can only be made with a value of [`Lanes::Proof`], which
/// proves that this processor has them. All methods are `#[inline(always)]`: they are compiled with
/// the instruction set of the function that calls them, which must be called through
/// [`Lanes::enter`].
///
/// # Safety
/// A vector must have the size of `LANES` words `u64`, no padding, at least their alignment, and
/// lane l in word l; every bit pattern must be valid. [`words`] and [`words_mut`] rely on it.
pub(super) unsafe trait Lanes: Copy + Send + Sync + 'static {
    /// The number of lanes: a power of two, at most [`MOST_LANES`].
    const LANES: usize;
    /// The number β of bits of a limb: at least 22, less than 64.
    const BITS: u32;
    /// Whether the low and the high parts of products are added to separate columns. Then only half
    /// as many additions depend on each other.
    const SPLIT: bool;
    /// The number, mod 2^64, that [`Lanes::mad`] adds to a column besides the low part. It is 0 if
    /// [`Lanes::SPLIT`] is true.
    const LOW_BIAS: u64;
    /// The number, mod 2^64, that [`Lanes::mad`] adds to a column besides the high part. It is 0 if
    /// [`Lanes::SPLIT`] is true.
    const HIGH_BIAS: u64;
    /// A multiple of 2^β. Its sum with any column is not negative.
    const OFFSET: u64;
    /// A proof that this processor has the instructions.
    type Proof: Copy + Send + Sync;

    /// Returns the proof that this processor has the instructions. Returns `None` if it lacks them,
    /// or if `WARPINT_CPU` forbids their use.
    fn proof() -> Option<Self::Proof>;

    /// Runs `kernel`, compiled for this type's instructions, and returns its result.
    fn enter<K: Kernel<Self>>(proof: Self::Proof, kernel: K) -> K::Output;

    /// Returns x in every lane.
    fn splat(proof: Self::Proof, x: u64) -> Self;

    /// Returns the first `len` words of 32 bits from address `from` on, and zeros after them. The
    /// lower half of lane 0 comes first. `len` is at most 2·LANES. The address may be any multiple
    /// of 4.
    ///
    /// # Safety
    /// `from` must be a multiple of 4 and valid for reading `len` words. `len` must be at most
    /// 2·LANES.
    unsafe fn load(proof: Self::Proof, from: *const u32, len: usize) -> Self;

    /// Writes the first `len` words of 32 bits to memory from address `to` on, in the order of
    /// [`Lanes::load`]. `len` is at most 2·LANES.
    ///
    /// # Safety
    /// `to` must be a multiple of 4 and valid for writing `len` words. `len` must be at most
    /// 2·LANES.
    unsafe fn store(self, to: *mut u32, len: usize);

    /// Returns a + b mod 2^64, with a = `self`.
    fn add(self, b: Self) -> Self;
    /// Returns a AND b, with a = `self`.
    fn and(self, b: Self) -> Self;
    /// Returns a OR b, with a = `self`.
    fn or(self, b: Self) -> Self;
    /// Returns ⌊a/2^bits⌋, with a = `self` as an unsigned integer. `bits` must be less than 64.
    fn shr(self, bits: u64) -> Self;
    /// Returns a·2^c mod 2^64, with a = `self` and c from `counts`. The result is 0 where c is 64
    /// or more.
    fn shl_each(self, counts: Self) -> Self;
    /// Returns ⌊a/2^c⌋, with a = `self` as an unsigned integer and c from `counts`. The result is 0
    /// where c is 64 or more.
    fn shr_each(self, counts: Self) -> Self;

    /// Returns the factor of the limb `self`. If [`Lanes::SPLIT`] is true, every word is a factor, of
    /// the limb that its lowest β bits are.
    fn factor(self) -> Self;

    /// Returns (low + r + [`Lanes::LOW_BIAS`], high + h + [`Lanes::HIGH_BIAS`]) mod 2^64 for
    /// factors a and b, with integers r and h for which a·b = r + h·2^β. If [`Lanes::OFFSET`] is 0,
    /// 0 ≤ r < 2^β and 0 ≤ h < 2^β. Otherwise −2^(β−1) ≤ r < 2^β and 0 ≤ h ≤ 2^β.
    fn mad(low: Self, high: Self, a: Self, b: Self) -> (Self, Self);

    /// Returns the factor of the limb x·b mod 2^β, where x = `self` is a column and b a factor.
    fn low_product(self, proof: Self::Proof, b: Self) -> Self;

    /// Transposes an L×L matrix, given as L = LANES vectors: exchanges lane i of entry j and lane j
    /// of entry i.
    ///
    /// # Panics
    /// Panics if `square` does not have L entries.
    fn transpose(square: &mut [Self]);

    /// Returns words of L = LANES rows: lane l of entry j is word j of row l, for j < L. Of each row,
    /// the first `len` words of 32 bits are read. The words above them are 0.
    ///
    /// # Safety
    /// The first L addresses must be multiples of 4 and valid for reading `len` words of 32 bits.
    /// `len` must be at most 2·L.
    #[inline(always)]
    unsafe fn load_rows(
        proof: Self::Proof,
        rows: [*const u32; MOST_LANES],
        len: usize,
    ) -> [Self; MOST_LANES] {
        let mut square = [Self::splat(proof, 0); MOST_LANES];
        let lanes = Self::LANES;
        // SAFETY: the caller guarantees what `load` demands.
        unrolled!(l < lanes => square[l] = unsafe { Self::load(proof, rows[l], len) });
        Self::transpose(&mut square[..Self::LANES]);
        square
    }

    /// Writes the first `len` words of 32 bits of L = LANES rows to memory, with the words of
    /// [`Lanes::load_rows`].
    ///
    /// # Safety
    /// The first L addresses must be multiples of 4 and valid for writing `len` words of 32 bits.
    /// `len` must be at most 2·L.
    #[inline(always)]
    unsafe fn store_rows(mut words: [Self; MOST_LANES], rows: [*mut u32; MOST_LANES], len: usize) {
        Self::transpose(&mut words[..Self::LANES]);
        let lanes = Self::LANES;
        // SAFETY: the caller guarantees what `store` demands.
        unrolled!(l < lanes => unsafe { words[l].store(rows[l], len) });
    }

    /// Transposes L = LANES rows of L/2 words, given as L/2 vectors: vector j has row 2j in its
    /// lower half and row 2j + 1 in its upper half. On return, lane l of vector j has word j of row
    /// [`PAIR_ROWS`]`[l]`. This takes a third of the instructions of [`Lanes::transpose`].
    ///
    /// # Panics
    /// Panics if `half` does not have L/2 entries.
    fn transpose_pairs(half: &mut [Self]);
}

/// The largest number of lanes of a vector.
pub(super) const MOST_LANES: usize = 8;

/// The row that [`Lanes::transpose_pairs`] moves to each lane.
pub(super) const PAIR_ROWS: [usize; MOST_LANES] = [0, 2, 1, 3, 4, 6, 5, 7];

/// A computation with vectors of type `V`. [`Kernel::run`] and all generic functions that it calls
/// must be `#[inline(always)]`, so that they are compiled with the instruction set of `V`.
pub(super) trait Kernel<V: Lanes> {
    /// The result of the computation.
    type Output;

    /// Executes the computation. [`Lanes::enter`] calls this method.
    fn run(self, proof: V::Proof) -> Self::Output;
}

/// Returns the words of vectors: word LANES·j + l is lane l of vector j.
#[inline(always)]
pub(super) fn words<V: Lanes>(vectors: &[V]) -> &[u64] {
    // SAFETY: the trait guarantees that a vector consists of `LANES` words without padding, aligned
    // as words. So the vectors are this many words, borrowed as long as `vectors` is.
    unsafe { std::slice::from_raw_parts(vectors.as_ptr().cast(), vectors.len() * V::LANES) }
}

/// Returns the words of vectors as [`words`] does, for writing.
#[inline(always)]
pub(super) fn words_mut<V: Lanes>(vectors: &mut [V]) -> &mut [u64] {
    let len = vectors.len() * V::LANES;
    // SAFETY: as in `words`. The trait also guarantees that every bit pattern is a valid vector.
    unsafe { std::slice::from_raw_parts_mut(vectors.as_mut_ptr().cast(), len) }
}

/// Returns x mod 2^β for a column x.
#[inline(always)]
pub(super) fn digit<V: Lanes>(proof: V::Proof, x: V) -> V {
    x.and(V::splat(proof, (1 << V::BITS) - 1))
}

/// Returns ⌊x/2^β⌋ for a column x.
#[inline(always)]
pub(super) fn carry<V: Lanes>(proof: V::Proof, x: V) -> V {
    if V::OFFSET == 0 {
        return x.shr(u64::from(V::BITS));
    }
    let positive = x.add(V::splat(proof, V::OFFSET)).shr(u64::from(V::BITS));
    positive.add(V::splat(proof, (V::OFFSET >> V::BITS).wrapping_neg()))
}
