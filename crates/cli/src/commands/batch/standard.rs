//! Standard input and output in the place of files, by the name `-`. They are kept in files without
//! names, in the folder for such: numbers are counted before they are computed, and results are not
//! given out before all are there.

use std::env::temp_dir;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;

use anyhow::Context;

/// Whether a path is that of standard input or output.
pub(super) fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// All of standard input.
pub(super) fn input() -> anyhow::Result<File> {
    let mut kept = nameless()?;
    let failed = || format!("cannot keep standard input in {}", temp_dir().display());
    io::copy(&mut io::stdin().lock(), &mut kept).with_context(failed)?;
    Ok(kept)
}

/// What goes to standard output at the end.
pub(super) struct Output(File);

impl Output {
    pub(super) fn new() -> anyhow::Result<Self> {
        nameless().map(Self)
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        let failed = || format!("cannot keep results in {}", temp_dir().display());
        self.0.write_all(bytes).with_context(failed)
    }

    pub(super) fn finish(mut self) -> anyhow::Result<()> {
        let mut out = io::stdout().lock();
        let copied = self.0.rewind().and_then(|()| io::copy(&mut self.0, &mut out));
        copied.and_then(|_| out.flush()).context("cannot write to standard output")
    }
}

fn nameless() -> anyhow::Result<File> {
    tempfile::tempfile().with_context(|| format!("cannot make a file in {}", temp_dir().display()))
}
