//! `warpint selftest [FILTER]`

use warpint_selftest::{CaseReport, Summary};

use crate::exit::Exit;
use crate::report;
use crate::units;

pub(crate) fn run(filter: Option<&str>) -> anyhow::Result<Exit> {
    let mut printed = Ok(());
    let Summary { passed, failed } = warpint_selftest::run(filter, &mut |case| {
        let written = report::write_out(format!("{}\n", line(case)).as_bytes());
        if printed.is_ok() {
            printed = written;
        }
    });
    printed?;
    if passed + failed == 0 {
        anyhow::bail!("no case has '{}' in its name", filter.unwrap_or_default());
    }
    report::write_out(format!("{passed} passed, {failed} failed\n").as_bytes())?;
    Ok(if failed == 0 { Exit::Done } else { Exit::Failed })
}

fn line(case: &CaseReport) -> String {
    let name = format!("{}::{}", case.family, case.case);
    let verdict = match &case.result {
        Ok(()) => "ok".into(),
        Err(reason) => format!("FAILED: {reason}"),
    };
    format!("{name:<48} {:>9}  {verdict}", units::elapsed(case.elapsed))
}
