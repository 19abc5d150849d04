//! Tests that each fault of an engine occurs once, where it should, and that nothing else changes.

use super::*;
use crate::sample;
use warpint_mersenne::engine::fp64::Fp64;

const P: u32 = 521;
const SHIFT: u32 = 77;

fn engine(family: &dyn EngineFamily) -> Box<dyn Engine> {
    family.build(P, 32, BuildOptions::new(2, 1)).unwrap()
}

/// Returns the residue after twenty steps x² − 2, if a bit of the register is flipped after the
/// first k steps.
fn expected(x: &Residue, k: u64, bit: u32) -> Residue {
    let mut sound = engine(&Fp64);
    let shift = Shift::new(SHIFT, P);
    let at = shift.after_squarings(k, P);
    sound.write(0, x, shift).unwrap();
    sound.square(0, k, Step::SquareMinusTwo, shift).unwrap();
    let mut held = sound.read(0, Shift::ZERO).unwrap().limbs().to_vec();
    held[bit as usize / 64] ^= 1 << (bit % 64);
    sound.write(0, &Residue::from_limbs(P, &held), Shift::ZERO).unwrap();
    sound.square(0, 20 - k, Step::SquareMinusTwo, at).unwrap();
    sound.read(0, shift.after_squarings(20, P)).unwrap()
}

#[test]
fn a_bit_flips_after_just_the_squaring_that_was_asked_for() {
    let x = sample::residue(&mut sample::random(1), P);
    let shift = Shift::new(SHIFT, P);
    for k in 0..=20u64 {
        for bit in [0, 63, 64, 300, P - 1] {
            let fault = Fault::FlippedRegister { register: 0, after: 1 + k, bit };
            let family = Faulty::leaked(&Fp64, fault);
            let mut faulty = engine(family);
            faulty.write(0, &x, shift).unwrap();
            // In two calls, as a test makes them.
            faulty.square(0, 7, Step::SquareMinusTwo, shift).unwrap();
            let at = shift.after_squarings(7, P);
            faulty.square(0, 13, Step::SquareMinusTwo, at).unwrap();
            let found = faulty.read(0, shift.after_squarings(20, P)).unwrap();
            assert_eq!(found, expected(&x, k, bit), "bit {bit} after {k}");
            assert_eq!((family.flips(), family.products()), (1, 20));
            assert_eq!(family.changes()[..2], [21, 0]);
        }
    }
}

#[test]
fn other_registers_keep_what_they_have() {
    let fault = Fault::FlippedRegister { register: 1, after: 3, bit: 5 };
    let family = Faulty::leaked(&Fp64, fault);
    let mut faulty = engine(family);
    faulty.set(0, 3, Shift::ZERO).unwrap();
    faulty.copy(1, 0).unwrap();
    faulty.square(0, 2, Step::Square, Shift::ZERO).unwrap();
    faulty.mul(1, 1, 0).unwrap();
    assert_eq!(family.flips(), 0);
    faulty.add(1, 1, 0).unwrap();
    let (x, y) = (81, 3 * 81 + 81);
    assert!(faulty.read(0, Shift::ZERO).unwrap().is(x));
    assert!(faulty.read(1, Shift::ZERO).unwrap().is(y ^ 1 << 5));
    assert_eq!(family.changes()[..2], [3, 3]);
}

#[test]
fn a_sound_stretch_is_made_at_one_go() {
    let family = Faulty::leaked(&Fp64, Fault::FlippedBit { after: 1_000, bit: 0 });
    let inner = Fp64.build(P, 32, BuildOptions::new(2, 1)).unwrap();
    let faulty = FaultyEngine { inner, fault: family.fault.clone(), counts: family.counts.clone() };
    assert_eq!(faulty.next_event(0), Some(1_000));
    let without = Fault::Optimism { bits: 1.0 };
    assert_eq!(FaultyEngine { fault: without, ..faulty }.next_event(0), None);
}
