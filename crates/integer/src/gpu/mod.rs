//! Operations on a device: which kernels compute them, and with which constants the kernels are
//! compiled. Instance i of an operation is the computation with number i of each operand.

mod divide;
pub mod elementwise;
mod gcd;
mod inverse;
mod karatsuba;
mod memory;
mod method;
mod ntt;
mod occupancy;
mod power;
mod prices;
mod product;
mod shipped;
mod split;
mod square_root;
mod sum;
mod take;
#[cfg(test)]
mod tests;
mod timer;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use warpint_device::{
    Arg, Buffer, Cells, Device, DeviceError, Kernel, Launch, Source, TuningStore, View, Warned,
};

pub use divide::{Divide, Quotients};
pub use gcd::Gcd;
pub use inverse::{Cofactors, Inverse};
pub use karatsuba::Karatsuba;
pub use method::{Choice, Method, NoMethod};
pub use ntt::Ntt;
pub use power::Power;
pub use prices::{Algorithm, Prices, Step, steps};
pub use shipped::sources;
pub use square_root::{SquareRoot, SquareRoots};
pub use timer::ProductTimer;

pub use crate::operation::{Part, Sum};

/// An operand: one number per instance, or a single number that every instance uses. Numbers have
/// `limbs` limbs of 32 bits, the lowest first, and are stored one after the other.
#[derive(Debug, Clone, Copy)]
pub struct Operand<'a> {
    /// The limbs: limb j of number i is at `i·limbs + j`. Their address must be a multiple of 16
    /// bytes if 4 divides `limbs`, and of 8 bytes if `limbs` is any other even number.
    pub data: View<'a, u32>,
    /// The number of limbs per number.
    pub limbs: usize,
    /// Whether there is a single number, which every instance uses.
    pub broadcast: bool,
}

/// Memory for results of `limbs` limbs each, stored one after the other.
#[derive(Debug, Clone, Copy)]
pub struct Results<'a> {
    /// The limbs: limb j of number i is at `i·limbs + j`. Their address must be aligned like that
    /// of [`Operand::data`].
    pub data: Cells<'a, u32>,
    /// The number of limbs per number, at least one.
    pub limbs: usize,
}

impl<'a> Operand<'a> {
    /// Creates an operand of numbers of `limbs` limbs. If `broadcast` is true, the operand has one
    /// number, which every instance uses.
    pub fn new(data: impl Into<View<'a, u32>>, limbs: usize, broadcast: bool) -> Self {
        Self { data: data.into(), limbs, broadcast }
    }

    /// Returns the distance in limbs between the numbers of consecutive instances.
    fn stride(&self) -> u64 {
        if self.broadcast { 0 } else { self.limbs as u64 }
    }
}

impl<'a> Results<'a> {
    /// Creates memory for results of `limbs` limbs each.
    pub fn new(data: impl Into<Cells<'a, u32>>, limbs: usize) -> Self {
        Self { data: data.into(), limbs }
    }

    /// Returns the memory of the results as an operand, for operations in place.
    #[must_use]
    pub fn operand(self) -> Operand<'a> {
        Operand::new(self.data, self.limbs, false)
    }
}

/// A version of a kernel: the constants with which a kernel file is compiled, and the threads and
/// the memory of its launches.
trait Shape: std::fmt::Debug {
    /// Returns the source of the kernel: its file, its constants and its name.
    ///
    /// # Errors
    /// [`DeviceError`] if the constants cannot be computed.
    fn source(&self) -> Result<Source, DeviceError>;
    /// Returns the number of bytes of dynamic shared memory per block.
    fn shared_bytes(&self) -> u32;
    /// Returns the number of threads per block.
    fn threads(&self) -> u32;
    /// Returns the number of instances per block.
    fn numbers(&self) -> u32;
}

/// A table of roots of unity on a device.
type Roots = Arc<Buffer<[f64; 2]>>;

/// Constants of two bases of residues, on a device.
type Bases = Arc<power::residues::Bases>;

/// The operations of a device. Kernels are compiled when they are first needed, and reused. Cheap
/// to clone: clones share kernels and temporary memory.
#[derive(Debug, Clone)]
pub struct Gpu {
    device: Device,
    /// The compiled kernels. The key is the debug output of a kernel's shape.
    kernels: Arc<Mutex<HashMap<String, Kernel>>>,
    /// The tables of roots of unity for transforms. The key is the number of primes and the number
    /// of points of a transform.
    roots: Arc<Mutex<HashMap<(usize, usize), Roots>>>,
    /// Temporary memory of blocks of threads that compute powers, or products whose residues do not
    /// fit in shared memory. One launch at a time uses this memory.
    scratch: Arc<Mutex<Option<Buffer<f64>>>>,
    /// The constants of pairs of bases of residues. The key is the number of primes of a base and
    /// the number of rows of each matrix in [`Bases`].
    bases: Arc<Mutex<HashMap<(usize, usize), Bases>>>,
    /// Held by the thread that has submitted a long operation, until it has downloaded the results.
    turn: Arc<Mutex<()>>,
    /// Temporary memory of long divisions, used by one division at a time.
    division: Arc<Mutex<divide::Space>>,
    /// The prices, in nanoseconds per product, by which the methods of products are chosen.
    prices: Arc<Prices>,
}

impl Gpu {
    /// Creates the operations of a device. No kernels are compiled yet. Methods of products are
    /// chosen by estimated prices, in nanoseconds per product.
    #[must_use]
    pub fn new(device: &Device) -> Self {
        Self {
            device: device.clone(),
            kernels: Arc::default(),
            roots: Arc::default(),
            scratch: Arc::default(),
            bases: Arc::default(),
            turn: Arc::default(),
            division: Arc::default(),
            prices: Arc::default(),
        }
    }

    /// Creates the operations of a device, with the prices that `warpint tune batch` has stored for it.
    /// If the store cannot be read, prices are estimated, because they only affect speed.
    #[must_use]
    pub fn tuned(device: &Device) -> Warned<Self> {
        match TuningStore::open() {
            Ok(store) => Self::tuned_by(device, &store),
            Err(_) => Warned { value: Self::new(device), warning: None },
        }
    }

    fn tuned_by(device: &Device, store: &TuningStore) -> Warned<Self> {
        let gpu = Self::new(device);
        match Prices::stored(store, device.info()) {
            Ok(Warned { value, warning }) => Warned { value: gpu.with_prices(value), warning },
            Err(_) => Warned { value: gpu, warning: None },
        }
    }

    /// Returns the operations of the same device with `prices`, which should have been measured on
    /// this device. Methods of products are chosen by these prices.
    #[must_use]
    pub fn with_prices(self, prices: Prices) -> Self {
        Self { prices: Arc::new(prices), ..self }
    }

    /// Returns the prices, in nanoseconds per product, by which the methods of products are chosen.
    #[must_use]
    pub fn prices(&self) -> &Prices {
        &self.prices
    }

    /// Returns the device.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Waits until no other thread holds the turn, and takes it. All work of a device is done in the order
    /// of its submission. If a thread submits a long operation between an operation and the download
    /// of another thread, the download waits for both. A thread that holds the turn from an operation to
    /// the download of its results avoids this. It must not do work in a thread pool meanwhile: a
    /// thread of the pool that waits could begin other work that takes the turn.
    pub(crate) fn turn(&self) -> MutexGuard<'_, ()> {
        lock(&self.turn)
    }

    /// Returns the kernel of a shape. Compiles it on first use.
    fn kernel(&self, shape: &dyn Shape) -> Result<Kernel, DeviceError> {
        let key = format!("{shape:?}");
        if let Some(kernel) = lock(&self.kernels).get(&key) {
            return Ok(kernel.clone());
        }
        // The lock is not held meanwhile, so that other threads can compile. Compiling a kernel
        // twice does no harm.
        let source = shape.source()?;
        let name = source.kernels()[0];
        let kernel = self.device.program(&source)?.kernel(name, shape.shared_bytes())?;
        Ok(lock(&self.kernels).entry(key).or_insert(kernel).clone())
    }

    /// Returns the table of roots of unity for the number of primes and the number of points in
    /// `key`. On first use, `make` computes the table.
    fn roots(
        &self,
        key: (usize, usize),
        make: impl FnOnce() -> Result<Vec<[f64; 2]>, DeviceError>,
    ) -> Result<Roots, DeviceError> {
        let mut tables = lock(&self.roots);
        if let Some(table) = tables.get(&key) {
            return Ok(table.clone());
        }
        let table = Arc::new(self.device.upload(&make()?)?);
        tables.insert(key, table.clone());
        Ok(table)
    }

    /// Calls `work` with device memory for at least `len` doubles and returns the result of the
    /// call. Later calls reuse the memory, unless they need more than it has. Larger memory then
    /// replaces it.
    fn with_scratch(
        &self,
        len: usize,
        work: impl FnOnce(Cells<'_, f64>) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        work(memory::at_least(&mut lock(&self.scratch), &self.device, len)?.into())
    }

    /// Launches the kernel of `shape` for `count` instances. The arguments of the kernel are
    /// `args`, then `count`.
    ///
    /// # Safety
    /// The requirements of [`Kernel::launch`] hold for `count` instances.
    unsafe fn launch(
        &self,
        shape: &dyn Shape,
        count: usize,
        args: &[Arg],
    ) -> Result<(), DeviceError> {
        let blocks = count.div_ceil(shape.numbers() as usize);
        // SAFETY: the caller ensures it.
        unsafe { self.launch_blocks(shape, blocks, count, args) }
    }

    /// Like [`Self::launch`], with a given number of blocks.
    ///
    /// # Safety
    /// The requirements of [`Self::launch`] hold.
    unsafe fn launch_blocks(
        &self,
        shape: &dyn Shape,
        blocks: usize,
        count: usize,
        args: &[Arg],
    ) -> Result<(), DeviceError> {
        if count == 0 {
            return Ok(());
        }
        let too_many = |_| DeviceError::Failed {
            what: "a batch on a device".into(),
            message: format!("{count} numbers, but at most {} are supported", u32::MAX),
        };
        let instances = u32::try_from(count).map_err(too_many)?;
        let blocks = u32::try_from(blocks).map_err(too_many)?;
        let launch = Launch::linear(blocks, shape.threads()).shared(shape.shared_bytes());
        let args: Vec<Arg> = args.iter().copied().chain([Arg::U32(instances)]).collect();
        // SAFETY: the caller ensures it; a kernel of this shape has these threads and this shared
        // memory.
        unsafe { self.kernel(shape)?.launch(launch, &args) }
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
