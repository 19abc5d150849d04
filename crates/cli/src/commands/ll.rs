//! The command `warpint ll P`: a Lucas–Lehmer test.

use warpint::mersenne::{PlanRequest, TestKind};

use crate::args::{EngineName, LlCheck, Start, TestArgs};
use crate::exit::Exit;
use crate::run::one;

pub(crate) fn run(
    start: Start,
    verify_with: Option<EngineName>,
    check: Option<LlCheck>,
    args: &TestArgs,
) -> anyhow::Result<Exit> {
    let request = args.plan_request();
    let mut job = args.job(args.spec(TestKind::Ll(start.into())));
    job.verify_with =
        verify_with.map(|engine| PlanRequest { engine: engine.0, length: None, ..request });
    job.check_squarings = LlCheck::of_squarings(check);
    one(&job, args)
}
