//! Tests of encoding checkpoints and of decoding valid and invalid bytes.

use super::read::field;
use super::*;
use crate::LlStart;
use proptest::prelude::*;

fn prp_state() -> State {
    let p = 127;
    State {
        kind: TestKind::Prp,
        iteration: 57,
        residue: Residue::from_limbs(p, &[0x0123_4567_89ab_cdef, 7]),
        shift: 0,
        elapsed: Duration::from_millis(1234),
        errors: ErrorCounts {
            gerbicz: 1,
            jacobi: 3,
            double_check: 4,
            squarings: 5,
            lucas: 6,
            round_off: 2,
        },
        least_length: Some(LeastLength { engine: "fp64".into(), length: 8 }),
        confirmed: Confirmation::No,
        lucas: None,
        gerbicz: Some(GerbiczState {
            block: 11,
            verified_iteration: 22,
            verified: DigestedResidue::new(Residue::from_u64(p, 5)),
            product_iteration: 55,
            product: Residue::from_limbs(p, &[u64::MAX, 9]),
        }),
    }
}

fn ll_state() -> State {
    State { kind: TestKind::Ll(LlStart::Four), least_length: None, gerbicz: None, ..prp_state() }
}

#[test]
fn round_trips_and_begins_with_a_readable_line() {
    for state in [prp_state(), ll_state()] {
        let bytes = state.to_bytes();
        assert_eq!(State::from_bytes(&bytes, state.kind, 127u32), Ok(state.clone()));
        assert!(bytes.len() as u64 <= State::max_file_size(127u32));
    }
    let first = String::from_utf8_lossy(&prp_state().to_bytes()).lines().next().map(String::from);
    assert_eq!(
        first.as_deref(),
        Some("warpint checkpoint: PRP-3 M127 iteration 57 of 127 res64 0123456789ABCDEF")
    );
}

#[test]
fn every_flipped_bit_and_every_truncation_is_refused() {
    for state in [prp_state(), ll_state()] {
        let good = state.to_bytes();
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(State::from_bytes(&bad, state.kind, 127u32).is_err(), "bit {bit}");
        }
        for len in 0..good.len() {
            assert!(State::from_bytes(&good[..len], state.kind, 127u32).is_err(), "{len} bytes");
        }
        let mut long = good.clone();
        long.push(0);
        assert!(State::from_bytes(&long, state.kind, 127u32).is_err());
    }
}

#[test]
fn a_sound_checkpoint_of_another_test_is_foreign() {
    let bytes = prp_state().to_bytes();
    let foreign =
        |kind, p| matches!(State::from_bytes(&bytes, kind, p), Err(FormatError::Foreign { .. }));
    assert!(foreign(TestKind::Prp, 89));
    assert!(foreign(TestKind::Ll(LlStart::Four), 127));
}

/// Encodes a state as a checkpoint of format version 1.
fn of_version_1(state: &State) -> Vec<u8> {
    let text = String::from_utf8_lossy(&state.to_bytes()).into_owned();
    let header = &text[..text.find("\n\n").unwrap()];
    let lines = header.lines().filter(|l| !l.starts_with("jacobi") && !l.starts_with("double"));
    let header: Vec<String> = lines.map(|l| l.replace("version: 2", "version: 1")).collect();
    let mut bytes = format!("{}\n\n", header.join("\n")).into_bytes();
    bytes.extend(state.residue.to_le_bytes());
    if let Some(g) = &state.gerbicz {
        bytes.extend(g.verified.residue().to_le_bytes());
        bytes.extend(g.product.to_le_bytes());
    }
    let checksum = Sha256::digest(&bytes);
    bytes.extend_from_slice(&checksum);
    bytes
}

#[test]
fn a_file_of_version_1_is_read() {
    for state in [prp_state(), ll_state()] {
        let errors = ErrorCounts { jacobi: 0, double_check: 0, ..state.errors };
        let found = State::from_bytes(&of_version_1(&state), state.kind, 127u32);
        assert_eq!(found, Ok(State { errors, ..state }));
    }
}

#[test]
fn a_number_that_is_another_one_s_is_written_once() {
    let size = |iteration, product_iteration| {
        let mut state = prp_state();
        state.iteration = iteration;
        if let Some(g) = &mut state.gerbicz {
            g.product_iteration = product_iteration;
            if product_iteration == 22 {
                g.product = g.verified.residue().clone();
            }
            if iteration == 22 {
                state.residue = g.verified.residue().clone();
            }
        }
        let bytes = state.to_bytes();
        assert_eq!(State::from_bytes(&bytes, TestKind::Prp, 127u32), Ok(state));
        bytes.len()
    };
    assert_eq!(size(57, 55) - size(30, 22), 16);
    assert_eq!(size(30, 22) - size(22, 22), 16);
}

#[test]
fn a_confirmed_residue_of_lucas_lehmer_says_so() {
    assert!(!ll_state().is_verified());
    for confirmed in [Confirmation::Jacobi, Confirmation::Twice] {
        let state = State { confirmed, ..ll_state() };
        assert!(state.is_verified());
        assert_eq!(State::from_bytes(&state.to_bytes(), state.kind, 127u32), Ok(state));
    }
    // A PRP test has stronger checks.
    let state = State { confirmed: Confirmation::Jacobi, ..prp_state() };
    assert_eq!(State::from_bytes(&state.to_bytes(), state.kind, 127u32), Err(field("confirmed")));
}

#[test]
fn numbers_that_must_be_equal_are_compared() {
    let refused = |change: &dyn Fn(&mut State, &mut GerbiczState)| {
        let mut state = prp_state();
        let mut g = state.gerbicz.take().unwrap();
        change(&mut state, &mut g);
        state.gerbicz = Some(g);
        State::from_bytes(&of_version_1(&state), TestKind::Prp, 127u32)
            == Err(field("verified-iteration"))
    };
    let right = Residue::from_u64(127u32, 5);
    assert!(refused(&|state, g| (state.iteration, g.product_iteration) = (30, 22)));
    assert!(refused(&|state, g| {
        (state.iteration, g.product_iteration) = (22, 22);
        g.product = right.clone();
    }));
    assert!(!refused(&|state, g| {
        (state.iteration, g.product_iteration) = (22, 22);
        (state.residue, g.product) = (right.clone(), right.clone());
    }));
}

#[test]
fn impossible_fields_are_named_even_with_a_right_checksum() {
    let text = |from: &str, to: &str| {
        let bytes = prp_state().to_bytes();
        let content = &bytes[..bytes.len() - CHECKSUM];
        let at = content.windows(from.len()).position(|w| w == from.as_bytes()).unwrap();
        let mut forged = content[..at].to_vec();
        forged.extend_from_slice(to.as_bytes());
        forged.extend_from_slice(&content[at + from.len()..]);
        let checksum = Sha256::digest(&forged);
        forged.extend_from_slice(&checksum);
        State::from_bytes(&forged, TestKind::Prp, 127u32)
    };
    assert_eq!(text("\niteration: 57", "\niteration: 128"), Err(field("iteration")));
    assert_eq!(text("block: 11", "block: 0"), Err(field("block")));
    assert_eq!(text("block: 11", "block: 2466"), Err(field("block")));
    assert_eq!(text("least-length: fp64 8", "least-length: 8"), Err(field("least-length")));
    assert_eq!(text("version: 2", "version: 3"), Err(FormatError::Version { found: "3".into() }));
    assert_eq!(
        text("product-iteration: 55", "product-iteration: 58"),
        Err(field("product-iteration"))
    );
    assert_eq!(
        text("verified-iteration: 22", "verified-iteration: 23"),
        Err(field("verified-iteration"))
    );
    assert_eq!(text("shift: 0", "shift: 127"), Err(field("shift")));
    assert_eq!(text("elapsed-ms: 1234", "elapsed-ms: soon"), Err(field("elapsed-ms")));
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        prop_assert!(State::from_bytes(&bytes, TestKind::Prp, 127u32).is_err());
        let mut with_magic = MAGIC.as_bytes().to_vec();
        with_magic.extend(bytes);
        prop_assert!(State::from_bytes(&with_magic, TestKind::Prp, 127u32).is_err());
    }
}
