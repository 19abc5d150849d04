//! Which methods there are, where they compute, and how large their units are.

use anyhow::Context;
use warpint::collatz::gpu::DeviceTable;
use warpint::collatz::gpu::sieve::GpuSieve;
use warpint::collatz::sieve::{CpuSieve, Engine, Shape, Sieve};
use warpint::collatz::table::{TableMethod, TableOptions};
use warpint::collatz::walk::Walker;
use warpint::collatz::{CollatzError, Method, Plain, Region, Verifier};
use warpint::device::Device;
use warpint::mersenne::engine::places::device_on;
use warpint::mersenne::{DeviceChoice, DeviceId};

use super::sizes::{Sizes, TunedSizes, explained, of_method};
use crate::args::{MethodChoice, Places};
use crate::exit::BadRequest;
use crate::report;
use crate::run::all_gpus;

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

/// With sizes where they are chosen.
enum Open {
    Cpu(fn(&Sizes) -> Made),
    Gpu(fn(&Device, &Sizes) -> Made),
}

/// The sieve by an engine.
fn sieve(engine: impl Engine + 'static, sizes: &Sizes) -> Box<dyn Verifier> {
    let look = sizes.look.map(|look| look.min(engine.most_looking()));
    let step = sizes.step.unwrap_or_default();
    Box::new(Sieve { shape: Shape { look, step, ..Shape::default() }, ..Sieve::new(engine) })
}

fn table_options(sizes: &Sizes) -> TableOptions {
    TableOptions { table_bits: sizes.table_bits, ..TableOptions::default() }
}

/// All that there are, the fastest first: of these `auto` takes the first that the place has.
const ROWS: &[Row] = &[
    Row {
        method: Method::Sieve,
        unit_bits: 50,
        open: Open::Gpu(|device, sizes| Ok(sieve(GpuSieve::new(device, Walker::default()), sizes))),
    },
    Row {
        method: Method::Sieve,
        unit_bits: 40,
        open: Open::Cpu(|sizes| Ok(sieve(CpuSieve::default(), sizes))),
    },
    Row {
        method: Method::Table,
        unit_bits: 47,
        open: Open::Gpu(|device, sizes| {
            Ok(Box::new(DeviceTable::new(device, table_options(sizes))?))
        }),
    },
    Row {
        method: Method::Table,
        unit_bits: 36,
        open: Open::Cpu(|sizes| Ok(Box::new(TableMethod::new(table_options(sizes))?))),
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

    fn open(
        &self,
        device: Option<&Device>,
        asked: Sizes,
        tuned: &TunedSizes,
    ) -> anyhow::Result<Box<dyn Verifier>> {
        let stored = of_method(self.method).map(|what| tuned.get(what, device));
        let sizes = asked.or(stored.unwrap_or_default());
        let opened = match (&self.open, device) {
            (Open::Cpu(open), None) => open(&sizes),
            (Open::Gpu(open), Some(device)) => open(device, &sizes),
            (Open::Cpu(_), Some(_)) | (Open::Gpu(_), None) => {
                let text = format!("method {} computes elsewhere", self.method.name());
                return Err(BadRequest(text).into());
            }
        };
        opened.map_err(explained)
    }
}

/// Opens a method in its places, with sizes as they were tuned there: the fastest that takes these regions,
/// which may depend on what is opened.
pub(super) fn open_taking(
    method: MethodChoice,
    places: Places,
    regions: impl Fn(&Opened) -> anyhow::Result<Vec<Region>>,
) -> anyhow::Result<Opened> {
    let (rows, ids) = rows(method, places)?;
    let tuned = TunedSizes::open();
    let mut refusal = None;
    for row in rows {
        let opened = open_row(row, &ids, Sizes::default(), &tuned)?;
        let regions = regions(&opened)?;
        let takes = |verifier: &dyn Verifier| regions.iter().try_for_each(|r| verifier.takes(r));
        match opened.verifiers.iter().try_for_each(|verifier| takes(verifier.as_ref())) {
            Ok(()) => return Ok(opened),
            Err(error) => drop(refusal.get_or_insert(error)),
        }
    }
    let none = || BadRequest("no method takes such units".into());
    Err(refusal.map_or_else(none, refused).into())
}

/// Opens a method with sizes as asked for; those that are not, as tuned.
pub(super) fn open_with(
    method: MethodChoice,
    places: Places,
    asked: Sizes,
    tuned: &TunedSizes,
) -> anyhow::Result<Opened> {
    let (rows, ids) = rows(method, places)?;
    open_row(rows[0], &ids, asked, tuned)
}

/// What there is for a choice, the fastest first, at least one; and its GPUs, none for the CPU.
fn rows(
    method: MethodChoice,
    places: Places,
) -> anyhow::Result<(Vec<&'static Row>, Vec<DeviceId>)> {
    let rows = |on_gpu| ROWS.iter().filter(move |row| row.suits(method, on_gpu));
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
        Places::One(DeviceChoice::Auto) => match rows(true).next().map(|_| all_gpus()) {
            Some(Ok(ids)) => working(ids[0]).into_iter().collect(),
            Some(Err(_)) | None => vec![],
        },
    };
    let found: Vec<_> = rows(!ids.is_empty()).collect();
    if found.is_empty() {
        return Err(on(if ids.is_empty() { "the CPU" } else { "GPUs" }).into());
    }
    Ok((found, ids))
}

fn open_row(
    row: &Row,
    ids: &[DeviceId],
    asked: Sizes,
    tuned: &TunedSizes,
) -> anyhow::Result<Opened> {
    if ids.is_empty() {
        let verifiers = vec![row.open(None, asked, tuned)?];
        return Ok(Opened { verifiers, unit_bits: row.unit_bits });
    }
    let opened = ids.iter().map(|&id| {
        let verifier = device_on(id)
            .map_err(anyhow::Error::from)
            .and_then(|device| row.open(Some(&device), asked, tuned));
        verifier.with_context(|| format!("cannot verify on {id}"))
    });
    Ok(Opened { verifiers: opened.collect::<Result<_, _>>()?, unit_bits: row.unit_bits })
}

/// Opens a method on a device, or on the CPU, with these sizes; nothing if there is none. Also the bits of a unit.
pub(super) fn open_at(
    method: Method,
    device: Option<&Device>,
    sizes: Sizes,
) -> anyhow::Result<Option<(Box<dyn Verifier>, u32)>> {
    let row = ROWS.iter().find(|row| row.suits(MethodChoice(Some(method)), device.is_some()));
    let none = TunedSizes::of(None);
    row.map(|row| Ok((row.open(device, sizes, &none)?, row.unit_bits))).transpose()
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
