//! Specialisations that stand for all that programs meet.

use warpint_device::{DeviceError, Source};

use super::karatsuba::MAX_LEVELS;
use super::sum::SumShape;
use super::{Karatsuba, Ntt, Part, Shape, Sum, elementwise};

/// The sources of all kernels, one of each kind: sums in chunks of every size, products by every
/// number of levels at leaves of all sizes, transforms of every length.
///
/// # Errors
/// If constants cannot be found.
pub fn sources() -> Result<Vec<Source>, DeviceError> {
    let mut shapes: Vec<Box<dyn Shape>> = vec![];
    for sum in [Sum::Add, Sum::Subtract] {
        for (a, b) in [(33, 33), (34, 34), (36, 36), (64, 32), (8192, 8192)] {
            shapes.extend(boxed(SumShape::new(sum, a, b, a)));
        }
    }
    for levels in 0..=MAX_LEVELS {
        for leaf in [4, 8, 16, 24, 32] {
            let limbs = leaf << levels;
            let product = |part, b| boxed(Karatsuba::new(part, limbs, b, levels));
            shapes.extend(product(Part::Full, Some(limbs)));
            shapes.extend(product(Part::Full, None));
            // Further up the low limbs are those of the whole product.
            shapes.extend(product(Part::Low, Some(limbs)).filter(|_| levels == 0));
        }
    }
    // Full transforms modulo three primes, then one each of four and five.
    let lengths = (8..=13).map(|log| (1 << log, 3)).chain([(368, 4), (456, 5)]);
    for (limbs, primes) in lengths {
        for b in [Some(limbs), None] {
            shapes.extend(boxed(Ntt::new(Part::Full, limbs, b, primes)));
        }
    }
    let more = shapes.iter().map(|shape| shape.source());
    elementwise::sources().into_iter().map(Ok).chain(more).collect()
}

fn boxed<S: Shape + 'static>(shape: Option<S>) -> Option<Box<dyn Shape>> {
    shape.map(|shape| Box::new(shape) as Box<dyn Shape>)
}
