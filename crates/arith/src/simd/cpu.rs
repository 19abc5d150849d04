//! The instruction sets that this processor has.

use std::sync::OnceLock;

/// An instruction set for vectors. Later sets include earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Only the instructions of the target for which the program was compiled.
    Portable,
    /// x86-64 with AVX2, FMA, BMI1, BMI2 and LZCNT, all of which x86-64-v3 has.
    Avx2,
    /// [`Level::Avx2`] with AVX-512 F, BW, DQ and VL.
    Avx512,
}

impl Level {
    /// All levels, in ascending order.
    pub const ALL: [Self; 3] = [Self::Portable, Self::Avx2, Self::Avx512];

    /// Returns the name of the level, as in `WARPINT_CPU`: `portable`, `avx2` or `avx512`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }
}

/// The properties of this processor that algorithms depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cpu {
    /// The highest instruction set for vectors.
    pub level: Level,
    /// True if the processor has BMI2 and ADX, the instructions `mulx`, `adcx` and `adox`. `mulx`
    /// multiplies without changing the flags. `adcx` and `adox` add with different carry flags, so
    /// two carry chains can run side by side.
    pub carry_chains: bool,
    /// True if the processor has [`Level::Avx512`] and AVX-512 IFMA, which multiplies integers of
    /// 52 bits.
    pub ifma: bool,
    /// True if results of batches are written faster when their memory has been loaded into the
    /// caches in advance. This is the case on processors of Intel. With results of 32 MiB, squares of
    /// 2,048 bits took half of the time on a Xeon. On an AMD EPYC (Zen 4), products of 1,024 bits
    /// took 1.3 times as long.
    pub loads_results: bool,
}

impl Cpu {
    /// Returns the properties of this processor, after restriction by the environment variable
    /// `WARPINT_CPU`. The processor and the variable are examined only at the first call.
    ///
    /// With `WARPINT_CPU=avx2`, AVX-512 is not used. With `WARPINT_CPU=portable`, only the
    /// instructions of the target for which the program was compiled are used. The variable cannot
    /// enable instructions that the processor lacks. Other values have no effect.
    #[must_use]
    pub fn get() -> Self {
        static CPU: OnceLock<Cpu> = OnceLock::new();
        *CPU.get_or_init(|| {
            let limit = std::env::var("WARPINT_CPU").ok();
            let limit = Level::ALL.into_iter().find(|l| limit.as_deref() == Some(l.name()));
            Self::detect().restricted(limit.unwrap_or(Level::Avx512))
        })
    }

    /// Returns the levels that this processor has and `WARPINT_CPU` allows, in ascending order.
    pub fn levels() -> impl Iterator<Item = Level> {
        let best = Self::get().level;
        Level::ALL.into_iter().filter(move |&level| level <= best)
    }

    /// Returns the properties without those that need a higher level than `limit`.
    fn restricted(self, limit: Level) -> Self {
        Self {
            level: self.level.min(limit),
            carry_chains: self.carry_chains && limit >= Level::Avx2,
            ifma: self.ifma && limit >= Level::Avx512,
            loads_results: self.loads_results,
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn detect() -> Self {
        use std::arch::is_x86_feature_detected as has;
        let avx2 = has!("avx2") && has!("fma") && has!("bmi1") && has!("bmi2") && has!("lzcnt");
        let avx512 =
            avx2 && has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl");
        Self {
            level: match (avx2, avx512) {
                (_, true) => Level::Avx512,
                (true, false) => Level::Avx2,
                (false, false) => Level::Portable,
            },
            carry_chains: has!("bmi2") && has!("adx"),
            ifma: avx512 && has!("avx512ifma"),
            loads_results: is_of_intel(),
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn detect() -> Self {
        Self { level: Level::Portable, carry_chains: false, ifma: false, loads_results: false }
    }
}

/// Returns whether this processor is of Intel.
#[cfg(target_arch = "x86_64")]
fn is_of_intel() -> bool {
    #[expect(unused_unsafe, reason = "newer compilers declare the function safe")]
    // SAFETY: every x86-64 processor has the instruction `cpuid`.
    let vendor = unsafe { std::arch::x86_64::__cpuid(0) };
    let name = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
    name.as_flattened() == b"GenuineIntel"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_removes_what_lies_above_it() {
        let loads_results = true;
        let of = |level, carry_chains, ifma| Cpu { level, carry_chains, ifma, loads_results };
        let all = of(Level::Avx512, true, true);
        assert_eq!(all.restricted(Level::Avx512), all);
        let avx2 = all.restricted(Level::Avx2);
        assert_eq!(avx2, of(Level::Avx2, true, false));
        let portable = all.restricted(Level::Portable);
        assert_eq!(portable, of(Level::Portable, false, false));
        assert_eq!(portable.restricted(Level::Avx512), portable);
    }
}
