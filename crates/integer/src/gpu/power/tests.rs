//! Powers in lanes on the simulator, with few limbs a lane, against products and remainders.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_arith::limbs;
use warpint_device::Device;

use super::super::{Gpu, Operand};
use super::lanes::PowerLanes;

fn wide(x: &[u32]) -> Vec<u64> {
    let word = |pair: &[u32]| u64::from(pair[0]) | u64::from(*pair.get(1).unwrap_or(&0)) << 32;
    x.chunks(2).map(word).collect()
}

/// Numbers of `limbs` limbs: all ones, ones and zeros in runs, drawn ones.
fn numbers(rng: &mut ChaCha8Rng, count: usize, limbs: usize) -> Vec<Vec<u32>> {
    let number = |i: usize| {
        let mut word = |j: usize| match (i, rng.random_range(0..4)) {
            (0, _) => u32::MAX,
            (1, _) => u32::from(j + 1 == limbs) << 31,
            (2, _) => u32::from(j == 0),
            (i, 0) if i % 2 == 0 => u32::MAX,
            (i, 1) if i % 2 == 0 => 0,
            _ => rng.random(),
        };
        (0..limbs).map(&mut word).collect()
    };
    (0..count).map(number).collect()
}

fn check(gpu: &Gpu, lanes: usize, [x_limbs, e_limbs, m_limbs]: [usize; 3], count: usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(13);
    let x = numbers(&mut rng, count, x_limbs);
    let mut e = numbers(&mut rng, count, e_limbs);
    let mut m = numbers(&mut rng, count, m_limbs);
    e.rotate_left(1);
    m.rotate_left(count / 2);
    for m in &mut m {
        m[0] |= 1;
    }
    let shape = PowerLanes::with([x_limbs, e_limbs, m_limbs], lanes).unwrap();
    let upload = |rows: &[Vec<u32>]| gpu.device().upload(&rows.concat()).unwrap();
    let data = [upload(&x), upload(&e), upload(&m)];
    let operand = |i: usize, limbs| Operand { data: &data[i], limbs, broadcast: false };
    let operands = [operand(0, x_limbs), operand(1, e_limbs), operand(2, m_limbs)];
    let out = gpu.device().alloc(count * m_limbs).unwrap();
    let zeros = gpu.device().alloc(count).unwrap();
    assert!(!gpu.power_of_odd(&shape, operands, count, &out, &zeros).unwrap());
    assert!(zeros.download().unwrap().iter().all(|&zero| zero == 0));
    for (i, found) in out.download().unwrap().chunks(m_limbs).enumerate() {
        let mut expected = limbs::pow_mod(&wide(&x[i]), &wide(&e[i]), &wide(&m[i])).unwrap();
        expected.resize(m_limbs.div_ceil(2), 0);
        assert_eq!(wide(found), expected, "{shape:?}: {:x?}^{:x?} mod {:x?}", x[i], e[i], m[i]);
    }
    // An even one is told, and zeros are flagged.
    m[1][0] &= !1;
    m[2].fill(0);
    let data = upload(&m);
    let operands = [operands[0], operands[1], Operand { data: &data, ..operands[2] }];
    assert!(gpu.power_of_odd(&shape, operands, count, &out, &zeros).unwrap());
    let flags: Vec<u8> = (0..count).map(|i| u8::from(i == 2)).collect();
    assert_eq!(zeros.download().unwrap(), flags);
}

#[test]
fn powers_in_lanes() {
    let gpu = Gpu::new(&Device::simulator().unwrap());
    for (lanes, limbs) in [
        (2, [8, 2, 8]),
        (2, [5, 1, 7]),
        (4, [16, 1, 16]),
        (4, [30, 1, 32]),
        (8, [32, 1, 32]),
        (16, [64, 1, 64]),
        (32, [128, 1, 128]),
        (2, [40, 1, 64]),
    ] {
        check(&gpu, lanes, limbs, 20);
    }
}
