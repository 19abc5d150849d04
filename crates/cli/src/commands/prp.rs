//! The command `warpint prp P`: a PRP test, with a proof if requested.

use warpint::mersenne::proof::{Points, power_for};
use warpint::mersenne::{KnownFactors, TestKind, TestSpec};

use crate::args::TestArgs;
use crate::exit::{BadRequest, Exit};
use crate::run::one;

pub(crate) fn run(
    args: &TestArgs,
    factors: &[String],
    proof: Option<Option<u32>>,
) -> anyhow::Result<Exit> {
    let p = args.exponent.get();
    let known_factors = KnownFactors::new(p, factors)?;
    let spec = TestSpec { known_factors, ..args.spec(TestKind::Prp) };
    let mut job = args.job(spec);
    job.proof = proof.map(|power| power_of(p, power)).transpose()?;
    one(&job, args)
}

fn power_of(p: u32, power: Option<u32>) -> anyhow::Result<u32> {
    let refused = || match power {
        Some(power) => BadRequest(format!("M{p} is too small for a proof of power {power}")),
        None => BadRequest(format!(
            "M{p} is too small for a proof that GIMPS would want: give the power, as --proof=3"
        )),
    };
    let power = power.or_else(|| power_for(p)).ok_or_else(refused)?;
    Points::new(p, power).ok_or_else(refused)?;
    Ok(power)
}
