//! Measurements in which `warpint-natural` and another program, its peer, take turns.

use std::time::Instant;

/// How often each of the two programs is measured. They take turns.
const ROUNDS: usize = 11;

/// The approximate time of one measurement in seconds.
const PIECE: f64 = 3e-4;

/// Returns `len` pseudo-random limbs with the top and the lowest bit set.
pub(crate) fn number(len: usize, seed: u64) -> Vec<u64> {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut limbs: Vec<u64> = (0..len)
        .map(|_| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            x.wrapping_mul(0x2545_f491_4f6c_dd1d)
        })
        .collect();
    limbs[0] |= 1;
    limbs[len - 1] |= 1 << 63;
    limbs
}

/// Returns the times of one call of `ours` and of `peers` in ns. Each is the median of [`ROUNDS`]
/// measurements, which alternate.
pub(crate) fn times(mut ours: impl FnMut(), mut peers: impl FnMut()) -> [f64; 2] {
    let once = |work: &mut dyn FnMut(), times: usize| {
        let start = Instant::now();
        for _ in 0..times {
            work();
        }
        start.elapsed().as_secs_f64() / times as f64
    };
    let counts = [&mut ours as &mut dyn FnMut(), &mut peers].map(|work| {
        once(work, 1);
        let estimate = once(work, 3);
        let estimate = once(work, (PIECE / 10.0 / estimate) as usize + 1);
        (PIECE / estimate) as usize + 1
    });
    let mut measured = [vec![], vec![]];
    for _ in 0..ROUNDS {
        measured[0].push(once(&mut ours, counts[0]));
        measured[1].push(once(&mut peers, counts[1]));
    }
    measured.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2] * 1e9
    })
}

/// Prints the times of an operation on numbers of these lengths in limbs, and the time of
/// `warpint-natural` divided by that of its peer. `operation` measures both times, in ns, for one
/// length.
pub(crate) fn print(
    name: &str,
    peer: &str,
    lengths: impl IntoIterator<Item = usize>,
    operation: impl Fn(usize) -> [f64; 2],
) {
    println!("{name}: bits, ns of warpint, ns of {peer}, ratio");
    for n in lengths {
        let [ours, peers] = operation(n);
        println!("{:9} {ours:13.1} {peers:13.1} {:6.2}", 64 * n, ours / peers);
    }
}
