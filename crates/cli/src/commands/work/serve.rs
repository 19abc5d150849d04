//! The option `--serve`: shows the page of the directory to web browsers while the work is done.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::Context;
use warpint_report::serve::Server;

use crate::exit::BadRequest;
use crate::report;

/// Starts the server and reports its address. Does nothing without an address.
pub(super) fn start(dir: &Path, address: Option<SocketAddr>, quiet: bool) -> anyhow::Result<()> {
    let Some(asked) = address else { return Ok(()) };
    let server = Server::bind(dir, asked)
        .map_err(|e| BadRequest(format!("--serve: cannot listen on {asked}: {e}")))?;
    let address = server.address();
    server.start().context("--serve")?;
    if !address.ip().is_loopback() {
        report::notice(&format!(
            "warning: everyone who can reach {address} can read the state of the work, without a password"
        ));
    }
    // A port that the system has chosen must be known.
    if !quiet || asked.port() == 0 {
        report::notice(&format!("the page of {} is at http://{address}/", dir.display()));
    }
    Ok(())
}
