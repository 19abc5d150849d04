//! Parsing and writing of the files of GIMPS.
#![cfg(test)]

mod proof_file;
mod results;
mod work_file;
mod worktodo;
