//! The files of GIMPS: parsed and written.
#![cfg(test)]

mod proof_file;
mod results;
mod work_file;
mod worktodo;
