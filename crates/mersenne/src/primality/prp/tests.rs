use super::*;
use crate::Step;

#[test]
fn a_verified_state_that_memory_has_changed_is_known() {
    let p = 61;
    let mut prp = Prp::new(TestKind::Prp, Residue::from_u64(p, 3), 61);
    assert!(prp.verified().is_some_and(|state| state.is_intact()));
    let sealed = DigestedResidue::new(Residue::from_u64(p, 3)).changed_to(Residue::from_u64(p, 7));
    prp.verified = (0, sealed);
    assert!(prp.verified().is_some_and(|state| !state.is_intact()));
}

#[test]
fn a_changed_exponent_is_known() {
    for (text, kind) in
        [("22*3^700+1", TestKind::Fermat { base: 5 }), ("27*2^57+1", TestKind::Proth { base: 7 })]
    {
        let number: crate::Number = text.parse().unwrap();
        let mut prp = Prp::new(kind, Residue::from_u64(number, 5), kind.iterations(number));
        assert!(prp.has_right_constants());
        for bit in [0, 30, 56] {
            prp.steps.flip(bit);
            assert!(!prp.has_right_constants(), "{text}, bit {bit}");
            prp.steps.flip(bit);
        }
        assert!(prp.has_right_constants());
    }
}

#[test]
fn a_last_residue_of_the_wrong_sign_is_found() {
    use crate::engine::{BuildOptions, EngineFamily, word::Word};
    use warpint_natural::limbs;

    let p = 59;
    let options = BuildOptions::new(7, 1);
    let mut engine = Word.build(p, 1, options).unwrap();
    let mut prp = Prp::new(TestKind::Prp, Residue::from_u64(p, 3), u64::from(p));
    let first = prp.first();
    prp.load(engine.as_mut(), &first).unwrap();
    while prp.last.is_none() {
        prp.advance(engine.as_mut(), 1).unwrap();
    }
    // −x has the same square as the right residue x.
    let zero = Residue::from_u64(p, 0);
    let right = engine.read(X, Shift::ZERO).unwrap();
    let wrong = limbs::sub_mod(zero.limbs(), right.limbs(), p);
    let wrong = Residue::from_limbs(p, &wrong);
    engine.write(X, &wrong, Shift::ZERO).unwrap();
    prp.last = Some(Last { fingerprint: Fingerprint::of(&wrong), residue: None });
    let end = loop {
        match prp.advance(engine.as_mut(), 5).unwrap() {
            Advance::Going => {}
            end => break end,
        }
    };
    assert!(matches!(end, Advance::CheckFailed { iteration: 70, .. }), "{end:?}");
}

/// Tests a state that was saved at the end of a block, before its check, and is also that of the
/// last iteration: a later run may end there.
#[test]
fn a_loaded_state_at_the_target_and_the_end_of_its_block_is_checked() {
    use crate::engine::{BuildOptions, EngineFamily, word::Word};

    let (p, block) = (59, 10);
    let mut engine = Word.build(p, 1, BuildOptions::new(COUNT, 1)).unwrap();
    let start = Residue::from_u64(p, 3);
    let mut prp = Prp::new(TestKind::Prp, start.clone(), block);
    engine.set(X, 3, Shift::ZERO).unwrap();
    engine.square(X, block, Step::Square, Shift::ZERO).unwrap();
    let last = engine.read(X, Shift::ZERO).unwrap();
    let mut state = prp.first();
    state.iteration = block;
    state.residue = last.clone();
    if let Some(gerbicz) = &mut state.gerbicz {
        gerbicz.block = block as u32;
    }
    prp.load(engine.as_mut(), &state).unwrap();
    let end = loop {
        let saved = prp.snapshot(engine.as_mut()).unwrap();
        assert_eq!((saved.iteration, saved.residue), (block, last.clone()));
        match prp.advance(engine.as_mut(), 3).unwrap() {
            Advance::Going => {}
            end => break end,
        }
    };
    assert!(matches!(&end, Advance::Finished(x) if *x == last), "{end:?}");
}

#[test]
fn one_check_covers_a_test_of_up_to_two_million_squarings() {
    for left in (0..2000).chain([216_091, 1_999_999, 2_000_000, 82_589_933]) {
        let block = block_for(left);
        assert!(stretch_of(block) >= left.min(LONGEST_STRETCH), "{left}");
        assert!((1..=LARGEST_BLOCK).contains(&block));
        // The block is no longer than necessary.
        assert!(stretch_of(block.saturating_sub(GROUP)) < left.max(1), "{left}");
    }
    assert_eq!(block_for(u64::from(u32::MAX)), LARGEST_BLOCK);
}
