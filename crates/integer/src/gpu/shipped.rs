//! Representative versions of all kernels, which `cargo xtask check-kernels` compiles.

use warpint_device::{DeviceError, Source};

use super::divide::RowShape;
use super::karatsuba::MAX_LEVELS;
use super::power::residues::PowerResidues;
use super::square_root::RootRows;
use super::sum::SumShape;
use super::{
    Divide, Gcd, Inverse, Karatsuba, Ntt, Part, Power, Shape, SquareRoot, Sum, elementwise, power,
    take,
};

/// Returns the sources of representative versions of all kernels, such as sums in chunks of every
/// size, products with every number of levels and several leaf sizes, and transforms with and
/// without a tail. `shared_memory` is the number of bytes of shared memory per block.
///
/// # Errors
/// [`DeviceError`] if the constants of a kernel cannot be computed.
pub fn sources(shared_memory: u32) -> Result<Vec<Source>, DeviceError> {
    let mut shapes: Vec<Box<dyn Shape>> = vec![];
    for sum in [Sum::Add, Sum::Subtract] {
        for (a, b) in [(33, 33), (34, 34), (36, 36), (64, 32), (8192, 8192)] {
            shapes.extend(boxed(SumShape::new(sum, a, b, a)));
        }
    }
    for levels in 0..=MAX_LEVELS {
        for leaf in [4, 16, 32, 40] {
            let limbs = leaf << levels;
            let product = |part, b| boxed(Karatsuba::new(part, limbs, b, levels));
            shapes.extend(product(Part::Full, Some(limbs)));
            shapes.extend(product(Part::Full, None));
            // With more levels, halves are taken from the full product.
            shapes.extend(product(Part::Low, Some(limbs)).filter(|_| levels <= 1));
            shapes.extend(product(Part::High, Some(limbs)).filter(|_| levels == 0));
        }
    }
    // Numbers in one lane, in several, and in a warp, with few and with many limbs per lane.
    for limbs in [2, 8, 16, 32, 64, 1024, 2048] {
        shapes.extend(boxed(Divide::new(2 * limbs, limbs, shared_memory)));
        shapes.extend(boxed(Gcd::new(limbs, limbs, shared_memory)));
        shapes.extend(boxed(Inverse::new(limbs, limbs, shared_memory)));
        shapes.extend(boxed(Inverse::with_cofactors(limbs, limbs, shared_memory)));
        shapes.extend(boxed(SquareRoot::new(2 * limbs, shared_memory)));
    }
    // One number per block.
    for limbs in [4096, 8192, 16_384] {
        shapes.extend(boxed(Gcd::new(limbs, limbs, shared_memory)));
        shapes.extend(boxed(Inverse::new(limbs, limbs, shared_memory)));
    }
    shapes.extend(boxed(Divide::new(256, 128, shared_memory).map(Divide::of_windows)));
    for limbs in [4, 8, 16, 24, 32] {
        shapes.extend(boxed(Power::new(limbs, limbs, limbs)));
    }
    for limbs in [40, 64, 128, 256, 512] {
        shapes.extend(boxed(PowerResidues::new([limbs; 3], shared_memory)));
    }
    // Full transforms modulo three primes, of a head alone and with tails; then more primes.
    let lengths = [(256, 3), (2048, 3), (8192, 3), (320, 3), (384, 3), (1280, 3), (1536, 3)];
    let others = [(368, 4), (456, 5), (24_576, 8), (32_768, 11)];
    for (limbs, primes) in lengths.into_iter().chain(others) {
        for b in [Some(limbs), None] {
            shapes.extend(boxed(Ntt::new(Part::Full, limbs, b, primes, shared_memory)));
        }
    }
    shapes.extend(RowShape::all().flat_map(|shape| boxed(Some(shape))));
    shapes.extend(RootRows::all().flat_map(|shape| boxed(Some(shape))));
    let more = shapes.iter().map(|shape| shape.source());
    let simple = elementwise::sources().into_iter().chain([true, false].map(power::long::source));
    let simple = simple.chain([take::source()]);
    simple.map(Ok).chain(more).collect()
}

fn boxed<S: Shape + 'static>(shape: Option<S>) -> Option<Box<dyn Shape>> {
    shape.map(|shape| Box::new(shape) as Box<dyn Shape>)
}
