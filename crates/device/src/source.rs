//! The source texts of kernels, with the constants that specialise them.

use std::fmt::Write;

/// A translation unit: a CUDA C++ text, the headers that it includes, the preprocessor constants
/// defined before it, and the names of its kernels.
///
/// The text declares its kernels `extern "C" __global__`, so that the compiler does not change
/// their names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Source {
    name: &'static str,
    text: &'static str,
    headers: Vec<(&'static str, &'static str)>,
    defines: Vec<(&'static str, String)>,
    kernels: Vec<&'static str>,
}

impl Source {
    /// Creates a source with the given text and the given kernels; `name` is its file name in
    /// messages.
    #[must_use]
    pub fn new(name: &'static str, text: &'static str, kernels: &[&'static str]) -> Self {
        Self { name, text, headers: vec![], defines: vec![], kernels: kernels.to_vec() }
    }

    /// Adds a header with the given text, which the source includes by `#include "name"`.
    #[must_use]
    pub fn header(mut self, name: &'static str, text: &'static str) -> Self {
        self.headers.push((name, text));
        self
    }

    /// Adds several headers, each as (name, text).
    #[must_use]
    pub fn headers(mut self, headers: &[(&'static str, &'static str)]) -> Self {
        self.headers.extend_from_slice(headers);
        self
    }

    /// Defines a preprocessor constant, like the compiler option `-D name=value`.
    #[must_use]
    pub fn define(mut self, name: &'static str, value: impl std::fmt::Display) -> Self {
        self.defines.push((name, value.to_string()));
        self
    }

    /// Returns the source's file name, which is used in messages.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the CUDA C++ text.
    #[must_use]
    pub fn text(&self) -> &'static str {
        self.text
    }

    /// Returns the headers, each as (name, text).
    #[must_use]
    pub fn header_texts(&self) -> &[(&'static str, &'static str)] {
        &self.headers
    }

    /// Returns the preprocessor constants, each as (name, value).
    #[must_use]
    pub fn defines(&self) -> &[(&'static str, String)] {
        &self.defines
    }

    /// Returns the names of the kernels.
    #[must_use]
    pub fn kernels(&self) -> &[&'static str] {
        &self.kernels
    }

    /// Returns the file name and the constants, for messages: `name(A=1, B=2)`.
    #[must_use]
    pub fn title(&self) -> String {
        let mut title = format!("{}(", self.name);
        for (i, (name, value)) in self.defines.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            // Writing to a String cannot fail.
            let _ = write!(title, "{comma}{name}={value}");
        }
        title + ")"
    }
}
