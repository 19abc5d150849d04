//! Exact arithmetic on large integers: the library behind the program `warpint`.
//!
//! * [`mersenne`]: Lucas–Lehmer and PRP tests of 2^p − 1.
//! * [`integer`]: batches of integers: millions of products at once.
//! * [`collatz`]: verification of the Collatz conjecture, delays and records.
//! * [`transform`]: Fourier transforms over finite fields, among them big prime fields.
//! * [`gimps`]: the files that programs around GIMPS read and write.
//! * [`device`]: GPUs, and the one way to run a kernel.
//! * [`arith`]: exact scalar arithmetic.
//!
//! A whole Lucas–Lehmer test, with an engine and a transform length that suit
//! the exponent:
//!
//! ```
//! use std::sync::mpsc;
//! use warpint::mersenne::{
//!     Exponent, Finished, LlStart, Plan, PlanRequest, RunOptions, StopToken, TestKind, TestSpec,
//!     Verdict, test,
//! };
//!
//! let exponent: Exponent = "2203".parse()?;
//! let plan = Plan::new(exponent, &PlanRequest::default())?;
//! let spec = TestSpec::new(TestKind::Ll(LlStart::Four), exponent);
//! let (events, _progress) = mpsc::channel();
//! // No store: nothing is saved. `CheckpointStore::open` makes a test resumable.
//! let finished =
//!     test::run(&spec, plan, None, &events, &StopToken::new(), &RunOptions::default())?;
//! let Finished::Done(outcome) = finished else { unreachable!("nobody asked for a stop") };
//! assert_eq!(outcome.verdict, Verdict::Prime);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A million products of numbers of 1,024 bits, on all cores; with
//! `Executor::on(Device::open("cuda")?)` in place of `Executor::cpu()` on a GPU:
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
//! Powers modulo one number, which is prepared once, and of one base, whose powers are:
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
//! The Collatz conjecture for all numbers below 2^30, on all cores; with
//! `GpuSieve::new(&Device::open("cuda")?, Walker::default())` in place of `CpuSieve::default()` on a GPU:
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
//! A convolution modulo the prime (2^63 + 2^34)^8 + 1, of 505 bits; with [`transform::gpu::gfn::GfnFft`] in place of
//! [`transform::cpu::Transform`] on a GPU:
//!
//! ```
//! use warpint::arith::field::Field;
//! use warpint::arith::gfn::{Gfn, PRIMES};
//! use warpint::transform::cpu::Transform;
//!
//! let field = Gfn::<8>::new(PRIMES[2])?;
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

pub use warpint_arith as arith;
pub use warpint_collatz as collatz;
pub use warpint_device as device;
pub use warpint_gimps as gimps;
pub use warpint_integer as integer;
pub use warpint_mersenne as mersenne;
pub use warpint_transform as transform;
