//! The methods for products and the choice among them. Honda 2017, chapter 3, compares methods on
//! an earlier GPU: one thread or one warp per number, and Toom-k for longer numbers.

use std::fmt;
use std::str::FromStr;

use warpint_device::{Cells, DeviceError};

use super::karatsuba::MAX_LEVELS;
use super::memory::{Numbers, fits};
use super::product::{Factors, Product};
use super::{Algorithm, Gpu, Karatsuba, Ntt, Operand, Part, Results, Shape};

/// A method to multiply two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// Karatsuba's identity with this number of levels. One thread computes each product of the
    /// lowest level; with 0 levels, this is the whole product.
    Karatsuba(u32),
    /// Number-theoretic transforms modulo the given number of primes.
    Ntt(usize),
}

/// A text that is not the name of a [`Method`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown method `{0}`: the methods are single, karatsuba1 … karatsuba5, ntt3, ntt4, ntt5, ntt6, ntt8 and ntt11"
)]
pub struct NoMethod(String);

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Karatsuba(0) => f.pad("single"),
            Self::Karatsuba(levels) => f.pad(&format!("karatsuba{levels}")),
            Self::Ntt(primes) => f.pad(&format!("ntt{primes}")),
        }
    }
}

impl FromStr for Method {
    type Err = NoMethod;

    fn from_str(name: &str) -> Result<Self, NoMethod> {
        let found = Self::all().find(|method| method.to_string() == name);
        found.ok_or_else(|| NoMethod(name.into()))
    }
}

impl Method {
    /// Returns all methods.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..=MAX_LEVELS).map(Self::Karatsuba).chain(Ntt::primes().map(Self::Ntt))
    }

    /// Returns whether the method uses transforms.
    pub(super) fn is_transform(self) -> bool {
        matches!(self, Self::Ntt(_))
    }

    /// Returns the methods that support factors of `a_limbs` and `b_limbs` limbs (`None` for
    /// squares) on a device with `shared_memory` bytes of shared memory per block.
    pub fn possible(
        a_limbs: usize,
        b_limbs: Option<usize>,
        shared_memory: u32,
    ) -> impl Iterator<Item = Self> {
        Self::all().filter(move |method| method.way(a_limbs, b_limbs, shared_memory).is_some())
    }

    /// Returns the algorithm by which the method computes products of factors of `a_limbs` and
    /// `b_limbs` limbs (`None` for squares), and an estimate of its price: approximate nanoseconds
    /// on an H200, fitted to measurements of `warpint bench batch --method all`. Returns `None` if
    /// the method does not support the product.
    pub(super) fn way(
        self,
        a_limbs: usize,
        b_limbs: Option<usize>,
        shared_memory: u32,
    ) -> Option<(Algorithm, f64)> {
        let (size, estimate) = match self {
            Self::Karatsuba(levels) => {
                let shape = Karatsuba::new(Part::Full, a_limbs, b_limbs, levels)?;
                if shape.shared_bytes() > shared_memory {
                    return None;
                }
                let leaf = shape.leaf() as f64;
                let products = leaf * leaf * if b_limbs.is_none() { 0.55 } else { 1.0 };
                let sums = 8.0 * leaf * f64::from(levels);
                let leaves = 3_f64.powi(levels as i32);
                (shape.leaf(), leaves * (products + sums) * 1.45e-4)
            }
            Self::Ntt(primes) => {
                let shape = Ntt::new(Part::Full, a_limbs, b_limbs, primes, shared_memory)?;
                (shape.points(), shape.price())
            }
        };
        Some((Algorithm { method: self, size, square: b_limbs.is_none() }, estimate))
    }
}

/// The method chosen for a product, and its price.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The chosen method.
    pub method: Method,
    /// The price: the approximate nanoseconds of a product in a large batch.
    pub price: f64,
    /// Whether the price was measured. If false, the price is an estimate.
    pub measured: bool,
}

impl Gpu {
    /// Returns the method that [`Self::multiply`] uses for factors of `a_limbs` and `b_limbs`
    /// limbs. If `b_limbs` is `None`, returns the method that [`Self::square`] uses for numbers of
    /// `a_limbs` limbs. The method is the one with the lowest price according to [`Prices`]; among
    /// methods of equal price, the first in [`Method::all`]. Returns `None` if no method supports
    /// the factors. All methods give the same results.
    ///
    /// [`Prices`]: super::Prices
    #[must_use]
    pub fn choice(&self, a_limbs: usize, b_limbs: Option<usize>) -> Option<Choice> {
        self.choice_with(a_limbs, b_limbs, self.device().info().shared_memory_per_block)
    }

    /// Like [`Self::choice`], with a given number of bytes of shared memory per block.
    pub(super) fn choice_with(
        &self,
        a_limbs: usize,
        b_limbs: Option<usize>,
        shared_memory: u32,
    ) -> Option<Choice> {
        Method::all()
            .filter_map(|method| {
                let (way, estimate) = method.way(a_limbs, b_limbs, shared_memory)?;
                let measured = self.prices().measured(way);
                let price = measured.unwrap_or_else(|| self.prices().scaled(way, estimate));
                Some(Choice { method, price, measured: measured.is_some() })
            })
            .min_by(|a, b| a.price.total_cmp(&b.price))
    }

    /// Computes `out_i` = the limbs of a_i·b_i that `part` selects. `out` may be the memory of an
    /// operand that is not broadcast and has as many limbs as the results. Asynchronous: returns
    /// before the device has finished.
    ///
    /// # Errors
    /// A buffer is too short or not aligned, the device fails, the kernel cannot be compiled, or
    /// no method supports numbers of these lengths.
    pub fn multiply<'a>(
        &self,
        part: Part,
        a: Operand<'_>,
        b: Operand<'_>,
        count: usize,
        out: impl Into<Cells<'a, u32>>,
    ) -> Result<(), DeviceError> {
        let choice = self.choice(a.limbs, Some(b.limbs)).ok_or_else(no_method)?;
        self.multiply_by(choice.method, part, a, Some(b), count, out)
    }

    /// Like [`Self::multiply`], but computes `out_i` = the limbs of a_i² that `part` selects.
    ///
    /// # Errors
    /// The errors of [`Self::multiply`].
    pub fn square<'a>(
        &self,
        part: Part,
        a: Operand<'_>,
        count: usize,
        out: impl Into<Cells<'a, u32>>,
    ) -> Result<(), DeviceError> {
        let choice = self.choice(a.limbs, None).ok_or_else(no_method)?;
        self.multiply_by(choice.method, part, a, None, count, out)
    }

    /// Computes the products a_i·b_i of numbers with any strides and writes them contiguously to
    /// `out`.
    ///
    /// # Errors
    /// The device fails, the kernel cannot be compiled, or no method supports numbers of these
    /// lengths.
    ///
    /// # Panics
    /// If a buffer has fewer than `count` numbers, numbers are not aligned, or the products do not
    /// fit.
    pub(super) fn multiply_views(
        &self,
        a: Numbers<'_>,
        b: Numbers<'_>,
        count: usize,
        out: Cells<'_, u32>,
    ) -> Result<(), DeviceError> {
        let choice = self.choice(a.limbs, Some(b.limbs)).ok_or_else(no_method)?;
        let product = Product { part: Part::Full, a_limbs: a.limbs, b_limbs: Some(b.limbs) };
        self.product_by(choice.method, product, Factors { a, b, count, out })
    }

    /// Like [`Self::multiply`], or like [`Self::square`] if b is `None`, but uses a given method.
    ///
    /// # Errors
    /// The errors of [`Self::multiply`].
    pub fn multiply_by<'a>(
        &self,
        method: Method,
        part: Part,
        a: Operand<'_>,
        b: Option<Operand<'_>>,
        count: usize,
        out: impl Into<Cells<'a, u32>>,
    ) -> Result<(), DeviceError> {
        let product = Product { part, a_limbs: a.limbs, b_limbs: b.map(|b| b.limbs) };
        let (out, b) = (out.into(), b.unwrap_or(a));
        fits(count, &[a, b], Results::new(out, product.computed().1))?;
        self.product_by(method, product, Factors { a: a.into(), b: b.into(), count, out })
    }

    fn product_by(
        &self,
        method: Method,
        product: Product,
        of: Factors<'_>,
    ) -> Result<(), DeviceError> {
        let Product { part, a_limbs, b_limbs } = product;
        let none = || impossible(&format!("{method} does not support factors of this size"));
        match method {
            Method::Karatsuba(levels) => {
                let shape = Karatsuba::new(part, a_limbs, b_limbs, levels).ok_or_else(none)?;
                self.karatsuba(&shape, of)
            }
            Method::Ntt(primes) => {
                let shared_memory = self.device().info().shared_memory_per_block;
                let shape = Ntt::new(part, a_limbs, b_limbs, primes, shared_memory);
                self.ntt(&shape.ok_or_else(none)?, of)
            }
        }
    }
}

pub(super) fn no_method() -> DeviceError {
    impossible("no method supports numbers of this size")
}

fn impossible(why: &str) -> DeviceError {
    DeviceError::Failed { what: "a batch on a device".into(), message: why.into() }
}
