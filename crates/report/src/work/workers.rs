//! The section of the workers: what each of them does.

use std::time::Duration;

use warpint_progress::units;
use warpint_runner::work::{State, TestStatus, WorkerStatus};

use crate::html::Html;
use crate::text::{grouped, measured};

/// Writes the section. Writes nothing without workers.
pub(super) fn write(html: &mut Html, workers: &[WorkerStatus]) {
    if workers.is_empty() {
        return;
    }
    html.with("section", &[("aria-labelledby", "workers")], |html| {
        html.element("h2", &[("id", "workers")], "Workers");
        html.with("div", &[("class", "cards")], |html| {
            workers.iter().for_each(|worker| card(html, worker));
        });
    });
}

fn card(html: &mut Html, worker: &WorkerStatus) {
    html.with("article", &[("class", "card")], |html| {
        html.with("h3", &[], |html| {
            html.text(&format!("Worker {}", worker.worker));
            if let Some(test) = &worker.test {
                html.text(&format!(": {}, {}", test.name(), test.worktype));
            }
        });
        html.with("p", &[("class", "state")], |html| {
            let (class, said) = state(worker.state);
            html.element("span", &[("class", class)], said);
        });
        if let Some(test) = &worker.test {
            progress(html, &test.name(), "of the iterations", test.percent);
            if let Some(percent) = test.proof_percent {
                progress(html, &test.name(), "of the proof", percent);
            }
        }
        html.with("dl", &[], |html| {
            let mut facts = worker.test.as_ref().map(of_test).unwrap_or_default();
            facts.extend(of_worker(worker));
            for (name, value) in facts {
                html.with("div", &[], |html| {
                    html.element("dt", &[], name);
                    html.element("dd", &[], &value);
                });
            }
        });
    });
}

/// Returns the CSS class and the text of a state.
fn state(state: State) -> (&'static str, &'static str) {
    match state {
        State::Preparing => ("badge busy", "preparing"),
        State::Testing => ("badge busy", "testing"),
        State::Proving => ("badge busy", "building the proof"),
        State::Waiting => ("badge", "waiting for work"),
        State::Finished => ("badge", "ended: no work was left"),
        State::Failed => ("badge bad", "ended with an error, see the log"),
        State::Stopped => ("badge", "stopped"),
        State::Killed => ("badge bad", "no longer running"),
    }
}

fn progress(html: &mut Html, name: &str, what: &str, percent: f64) {
    let percent = if percent.is_finite() { percent.clamp(0.0, 100.0) } else { 0.0 };
    let (value, said) = (format!("{percent:.2}"), format!("{percent:.2} %"));
    html.with("p", &[("class", "progress")], |html| {
        let label = format!("{name}, {what}");
        let bar = [("max", "100"), ("value", value.as_str()), ("aria-label", &label)];
        html.element("progress", &bar, &said);
        html.element("span", &[], &format!("{said} {what}"));
    });
}

/// Returns the names and values of what is known of a test.
fn of_test(test: &TestStatus) -> Vec<(&'static str, String)> {
    let mut facts = vec![];
    let mut fact = |name, value: Option<String>| {
        facts.extend(value.filter(|v| !v.is_empty()).map(|value| (name, value)));
    };
    let left = test.eta_seconds.map(|s| units::clock(Duration::from_secs(s)));
    fact("Remaining time, estimated", left);
    let iterations = format!("{} of {}", grouped(test.iteration), grouped(test.total));
    fact("Iterations", Some(iterations));
    fact("Time per iteration", test.us_per_iteration.map(|us| format!("{} µs", measured(us))));
    fact("Device", test.device.clone());
    fact("Engine", test.engine.clone());
    fact("Transform length", test.fft_length.map(units::count_words));
    fact("Round-off, maximum", test.round_off.map(|r| format!("{:.4}", r.max)));
    let z = test.round_off.and_then(|r| r.z);
    fact("Round-off, margin Z", z.map(|z| format!("{z:.0}")));
    fact("Verified to iteration", test.verified.map(grouped));
    fact("Saved at iteration", test.saved.map(grouped));
    let errors = test.errors;
    let kinds =
        [(errors.checks, "checks"), (errors.round_off, "round-off"), (errors.device, "device")];
    let found = kinds.iter().filter(|(n, _)| *n > 0).map(|(n, kind)| format!("{n} {kind}"));
    let found: Vec<_> = found.collect();
    let said = if found.is_empty() { "none".into() } else { found.join(", ") };
    fact("Errors, all recovered", Some(said));
    fact("Sensors", test.sensors.as_ref().map(ToString::to_string));
    fact("Assignment", test.aid.clone());
    facts
}

fn of_worker(worker: &WorkerStatus) -> Vec<(&'static str, String)> {
    let failed = (worker.failed > 0).then(|| format!(", {} failed", worker.failed));
    vec![
        ("Finished since start", format!("{}{}", worker.done, failed.unwrap_or_default())),
        ("Process", format!("{}, since {} UTC", worker.pid, worker.since)),
        ("As of", format!("{} UTC", worker.updated)),
    ]
}
