//! Executors: the CPU or a device, where batches are stored and operations run.

use std::fmt;
use std::sync::Arc;

use warpint_device::Device;

use crate::IntegerError;
use crate::gpu::Gpu;

/// The CPU or a device, where batches are stored and operations run. Cheap to clone.
#[derive(Clone)]
pub struct Executor(Arc<Place>);

enum Place {
    /// The CPU, with a thread pool of its own; `None` means rayon's current pool.
    Host(Option<rayon::ThreadPool>),
    /// A device, with the kernels compiled so far.
    Device(Gpu),
}

impl Executor {
    /// Returns an executor on the CPU that uses rayon's current thread pool. Unless the caller runs
    /// in another pool, this is the global pool, by default with one thread per logical CPU.
    #[must_use]
    pub fn cpu() -> Self {
        Self(Arc::new(Place::Host(None)))
    }

    /// Returns an executor on the CPU with its own pool of `threads` threads; 0 means one per
    /// logical CPU.
    ///
    /// # Errors
    /// [`IntegerError::Threads`] if the threads cannot be started.
    pub fn cpu_with_threads(threads: usize) -> Result<Self, IntegerError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|e| IntegerError::Threads { threads, reason: e.to_string() })?;
        Ok(Self(Arc::new(Place::Host(Some(pool)))))
    }

    /// Returns the executor of a device: a GPU, or the simulator. Kernels are compiled when they
    /// are first needed. Operations return before the device has finished, unless their
    /// documentation says that they wait. The method of a product is chosen by estimated times. To
    /// choose it by measured times, make the executor from a [`Gpu::tuned`].
    #[must_use]
    pub fn on(device: Device) -> Self {
        Gpu::new(&device).into()
    }

    /// Returns whether the executor is the CPU.
    #[must_use]
    pub fn is_cpu(&self) -> bool {
        self.device().is_none()
    }

    /// Returns the device. Returns `None` if the executor is the CPU.
    #[must_use]
    pub fn device(&self) -> Option<&Device> {
        match &*self.0 {
            Place::Host(_) => None,
            Place::Device(gpu) => Some(gpu.device()),
        }
    }

    /// Returns the operations of the device. Returns [`IntegerError::Places`] if the executor is
    /// the CPU.
    pub(crate) fn gpu(&self) -> Result<&Gpu, IntegerError> {
        match &*self.0 {
            Place::Host(_) => Err(IntegerError::Places),
            Place::Device(gpu) => Ok(gpu),
        }
    }

    /// Returns whether batches of this executor can be operands with batches of `other`: both
    /// executors are the CPU, with any thread pools, or both are the same device.
    #[must_use]
    pub fn is_same_place(&self, other: &Self) -> bool {
        match (self.device(), other.device()) {
            (None, None) => true,
            (Some(a), Some(b)) => a.is_same(b),
            _ => false,
        }
    }

    /// Runs `work` in the thread pool of the executor and returns the result. If the executor has
    /// no thread pool, runs `work` on the calling thread.
    pub(crate) fn on_threads<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &*self.0 {
            Place::Host(Some(pool)) => pool.install(work),
            Place::Host(None) | Place::Device(_) => work(),
        }
    }
}

/// Makes an executor on the device of the [`Gpu`]. The method of a product is chosen by the prices
/// of the [`Gpu`], the estimated or measured times of products.
impl From<Gpu> for Executor {
    fn from(gpu: Gpu) -> Self {
        Self(Arc::new(Place::Device(gpu)))
    }
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Place::Host(None) => write!(f, "cpu"),
            Place::Host(Some(pool)) => write!(f, "cpu ({} threads)", pool.current_num_threads()),
            Place::Device(gpu) => write!(f, "{:?}", gpu.device()),
        }
    }
}
