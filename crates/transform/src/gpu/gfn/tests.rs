//! The kernels, on the simulator, against the definition.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_arith::field::Field;
use warpint_arith::gfn::{Form, Gfn, PRIMES};
use warpint_arith::with_field;
use warpint_device::Device;

use super::GfnFft;
use crate::definition;
use crate::gpu::layout::{element_major, limb_major};

/// Elements of all kinds: drawn ones, and those at which digits carry or wrap.
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

fn check<const K: usize>(field: &Gfn<K>, log2: u32, batch: usize) {
    let device = Device::simulator().unwrap();
    let plan = GfnFft::new(&device, field.form(), log2, batch).unwrap();
    let n = 1usize << log2;
    let x = elements(field, n * batch, 1);
    let from = device.upload(&limb_major(x.as_flattened(), K)).unwrap();
    let mut to = device.alloc(from.len()).unwrap();
    plan.forward(&from, &mut to).unwrap();
    let words = element_major(&to.download().unwrap(), K);
    let root = field.root_of_unity(log2).unwrap();
    for b in 0..batch {
        let expected = definition::transform(field, &x[b * n..(b + 1) * n], &root);
        assert_eq!(
            words[b * n * K..(b + 1) * n * K],
            *expected.as_flattened(),
            "{} 2^{log2}",
            field.form()
        );
    }
    let mut back = device.alloc(from.len()).unwrap();
    plan.inverse(&to, &mut back).unwrap();
    assert_eq!(element_major(&back.download().unwrap(), K), x.as_flattened());
}

fn check_form(form: Form, log2: u32, batch: usize) {
    with_field!(form, |field| check(&field, log2, batch)).unwrap();
}

#[test]
fn transforms_of_every_prime_and_kind_of_length() {
    for form in PRIMES {
        for log2 in [0, 1, 2, 3, 5, 6] {
            if form.digits() * form.digits() << (2 * log2) < 1 << 16 {
                println!("{form} {log2}");
                check_form(form, log2, if log2 == 3 { 2 } else { 1 });
            }
        }
    }
}
