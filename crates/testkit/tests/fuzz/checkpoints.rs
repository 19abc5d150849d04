//! Malformed checkpoints: as bytes, and as files in a folder.

use std::fs;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use sha2::{Digest, Sha256};
use warpint_mersenne::checkpoint::{
    CheckpointStore, Confirmation, GerbiczState, LeastLength, LucasState, State,
};
use warpint_mersenne::{DigestedResidue, ErrorCounts, LlStart, Residue, TestKind};

use crate::memory::{allowed, most_used};
use crate::mutate::mutated;
use crate::{cases, cases_on_disk};

const P: u32 = 127;
const LL: TestKind = TestKind::Ll(LlStart::Four);
const MORRISON: TestKind = TestKind::Morrison { d: 5, t: 1, open: 10 };

fn prp(iteration: u64, product_iteration: u64, verified_iteration: u64) -> State {
    let x = |k: u64| Residue::from_limbs(P, &[k.wrapping_mul(0x9e37_79b9_7f4a_7c15), k]);
    State {
        kind: TestKind::Prp,
        iteration,
        residue: x(iteration),
        shift: 126,
        elapsed: Duration::from_millis(1_234),
        errors: ErrorCounts {
            gerbicz: 1,
            jacobi: 0,
            double_check: 0,
            squarings: 3,
            lucas: 0,
            round_off: 2,
        },
        least_length: Some(LeastLength { engine: "fp64".into(), length: 8 }),
        confirmed: Confirmation::No,
        lucas: None,
        gerbicz: Some(GerbiczState {
            block: 11,
            verified_iteration,
            verified: DigestedResidue::new(x(verified_iteration)),
            product_iteration,
            product: x(product_iteration),
        }),
    }
}

fn ll(iteration: u64) -> State {
    let gerbicz = None;
    State {
        kind: LL,
        least_length: None,
        confirmed: Confirmation::Jacobi,
        gerbicz,
        ..prp(iteration, 0, 0)
    }
}

fn morrison(iteration: u64) -> State {
    let term = Residue::from_u64(P, iteration);
    let lucas = Some(LucasState::new(&term, Residue::from_u64(P, 1 << 40)));
    let (gerbicz, residue) = (None, term);
    State { kind: MORRISON, shift: 0, gerbicz, residue, lucas, ..prp(iteration, 0, 0) }
}

fn states() -> Vec<State> {
    vec![prp(57, 55, 22), prp(30, 22, 22), prp(22, 22, 22), ll(40), ll(0), morrison(17)]
}

fn sound() -> Vec<Vec<u8>> {
    states().iter().map(State::to_bytes).collect()
}

/// Replaces the checksum at the end of a checkpoint by the right one, so that decoding does not
/// stop at the checksum.
fn sealed_anew(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len().saturating_sub(32));
    let checksum = Sha256::digest(&bytes);
    bytes.extend_from_slice(&checksum);
    bytes
}

/// Decodes bytes as a checkpoint of a PRP test, of an LL test and of Morrison's test. Checks the
/// memory used. Checks that every accepted state is valid, and that it does not change if it is
/// encoded and decoded.
fn read(bytes: &[u8]) -> Result<(), TestCaseError> {
    for kind in [TestKind::Prp, LL, MORRISON] {
        let (found, most) = most_used(|| State::from_bytes(bytes, kind, P));
        prop_assert!(most <= allowed(4, bytes.len()), "{most} bytes for {}", bytes.len());
        let Ok(state) = found else { continue };
        prop_assert!(state.is_intact() && state.iteration <= kind.iterations(P));
        prop_assert_eq!((state.kind, state.number()), (kind, P.into()));
        prop_assert_eq!(State::from_bytes(&state.to_bytes(), kind, P), Ok(state));
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn fuzz_checkpoint_of_arbitrary_bytes(bytes in vec(any::<u8>(), 0..600), magic: bool) {
        let mut file = if magic { b"warpint checkpoint: PRP-3\n".to_vec() } else { vec![] };
        file.extend(bytes);
        read(&file)?;
        read(&sealed_anew(file))?;
    }

    #[test]
    fn fuzz_checkpoint_that_was_changed(bytes in mutated(sound())) {
        let whole = sound().contains(&bytes);
        for kind in [TestKind::Prp, LL, MORRISON] {
            prop_assert!(whole || State::from_bytes(&bytes, kind, P).is_err());
        }
        read(&bytes)?;
    }

    #[test]
    fn fuzz_checkpoint_that_was_changed_and_sealed_anew(bytes in mutated(sound())) {
        read(&sealed_anew(bytes))?;
    }
}

/// Returns a strategy for file names of checkpoints, similar names, and arbitrary names.
fn name() -> impl Strategy<Value = String> {
    let number = prop_oneof!["[0-9]{10}", "[0-9]{0,12}", Just("18446744073709551615".into())];
    let extension =
        prop::sample::select(vec!["ckpt", "verified", "ckpt.tmp", "verified.bad", "tmp", ""]);
    let usual = (prop::sample::select(vec!["prp", "ll", "lock"]), number, extension)
        .prop_map(|(test, number, extension)| format!("{test}-{number}.{extension}"));
    prop_oneof![3 => usual, 1 => "[^/\0]{1,40}".prop_filter("a name", |n| n != "." && n != "..")]
}

proptest! {
    #![proptest_config(cases_on_disk())]

    #[test]
    fn fuzz_folder_of_checkpoints(
        files in vec((name(), prop_oneof![mutated(sound()), vec(any::<u8>(), 0..80)]), 0..4),
        lock in vec(any::<u8>(), 0..40),
    ) {
        let outer = tempfile::tempdir().unwrap();
        fs::write(outer.path().join("beside"), "untouched").unwrap();
        let root = outer.path().join("root");
        let dir = root.join(format!("M{P}"));
        fs::create_dir_all(&dir).unwrap();
        for (name, bytes) in &files {
            // A name may be longer than the file system allows.
            let _ = fs::write(dir.join(name), bytes);
        }
        fs::write(dir.join("lock"), lock).unwrap();
        // As if somebody had put a symbolic link in the way.
        #[cfg(unix)]
        std::os::unix::fs::symlink("../../beside", dir.join("prp-0000000099.ckpt")).unwrap();

        let mut store = CheckpointStore::open(&root, P, TestKind::Prp).unwrap();
        if store.load_newest().is_ok() {
            store.save(&prp(57, 55, 22)).unwrap();
            store.save(&prp(127, 127, 127)).unwrap();
            let newest = store.load_newest().unwrap().unwrap().0;
            prop_assert_eq!(newest.iteration, 127);
            store.discard_after(22).unwrap();
            store.remove_all().unwrap();
            prop_assert!(store.load_newest().unwrap().is_none());
        }
        drop(store);
        prop_assert_eq!(fs::read(outer.path().join("beside")).unwrap(), b"untouched");
        prop_assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 2);
        prop_assert_eq!(fs::read_dir(&root).unwrap().count(), 1);
    }
}
