//! Copies between the memory of the host and that of a device.

use warpint_device::Device;

/// A case: takes a device and a seed; returns a message if it fails.
pub type Run = fn(&Device, u64) -> Result<(), String>;

/// The names and functions of all cases.
pub const CASES: &[(&str, Run)] = &[("copies", copies)];

/// Lengths in bytes: around those from which a device stages copies in chunks, and of chunks.
const LENGTHS: [usize; 9] = [
    1,
    511,
    (64 << 10) - 1,
    (64 << 10) + 1,
    (4 << 20) - 1,
    4 << 20,
    (6 << 20) + 1,
    (16 << 20) + 4097,
    (67 << 20) - 3,
];

/// Uploads bytes, copies them within the device and downloads them, several times with other bytes, so that
/// memory is used again while copies are under way.
fn copies(device: &Device, seed: u64) -> Result<(), String> {
    let mut state = seed;
    for length in LENGTHS {
        for round in 0..3 {
            let bytes: Vec<u8> = (0..length)
                .map(|_| {
                    state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                    (state >> 56) as u8
                })
                .collect();
            let wrong = |what: &str| format!("{what} of {length} bytes, round {round}");
            let there = device.upload(&bytes).map_err(|e| e.to_string())?;
            let mut again = device.alloc(length).map_err(|e| e.to_string())?;
            again.copy_from(&there).map_err(|e| e.to_string())?;
            drop(there);
            if again.download().map_err(|e| e.to_string())? != bytes {
                return Err(wrong("the copy"));
            }
            let (from, to) = (length / 3, length - length / 5);
            if again.download_part(from..to).map_err(|e| e.to_string())? != bytes[from..to] {
                return Err(wrong("a part"));
            }
        }
    }
    Ok(())
}
