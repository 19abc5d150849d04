//! Builds a proof from the residues that a test has stored.

use std::ops::RangeInclusive;

use super::hash::Exponents;
use super::points::Points;
use super::residues::{ResidueFileError, ResidueFolder};
use super::verify::{Verification, check, products};
use super::watch::{Halt, ODD_POWERS, PER_POWER, Watch, lengthening, or_stopped};
use super::{Proof, ProofError, Refusal};
use crate::{Plan, Residue, Shift, StopToken, TestKind};

/// A proof that was built, and its verification.
#[derive(Debug)]
pub struct Built {
    /// The proof.
    pub proof: Proof,
    /// The verification, which has accepted the proof.
    pub verification: Verification,
}

/// Builds the proof of the given power from the residues in `folder`, and verifies it. `last` is
/// the last residue of the proof: 3^(2^p) mod M_p, or x_i for
/// i = [`Subject::iterations`](super::Subject::iterations). `progress` is called several times a second
/// with the fraction of the work that is done, from 0 to 1. Returns `None` if
/// `stop` was set.
///
/// The middle of level l = 1 … power is a product over 2^(l−1) stored residues x_k (for M_p,
/// 3^(2^k)). Their iterations k are the odd multiples of the span s_l = p/2^l (rounded as in
/// [`Points`]). Each residue is raised to a product of the hash exponents of earlier levels: if a
/// level of the tree has the hash exponent h, two neighbours x, y on this level become x^h·y on the
/// level above.
///
/// Hardware errors are detected by verifying the proof. A wrong proof is built once more. After a
/// round-off error, the level in progress is repeated with a longer transform.
///
/// # Errors
/// Returns errors of plan and engine; [`ProofError::Foreign`] if the number of `folder` or `last`
/// is not that of the plan; [`ProofError::Power`] if [`Points::new`] returns `None` for this power;
/// [`ProofError::Residue`] for a missing, unreadable or invalid file (after an invalid file,
/// [`build_largest`] tries a lower power); [`ProofError::Wrong`] if the proof is wrong twice;
/// [`ProofError::Ambiguous`] if it is refused twice for [`Refusal::SmallOrder`];
/// [`ProofError::Unreliable`] if two verifications compute different numbers.
///
/// The cost is 83·(2^power − power − 1) products, one read of each residue, and the cost of
/// [`verify`](super::verify). Building uses power + 4 registers, and the verification uses seven.
pub fn build(
    mut plan: Plan,
    power: u32,
    folder: &ResidueFolder,
    last: &Residue,
    progress: &mut dyn FnMut(f64),
    stop: &StopToken,
) -> Result<Option<Proof>, ProofError> {
    let built = build_from(&mut plan, power, folder, last, progress, stop)?;
    Ok(built.map(|built| built.proof))
}

fn build_from(
    plan: &mut Plan,
    power: u32,
    folder: &ResidueFolder,
    last: &Residue,
    progress: &mut dyn FnMut(f64),
    stop: &StopToken,
) -> Result<Option<Built>, ProofError> {
    let (subject, number) = (folder.subject(), plan.number());
    for found in [subject.number(), last.number()] {
        if found != number {
            return Err(ProofError::Foreign { number, found });
        }
    }
    let points = Points::new(subject.iterations(), power);
    let points = points.ok_or(ProofError::Power { number, power: power as usize })?;
    let once = PER_POWER * ((1 << power) - u64::from(power) - 1) + products(subject, power);
    let mut watch = Watch::new(once, progress, stop);
    or_stopped(build_twice(plan, &points, folder, last, once, &mut watch))
}

/// Builds the proof of the largest power in `powers` for which the folder has all residues. The
/// other arguments are as for [`build`].
///
/// If a residue's file is invalid, renames the file ([`ResidueFolder::set_aside`]) and tries a
/// lower power.
///
/// # Errors
/// Returns [`ProofError::NoResidues`] if residues are missing even for the least power. Also
/// returns the errors of [`build`]. An invalid file is an error only if it cannot be renamed.
pub fn build_largest(
    mut plan: Plan,
    powers: RangeInclusive<u32>,
    folder: &ResidueFolder,
    last: &Residue,
    progress: &mut dyn FnMut(f64),
    stop: &StopToken,
) -> Result<Option<Built>, ProofError> {
    let (subject, least) = (folder.subject(), (*powers.start()).max(1));
    loop {
        let power = folder.largest_complete_power(*powers.end(), subject.iterations().into());
        if power < least {
            let folder = folder.dir().display().to_string();
            let number = subject.number();
            return Err(ProofError::NoResidues { number, least, folder });
        }
        match build_from(&mut plan, power, folder, last, progress, stop) {
            Err(ProofError::Residue(ResidueFileError::Unsound { iteration, path, reason })) => {
                folder.set_aside(iteration);
                if folder.has(iteration) {
                    return Err(ResidueFileError::Unsound { iteration, path, reason }.into());
                }
            }
            done => return done,
        }
    }
}

fn build_twice(
    plan: &mut Plan,
    points: &Points,
    folder: &ResidueFolder,
    last: &Residue,
    once: u64,
    watch: &mut Watch<'_>,
) -> Result<Built, Halt> {
    let subject = folder.subject();
    let mut before: Option<Proof> = None;
    loop {
        let middles = middles(plan, points, folder, last, watch)?;
        let proof = Proof::new(subject, last.clone(), middles)?;
        let verification = check(plan, &proof, watch)?;
        if verification.is_valid() {
            return Ok(Built { proof, verification });
        }
        if let Some(before) = before {
            let (number, power) = (subject.number(), points.power());
            let repeated = before == proof;
            // An honest proof of Proth's test or of M_p is never refused for this reason.
            let kind = subject.kind();
            let may_be = matches!(kind, TestKind::Fermat { .. } | TestKind::Pocklington { .. });
            if repeated && may_be && verification.finding == Err(Refusal::SmallOrder) {
                return Err(ProofError::Ambiguous { number, power }.into());
            }
            return Err(ProofError::Wrong { number, power, repeated }.into());
        }
        before = Some(proof);
        watch.expect_more(once);
    }
}

/// Computes the middles of a proof, M_1 … M_power.
fn middles(
    plan: &mut Plan,
    points: &Points,
    folder: &ResidueFolder,
    last: &Residue,
    watch: &mut Watch<'_>,
) -> Result<Vec<Residue>, Halt> {
    let power = points.power() as usize;
    let mut exponents = Exponents::new(folder.subject(), last);
    let mut levels = Levels { middles: vec![], h: vec![] };
    lengthening(plan, |plan| {
        // One register for each level of the tree, one for a power in progress, and those for odd
        // powers.
        let mut engine = plan.build(power + 1 + ODD_POWERS)?;
        while levels.middles.len() < power {
            let done = watch.done();
            let middle = levels.next(engine.as_mut(), points, folder, watch);
            if middle.is_err() {
                watch.back_to(done);
            }
            let middle = middle?;
            levels.h.push(exponents.next(&middle));
            levels.middles.push(middle);
        }
        Ok(())
    })?;
    Ok(levels.middles)
}

/// The finished levels of a proof: the middle of each level, and the hash exponent h that belongs
/// to this middle.
struct Levels {
    middles: Vec<Residue>,
    h: Vec<u64>,
}

impl Levels {
    /// Computes the middle of the next level.
    ///
    /// The tree is walked depth first: register i holds the product of a finished subtree. Two
    /// subtrees of the same size are joined as soon as the second one is finished.
    fn next(
        &self,
        engine: &mut dyn crate::Engine,
        points: &Points,
        folder: &ResidueFolder,
        watch: &mut Watch<'_>,
    ) -> Result<Residue, Halt> {
        let level = self.h.len();
        let spare = points.power() as usize;
        let span = 1usize << (spare - level - 1);
        let mut top = 0;
        for i in 0..1usize << level {
            // Each of 1 … 2^power spans ends at a point.
            let Some(k) = points.get(span * (2 * i + 1) - 1) else { continue };
            engine.write(top, &folder.load(k)?, Shift::ZERO)?;
            for h in self.h.iter().rev().take(i.trailing_ones() as usize) {
                watch.raise(engine, spare, top - 1, spare + 1, &[*h])?;
                engine.mul(top - 1, spare, top)?;
                top -= 1;
            }
            top += 1;
        }
        Ok(engine.read(0, Shift::ZERO)?)
    }
}
