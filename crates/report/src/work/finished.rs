//! The section of the finished tests.

use warpint_progress::units;
use warpint_runner::history::{Finding, FinishedTest, History};

use super::table;
use crate::html::Html;
use crate::text;

/// The number of tests in the table.
const MOST_ROWS: usize = 200;

const COLUMNS: [&str; 11] = [
    "Number",
    "Test",
    "Result",
    "Residue",
    "#Time",
    "Computed by",
    "#Round-off, max (mean)",
    "#Errors",
    "Proof",
    "Credit",
    "Finished (UTC)",
];

/// Writes the section. Writes nothing without finished tests.
pub(super) fn write(html: &mut Html, history: &History) {
    if history.count == 0 {
        return;
    }
    html.with("section", &[("aria-labelledby", "finished")], |html| {
        html.element("h2", &[("id", "finished")], "Finished tests");
        if !history.primes.is_empty() {
            html.element("h3", &[], "Primes and probable primes");
            let newest = history.primes.iter().rev().take(MOST_ROWS);
            table(html, "Primes and probable primes", &COLUMNS, newest.map(row));
            html.element("h3", &[], "All tests");
        }
        let shown = history.tests.len().min(MOST_ROWS);
        if (shown as u64) < history.count {
            let all = text::grouped(history.count);
            let said = format!("The table has the newest {shown} of {all} finished tests.");
            html.element("p", &[], &said);
        }
        let newest = history.tests.iter().rev().take(MOST_ROWS);
        table(html, "Finished tests", &COLUMNS, newest.map(row));
    });
}

fn row(test: &FinishedTest) -> Vec<String> {
    let finding = match &test.finding {
        Finding::Prime => "prime".into(),
        Finding::ProbablePrime => "probable prime".into(),
        Finding::Composite => "composite".into(),
        Finding::Factors(factors) => format!("has the factor {}", factors.join(", ")),
        Finding::Certified => "certified".into(),
    };
    let words = test.fft_length.filter(|&n| n > 1).map(units::count_words);
    let computed_by = [test.engine.clone(), test.device.clone(), words];
    let credit = [test.user.clone(), test.computer.clone()];
    let round_off = test.round_off.map(|(max, mean)| format!("{max:.4} ({mean:.4})"));
    // The unknown is a dash, so that it is not taken for 0.
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "–".into());
    let joined = |parts: Vec<String>| Some(parts.join(", ")).filter(|text| !text.is_empty());
    vec![
        test.number.clone(),
        test.worktype.clone(),
        finding,
        or_dash(test.residue.clone()),
        or_dash(test.seconds.map(text::elapsed)),
        or_dash(joined(computed_by.into_iter().flatten().collect())),
        or_dash(round_off),
        or_dash(test.errors.map(|n| n.to_string())),
        or_dash(test.proof_power.map(|power| format!("power {power}"))),
        or_dash(joined(credit.into_iter().flatten().collect())),
        or_dash(test.time.map(warpint_gimps::utc_text)),
    ]
}
