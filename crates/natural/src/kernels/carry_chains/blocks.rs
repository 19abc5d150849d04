//! Products of a number a and a block b of w ≤ 8 limbs.
//!
//! A kernel processes one limb of a after the other. It multiplies the block by the limb, and adds
//! the product to w accumulators c_0 … c_(w−1) in registers. The lowest limb of the sum is final
//! and is stored. The other limbs move down by one accumulator. So a product of two limbs needs
//! three instructions, and its only access to memory is to a limb of b.
//!
//! The step for column j > 0 is as follows, where h_j is the upper limb of a_i·b_j:
//!
//! c_(j−1) ← lower limb of a_i·b_j + c_j + h_(j−1).
//!
//! The sum with c_j is one carry chain (`adcx`), the sum with h_(j−1) is the other one (`adox`).
//! The new value of c_(j−1) does not depend on its old value, and c_j is free afterwards. So no
//! register has to be copied. After a row, the accumulators are below 2^(64·w), because
//! (2^64 − 1)(2^(64·w) − 1) + (2^(64·w) − 1) + (2^64 − 1) = 2^(64·(w+1)) − 1 for the largest limb,
//! block, accumulators, and limb added from memory.
//!
//! | register | contents |
//! |---|---|
//! | `r8` to `r15`, as many as the block has limbs | the accumulators |
//! | `rax`, and the register `odd` | the upper limbs h_j for even and for odd j |
//! | `rdx` | the limb of a |
//! | `rcx` | the address of b |
//! | `rdi`, `rsi` | addresses in the result and in a |
//! | the register `i` | the index of the limb of a |
//!
//! Blocks of 7 and 8 limbs also need `rbp`, and blocks of 8 limbs `rbx`. The compiler does not
//! accept these two registers as operands, so the kernels save and restore them.

use core::arch::asm;

/// The largest number of limbs of a block.
pub(in super::super) const BLOCK: usize = 8;

/// Computes out ← a·b, where a has n ≥ 1 limbs, b has w limbs, and `out` has n + w limbs.
pub(in super::super) type Mul = unsafe fn(out: *mut u64, a: *const u64, n: usize, b: *const u64);

/// Computes out + 2^(64·n)·top ← out + a·b, where a and `out` have n ≥ 1 limbs, and b and `top`
/// have w limbs. `top` may overlap `out`, because it is written at the end.
pub(in super::super) type Add =
    unsafe fn(out: *mut u64, a: *const u64, n: usize, b: *const u64, top: *mut u64);

/// Computes out ← a·b mod 2^(64·w), where all numbers have w limbs. `out` may not overlap a or b.
pub(in super::super) type Low = unsafe fn(out: *mut u64, a: *const u64, b: *const u64);

/// Computes the products a_i·a_j of different limbs of a that belong to the block of its w lowest
/// limbs: s = Σ a_i·a_j·2^(64·(i+j)) for j < w and j < i < n, where a has n ≥ w limbs. Limbs 1 to
/// n + w − 1 of `out` become limbs 1 to n + w − 1 of s. In the kernels that add, they become those of
/// `out` + s, where limbs n to n + w − 1 of the old `out` count as zero. Limb 0 of s is zero; limb
/// 0 of `out` does not change.
pub(in super::super) type OffDiagonal = unsafe fn(out: *mut u64, a: *const u64, n: usize);

/// Computes out ← a², where a has w limbs and `out` has 2w limbs, which may not overlap a.
pub(in super::super) type Square = unsafe fn(out: *mut u64, a: *const u64);

/// Defines the kernels for blocks of w limbs in a module. `odd` and `i` are registers.
///
/// In the kernels `mul` and `add`, the register `i` counts from −n to −1, and `rows` and `result`
/// are the addresses of limb `i` + n of a and of the result. In the kernels `off_diagonal`, it
/// counts from w to n − 1, and `square_rows` and `result` are the addresses of limb `i` of a and of
/// the result. `upper` is the address of the upper half of a square.
///
/// `save` and `restore` are the code that preserves `rbx` and `rbp`. The list has all other
/// registers that change.
macro_rules! kernels {
    (
        $name:ident, $w:tt, $first_close:ident, odd: $odd:literal, i: $i:literal,
        rows: $rows:literal, $square_rows:literal, result: $result:literal,
        upper: $upper:literal, square: $square:ident,
        save: $save:literal, restore: $restore:literal, [$($changed:tt)*]
    ) => {
        mod $name {
            use super::*;

            /// See [`Mul`].
            pub(super) unsafe fn mul(out: *mut u64, a: *const u64, n: usize, b: *const u64) {
                // SAFETY: the caller guarantees the instructions, and addresses that are valid for
                // the lengths in the description of the type. Registers that change are declared or
                // restored.
                unsafe {
                    asm!(
                        $save,
                        concat!("mov ", $i, ", rax"),
                        first_row!($w, $odd, $rows, $result, $first_close),
                        concat!("inc ", $i),
                        "jz 3f",
                        "2:",
                        row!($w, $odd, $rows, $result),
                        concat!("inc ", $i),
                        "jnz 2b",
                        "3:",
                        store!($w, "rdi"),
                        $restore,
                        in("rdi") out.add(n),
                        in("rsi") a.add(n),
                        in("rcx") b,
                        inout("rax") n.wrapping_neg() => _,
                        out("rdx") _,
                        $(out($changed) _,)*
                    );
                }
            }

            /// See [`Add`].
            pub(super) unsafe fn add(
                out: *mut u64,
                a: *const u64,
                n: usize,
                b: *const u64,
                top: *mut u64,
            ) {
                // SAFETY: as for `mul`. Every push has its pop.
                unsafe {
                    asm!(
                        $save,
                        "push rdx",
                        concat!("mov ", $i, ", rax"),
                        zero!($w),
                        "2:",
                        add_row!($w, $odd, $rows, $result),
                        concat!("inc ", $i),
                        "jnz 2b",
                        "pop rdx",
                        store!($w, "rdx"),
                        $restore,
                        in("rdi") out.add(n),
                        in("rsi") a.add(n),
                        in("rcx") b,
                        inout("rax") n.wrapping_neg() => _,
                        inout("rdx") top => _,
                        $(out($changed) _,)*
                    );
                }
            }

            /// See [`Low`].
            pub(super) unsafe fn low(out: *mut u64, a: *const u64, b: *const u64) {
                // SAFETY: as for `mul`.
                unsafe {
                    asm!(
                        $save,
                        "mov rdx, [rsi]",
                        concat!("mulx rax, ", $odd, ", [rcx]"),
                        concat!("mov [rdi], ", $odd),
                        first_columns!($w, $odd),
                        cut_rows!($w, $odd),
                        $restore,
                        in("rdi") out,
                        in("rsi") a,
                        in("rcx") b,
                        out("rax") _,
                        out("rdx") _,
                        $(out($changed) _,)*
                    );
                }
            }

            $square!($w, $odd, $upper, $save, $restore, [$($changed)*]);
            off_diagonal!(
                off_diagonal, row, $w, $odd, $i, $square_rows, $result, $save, $restore,
                [$($changed)*]
            );
            off_diagonal!(
                off_diagonal_add, add_row, $w, $odd, $i, $square_rows, $result, $save, $restore,
                [$($changed)*]
            );
        }
    };
}

/// Defines a kernel of type [`Square`].
macro_rules! square {
    (
        $w:tt, $odd:literal, $upper:literal, $save:literal, $restore:literal, [$($changed:tt)*]
    ) => {
        /// See [`Square`].
        pub(super) unsafe fn square(out: *mut u64, a: *const u64) {
            // SAFETY: as for `mul`.
            unsafe {
                asm!(
                    $save,
                    zero!($w),
                    "mov [rdi], r8",
                    triangle!($w, $odd, row),
                    store!($w, $upper),
                    "xor eax, eax",
                    doubles!($w),
                    $restore,
                    in("rdi") out,
                    in("rcx") a,
                    out("rax") _,
                    out("rdx") _,
                    $(out($changed) _,)*
                );
            }
        }
    };
}

/// Defines the kernel of type [`Square`] for w = 3, which stays in registers.
macro_rules! square_of_three {
    ($($arguments:tt)*) => {
        /// See [`Square`].
        #[inline(always)]
        pub(in super::super::super) unsafe fn square(out: *mut u64, a: *const u64) {
            // SAFETY: the caller guarantees the instructions, and that the addresses are valid for
            // 3 and 6 limbs. Registers that change are declared.
            //
            // `mov` and `mulx` keep the flags. The overflow flag is the carry of the doubled limbs,
            // and the carry flag that of the squares.
            unsafe {
                asm!(
                    "mov rdx, [rcx]",
                    "mulx r9, r8, [rcx + 8]",
                    "mulx r10, rax, [rcx + 16]",
                    "add r9, rax",
                    "mov rdx, [rcx + 8]",
                    "mulx r11, rax, [rcx + 16]",
                    "adc r10, rax",
                    "adc r11, 0",
                    // The products of different limbs are in r8 to r11.
                    "xor eax, eax",
                    first_doubled!("r8"),
                    next_doubled!("[rcx + 8]", "r9", "16", "r10", "24"),
                    last_doubled!("[rcx + 16]", "r11", "32", "40"),
                    in("rdi") out,
                    in("rcx") a,
                    out("rax") _,
                    out("rdx") _,
                    out("rsi") _,
                    out("r8") _,
                    out("r9") _,
                    out("r10") _,
                    out("r11") _,
                );
            }
        }
    };
}

/// Defines the kernel of type [`Square`] for w = 4, which stays in registers.
macro_rules! square_of_four {
    ($($arguments:tt)*) => {
        /// See [`Square`].
        pub(super) unsafe fn square(out: *mut u64, a: *const u64) {
            // SAFETY: as for three limbs, with addresses valid for 4 and 8 limbs.
            unsafe {
                asm!(
                    "mov rdx, [rcx]",
                    "mulx r9, r8, [rcx + 8]",
                    "mulx r10, rax, [rcx + 16]",
                    "add r9, rax",
                    "mulx r11, rax, [rcx + 24]",
                    "adc r10, rax",
                    "adc r11, 0",
                    "mov rdx, [rcx + 8]",
                    "xor eax, eax",
                    "mulx rsi, rax, [rcx + 16]",
                    "adcx r10, rax",
                    "adox r11, rsi",
                    "mulx r12, rax, [rcx + 24]",
                    "adcx r11, rax",
                    "mov eax, 0",
                    "adox r12, rax",
                    "adcx r12, rax",
                    "mov rdx, [rcx + 16]",
                    "mulx r13, rax, [rcx + 24]",
                    "add r12, rax",
                    "adc r13, 0",
                    // The products of different limbs are in r8 to r13.
                    "xor eax, eax",
                    first_doubled!("r8"),
                    next_doubled!("[rcx + 8]", "r9", "16", "r10", "24"),
                    next_doubled!("[rcx + 16]", "r11", "32", "r12", "40"),
                    last_doubled!("[rcx + 24]", "r13", "48", "56"),
                    in("rdi") out,
                    in("rcx") a,
                    out("rax") _,
                    out("rdx") _,
                    out("rsi") _,
                    out("r8") _,
                    out("r9") _,
                    out("r10") _,
                    out("r11") _,
                    out("r12") _,
                    out("r13") _,
                );
            }
        }
    };
}

/// Defines a kernel of type [`OffDiagonal`] with rows of the kind `row`.
macro_rules! off_diagonal {
    (
        $kernel:ident, $row:ident, $w:tt, $odd:literal, $i:literal, $rows:literal, $result:literal,
        $save:literal, $restore:literal, [$($changed:tt)*]
    ) => {
        /// See [`OffDiagonal`].
        pub(super) unsafe fn $kernel(out: *mut u64, a: *const u64, n: usize) {
            // SAFETY: as for `mul`.
            unsafe {
                asm!(
                    $save,
                    zero!($w),
                    triangle!($w, $odd, $row),
                    concat!("mov ", $i, ", ", $w),
                    concat!("cmp ", $i, ", rsi"),
                    "jae 3f",
                    "2:",
                    $row!($w, $odd, $rows, $result),
                    concat!("inc ", $i),
                    concat!("cmp ", $i, ", rsi"),
                    "jb 2b",
                    "3:",
                    store!($w, "rdi + 8*rsi"),
                    $restore,
                    in("rdi") out,
                    in("rsi") n,
                    in("rcx") a,
                    out("rax") _,
                    out("rdx") _,
                    $(out($changed) _,)*
                );
            }
        }
    };
}

kernels!(
    one, 1, first_close_of_one, odd: "r9", i: "r10",
    rows: "rsi + 8*r10", "rcx + 8*r10", result: "rdi + 8*r10", upper: "rdi + 8", square: square,
    save: "", restore: "", ["r8" "r9" "r10"]
);
kernels!(
    two, 2, first_close, odd: "r10", i: "r11",
    rows: "rsi + 8*r11", "rcx + 8*r11", result: "rdi + 8*r11", upper: "rdi + 16", square: square,
    save: "", restore: "", ["r8" "r9" "r10" "r11"]
);
kernels!(
    three, 3, first_close, odd: "r11", i: "r12",
    rows: "rsi + 8*r12", "rcx + 8*r12", result: "rdi + 8*r12", upper: "rdi + 24", square: square_of_three,
    save: "", restore: "", ["r8" "r9" "r10" "r11" "r12"]
);
kernels!(
    four, 4, first_close, odd: "r12", i: "r13",
    rows: "rsi + 8*r13", "rcx + 8*r13", result: "rdi + 8*r13", upper: "rdi + 32", square: square_of_four,
    save: "", restore: "", ["r8" "r9" "r10" "r11" "r12" "r13"]
);
kernels!(
    five, 5, first_close, odd: "r13", i: "r14",
    rows: "rsi + 8*r14", "rcx + 8*r14", result: "rdi + 8*r14", upper: "rdi + 40", square: square,
    save: "", restore: "", ["r8" "r9" "r10" "r11" "r12" "r13" "r14"]
);
kernels!(
    six, 6, first_close, odd: "r14", i: "r15",
    rows: "rsi + 8*r15", "rcx + 8*r15", result: "rdi + 8*r15", upper: "rdi + 48", square: square,
    save: "", restore: "", ["r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"]
);
kernels!(
    seven, 7, first_close, odd: "r15", i: "rbp",
    rows: "rsi + 8*rbp", "rcx + 8*rbp", result: "rdi + 8*rbp", upper: "rdi + 56", square: square,
    save: "push rbp", restore: "pop rbp", ["r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"]
);
kernels!(
    eight, 8, first_close, odd: "rbx", i: "rbp",
    rows: "rsi + 8*rbp", "rcx + 8*rbp", result: "rdi + 8*rbp", upper: "rdi + 64", square: square,
    save: "push rbx\npush rbp", restore: "pop rbp\npop rbx",
    ["r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"]
);

/// The kernel of type [`Square`] for three limbs.
pub(in super::super) use three::square as square_3;

/// The kernels of type [`Mul`] for blocks of 1 to 8 limbs.
pub(in super::super) const MUL: [Mul; BLOCK] =
    [one::mul, two::mul, three::mul, four::mul, five::mul, six::mul, seven::mul, eight::mul];

/// The kernels of type [`Add`] for blocks of 1 to 8 limbs.
pub(in super::super) const ADD: [Add; BLOCK] =
    [one::add, two::add, three::add, four::add, five::add, six::add, seven::add, eight::add];

/// The kernels of type [`Low`] for numbers of 1 to 8 limbs.
pub(in super::super) const LOW: [Low; BLOCK] =
    [one::low, two::low, three::low, four::low, five::low, six::low, seven::low, eight::low];

/// The kernels of type [`Square`] for numbers of 1 to 8 limbs.
pub(in super::super) const SQUARE: [Square; BLOCK] = [
    one::square,
    two::square,
    three::square,
    four::square,
    five::square,
    six::square,
    seven::square,
    eight::square,
];

/// The kernels of type [`OffDiagonal`] for blocks of 1 to 8 limbs.
pub(in super::super) const OFF_DIAGONAL: [OffDiagonal; BLOCK] = [
    one::off_diagonal,
    two::off_diagonal,
    three::off_diagonal,
    four::off_diagonal,
    five::off_diagonal,
    six::off_diagonal,
    seven::off_diagonal,
    eight::off_diagonal,
];

/// The kernels of type [`OffDiagonal`] that add, for blocks of 1 to 8 limbs.
pub(in super::super) const OFF_DIAGONAL_ADD: [OffDiagonal; BLOCK] = [
    one::off_diagonal_add,
    two::off_diagonal_add,
    three::off_diagonal_add,
    four::off_diagonal_add,
    five::off_diagonal_add,
    six::off_diagonal_add,
    seven::off_diagonal_add,
    eight::off_diagonal_add,
];

/// Computes out ← 2·out + Σ a_i²·2^(128·i), where a has n ≥ 1 limbs and `out` has 2n limbs. The
/// result must be below 2^(128·n).
///
/// # Safety
/// The processor has BMI2 and ADX. The addresses are valid for 2n and n limbs, which do not
/// overlap.
pub(in super::super) unsafe fn double_and_add_squares(out: *mut u64, a: *const u64, n: usize) {
    // SAFETY: the caller guarantees the instructions, and that the addresses are valid. Registers
    // that change are declared. The carry flag is the carry of the doubled limbs, and the overflow
    // flag that of the squares. `lea` and `jrcxz` keep both.
    unsafe {
        asm!(
            "xor eax, eax",
            "2:",
            "mov rdx, [rsi]",
            "mulx r9, r8, rdx",
            "mov r10, [rdi]",
            "mov r11, [rdi + 8]",
            "adcx r10, r10",
            "adox r10, r8",
            "adcx r11, r11",
            "adox r11, r9",
            "mov [rdi], r10",
            "mov [rdi + 8], r11",
            "lea rcx, [rcx - 1]",
            "lea rsi, [rsi + 8]",
            "lea rdi, [rdi + 16]",
            "jrcxz 3f",
            "jmp 2b",
            "3:",
            inout("rdi") out => _,
            inout("rsi") a => _,
            inout("rcx") n => _,
            out("rax") _,
            out("rdx") _,
            out("r8") _,
            out("r9") _,
            out("r10") _,
            out("r11") _,
        );
    }
}
