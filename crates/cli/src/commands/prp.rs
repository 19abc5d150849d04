//! `warpint prp P`

use warpint::mersenne::TestKind;

use crate::args::TestArgs;
use crate::exit::Exit;

pub(crate) fn run(args: &TestArgs) -> anyhow::Result<Exit> {
    crate::run::one(TestKind::Prp, args)
}
