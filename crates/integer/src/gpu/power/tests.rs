//! Tests of powers by residues on the simulator, with few words per number, against powers on the
//! CPU.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_device::Device;
use warpint_natural::limbs;

use super::super::{Gpu, Operand, Shape};
use super::residues::PowerResidues;

fn wide(x: &[u32]) -> Vec<u64> {
    let word = |pair: &[u32]| u64::from(pair[0]) | u64::from(*pair.get(1).unwrap_or(&0)) << 32;
    x.chunks(2).map(word).collect()
}

/// Returns `count` numbers of `limbs` limbs: all ones, a power of two, one and zero, then random
/// numbers, half of which have some limbs of all zeros or all ones.
fn numbers(rng: &mut ChaCha8Rng, count: usize, limbs: usize) -> Vec<Vec<u32>> {
    let number = |i: usize| {
        let mut word = |j: usize| match (i, rng.random_range(0..4)) {
            (0, _) => u32::MAX,
            (1, _) => u32::from(j + 1 == limbs) << 31,
            (2, _) => u32::from(j == 0),
            (3, _) => 0,
            (i, 0) if i % 2 == 0 => u32::MAX,
            (i, 1) if i % 2 == 0 => 0,
            _ => rng.random(),
        };
        (0..limbs).map(&mut word).collect()
    };
    (0..count).map(number).collect()
}

/// A version of the kernel for powers x^e mod m, with a simulated device. `limbs` has the numbers
/// of limbs of x, e and m.
struct Case {
    gpu: Gpu,
    shape: PowerResidues,
    limbs: [usize; 3],
}

impl Case {
    fn new(limbs: [usize; 3], shape: [usize; 5]) -> Self {
        let gpu = Gpu::new(&Device::simulator().unwrap());
        Self { gpu, shape: PowerResidues::with(limbs, shape).unwrap(), limbs }
    }

    /// Returns the powers, and the flags, which are 1 for zero moduli. Returns `None` if a prime of
    /// the first base divides a nonzero modulus.
    fn powers(&self, numbers: [&[Vec<u32>]; 3]) -> Option<(Vec<u32>, Vec<u8>)> {
        let device = self.gpu.device();
        let count = numbers.map(<[_]>::len).into_iter().max().unwrap();
        let data = numbers.map(|rows| device.upload(&rows.concat()).unwrap());
        let operand = |i: usize| {
            let broadcast = numbers[i].len() < count;
            Operand::new(&data[i], self.limbs[i], broadcast)
        };
        let mut out = device.alloc(count * self.limbs[2]).unwrap();
        let mut zeros = device.alloc(count).unwrap();
        let operands = [operand(0), operand(1), operand(2)];
        let (gpu, shape) = (&self.gpu, &self.shape);
        let done = gpu.power_by_residues(shape, operands, count, &mut out, &mut zeros).unwrap();
        done.then(|| (out.download().unwrap(), zeros.download().unwrap()))
    }

    fn check(&self, numbers: [&[Vec<u32>]; 3]) {
        let (powers, zeros) = self.powers(numbers).unwrap();
        for (i, found) in powers.chunks(self.limbs[2]).enumerate() {
            let [x, e, m] = numbers.map(|rows| &rows[i % rows.len()]);
            let expected = limbs::pow_mod(&wide(x), &wide(e), &wide(m));
            assert_eq!(zeros[i] == 1, expected.is_none());
            let mut expected = expected.unwrap_or_default();
            expected.resize(self.limbs[2].div_ceil(2), 0);
            assert_eq!(wide(found), expected, "{:?}: {x:x?}^{e:x?} mod {m:x?}", self.shape);
        }
    }

    fn drawn(&self, rng: &mut ChaCha8Rng, count: usize) -> [Vec<Vec<u32>>; 3] {
        let [x, mut e, mut m] = self.limbs.map(|limbs| numbers(rng, count, limbs));
        e.rotate_left(1);
        m.rotate_left(count / 2);
        [x, e, m]
    }
}

/// Tests one and several groups, tiles, warps and chunks; a partial last group; x and m of
/// different widths; fewer numbers than a block holds, and more than all blocks of the four
/// multiprocessors hold.
#[test]
fn powers_by_residues() {
    powers_of_shapes(&[
        ([7, 1, 7], [1, 4, 1, 2, 1], 326),
        ([3, 1, 5], [1, 2, 1, 1, 1], 20),
        ([16, 1, 16], [2, 2, 2, 2, 1], 161),
        ([20, 1, 23], [3, 1, 1, 1, 1], 9),
    ]);
}

#[test]
#[ignore = "slow: more shapes"]
fn powers_by_residues_of_more_shapes() {
    powers_of_shapes(&[
        ([7, 1, 7], [1, 4, 1, 1, 1], 40),
        ([7, 2, 7], [1, 1, 1, 2, 1], 145),
        ([16, 1, 16], [2, 2, 1, 1, 1], 20),
        ([16, 1, 16], [1, 1, 2, 1, 1], 9),
        ([40, 1, 40], [3, 4, 3, 2, 1], 70),
    ]);
}

fn powers_of_shapes(shapes: &[([usize; 3], [usize; 5], usize)]) {
    for &(limbs, shape, count) in shapes {
        let case = Case::new(limbs, shape);
        let mut rng = ChaCha8Rng::seed_from_u64(13);
        let [x, e, m] = case.drawn(&mut rng, count);
        case.check([&x, &e, &m]);
    }
}

#[test]
fn windows_of_all_widths() {
    let mut rng = ChaCha8Rng::seed_from_u64(17);
    for (e_limbs, window) in [(1, 1), (1, 2), (8, 4), (16, 5), (64, 6)] {
        let mut case = Case::new([7, e_limbs, 7], [1, 1, 1, 1, 1]);
        case.shape.window = window;
        let [x, e, m] = case.drawn(&mut rng, 9);
        case.check([&x, &e, &m]);
    }
}

#[test]
fn exponents_of_zero_alone() {
    let case = Case::new([7, 1, 7], [1, 1, 1, 1, 1]);
    let mut rng = ChaCha8Rng::seed_from_u64(18);
    let [x, _, m] = case.drawn(&mut rng, 9);
    for e in 0..3 {
        case.check([&x, &vec![vec![e]; 9], &m]);
    }
}

#[test]
fn one_number_with_all() {
    let case = Case::new([7, 1, 7], [1, 1, 1, 1, 1]);
    let mut rng = ChaCha8Rng::seed_from_u64(14);
    let [x, e, m] = case.drawn(&mut rng, 9);
    case.check([&x[8..], &e, &m]);
    case.check([&x, &e[..1], &m]);
    case.check([&x, &e, &m[..1]]);
}

#[test]
fn a_modulus_with_a_prime_of_a_base_is_told() {
    let case = Case::new([7, 1, 7], [1, 1, 1, 1, 1]);
    let mut rng = ChaCha8Rng::seed_from_u64(15);
    let [x, e, mut m] = case.drawn(&mut rng, 9);
    // The largest primes below 2^32 are those of the first base.
    m[7] = vec![0, 0, 4_294_967_279, 0, 0, 0, 0];
    assert!(case.powers([&x, &e, &m]).is_none());
    // Primes of the second base are allowed as divisors.
    m[7] = vec![0, 0, 4_294_967_029, 0, 0, 0, 0];
    case.check([&x, &e, &m]);
}

#[test]
fn shapes_of_real_widths() {
    // The least and the most shared memory per block of current devices.
    for shared_memory in [99 << 10, 227 << 10] {
        for m_limbs in 1..=512 {
            let shape = PowerResidues::new([m_limbs; 3], shared_memory).unwrap();
            assert!(shape.shared_bytes() <= shared_memory, "{shape:?}");
            assert!((1..=12).contains(&(shape.threads() / 32)), "{shape:?}");
        }
    }
    assert!(PowerResidues::new([65, 64, 64], 227 << 10).is_none());
    assert!(PowerResidues::new([513; 3], 227 << 10).is_none());
}

#[test]
fn a_batch_with_such_a_modulus_goes_by_products() {
    let gpu = Gpu::new(&Device::simulator().unwrap());
    let mut rng = ChaCha8Rng::seed_from_u64(16);
    let width = 33;
    let [x, mut m] = [0, 1].map(|_| numbers(&mut rng, 7, width)[4..].to_vec());
    let e = vec![vec![0x8000_0001], vec![0], vec![u32::MAX]];
    for singular in [false, true] {
        if singular {
            m[1].fill(0);
            m[1][31] = 4_294_967_291;
        }
        let data = [&x, &e, &m].map(|rows| gpu.device().upload(&rows.concat()).unwrap());
        let operand = |i: usize, limbs| Operand::new(&data[i], limbs, false);
        let mut out = gpu.device().alloc(3 * width).unwrap();
        let mut zeros = gpu.device().alloc(3).unwrap();
        let operands = [operand(0, width), operand(1, 1), operand(2, width)];
        gpu.power(operands[0], operands[1], operands[2], 3, &mut out, &mut zeros).unwrap();
        for (i, found) in out.download().unwrap().chunks(width).enumerate() {
            let expected = limbs::pow_mod(&wide(&x[i]), &wide(&e[i]), &wide(&m[i])).unwrap();
            assert_eq!(limbs::trimmed(&wide(found)), limbs::trimmed(&expected));
        }
    }
}
