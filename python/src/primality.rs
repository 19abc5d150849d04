//! Tests of Mersenne numbers and of numbers k·b^n ± 1.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use warpint::mersenne::{
    EXACT, Event, Exponent, KnownFactors, LlStart, Number, PlanRequest, Sign, TestKind, TestSpec,
    engine,
};
use warpint::progress::StopToken;
use warpint::runner::{Candidate, Job, Observer, Report, RunEvent, TF_LIMIT, random_shift};

use crate::choice::{device, threads};
use crate::failure::Failure;
use crate::watched::{News, watched};

/// The options of a test, which Python passes as a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct TestOptions {
    /// `auto`, `cpu`, `cuda:0`, …
    device: String,
    engine: Option<String>,
    threads: Option<usize>,
    directory: PathBuf,
    iterations: Option<u64>,
    /// The base of Fermat's test, for numbers k·b^n ± 1.
    base: Option<u32>,
    /// The known factors of M_p, for a PRP test.
    factors: Vec<String>,
    /// The limit of the search for factors; 0 for no search, `None` for the default.
    factor_limit: Option<u64>,
    checkpoint_interval: f64,
    restart: bool,
}

/// Returns k, b, n, the sign ±1 and the normal form of the number that `text` names.
#[pyfunction]
pub(crate) fn parse_number(text: &str) -> PyResult<(u64, u32, u32, i32, String)> {
    let number: Number = text.parse().map_err(|e| Failure::from(e).exception())?;
    let sign = if number.sign() == Sign::Plus { 1 } else { -1 };
    Ok((number.multiplier(), number.base(), number.exponent(), sign, number.to_string()))
}

/// Returns an error unless p is the exponent of a Mersenne number that can be tested.
#[pyfunction]
pub(crate) fn check_exponent(p: u64) -> PyResult<()> {
    Exponent::new(p).map(drop).map_err(|e| Failure::from(e).exception())
}

/// Tests a number and returns the report as JSON and as text. `kind` is `prp` or `ll` for M_p, whose
/// name is then the exponent p, or `best` for the test that proves most.
#[pyfunction]
pub(crate) fn run_test(
    py: Python<'_>,
    kind: &str,
    number: &str,
    options: TestOptions,
    observer: &Bound<'_, PyAny>,
) -> PyResult<(String, String)> {
    let report = watched(py, observer, |stop, news| test(kind, number, &options, stop, news))?;
    match serde_json::to_string(&report) {
        Ok(json) => Ok((json, report.to_string())),
        Err(error) => Err(PyRuntimeError::new_err(error.to_string())),
    }
}

fn test(
    kind: &str,
    number: &str,
    options: &TestOptions,
    stop: &StopToken,
    news: Sender<News>,
) -> Result<Report, Failure> {
    let request = request(options)?;
    let mut job = match kind {
        "best" => best(number, options, &news)?,
        _ => mersenne(kind, number, options)?,
    };
    job.request = request;
    job.spec.iterations = options.iterations;
    job.checkpoint_interval = Duration::try_from_secs_f64(options.checkpoint_interval)
        .map_err(|e| Failure::request(format!("the time between checkpoints: {e}")))?;
    job.restart = options.restart;
    let observer: Arc<dyn Observer> = Arc::new(move |event: &RunEvent<'_>| tell(event, &news));
    Ok(job.run(&observer, stop)?)
}

/// Returns the job of the test of M_p by Fermat's test or that of Lucas and Lehmer.
fn mersenne<'a>(kind: &str, p: &str, options: &'a TestOptions) -> Result<Job<'a>, Failure> {
    let exponent: Exponent = p.parse()?;
    let kind = if kind == "prp" { TestKind::Prp } else { TestKind::Ll(LlStart::Four) };
    let known_factors = KnownFactors::new(exponent.get(), &options.factors)?;
    let shift = random_shift(exponent.get());
    let spec = TestSpec { known_factors, shift, ..TestSpec::new(kind, exponent) };
    let mut job = Job::new(spec, &options.directory);
    job.tf_limit = Some(options.factor_limit.unwrap_or(TF_LIMIT)).filter(|&limit| limit > 0);
    Ok(job)
}

/// Returns the job of the test that proves most about a number, or of Fermat's test to a base.
fn best<'a>(text: &str, options: &'a TestOptions, news: &Sender<News>) -> Result<Job<'a>, Failure> {
    let candidate: Candidate = text.parse()?;
    let number = candidate.number();
    if let Some(base) = options.base {
        if number.is_mersenne() {
            return Err(Failure::request(format!(
                "{number} is 2^p-1, to which Mersenne(p).prp() and Mersenne(p).ll() apply"
            )));
        }
        if !(2..=65_536).contains(&base) {
            return Err(Failure::request(format!("base {base} is not from 2 to 65536")));
        }
        if number.is_trivial_for(base) {
            let b = number.base();
            return Err(Failure::request(format!(
                "base {base}: each of its prime factors divides {b}, so {number} would pass whether \
                 it is prime or not"
            )));
        }
    }
    let limit = options.factor_limit.unwrap_or(Candidate::FACTOR_LIMIT);
    let job = candidate.job(options.base, limit, &options.directory);
    for note in candidate.notes(job.spec.kind) {
        let _ = news.send(News::Note(note.to_string()));
    }
    Ok(job)
}

fn request(options: &TestOptions) -> Result<PlanRequest, Failure> {
    let device = device(&options.device)?;
    let engine = match options.engine.as_deref() {
        None | Some("auto") => None,
        Some(EXACT) => Some(EXACT),
        Some(name) => Some(engine::family(name).map(|family| family.name()).ok_or_else(|| {
            let names = engine::families().iter().map(|family| family.name());
            let names = ["auto", EXACT].into_iter().chain(names).collect::<Vec<_>>().join(", ");
            Failure::request(format!("'{name}' is not an engine; the engines are {names}"))
        })?),
    };
    Ok(PlanRequest { engine, device, threads: threads(options.threads)?, ..PlanRequest::default() })
}

/// Passes an event on to Python.
fn tell(event: &RunEvent<'_>, news: &Sender<News>) {
    let news_of = match event {
        RunEvent::Note(note) => News::Note(note.to_string()),
        RunEvent::Warning(warning) => News::Warning(warning.to_string()),
        RunEvent::Test(Event::Progress { iteration, total, per_iteration, .. }) => News::Progress {
            done: (*iteration).into(),
            total: (*total).into(),
            each: per_iteration.as_secs_f64(),
        },
        RunEvent::Test(event) => {
            if let Event::Started { iteration, total, .. } = event {
                let (done, total) = ((*iteration).into(), (*total).into());
                let _ = news.send(News::Progress { done, total, each: 0.0 });
            }
            match event.line() {
                Some(line) if event.is_trouble() => News::Warning(line),
                Some(line) => News::Note(line),
                None => return,
            }
        }
        _ => return,
    };
    let _ = news.send(news_of);
}
