#![cfg(test)]
//! Tests of this crate on a real GPU: `cargo test -p warpint-device --test cuda -- --ignored`.

use std::time::Duration;

use warpint_device::{
    Arg, Buffer, Device, DeviceError, Kernel, Launch, Source, TuningKey, fp64_rate,
};

const TEXT: &str = r#"
extern "C" __global__ void affine(unsigned *x, unsigned n, unsigned a, int b) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = a * x[i] + b;
}

extern "C" __global__ void kinds(unsigned long long *out, unsigned long long a, long long b,
                                 double c, unsigned d, int e) {
    out[0] = a;
    out[1] = b;
    out[2] = __double_as_longlong(c);
    out[3] = d;
    out[4] = (long long)e;
}

extern "C" __global__ void reversed(unsigned *x, unsigned words) {
    extern __shared__ unsigned shared[];
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x) shared[i] = x[i];
    __syncthreads();
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x) x[i] = shared[words - 1 - i];
}

extern "C" __global__ void slow(unsigned *x, unsigned clocks) {
    long long end = clock64() + clocks;
    while (clock64() < end) {}
    x[0] += 1;
}

extern "C" __global__ void writes_to_nowhere(unsigned *x) {
    x[1ull << 44] = 1;
}
"#;

fn source() -> Source {
    let kernels = ["affine", "kinds", "reversed", "slow", "writes_to_nowhere"];
    Source::new("cuda_test.cu", TEXT, &kernels)
}

fn gpu() -> Device {
    Device::cuda(0).unwrap()
}

fn kernel(device: &Device, name: &'static str, shared_bytes: u32) -> Kernel {
    device.program(&source()).unwrap().kernel(name, shared_bytes).unwrap()
}

fn affine_args(x: &Buffer<u32>, a: u32, b: i32) -> [Arg; 4] {
    [x.into(), Arg::U32(u32::try_from(x.len()).unwrap()), Arg::U32(a), Arg::I32(b)]
}

#[test]
#[ignore = "needs a GPU"]
fn a_device_tells_what_it_is() {
    let device = gpu();
    let info = device.info();
    assert_eq!(Device::list().devices.first(), Some(info));
    assert!(info.multiprocessors > 0 && info.compute_capability >= (5, 0), "{info:?}");
    assert!(info.shared_memory_per_block >= 48 << 10, "{info:?}");
    assert!(info.driver.contains("CUDA 1"), "{info:?}");
    let (free, total) = device.memory().unwrap();
    assert!(0 < free && free <= total && total <= info.memory, "{free} {total} {info:?}");
    assert_eq!(TuningKey::new(info, "x").device, info.name);
    assert!(matches!(Device::open("cuda:99"), Err(DeviceError::NoDevice(_))));
}

#[test]
#[ignore = "needs a GPU"]
fn memory_is_copied_and_cleared() {
    let device = gpu();
    let words: Vec<u64> = (0..100_003).map(|i| i * i).collect();
    let a = device.upload(&words).unwrap();
    let mut b: Buffer<u64> = device.alloc(words.len()).unwrap();
    b.copy_from(&a).unwrap();
    assert_eq!(b.address() % 256, 0);
    assert_eq!(b.download().unwrap(), words);
    b.clear().unwrap();
    assert_eq!(b.download().unwrap(), vec![0; words.len()]);
    let none = device.upload::<u32>(&[]).unwrap();
    assert_eq!((none.is_empty(), none.download().unwrap()), (true, vec![]));
}

#[test]
#[ignore = "needs a GPU"]
fn launches_are_in_order_and_take_every_kind_of_argument() {
    let device = gpu();
    let affine = kernel(&device, "affine", 0);
    let n = 1000_u32;
    let x = device.upload(&(0..n).collect::<Vec<_>>()).unwrap();
    for (a, b) in [(3, 1), (1, -5), (2, 0)] {
        let shape = Launch::linear(n.div_ceil(128), 128);
        // SAFETY: `affine` is told the length of `x`.
        unsafe { affine.launch(shape, &affine_args(&x, a, b)) }.unwrap();
    }
    let expected: Vec<u32> =
        (0..n).map(|i| 2_u32.wrapping_mul((3 * i + 1).wrapping_sub(5))).collect();
    assert_eq!(x.download().unwrap(), expected);

    let out = device.upload(&[0_u64; 5]).unwrap();
    let args = [
        Arg::from(&out),
        Arg::U64(u64::MAX - 1),
        Arg::I64(-2),
        Arg::F64(-0.5),
        Arg::U32(u32::MAX),
        Arg::I32(-3),
    ];
    // SAFETY: `kinds` writes five words.
    unsafe { kernel(&device, "kinds", 0).launch(Launch::linear(1, 1), &args) }.unwrap();
    let bits = (-0.5_f64).to_bits();
    let expected = [u64::MAX - 1, (-2_i64).cast_unsigned(), bits, u32::MAX.into(), -3_i64 as u64];
    assert_eq!(out.download().unwrap(), expected);
}

#[test]
#[ignore = "needs a GPU"]
fn a_kernel_may_have_all_the_shared_memory_of_a_block_and_no_more() {
    let device = gpu();
    let most = device.info().shared_memory_per_block;
    let words = most / 4;
    let x = device.upload(&(0..words).collect::<Vec<_>>()).unwrap();
    let reversed = kernel(&device, "reversed", most);
    let args = [Arg::from(&x), Arg::U32(words)];
    // SAFETY: `x` and the shared memory have that many words.
    unsafe { reversed.launch(Launch::linear(1, 256).shared(most), &args) }.unwrap();
    assert_eq!(x.download().unwrap(), (0..words).rev().collect::<Vec<_>>());
    let program = device.program(&source()).unwrap();
    let error = program.kernel("reversed", most + 1).unwrap_err().to_string();
    assert!(error.contains(&format!("at most {most} bytes")), "{error}");
}

#[test]
#[ignore = "needs a GPU"]
fn a_graph_makes_its_launches_again_and_again() {
    let device = gpu();
    let affine = kernel(&device, "affine", 0);
    let x = device.upload(&[1_u32; 100]).unwrap();
    let graph = device
        .capture(|capture| {
            // SAFETY: `affine` is told the length of `x`, which outlives the graph.
            unsafe {
                capture.launch(&affine, Launch::linear(1, 128), &affine_args(&x, 3, 0));
                capture.launch(&affine, Launch::linear(1, 128), &affine_args(&x, 1, -1));
            }
            Ok(())
        })
        .unwrap();
    assert_eq!(x.download().unwrap(), [1; 100], "recording runs nothing");
    let mut expected = 1_u32;
    for _ in 0..50 {
        graph.launch().unwrap();
        expected = expected.wrapping_mul(3).wrapping_sub(1);
    }
    assert_eq!(x.download().unwrap(), [expected; 100]);
    // Freed while it runs.
    graph.launch().unwrap();
    drop(graph);
    assert_eq!(x.download().unwrap(), [expected.wrapping_mul(3).wrapping_sub(1); 100]);
    let nothing = device.capture(|_| Ok(())).unwrap();
    nothing.launch().unwrap();
    device.synchronize().unwrap();
}

#[test]
#[ignore = "needs a GPU"]
fn time_is_that_of_the_device() {
    let device = gpu();
    let slow = kernel(&device, "slow", 0);
    let x = device.upload(&[0_u32]).unwrap();
    let clocks = 10_000_000;
    let run = |clocks| {
        let args = [Arg::from(&x), Arg::U32(clocks)];
        // SAFETY: `slow` writes one word.
        device.time(|| unsafe { slow.launch(Launch::linear(1, 1), &args) }).unwrap()
    };
    run(1);
    let time = run(clocks);
    // From 500 MHz to 3.3 GHz.
    assert!(Duration::from_millis(3) < time && time < Duration::from_millis(20), "{time:?}");
    assert_eq!(x.download().unwrap(), [2]);
    // Each time is independent of the work in between.
    let longer = |i: usize| {
        let args = [Arg::from(&x), Arg::U32(clocks * (i as u32 + 1))];
        // SAFETY: as above.
        unsafe { slow.launch(Launch::linear(1, 1), &args) }
    };
    let times = device.times(3, longer).unwrap();
    let ratios: Vec<f64> =
        times.iter().map(|time| time.as_secs_f64() / times[0].as_secs_f64()).collect();
    assert!((ratios[1] - 2.0).abs() < 0.2 && (ratios[2] - 3.0).abs() < 0.3, "{times:?}");
    assert_eq!(x.download().unwrap(), [5]);
}

#[test]
#[ignore = "needs a GPU"]
fn too_much_memory_is_told_with_what_there_is() {
    let device = gpu();
    let total = device.info().memory;
    for words in [usize::try_from(total / 8).unwrap(), usize::MAX / 8, usize::MAX] {
        let error = device.alloc::<u64>(words).unwrap_err();
        let DeviceError::OutOfMemory { requested, free, total, .. } = error else {
            panic!("{error}")
        };
        assert!(requested > free && free <= total);
    }
    // The device still works.
    assert_eq!(device.upload(&[1_u32, 2]).unwrap().download().unwrap(), [1, 2]);
}

#[test]
#[ignore = "needs a GPU"]
fn what_is_wrong_with_a_launch_is_told_before_it() {
    let device = gpu();
    let affine = kernel(&device, "affine", 0);
    let x = device.upload(&[1_u32; 4]).unwrap();
    for args in [&[Arg::from(&x)][..], &[Arg::from(&x), Arg::U64(4), Arg::U32(1), Arg::I32(1)]] {
        // SAFETY: arguments that do not match the parameters are refused.
        let error = unsafe { affine.launch(Launch::linear(1, 32), args) }.unwrap_err().to_string();
        assert!(error.contains("kernel affine") && error.contains("[8, 4, 4, 4]"), "{error}");
    }
    for shape in [Launch::linear(1, 0), Launch::linear(1, 2048), Launch::linear(0, 32)] {
        // SAFETY: `affine` is told the length of `x`.
        let error =
            unsafe { affine.launch(shape, &affine_args(&x, 1, 1)) }.unwrap_err().to_string();
        assert!(
            error.contains("launch of kernel affine") && error.contains("CUDA_ERROR"),
            "{error}"
        );
    }
    let program = device.program(&source()).unwrap();
    let error = program.kernel("absent", 0).unwrap_err().to_string();
    assert!(error.contains("kernel absent in cuda_test.cu"), "{error}");
    assert_eq!(x.download().unwrap(), [1; 4]);
}

#[test]
#[ignore = "needs a GPU"]
fn threads_may_share_a_device() {
    let device = gpu();
    std::thread::scope(|scope| {
        for t in 0..4_u32 {
            let device = device.clone();
            scope.spawn(move || {
                let affine = kernel(&device, "affine", 0);
                for i in 0..50 {
                    let x = device.upload(&[i; 1000]).unwrap();
                    let shape = Launch::linear(8, 128);
                    // SAFETY: `affine` is told the length of `x`.
                    unsafe { affine.launch(shape, &affine_args(&x, t, 7)) }.unwrap();
                    assert_eq!(x.download().unwrap(), [t * i + 7; 1000]);
                }
            });
        }
    });
    let sources: Vec<_> = (0..8).map(|n| source().define("UNUSED", n)).collect();
    assert_eq!(device.programs(&sources).unwrap().len(), 8);
}

#[test]
#[ignore = "needs a GPU"]
fn the_fp64_rate_is_measured() {
    let rate = fp64_rate(&gpu()).unwrap();
    println!("{rate:?}, ratio {:.4}", rate.ratio());
    assert!(1e9 < rate.fp64 && rate.fp64 <= rate.fp32 * 1.1, "{rate:?}");
}

/// A fault of a kernel makes the CUDA context of its process unusable, so the test runs in a
/// process of its own.
#[test]
#[ignore = "needs a GPU"]
fn a_kernel_fault_names_the_kernel() {
    const CHILD: &str = "WARPINT_TEST_FAULT";
    if std::env::var_os(CHILD).is_none() {
        let me = std::env::current_exe().unwrap();
        let test = ["a_kernel_fault_names_the_kernel", "--exact", "--ignored"];
        let ran = std::process::Command::new(me).args(test).env(CHILD, "1").output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        return;
    }
    let device = gpu();
    let x = device.upload(&[1_u32; 4]).unwrap();
    let affine = kernel(&device, "affine", 0);
    // SAFETY: `affine` is told the length of `x`.
    unsafe { affine.launch(Launch::linear(1, 32), &affine_args(&x, 1, 1)) }.unwrap();
    device.synchronize().unwrap();
    let bad = kernel(&device, "writes_to_nowhere", 0);
    // SAFETY: none: this process ends by it.
    unsafe { bad.launch(Launch::linear(1, 1), &[Arg::from(&x)]) }.unwrap();
    for error in [device.synchronize().unwrap_err(), x.download().unwrap_err()] {
        let text = error.to_string();
        assert!(text.starts_with("kernel writes_to_nowhere failed: CUDA_ERROR_"), "{text}");
    }
}
