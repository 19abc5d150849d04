//! The choice of a method of verification, and of the CPU or devices that run it. Each method has a
//! suitable size of units of work.

use warpint_device::{Device, DeviceId, device_on, first_gpu};
use warpint_files::ErrorKind;

use crate::delay::{Delays, Host};
use crate::gpu::sieve::GpuSieve;
use crate::gpu::{DelayShape, DelaysOnDevice, DeviceTable};
use crate::sieve::{Backend, CpuSieve, Shape, Sieve};
use crate::sizes::{Sizes, Tunable, TunedSizes};
use crate::table::{TableMethod, TableOptions};
use crate::walk::Walker;
use crate::{CollatzError, Method, Plain, Region, Verifier};

/// The choice of the CPU or devices that verify numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Places {
    /// The first GPU, if it works and the method supports GPUs; otherwise the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// All devices of this list, each with a verifier of its own. An empty list means the CPU.
    Devices(Vec<DeviceId>),
}

/// Verifiers that are ready for use, and a size of units of work that is suitable for the
/// verifiers.
pub struct Opened {
    /// The verifiers: one for the CPU, or one per device.
    pub verifiers: Vec<Box<dyn Verifier>>,
    /// log2 of the count of numbers in a unit of work. It is chosen so that a unit takes a few
    /// seconds to a minute.
    pub unit_bits: u32,
}

/// The reason why no verifier could be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The named method, or every method if none was named, does not run on the chosen CPU or
    /// devices, or does not support the regions.
    #[error("no method{} is available for {place}", method.map_or(String::new(), |m| format!(" {}", m.name())))]
    NoMethod {
        /// The method that was named; `None` if any method was acceptable.
        method: Option<Method>,
        /// The unsupported choice, as text for the error message: `the CPU`, `GPUs` or
        /// `such units`.
        place: &'static str,
    },
    /// The verifier on a device could not be opened.
    #[error("cannot verify on {device}")]
    On {
        /// The id of the device.
        device: DeviceId,
        /// The reason: an error of the device, or a size of a table that is out of its bounds.
        source: CollatzError,
    },
    /// A size of a table is out of its bounds, or no method supports all regions.
    #[error(transparent)]
    Collatz(#[from] CollatzError),
}

impl OpenError {
    /// Returns the kind of the error, such as bad input or a failure of a device.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NoMethod { .. } => ErrorKind::BadInput,
            Self::On { source: e, .. } | Self::Collatz(e) => e.kind(),
        }
    }
}

type Made = Result<Box<dyn Verifier>, CollatzError>;

/// A method on the CPU or on GPUs, with its constructor and the size of its units of work.
struct Way<F> {
    method: Method,
    unit_bits: u32,
    open: F,
}

type OnGpu = fn(&Device, &Sizes) -> Made;
type OnCpu = fn(&Sizes) -> Made;

/// Returns a verifier that runs the sieve on `engine` with the given sizes. If a size is `None`,
/// the sieve chooses it.
fn sieve(engine: impl Backend + 'static, sizes: &Sizes) -> Box<dyn Verifier> {
    let look = sizes.look.map(|look| look.min(engine.most_looking()));
    let step = sizes.step.unwrap_or_default();
    Box::new(Sieve { shape: Shape { look, step, ..Shape::default() }, ..Sieve::new(engine) })
}

fn table_options(sizes: &Sizes) -> TableOptions {
    TableOptions { table_bits: sizes.table_bits, ..TableOptions::default() }
}

/// The methods on GPUs, the fastest first.
const ON_GPUS: &[Way<OnGpu>] = &[
    Way {
        method: Method::Sieve,
        unit_bits: 50,
        open: |device, sizes| Ok(sieve(GpuSieve::new(device, Walker::default()), sizes)),
    },
    Way {
        method: Method::Table,
        unit_bits: 47,
        open: |device, sizes| Ok(Box::new(DeviceTable::new(device, table_options(sizes))?)),
    },
];

/// The methods on the CPU, the fastest first.
const ON_CPU: &[Way<OnCpu>] = &[
    Way {
        method: Method::Sieve,
        unit_bits: 40,
        open: |sizes| Ok(sieve(CpuSieve::default(), sizes)),
    },
    Way {
        method: Method::Table,
        unit_bits: 36,
        open: |sizes| Ok(Box::new(TableMethod::new(table_options(sizes))?)),
    },
    Way { method: Method::Plain, unit_bits: 27, open: |_| Ok(Box::new(Plain::default())) },
];

/// Returns the entries of `ways` that use the given method. Returns all entries if `method` is
/// `None`.
fn of<F>(ways: &'static [Way<F>], method: Option<Method>) -> impl Iterator<Item = &'static Way<F>> {
    ways.iter().filter(move |way| method.is_none_or(|method| method == way.method))
}

/// The methods that a choice of [`Places`] allows: methods on the CPU, or methods on GPUs together
/// with the ids of the devices. There is at least one method; the fastest is first.
enum Ways {
    Cpu(Vec<&'static Way<OnCpu>>),
    Devices(Vec<&'static Way<OnGpu>>, Vec<DeviceId>),
}

impl Ways {
    fn new(method: Option<Method>, places: &Places, tuned: &TunedSizes) -> Result<Self, OpenError> {
        let devices = match places {
            Places::Cpu => vec![],
            Places::Devices(ids) => ids.clone(),
            // Only if some method supports GPUs.
            Places::Auto if of(ON_GPUS, method).next().is_none() => vec![],
            Places::Auto => first_gpu().and_then(|id| working(id, tuned)).into_iter().collect(),
        };
        let (ways, is_none, place) = if devices.is_empty() {
            let ways: Vec<_> = of(ON_CPU, method).collect();
            let is_none = ways.is_empty();
            (Self::Cpu(ways), is_none, "the CPU")
        } else {
            let ways: Vec<_> = of(ON_GPUS, method).collect();
            let is_none = ways.is_empty();
            (Self::Devices(ways, devices), is_none, "GPUs")
        };
        if is_none { Err(OpenError::NoMethod { method, place }) } else { Ok(ways) }
    }

    /// Returns an iterator that opens the methods one after another: each call of `next` opens one.
    fn opened<'a>(
        &'a self,
        asked: Sizes,
        tuned: &'a TunedSizes,
    ) -> Box<dyn Iterator<Item = Result<Opened, OpenError>> + 'a> {
        match self {
            Self::Cpu(ways) => Box::new(ways.iter().map(move |way| {
                let verifiers = vec![(way.open)(&with_stored(asked, way.method, None, tuned))?];
                Ok(Opened { verifiers, unit_bits: way.unit_bits })
            })),
            Self::Devices(ways, ids) => Box::new(ways.iter().map(move |way| {
                let open = |device: Device| {
                    (way.open)(&device, &with_stored(asked, way.method, Some(&device), tuned))
                };
                let verifiers = ids.iter().map(|&id| {
                    let verifier = device_on(id).map_err(CollatzError::from).and_then(open);
                    verifier.map_err(|source| OpenError::On { device: id, source })
                });
                Ok(Opened {
                    verifiers: verifiers.collect::<Result<_, _>>()?,
                    unit_bits: way.unit_bits,
                })
            })),
        }
    }
}

/// Returns the requested sizes `asked`. A size that is `None` is replaced by the size stored from
/// tuning, if there is one.
fn with_stored(asked: Sizes, method: Method, device: Option<&Device>, tuned: &TunedSizes) -> Sizes {
    let stored = Tunable::of(method).map(|what| tuned.get(what, device));
    asked.or(stored.unwrap_or_default())
}

/// Opens the fastest method that supports all regions, with tuned sizes. If `method` is given, only
/// that method is tried. `regions` receives the opened verifiers of a method, and returns the
/// regions. The regions may depend on the verifiers and their size of units.
///
/// If `places` is [`Places::Auto`] and the GPU does not work, the CPU is used, and a warning is
/// added to `tuned`.
///
/// # Errors
/// `method` (or, if it is `None`, every method) does not run on the chosen CPU or devices; a device
/// cannot be used; no method supports the regions; or `regions` returns an error.
pub fn open_taking<E: From<OpenError>>(
    method: Option<Method>,
    places: &Places,
    tuned: &TunedSizes,
    regions: impl Fn(&Opened) -> Result<Vec<Region>, E>,
) -> Result<Opened, E> {
    let mut refusal = None;
    for opened in Ways::new(method, places, tuned)?.opened(Sizes::default(), tuned) {
        let opened = opened?;
        let regions = regions(&opened)?;
        let takes = |verifier: &dyn Verifier| regions.iter().try_for_each(|r| verifier.takes(r));
        match opened.verifiers.iter().try_for_each(|verifier| takes(verifier.as_ref())) {
            Ok(()) => return Ok(opened),
            Err(error) => drop(refusal.get_or_insert(error)),
        }
    }
    Err(no_way(method, refusal).into())
}

/// Opens the given method, or the fastest one if `method` is `None`, with the sizes `asked`. A size
/// that is `None` is replaced by the tuned one.
///
/// If `places` is [`Places::Auto`] and the GPU does not work, the CPU is used, and a warning is
/// added to `tuned`.
///
/// # Errors
/// `method` (or, if it is `None`, every method) does not run on the chosen CPU or devices; a device
/// cannot be used; or a size is out of its bounds.
pub fn open_with(
    method: Option<Method>,
    places: &Places,
    asked: Sizes,
    tuned: &TunedSizes,
) -> Result<Opened, OpenError> {
    let ways = Ways::new(method, places, tuned)?;
    let first = ways.opened(asked, tuned).next();
    first.unwrap_or_else(|| Err(no_way(method, None)))
}

/// Returns the error for the case that no method is usable: `refusal` if it is given, otherwise
/// [`OpenError::NoMethod`].
fn no_way(method: Option<Method>, refusal: Option<CollatzError>) -> OpenError {
    refusal.map_or(OpenError::NoMethod { method, place: "such units" }, OpenError::from)
}

/// Opens a method on `device`, or on the CPU if `device` is `None`, with the given sizes. Returns
/// `None` if `device` is given and the method does not support GPUs.
///
/// # Errors
/// A size is out of its bounds, or the device fails or lacks memory.
pub fn open_at(
    method: Method,
    device: Option<&Device>,
    sizes: Sizes,
) -> Result<Option<Opened>, CollatzError> {
    let (made, unit_bits) = match device {
        Some(device) => match of(ON_GPUS, Some(method)).next() {
            Some(way) => ((way.open)(device, &sizes), way.unit_bits),
            None => return Ok(None),
        },
        None => match of(ON_CPU, Some(method)).next() {
            Some(way) => ((way.open)(&sizes), way.unit_bits),
            None => return Ok(None),
        },
    };
    Ok(Some(Opened { verifiers: vec![made?], unit_bits }))
}

/// Opens the computation of delays on `device`, or on the CPU if `device` is `None`. On a device,
/// the kernel has the tuned shape, or the default shape if no tuned shape is stored; the shape is
/// also returned. On the CPU, the returned shape is `None`.
///
/// # Errors
/// The device fails or lacks memory.
pub fn delays_on(
    device: Option<&Device>,
    tuned: &TunedSizes,
) -> Result<(Box<dyn Delays>, Option<DelayShape>), CollatzError> {
    let Some(device) = device else { return Ok((Box::new(Host::default()), None)) };
    let usual = || DelayShape::for_memory(device.info().shared_memory_per_block);
    let shape = tuned.get(Tunable::Delays, Some(device)).delays.unwrap_or_else(usual);
    let engine = DelaysOnDevice::with_shape(device, shape)?;
    Ok((Box::new(engine), Some(shape)))
}

/// Returns `id` if the GPU with this id can be opened. Otherwise adds a warning to `tuned` and
/// returns `None`.
fn working(id: DeviceId, tuned: &TunedSizes) -> Option<DeviceId> {
    match device_on(id) {
        Ok(_) => Some(id),
        Err(error) => {
            tuned.tell(Some(format!("{error}: computing on the CPU")));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_is_opened_in_its_places_only() {
        let tuned = TunedSizes::of(None);
        let open = |method, places: &Places| open_with(method, places, Sizes::default(), &tuned);
        let methods = [None, Some(Method::Sieve), Some(Method::Table), Some(Method::Plain)];
        for (method, bits) in methods.into_iter().zip([40, 40, 36, 27]) {
            let opened = open(method, &Places::Cpu).unwrap();
            assert_eq!((opened.verifiers.len(), opened.unit_bits), (1, bits));
            let named = opened.verifiers[0].method();
            assert!(
                method.is_none_or(|method| method == named) && opened.verifiers[0].place() == "cpu"
            );
        }
        let on_sim = Places::Devices(vec![DeviceId::Sim]);
        let said = open(Some(Method::Plain), &on_sim).map(drop).unwrap_err().to_string();
        assert_eq!(said, "no method plain is available for GPUs");
        assert!(open_at(Method::Plain, None, Sizes::default()).unwrap().is_some());
        assert!(tuned.take_warnings().is_empty());
    }

    #[test]
    fn the_fastest_that_takes_the_regions_is_opened() {
        let tuned = TunedSizes::of(None);
        let tried = std::cell::RefCell::new(vec![]);
        let opened = open_taking::<OpenError>(None, &Places::Cpu, &tuned, |opened| {
            tried.borrow_mut().push(opened.unit_bits);
            Ok(vec![Region::interval(0, 1 << 20)?])
        });
        let opened = opened.unwrap();
        assert_eq!(tried.borrow().last(), Some(&opened.unit_bits));
        let refused = open_taking::<OpenError>(None, &Places::Cpu, &tuned, |_| {
            Ok(vec![Region::interval(5, 5)?])
        });
        assert!(matches!(refused.map(drop), Err(OpenError::Collatz(CollatzError::Empty { .. }))));
    }
}
