//! Builds a proof from the residues that a test has stored.

use std::ops::RangeInclusive;

use super::hash::Exponents;
use super::points::Points;
use super::residues::{ResidueFileError, ResidueFolder};
use super::verify::{check, products};
use super::watch::{Halt, ODD_POWERS, PER_POWER, Watch, lengthening, or_stopped};
use super::{Proof, ProofError};
use crate::{Plan, Residue, Shift, StopToken};

/// Builds the proof of the given power from the residues in `folder`, and verifies it. `last` is
/// the last residue of the test, 3^(2^p) mod M_p. `progress` is called several times a second with
/// the fraction of the work that is done, from 0 to 1. Returns `None` if `stop` was set.
///
/// The middle of level l = 1 … power is a product over 2^(l−1) stored residues x_k = 3^(2^k) mod
/// M_p. Their iterations k are the odd multiples of the span s_l = p/2^l (rounded as in
/// [`Points`]). Each residue is raised to a product of the hash exponents of earlier levels: if a
/// level of the tree has the hash exponent h, two neighbours x, y on this level become x^h·y on the
/// level above.
///
/// Hardware errors are detected by verifying the proof. A wrong proof is built once more. After a
/// round-off error, the level in progress is repeated with a longer transform.
///
/// # Errors
/// Returns errors of plan and engine; [`ProofError::Foreign`] if the exponent of `folder` or `last`
/// is not that of the plan; [`ProofError::Power`] if [`Points::new`] returns `None` for this power;
/// [`ProofError::Residue`] for a missing, unreadable or invalid file (after an invalid file,
/// [`build_largest`] tries a lower power); [`ProofError::Wrong`] if the proof is wrong twice;
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
    let p = plan.exponent();
    for found in [folder.exponent(), last.exponent()] {
        if found != p {
            return Err(ProofError::Foreign { exponent: p, found });
        }
    }
    let points =
        Points::new(p, power).ok_or(ProofError::Power { exponent: p, power: power as usize })?;
    let once = PER_POWER * ((1 << power) - u64::from(power) - 1) + products(p, power);
    let mut watch = Watch::new(once, progress, stop);
    or_stopped(build_twice(&mut plan, &points, folder, last, once, &mut watch))
}

/// Builds the proof of the largest power in `powers` for which the folder has all residues. The
/// other arguments and the result are as for [`build`].
///
/// If a residue's file is invalid, renames the file ([`ResidueFolder::set_aside`]) and tries a
/// lower power.
///
/// # Errors
/// Returns [`ProofError::NoResidues`] if residues are missing even for the least power. Also
/// returns the errors of [`build`]. An invalid file is an error only if it cannot be renamed.
pub fn build_largest(
    plan: Plan,
    powers: RangeInclusive<u32>,
    folder: &ResidueFolder,
    last: &Residue,
    progress: &mut dyn FnMut(f64),
    stop: &StopToken,
) -> Result<Option<Proof>, ProofError> {
    let (p, least) = (plan.exponent(), (*powers.start()).max(1));
    loop {
        let power = folder.largest_complete_power(*powers.end(), u64::from(p));
        if power < least {
            let folder = folder.dir().display().to_string();
            return Err(ProofError::NoResidues { exponent: p, least, folder });
        }
        match build(plan, power, folder, last, progress, stop) {
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
) -> Result<Proof, Halt> {
    let mut before: Option<Proof> = None;
    loop {
        let middles = middles(plan, points, folder, last, watch)?;
        let power = points.power() as usize;
        let exponent = plan.number().mersenne_exponent();
        let exponent = exponent.ok_or(ProofError::Power { exponent: plan.exponent(), power })?;
        let proof = Proof::new(exponent, last.clone(), middles)?;
        if check(plan, &proof, watch)?.is_valid() {
            return Ok(proof);
        }
        if let Some(before) = before {
            let (exponent, power) = (plan.exponent(), points.power());
            let repeated = before == proof;
            return Err(ProofError::Wrong { exponent, power, repeated }.into());
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
    let mut exponents = Exponents::new(last);
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
