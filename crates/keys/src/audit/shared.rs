//! Primes that moduli of one list share.

use warpint_progress::Watch;

use super::weak::{Weak, findings, relate};
use super::{Audit, Finding};
use crate::KeysError;
use crate::batch_gcd::{Batch, DeviceTrees};

/// Returns the findings of moduli that share a prime with another distinct modulus.
pub(super) fn find(
    audit: &mut Audit,
    trees: Option<&DeviceTrees>,
    planned: &mut dyn FnMut(&str),
    watch: &dyn Watch,
) -> Result<Vec<Finding>, KeysError> {
    // Cofactors of small primes may be 1.
    let indices: Vec<usize> = (0..audit.distinct).filter(|&i| *audit.number(i) != [1]).collect();
    let numbers: Vec<&[u64]> = indices.iter().map(|&i| audit.number(i)).collect();
    let mut batch = Batch::new(&numbers, audit.settings.memory, audit.settings.threads)?;
    if let Some(trees) = trees {
        batch = batch.on_device(trees)?;
    }
    planned(&batch.to_string());
    let mut times = audit.times;
    let common = batch.run(watch, &mut times)?;
    let mut weak: Vec<Weak> = common
        .into_iter()
        .map(|common| {
            Weak::new(audit.modulus(indices[common.index]), common.gcd, numbers[common.index])
        })
        .collect();
    relate(&mut weak, &audit.settings, watch)?;
    audit.times = times;
    Ok(findings(audit, &weak))
}
