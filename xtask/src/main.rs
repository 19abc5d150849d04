//! Chores of the workspace that are too long, or too rough, for `cargo test`:
//! `cargo xtask --help`.

mod check_docs;
mod check_kernels;
mod families;
mod flips;
mod kill_resume;
mod kills;
mod ll_sweep;
mod margins;
mod proof_bytes;
mod sim_suites;
mod work_kills;

use std::process::ExitCode;

use clap::Parser;

/// Long checks of warpint.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version)]
enum Task {
    /// Lucas–Lehmer on every prime exponent in a range, with every engine
    LlSweep(ll_sweep::Options),
    /// Kill a running test at random moments, resume it, compare the residue
    KillResume(kill_resume::Options),
    /// Flip bits at random moments of tests: each must be found, and every residue be right
    Flips(flips::Options),
    /// Change bytes of a proof file: none may be read and verified any more
    ProofBytes(proof_bytes::Options),
    /// Round-off of `fp64` on a device at every length, as the table that margins come from
    Margins(margins::Options),
    /// README.md short, prose narrow, links and the table of contents of the book complete
    CheckDocs(check_docs::Options),
    /// Every kernel compiled for every architecture, its registers and spills within budget
    CheckKernels(check_kernels::Options),
    /// The kernels on the simulator, under the address and the thread sanitizer
    SimSuites(sim_suites::Options),
    /// Kill `warpint work` at random moments: one result for each line, the others as they were
    WorkKills(work_kills::Options),
}

fn main() -> ExitCode {
    let done = match Task::parse() {
        Task::CheckDocs(options) => check_docs::run(&options),
        Task::CheckKernels(options) => check_kernels::run(&options),
        Task::Flips(options) => flips::run(&options),
        Task::LlSweep(options) => ll_sweep::run(&options),
        Task::Margins(options) => margins::run(&options),
        Task::ProofBytes(options) => proof_bytes::run(&options),
        Task::KillResume(options) => kill_resume::run(&options),
        Task::SimSuites(options) => sim_suites::run(&options),
        Task::WorkKills(options) => work_kills::run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
