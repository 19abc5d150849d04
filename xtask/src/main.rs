//! Tasks of the workspace that take too long or are too disruptive for `cargo test`. `cargo xtask
//! --help` lists them.

mod check_docs;
mod check_kernels;
mod dist;
mod families;
mod flip_squarings;
mod flips;
mod kill_resume;
mod kills;
mod ll_sweep;
mod margins;
mod numbers;
mod proof_bytes;
mod sim_suites;
mod work_kills;

use std::process::ExitCode;

use clap::Parser;

/// Long-running checks of warpint.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version)]
enum Task {
    /// Run a Lucas–Lehmer test of every prime exponent in a range, with every engine
    LlSweep(ll_sweep::Options),
    /// Kill a running test at random moments, resume it, compare the residue
    KillResume(kill_resume::Options),
    /// Flip bits at random moments of tests: each flip must be found, and every residue must be
    /// right
    Flips(flips::Options),
    /// Flip bits in the memory of a device during checked squarings: each must be found, or leave
    /// the residue unchanged
    FlipSquarings(flip_squarings::Options),
    /// Change bytes of a proof file: no changed file may be accepted
    ProofBytes(proof_bytes::Options),
    /// Measure the round-off of `fp64` on a device at every length; print the table from which
    /// margins are computed
    Margins(margins::Options),
    /// Time squarings modulo k·2^n ± 1 beside those modulo 2^p − 1, and measure their round-off
    Numbers(numbers::Options),
    /// Check the documents: length of README.md, width of prose, links, table of contents of the book
    CheckDocs(check_docs::Options),
    /// Compile every kernel for every architecture; compare registers and spills with the budgets
    CheckKernels(check_kernels::Options),
    /// Run the kernels on the simulator, under the address and the thread sanitizer
    SimSuites(sim_suites::Options),
    /// Make the packages of a release: tarball, Debian package, zip file for Windows, checksums
    Dist(dist::Options),
    /// Kill `warpint work` at random moments: each assignment must have one result, other lines
    /// must not change
    WorkKills(work_kills::Options),
}

fn main() -> ExitCode {
    let done = match Task::parse() {
        Task::CheckDocs(options) => check_docs::run(&options),
        Task::CheckKernels(options) => check_kernels::run(&options),
        Task::Dist(options) => dist::run(&options),
        Task::FlipSquarings(options) => flip_squarings::run(&options),
        Task::Flips(options) => flips::run(&options),
        Task::LlSweep(options) => ll_sweep::run(&options),
        Task::Margins(options) => margins::run(&options),
        Task::Numbers(options) => numbers::run(&options),
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
