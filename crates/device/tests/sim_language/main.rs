//! Tests that the simulator implements CUDA's dialect of C++: each function returns the values that
//! CUDA's documentation specifies, and wrong calls of the host are refused.
#![cfg(test)]

mod host;

use warpint_device::sim::SimOptions;
use warpint_device::{Arg, Device, Kernel, Launch, Source};

const KERNELS: &[&str] = &["integers", "doubles", "collectives", "memory"];

fn kernel(device: &Device, name: &'static str, shared_bytes: u32) -> Kernel {
    let source = Source::new("language.cu", include_str!("language.cu"), KERNELS);
    device.program(&source).unwrap().kernel(name, shared_bytes).unwrap()
}

#[test]
fn integer_functions() {
    let device = Device::simulator().unwrap();
    let kernel = kernel(&device, "integers", 0);
    let out = device.alloc::<u64>(20).unwrap();
    let words =
        [0, 1, 0x8000_0000, u64::MAX, 0x0123_4567_89ab_cdef, 0xfedc_ba98_0000_0000, 1 << 63];
    for (a, b) in words.iter().flat_map(|&a| words.map(|b| (a, b))) {
        for s in [0, 1, 31, 32, 40] {
            let args = [Arg::from(&out), a.into(), b.into(), s.into()];
            // SAFETY: one thread writes the 20 words of `out`.
            unsafe { kernel.launch(Launch::linear(1, 1), &args) }.unwrap();
            assert_eq!(out.download().unwrap(), integers(a, b, s), "{a:#x} {b:#x} {s}");
        }
    }
}

fn integers(a: u64, b: u64, s: u32) -> [u64; 20] {
    let (x, y) = (a as u32, b as u32);
    let ffs = |zeros: u32, bits: u32| u64::from(if zeros == bits { 0 } else { zeros + 1 });
    let signed = |v: u64| i128::from(v.cast_signed());
    let bytes = [x.to_le_bytes(), y.to_le_bytes()].concat();
    let sign = |byte: u8| if byte >= 128 { 255 } else { 0 };
    let joined = u64::from(y) << 32 | u64::from(x);
    let left = ((joined << (s % 32)) >> 32) as u32;
    let right = (joined >> (s % 32)) as u32;
    [
        ((u128::from(a) * u128::from(b)) >> 64) as u64,
        ((signed(a) * signed(b)) >> 64) as u64,
        (u64::from(x) * u64::from(y)) >> 32,
        u64::from(((i64::from(x.cast_signed()) * i64::from(y.cast_signed())) >> 32) as u32),
        a.leading_zeros().into(),
        x.leading_zeros().into(),
        ffs(a.trailing_zeros(), 64),
        ffs(x.trailing_zeros(), 32),
        a.count_ones().into(),
        x.count_ones().into(),
        a.reverse_bits(),
        x.reverse_bits().into(),
        u32::from_le_bytes([bytes[0], bytes[6], bytes[1], bytes[7]]).into(),
        u32::from_le_bytes([bytes[3], sign(bytes[4]), sign(bytes[0]), sign(bytes[7])]).into(),
        left.into(),
        right.into(),
        if s >= 32 { x } else { left }.into(),
        if s >= 32 { y } else { right }.into(),
        a.min(b),
        a.cast_signed().max(b.cast_signed()).cast_unsigned(),
    ]
}

#[test]
fn double_functions() {
    let device = Device::simulator().unwrap();
    let kernel = kernel(&device, "doubles", 0);
    let out = device.alloc::<f64>(8).unwrap();
    for (a, b, c) in [(2.5, 1.0 / 3.0, 7.0), (1e15 + 0.5, 1.0 + f64::EPSILON, 1e30)] {
        let args = [Arg::from(&out), a.into(), b.into(), c.into()];
        // SAFETY: one thread writes the eight numbers of `out`.
        unsafe { kernel.launch(Launch::linear(1, 1), &args) }.unwrap();
        let flipped = f64::from_bits(b.to_bits() ^ 1);
        let nearest = a.round_ties_even();
        let expected = [a.mul_add(b, c), a * b + c, nearest, flipped, c, nearest, a / b, c.sqrt()];
        assert_eq!(out.download().unwrap(), expected);
    }
}

#[test]
fn warp_collectives() {
    for seed in 0..8 {
        let options = SimOptions { seed, ..SimOptions::default() };
        let device = Device::simulator_with(&options).unwrap();
        let out = device.alloc::<u64>(12 * 80).unwrap();
        let kernel = kernel(&device, "collectives", 0);
        // SAFETY: each of 80 threads writes 12 words of `out`.
        unsafe { kernel.launch(Launch::linear(1, 80), &[Arg::from(&out)]) }.unwrap();
        for (t, result) in out.download().unwrap().chunks(12).enumerate() {
            assert_eq!(result, collectives(t as u64), "thread {t}, seed {seed}");
        }
    }
}

fn collectives(t: u64) -> [u64; 12] {
    let (first, lane) = (t / 32 * 32, t % 32);
    let warp = first..(first + 32).min(80);
    let mask = |of: &dyn Fn(u64) -> bool| {
        warp.clone().map(|u| u64::from(of(u)) << (u - first)).sum::<u64>()
    };
    let half = t / 16 * 16..t / 16 * 16 + 16;
    [
        (first + (lane ^ 5)) << 40,
        t / 8 * 8 + 3,
        if lane < 3 { t } else { t - 3 },
        if t % 4 < 2 { t + 2 } else { t },
        t ^ 7,
        mask(&|u| u % 3 == 0),
        u64::from(warp.contains(&70)) + 2 * u64::from(warp.end <= 64),
        mask(&|u| u % 5 == t % 5),
        warp.clone().sum(),
        (10 - (warp.end - 1) as i32).cast_unsigned().into(),
        if lane < 16 { half.fold(0, |a, u| a ^ u) } else { (half.end - 1).pow(2) },
        40 + 1000,
    ]
}

#[test]
fn blocks_have_poisoned_memory_of_their_own() {
    for seed in 0..4 {
        let options = SimOptions { seed, ..SimOptions::default() };
        let device = Device::simulator_with(&options).unwrap();
        let (blocks, n) = (8, 8 * 64);
        let out = device.alloc::<u64>(2 * n).unwrap();
        let counters = device.upload(&[0, 0, u32::MAX, 5, 0]).unwrap();
        let shape = Launch::linear(blocks, 64).shared(256);
        let args = [Arg::from(&out), Arg::from(&counters)];
        // SAFETY: each thread writes two words of `out`, and the kernel has five counters.
        unsafe { kernel(&device, "memory", 256).launch(shape, &args) }.unwrap();
        for (i, result) in out.download().unwrap().chunks(2).enumerate() {
            assert_eq!(result, [0xa5a5_a5a5_a5a5_a5a5, 8000 + i as u64 / 64], "thread {i}");
        }
        // Each bit was flipped 16 times.
        assert_eq!(counters.download().unwrap(), [n as u32, n as u32 - 1, 0, 5, 7]);
    }
}
