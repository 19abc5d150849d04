//! Where batches live and operations run.

use std::fmt;
use std::sync::Arc;

use warpint_device::Device;

use crate::IntegerError;
use crate::gpu::Gpu;

/// Where batches live and operations run. Cheap to clone.
#[derive(Clone)]
pub struct Executor(Arc<Place>);

enum Place {
    /// The host; without threads of its own, on rayon's.
    Host(Option<rayon::ThreadPool>),
    /// A device, with the kernels that were needed so far.
    Device(Gpu),
}

impl Executor {
    /// The CPU, on the threads of rayon's global pool, as many as there are cores.
    #[must_use]
    pub fn cpu() -> Self {
        Self(Arc::new(Place::Host(None)))
    }

    /// The CPU, on so many threads of its own; 0 for as many as there are cores.
    ///
    /// # Errors
    /// [`IntegerError::Threads`] if they cannot be started.
    pub fn cpu_with_threads(threads: usize) -> Result<Self, IntegerError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|e| IntegerError::Threads { threads, reason: e.to_string() })?;
        Ok(Self(Arc::new(Place::Host(Some(pool)))))
    }

    /// A device: a GPU, or the simulator. Kernels are compiled when they are first needed, and
    /// operations do not wait for the device. Products go by methods that an estimate chooses; an
    /// executor made of a [`Gpu`] with prices takes those measured as the fastest.
    #[must_use]
    pub fn on(device: Device) -> Self {
        Gpu::new(&device).into()
    }

    /// Whether it is the CPU.
    #[must_use]
    pub fn is_cpu(&self) -> bool {
        self.device().is_none()
    }

    /// The device; `None` for the CPU.
    #[must_use]
    pub fn device(&self) -> Option<&Device> {
        match &*self.0 {
            Place::Host(_) => None,
            Place::Device(gpu) => Some(gpu.device()),
        }
    }

    /// The operations of the device; on the CPU there is none.
    pub(crate) fn gpu(&self) -> Result<&Gpu, IntegerError> {
        match &*self.0 {
            Place::Host(_) => Err(IntegerError::Places),
            Place::Device(gpu) => Ok(gpu),
        }
    }

    /// Whether batches of the one can be operands on the other: both are the CPU, on whatever
    /// threads, or the same device.
    #[must_use]
    pub fn is_same_place(&self, other: &Self) -> bool {
        match (self.device(), other.device()) {
            (None, None) => true,
            (Some(a), Some(b)) => a.is_same(b),
            _ => false,
        }
    }

    /// Does work for the CPU on the threads chosen; for a device's numbers on rayon's.
    pub(crate) fn on_threads<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &*self.0 {
            Place::Host(Some(pool)) => pool.install(work),
            Place::Host(None) | Place::Device(_) => work(),
        }
    }
}

/// On its device, by its prices.
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
