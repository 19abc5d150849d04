//! Kernels for x86-64 processors with BMI2 and ADX.
//!
//! The instruction `mulx` multiplies without changing the flags. `adcx` adds with the carry flag
//! only, and `adox` with the overflow flag only. So the lower and the upper limbs of a row of
//! products are added in two carry chains that run side by side. Compilers do not generate `adcx`
//! and `adox`, so the kernels are written in assembly language.
//!
//! All functions of this module require that the processor has BMI2 and ADX: see
//! [`warpint_arith::simd::Cpu::carry_chains`]. (`FIRST_DIGIT` needs neither of them.)
//!
//! | file | kernels |
//! |---|---|
//! | `text` | macros that return the assembly code of which the kernels of `blocks` and `rows` consist |
//! | `digit_text` | the same for `digits` |
//! | `blocks` | products of a number and a block of 1 to 8 limbs |
//! | `rows` | products of a number and one limb |
//! | `digits` | a limb of a quotient by a divisor of 3 to 8 limbs |

// The layout of the macros shows the order of the instructions.
#[macro_use]
#[rustfmt::skip]
mod text;
#[macro_use]
#[rustfmt::skip]
mod digit_text;
mod blocks;
mod digits;
mod rows;

pub(super) use blocks::{
    ADD, BLOCK, LOW, MUL, OFF_DIAGONAL, OFF_DIAGONAL_ADD, SQUARE, double_and_add_squares, square_3,
};
pub(super) use digits::{DIGIT, Digit, FIRST_DIGIT, LONGEST, SHORTEST};
pub(super) use rows::{add_row, mul_row, sub_row};
