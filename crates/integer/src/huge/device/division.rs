//! Division on a device, by a reciprocal that Newton's iteration computes (Brent and Zimmermann 2010,
//! *Modern Computer Arithmetic*, §2.4.1 and §3.4.1).
//!
//! The method is that of the module `division::newton` of `warpint_natural`. Here products are windows
//! or cyclic ([`Shape`]), and all errors have one sign, so that neither signs nor comparisons delay
//! the device.
//!
//! Let β = 2^64, and let D be the p top words of the divisor, which is shifted such that its top bit is
//! set: β^p/2 ≤ D < β^p. The *reciprocal* I has p + 1 words and
//!
//! E(p) = β^(2p) − I·D with 2·β^p ≤ E(p) ≤ 9·β^p.
//!
//! So I < 2·β^p.
//!
//! # The reciprocal
//! *Short numbers.* The host computes I = ⌊(β^(2p) − 1)/D⌋ − 4. Then 4·D < E(p) ≤ 5·D.
//!
//! *A step.* Let J be the reciprocal of the h top words of D, where low = p − h < h. Write D =
//! D_h·β^low + D_low, with E(h) = β^(2h) − J·D_h.
//!
//! 1. E' = β^(p + h) − J·D = β^low·E(h) − D_low·J. Since D_low·J < 2·β^p, 0 < E' ≤ 9·β^p. So J·D is
//!    needed modulo B^W − 1 only, with W ≥ p + 2: a cyclic product.
//! 2. C = J·E'/β^(2h) would give E = E'²/β^(2h) ≤ 81·β^(2·low) < β^p for J·β^low + C. Computed is V =
//!    C − δ' from the h + 1 words of ⌊E'/β^low⌋, as a window of low + 1 words. The words of E' left out
//!    lower C by less than 1, since J·β^low/β^(2h) < 2·β^(low − h). The window lacks the words
//!    below it, less than 1, and has an error from −1 to 1. So −1 ≤ δ' < 3. V is not negative: E(h) ≥
//!    4·D_h, so J ≤ β^(2h)/D_h − 4 and E' ≥ 4·β^low + β^(2h)/D_h − 4, and J·E'/β^(2h) > 3.
//! 3. I = J·β^low + V − 5 is C too small by δ, 4 ≤ δ < 8. E(p) = E'²/β^(2h) + δ·D is at least 2·β^p and
//!    less than 9·β^p.
//!
//! # A block of p words of the quotient
//! Let d be the divisor, shifted, of m ≥ p words, U < d·β^p a dividend of m + p words, u its p top words,
//! and q = ⌊U/d⌋. The estimate is q' = ⌊u·I/β^p⌋ − e, e = 0 or 1: a window that does not wrap.
//!
//! *It is not too large.* u·I/β^p = u·(β^p − E(p)/β^p)/D ≤ u·β^p/D − 2·u/D. And U/d > u·β^p/(D + 1) ≥
//! u·β^p/D − 2·u/D, because β^p/(D + 1) < 2. So q' ≤ q. As u ≤ D, also q' < β^p.
//!
//! *It is at most 12 too small.* U/d < (u + 1)·β^p/D ≤ u·β^p/D + 2, and q' > u·I/β^p − 2 ≥ u·β^p/D −
//! 9 − 2. So U/d − q' < 13.
//!
//! The remainder r = U − q'·d is from 0 to 13·d, so it is computed modulo B^W − 1 with W ≥ m + 2. Then d is
//! subtracted while r ≥ d.
//!
//! # Cost
//! Let t be the time of a transform of a ring of n words; a product of numbers of n words takes M(n) =
//! 6·t. The last step of a reciprocal of n words takes 5·t: three transforms of rings of n words for the first
//! product, and two for the second, which uses the spectrum of J again. The whole reciprocal takes 10·t. A
//! quotient of k = x·m words in b > 1 blocks takes t·(10·x/b + 2·x/b + 1 + 4·x + 2·b) for rings of m words: the
//! reciprocal; the spectra of I and d; estimates; remainders. For b = 1 it takes t·(16·x + 3). So b ≈ √(6·x).
//! For 2n by n words, b = 2 and the time is 15·t = 2.5·M(n). With a reciprocal of all words of d it is 9·t.
//! Sums, shifts and comparisons take less than a transform together.

use warpint_device::{Buffer, Cells, DeviceError, View};
use warpint_natural::division::div_rem_by;
use warpint_natural::limbs::{compare, sub_assign};
use warpint_natural::product::FastProducts;

use super::batch::{Factor, Spectra};
use super::carries::{Addend, First};
use super::rows::{Map, RowCells, Rows};
use super::shape::Shape;
use super::{DeviceProducts, HugeError, residue};

/// The number of words from which reciprocals are computed on the device. A step of Newton's
/// iteration for fewer words takes longer than the host.
pub(super) const NEWTON_FROM: usize = 1 << 9;
/// The largest number of times that d is subtracted from a remainder.
const MOST_CORRECTIONS: usize = 13;

/// A divisor in the memory of a device, with a reciprocal of its top words.
///
/// It takes the memory of the divisor and of the reciprocal: 8·(m + p + 1) bytes.
#[derive(Debug)]
pub struct DeviceDivisor {
    /// d·2^shift, which has its top bit set.
    d: Buffer<u64>,
    shift: u32,
    /// I, of p + 1 words.
    pub(super) reciprocal: Buffer<u64>,
    /// d mod 2^61 − 1.
    pub(super) residue: u64,
}

impl DeviceDivisor {
    /// Returns the number of words of the divisor without leading zeros.
    #[must_use]
    pub fn words(&self) -> usize {
        self.d.len()
    }

    /// Returns the number p of words of a block of a quotient.
    fn block(&self) -> usize {
        self.reciprocal.len() - 1
    }
}

/// Returns the number of words of the blocks in which quotients of `k` words by divisors of `m` words
/// are computed.
fn block(k: usize, m: usize) -> usize {
    let blocks = (6.0 * k as f64 / m as f64).sqrt().round() as usize;
    k.div_ceil(blocks.max(k.div_ceil(m)).max(1)).max(1)
}

/// The shapes of the products of a step of Newton's iteration from h to p words.
fn shapes_of_step(p: usize, h: usize) -> Option<[Shape; 2]> {
    let low = p - h;
    let first = Shape::cyclic(p, h + 1, 1, p + 2)?;
    let second = Shape::window(h + 1, h + 1, 1, 2 * h - low..2 * h + 1)?;
    let same = second.clone().with_form(first.form());
    Some([first, same.unwrap_or(second)])
}

/// The shapes of the products of a block of p words for a divisor of m words.
fn shapes_of_block(p: usize, m: usize) -> Option<[Shape; 2]> {
    Some([Shape::window(p, p + 1, 1, p..2 * p + 1)?, Shape::cyclic(p, m, 1, m + 2)?])
}

impl DeviceProducts {
    /// Returns an upper bound of the bytes of the device's memory that a division of a number of `a`
    /// words by one of `d` words needs beside the numbers and the results: the divisor with its
    /// reciprocal, the shifted dividend, the quotient, and the products of a block. `None` if the numbers
    /// are too long for one transform, or if `d` is 0.
    #[must_use]
    pub fn division_bytes(a: usize, d: usize) -> Option<u64> {
        if d == 0 {
            return None;
        }
        let k = (a + 1).saturating_sub(d).max(1);
        let p = block(k, d);
        let [window, cyclic] = shapes_of_block(p, d)?;
        let points = window.form().points() + cyclic.form().points();
        let work = window.form().points().max(cyclic.form().points());
        let words = (d + p + 1) + (d + 2 * k.next_multiple_of(p)) + 3 * cyclic.words() + p + 1;
        Some(8 * (points + work + words) as u64 + (1 << 20))
    }

    /// Stores a divisor d for quotients of about `quotient` words, and computes a reciprocal of as many of
    /// its top words as they need, at most all. d may have leading zero words.
    ///
    /// Waits for the device. Cost: about 10·t for a reciprocal of n words, where a product of numbers
    /// of n words takes 6·t.
    ///
    /// # Errors
    /// d is 0 or too long, or the device fails or does not have enough memory.
    pub fn divisor(
        &mut self,
        d: View<'_, u64>,
        quotient: usize,
    ) -> Result<DeviceDivisor, HugeError> {
        let m = significant(d)?;
        if m == 0 {
            return Err(HugeError::ZeroDivisor);
        }
        let p = block(quotient.max(1), m).min(m);
        self.divisor_with_block(d.part(..m), p)
    }

    /// Prepares a divisor whose top word is not 0, with a reciprocal of its top `p` words.
    pub(super) fn divisor_with_block(
        &mut self,
        d: View<'_, u64>,
        p: usize,
    ) -> Result<DeviceDivisor, HugeError> {
        let m = d.len();
        let residue = self.residues(Rows::one(d))?.first().copied().unwrap_or_default();
        let shift = d.part(m - 1..).download()?[0].leading_zeros();
        let mut shifted = self.device().alloc(m)?;
        self.sums.shift(shifted.cells(..), d, i64::from(shift))?;
        let reciprocal = self.reciprocal(shifted.view(m - p..))?;
        Ok(DeviceDivisor { d: shifted, shift, reciprocal, residue })
    }

    /// Returns the reciprocal of D, whose top bit is set: p + 1 words.
    pub(super) fn reciprocal(&mut self, d: View<'_, u64>) -> Result<Buffer<u64>, HugeError> {
        let p = d.len();
        let device = self.device().clone();
        let mut lengths = vec![p];
        let mut h = p;
        while h > self.newton_from.max(2) {
            h -= (h - 1) / 2;
            lengths.push(h);
        }
        let too_long = HugeError::TooLong { a: p, b: p };
        let top = d.part(p - h..).download()?;
        // ⌊(β^(2h) − 1)/D⌋ is from β^h to 2·β^h − 1.
        let (mut quotient, _) = div_rem_by(&FastProducts, &vec![u64::MAX; 2 * h], &top);
        quotient.resize(h + 1, 0);
        sub_assign(&mut quotient, &[4]);
        // Room for the last and longest step. The shorter steps use parts of it.
        let [mut current, mut next] = [device.alloc(p + 1)?, device.alloc(p + 1)?];
        current.cells(..h + 1).upload(&quotient)?;
        lengths.pop();
        if lengths.is_empty() {
            return Ok(current);
        }
        let mut most = [0; 3];
        let mut forms = vec![];
        for &to in &lengths {
            let h = to - (to - 1) / 2;
            let Some([first, second]) = shapes_of_step(to, h) else { return Err(too_long) };
            forms.extend([first.form(), second.form()]);
            let form = [first.form(), second.form()].map(|form| form.points());
            let needs = [form[0].max(form[1]), first.words(), form[0]];
            for (most, needed) in most.iter_mut().zip(needs) {
                *most = needed.max(*most);
            }
        }
        self.batches.compile(&forms)?;
        let [points, words, of_spectra] = most;
        self.batches.reserve(points, words)?;
        let mut products = device.alloc(words)?;
        let mut rest = device.alloc(words)?;
        let Some([first, _]) = shapes_of_step(p, p - (p - 1) / 2) else {
            return Err(too_long);
        };
        let mut spectra = self.batches.room(first.form(), of_spectra)?;
        for &to in lengths.iter().rev() {
            let d = d.part(p - to..);
            self.newton_step(&mut next, d, h, &current, &mut spectra, [&mut products, &mut rest])?;
            std::mem::swap(&mut current, &mut next);
            h = to;
        }
        Ok(current)
    }

    /// Computes the reciprocal of D from the reciprocal of its h top words.
    fn newton_step(
        &mut self,
        out: &mut Buffer<u64>,
        d: View<'_, u64>,
        h: usize,
        known: &Buffer<u64>,
        spectra: &mut Spectra,
        [products, rest]: [&mut Buffer<u64>; 2],
    ) -> Result<(), HugeError> {
        let p = d.len();
        let low = p - h;
        let shapes = shapes_of_step(p, h);
        let [first, second] = shapes.ok_or(HugeError::TooLong { a: p, b: p })?;
        let w = first.words();
        let known = known.view(..h + 1);
        self.batches.forward(spectra, first.form(), Rows::one(known))?;
        let of_known = Factor::spectra(spectra, Map::EACH);
        let product = products.cells(..w);
        let of_d = Factor::rows(Rows::one(d), Map::EACH);
        self.batches.multiply(&first, RowCells::one(product), &[[of_d, of_known]])?;
        // E' ≡ β^(p + h) − J·D, and β^W ≡ 1.
        let rest = rest.cells(..w);
        let power = Addend::word(1).up((p + h) % w);
        let minus = Addend::number(product.view()).complement();
        self.sums.add(rest, minus, power, First::Around)?;
        let of_rest = Rows::one(rest.view().part(low..p + 1));
        let is_same = second.form() == first.form();
        let of_known = if is_same { of_known } else { Factor::rows(Rows::one(known), Map::EACH) };
        let v = product.part(..low + 1);
        let of_rest = Factor::rows(of_rest, Map::EACH);
        self.batches.multiply(&second, RowCells::one(v), &[[of_rest, of_known]])?;
        // J·β^low + V − 5.
        let out = out.cells(..p + 1);
        let minus_five = Addend::word(4).complement();
        self.sums.add(out, Addend::number(v.view()), minus_five, First::None)?;
        let sum = Addend::number(out.view());
        self.sums.add(out, sum, Addend::number(known).up(low), First::None)?;
        Ok(())
    }

    /// Computes q ← ⌊a/d⌋ and r ← a mod d, and verifies them: the device computes the residues of q, r
    /// and a modulo 2^61 − 1, and the host verifies q·d + r ≡ a; the device verifies r < d.
    ///
    /// r has as many words as d without leading zeros. q has at least the words of a less those of d, and
    /// one more; words above the quotient become 0. q and r have no words in common with each other or a.
    /// Waits for the device.
    ///
    /// # Errors
    /// The result is wrong, the numbers are too long, or the device fails or does not have enough memory.
    ///
    /// # Panics
    /// If q or r has too few words, or r too many.
    pub fn div_rem(
        &mut self,
        q: Cells<'_, u64>,
        r: Cells<'_, u64>,
        a: View<'_, u64>,
        divisor: &DeviceDivisor,
    ) -> Result<(), HugeError> {
        let m = divisor.words();
        assert_eq!(r.len(), m, "words of the remainder");
        assert!(q.len() > a.len().saturating_sub(m), "words of the quotient");
        q.clear()?;
        let a = a.part(..significant(a)?);
        if a.is_empty() {
            return Ok(r.clear()?);
        }
        let p = divisor.block();
        let device = self.device().clone();
        // The shifted dividend, in m + k words, of which the top m are less than d.
        let mut k = (a.len() + 1).saturating_sub(m).max(1);
        let mut u = device.alloc(m + k.next_multiple_of(p) + 1)?;
        self.sums.shift(u.cells(..), a, i64::from(divisor.shift))?;
        while k > 1 && is_less(u.view(k - 1..), divisor.d.view(..))? {
            k -= 1;
        }
        let k = k.next_multiple_of(p);
        let mut quotient = device.alloc(k)?;
        let shapes = shapes_of_block(p, m);
        let [window, cyclic] = shapes.ok_or(HugeError::TooLong { a: a.len(), b: m })?;
        let points = window.form().points().max(cyclic.form().points());
        self.batches.reserve(points, cyclic.words().max(p + 1))?;
        // Spectra of numbers that all blocks use.
        let of_reciprocal = Rows::one(divisor.reciprocal.view(..));
        let of_d = Rows::one(divisor.d.view(..));
        let shared = if k > p {
            let first = self.forward(window.form(), of_reciprocal)?;
            Some([first, self.forward(cyclic.form(), of_d)?])
        } else {
            None
        };
        let of_reciprocal = match &shared {
            Some([spectra, _]) => Factor::spectra(spectra, Map::EACH),
            None => Factor::rows(of_reciprocal, Map::EACH),
        };
        let of_d = match &shared {
            Some([_, spectra]) => Factor::spectra(spectra, Map::EACH),
            None => Factor::rows(of_d, Map::EACH),
        };
        let w = cyclic.words();
        let mut estimate = device.alloc(p + 1)?;
        let mut product = device.alloc(w)?;
        let [mut rest, mut less] = [device.alloc(w)?, device.alloc(w)?];
        for i in (0..k / p).rev() {
            let block = u.cells(i * p..i * p + m + p);
            let top = Factor::rows(Rows::one(block.view().part(m..)), Map::EACH);
            let q = estimate.cells(..);
            self.batches.multiply(&window, RowCells::one(q), &[[top, of_reciprocal]])?;
            let of_q = Factor::rows(Rows::one(q.view().part(..p)), Map::EACH);
            let out = RowCells::one(product.cells(..));
            self.batches.multiply(&cyclic, out, &[[of_q, of_d]])?;
            // U − q'·d modulo B^W − 1.
            let folded = rest.cells(..);
            let cut = w.min(m + p);
            let low = Addend::number(block.view().part(..cut));
            let high = Addend::number(block.view().part(cut..));
            self.sums.add(folded, low, high, First::Around)?;
            let minus = Addend::number(product.view(..)).complement();
            let sum = Addend::number(folded.view());
            self.sums.add(folded, sum, minus, First::Around)?;
            let mut corrections = 0;
            if rest.download_part(m + 1..m + 2)? == [u64::MAX] {
                // B^W − 1 stands for 0.
                rest.clear()?;
            }
            loop {
                let minus = Addend::number(divisor.d.view(..)).complement();
                let sum = Addend::number(rest.view(..m + 2));
                self.sums.add(less.cells(..m + 2), sum, minus, First::One)?;
                if less.download_part(m + 1..m + 2)? != [0] {
                    break;
                }
                std::mem::swap(&mut rest, &mut less);
                corrections += 1;
                if corrections > MOST_CORRECTIONS {
                    return Err(HugeError::WrongQuotient { a: a.len(), d: m });
                }
            }
            let of_block = quotient.cells(i * p..(i + 1) * p);
            let estimate = Addend::number(estimate.view(..p));
            self.sums.add(of_block, estimate, Addend::word(corrections as u64), First::None)?;
            block.part(..m).copy_from(rest.view(..m))?;
            block.part(m..).clear()?;
        }
        let words = q.len().min(k);
        q.part(..words).copy_from(quotient.view(..words))?;
        self.sums.shift(r, u.view(..m), -i64::from(divisor.shift))?;
        let of = [quotient.view(..), r.view(), a].map(|x| self.residues(Rows::one(x)));
        let [of_q, of_r, of_a] = of.map(|x| x.map(|x| x.first().copied().unwrap_or_default()));
        let found = residue::sum(residue::product(of_q?, divisor.residue), of_r?);
        if found == of_a? { Ok(()) } else { Err(HugeError::WrongQuotient { a: a.len(), d: m }) }
    }
}

/// The lengths of pieces in which numbers are read from the top: the first is mostly enough.
fn pieces(words: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut end = words;
    let mut length = 64;
    std::iter::from_fn(move || {
        let begin = end.saturating_sub(length);
        let piece = begin..end;
        end = begin;
        length *= 64;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Returns the number of words of x without leading zeros.
pub(super) fn significant(x: View<'_, u64>) -> Result<usize, DeviceError> {
    for piece in pieces(x.len()) {
        let words = x.part(piece.clone()).download()?;
        if let Some(top) = words.iter().rposition(|&word| word != 0) {
            return Ok(piece.start + top + 1);
        }
    }
    Ok(0)
}

/// Returns whether x < y.
fn is_less(x: View<'_, u64>, y: View<'_, u64>) -> Result<bool, DeviceError> {
    let common = x.len().min(y.len());
    if significant(x.part(common..))? > 0 {
        return Ok(false);
    }
    if significant(y.part(common..))? > 0 {
        return Ok(true);
    }
    for piece in pieces(common) {
        let [x, y] = [x.part(piece.clone()).download()?, y.part(piece).download()?];
        let order = compare(&x, &y);
        if order.is_ne() {
            return Ok(order.is_lt());
        }
    }
    Ok(false)
}
