//! The distribution of numbers over threads in the kernels of limb-wise operations.

use warpint_device::{DeviceError, Source, common};

use crate::gpu::Shape;

/// A kernel for one limb-wise operation, in a file of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kernel {
    Negate,
    Compare,
    Extreme,
    BitLengths,
    Bitwise,
    Shift,
    MultiplyByWord,
    LongSum,
    Select,
    Cofactors,
    Reduce,
}

impl Kernel {
    /// All kernels.
    const ALL: [Self; 11] = [
        Self::Negate,
        Self::Compare,
        Self::Extreme,
        Self::BitLengths,
        Self::Bitwise,
        Self::Shift,
        Self::MultiplyByWord,
        Self::LongSum,
        Self::Select,
        Self::Cofactors,
        Self::Reduce,
    ];

    /// Returns the name of the kernel's file, the text of the file, and the name of the kernel's
    /// function.
    fn file(self) -> (&'static str, &'static str, &'static str) {
        macro_rules! file {
            ($name:literal) => {
                (
                    concat!($name, ".cu"),
                    include_str!(concat!("../../../kernels/elementwise/", $name, ".cu")),
                    $name,
                )
            };
        }
        match self {
            Self::Negate => file!("negate"),
            Self::Compare => file!("compare"),
            Self::Extreme => file!("extreme"),
            Self::BitLengths => file!("bit_lengths"),
            Self::Bitwise => file!("bitwise"),
            Self::Shift => file!("shift"),
            Self::MultiplyByWord => file!("multiply_by_word"),
            Self::LongSum => file!("long_sum"),
            Self::Select => file!("select"),
            Self::Cofactors => file!("cofactors"),
            Self::Reduce => file!("reduce"),
        }
    }
}

/// A kernel with its constants, which `groups.cuh` explains. The numbers of limbs are arguments of
/// the launch, so that a few compiled kernels suffice for all widths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct GroupShape {
    kernel: Kernel,
    vector: usize,
    lanes: usize,
    long: bool,
}

const THREADS: usize = 256;

impl GroupShape {
    /// Returns the shape of `kernel` for operands and results with the numbers of limbs in `limbs`.
    /// The longest number determines the lanes per number.
    pub(super) fn new(kernel: Kernel, limbs: &[usize]) -> Self {
        let all = limbs.iter().fold(0, |all, &n| all | n);
        let longest = limbs.iter().copied().max().unwrap_or(1);
        // Every number is then aligned to its chunks.
        let vector = if kernel == Kernel::Shift { 1 } else { 1 << all.trailing_zeros().min(2) };
        let chunks = longest.div_ceil(vector).max(1);
        let (lanes, long) = match chunks {
            ..=32 => (chunks.next_power_of_two(), false),
            // A few rows per warp; more would leave too much to each warp if numbers are few.
            _ if longest <= 1024 => (32, true),
            _ => (THREADS, true),
        };
        Self { kernel, vector, lanes, long }
    }

    /// Returns how many rows a group of lanes reads at a time: two if chunks have four limbs,
    /// otherwise four. A row is one chunk per lane.
    fn rows(self) -> usize {
        if self.vector == 4 { 2 } else { 4 }
    }
}

impl GroupShape {
    pub(super) fn text(&self) -> Source {
        let (file, text, name) = self.kernel.file();
        Source::new(file, text, &[name])
            .headers(common::HEADERS)
            .header("groups.cuh", include_str!("../../../kernels/elementwise/groups.cuh"))
            .header("compare.cuh", include_str!("../../../kernels/elementwise/compare.cuh"))
            .define("VECTOR", self.vector)
            .define("LANES", self.lanes)
            .define("ROWS", self.rows())
            .define("LONG", u32::from(self.long))
            .define("THREADS", THREADS)
    }
}

impl Shape for GroupShape {
    fn source(&self) -> Result<Source, DeviceError> {
        Ok(self.text())
    }

    fn shared_bytes(&self) -> u32 {
        0
    }

    fn threads(&self) -> u32 {
        THREADS as u32
    }

    fn numbers(&self) -> u32 {
        (THREADS / self.lanes * if self.long { 1 } else { self.rows() }) as u32
    }
}

/// Returns the sources of every kernel, with chunks of every size and groups of 1, 8, 32 and 256
/// lanes.
pub(super) fn sources() -> Vec<Source> {
    const LANES: [(usize, bool); 4] = [(1, false), (8, false), (32, true), (THREADS, true)];
    let mut sources = vec![];
    for kernel in Kernel::ALL {
        let vectors: &[usize] = if kernel == Kernel::Shift { &[1] } else { &[1, 2, 4] };
        for &vector in vectors {
            let shape = |(lanes, long)| GroupShape { kernel, vector, lanes, long };
            sources.extend(LANES.map(shape).iter().map(GroupShape::text));
        }
    }
    sources
}
