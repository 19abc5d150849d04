//! Fourier transforms and convolutions over finite fields.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use rayon::prelude::*;
use warpint::arith::f50::F50;
use warpint::arith::field::Field;
use warpint::arith::gfn::{Form, Gfn, PRIMES};
use warpint::arith::goldilocks::{self, Goldilocks};
use warpint::arith::montgomery::PrimeField;
use warpint::arith::with_field;
use warpint::device::Device;
use warpint::transform::Plan;
use warpint::transform::cpu::ntt50::CpuNtt50;
use warpint::transform::cpu::{NoTransform, Transform, WrongArgument};
use warpint::transform::gpu::f50::Ntt50;
use warpint::transform::gpu::goldilocks::Ntt64;
use warpint::transform::gpu::ntt::NttRequest;

use crate::choice::opened;
use crate::failure::Failure;
use crate::watched::watched;

/// 2^64 − 2^32 + 1.
const GOLDILOCKS: u64 = 0xFFFF_FFFF_0000_0001;

/// The primes of [`F50`] are in this range.
const F50_RANGE: std::ops::Range<u64> = 1 << 46..1 << 50;

impl From<NoTransform> for Failure {
    fn from(error: NoTransform) -> Self {
        match error {
            NoTransform::Memory(_) => Self::memory(error.to_string()),
            _ => Self::request(error.to_string()),
        }
    }
}

impl From<WrongArgument> for Failure {
    fn from(error: WrongArgument) -> Self {
        Self::request(error.to_string())
    }
}

/// What is computed.
#[derive(Clone, Copy, PartialEq)]
enum What {
    Forward,
    Inverse,
    Cyclic,
    Negacyclic,
}

/// Vectors of n elements, one after the other. An element is a number of words, the lowest first.
struct Vectors {
    a: Vec<u64>,
    /// The other factors of convolutions.
    b: Vec<u64>,
    n: usize,
}

/// Transforms the vectors of `a`, or convolves those of `a` and `b`, modulo the prime with these
/// words. `what` is `forward`, `inverse`, `cyclic` or `negacyclic`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the interface to Python's part")]
pub(crate) fn transform<'py>(
    py: Python<'py>,
    what: &str,
    a: PyReadonlyArray1<'py, u64>,
    b: Option<PyReadonlyArray1<'py, u64>>,
    n: usize,
    modulus: Vec<u64>,
    device: &str,
    observer: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let what = match what {
        "forward" => What::Forward,
        "inverse" => What::Inverse,
        "cyclic" => What::Cyclic,
        _ => What::Negacyclic,
    };
    let words = |array: &PyReadonlyArray1<'py, u64>| Ok::<_, PyErr>(array.as_slice()?.to_vec());
    let (a, b) = (words(&a)?, b.as_ref().map_or(Ok(vec![]), words)?);
    let vectors = Vectors { a, b, n };
    let done = watched(py, observer, move |_, news| {
        check(&vectors.a, &modulus, if vectors.b.is_empty() { "x" } else { "a" })?;
        check(&vectors.b, &modulus, "b")?;
        let device = opened(device, &news)?;
        compute(what, vectors, &modulus, device.as_ref())
    })?;
    Ok(done.into_pyarray(py))
}

/// Returns the root of unity of order n that transforms modulo this prime use, in words.
#[pyfunction]
pub(crate) fn transform_root(py: Python<'_>, n: usize, modulus: Vec<u64>) -> PyResult<Vec<u64>> {
    let root = crate::work::work(py, || Ok(root(n, &modulus)))?;
    root.map_err(|failure| failure.exception())
}

/// Returns an error that names the first element that is not below the modulus.
fn check(words: &[u64], modulus: &[u64], name: &str) -> Result<(), Failure> {
    let below = |x: &[u64]| x.iter().rev().lt(modulus.iter().rev());
    match words.par_chunks(modulus.len()).position_first(|x| !below(x)) {
        Some(i) => Err(Failure::request(format!("element {i} of {name} is not below the modulus"))),
        None => Ok(()),
    }
}

fn compute(
    what: What,
    vectors: Vectors,
    modulus: &[u64],
    device: Option<&Device>,
) -> Result<Vec<u64>, Failure> {
    match (modulus, device) {
        (&[GOLDILOCKS], Some(device)) => by_gpu64(what, vectors, device),
        (&[GOLDILOCKS], None) => by_field(what, &vectors, &Goldilocks, 1),
        (&[p], device) if F50_RANGE.contains(&p) => by_f50(what, &vectors, p, device),
        (_, Some(_)) => Err(Failure::request(
            "a GPU transforms modulo 2^64 − 2^32 + 1 and primes from 2^46 to 2^50; use device='cpu'",
        )),
        (_, None) => with_big(modulus, &mut BigTransform { what, vectors: &vectors }),
    }
}

fn by_gpu64(what: What, vectors: Vectors, device: &Device) -> Result<Vec<u64>, Failure> {
    let Vectors { mut a, b, n } = vectors;
    let plan = Ntt64::with(device, NttRequest::new(n).batch(a.len() / n))?;
    match what {
        What::Forward => plan.forward_on_host(&mut a)?,
        What::Inverse => plan.inverse_on_host(&mut a)?,
        What::Cyclic | What::Negacyclic => {
            let (mut x, mut y) = (device.upload(&a)?, device.upload(&b)?);
            match what {
                What::Cyclic => plan.convolve(&mut x, &mut y)?,
                _ => plan.convolve_negacyclic(&mut x, &mut y)?,
            }
            a = x.download()?;
        }
    }
    Ok(a)
}

fn by_f50(
    what: What,
    vectors: &Vectors,
    p: u64,
    device: Option<&Device>,
) -> Result<Vec<u64>, Failure> {
    let field = F50::new(p).map_err(|e| Failure::request(e.to_string()))?;
    // The words are below 2^50.
    let floats = |words: &[u64]| words.iter().map(|&x| x as f64).collect::<Vec<_>>();
    let (mut a, mut b, n) = (floats(&vectors.a), floats(&vectors.b), vectors.n);
    let request = NttRequest::new(n).batch(a.len() / n);
    match device {
        None => {
            let plan = CpuNtt50::new(&[field], request)?;
            match what {
                What::Forward => plan.forward(&mut a)?,
                What::Inverse => plan.inverse(&mut a)?,
                What::Cyclic => plan.convolve(&mut a, &mut b)?,
                What::Negacyclic => plan.convolve_negacyclic(&mut a, &mut b)?,
            }
        }
        Some(device) => {
            let plan = Ntt50::over(device, &[field], request)?;
            match what {
                What::Forward => plan.forward_on_host(&mut a)?,
                What::Inverse => plan.inverse_on_host(&mut a)?,
                What::Cyclic | What::Negacyclic => {
                    let (mut x, mut y) = (device.upload(&a)?, device.upload(&b)?);
                    match what {
                        What::Cyclic => plan.convolve(&mut x, &mut y)?,
                        _ => plan.convolve_negacyclic(&mut x, &mut y)?,
                    }
                    a = x.download()?;
                }
            }
        }
    }
    Ok(a.into_iter().map(|x| x as u64).collect())
}

/// A field whose elements are read from words and written to words.
trait Words: Field + Clone {
    /// Returns the element that represents the number x < p.
    fn read(&self, x: &[u64]) -> Self::Element;
    /// Writes the number from 0 to p − 1 that represents x.
    fn write(&self, x: &Self::Element, words: &mut [u64]);
}

impl Words for Goldilocks {
    fn read(&self, x: &[u64]) -> u64 {
        self.from_u64(x[0])
    }

    fn write(&self, x: &u64, words: &mut [u64]) {
        words[0] = *x;
    }
}

impl<const L: usize> Words for PrimeField<L> {
    fn read(&self, x: &[u64]) -> Self::Element {
        let mut words = [0; L];
        words[..x.len()].copy_from_slice(x);
        // Elements are below p.
        self.element(&words).unwrap_or_else(|| self.zero())
    }

    fn write(&self, x: &Self::Element, words: &mut [u64]) {
        words.copy_from_slice(&self.integer(x)[..words.len()]);
    }
}

impl<const K: usize> Words for Gfn<K> {
    fn read(&self, x: &[u64]) -> Self::Element {
        self.from_limbs(x)
    }

    fn write(&self, x: &Self::Element, words: &mut [u64]) {
        words.fill(0);
        for (word, limb) in words.iter_mut().zip(self.to_limbs(x)) {
            *word = limb;
        }
    }
}

fn by_field<F: Words>(
    what: What,
    vectors: &Vectors,
    field: &F,
    words: usize,
) -> Result<Vec<u64>, Failure> {
    let read = |x: &[u64]| x.par_chunks(words).map(|x| field.read(x)).collect::<Vec<_>>();
    let (mut a, mut b) = (read(&vectors.a), read(&vectors.b));
    let plan = Transform::of_length(field.clone(), vectors.n)?;
    match what {
        What::Forward => plan.forward(&mut a)?,
        What::Inverse => plan.inverse(&mut a)?,
        What::Cyclic => plan.cyclic(&mut a, &mut b)?,
        What::Negacyclic => plan.negacyclic(&mut a, &mut b)?,
    }
    let mut out = vec![0; a.len() * words];
    out.par_chunks_mut(words).zip(&a).for_each(|(out, x)| field.write(x, out));
    Ok(out)
}

/// Work in a field that is chosen by its prime.
trait InField {
    type Output;
    fn run<F: Words>(&mut self, field: &F, words: usize) -> Result<Self::Output, Failure>;
}

struct BigTransform<'a> {
    what: What,
    vectors: &'a Vectors,
}

impl InField for BigTransform<'_> {
    type Output = Vec<u64>;

    fn run<F: Words>(&mut self, field: &F, words: usize) -> Result<Vec<u64>, Failure> {
        by_field(self.what, self.vectors, field, words)
    }
}

struct RootOfOrder(u32);

impl InField for RootOfOrder {
    type Output = Vec<u64>;

    fn run<F: Words>(&mut self, field: &F, words: usize) -> Result<Vec<u64>, Failure> {
        let root = field.root_of_unity(self.0).ok_or(NoTransform::Root(self.0))?;
        let mut out = vec![0; words];
        field.write(&root, &mut out);
        Ok(out)
    }
}

/// Runs work in the field with this prime: one of the known primes r^k + 1, or any other odd prime of
/// up to 64 words.
fn with_big<W: InField>(modulus: &[u64], work: &mut W) -> Result<W::Output, Failure> {
    let words = modulus.len();
    let is_it = |form: &&Form| form.modulus() == modulus;
    if let Some(&form) = PRIMES.iter().find(is_it) {
        let done = with_field!(form, |field| work.run(&field, words));
        return done.map_err(|e| Failure::request(e.to_string()))?;
    }
    match words {
        1 => prime_field::<1, W>(modulus, work),
        2 => prime_field::<2, W>(modulus, work),
        3..=4 => prime_field::<4, W>(modulus, work),
        5..=6 => prime_field::<6, W>(modulus, work),
        7..=8 => prime_field::<8, W>(modulus, work),
        9..=16 => prime_field::<16, W>(modulus, work),
        17..=32 => prime_field::<32, W>(modulus, work),
        _ => prime_field::<64, W>(modulus, work),
    }
}

fn prime_field<const L: usize, W: InField>(
    modulus: &[u64],
    work: &mut W,
) -> Result<W::Output, Failure> {
    let mut words = [0; L];
    let Some(place) = words.get_mut(..modulus.len()) else {
        return Err(Failure::request("the modulus has more than 4096 bits"));
    };
    place.copy_from_slice(modulus);
    let field = PrimeField::new(words).map_err(|e| Failure::request(e.to_string()))?;
    work.run(&field, modulus.len())
}

fn root(n: usize, modulus: &[u64]) -> Result<Vec<u64>, Failure> {
    let none = || Failure::request(format!("there is no root of unity of order {n}"));
    match *modulus {
        [GOLDILOCKS] => Ok(vec![goldilocks::root_of_unity(n as u64).ok_or_else(none)?]),
        [p] if F50_RANGE.contains(&p) => {
            let field = F50::new(p).map_err(|e| Failure::request(e.to_string()))?;
            let root = field.root_of_order(n as u64).ok_or_else(none)?;
            Ok(vec![field.to_u64(root)])
        }
        _ if !n.is_power_of_two() => Err(none()),
        _ => with_big(modulus, &mut RootOfOrder(n.ilog2())),
    }
}
