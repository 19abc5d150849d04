//! The arguments of `warpint report` and the addresses of `warpint work --serve`, with their help.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::Args;

pub(super) const EXAMPLES: &str = "\
Examples:
  warpint report gimps -o report.html     a directory of warpint work
  warpint report gimps -o -               the page on standard output
  warpint bench mersenne --json > results/mersenne.json
  warpint report results -o report.html   the results of benchmarks in that directory

Results of benchmarks are files that end in .json or .jsonl. They have the output of commands with
--json. The page is one file without scripts, and refers to no other file. warpint work --serve PORT
shows the page of its directory while it works.";

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The directory of warpint work, of finished tests of prp, ll and test, or of results of benchmarks.
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,

    /// Where the page goes: a file whose name ends in .html, which is replaced if it is an earlier report, or
    /// - for standard output.
    #[arg(short, long = "output", value_name = "OUT")]
    pub(crate) out: PathBuf,
}

/// Parses the address of a server: a port of this machine, `localhost:PORT`, or an IP address and a port.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    let here = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let port = text.strip_prefix("localhost:").unwrap_or(text);
    let address = port.parse().map(here).ok().or_else(|| text.parse().ok());
    address.ok_or_else(|| {
        format!("'{text}' is neither a port (0 to 65535) nor an IP address with a port")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_port() {
        for (text, expected) in [
            ("8080", "127.0.0.1:8080"),
            ("localhost:0", "127.0.0.1:0"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("[::1]:80", "[::1]:80"),
        ] {
            assert_eq!(address(text).unwrap().to_string(), expected);
        }
        for wrong in ["", "127.0.0.1", "70000", "localhost", "example.org:80", "::1:x"] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
