//! Files on a real disk: locks, replacements, objects other than regular files.
#![cfg(test)]

mod locks;
mod replace;
#[cfg(unix)]
mod special;
