//! Tests that errors of the host code are reported in one line.

use super::kernel;
use warpint_device::{Arg, Device, DeviceError, Launch, Source};

const SCALE: &str = "extern \"C\" __global__ void scale(unsigned* x, unsigned by) {
    x[threadIdx.x] *= by;
}";

#[test]
fn arguments_are_checked_against_parameters() {
    let device = Device::simulator().unwrap();
    let kernel = kernel(&device, "doubles", 0);
    let out = device.alloc::<f64>(8).unwrap();
    let shape = Launch::linear(1, 1);
    // SAFETY: a violation of the contract is found before anything runs: this is under test.
    let launch = |args: &[Arg]| unsafe { kernel.launch(shape, args) }.unwrap_err().to_string();
    assert_eq!(
        launch(&[Arg::from(&out)]),
        "launching kernel doubles failed: it needs 4 arguments, not 1"
    );
    assert_eq!(
        launch(&[Arg::from(&out), 1.0.into(), 1u32.into(), 1.0.into()]),
        "launching kernel doubles failed: its parameter 2 is double, the argument is unsigned"
    );
    let dropped = Arg::from(&device.alloc::<f64>(8).unwrap());
    assert_eq!(
        launch(&[dropped, 1.0.into(), 1.0.into(), 1.0.into()]),
        "launching kernel doubles failed: argument 0 does not point to memory of this device"
    );
    let other = Device::simulator().unwrap().alloc::<f64>(8).unwrap();
    assert_eq!(
        launch(&[Arg::from(&other), 1.0.into(), 1.0.into(), 1.0.into()]),
        "launching kernel doubles failed: argument 0 points to memory of another device"
    );
}

#[test]
fn shapes_are_checked() {
    let device = Device::simulator().unwrap();
    let out = device.alloc::<u64>(12).unwrap();
    let kernel = kernel(&device, "collectives", 64);
    for (shape, wrong) in [
        (Launch::linear(1, 1025), "a block has 1 to 1024 threads, not 1025"),
        (Launch::linear(0, 32), "a grid has 1 to 2^31 − 1 blocks, not 0"),
        (
            Launch::linear(1, 32).shared(65),
            "65 bytes of dynamic shared memory, but it was allowed 64",
        ),
    ] {
        // SAFETY: such shapes are refused before anything runs.
        let error = unsafe { kernel.launch(shape, &[Arg::from(&out)]) }.unwrap_err().to_string();
        assert_eq!(error, format!("launching kernel collectives failed: {wrong}"));
    }
}

#[test]
fn launch_bounds_are_checked() {
    let device = Device::simulator().unwrap();
    let text = "constexpr unsigned HALF = THREADS / 2;
extern \"C\" __global__ void __launch_bounds__(HALF * (2), 1)
bounded(unsigned* x) { x[threadIdx.x] = 1; }";
    let source = Source::new("bounded.cu", text, &["bounded"]).define("THREADS", 96);
    let kernel = device.program(&source).unwrap().kernel("bounded", 0).unwrap();
    let out = device.alloc::<u32>(128).unwrap();
    // SAFETY: a thread writes its own word of 128.
    let launch = |threads| unsafe { kernel.launch(Launch::linear(1, threads), &[Arg::from(&out)]) };
    assert_eq!(launch(96), Ok(()));
    assert_eq!(
        launch(97).unwrap_err().to_string(),
        "launching kernel bounded failed: its __launch_bounds__ are 96 threads a block, the launch has 97"
    );
}

#[test]
fn a_text_that_does_not_compile_is_told_with_its_line() {
    let device = Device::simulator().unwrap();
    let source = Source::new("broken.cu", "\n\nint x = y;\n", &[]).define("N", 3);
    let error = device.program(&source).unwrap_err();
    assert!(matches!(error, DeviceError::Compile { .. }), "{error}");
    let error = error.to_string();
    assert!(error.starts_with("broken.cu(N=3) does not compile: "), "{error}");
    assert!(error.contains("broken.cu:3:"), "{error}");
    let error = device.program(&Source::new("../up.cu", "", &[])).unwrap_err().to_string();
    assert!(error.contains("`../up.cu` is not a relative path"), "{error}");
}

#[test]
fn a_write_outside_a_buffer_is_told_once() {
    let device = Device::simulator().unwrap();
    let program = device.program(&Source::new("scale.cu", SCALE, &["scale"])).unwrap();
    let scale = program.kernel("scale", 0).unwrap();
    let x = device.upload(&[1u32, 2, 3]).unwrap();
    let args = [Arg::from(&x), Arg::U32(5)];
    // SAFETY: the fourth thread writes a word behind the buffer, where the simulator has a guard.
    let error = unsafe { scale.launch(Launch::linear(1, 4), &args) }.unwrap_err();
    let expected = "kernel scale: it wrote past the end of a buffer of 12 bytes \
                    (allocation 1 of the device)";
    assert_eq!(error.to_string(), expected);
    // SAFETY: three threads write the three words.
    unsafe { scale.launch(Launch::linear(1, 3), &args) }.unwrap();
    assert_eq!(x.download().unwrap(), [25, 50, 75]);
}

#[test]
fn a_graph_makes_its_launches_in_order() {
    let device = Device::simulator().unwrap();
    let program = device.program(&Source::new("scale.cu", SCALE, &["scale"])).unwrap();
    let scale = program.kernel("scale", 0).unwrap();
    let x = device.upload(&[1u32, 2]).unwrap();
    let graph = device
        .capture(|capture| {
            for by in [2, 3u32] {
                // SAFETY: two threads write the two words, which outlive the graph.
                unsafe {
                    capture.launch(&scale, Launch::linear(1, 2), &[Arg::from(&x), by.into()])
                };
            }
            Ok(())
        })
        .unwrap();
    assert_eq!(x.download().unwrap(), [1, 2]);
    graph.launch().unwrap();
    graph.launch().unwrap();
    assert_eq!(x.download().unwrap(), [36, 72]);
}

#[test]
fn memory_is_counted_and_limited() {
    let device = Device::simulator().unwrap();
    let (free, total) = device.memory().unwrap();
    let buffer = device.alloc::<u64>(1000).unwrap();
    assert_eq!(device.memory().unwrap(), (free - 8000, total));
    assert_eq!(buffer.download().unwrap(), [0xa5a5_a5a5_a5a5_a5a5; 1000]);
    drop(buffer);
    assert_eq!(device.memory().unwrap(), (free, total));
    let error = device.alloc::<u64>(1 << 40).unwrap_err();
    assert!(matches!(error, DeviceError::OutOfMemory { .. }), "{error}");
    assert_eq!(device.alloc::<u64>(0).unwrap().download().unwrap(), [0; 0]);
    let buffer = device.upload(&[3u32, 1, 4, 1, 5]).unwrap();
    assert_eq!(buffer.download_part(1..4).unwrap(), [1, 4, 1]);
    assert_eq!(buffer.download_part(4..5).unwrap(), [5]);
    assert_eq!(buffer.download_part(5..5).unwrap(), [0; 0]);
}

#[test]
fn a_kernel_gets_a_part_of_a_buffer() {
    let device = Device::simulator().unwrap();
    let program = device.program(&Source::new("scale.cu", SCALE, &["scale"])).unwrap();
    let scale = program.kernel("scale", 0).unwrap();
    let mut x = device.upload(&[1u32, 2, 3, 4, 5]).unwrap();
    let cells = x.cells(1..).part(..=2);
    assert_eq!((cells.len(), cells.part(3..).is_empty()), (3, true));
    assert_eq!(cells.view().part(1..).address(), cells.address() + 4);
    // SAFETY: three threads write the three words.
    unsafe { scale.launch(Launch::linear(1, 3), &[cells.into(), Arg::U32(10)]) }.unwrap();
    assert_eq!(x.view(..).len(), 5);
    assert_eq!(x.download().unwrap(), [1, 20, 30, 40, 5]);
}

#[test]
fn a_part_beyond_a_buffer_panics() {
    let device = Device::simulator().unwrap();
    let mut x = device.upload(&[1u32, 2, 3]).unwrap();
    let panics = |make: &mut dyn FnMut()| {
        let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(make));
        made.unwrap_err().downcast_ref::<String>().cloned().unwrap()
    };
    assert_eq!(
        panics(&mut || _ = x.view(..4)),
        "the range 0..4 does not fit 3 elements of device memory"
    );
    assert_eq!(
        panics(&mut || _ = x.cells(1..).part(1..3)),
        "the range 1..3 does not fit 2 elements of device memory"
    );
    let turned = (std::ops::Bound::Included(2), std::ops::Bound::Excluded(1));
    assert_eq!(
        panics(&mut || _ = x.view(turned)),
        "the range 2..1 does not fit 3 elements of device memory"
    );
}

#[test]
#[should_panic(expected = "the kernel scale or one of its pointers belongs to another device")]
fn a_graph_is_of_one_device() {
    let [device, other] = [(); 2].map(|()| Device::simulator().unwrap());
    let program = device.program(&Source::new("scale.cu", SCALE, &["scale"])).unwrap();
    let scale = program.kernel("scale", 0).unwrap();
    let x = other.upload(&[1u32]).unwrap();
    let record = |args: &[Arg]| {
        device.capture(|capture| {
            // SAFETY: one thread writes one word; memory of another device is refused.
            unsafe { capture.launch(&scale, Launch::linear(1, 1), args) };
            Ok(())
        })
    };
    drop(record(&[Arg::from(&x), Arg::U32(2)]));
}
