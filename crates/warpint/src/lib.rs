//! Exact arithmetic on large integers: the library behind the program `warpint`.
//!
//! * [`mersenne`]: Lucas–Lehmer and PRP tests of 2^p − 1.
//! * [`integer`]: operations on batches of integers, millions at once, and on single numbers of any
//!   length.
//! * [`batch`]: files of numbers, and batch jobs, which read operands from files and write results
//!   to a file.
//! * [`collatz`]: verification of the Collatz conjecture, delays and records.
//! * [`keys`]: public RSA keys: reading them from files, shared primes, and checks for weak moduli.
//! * [`transform`]: Fourier transforms over finite fields, among them big prime fields, and
//!   polynomials over these fields.
//! * [`runner`]: tests with checkpoints, proofs and recorded results; workers that process lists of
//!   assignments.
//! * [`gimps`]: the file formats of GIMPS (the Great Internet Mersenne Prime Search) and its
//!   programs.
//! * [`testkeys`]: test moduli for audits of RSA keys, with planted weaknesses.
//! * [`device`]: GPUs and kernels.
//! * [`natural`]: single natural numbers of any length.
//! * [`arith`]: exact scalar arithmetic.
//! * [`progress`]: stop requests and progress reports.
//!
//! Each module except [`device`], [`arith`] and [`progress`] requires a feature: [`gimps`] requires
//! `mersenne`, every other module the feature of its own name. All features are on by default.
//! GPUs require the feature `cuda`. For example, `default-features = false` with `features =
//! ["integer", "cuda"]` builds only batches, on the CPU and on GPUs.
//!
//! The programs in `examples/` demonstrate PRP tests with progress and checkpoints (`prp`), proofs
//! (`proof`), batches on CPU and GPU (`batch`), verification of the Collatz conjecture (`collatz`),
//! a convolution (`convolution`), a product of polynomials on a GPU (`gpu_product`), digits of e by
//! products of numbers of any length (`huge`) and transforms over a user-defined field (`own_prime`).
//!
//! Each error is one line that says what went wrong. Its [`ErrorKind`] distinguishes bad input from
//! a full disk or a failing device.
//!
//! A whole Lucas–Lehmer test. `Plan::new` chooses an engine and a transform length for the
//! exponent:
//!
//! ```
//! use warpint::mersenne::{
//!     Exponent, Finished, LlStart, Plan, PlanRequest, RunOptions, StopToken, TestKind, TestSpec,
//!     Verdict, primality,
//! };
//!
//! let exponent: Exponent = "2203".parse()?;
//! let plan = Plan::new(exponent, &PlanRequest::default())?;
//! let spec = TestSpec::new(TestKind::Ll(LlStart::Four), exponent);
//! // No store: nothing is saved. `CheckpointStore::open` makes a test resumable.
//! let finished =
//!     primality::run(&spec, plan, None, &mut |_| {}, &StopToken::new(), &RunOptions::default())?;
//! let Finished::Done(outcome) = finished else { unreachable!("nobody asked for a stop") };
//! assert_eq!(outcome.verdict, Verdict::Prime);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The same test as a job in a directory. The job writes checkpoints, a stored result and a line in
//! the file `results.txt` of the directory. The closure receives events:
//!
//! ```
//! use std::path::Path;
//! use std::sync::Arc;
//! use warpint::mersenne::{Exponent, LlStart, StopToken, TestKind, TestSpec};
//! use warpint::runner::{Job, Observer, RunEvent};
//!
//! fn test(dir: &Path) -> Result<(), Box<dyn std::error::Error>> {
//!     let spec = TestSpec::new(TestKind::Ll(LlStart::Four), Exponent::new(2203)?);
//!     let observer: Arc<dyn Observer> = Arc::new(|event: &RunEvent<'_>| {
//!         if let RunEvent::Warning(warning) = event {
//!             eprintln!("warning: {warning}");
//!         }
//!     });
//!     println!("{}", Job::new(spec, dir).run(&observer, &StopToken::new())?);
//!     Ok(())
//! }
//! ```
//!
//! A million products of numbers of 1,024 bits, on all logical CPUs. For a GPU, use
//! `Executor::on(Device::open("cuda")?)` instead of `Executor::cpu()`:
//!
//! ```
//! use warpint::integer::{Executor, UintBatch, Width};
//!
//! let (cpu, width, million) = (Executor::cpu(), Width::new(1024)?, 1_000_000);
//! // Limbs of 32 bits, the lowest first, one number after another: number i is i + 2^32·i here.
//! let limbs = |i: u32| (0..32).map(move |j| if j < 2 { i } else { 0 });
//! let a = UintBatch::from_vec(&cpu, width, (0..million).flat_map(limbs).collect())?;
//! let products = a.mul(&a)?;
//! assert_eq!(products.bits(), 2048);
//! assert_eq!(products.get(7)?.map(|product| product[..4].to_vec()), Some(vec![49, 98, 49, 0]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Batches of powers modulo one number, and batches of powers of one base. Precomputed values are
//! reused:
//!
//! ```
//! use warpint::integer::{Executor, Modulus, UintBatch, Width};
//!
//! let (cpu, width) = (Executor::cpu(), Width::new(128)?);
//! let numbers = |texts: &[&str]| UintBatch::from_decimal(&cpu, width, texts.iter().copied());
//! // The prime 2^127 − 1.
//! let modulus = Modulus::new(numbers(&["170141183460469231731687303715884105727"])?)?;
//! let exponents = numbers(&["0", "127", "170141183460469231731687303715884105726"])?;
//! let two = modulus.fixed_base(&numbers(&["2"])?, width)?;
//! assert_eq!(two.pow(&exponents)?.to_decimal()?, ["1", "1", "1"]);
//! let roots = modulus.pow(&numbers(&["3", "5"])?, &numbers(&["2"])?)?;
//! assert_eq!(modulus.square(&roots)?.to_decimal()?, ["81", "625"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Numbers are read from a file and squared. Then a job reads operands from files, computes
//! inverses, and writes them to a file. A job processes some numbers at a time and can be resumed:
//!
//! ```
//! use warpint::batch::{Form, Format, Item, Job, News, Request, Source};
//! use warpint::integer::{Executor, Operation};
//! use warpint::progress::StopToken;
//!
//! let folder = tempfile::tempdir()?;
//! let at = |name: &str| folder.path().join(name);
//! std::fs::write(at("a.txt"), "3\n5\n0\n")?;
//!
//! // Its lines are counted, and the widest of its numbers is found.
//! let source = Source::new(&at("a.txt"), None, None)?;
//! assert_eq!((source.count(), source.format(), source.width().bits()), (3, Format::Decimal, 32));
//! let (numbers, problems) = source.open(0)?.next(3)?.numbers(&Executor::cpu())?;
//! assert!(problems.is_empty());
//! let squares = numbers.square()?;
//! let form = Form { format: Format::Hex, width: squares.width(), item: Item::U32 };
//! assert_eq!(form.of(&squares)?.into_bytes(&[]), b"9\n19\n0\n");
//!
//! // Inverses modulo 7; 0 has none.
//! let request = Request::new(Operation::Inverse, vec![at("a.txt"), "7".into()], at("r.txt"));
//! let mut problems = vec![];
//! let job = Job::new(request, Executor::cpu(), &mut |_| {})?;
//! let outcome = job.open()?.run(&StopToken::new(), &mut |news| {
//!     if let News::Problem(line) = news {
//!         problems.push(line);
//!     }
//! })?;
//! assert_eq!((outcome.tally.done, outcome.tally.malformed), (3, 1));
//! assert!(problems[0].ends_with("a.txt: line 3: a has no inverse modulo b"));
//! assert_eq!(std::fs::read_to_string(at("r.txt"))?, "5\n3\nnone\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The Collatz conjecture for all numbers below 2^30, on all logical CPUs. For a GPU, use
//! `GpuSieve::new(&Device::open("cuda")?, Walker::default())` instead of `CpuSieve::default()`:
//!
//! ```
//! use warpint::collatz::sieve::{CpuSieve, Sieve};
//! use warpint::collatz::{Region, Unwatched, Verifier, path};
//!
//! let mut sieve = Sieve::new(CpuSieve::default());
//! let verified = sieve.verify(&Region::interval(0, 1 << 30)?, &Unwatched)?;
//! // Nobody stopped it, and no number failed to come down.
//! assert!(verified.is_some_and(|verified| verified.unresolved.is_empty()));
//! let path = path::path(&63_728_127u32.into(), &Unwatched);
//! assert!(path.is_some_and(|path| path.delay() == 949));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A convolution modulo the prime (2^63 + 2^34)^8 + 1, of 505 bits. For a GPU, use
//! [`transform::gpu::gfn::GfnFft`] instead of [`transform::cpu::Transform`]:
//!
//! ```
//! use warpint::arith::field::Field;
//! use warpint::arith::gfn::Gfn8;
//! use warpint::transform::cpu::Transform;
//!
//! let field = Gfn8::known();
//! // 1 + z and −1 + 2z, of 1024 coefficients.
//! let polynomial = |low, high| {
//!     let mut x = vec![field.zero(); 1024];
//!     (x[0], x[1]) = (low, high);
//!     x
//! };
//! let (one, two) = (field.one(), field.from_u64(2));
//! let (mut a, mut b) = (polynomial(one, one), polynomial(field.neg(&one), two));
//! Transform::new(field.clone(), 10)?.cyclic(&mut a, &mut b)?;
//! assert_eq!(a[..4], [field.neg(&one), one, two, field.zero()]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[doc(inline)]
pub use warpint_arith as arith;
#[cfg(feature = "batch")]
#[doc(inline)]
pub use warpint_batch as batch;
#[cfg(feature = "collatz")]
#[doc(inline)]
pub use warpint_collatz as collatz;
#[doc(inline)]
pub use warpint_device as device;
#[doc(inline)]
pub use warpint_device::ErrorKind;
#[cfg(feature = "mersenne")]
#[doc(inline)]
pub use warpint_gimps as gimps;
#[cfg(feature = "integer")]
#[doc(inline)]
pub use warpint_integer as integer;
#[cfg(feature = "keys")]
#[doc(inline)]
pub use warpint_keys as keys;
#[cfg(feature = "mersenne")]
#[doc(inline)]
pub use warpint_mersenne as mersenne;
#[cfg(feature = "natural")]
#[doc(inline)]
pub use warpint_natural as natural;
#[doc(inline)]
pub use warpint_progress as progress;
#[cfg(feature = "runner")]
#[doc(inline)]
pub use warpint_runner as runner;
#[cfg(feature = "testkeys")]
#[doc(inline)]
pub use warpint_testkeys as testkeys;
#[cfg(feature = "transform")]
#[doc(inline)]
pub use warpint_transform as transform;

/// The Rust code of the README and of the book, as doctests.
#[cfg(all(doctest, feature = "integer", feature = "mersenne", feature = "transform"))]
mod pages {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../README.md")]
    struct PackageReadme;
    #[doc = include_str!("../../../docs/guides/big-primes.md")]
    struct BigPrimes;
    #[cfg(feature = "natural")]
    #[doc = include_str!("../../../docs/guides/huge.md")]
    struct Huge;
    #[doc = include_str!("../../../docs/guides/library.md")]
    struct Library;
    #[doc = include_str!("../../../docs/guides/polynomials.md")]
    struct Polynomials;
    #[doc = include_str!("../../../docs/guides/transforms.md")]
    struct Transforms;
}

// Threads may share these types, as the book's chapter on the library says.
#[cfg(all(feature = "integer", feature = "mersenne"))]
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<integer::Executor>();
    shared::<integer::UintBatch>();
    shared::<mersenne::Residue>();
};
