//! Tests of the program as its users see it: its arguments, and the resulting files, output and
//! exit code.

#[cfg(test)]
mod audit_keys;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod batch;
#[cfg(test)]
mod batch_division;
#[cfg(test)]
mod batch_io;
#[cfg(unix)]
#[cfg(test)]
mod batch_resume;
#[cfg(test)]
mod batch_trouble;
#[cfg(test)]
mod bench;
#[cfg(test)]
mod bench_batch;
#[cfg(test)]
mod bench_bigprime;
#[cfg(test)]
mod bench_ntt;
#[cfg(test)]
mod bench_plots;
#[cfg(test)]
mod bench_product;
#[cfg(unix)]
#[cfg(test)]
mod book;
#[cfg(test)]
mod calc;
#[cfg(test)]
mod candidates;
#[cfg(test)]
mod certs;
#[cfg(test)]
mod checked;
#[cfg(test)]
mod collatz;
#[cfg(test)]
mod collatz_merge;
#[cfg(test)]
mod collatz_runs;
#[cfg(test)]
mod collatz_stops;
#[cfg(test)]
mod common;
#[cfg(test)]
mod config;
#[cfg(test)]
mod devices;
#[cfg(unix)]
#[cfg(test)]
mod files;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod first_process;
#[cfg(unix)]
#[cfg(test)]
mod leftovers;
#[cfg(test)]
mod make_keys;
#[cfg(test)]
mod man;
#[cfg(test)]
mod number_proofs;
#[cfg(test)]
mod numbers;
#[cfg(unix)]
#[cfg(test)]
mod output;
#[cfg(test)]
mod places;
#[cfg(test)]
mod proofs;
#[cfg(test)]
mod report;
#[cfg(test)]
mod results;
#[cfg(unix)]
#[cfg(test)]
mod sittings;
#[cfg(unix)]
#[cfg(test)]
mod storage;
#[cfg(unix)]
#[cfg(test)]
mod together;
#[cfg(test)]
mod tune_batch;
#[cfg(test)]
mod tune_collatz;
#[cfg(test)]
mod work;
#[cfg(unix)]
#[cfg(test)]
mod workers;
