//! The command `warpint report DIR -o OUT`: a directory as an HTML page.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use warpint_files::WholeFile;
use warpint_report::{Report, Shown, is_report};

use crate::args::ReportArgs;
use crate::exit::{BadRequest, Exit};
use crate::report;

pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<Exit> {
    let dir = args.dir.as_path();
    if !dir.is_dir() {
        let dir = dir.display();
        return Err(BadRequest(format!("{dir} is not a directory: give that of the work")).into());
    }
    let out = (args.out != Path::new("-")).then(|| checked(&args.out)).transpose()?;
    let found = Report::of(dir)?;
    report::warn(found.unreadable().to_vec());
    let page = found.page(Shown::File);
    match out {
        Some(file) => file.write(&page)?,
        None => report::write_out(page.as_bytes())?,
    }
    Ok(Exit::Done)
}

/// Checks that a page can be written to a path. An existing file is replaced only if it is empty or an
/// earlier report, because the directory of the page may contain results and lists of work.
fn checked(path: &Path) -> anyhow::Result<WholeFile> {
    let file = WholeFile::new(path)?;
    let mut begin = vec![];
    if path.exists() {
        const HEAD: u64 = 4096;
        let opened = File::open(path);
        opened
            .and_then(|old| old.take(HEAD).read_to_end(&mut begin))
            .map_err(|e| BadRequest(format!("cannot read {}: {e}", path.display())))?;
    }
    if !begin.is_empty() && !is_report(&begin) {
        let path = path.display();
        let line = format!("{path} is not a report: remove it, or give another name by -o");
        return Err(BadRequest(line).into());
    }
    Ok(file)
}
