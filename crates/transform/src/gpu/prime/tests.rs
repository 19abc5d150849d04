//! Compares the kernels, on the simulator, with the definition and the CPU's transforms.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_arith::field::Field;
use warpint_arith::montgomery::known::{BLS12_377_BASE, BLS12_381_SCALAR, BN254_SCALAR, full};
use warpint_arith::montgomery::{PrimeField, Residue};
use warpint_device::{Buffer, Device, DeviceError};

use super::{PrimeFft, PrimeFftError};
use crate::Plan;
use crate::cpu::Transform;
use crate::definition;
use crate::gpu::WrongLength;
use crate::gpu::layout::{element_major, limb_major};

/// Returns random elements, among them 0, 1 and p − 1.
fn elements<const L: usize>(field: &PrimeField<L>, count: usize, seed: u64) -> Vec<Residue<L>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let base = field.from_u64(u64::MAX);
    let mut element = || match rng.random_range(0..8) {
        0 => field.zero(),
        1 => field.one(),
        2 | 3 => field.neg(&field.one()),
        _ => (0..=L).fold(field.zero(), |sum, _| {
            field.add(&field.mul(&sum, &base), &field.from_u64(rng.random()))
        }),
    };
    (0..count).map(|_| element()).collect()
}

fn upload<const L: usize>(
    device: &Device,
    field: &PrimeField<L>,
    x: &[Residue<L>],
) -> Result<Buffer<u64>, DeviceError> {
    let words: Vec<u64> = x.iter().flat_map(|x| field.integer(x)).collect();
    device.upload(&limb_major(&words, L))
}

fn download<const L: usize>(field: &PrimeField<L>, x: &Buffer<u64>) -> Vec<Residue<L>> {
    let words = element_major(&x.download().unwrap(), L);
    words.chunks(L).map(|x| field.element(x.try_into().unwrap()).unwrap()).collect()
}

/// Compares a transform, its inverse and a convolution with the CPU's results, in every element.
fn check<const L: usize>(field: &PrimeField<L>, log2: u32, batch: usize) {
    let device = Device::simulator().unwrap();
    let plan = PrimeFft::new(&device, field, log2, batch).unwrap();
    let (n, what) = (1 << log2, format!("{L} words, {batch} times 2^{log2}"));
    let (x, y) = (elements(field, n * batch, 1), elements(field, n * batch, 2));
    let mut a = upload(&device, field, &x).unwrap();
    let mut b = upload(&device, field, &y).unwrap();
    let mut out = device.alloc(a.len()).unwrap();
    plan.forward_into(&a, &mut out).unwrap();
    let cpu = Transform::new(*field, log2).unwrap();
    let mut expected = x.clone();
    cpu.forward(&mut expected).unwrap();
    if log2 <= 5 {
        let root = field.root_of_unity(log2).unwrap();
        for (x, expected) in x.chunks(n).zip(expected.chunks(n)) {
            assert_eq!(definition::transform(field, x, &root), expected, "{what}, on the CPU");
        }
    }
    assert!(download(field, &out) == expected, "{what}");
    let mut back = device.alloc(a.len()).unwrap();
    plan.inverse_into(&out, &mut back).unwrap();
    assert!(download(field, &back) == x, "{what}, and back");
    plan.convolve(&mut a, &mut b).unwrap();
    let mut expected = x;
    cpu.cyclic(&mut expected, &mut y.clone()).unwrap();
    assert!(download(field, &a) == expected, "{what}, a convolution");
    assert!(download(field, &b) == y, "{what}, the second factor");
}

fn check_full<const L: usize>(log2: u32, batch: usize) {
    check(&PrimeField::new(full::<L>().unwrap()).unwrap(), log2, batch);
}

#[test]
fn transforms_over_known_fields() {
    let bn254 = BN254_SCALAR.field().unwrap();
    for (log2, batch) in [(0, 1), (0, 5), (1, 1), (2, 3), (3, 1), (5, 2), (7, 1), (8, 3), (11, 1)] {
        check(&bn254, log2, batch);
    }
    check(&BLS12_381_SCALAR.field().unwrap(), 9, 1);
    let base = BLS12_377_BASE.field().unwrap();
    check(&base, 3, 70);
    check(&base, 10, 1);
}

/// Tests a transform of three passes.
#[test]
fn a_transform_of_three_passes() {
    check(&PrimeField::new([0xffff_ffff_0000_0001]).unwrap(), 15, 1);
}

#[test]
fn moduli_without_a_spare_bit() {
    check_full::<1>(6, 2);
    check_full::<2>(8, 1);
    check_full::<3>(4, 3);
    check_full::<4>(8, 1);
    check_full::<6>(5, 1);
    check_full::<8>(8, 1);
    check_full::<12>(7, 1);
    check_full::<16>(3, 5);
}

#[test]
fn elements_too_large_for_registers() {
    check_full::<32>(5, 1);
    let mut modulus = [0; 20];
    modulus[0] = 0xffff_ffff_0000_0001;
    check(&PrimeField::new(modulus).unwrap(), 8, 2);
}

#[test]
#[ignore = "seconds: elements of 4,096 bits"]
fn elements_of_4096_bits() {
    check_full::<64>(4, 1);
}

#[test]
fn small_primes_in_wide_words() {
    check(&PrimeField::new([3]).unwrap(), 1, 40);
    check(&PrimeField::new([17]).unwrap(), 4, 3);
    check(&PrimeField::new([65_537, 0, 0]).unwrap(), 10, 1);
}

#[test]
fn what_there_is_not() {
    let device = Device::simulator().unwrap();
    let field = PrimeField::new([17]).unwrap();
    let new = |log2, batch| PrimeFft::new(&device, &field, log2, batch);
    assert_eq!(new(5, 1).unwrap_err(), PrimeFftError::Length { log2: 5, most: 4 });
    for batch in [0, 1 << 30, usize::MAX] {
        assert_eq!(new(4, batch).unwrap_err(), PrimeFftError::Batch { batch, log2: 4 });
    }
    let plan = new(2, 3).unwrap();
    let (mut short, mut out) = (device.alloc(11).unwrap(), device.alloc(12).unwrap());
    let words = PrimeFftError::Words(WrongLength { words: 11, expected: 12 });
    assert_eq!(plan.forward_into(&short, &mut out), Err(words.clone()));
    assert_eq!(plan.convolve(&mut out, &mut short), Err(words));
}

#[test]
#[should_panic(expected = "words of vectors")]
fn a_pass_of_another_length_is_refused_before_a_launch() {
    let device = Device::simulator().unwrap();
    let plan = PrimeFft::new(&device, &PrimeField::new([17]).unwrap(), 2, 3).unwrap();
    let (x, mut out) = (device.alloc(12).unwrap(), device.alloc(11).unwrap());
    drop(plan.launch_pass((x.view(..), out.cells(..)), (0, 2), None));
}
