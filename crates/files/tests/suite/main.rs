//! Tests on a real disk, of locks, replacements of files, and objects other than regular files.
#![cfg(test)]

mod locks;
mod replace;
#[cfg(unix)]
mod special;
