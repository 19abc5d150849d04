//! The constants with which the kernels for a field are compiled.

use warpint_arith::montgomery::PrimeField;
use warpint_device::{Source, common};

/// The largest number of 32-bit limbs of an element that is kept in registers. This is enough for
/// moduli of 1,024 bits, for which kernels compute with two additional limbs if the top bit of the
/// modulus is set.
const MOST_IN_REGISTERS: usize = 34;

/// The base-2 logarithm of the least number of columns of a tile. Words with the same index of
/// adjacent elements are adjacent in memory, so a row of 8 columns takes at least 64 contiguous
/// bytes for each word index.
const LOG_LEAST_COLUMNS: u32 = 3;

/// The largest size of the shared memory of a block, in bytes. With this limit, several blocks fit
/// on a multiprocessor of most devices.
const TILE_BYTES: u32 = 60 << 10;

/// The constants with which the kernels for a field are compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shape {
    /// The number of 64-bit words of an element in memory.
    words: usize,
    /// The number of 64-bit words of an element in tables. Elements in tables are multiplied by R =
    /// 2^(64·inner). Kernels compute with 2·inner limbs of 32 bits.
    pub(super) inner: usize,
    modulus: Vec<u64>,
    negated_inverse: u32,
    /// The base-2 logarithm of the number of elements of a tile.
    log_tile: u32,
}

impl Shape {
    /// Returns the constants for a field and a device whose blocks have `shared_memory` bytes of
    /// shared memory.
    pub(super) fn new<const L: usize>(field: &PrimeField<L>, shared_memory: u32) -> Self {
        // Sums stay below 2p, which must be below R.
        let inner = L.max((field.bits() as usize + 1).div_ceil(64));
        let mut modulus = field.modulus().to_vec();
        modulus.resize(inner, 0);
        let negated_inverse = field.negated_inverse() as u32;
        let mut shape = Self { words: L, inner, modulus, negated_inverse, log_tile: 10 };
        let most = shared_memory.min(TILE_BYTES);
        while shape.shared_bytes() > most && shape.log_tile > LOG_LEAST_COLUMNS + 1 {
            shape.log_tile -= 1;
        }
        shape
    }

    /// Returns the base-2 logarithm of the number of elements of a tile.
    pub(super) fn log_tile(&self) -> u32 {
        self.log_tile
    }

    /// Returns the largest number of levels of a pass, which is the base-2 logarithm of its largest
    /// number of points.
    pub(super) fn most_levels(&self) -> u32 {
        self.log_tile - LOG_LEAST_COLUMNS
    }

    /// Returns the number of bytes of dynamic shared memory of a block, which contains a tile. Each
    /// row of the tile has one unused element at its end.
    pub(super) fn shared_bytes(&self) -> u32 {
        ((1 << self.log_tile) + (1 << self.most_levels())) * 8 * self.words as u32
    }

    /// Returns the number of threads of a block: one thread for every two elements of a tile, but
    /// at most 256 threads.
    pub(super) fn threads(&self) -> u32 {
        (1 << self.log_tile >> 1).min(256)
    }

    /// Returns the number of blocks that should fit on a multiprocessor. The compiler limits the
    /// number of registers of a thread accordingly.
    fn blocks(&self) -> u32 {
        match 2 * self.inner {
            0..=8 => 4,
            9..=12 => 3,
            13..=18 => 2,
            _ => 1,
        }
    }

    /// Returns the source of the three kernels of `prime_fft.cu`, with these constants defined.
    pub(super) fn source(&self) -> Source {
        const KERNELS: [&str; 3] = ["prime_pass", "prime_powers", "prime_multiply"];
        let limb = |word: &u64| format!("0x{:x}u,0x{:x}u", *word as u32, word >> 32);
        let modulus: Vec<String> = self.modulus.iter().map(limb).collect();
        Source::new("prime_fft.cu", include_str!("../../../kernels/prime_fft.cu"), &KERNELS)
            .headers(common::HEADERS)
            .header("prime_field.cuh", include_str!("../../../kernels/prime_field.cuh"))
            .define("WORDS", self.words)
            .define("LIMBS", 2 * self.inner)
            .define("MODULUS", format!("{{{}}}", modulus.join(",")))
            .define("NEGATED_INVERSE", format!("0x{:x}u", self.negated_inverse))
            .define("IN_REGISTERS", u32::from(2 * self.inner <= MOST_IN_REGISTERS))
            .define("LOG_TILE", self.log_tile)
            .define("THREADS", self.threads())
            .define("BLOCKS", self.blocks())
    }
}
