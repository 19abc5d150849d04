//! The arguments of `warpint config`.

use std::path::PathBuf;

use clap::Args;

pub(super) const EXAMPLES: &str = "\
Examples:
  warpint config               for warpint-work
  warpint config gimps --json  for another directory, for a script

  $ mkdir attic
  $ echo 'threads = 4' > attic/warpint.toml
  $ warpint config attic | grep threads
  threads              4     attic/warpint.toml:1";

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// The work directory.
    #[arg(value_name = "DIR", default_value = "warpint-work")]
    pub(crate) dir: PathBuf,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
