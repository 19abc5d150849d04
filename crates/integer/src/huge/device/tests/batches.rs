//! Batches of products: maps, windows, sums, spectra, and batches in parts.

use std::ops::Range;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use warpint_device::{Buffer, Device};
use warpint_natural::limbs::{add_assign, mul, sub_assign};

use super::{corners, random};
use crate::huge::device::{DeviceProducts, Factor, HugeError, Map, RowCells, Rows, Shape};

/// What words between rows contain.
const BETWEEN: u64 = 0x0123_4567_89ab_cdef;

/// Numbers of equal lengths, in host memory and on the device.
struct Numbers {
    host: Vec<Vec<u64>>,
    words: usize,
    stride: usize,
    there: Buffer<u64>,
}

impl Numbers {
    /// Uploads rows, with `apart` other words between them.
    fn new(device: &Device, host: Vec<Vec<u64>>, apart: usize) -> Self {
        let words = host[0].len();
        let rows = host.iter().flat_map(|row| row.iter().copied().chain(vec![BETWEEN; apart]));
        let there = device.upload(&rows.collect::<Vec<_>>()).unwrap();
        Self { host, words, stride: words + apart, there }
    }

    fn random(device: &Device, rng: &mut ChaCha8Rng, count: usize, words: usize) -> Self {
        let corners = corners(words);
        let row = |i: usize| match i % 8 {
            // Corner cases meet corner cases and random numbers.
            i @ 0..5 if count > 4 => corners[i].clone(),
            _ => random(rng, words),
        };
        let rows: Vec<_> = (0..count).map(row).collect();
        Self::new(device, rows, count % 3)
    }

    fn rows(&self) -> Rows<'_> {
        Rows::new(self.there.view(..), self.host.len(), self.words, self.stride)
    }

    fn by(&self, map: Map) -> Factor<'_> {
        Factor::rows(self.rows(), map)
    }
}

/// Returns the results of a batch, and checks that no other words were written.
fn multiply(
    products: &mut DeviceProducts,
    shape: &Shape,
    count: usize,
    terms: &[[Factor<'_>; 2]],
) -> Vec<Vec<u64>> {
    let (words, stride) = (shape.words(), shape.words() + count % 2);
    let mut out = products.device().upload(&vec![BETWEEN; count * stride]).unwrap();
    let cells = RowCells::new(out.cells(..), count, words, stride);
    products.multiply(shape, cells, terms).unwrap();
    let all = out.download().unwrap();
    let rows = all.chunks(stride).map(|row| {
        assert!(row[words..].iter().all(|&word| word == BETWEEN), "words between rows");
        row[..words].to_vec()
    });
    rows.collect()
}

/// Returns Σ s·t for row i, in as many words as a sum of two products has.
fn expected(terms: &[[(&Numbers, Map); 2]], i: usize) -> Vec<u64> {
    let mut sum = vec![];
    for [(s, of_s), (t, of_t)] in terms {
        let product = mul(&s.host[of_s.row(i)], &t.host[of_t.row(i)]);
        sum.resize(s.words + t.words + 1, 0);
        add_assign(&mut sum, &product);
    }
    sum
}

/// Checks the words of a window, whose value may differ from that of the product as the shape states.
fn check_window(shape: &Shape, window: &Range<usize>, found: &[u64], product: &[u64]) {
    let want = &product[window.clone()];
    let [mut plus, mut minus] = [want.to_vec(), want.to_vec()];
    let one = |x: &mut Vec<u64>, subtract: bool| {
        // Modulo B^words.
        x.push(u64::from(subtract));
        let _ = if subtract { sub_assign(x, &[1]) } else { add_assign(x, &[1]) };
        x.pop();
    };
    one(&mut plus, false);
    one(&mut minus, true);
    let is_right = found == want
        || window.start > 0 && found == minus
        || window.start > 0 && shape.wraps() && found == plus;
    assert!(is_right, "{shape:?}: {found:x?} instead of {want:x?}");
}

#[test]
fn whole_products_of_batches() {
    let device = Device::simulator().unwrap();
    let mut products = DeviceProducts::new(&device).unwrap();
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    for (count, a, b) in [(1, 32, 32), (7, 5, 40), (16, 32, 33), (3, 300, 260), (41, 1, 2)] {
        let x = Numbers::random(&device, rng, count, a);
        let y = Numbers::random(&device, rng, count, b);
        let shape = Shape::whole(a, b, 1).unwrap();
        let terms = [[x.by(Map::EACH), y.by(Map::EACH)]];
        let found = multiply(&mut products, &shape, count, &terms);
        for (i, found) in found.iter().enumerate() {
            let want = mul(&x.host[i], &y.host[i]);
            assert!(*found == want, "row {i} of {count}: {a} by {b} words");
        }
    }
}

#[test]
fn maps_assign_rows() {
    let device = Device::simulator().unwrap();
    let mut products = DeviceProducts::new(&device).unwrap();
    let rng = &mut ChaCha8Rng::seed_from_u64(2);
    let count = 6;
    let x = Numbers::random(&device, rng, 2 * count, 20);
    let y = Numbers::random(&device, rng, count, 30);
    let shape = Shape::whole(30, 30, 1).unwrap();
    for [(s, of_s), (t, of_t)] in [
        [(&x, Map::EVEN), (&x, Map::ODD)],
        [(&y, Map::EACH), (&y, Map::SWAPPED)],
        [(&y, Map::PARENT), (&x, Map::SWAPPED)],
        [(&y, Map::SHARED), (&x, Map::EVEN)],
        [(&y, Map::SHARED), (&y, Map::SHARED)],
        [(&y, Map::EACH), (&y, Map::EACH)],
    ] {
        let found = multiply(&mut products, &shape, count, &[[s.by(of_s), t.by(of_t)]]);
        for (i, found) in found.iter().enumerate() {
            let mut want = expected(&[[(s, of_s), (t, of_t)]], i);
            want.resize(60, 0);
            assert!(*found == want, "{of_s:?} and {of_t:?}, row {i}");
        }
    }
}

#[test]
fn sums_of_two_products() {
    let device = Device::simulator().unwrap();
    let mut products = DeviceProducts::new(&device).unwrap();
    let rng = &mut ChaCha8Rng::seed_from_u64(3);
    for (count, a, b) in [(1, 40, 40), (5, 32, 35), (9, 3, 2), (2, 600, 400)] {
        let d = Numbers::random(&device, rng, 2 * count, a);
        let p = Numbers::random(&device, rng, 2 * count, b);
        let ones = Numbers::new(&device, vec![vec![u64::MAX; a]; count], 1);
        for terms in [
            [[(&d, Map::EVEN), (&p, Map::ODD)], [(&d, Map::ODD), (&p, Map::EVEN)]],
            [[(&ones, Map::EACH), (&ones, Map::EACH)], [(&ones, Map::EACH), (&ones, Map::EACH)]],
        ] {
            let longest = terms[0].map(|(numbers, _)| numbers.words);
            let shape = Shape::whole(longest[0], longest[1], 2).unwrap();
            let factors = terms.map(|term| term.map(|(numbers, map)| numbers.by(map)));
            let found = multiply(&mut products, &shape, count, &factors);
            for (i, found) in found.iter().enumerate() {
                assert!(*found == expected(&terms, i), "row {i} of {count}: {a} by {b} words");
            }
        }
    }
}

#[test]
fn windows_of_products() {
    let device = Device::simulator().unwrap();
    let mut products = DeviceProducts::new(&device).unwrap();
    let rng = &mut ChaCha8Rng::seed_from_u64(4);
    for (count, a, b) in [(1, 300, 150), (7, 64, 32), (8, 40, 41), (3, 520, 20)] {
        let x = Numbers::random(&device, rng, count, a);
        let y = Numbers::random(&device, rng, count, b);
        let all = a + b;
        let windows =
            [0..1, 0..b, 1..b, b..a.max(b + 1), b - 1..a.max(b), a..all, all - 1..all, 1..all];
        for window in windows {
            let shape = Shape::window(a, b, 1, window.clone()).unwrap();
            let terms = [[(&x, Map::EACH), (&y, Map::EACH)]];
            let factors = terms.map(|term| term.map(|(numbers, map)| numbers.by(map)));
            for (i, found) in multiply(&mut products, &shape, count, &factors).iter().enumerate() {
                check_window(&shape, &window, found, &expected(&terms, i));
            }
            // The sum of the product with itself.
            let terms = [terms[0], terms[0]];
            let factors = terms.map(|term| term.map(|(numbers, map)| numbers.by(map)));
            let shape = Shape::window(a, b, 2, window.clone()).unwrap();
            for (i, found) in multiply(&mut products, &shape, count, &factors).iter().enumerate() {
                check_window(&shape, &window, found, &expected(&terms, i));
            }
        }
    }
}

/// Every error that the doc of [`Shape`] permits occurs, so that callers must expect it.
#[test]
fn errors_of_windows_occur() {
    let device = Device::simulator().unwrap();
    let mut products = DeviceProducts::new(&device).unwrap();
    // The carry out of the words below the window: (B^200 − 1)² = B^400 − 2·B^200 + 1.
    let ones = Numbers::new(&device, vec![vec![u64::MAX; 200]], 0);
    let mut seen = [false; 3];
    let rng = &mut ChaCha8Rng::seed_from_u64(5);
    let y = Numbers::random(&device, rng, 1, 100);
    let x = Numbers::random(&device, rng, 1, 200);
    for (a, b) in [(&ones, &ones), (&ones, &y), (&x, &y), (&x, &ones)] {
        let longest = a.words.max(b.words);
        for from in (b.words..longest + b.words - 1).step_by(7) {
            let window = from..(from + 50).min(a.words + b.words);
            let shape = Shape::window(a.words, b.words, 1, window.clone()).unwrap();
            let terms = [[a.by(Map::EACH), b.by(Map::EACH)]];
            let found = multiply(&mut products, &shape, 1, &terms)[0][0];
            let want = expected(&[[(a, Map::EACH), (b, Map::EACH)]], 0)[window][0];
            let error = found.wrapping_sub(want).wrapping_add(1);
            seen[error as usize] = true;
        }
    }
    assert!(seen[1] && (seen[0] || seen[2]), "{seen:?}");
}

#[test]
fn cyclic_products() {
    let device = Device::simulator().unwrap();
    let mut products = DeviceProducts::new(&device).unwrap();
    let rng = &mut ChaCha8Rng::seed_from_u64(6);
    for (a, b, words) in [(100, 90, 101), (104, 104, 104), (13, 80, 1), (600, 590, 600)] {
        let shape = Shape::cyclic(a, b, 1, words).unwrap();
        let w = shape.words();
        let [mut most_a, mut most_b] = [a, b].map(|len| vec![vec![u64::MAX; len]]);
        // Two numbers whose product is a multiple of B^W − 1, if they are long enough.
        if a == w {
            most_a.push(vec![u64::MAX; a]);
            most_b.push([vec![1], vec![0; b - 1]].concat());
        }
        let cases = most_a.into_iter().zip(most_b).chain([
            (random(rng, a), random(rng, b)),
            (vec![0; a], random(rng, b)),
            ([vec![0; a - 1], vec![1 << 63]].concat(), [vec![0; b - 1], vec![1 << 63]].concat()),
        ]);
        for (x, y) in cases {
            // What exceeds B^W is added to the lowest words, twice at most.
            let mut want = mul(&x, &y);
            while want.len() > w {
                let high = want.split_off(w);
                want.push(0);
                add_assign(&mut want, &high);
                if want[w] == 0 {
                    want.truncate(w);
                }
            }
            want.resize(w, 0);
            let [x, y] = [x, y].map(|x| Numbers::new(&device, vec![x], 0));
            let terms = [[x.by(Map::EACH), y.by(Map::EACH)]];
            let found = multiply(&mut products, &shape, 1, &terms).remove(0);
            assert!(found == want, "{a} by {b} words modulo B^{w} − 1: {found:x?} {want:x?}");
        }
    }
}

/// A carry out of the highest word goes around through all words.
#[test]
fn carries_go_around() {
    let device = Device::simulator().unwrap();
    let mut products = DeviceProducts::new(&device).unwrap();
    for words in [104, 1500] {
        let shape = Shape::cyclic(words, 2, 1, words).unwrap();
        let w = shape.words();
        // (B^W − 2^64)·2 ≡ −2·2^64 + 2, and (B^W − 1 − e)·e' by all ones with a hole.
        for hole in [0, 1, w / 2, w - 1] {
            let mut x = vec![u64::MAX; w];
            x[hole] = 1 << 63;
            let shape = Shape::cyclic(w, 1, 1, w).unwrap().with_form(shape.form()).unwrap();
            let mut want = mul(&x, &[2]);
            let over = want.split_off(w);
            want.push(0);
            add_assign(&mut want, &over);
            assert_eq!(want.pop(), Some(0));
            let [x, y] = [x, vec![2]].map(|x| Numbers::new(&device, vec![x], 0));
            let terms = [[x.by(Map::EACH), y.by(Map::EACH)]];
            let found = multiply(&mut products, &shape, 1, &terms).remove(0);
            assert!(found == want, "{w} words, hole at {hole}");
        }
    }
}

#[test]
fn spectra_are_used_again() {
    let device = Device::simulator().unwrap();
    let mut products = DeviceProducts::new(&device).unwrap();
    let rng = &mut ChaCha8Rng::seed_from_u64(7);
    let (x, y) = (Numbers::random(&device, rng, 6, 40), Numbers::random(&device, rng, 1, 30));
    let whole = Shape::whole(40, 30, 1).unwrap();
    let shared = products.forward(whole.form(), y.rows()).unwrap();
    assert_eq!((shared.rows(), shared.form()), (1, whole.form()));
    let each = products.forward(whole.form(), x.rows()).unwrap();
    let window = 20..61;
    let part = Shape::window(40, 30, 1, window.clone()).unwrap().with_form(whole.form()).unwrap();
    let y_of_all = Factor::spectra(&shared, Map::SHARED);
    for x_of_each in [x.by(Map::EACH), Factor::spectra(&each, Map::EACH)] {
        let found = multiply(&mut products, &whole, 6, &[[x_of_each, y_of_all]]);
        let parts = multiply(&mut products, &part, 6, &[[x_of_each, y_of_all]]);
        for (i, (found, part_found)) in found.iter().zip(&parts).enumerate() {
            let want = expected(&[[(&x, Map::EACH), (&y, Map::SHARED)]], i);
            assert!(*found == want[..70], "row {i}");
            check_window(&part, &window, part_found, &want);
        }
    }
}

/// With a limit of memory, a batch is computed in parts, and cut between pairs.
#[test]
fn batches_in_parts() {
    let device = Device::simulator().unwrap();
    let mut products = DeviceProducts::new(&device).unwrap();
    let rng = &mut ChaCha8Rng::seed_from_u64(8);
    let count = 22;
    let x = Numbers::random(&device, rng, 2 * count, 33);
    let y = Numbers::random(&device, rng, 11, 32);
    let shape = Shape::whole(33, 33, 1).unwrap();
    let of_row = 8 * shape.form().points() as u64;
    for terms in [
        [(&x, Map::EVEN), (&x, Map::ODD)],
        [(&x, Map::SWAPPED), (&y, Map::PARENT)],
        [(&x, Map::EACH), (&y, Map::SHARED)],
    ] {
        let want: Vec<_> = (0..count).map(|i| expected(&[terms], i)).collect();
        let factors = [terms.map(|(numbers, map)| numbers.by(map))];
        for rows in [100, 30, 21, 10] {
            products.set_working_limit(rows * of_row);
            for (found, want) in multiply(&mut products, &shape, count, &factors).iter().zip(&want)
            {
                let mut found = found.clone();
                found.resize(want.len(), 0);
                assert!(found == *want, "{rows} rows at a time");
            }
        }
    }
    // Rows that several factors use by maps with different steps.
    let two = Shape::whole(33, 33, 2).unwrap();
    let z = Numbers::random(&device, rng, 11, 33);
    let [each, shared, even] = [Map::EACH, Map::SHARED, Map::EVEN].map(|map| (&x, map));
    for terms in [
        [[each, shared], [(&z, Map::PARENT), even]],
        [[each, shared], [shared, even]],
        [[each, even], [each, shared]],
    ] {
        let want: Vec<_> = (0..count).map(|i| expected(&terms, i)).collect();
        let factors = terms.map(|term| term.map(|(numbers, map)| numbers.by(map)));
        for rows in [200, 60, 30, 12] {
            products.set_working_limit(rows * 8 * two.form().points() as u64);
            for (found, want) in multiply(&mut products, &two, count, &factors).iter().zip(&want) {
                assert!(found == want, "{rows} rows at a time");
            }
        }
    }
    products.set_working_limit(2 * of_row);
    let mut out = device.alloc(66 * count).unwrap();
    let cells = RowCells::new(out.cells(..), count, 66, 66);
    let error = products.multiply(&shape, cells, &[[x.by(Map::EVEN), x.by(Map::ODD)]]).unwrap_err();
    assert!(matches!(error, HugeError::Memory { limit, .. } if limit == 2 * of_row), "{error}");
}

#[test]
fn batches_are_verified() {
    let device = Device::simulator().unwrap();
    let mut products = DeviceProducts::new(&device).unwrap();
    let rng = &mut ChaCha8Rng::seed_from_u64(9);
    for (count, words) in [(1, 1300), (5, 600), (9, 40), (40, 3)] {
        let x = Numbers::random(&device, rng, 2 * count, words);
        let terms = [[x.by(Map::EVEN), x.by(Map::ODD)], [x.by(Map::EACH), x.by(Map::SHARED)]];
        let shape = Shape::whole(words, words, 2).unwrap();
        let mut out = device.alloc(count * shape.words()).unwrap();
        for wrong in [None, Some(0), Some(count - 1)] {
            let cells = RowCells::new(out.cells(..), count, shape.words(), shape.words());
            products.multiply(&shape, cells, &terms).unwrap();
            if let Some(row) = wrong {
                let mut all = out.download().unwrap();
                all[row * shape.words() + words] ^= 1 << 17;
                out.upload(&all).unwrap();
            }
            let cells = RowCells::new(out.cells(..), count, shape.words(), shape.words());
            products.submit_check(cells, &terms).unwrap();
            let verified = products.verify();
            assert_eq!(verified.is_ok(), wrong.is_none(), "{count} rows of {words} words");
        }
        let residues = products.residues(x.rows()).unwrap();
        let want: Vec<_> = x.host.iter().map(|x| crate::huge::device::residue::of(x)).collect();
        assert!(residues == want, "{count} rows of {words} words");
    }
}
