//! Tests that the stress test reports no errors on sound engines, and reports the errors of faulty
//! ones.

use std::cell::Cell;

use warpint_mersenne::engine::{fp64::Fp64, goldilocks::Goldilocks};
use warpint_mersenne::{EngineError, EngineFamily, Plan};
use warpint_selftest::faults::wrappers::{Fault, Faulty};
use warpint_selftest::stress::{BLOCK, LAP, News, Tally, stress};
use warpint_testkit::tests::plan;

/// Runs the stress test for `blocks` blocks. Returns its tally, and the messages about mismatches.
fn blocks(plans: &[Plan], blocks: u64) -> (Result<Tally, EngineError>, Vec<String>) {
    let made = Cell::new(0);
    let mut said = vec![];
    let tally = stress(plans, &|| made.get() >= blocks, &mut |news| match news {
        News::Block(..) => made.set(made.get() + 1),
        News::Mismatch(line) => said.push(line),
    });
    (tally, said)
}

#[test]
fn sound_engines_pass_and_every_lap_but_the_first_is_compared() {
    let plans = [plan(&Fp64, 1_279).unwrap(), plan(&Goldilocks, 2_203).unwrap()];
    let whole = LAP / BLOCK;
    let (tally, said) = blocks(&plans, 4 * whole + 7);
    let expected = Tally { squarings: 4 * LAP + 7 * BLOCK, checks: 5, residues: 2, mismatches: 0 };
    assert_eq!((tally, said), (Ok(expected), vec![]));
}

#[test]
fn any_wrong_product_is_found() {
    let inner: &'static dyn EngineFamily = &Fp64;
    // In a block, in the product of blocks, and in the check itself.
    for after in [1, 57, 101, 150, 202, 210, 302, 404] {
        let faulty = Faulty::leaked(inner, Fault::FlippedBit { after, bit: 9 });
        let (tally, said) = blocks(&[plan(faulty, 1_279).unwrap()], 4);
        let tally = tally.unwrap();
        assert_eq!((tally.checks, tally.mismatches), (1, 1), "product {after}: {tally:?}");
        assert!(said[0].contains("the check after 400 squarings failed"), "{said:?}");
    }
    let dead = Faulty::leaked(inner, Fault::Dead { after: 50 });
    assert_eq!(blocks(&[plan(dead, 1_279).unwrap()], 2).0.unwrap().mismatches, 1);
}
