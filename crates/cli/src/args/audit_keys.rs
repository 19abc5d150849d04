//! The arguments of `warpint audit-keys`.

use std::path::PathBuf;

use clap::Args;
use warpint::keys::read::{MOST_BITS, Raw};
use warpint::mersenne::DeviceChoice;

use super::arithmetic::threads;
use crate::units;

pub(super) const EXAMPLES: &str = "\
Examples:
  warpint audit-keys certificates/
  warpint audit-keys ~/.ssh/authorized_keys /etc/ssh --json
  warpint audit-keys moduli.txt --memory 16G --factors factors.jsonl
  warpint audit-keys new-keys/ --store audited
  warpint audit-keys moduli.bin --format raw:2048
  warpint audit-keys moduli.txt --device cuda --memory 64G
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

    /// Read all files in this form. auto decides by the content of each file; raw:BITS are records of
    /// BITS/8 bytes, each a modulus with the most significant byte first; gmp are numbers as mpz_out_raw
    /// of GMP writes them.
    #[arg(long, value_name = "FORM", default_value = "auto", value_parser = form)]
    pub(crate) format: Form,

    /// Audit the keys also against those of earlier audits with this directory, and add them to it. It is
    /// made if it is missing. An audit with a store that was stopped or killed goes on where it was.
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,

    /// Where the product and remainder trees are computed: cpu, auto (a GPU if there is one that works,
    /// otherwise the CPU), cuda or cuda:N. The other work is done by the CPU. If the GPU fails or
    /// computes a wrong result, the CPU goes on alone, with a warning.
    #[arg(long, value_name = "DEVICE", default_value_t = DeviceChoice::Cpu)]
    pub(crate) device: DeviceChoice,

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

/// The form of the files: by their content, or moduli as bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Auto,
    Raw(Raw),
}

fn form(text: &str) -> Result<Form, String> {
    let bits = match text {
        "auto" => return Ok(Form::Auto),
        "gmp" => return Ok(Form::Raw(Raw::Gmp)),
        _ => text.strip_prefix("raw:").and_then(|bits| bits.parse().ok()),
    };
    match bits {
        Some(bits @ 8..=MOST_BITS) if bits % 8 == 0 => {
            Ok(Form::Raw(Raw::Records(bits as usize / 8)))
        }
        _ => Err(format!("give auto, gmp, or raw:BITS with a multiple of 8 from 8 to {MOST_BITS}")),
    }
}
