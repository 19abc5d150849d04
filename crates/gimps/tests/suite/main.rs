//! Tests of parsing and writing the files of GIMPS programs.
#![cfg(test)]

mod proof_file;
mod results;
mod work_file;
mod worktodo;
