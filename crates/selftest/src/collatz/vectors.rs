//! Tests the look-ahead vectors of the sieve, up to the length that large runs use. Some words of
//! the first vectors are compared with words computed from the rules of the sieve.

use rand::RngExt;
use warpint_collatz::Region;
use warpint_collatz::sieve::{Looking, Rules, Shape, Step};
use warpint_device::Device;

use super::Sizes;
use crate::sample::random;

/// Tests words of up to eight vectors: the first and the last word, and words at random positions.
pub(super) fn vectors(device: &Device, seed: u64, sizes: &Sizes) -> Result<(), String> {
    let (looks, words): (&[u32], usize) =
        if sizes.small { (&[10, 13], 8) } else { (&[16, 20, 24, 28, 32], 500) };
    let mut engine = sizes.engine(device);
    let mut rng = random(seed);
    for &look in looks {
        // Numbers below 2^71 and numbers of an interval, which have different last levels.
        let class = Region::class(71, 55, (1 << 55) - 1).map_err(|e| e.to_string())?;
        let window = Region::interval(3 << 48, 4 << 48).map_err(|e| e.to_string())?;
        for region in [class, window] {
            let shape =
                Shape { rules: Rules::default(), look: Looking::new(look), step: Step::default() };
            let last = (1u32 << (look - 5)) - 1;
            // At most eight vectors; the upper ones only if that many can differ.
            for vector in 0..look.min(20) / 2 - 2 {
                let mut places = vec![(vector, 0), (vector, last)];
                places.extend((2..words).map(|_| (vector, rng.random_range(0..=last))));
                let sampled = engine.sample_vectors(&region, shape, &places);
                let sampled = sampled.map_err(|e| format!("{look} steps ahead: {e}"))?;
                for ((found, expected), (vector, word)) in sampled.into_iter().zip(places) {
                    if found != expected {
                        return Err(format!(
                            "{look} steps ahead, {region}: word {word} of vector {vector} is {found:08x}, not {expected:08x} (seed {seed})"
                        ));
                    }
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_agree_on_the_simulator() {
        let device = Device::shuffled_simulator().unwrap();
        vectors(&device, crate::SEED, &Sizes::few()).unwrap();
    }
}
