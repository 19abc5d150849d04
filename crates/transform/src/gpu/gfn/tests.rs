//! Compares the kernels, on the simulator, with the definition and the CPU.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_arith::field::Field;
use warpint_arith::gfn::{Form, Gfn, PRIMES};
use warpint_arith::with_field;
use warpint_device::Device;

use super::{GfnFft, GfnFftError, shape};
use crate::Plan;
use crate::cpu::Transform;
use crate::definition;
use crate::gpu::WrongLength;
use crate::gpu::layout::{element_major, limb_major};

/// Returns random elements. About half of them have extreme digits, such as 0 and r − 1, which
/// cause carries.
fn elements<const K: usize>(field: &Gfn<K>, count: usize, seed: u64) -> Vec<[u64; K]> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let r = field.form().radix();
    let mut minus_one = [0; K];
    minus_one[K - 1] = r;
    (0..count)
        .map(|_| match rng.random_range(0..8) {
            0 => [0; K],
            1 => minus_one,
            2 => [r - 1; K],
            3 => std::array::from_fn(|_| if rng.random() { r - 1 } else { 0 }),
            _ => std::array::from_fn(|_| rng.random_range(0..r)),
        })
        .collect()
}

/// Tests a transform and its inverse, and a convolution if `convolves` is true.
fn check<const K: usize>(field: &Gfn<K>, log2: u32, batch: usize, convolves: bool) {
    let (device, form) = (Device::simulator().unwrap(), field.form());
    let plan = GfnFft::new(&device, form, log2, batch).unwrap();
    let cpu = Transform::new(field.clone(), log2).unwrap();
    let n = 1usize << log2;
    let x = elements(field, n * batch, 1);
    let from = device.upload(&limb_major(x.as_flattened(), K)).unwrap();
    let mut to = device.alloc(from.len()).unwrap();
    plan.forward_into(&from, &mut to).unwrap();
    let words = element_major(&to.download().unwrap(), K);
    let root = field.root_of_unity(log2).unwrap();
    for (x, found) in x.chunks(n).zip(words.chunks(n * K)) {
        let mut expected = x.to_vec();
        cpu.forward(&mut expected).unwrap();
        assert_eq!(found, expected.as_flattened(), "{form} 2^{log2}");
        if n <= 8 {
            assert_eq!(definition::transform(field, x, &root), expected, "{form} 2^{log2}");
        }
    }
    let mut back = device.alloc(from.len()).unwrap();
    plan.inverse_into(&to, &mut back).unwrap();
    assert_eq!(element_major(&back.download().unwrap(), K), x.as_flattened(), "{form} 2^{log2}");
    if !convolves {
        return;
    }
    let y = elements(field, n * batch, 2);
    let mut other = device.upload(&limb_major(y.as_flattened(), K)).unwrap();
    plan.convolve(&mut back, &mut other).unwrap();
    let words = element_major(&back.download().unwrap(), K);
    for (b, found) in words.chunks(n * K).enumerate() {
        let at = b * n..(b + 1) * n;
        let expected = definition::convolve(field, &x[at.clone()], &y[at]);
        assert_eq!(found, expected.as_flattened(), "{form} 2^{log2}");
    }
}

fn check_form(form: Form, log2: u32, batch: usize, convolves: bool) {
    with_field!(form, |field| check(&field, log2, batch, convolves)).unwrap();
}

#[test]
fn one_pass_and_two_over_every_prime() {
    for form in PRIMES {
        check_form(form, shape::most_log_points(form, 227 << 10) + 1, 1, false);
        check_form(form, 2, 2, true);
    }
}

#[test]
fn lengths_of_every_kind() {
    for (k, log2) in [(2, 0), (2, 1), (2, 7), (4, 7), (8, 1), (8, 9), (16, 0), (32, 1)] {
        let form = PRIMES.into_iter().find(|form| form.digits() == k).unwrap();
        check_form(form, log2, 1, false);
    }
}

/// Tests forms of several kinds: with the largest radix, with the smallest supported exponent w of
/// r = 2^w ± 2^u, with exponents w and u close to each other, and with few roots of unity.
#[test]
fn primes_of_ones_own() {
    let largest = Form::minus(64, 1, 8).unwrap();
    let others = [Form::minus(63, 59, 2), Form::plus(58, 4, 2), Form::minus(56, 17, 8)];
    let all = [largest].into_iter().chain(others.map(Result::unwrap));
    for form in all {
        check_form(form, 3, 1, true);
    }
    let device = Device::simulator().unwrap();
    let error = GfnFft::new(&device, largest, 9, 1).map(drop);
    assert_eq!(error, Err(GfnFftError::Length { form: largest, log2: 9, most: 8 }));
}

#[test]
fn tiles_fit_the_shared_memory_of_every_device() {
    for form in PRIMES {
        for shared_memory in [64 << 10, 99 << 10, 227 << 10] {
            for log_points in 0..=shape::most_log_points(form, shared_memory) {
                let tile = shape::Tile::of_pass(form, log_points, 20, 1, shared_memory);
                assert!(tile.shared_bytes() <= shared_memory, "{tile:?} in {shared_memory}");
            }
        }
    }
}

/// Tests that several threads can use a plan at the same time, although its passes share a buffer
/// that the plan owns.
#[test]
fn threads_may_share_a_plan() {
    let device = Device::simulator().unwrap();
    let field = Gfn::<2>::new(PRIMES[0]).unwrap();
    let plan = GfnFft::new(&device, field.form(), 4, 1).unwrap();
    std::thread::scope(|scope| {
        for seed in 0..8 {
            let (device, field, plan) = (&device, &field, &plan);
            scope.spawn(move || {
                let x = elements(field, 16, seed);
                let from = device.upload(&limb_major(x.as_flattened(), 2)).unwrap();
                let (mut to, mut first) = (device.alloc(32).unwrap(), None);
                for _ in 0..100 {
                    plan.forward_into(&from, &mut to).unwrap();
                    let found = to.download().unwrap();
                    assert_eq!(first.get_or_insert_with(|| found.clone()), &found);
                }
            });
        }
    });
}

#[test]
fn what_no_plan_is_for() {
    let device = Device::simulator().unwrap();
    let [form, ..] = PRIMES;
    let small = Form::minus(3, 2, 2).unwrap();
    let new = |form, log2, batch| GfnFft::new(&device, form, log2, batch).map(drop);
    assert_eq!(new(small, 2, 1), Err(GfnFftError::Radix(small)));
    assert_eq!(new(form, 3, 0), Err(GfnFftError::Batch { batch: 0, log2: 3 }));
    assert_eq!(new(form, 31, 1), Err(GfnFftError::Batch { batch: 1, log2: 31 }));
    let composite = Form::plus(63, 54, 2).unwrap();
    assert!(!composite.is_prime());
    assert!(matches!(new(composite, 3, 1), Err(GfnFftError::Field(_))));
    let plan = GfnFft::new(&device, form, 3, 1).unwrap();
    let (x, mut out) = (device.alloc(16).unwrap(), device.alloc(15).unwrap());
    assert_eq!(
        plan.forward_into(&x, &mut out),
        Err(GfnFftError::Words(WrongLength { words: 15, expected: 16 }))
    );
}

#[test]
#[should_panic(expected = "a pass is not done in place")]
fn a_pass_in_place_is_refused_before_a_launch() {
    let device = Device::simulator().unwrap();
    let plan = GfnFft::new(&device, PRIMES[0], 3, 1).unwrap();
    let mut x = device.alloc(16).unwrap();
    let cells = x.cells(..);
    drop(plan.launch(&plan.passes[0], cells.view(), cells, false));
}
