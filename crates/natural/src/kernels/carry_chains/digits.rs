//! One limb of a quotient by a divisor d of m limbs, from 3 to 8.
//!
//! Let u be a number below 2^64·d, and let q̂ be an estimate of the limb ⌊u/d⌋. The kernels compute
//! two differences, u − q̂·d and u − (q̂ + 1)·d. If the second one is not negative, it becomes the
//! new u, and the limb is q̂ + 1. Otherwise the first one becomes the new u, and the limb is q̂. The
//! choice takes no branch: neither case is rare, so a processor could not predict it.
//!
//! Two carry chains run side by side, but `adcx` and `adox` only add. So the kernels work on the
//! complement ¬u, as x − y = ¬(¬x + y). One chain adds the upper and the lower limbs of the
//! products q̂·d_j, and the other one adds their sum to ¬u. A third chain adds d to a copy of the
//! result. Of this copy, only the three top limbs are kept, for the choice and for the next
//! estimate. To the other limbs, d or 0 is added after the choice. The next estimate does not wait
//! for this.
//!
//! A number is negative if its complement is not, so the sign flag after the third chain says that
//! the second difference is not negative.
//!
//! | register | contents |
//! |---|---|
//! | `r8` to `r15`, then `rbx` | the m + 1 limbs of ¬u, the lowest one first |
//! | `rax`, `rcx` | the upper limbs of the products for odd and for even j; later limbs m − 2 and m − 1 of the copy |
//! | `rsi` | the lower limb of a product; later a limb of the copy, and the address of d or 0 |
//! | `rdx` | q̂, and later the limb of the quotient |
//! | `rdi` | the address of d |
//!
//! The compiler does not accept `rbx` as an operand. So the kernels for 8 limbs save and restore
//! it, and exchange its contents with the compiler in `rsi`.

use core::arch::asm;

/// The smallest number of limbs of a divisor.
pub(in super::super) const SHORTEST: usize = 3;

/// The largest number of limbs of a divisor.
pub(in super::super) const LONGEST: usize = 8;

/// Replaces u by u − q·d or by u − (q + 1)·d, and returns q or q + 1. The second difference is
/// taken if it is not negative.
///
/// d has m limbs. The lowest m + 1 limbs of the argument `u` are those of ¬u, before and after. The
/// new u is a number with a sign, in two's complement. Both differences must be at least
/// −2^(64·m + 63) and below 2^(64·m + 63). The address `d` must be valid for reading m limbs.
pub(in super::super) type Digit =
    unsafe fn(u: &mut [u64; LONGEST + 1], q: u64, d: *const u64) -> u64;

/// The summand if d is not to be added.
static ZEROS: [u64; LONGEST - 2] = [0; LONGEST - 2];

/// Defines the kernels for divisors of m limbs in a module. The first list has the limbs of u and
/// their registers, and the second one the other registers that change. `save` and `restore` are
/// the code that preserves `rbx`.
macro_rules! kernels {
    (
        $name:ident, $m:tt, save: $save:literal, restore: $restore:literal,
        [$($limb:literal $register:tt),*], [$($changed:tt),*]
    ) => {
        mod $name {
            use super::*;

            /// See [`Digit`].
            ///
            /// # Safety
            /// The processor has BMI2 and ADX. `d` is valid for reading m limbs.
            #[inline(always)]
            pub(super) unsafe fn digit(
                u: &mut [u64; LONGEST + 1],
                q: u64,
                d: *const u64,
            ) -> u64 {
                let digit;
                // SAFETY: the caller guarantees the instructions, and that m limbs can be read at
                // `d`. The code also reads the first m − 2 limbs of `ZEROS`, and writes only to the
                // stack: a push, which has its pop. All changed registers are declared or restored.
                unsafe {
                    asm!(
                        $save,
                        subtract_product!($m),
                        subtract_again!($m),
                        $restore,
                        zeros = sym ZEROS,
                        in("rdi") d,
                        inout("rdx") q => digit,
                        $(inout($register) u[$limb],)*
                        $(out($changed) _,)*
                    );
                }
                digit
            }

            /// See [`Digit`]; q must be 0.
            ///
            /// # Safety
            /// `d` is valid for reading m limbs.
            #[inline(always)]
            pub(super) unsafe fn first(
                u: &mut [u64; LONGEST + 1],
                q: u64,
                d: *const u64,
            ) -> u64 {
                let digit;
                // SAFETY: as for `digit`. These instructions belong to every x86-64 processor.
                unsafe {
                    asm!(
                        $save,
                        subtract_again!($m),
                        $restore,
                        zeros = sym ZEROS,
                        in("rdi") d,
                        inout("rdx") q => digit,
                        $(inout($register) u[$limb],)*
                        $(out($changed) _,)*
                    );
                }
                digit
            }
        }
    };
}

kernels!(
    three, 3, save: "", restore: "",
    [0 "r8", 1 "r9", 2 "r10", 3 "r11"],
    ["rax", "rcx", "rsi"]
);
kernels!(
    four, 4, save: "", restore: "",
    [0 "r8", 1 "r9", 2 "r10", 3 "r11", 4 "r12"],
    ["rax", "rcx", "rsi"]
);
kernels!(
    five, 5, save: "", restore: "",
    [0 "r8", 1 "r9", 2 "r10", 3 "r11", 4 "r12", 5 "r13"],
    ["rax", "rcx", "rsi"]
);
kernels!(
    six, 6, save: "", restore: "",
    [0 "r8", 1 "r9", 2 "r10", 3 "r11", 4 "r12", 5 "r13", 6 "r14"],
    ["rax", "rcx", "rsi"]
);
kernels!(
    seven, 7, save: "", restore: "",
    [0 "r8", 1 "r9", 2 "r10", 3 "r11", 4 "r12", 5 "r13", 6 "r14", 7 "r15"],
    ["rax", "rcx", "rsi"]
);
kernels!(
    eight, 8, save: "push rbx\nmov rbx, rsi", restore: "mov rsi, rbx\npop rbx",
    [0 "r8", 1 "r9", 2 "r10", 3 "r11", 4 "r12", 5 "r13", 6 "r14", 7 "r15", 8 "rsi"],
    ["rax", "rcx"]
);

/// The kernels for divisors of [`SHORTEST`] to [`LONGEST`] limbs.
pub(in super::super) const DIGIT: [Digit; LONGEST - SHORTEST + 1] =
    [three::digit, four::digit, five::digit, six::digit, seven::digit, eight::digit];

/// The kernels for the same divisors and for q = 0. Every x86-64 processor can execute them.
pub(in super::super) const FIRST_DIGIT: [Digit; LONGEST - SHORTEST + 1] =
    [three::first, four::first, five::first, six::first, seven::first, eight::first];
