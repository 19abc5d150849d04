//! Products of a number a and one limb y.
//!
//! Eight limbs are processed per iteration. One carry chain adds the lower and the upper limbs of
//! the products. Its carry is in the carry flag, which `dec` does not change. The other chain adds
//! the old limbs of the result. Its carry is in the overflow flag. At the end of an iteration, this
//! carry is added to the last upper limb, which is at most 2^64 − 2, so this sum has no carry.
//! Afterwards `dec` clears the overflow flag.
//!
//! If n is not a multiple of 8, the first iteration begins after its first −n mod 8 limbs.
//!
//! | register | contents |
//! |---|---|
//! | `r8`, `r9` | the upper limbs of the products at even and at odd positions |
//! | `rdi`, `rsi` | addresses in the result x and in a |
//! | `rdx` | y |
//! | `rcx` | the number of iterations |

use core::arch::asm;

macro_rules! row {
    ($(#[$doc:meta])* $name:ident, $limb:ident) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// The processor has BMI2 and ADX. n ≥ 1. x is valid for writing n limbs, and for reading
        /// them unless it is only an output. a is valid for reading n limbs.
        pub(in super::super) unsafe fn $name(x: *mut u64, a: *const u64, n: usize, y: u64) -> u64 {
            // The first iteration begins at this position.
            let from = n.wrapping_neg() % 8;
            let carry: u64;
            // SAFETY: the caller guarantees the instructions, and that x and a are valid for n
            // limbs. The registers `rdi` and `rsi` begin `from` limbs below x and a. As the first
            // iteration begins at limb `from`, only limbs of x and a are read or written. The jump
            // table has an entry for each value of `from`. The code uses no stack, and all changed
            // registers are declared.
            unsafe {
                asm!(
                    "lea r11, [rip + 4f]",
                    "movsxd r10, dword ptr [r11 + 4*rax]",
                    "add r10, r11",
                    "xor r8d, r8d",
                    "xor r9d, r9d",
                    "mov eax, 0",
                    "jmp r10",
                    "4:",
                    ".long 20f - 4b",
                    ".long 21f - 4b",
                    ".long 22f - 4b",
                    ".long 23f - 4b",
                    ".long 24f - 4b",
                    ".long 25f - 4b",
                    ".long 26f - 4b",
                    ".long 27f - 4b",
                    "20:",
                    $limb!("r8", "r9", "0"),
                    "21:",
                    $limb!("r9", "r8", "8"),
                    "22:",
                    $limb!("r8", "r9", "16"),
                    "23:",
                    $limb!("r9", "r8", "24"),
                    "24:",
                    $limb!("r8", "r9", "32"),
                    "25:",
                    $limb!("r9", "r8", "40"),
                    "26:",
                    $limb!("r8", "r9", "48"),
                    "27:",
                    $limb!("r9", "r8", "56"),
                    "adox r9, rax",
                    "lea rsi, [rsi + 64]",
                    "lea rdi, [rdi + 64]",
                    "dec rcx",
                    "jnz 20b",
                    "adc r9, 0",
                    inout("rdi") x.wrapping_sub(from) => _,
                    inout("rsi") a.wrapping_sub(from) => _,
                    inout("rcx") n.div_ceil(8) => _,
                    in("rdx") y,
                    inout("rax") from => _,
                    out("r8") _,
                    out("r9") carry,
                    out("r10") _,
                    out("r11") _,
                );
            }
            carry
        }
    };
}

row!(
    /// Computes x ← a·y mod 2^(64·n), where x and a have n limbs. Returns the limb carried out.
    mul_row, mul_limb
);
row!(
    /// Computes x ← x + a·y mod 2^(64·n), where x and a have n limbs. Returns the limb carried out.
    add_row, add_limb
);
row!(
    /// Computes x ← x − a·y mod 2^(64·n), where x and a have n limbs. Returns the limb that must be
    /// subtracted from the limb above x.
    sub_row, sub_limb
);
