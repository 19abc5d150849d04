//! The arguments of `warpint audit-keys`.

use std::path::PathBuf;

use clap::Args;

use super::arithmetic::threads;
use crate::units;

pub(super) const EXAMPLES: &str = "\
Examples:
  warpint audit-keys certificates/
  warpint audit-keys ~/.ssh/authorized_keys /etc/ssh --json
  warpint audit-keys moduli.txt --memory 16G --factors factors.jsonl
  zcat moduli.txt.gz | warpint audit-keys -

  $ printf '0x48c28c60aa1\\n0x1b48f0c46cc3\\n0xcbba2a2dcc9\\n' > moduli.txt
  $ warpint audit-keys moduli.txt --quiet
  kind             bits  modulus            place
  shared-prime       43  48c28c60aa1        moduli.txt: line 1; shared with moduli.txt: line 2
  shared-prime       45  1b48f0c46cc3       moduli.txt: line 2; shared with moduli.txt: line 1
  3 keys, 3 distinct moduli in 1 file: 2 findings (2 shared-prime); 3 notices (3 below-1024-bits)";

#[derive(Debug, Args)]
pub(crate) struct AuditKeysArgs {
    /// Files and directories of public keys; - is standard input. Directories are searched to all depths,
    /// without following links.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Write the factors that were found to this new file, one JSON object a line, which only its owner
    /// can read (mode 0600). Factors are private keys. Without this option they are not shown.
    #[arg(long, value_name = "FACTORS")]
    pub(crate) factors: Option<PathBuf>,

    /// Use at most this much memory for the search for shared primes, besides the keys. With less memory the
    /// keys are processed in groups, which takes longer.
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = units::parse_memory)]
    pub(crate) memory: u64,

    /// CPU threads [default: one per logical CPU].
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,

    /// Print one JSON object for each finding.
    #[arg(long)]
    pub(crate) json: bool,

    /// Show no progress.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
