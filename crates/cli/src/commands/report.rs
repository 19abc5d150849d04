//! The command `warpint report DIR -o OUT`: a directory as an HTML page.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use warpint_files::WholeFile;
use warpint_report::{Report, Shown, is_report};

use crate::args::ReportArgs;
use crate::exit::{BadRequest, Exit};
use crate::report;

/// The largest file that is read as an earlier report. A page is far smaller.
const MOST_BYTES: u64 = 64 << 20;

pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<Exit> {
    let dir = args.dir.as_path();
    if !dir.is_dir() {
        let dir = dir.display();
        return Err(BadRequest(format!("{dir} is not a directory: give that of the work")).into());
    }
    let out = (args.out != Path::new("-")).then(|| checked(&args.out)).transpose()?;
    let found = Report::of(dir)?;
    report::warn(found.unreadable().to_vec());
    if found.is_empty() {
        let line =
            format!("{} has neither work, finished tests nor results of benchmarks", dir.display());
        report::warn(vec![line]);
    }
    let page = found.page(Shown::File);
    match out {
        Some(file) => {
            // Again: the file may have changed while the directory was read.
            unless_foreign(&args.out)?;
            file.write(&page)?;
        }
        None => report::write_out(page.as_bytes())?,
    }
    Ok(Exit::Done)
}

/// Checks that a page can be written to a path. The name must be that of a page, because the directory may
/// contain results, lists of work and locks, some of them empty or not there yet. An existing file is replaced only
/// if it is an earlier report.
fn checked(path: &Path) -> anyhow::Result<WholeFile> {
    let is_page = |end: &str| end.eq_ignore_ascii_case("html") || end.eq_ignore_ascii_case("htm");
    if !path.extension().and_then(OsStr::to_str).is_some_and(is_page) {
        let path = path.display();
        let line =
            format!("{path} is not the name of a page: give a name that ends in .html by -o");
        return Err(BadRequest(line).into());
    }
    let file = WholeFile::new(path)?;
    unless_foreign(path)?;
    Ok(file)
}

/// Returns an error if a path exists and is not an earlier report.
fn unless_foreign(path: &Path) -> anyhow::Result<()> {
    if !path.exists() {
        return Ok(());
    }
    let mut old = vec![];
    File::open(path)
        .and_then(|file| file.take(MOST_BYTES).read_to_end(&mut old))
        .map_err(|e| BadRequest(format!("cannot read {}: {e}", path.display())))?;
    if !is_report(&old) {
        let path = path.display();
        let line = format!("{path} is not a report: remove it, or give another name by -o");
        return Err(BadRequest(line).into());
    }
    Ok(())
}
