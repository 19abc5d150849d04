//! Tests that each fault of a device occurs exactly where it should, and that nothing else changes.

use super::*;

const SOURCE: &str = "
extern \"C\" __global__ void count(unsigned *x) { x[0] += 1; }";

/// A counter in the memory of a device with a fault, and a kernel that adds 1 to it.
struct Counter {
    faulty: FaultyDevice,
    buffer: warpint_device::Buffer<u32>,
    kernel: warpint_device::Kernel,
}

const ONE: Launch = Launch { grid: [1; 3], block: [1; 3], shared_bytes: 0 };

impl Counter {
    fn new(fault: DeviceFault) -> Self {
        let faulty = FaultyDevice::new(&Device::simulator().unwrap(), fault);
        let source = Source::new("count.cu", SOURCE, &["count"]);
        let kernel = faulty.device().program(&source).unwrap().kernel("count", 0).unwrap();
        let buffer = faulty.device().upload(&[0u32]).unwrap();
        Self { faulty, buffer, kernel }
    }

    /// Launches the kernel five times; a graph makes the second and third launch. Returns the
    /// counter as downloaded after the first, third, fourth and fifth launch.
    fn seen(&self) -> Vec<u32> {
        let args = [Arg::from(&self.buffer)];
        let graph = self.faulty.device().capture(|capture| {
            // SAFETY: `count` takes a pointer to one word, which the buffer has and keeps. On the
            // devices of these tests no launch begins before the preceding one has ended.
            unsafe {
                capture.launch(&self.kernel, ONE, &args);
                capture.launch_early(&self.kernel, ONE, &args);
            }
            Ok(())
        });
        let read = || self.buffer.download().unwrap()[0];
        let launch = || {
            // SAFETY: as above.
            unsafe { self.kernel.launch(ONE, &args) }.unwrap();
            read()
        };
        let first = launch();
        graph.unwrap().launch().unwrap();
        let seen = vec![first, read(), launch(), launch()];
        assert_eq!((self.faulty.launches(), self.faulty.downloads()), (5, 4));
        seen
    }
}

#[test]
fn each_fault_strikes_where_it_should() {
    use DeviceFault::{Dead, FlippedDownload, FlippedMemory, Stuck, Zeros};
    const NEVER: u64 = u64::MAX;
    for (fault, seen, strikes) in [
        (Dead { from: 5 }, [1, 3, 4, 5], 0),
        (Dead { from: 4 }, [1, 3, 4, 4], 1),
        // A graph is launched whole or not at all.
        (Dead { from: 2 }, [1, 1, 1, 1], 4),
        (Dead { from: 0 }, [0, 0, 0, 0], 5),
        (Zeros { from: 0 }, [0, 0, 0, 0], 4),
        (Zeros { from: 3 }, [1, 3, 4, 0], 1),
        (Zeros { from: NEVER }, [1, 3, 4, 5], 0),
        (Stuck { bytes: 4 }, [1, 1, 1, 1], 3),
        (Stuck { bytes: 3 }, [1, 3, 4, 5], 0),
        (FlippedDownload { download: 1, bit: 32 + 4 }, [1, 19, 4, 5], 1),
        (FlippedMemory { launch: 2, bit: 10 }, [1, 1027, 1028, 1029], 1),
        (FlippedMemory { launch: 3, bit: 1 }, [1, 3, 6, 7], 1),
        (FlippedMemory { launch: NEVER, bit: 1 }, [1, 3, 4, 5], 0),
    ] {
        let counter = Counter::new(fault);
        assert_eq!(counter.seen(), seen, "{fault:?}");
        assert_eq!(counter.faulty.strikes(), strikes, "{fault:?}");
    }
}

/// Tests that new memory of a dead device contains zeros, not the results of earlier computations.
#[test]
fn memory_of_a_dead_device_is_zero() {
    let counter = Counter::new(DeviceFault::Dead { from: 0 });
    let fresh = counter.faulty.device().alloc::<u64>(3).unwrap();
    assert_eq!(fresh.download().unwrap(), [0; 3]);
}
