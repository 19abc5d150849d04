//! Products of elements of Z/pZ by chirps ω^(n²), for transforms of N = 2^log2 elements.

use warpint_arith::field::Field;
use warpint_arith::gfn::{Form, Gfn};
use warpint_arith::with_field;
use warpint_device::{
    Arg, Buffer, Cells, Device, DeviceError, Kernel, Launch, Source, View, assert_room, common,
};

use super::error::SmallPrimesError;
use super::radix::Radix;
use super::recombine::{Carries, Carry};
use crate::gpu::layout::limb_major;

const THREADS: usize = 128;
const MOST_GROUP: usize = 4;

/// The kind of the products of elements of two arrays a and b. It determines the two factors of
/// output i (see `small_product.cu`). In chirps, n = i mod N and ω is the root of unity of order
/// 2N.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// The product of element i of a and element i mod N of b.
    Plain,
    /// The product of element −i mod N of a vector of a, and element i mod N of b. The vector of a
    /// is the vector that contains element i.
    Turned,
    /// The chirp ω^(n²), as a product of two powers of ω.
    Chirp,
    /// The inverse chirp ω^(−n²), as a product of two powers of ω.
    InverseChirp,
}

pub(super) fn source(digits: usize) -> Source {
    let text = include_str!("../../../kernels/small_product.cu");
    Source::new("small_product.cu", text, &["product"])
        .headers(common::HEADERS)
        .define("DIGITS", digits)
        .define("GROUP", digits.min(MOST_GROUP))
        .define("THREADS", THREADS)
}

/// The kernels that multiply elements of limb-major vectors.
#[derive(Debug)]
pub(super) struct Product {
    kernel: Kernel,
    carry: Carry,
    digits: usize,
    log2: u32,
}

impl Product {
    pub(super) fn new(device: &Device, radix: Radix, log2: u32) -> Result<Self, DeviceError> {
        let digits = radix.digits;
        let kernel = device.program(&source(digits))?.kernel("product", 0)?;
        Ok(Self { kernel, carry: Carry::new(device, Carries::Products, radix, &[])?, digits, log2 })
    }

    /// Returns the number of words of working memory that [`Self::run`] needs for the sums of
    /// `count` products.
    pub(super) fn sums(&self, count: usize) -> usize {
        3 * self.digits * count
    }

    /// Computes `count` products of the kind `which`, and writes them to `out`. `low` is only used
    /// for chirps. In this case, a and b are tables of powers: element i of a is ω^(i·2^low), and
    /// element i of b is ω^i for i < 2^low.
    ///
    /// # Panics
    /// If a or b has too few elements, or the memory for sums or results is too small.
    pub(super) fn run(
        &self,
        (which, low): (Which, u32),
        [a, b]: [View<'_, u64>; 2],
        sums: &mut Buffer<u64>,
        count: usize,
        out: Cells<'_, u64>,
    ) -> Result<(), DeviceError> {
        let [of_a, of_b] = match which {
            Which::Plain | Which::Turned => {
                [count.next_multiple_of(1 << self.log2), 1 << self.log2]
            }
            Which::Chirp | Which::InverseChirp => [2 << self.log2 >> low, 1 << low],
        };
        assert_room("digits of a", a.len(), self.digits * of_a);
        assert_room("digits of b", b.len(), self.digits * of_b);
        assert_room("sums", sums.len(), self.sums(count));
        let group = self.digits.min(MOST_GROUP);
        let launch = Launch {
            grid: [count.div_ceil(THREADS) as u32, (self.digits / group) as u32, 1],
            block: [THREADS as u32, 1, 1],
            shared_bytes: 0,
        };
        let args = [
            (&mut *sums).into(),
            Arg::from(a),
            b.into(),
            Arg::U64((a.len() / self.digits) as u64),
            Arg::U64((b.len() / self.digits) as u64),
            Arg::U64(count as u64),
            Arg::U32(self.log2),
            Arg::U32(low),
            Arg::U32(which as u32),
        ];
        // SAFETY: a and b have the elements that products of this kind read, and the memory for the
        // sums is large enough.
        unsafe { self.kernel.launch(launch, &args)? };
        self.carry.run(sums, count, out)
    }
}

/// Tables of powers of the root of unity ω of order 2N. Element i of `high` is ω^(i·2^low), and
/// element i of `below` is ω^i for i < 2^low. The device computes every other power as a product of
/// an element of each table.
#[derive(Debug)]
pub(super) struct Powers {
    pub(super) high: Buffer<u64>,
    pub(super) below: Buffer<u64>,
    pub(super) low: u32,
}

impl Powers {
    pub(super) fn new(device: &Device, form: Form, log2: u32) -> Result<Self, SmallPrimesError> {
        let low = (log2 + 1).div_ceil(2);
        let tables = with_field!(form, |field| tables(&field, log2, low)).ok().flatten();
        let [high, below] = tables.ok_or(SmallPrimesError::NoRoot { form, log2 })?;
        Ok(Self { high: device.upload(&high)?, below: device.upload(&below)?, low })
    }
}

/// Returns the tables `high` and `below` of [`Powers`]. Returns `None` if the field has no root of
/// unity of order 2N.
fn tables<const K: usize>(field: &Gfn<K>, log2: u32, low: u32) -> Option<[Vec<u64>; 2]> {
    let table = |log2: u32, count: usize| {
        let (root, mut power) = (field.root_of_unity(log2)?, field.one());
        let mut all = Vec::with_capacity(count * K);
        for _ in 0..count {
            all.extend_from_slice(&power);
            power = field.mul(&power, &root);
        }
        Some(limb_major(&all, K))
    };
    let order = log2 + 1;
    Some([table(order - low, 1 << (order - low))?, table(order, 1 << low)?])
}
