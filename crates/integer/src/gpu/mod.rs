//! The operations on a device: which kernel, specialised how.

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

use warpint_device::{Arg, Buffer, Cells, Device, DeviceError, Kernel, Launch, Source, View};

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

/// An operand: `count` numbers of `limbs` limbs of 32 bits, row-major, little-endian, or
/// one such number for all.
#[derive(Debug, Clone, Copy)]
pub struct Operand<'a> {
    /// The limbs: limb j of number i is at `i·limbs + j`.
    pub data: View<'a, u32>,
    /// Limbs of a number.
    pub limbs: usize,
    /// Whether there is one number, which every instance takes.
    pub broadcast: bool,
}

/// Room for results: `limbs` limbs each.
#[derive(Debug, Clone, Copy)]
pub struct Results<'a> {
    /// The limbs: limb j of number i is at `i·limbs + j`.
    pub data: Cells<'a, u32>,
    /// Limbs of a number, at least one.
    pub limbs: usize,
}

impl<'a> Operand<'a> {
    /// Numbers of so many limbs, or one for all.
    pub fn new(data: impl Into<View<'a, u32>>, limbs: usize, broadcast: bool) -> Self {
        Self { data: data.into(), limbs, broadcast }
    }

    /// Limbs from one instance's number to the next one's.
    fn stride(&self) -> u64 {
        if self.broadcast { 0 } else { self.limbs as u64 }
    }
}

impl<'a> Results<'a> {
    /// Room for numbers of so many limbs.
    pub fn new(data: impl Into<Cells<'a, u32>>, limbs: usize) -> Self {
        Self { data: data.into(), limbs }
    }

    /// What stands there, as an operand: for operations in place.
    #[must_use]
    pub fn operand(self) -> Operand<'a> {
        Operand::new(self.data, self.limbs, false)
    }
}

/// A specialised kernel: what tells it from others of its file.
trait Shape: std::fmt::Debug {
    /// File, constants, and the kernel's name.
    ///
    /// # Errors
    /// If constants cannot be found.
    fn source(&self) -> Result<Source, DeviceError>;
    /// Bytes of dynamic shared memory of a block.
    fn shared_bytes(&self) -> u32;
    /// Threads of a block.
    fn threads(&self) -> u32;
    /// Instances of a block.
    fn numbers(&self) -> u32;
}

/// A table of roots of unity on a device.
type Roots = Arc<Buffer<[f64; 2]>>;

/// Bases of residues on a device.
type Bases = Arc<power::residues::Bases>;

/// The kernels of a device, compiled when they are first needed. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Gpu {
    device: Device,
    /// By what their shapes look like.
    kernels: Arc<Mutex<HashMap<String, Kernel>>>,
    /// Tables of roots of unity, by the number of primes and of points.
    roots: Arc<Mutex<HashMap<(usize, usize), Roots>>>,
    /// What the blocks of wide products work in; one launch after the other.
    scratch: Arc<Mutex<Option<Buffer<f64>>>>,
    /// Bases of residues, by the number of words and of rows of their matrices.
    bases: Arc<Mutex<HashMap<(usize, usize), Bases>>>,
    /// What long divisions work in, one after the other.
    division: Arc<Mutex<divide::Space>>,
    /// By which methods are chosen.
    prices: Arc<Prices>,
}

impl Gpu {
    /// Nothing is compiled yet, and all prices are estimates.
    #[must_use]
    pub fn new(device: &Device) -> Self {
        Self {
            device: device.clone(),
            kernels: Arc::default(),
            roots: Arc::default(),
            scratch: Arc::default(),
            bases: Arc::default(),
            division: Arc::default(),
            prices: Arc::default(),
        }
    }

    /// The same kernels, chosen by these prices, which were measured on this device.
    #[must_use]
    pub fn with_prices(self, prices: Prices) -> Self {
        Self { prices: Arc::new(prices), ..self }
    }

    /// By which methods are chosen.
    #[must_use]
    pub fn prices(&self) -> &Prices {
        &self.prices
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// A kernel, compiled if it is needed for the first time.
    fn kernel(&self, shape: &dyn Shape) -> Result<Kernel, DeviceError> {
        let key = format!("{shape:?}");
        if let Some(kernel) = lock(&self.kernels).get(&key) {
            return Ok(kernel.clone());
        }
        // Others may compile theirs meanwhile; the same one twice does no harm.
        let source = shape.source()?;
        let name = source.kernels()[0];
        let kernel = self.device.program(&source)?.kernel(name, shape.shared_bytes())?;
        Ok(lock(&self.kernels).entry(key).or_insert(kernel).clone())
    }

    /// A table of roots, made if it is needed for the first time.
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

    /// Does something with memory for at least so many doubles, the same until more are wanted.
    fn with_scratch(
        &self,
        len: usize,
        work: impl FnOnce(Cells<'_, f64>) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        work(memory::at_least(&mut lock(&self.scratch), &self.device, len)?.into())
    }

    /// Launches a kernel for `count` instances, its last argument.
    ///
    /// # Safety
    /// That of [`Kernel::launch`], for so many instances.
    unsafe fn launch(
        &self,
        shape: &dyn Shape,
        count: usize,
        args: &[Arg],
    ) -> Result<(), DeviceError> {
        let blocks = count.div_ceil(shape.numbers() as usize);
        // SAFETY: the caller's promise.
        unsafe { self.launch_blocks(shape, blocks, count, args) }
    }

    /// The same in so many blocks.
    ///
    /// # Safety
    /// As above.
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
            message: format!("it has {count} numbers; at most {} are possible", u32::MAX),
        };
        let instances = u32::try_from(count).map_err(too_many)?;
        let blocks = u32::try_from(blocks).map_err(too_many)?;
        let launch = Launch::linear(blocks, shape.threads()).shared(shape.shared_bytes());
        let args: Vec<Arg> = args.iter().copied().chain([Arg::U32(instances)]).collect();
        // SAFETY: the caller's promise; a kernel of this shape takes these threads and this shared memory.
        unsafe { self.kernel(shape)?.launch(launch, &args) }
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
