//! `warpint ll P`

use warpint::mersenne::TestKind;

use crate::args::{Start, TestArgs};
use crate::exit::Exit;

pub(crate) fn run(start: Start, args: &TestArgs) -> anyhow::Result<Exit> {
    crate::run::one(TestKind::Ll(start.into()), args)
}
