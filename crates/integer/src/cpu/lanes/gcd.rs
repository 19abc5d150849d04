//! Greatest common divisors and inverses of the numbers of a batch, one number per lane.
//!
//! For gcd(a, b), f and g are a and b without their common factors 2, in an order in which f is odd.
//! For an inverse of a modulo m, f = m and g = a. All lanes compute steps until g = 0 in each of
//! them. In lanes that have finished, further batches change only the signs of f and of its cofactor
//! modulo m.
//!
//! The operations of a step depend on each other. So up to [`Masks::GROUPS`] groups are computed at
//! the same time.

use super::cofactors::{self, Cofactors};
use super::masks::{MOST_GROUPS, Masks};
use super::pair::{self, Pair};
use super::rows::{Group, PADDING, Words, limbs_of, load, store};
use super::steps::{Batch, most_steps};
use super::twos::Twos;
use super::vector::Kernel;
use crate::cpu::Operand;
use crate::cpu::gcd::OneByOne;
use crate::cpu::rows::{Rows, for_chunks};

/// The index of an instance, and the row of its result.
type Place<'r> = (usize, &'r mut [u32]);

/// Computes g_i ← gcd(a_i, b_i), with as many limbs as the longer operand.
pub(super) fn gcd<V: Masks>(proof: V::Proof, a: Operand, b: Operand, count: usize, g: Rows) {
    let space = || Space::<V>::new(proof, [a, b], None);
    for_chunks(count, at_a_time::<V>(count), [g], [], space, |space, mut task| {
        let mut places: Vec<Place> =
            (0..task.count).map(|j| (task.first + j, task.results[0].next())).collect();
        for places in places.chunks_mut(V::GROUPS * V::LANES) {
            V::enter(proof, Divisors { space, a, b, places });
        }
    });
}

/// Computes x_i ← a_i^(−1) mod m_i, with as many limbs as m. Where no inverse exists, x_i is 0 and
/// flags_i is 1. Inverses modulo even numbers are computed one by one.
pub(super) fn inverse<V: Masks>(
    proof: V::Proof,
    a: Operand,
    m: Operand,
    x: Rows,
    flags: &mut [u8],
) {
    let space = || (Space::<V>::new(proof, [a, m], Some(m)), None);
    let at_a_time = at_a_time::<V>(flags.len());
    for_chunks(flags.len(), at_a_time, [x], [flags], space, |(space, singles), mut task| {
        let [flags] = &mut task.flags;
        let mut places: Vec<Place> = vec![];
        for (j, flag) in flags.iter_mut().enumerate() {
            let (i, row) = (task.first + j, task.results[0].next());
            if m.row(i)[0].is_multiple_of(2) {
                let singles = singles.get_or_insert_with(|| OneByOne::new(a, m));
                *flag = u8::from(singles.inverse(a.row(i), m.row(i), row));
            } else {
                places.push((i, row));
            }
        }
        for places in places.chunks_mut(V::GROUPS * V::LANES) {
            V::enter(proof, Inverses { space, a, m, first: task.first, places, flags });
        }
    });
}

/// Returns how many numbers one core processes at a time: as many as it can compute at the same
/// time, unless other cores would have less to do.
fn at_a_time<V: Masks>(count: usize) -> usize {
    let share = count.div_ceil(rayon::current_num_threads()).next_multiple_of(V::LANES);
    share.clamp(V::LANES, V::GROUPS * V::LANES)
}

/// The working memory of one core.
struct Space<V> {
    words: Words<V>,
    /// The numbers of each group.
    pairs: Vec<Pair<V>>,
    /// The cofactors of each group; empty for greatest common divisors.
    cofactors: Vec<Cofactors<V>>,
    /// −δ of each group.
    minus_delta: [V; MOST_GROUPS],
    /// The powers of two that divide both numbers of a group.
    twos: [Twos<V>; MOST_GROUPS],
    /// The limbs of a result, and zeros after them.
    result: Vec<V>,
    /// The largest number of batches of steps.
    most_batches: usize,
}

impl<V: Masks> Space<V> {
    /// Allocates memory for numbers as wide as the operands, and for cofactors modulo `m`.
    fn new(proof: V::Proof, operands: [Operand; 2], m: Option<Operand>) -> Self {
        let width = operands[0].width().max(operands[1].width());
        let n = limbs_of::<V>(32 * width + 1);
        let most_batches = most_steps(32 * width).div_ceil(V::BITS as usize);
        let zero = V::splat(proof, 0);
        let cofactors = m.map(|m| {
            (0..V::GROUPS).map(|_| Cofactors::new(proof, m.width(), most_batches)).collect()
        });
        Self {
            words: Words::new(proof, width),
            pairs: (0..V::GROUPS).map(|_| Pair::new(proof, n)).collect(),
            cofactors: cofactors.unwrap_or_default(),
            minus_delta: [zero; MOST_GROUPS],
            twos: [Twos::one(proof); MOST_GROUPS],
            result: vec![zero; n + PADDING],
            most_batches,
        }
    }

    /// Computes steps of the first `groups` groups until g = 0.
    #[inline(always)]
    fn run(&mut self, proof: V::Proof, groups: usize) {
        self.minus_delta = [V::splat(proof, u64::MAX); MOST_GROUPS];
        self.pairs[..groups].iter_mut().for_each(Pair::start);
        for _ in 0..self.most_batches {
            let mut are_done = true;
            for pair in &self.pairs[..groups] {
                are_done &= pair.is_done();
            }
            if are_done {
                return;
            }
            match groups {
                1 => self.advance::<1>(proof),
                2 => self.advance::<2>(proof),
                4 if V::GROUPS == 4 => self.advance::<4>(proof),
                _ => self.advance::<3>(proof),
            }
        }
        debug_assert!(self.pairs[..groups].iter().all(Pair::is_done), "too few division steps");
    }

    /// Computes a batch of steps of the first G groups.
    #[inline(always)]
    fn advance<const G: usize>(&mut self, proof: V::Proof) {
        let Self { pairs, cofactors, minus_delta, .. } = self;
        let Some(minus_delta) = minus_delta.first_chunk_mut::<G>() else { return };
        let (mut f, mut g) = (*minus_delta, *minus_delta);
        for (pair, (f, g)) in pairs.iter().zip(f.iter_mut().zip(&mut g)) {
            (*f, *g) = (pair.f[0], pair.g[0]);
        }
        // Through `enter`, these are function calls. Otherwise their code would be inlined at each
        // use.
        let one = V::splat(proof, 1);
        let matrices = V::enter(proof, Batch { minus_delta, f, g, one });
        for (pair, matrix) in pairs.iter_mut().zip(&matrices) {
            V::enter(proof, pair::Update { pair, matrix });
        }
        for (cofactors, matrix) in cofactors.iter_mut().zip(&matrices) {
            V::enter(proof, cofactors::Update { cofactors, matrix });
        }
    }
}

/// Returns the rows of an operand for the lanes of a group. Unused lanes repeat the last instance.
#[inline(always)]
fn rows<'a>(operand: Operand<'a>, places: &[Place]) -> Group<'a> {
    std::array::from_fn(|lane| operand.row(places[lane.min(places.len() - 1)].0))
}

/// Computes the greatest common divisors of the instances of `places`, at most
/// [`Masks::GROUPS`] groups.
struct Divisors<'a, 'r, V> {
    space: &'a mut Space<V>,
    a: Operand<'a>,
    b: Operand<'a>,
    places: &'a mut [Place<'r>],
}

impl<V: Masks> Kernel<V> for Divisors<'_, '_, V> {
    type Output = ();

    #[inline(always)]
    fn run(self, proof: V::Proof) {
        let Self { space, a, b, places } = self;
        for (j, places) in places.chunks(V::LANES).enumerate() {
            let Pair { f, g, .. } = &mut space.pairs[j];
            load(proof, &rows(a, places), a.width(), &mut space.words, f);
            load(proof, &rows(b, places), b.width(), &mut space.words, g);
            space.twos[j] = Twos::divide_out(proof, f, g);
        }
        space.run(proof, places.len().div_ceil(V::LANES));
        for (j, places) in places.chunks_mut(V::LANES).enumerate() {
            let Space { words, pairs, twos, result, .. } = &mut *space;
            pairs[j].make_absolute(proof);
            let n = pairs[j].f.len();
            result[..n].copy_from_slice(&pairs[j].f);
            twos[j].multiply(proof, &mut result[..n]);
            let width = a.width().max(b.width());
            store(proof, result, 0, places.iter_mut().map(|(_, row)| &mut **row), width, words);
        }
    }
}

/// Computes the inverses of the instances of `places`, at most [`Masks::GROUPS`] groups. The
/// moduli are odd. `flags` belong to the instances from `first` on.
struct Inverses<'a, 'r, V> {
    space: &'a mut Space<V>,
    a: Operand<'a>,
    m: Operand<'a>,
    first: usize,
    places: &'a mut [Place<'r>],
    flags: &'a mut [u8],
}

impl<V: Masks> Kernel<V> for Inverses<'_, '_, V> {
    type Output = ();

    #[inline(always)]
    fn run(self, proof: V::Proof) {
        let Self { space, a, m, first, places, flags } = self;
        for (j, places) in places.chunks(V::LANES).enumerate() {
            let Space { words, pairs, cofactors, .. } = &mut *space;
            let (moduli, Pair { f, g, .. }) = (rows(m, places), &mut pairs[j]);
            load(proof, &moduli, m.width(), words, f);
            load(proof, &rows(a, places), a.width(), words, g);
            cofactors[j].start(proof, &moduli, words);
        }
        space.run(proof, places.len().div_ceil(V::LANES));
        for (j, places) in places.chunks_mut(V::LANES).enumerate() {
            let Space { words, pairs, cofactors, .. } = &mut *space;
            let cofactors = &mut cofactors[j];
            let negate = pairs[j].make_absolute(proof);
            V::enter(proof, cofactors::Finish { cofactors, negate });
            let rows = places.iter_mut().map(|(_, row)| &mut **row);
            store(proof, cofactors.d(), 0, rows, m.width(), words);
            let exists = pairs[j].is_one(proof);
            for (lane, (i, row)) in places.iter_mut().enumerate() {
                let fails = exists >> lane & 1 == 0;
                flags[*i - first] = u8::from(fails);
                if fails {
                    row.fill(0);
                }
            }
        }
    }
}
