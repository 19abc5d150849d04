//! Operations on single natural numbers of any length.
//!
//! Numbers come and go as little-endian bytes. The operands of a call are read in place if their
//! bytes are whole, aligned limbs, which is so for the bytes objects that Python's part makes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use warpint::integer::IntegerError;
use warpint::integer::huge::device::DeviceMultiplier;
use warpint::integer::huge::{self, available_memory, memory, stoppable, work};
use warpint::natural::limbs::bit_length;
use warpint::natural::product::{Multiplier, TransformMultiplier};
use warpint::progress::StopToken;

use crate::choice::{opened, thread_count};
use crate::failure::Failure;
use crate::watched::{Counter, News, watched};

/// Where and how products are computed.
enum Place {
    Cpu(TransformMultiplier),
    Device(Box<DeviceMultiplier>),
}

impl Place {
    fn multiplier(&self) -> &dyn Multiplier {
        match self {
            Self::Cpu(multiplier) => multiplier,
            Self::Device(multiplier) => &**multiplier,
        }
    }
}

/// The places that have been used, by device and number of threads. They keep tables.
static PLACES: Mutex<BTreeMap<(String, usize), Arc<Place>>> = Mutex::new(BTreeMap::new());

fn place(device: &str, threads: Option<usize>, news: &Sender<News>) -> Result<Arc<Place>, Failure> {
    let threads = thread_count(threads)?;
    let device = opened(device, news)?;
    let name = device.as_ref().map_or_else(|| "cpu".into(), |device| device.info().id.clone());
    let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(place) = places.get(&(name.clone(), threads)) {
        return Ok(Arc::clone(place));
    }
    let place = Arc::new(match device {
        Some(device) => Place::Device(Box::new(DeviceMultiplier::new(&device, threads)?)),
        None => Place::Cpu(TransformMultiplier::new(threads)),
    });
    places.insert((name, threads), Arc::clone(&place));
    Ok(place)
}

/// The resources of a calculation: its estimated work, and the memory it needs in bytes.
struct Needs {
    work: f64,
    memory: u64,
}

/// A result of a calculation.
enum Output {
    /// The limbs of a number.
    Number(Vec<u64>),
    /// Decimal digits.
    Digits(Vec<u8>),
}

impl Output {
    /// Returns little-endian bytes, or digits as text.
    fn to_python<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        match self {
            Self::Number(limbs) if cfg!(target_endian = "little") => {
                PyBytes::new(py, bytemuck::cast_slice(limbs))
            }
            Self::Number(limbs) => {
                let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
                PyBytes::new(py, &bytes)
            }
            Self::Digits(digits) => PyBytes::new(py, digits),
        }
    }
}

/// Computes `calculation` of numbers and a small integer, and returns the results as bytes: numbers
/// as little-endian bytes, digits as text.
#[pyfunction]
pub(crate) fn huge_calculate<'py>(
    py: Python<'py>,
    calculation: &str,
    operands: Vec<PyBackedBytes>,
    small: u64,
    device: &str,
    threads: Option<usize>,
    observer: &Bound<'py, PyAny>,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let results = watched(py, observer, |stop, news| {
        let place = place(device, threads, &news)?;
        let texts: Vec<&[u8]> = operands.iter().map(|bytes| &**bytes).collect();
        calculate(calculation, &texts, small, &place, stop, news)
    })?;
    Ok(results.iter().map(|output| output.to_python(py)).collect())
}

fn calculate(
    calculation: &str,
    operands: &[&[u8]],
    small: u64,
    place: &Place,
    stop: &StopToken,
    news: Sender<News>,
) -> Result<Vec<Output>, Failure> {
    let numbers: Vec<Cow<'_, [u64]>> = match calculation {
        "from_decimal" => vec![],
        _ => operands.iter().map(|bytes| limbs(bytes)).collect(),
    };
    let plain = place.multiplier();
    let needs = needs(calculation, operands, &numbers, small, plain)?;
    if let Some(available) = available_memory()
        && needs.memory > available
    {
        let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
        return Err(Failure::memory(format!(
            "the calculation needs about {:.1} GiB of memory, but only {:.1} GiB are available",
            gib(needs.memory),
            gib(available)
        )));
    }
    let watch = Counter::new(stop, news.clone(), needs.work.max(1.0) as u128);
    let done = stoppable(plain, &watch, |by| compute(calculation, operands, &numbers, small, by));
    if let Place::Device(device) = place
        && let Some(why) = device.failure()
    {
        let line = format!("the device was given up, and the CPU computed the rest: {why}");
        let _ = news.send(News::Warning(line));
    }
    done.unwrap_or_else(|huge::Stopped| Err(Failure::stopped()))
}

fn compute(
    calculation: &str,
    operands: &[&[u8]],
    numbers: &[Cow<'_, [u64]>],
    small: u64,
    by: &dyn Multiplier,
) -> Result<Vec<Output>, Failure> {
    use Output::{Digits, Number};
    let pair = |(x, y): (Vec<u64>, Vec<u64>)| vec![Number(x), Number(y)];
    Ok(match (calculation, numbers, operands) {
        ("mul", [a, b], _) => vec![Number(huge::product(by, a, b))],
        ("sqr", [a], _) => vec![Number(huge::square(by, a))],
        ("divmod", [a, b], _) => pair(huge::div_rem(by, a, b)?),
        ("gcd", [a, b], _) => vec![Number(huge::gcd(by, a, b))],
        ("sqrt_rem", [a], _) => pair(huge::sqrt_rem(by, a)),
        ("pow", [a], _) => vec![Number(huge::power(by, a, small)?)],
        ("factorial", [], _) => vec![Number(huge::factorial(by, small)?)],
        ("primorial", [], _) => vec![Number(huge::primorial(by, small)?)],
        ("to_decimal", [a], _) => vec![Digits(huge::to_decimal(by, a))],
        ("from_decimal", [], [digits]) => vec![Number(huge::from_decimal(by, digits))],
        _ => return Err(Failure::request(format!("no calculation {calculation}"))),
    })
}

/// The largest number of limbs of a result.
const MOST_LIMBS: usize = (huge::MOST_BITS / 64) as usize;

/// Returns the work of a calculation and an upper bound of its memory.
fn needs(
    calculation: &str,
    operands: &[&[u8]],
    numbers: &[Cow<'_, [u64]>],
    small: u64,
    by: &dyn Multiplier,
) -> Result<Needs, IntegerError> {
    let fits = |limbs: usize, operation: &'static str| match limbs {
        0..=MOST_LIMBS => Ok(limbs),
        _ => Err(IntegerError::TooLong { operation, most: huge::MOST_BITS }),
    };
    let a = numbers.first().map_or(0, |a| a.len());
    let b = numbers.get(1).map_or(0, |b| b.len());
    let (work, memory) = match calculation {
        "mul" => (work::product(a, b), memory::product(by, a, b)),
        "sqr" => (work::product(a, a), memory::product(by, a, a)),
        "divmod" => (work::division(a, b), memory::division(by, a, b)),
        "gcd" => (work::gcd(a, b), memory::gcd(by, a, b)),
        "sqrt_rem" => (work::square_root(a), memory::square_root(by, a)),
        "pow" => {
            let bits = numbers.first().map_or(0, |a| bit_length(a));
            let limbs = (u128::from(bits) * u128::from(small)).div_ceil(64) + 1;
            let limbs = fits(usize::try_from(limbs).unwrap_or(usize::MAX), "a power")?;
            (work::power(bits, small), memory::power(by, limbs))
        }
        "factorial" => {
            let limbs = fits(memory::factorial_limbs(small), "a factorial")?;
            (work::factorial(small), memory::primes_product(by, limbs, small))
        }
        "primorial" => {
            let limbs = fits(memory::primorial_limbs(small), "a primorial")?;
            (work::primorial(small), memory::primes_product(by, limbs, small))
        }
        "to_decimal" => (work::to_decimal(a), memory::to_decimal(by, a)),
        _ => {
            // log2(10)/64 < 0.052 limbs for each digit.
            let limbs = (operands.first().map_or(0, |text| text.len()) as f64 * 0.052) as usize + 1;
            (work::from_decimal(limbs), memory::from_decimal(by, limbs))
        }
    };
    Ok(Needs { work, memory })
}

/// Returns the limbs of little-endian bytes, without a copy if they are whole and aligned.
fn limbs(bytes: &[u8]) -> Cow<'_, [u64]> {
    if cfg!(target_endian = "little")
        && let Ok(limbs) = bytemuck::try_cast_slice(bytes)
    {
        return Cow::Borrowed(limbs);
    }
    let limb = |chunk: &[u8]| {
        let mut limb = [0; 8];
        limb[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(limb)
    };
    Cow::Owned(bytes.chunks(8).map(limb).collect())
}
