//! The families of engines on devices.

use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::sync::Arc;

use warpint_device::{Device, Source};

use super::gang::Gangs;
use super::kernels::{Use, default_parts, first_sources, source, sources_of_gang};
use super::machine::Machine;
use super::products::Products;
use super::{Arithmetic, Family, Layout as _, Shape, squares};
use crate::Number;
use crate::engine::{
    BuildOptions, Cut, Engine, EngineError, EngineFamily, Margin, Profiled, Work, known,
    only_mersenne,
};
use crate::layout::WordLayout;

/// The number for which [`sources`] compiles: M_1. Its constants that depend on a number are those of p = 1.
fn first() -> Number {
    Number::mersenne(1)
}

/// The family of engines on one device with the arithmetic of the CPU family `A`.
#[derive(Debug)]
pub struct OnDevice<A> {
    device: Device,
    /// The gangs of the device; `None` if engines make launches of their own only.
    gangs: Option<Arc<Gangs>>,
    place: String,
    exponents: RangeInclusive<u32>,
    arithmetic: PhantomData<A>,
}

/// The shortest transform length, in words, at which a device is faster than a CPU.
const SHORTEST_WORTHWHILE: usize = 1 << 12;

#[expect(private_bounds, reason = "other crates name families, not what they are made of")]
impl<A: Family> OnDevice<A> {
    /// Creates the family on a device.
    #[must_use]
    pub fn new(device: Device) -> Self {
        let info = device.info();
        let exponents = A::exponents(&lengths::<A>(info.shared_memory_per_block, 0, usize::MAX));
        Self { place: info.id.clone(), device, gangs: None, exponents, arithmetic: PhantomData }
    }

    /// Lets engines square several numbers in one launch, in gangs, where kernels can.
    #[must_use]
    pub(in crate::engine) fn in_gangs(self, gangs: Option<&Arc<Gangs>>) -> Self {
        Self { gangs: gangs.cloned(), ..self }
    }

    fn shared_memory(&self) -> u32 {
        self.device.info().shared_memory_per_block
    }

    /// Returns an error unless the device supports the transform length.
    fn check_length(&self, number: Number, length: usize) -> Result<(), EngineError> {
        if self.lengths(length, length).is_empty() {
            let (engine, reason) = (A::arithmetic(), A::LENGTHS_ARE.into());
            return Err(EngineError::Unusable { engine, number, length, reason });
        }
        Ok(())
    }

    fn shapes(&self, length: usize) -> Vec<A::Shape> {
        A::Shape::all(length, self.shared_memory())
    }

    /// Returns the shape with the number `variant` in the list of variants. Returns an error
    /// message if there is no such shape. For variant 0, usually no other shape is computed.
    fn shape(&self, length: usize, variant: usize) -> Result<A::Shape, String> {
        if variant == 0
            && let Some(best) = A::Shape::best(length, self.shared_memory())
        {
            return Ok(best);
        }
        let shapes = self.shapes(length);
        shapes.get(variant).copied().ok_or_else(|| A::no_shape(variant, shapes.len()))
    }
}

/// Returns the transform lengths in `from..=to` that a device with `shared_memory_per_block` bytes
/// of shared memory per block supports, in ascending order.
pub(in crate::engine) fn lengths<A: Family>(
    shared_memory_per_block: u32,
    from: usize,
    to: usize,
) -> Vec<usize> {
    let has_shape = |&n: &usize| A::Shape::exists(n, shared_memory_per_block);
    A::all_lengths().into_iter().filter(|n| (from..=to).contains(n)).filter(has_shape).collect()
}

/// Returns the source of every kernel that an engine with transform length `length` compiles by
/// default, for a device with `shared_memory_per_block` bytes of shared memory per block. The
/// constants that depend on the exponent p are those for p = 1.
pub(in crate::engine) fn sources<A: Family>(
    length: usize,
    shared_memory_per_block: u32,
) -> Vec<Source> {
    let mut sources = vec![];
    if let Some(shape) = A::Shape::best(length, shared_memory_per_block) {
        sources = sources_of::<A>(&shape, first(), None);
        let checked = A::checked_parts().into_iter();
        sources.extend(checked.map(|part| source::<A>(&shape, first(), part, true)));
    }
    sources
}

/// Returns the source of every kernel that an engine with a shape compiles by default, for a number. If a kernel
/// reduces products, k has `factors` digits.
pub(in crate::engine) fn sources_of<A: Arithmetic>(
    shape: &A::Shape,
    number: Number,
    factors: Option<u32>,
) -> Vec<Source> {
    let parts = default_parts::<A>(shape, factors).into_iter();
    let products = parts.map(|part| source::<A>(shape, number, part, false));
    let gang = A::GATHERS.then(|| sources_of_gang::<A>(shape, number));
    let all = [A::Layout::combine_source()].into_iter().chain(products);
    all.chain(gang.into_iter().flatten()).collect()
}

impl<A: Family> EngineFamily for OnDevice<A> {
    fn name(&self) -> &'static str {
        A::arithmetic()
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn shortest_worthwhile(&self) -> usize {
        SHORTEST_WORTHWHILE
    }

    fn is_exact(&self) -> bool {
        A::default().is_exact()
    }

    fn is_on_request(&self) -> bool {
        A::default().is_on_request()
    }

    fn exponent_range(&self) -> RangeInclusive<u32> {
        self.exponents.clone()
    }

    fn takes(&self, number: Number) -> bool {
        if number.is_mersenne() {
            return self.exponents.contains(&number.exponent());
        }
        let Some(others) = A::others() else { return false };
        let suits = |n: usize| {
            others.margin(number, n).is_ok_and(|margin| margin.bits >= 0.0)
                && others.has_shape(number, n, self.shared_memory())
        };
        self.lengths(0, usize::MAX).into_iter().any(suits)
    }

    fn lengths(&self, from: usize, to: usize) -> Vec<usize> {
        lengths::<A>(self.shared_memory(), from, to)
    }

    fn is_dominated(&self, length: usize) -> bool {
        // If the arithmetic is slow compared with the memory, no length is slower than a longer
        // one.
        known::is_known(&self.device.info().name) && A::is_outrun(length)
    }

    fn margin(&self, p: u32, length: usize) -> Result<Margin, EngineError> {
        if !self.exponents.contains(&p) {
            return Err(A::unusable(p, length, A::exponents_are(&self.exponents)));
        }
        self.check_length(p.into(), length)?;
        A::margin_on_device(p, length)
    }

    fn margin_for(&self, number: Number, length: usize) -> Result<Margin, EngineError> {
        match A::others() {
            Some(others) if !number.is_mersenne() => {
                self.check_length(number, length)?;
                let margin = others.margin(number, length)?;
                // Shapes are searched only for lengths that a plan may use.
                if margin.bits >= 0.0 && !others.has_shape(number, length, self.shared_memory()) {
                    let reason = "there are no kernels of this length for such a number".into();
                    let engine = A::arithmetic();
                    return Err(EngineError::Unusable { engine, number, length, reason });
                }
                Ok(margin)
            }
            _ => {
                only_mersenne(A::arithmetic(), number, length)?;
                self.margin(number.exponent(), length)
            }
        }
    }

    fn device_bytes(&self, number: Number, length: usize, registers: usize) -> Option<u64> {
        let shape = A::Shape::best(length, self.shared_memory());
        let others = A::others().filter(|_| !number.is_mersenne());
        let products = others.map_or(0, |others| others.digits_of_products(number, length));
        let digits = 4 * (length * (registers + 1) + products) as u64;
        Some(A::bytes_beside_registers(length, shape.as_ref())? + digits)
    }

    fn checks_squarings(&self, p: u32, length: usize, variant: usize) -> bool {
        let fits = |shape: A::Shape| {
            let factors = squares::shared_bytes(shape.column().q);
            shape.column_shared_bytes() + factors <= self.shared_memory()
        };
        A::can_check_squarings(p, length) && self.shape(length, variant).is_ok_and(fits)
    }

    fn compile(
        &self,
        number: Number,
        length: usize,
        options: BuildOptions,
    ) -> Result<(), EngineError> {
        if !number.is_mersenne() {
            return Ok(());
        }
        let p = number.exponent();
        let shape = self.shape(length, options.variant);
        let shape = shape.map_err(|reason| A::unusable(p, length, reason))?;
        let sources = first_sources::<A>(&shape, number, Use::from(options), None);
        self.device.programs(&sources)?;
        Ok(())
    }

    fn outruns_exact_families(&self) -> bool {
        self.place != "sim" && A::outruns_exact_families_on(&self.device)
    }

    fn build(
        &self,
        p: u32,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError> {
        self.margin(p, length)?;
        let shape = self.shape(length, options.variant);
        let shape = shape.map_err(|reason| A::unusable(p, length, reason))?;
        let layout = WordLayout::new(p, length);
        let check = options.check_squarings;
        if check && !self.checks_squarings(p, length, options.variant) {
            return Err(A::unusable(p, length, "squarings cannot be checked".into()));
        }
        let products = Products::<A>::new(&self.device, layout, shape, options.into())?;
        Ok(Box::new(Machine::new(&self.device, layout, options.registers, products)?))
    }

    fn build_for(
        &self,
        number: Number,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError> {
        match A::others() {
            Some(others) if !number.is_mersenne() => {
                self.margin_for(number, length)?;
                others.build(&self.device, self.gangs.as_deref(), number, length, options)
            }
            _ => {
                only_mersenne(A::arithmetic(), number, length)?;
                self.build(number.exponent(), length, options)
            }
        }
    }

    fn profiled(&self) -> Option<&dyn Profiled> {
        Some(self)
    }
}

impl<A: Family> Profiled for OnDevice<A> {
    fn variants(&self, length: usize) -> Vec<String> {
        self.shapes(length).iter().map(ToString::to_string).collect()
    }

    fn cuts(&self, length: usize) -> Vec<Cut> {
        self.shapes(length).iter().map(Shape::cut).collect()
    }

    fn work(&self, length: usize, variant: usize) -> Option<Work> {
        self.shapes(length).get(variant).map(A::work_of)
    }
}
