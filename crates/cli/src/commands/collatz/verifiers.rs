//! Which methods there are, where they compute, and how large their units are.

use anyhow::Context;
use warpint::collatz::gpu::DeviceTable;
use warpint::collatz::gpu::sieve::GpuSieve;
use warpint::collatz::sieve::{CpuSieve, Engine, Looking, Shape, Sieve};
use warpint::collatz::table::{TableMethod, TableOptions};
use warpint::collatz::walk::Walker;
use warpint::collatz::{CollatzError, Method, Plain, Verifier};
use warpint::device::{Device, DeviceError};
use warpint::mersenne::engine::places::device_on;
use warpint::mersenne::{DeviceChoice, DeviceId};

use crate::args::{MethodChoice, Places};
use crate::exit::BadRequest;
use crate::report;

/// What to verify with.
pub(super) struct Opened {
    /// One for each place.
    pub(super) verifiers: Vec<Box<dyn Verifier>>,
    /// Units of 2^this numbers take some seconds to a minute.
    pub(super) unit_bits: u32,
}

/// A method in a kind of place.
struct Row {
    method: Method,
    unit_bits: u32,
    open: Open,
}

type Made = Result<Box<dyn Verifier>, CollatzError>;

/// With the steps that vectors look ahead; by the size of regions if they are not said.
enum Open {
    Cpu(fn(Option<Looking>) -> Made),
    Gpu(fn(&Device, Option<Looking>) -> Made),
}

/// The sieve by an engine.
fn sieve(engine: impl Engine + 'static, look: Option<Looking>) -> Box<dyn Verifier> {
    let look = look.map(|look| look.min(engine.most_looking()));
    Box::new(Sieve { shape: Shape { look, ..Shape::default() }, ..Sieve::new(engine) })
}

/// All that there are, the fastest first: of these `auto` takes the first that the place has.
const ROWS: &[Row] = &[
    Row {
        method: Method::Sieve,
        unit_bits: 50,
        open: Open::Gpu(|device, look| Ok(sieve(GpuSieve::new(device, Walker::default()), look))),
    },
    Row {
        method: Method::Sieve,
        unit_bits: 40,
        open: Open::Cpu(|look| Ok(sieve(CpuSieve::default(), look))),
    },
    Row {
        method: Method::Table,
        unit_bits: 47,
        open: Open::Gpu(|device, _| {
            Ok(Box::new(DeviceTable::new(device, TableOptions::default())?))
        }),
    },
    Row {
        method: Method::Table,
        unit_bits: 36,
        open: Open::Cpu(|_| Ok(Box::new(TableMethod::new(TableOptions::default())?))),
    },
    Row {
        method: Method::Plain,
        unit_bits: 27,
        open: Open::Cpu(|_| Ok(Box::new(Plain::default()))),
    },
];

impl Row {
    fn suits(&self, method: MethodChoice, on_gpu: bool) -> bool {
        let place = matches!(self.open, Open::Gpu(_)) == on_gpu;
        place && method.0.is_none_or(|method| method == self.method)
    }
}

/// Opens a method in its places.
pub(super) fn open(method: MethodChoice, places: Places) -> anyhow::Result<Opened> {
    open_looking(method, places, None)
}

/// The same, with vectors that look so many steps ahead.
pub(super) fn open_looking(
    method: MethodChoice,
    places: Places,
    look: Option<Looking>,
) -> anyhow::Result<Opened> {
    let rows = |on_gpu| ROWS.iter().find(|row| row.suits(method, on_gpu));
    let on = |device: &str| {
        let name = method.0.map_or(String::new(), |method| format!(" {}", method.name()));
        BadRequest(format!(
            "there is no method{name} for {device}: choose another --method or --device"
        ))
    };
    let ids = match places {
        Places::One(DeviceChoice::Cpu) => vec![],
        Places::One(DeviceChoice::On(id)) => vec![id],
        Places::All => all_gpus()?,
        // Only if something can be done there.
        Places::One(DeviceChoice::Auto) => match rows(true).is_some().then(all_gpus) {
            Some(Ok(ids)) => working(ids[0]).into_iter().collect(),
            Some(Err(_)) | None => vec![],
        },
    };
    if ids.is_empty() {
        let row = rows(false).ok_or_else(|| on("the CPU"))?;
        let Open::Cpu(open) = row.open else { return Err(on("the CPU").into()) };
        return Ok(Opened { verifiers: vec![open(look)?], unit_bits: row.unit_bits });
    }
    let row = rows(true).ok_or_else(|| on("GPUs"))?;
    let Open::Gpu(open) = row.open else { return Err(on("GPUs").into()) };
    let opened = ids.into_iter().map(|id| {
        let verifier = device_on(id).map_err(anyhow::Error::from).and_then(|device| {
            open(&device, look).map_err(|error| match error {
                // What is missing is told by the exit code too.
                CollatzError::Device(error) => error.into(),
                error => anyhow::Error::from(error),
            })
        });
        verifier.with_context(|| format!("cannot verify on {id}"))
    });
    Ok(Opened { verifiers: opened.collect::<Result<_, _>>()?, unit_bits: row.unit_bits })
}

/// At least one.
fn all_gpus() -> Result<Vec<DeviceId>, DeviceError> {
    let list = Device::list();
    if list.devices.is_empty() {
        return Err(DeviceError::NoDevice(list.missing.join("; ")));
    }
    Ok((0..list.devices.len() as u32).map(DeviceId::Cuda).collect())
}

/// A GPU that can be opened.
fn working(id: DeviceId) -> Option<DeviceId> {
    match device_on(id) {
        Ok(_) => Some(id),
        Err(error) => {
            report::notice(&format!("warning: {error}: computing on the CPU"));
            None
        }
    }
}

/// Errors of requests and of directories, for people.
pub(super) fn refused(error: impl std::fmt::Display) -> BadRequest {
    BadRequest(error.to_string())
}
