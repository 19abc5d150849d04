//! The table method on a device, compared with that of the CPU.

use warpint_collatz::gpu::{DeviceTable, TableLimits};
use warpint_collatz::table::{TableMethod, TableOptions};
use warpint_collatz::{CollatzError, Region, Verified};
use warpint_device::Device;

use super::{Sizes, verified};

/// Compares walks on the device with walks on the CPU, for numbers of two to four words: intervals
/// of large numbers with odd ends, all numbers below a power of two, and a class of numbers that
/// rise at first.
pub(super) fn tables(device: &Device, seed: u64, sizes: &Sizes) -> Result<(), String> {
    // Each number of the class is walked.
    let (bits, of_class) = if sizes.small { (sizes.bits - 3, 12) } else { (sizes.bits + 1, 27) };
    let regions = [
        interval(1 << 70, seed, bits),
        interval(1 << 100, seed, bits - 2),
        // From 2^20 on by the sieve.
        Region::interval(0, 1 << bits.max(21)),
        Region::class(30 + of_class, 30, (1 << 30) - 1),
    ];
    for region in regions {
        let region = region.map_err(|e| e.to_string())?;
        for table_bits in sizes.steps {
            let options = TableOptions { table_bits: Some(table_bits), ..TableOptions::default() };
            compare(device, sizes, &options, &region)?;
        }
    }
    Ok(())
}

/// Compares walks on the device with walks on the CPU if numbers have so few words that some
/// numbers overflow. The host finishes the numbers that overflow.
pub(super) fn overflows(device: &Device, seed: u64, sizes: &Sizes) -> Result<(), String> {
    // The sieve has 8 bits. A value overflows from 2^(32·words − 2) on, 5 bits above the numbers.
    for (words, from, bits) in [(1, 1 << 25, 22), (2, 1 << 57, 29), (3, 1 << 89, 29)] {
        let bits = if sizes.small { sizes.bits - 3 } else { bits };
        let region = interval(from, seed, bits).map_err(|e| e.to_string())?;
        for table_bits in sizes.steps {
            let options = TableOptions {
                sieve_bits: Some(8),
                table_bits: Some(table_bits),
                words: Some(words),
                ..TableOptions::default()
            };
            let found = compare(device, sizes, &options, &region)?;
            if found.highest.is_none() {
                return Err(format!("{region} {options:?}: no number overflowed"));
            }
        }
    }
    Ok(())
}

/// Returns an interval with odd ends that contains at least 2^bits numbers.
fn interval(from: u128, seed: u64, bits: u32) -> Result<Region, CollatzError> {
    let from = from + u128::from(seed % 1000) * 2 + 1;
    Region::interval(from, from + (1 << bits) + 1234)
}

fn compare(
    device: &Device,
    sizes: &Sizes,
    options: &TableOptions,
    region: &Region,
) -> Result<Verified, String> {
    let limits = if sizes.small {
        TableLimits { residues: 1 << 13, left: 1 << 8, numbers: 0 }
    } else {
        TableLimits { numbers: 0, ..TableLimits::default() }
    };
    let context = |e: CollatzError| format!("{region} {options:?}: {e}");
    let there = DeviceTable::with_limits(device, options.clone(), limits).map_err(context)?;
    let here = TableMethod::new(options.clone()).map_err(context)?;
    let every = if sizes.small { 1 << 6 } else { 1 << 12 };
    let there = there.with_challenges(crate::SEED, every);
    let here = here.with_challenges(crate::SEED, every);
    let (found, expected) = (verified(there, region)?, verified(here, region)?);
    if found == expected && found.unresolved.is_empty() {
        Ok(found)
    } else {
        Err(format!("{region} {options:?}: {found:?}, on the CPU {expected:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_agree_on_the_simulator() {
        let device = Device::shuffled_simulator().unwrap();
        for sizes in [Sizes::few(), Sizes::least()] {
            tables(&device, crate::SEED, &sizes).unwrap();
            overflows(&device, crate::SEED, &sizes).unwrap();
        }
    }
}
