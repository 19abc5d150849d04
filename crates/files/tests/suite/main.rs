//! Files on a real disk: locks, replacements, what is not a regular file.
#![cfg(test)]

mod locks;
mod replace;
#[cfg(unix)]
mod special;
