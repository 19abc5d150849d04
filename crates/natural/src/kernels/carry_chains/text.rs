//! Macros that return the assembly code (the *text*) of the steps and rows of which the kernels in
//! `blocks` and `rows` consist. Those files describe the registers and the methods. There, c_j are
//! the accumulators, and h_j is the upper limb of the product with limb j of the block.

/// Returns the text of the step for a column j > 0. `hi` receives h_j, `below` is the accumulator
/// c_(j−1), `this` is c_j, and `carried` contains h_(j−1).
macro_rules! next_column {
    ($hi:literal, $below:literal, $this:literal, $carried:literal, $at:literal) => {
        concat!(
            "mulx ", $hi, ", ", $below, ", [rcx + ", $at, "]\n",
            "adcx ", $below, ", ", $this, "\n",
            "adox ", $below, ", ", $carried, "\n",
        )
    };
}

/// Returns the text of the steps for the columns 1 to w − 1.
macro_rules! columns {
    (1, $odd:literal) => { "" };
    (2, $odd:literal) => {
        concat!(columns!(1, $odd), next_column!($odd, "r8", "r9", "rax", "8"))
    };
    (3, $odd:literal) => {
        concat!(columns!(2, $odd), next_column!("rax", "r9", "r10", $odd, "16"))
    };
    (4, $odd:literal) => {
        concat!(columns!(3, $odd), next_column!($odd, "r10", "r11", "rax", "24"))
    };
    (5, $odd:literal) => {
        concat!(columns!(4, $odd), next_column!("rax", "r11", "r12", $odd, "32"))
    };
    (6, $odd:literal) => {
        concat!(columns!(5, $odd), next_column!($odd, "r12", "r13", "rax", "40"))
    };
    (7, $odd:literal) => {
        concat!(columns!(6, $odd), next_column!("rax", "r13", "r14", $odd, "48"))
    };
    (8, $odd:literal) => {
        concat!(columns!(7, $odd), next_column!($odd, "r14", "r15", "rax", "56"))
    };
}

/// Returns the text of the step for a column j > 0 of the first row. No accumulator has a value
/// yet, so there is only one carry chain. The argument `add` is the instruction `add` in the first
/// step, and `adc` in all others.
macro_rules! first_column {
    ($add:literal, $hi:literal, $below:literal, $carried:literal, $at:literal) => {
        concat!(
            "mulx ", $hi, ", ", $below, ", [rcx + ", $at, "]\n",
            $add, " ", $below, ", ", $carried, "\n",
        )
    };
}

/// Returns the text of the steps for the columns 1 to w − 1 of the first row.
macro_rules! first_columns {
    (1, $odd:literal) => { "" };
    (2, $odd:literal) => { first_column!("add", $odd, "r8", "rax", "8") };
    (3, $odd:literal) => {
        concat!(first_columns!(2, $odd), first_column!("adc", "rax", "r9", $odd, "16"))
    };
    (4, $odd:literal) => {
        concat!(first_columns!(3, $odd), first_column!("adc", $odd, "r10", "rax", "24"))
    };
    (5, $odd:literal) => {
        concat!(first_columns!(4, $odd), first_column!("adc", "rax", "r11", $odd, "32"))
    };
    (6, $odd:literal) => {
        concat!(first_columns!(5, $odd), first_column!("adc", $odd, "r12", "rax", "40"))
    };
    (7, $odd:literal) => {
        concat!(first_columns!(6, $odd), first_column!("adc", "rax", "r13", $odd, "48"))
    };
    (8, $odd:literal) => {
        concat!(first_columns!(7, $odd), first_column!("adc", $odd, "r14", "rax", "56"))
    };
}

/// Calls the macro `then` with three registers: those of the last accumulator c_(w−1), of its lower
/// 32 bits, and of h_(w−1).
macro_rules! last {
    (1, $odd:literal, $then:ident) => { $then!("r8", "r8d", "rax") };
    (2, $odd:literal, $then:ident) => { $then!("r9", "r9d", $odd) };
    (3, $odd:literal, $then:ident) => { $then!("r10", "r10d", "rax") };
    (4, $odd:literal, $then:ident) => { $then!("r11", "r11d", $odd) };
    (5, $odd:literal, $then:ident) => { $then!("r12", "r12d", "rax") };
    (6, $odd:literal, $then:ident) => { $then!("r13", "r13d", $odd) };
    (7, $odd:literal, $then:ident) => { $then!("r14", "r14d", "rax") };
    (8, $odd:literal, $then:ident) => { $then!("r15", "r15d", $odd) };
}

/// Returns the text of the end of a row: c_(w−1) ← h_(w−1) + both carries.
macro_rules! close {
    ($last:literal, $half:literal, $hi:literal) => {
        concat!(
            "mov ", $half, ", 0\n",
            "adcx ", $hi, ", ", $last, "\n",
            "adox ", $last, ", ", $hi, "\n",
        )
    };
}

/// Returns the text of the end of the first row: c_(w−1) ← h_(w−1) + carry.
macro_rules! first_close {
    ($last:literal, $half:literal, $hi:literal) => {
        concat!("mov ", $last, ", ", $hi, "\n", "adc ", $last, ", 0\n")
    };
}

/// Returns the text of the end of the first row of a block of one limb, which has no carry.
macro_rules! first_close_of_one {
    ($last:literal, $half:literal, $hi:literal) => {
        concat!("mov ", $last, ", ", $hi, "\n")
    };
}

/// Returns the text of the beginning of a row: clears both carries, loads the limb of a from the
/// address `limb`, and computes the lowest limb of the sum in the register `odd`.
macro_rules! open {
    ($odd:literal, $limb:literal) => {
        concat!(
            "xor eax, eax\n",
            "mov rdx, [", $limb, "]\n",
            "mulx rax, ", $odd, ", [rcx]\n",
            "adcx ", $odd, ", r8\n",
        )
    };
}

/// Returns the text of a row of w columns. The lowest limb of the sum goes to the address `out`.
macro_rules! row {
    ($w:tt, $odd:literal, $limb:literal, $out:literal) => {
        concat!(
            open!($odd, $limb),
            "mov [", $out, "], ", $odd, "\n",
            columns!($w, $odd),
            last!($w, $odd, close),
        )
    };
}

/// Returns the text of a row as [`row`] does, and adds the old limb at the address `out` to the
/// sum.
macro_rules! add_row {
    ($w:tt, $odd:literal, $limb:literal, $out:literal) => {
        concat!(
            open!($odd, $limb),
            "adox ", $odd, ", [", $out, "]\n",
            "mov [", $out, "], ", $odd, "\n",
            columns!($w, $odd),
            last!($w, $odd, close),
        )
    };
}

/// Returns the text of the first row, for accumulators without a value.
macro_rules! first_row {
    ($w:tt, $odd:literal, $limb:literal, $out:literal, $close:ident) => {
        concat!(
            "mov rdx, [", $limb, "]\n",
            "mulx rax, ", $odd, ", [rcx]\n",
            "mov [", $out, "], ", $odd, "\n",
            first_columns!($w, $odd),
            last!($w, $odd, $close),
        )
    };
}

/// Returns the text of a row of w columns of a low product, without the upper limb of its last
/// column.
macro_rules! cut_row {
    ($w:tt, $odd:literal, $limb:literal, $out:literal) => {
        concat!(
            open!($odd, $limb),
            "mov [", $out, "], ", $odd, "\n",
            columns!($w, $odd),
        )
    };
}

/// Returns the text that stores the accumulators at the address `to`.
macro_rules! store {
    (1, $to:literal) => { concat!("mov [", $to, "], r8\n") };
    (2, $to:literal) => { concat!(store!(1, $to), "mov [", $to, " + 8], r9\n") };
    (3, $to:literal) => { concat!(store!(2, $to), "mov [", $to, " + 16], r10\n") };
    (4, $to:literal) => { concat!(store!(3, $to), "mov [", $to, " + 24], r11\n") };
    (5, $to:literal) => { concat!(store!(4, $to), "mov [", $to, " + 32], r12\n") };
    (6, $to:literal) => { concat!(store!(5, $to), "mov [", $to, " + 40], r13\n") };
    (7, $to:literal) => { concat!(store!(6, $to), "mov [", $to, " + 48], r14\n") };
    (8, $to:literal) => { concat!(store!(7, $to), "mov [", $to, " + 56], r15\n") };
}

/// Returns the text that sets the accumulators to zero.
macro_rules! zero {
    (1) => { "xor r8d, r8d\n" };
    (2) => { concat!(zero!(1), "xor r9d, r9d\n") };
    (3) => { concat!(zero!(2), "xor r10d, r10d\n") };
    (4) => { concat!(zero!(3), "xor r11d, r11d\n") };
    (5) => { concat!(zero!(4), "xor r12d, r12d\n") };
    (6) => { concat!(zero!(5), "xor r13d, r13d\n") };
    (7) => { concat!(zero!(6), "xor r14d, r14d\n") };
    (8) => { concat!(zero!(7), "xor r15d, r15d\n") };
}

/// Returns the text of rows 1 to w − 1 of the triangle of products of different limbs of a block.
/// Row r has r columns. The argument `row` is the macro of the rows: `row` or `add_row`.
macro_rules! triangle {
    (1, $odd:literal, $row:ident) => { "" };
    (2, $odd:literal, $row:ident) => { $row!(1, $odd, "rcx + 8", "rdi + 8") };
    (3, $odd:literal, $row:ident) => {
        concat!(triangle!(2, $odd, $row), $row!(2, $odd, "rcx + 16", "rdi + 16"))
    };
    (4, $odd:literal, $row:ident) => {
        concat!(triangle!(3, $odd, $row), $row!(3, $odd, "rcx + 24", "rdi + 24"))
    };
    (5, $odd:literal, $row:ident) => {
        concat!(triangle!(4, $odd, $row), $row!(4, $odd, "rcx + 32", "rdi + 32"))
    };
    (6, $odd:literal, $row:ident) => {
        concat!(triangle!(5, $odd, $row), $row!(5, $odd, "rcx + 40", "rdi + 40"))
    };
    (7, $odd:literal, $row:ident) => {
        concat!(triangle!(6, $odd, $row), $row!(6, $odd, "rcx + 48", "rdi + 48"))
    };
    (8, $odd:literal, $row:ident) => {
        concat!(triangle!(7, $odd, $row), $row!(7, $odd, "rcx + 56", "rdi + 56"))
    };
}

/// Returns the text that computes x ← 2·x + y², where x are two adjacent limbs of the result, and y
/// is a limb of the block. The addresses are `at` for y, and `low` and `high` for the two limbs of
/// x. The carry flag is the carry of the doubled limbs, and the overflow flag that of the squares.
macro_rules! double {
    ($at:literal, $low:literal, $high:literal) => {
        concat!(
            "mov rdx, [", $at, "]\n",
            "mov rax, [", $low, "]\n",
            "mov r10, [", $high, "]\n",
            "mulx r9, r8, rdx\n",
            "adcx rax, rax\n",
            "adox rax, r8\n",
            "adcx r10, r10\n",
            "adox r10, r9\n",
            "mov [", $low, "], rax\n",
            "mov [", $high, "], r10\n",
        )
    };
}

/// Returns the text of [`double`] for all limbs of a block. Both flags must be clear before.
macro_rules! doubles {
    (1) => { double!("rcx", "rdi", "rdi + 8") };
    (2) => { concat!(doubles!(1), double!("rcx + 8", "rdi + 16", "rdi + 24")) };
    (3) => { concat!(doubles!(2), double!("rcx + 16", "rdi + 32", "rdi + 40")) };
    (4) => { concat!(doubles!(3), double!("rcx + 24", "rdi + 48", "rdi + 56")) };
    (5) => { concat!(doubles!(4), double!("rcx + 32", "rdi + 64", "rdi + 72")) };
    (6) => { concat!(doubles!(5), double!("rcx + 40", "rdi + 80", "rdi + 88")) };
    (7) => { concat!(doubles!(6), double!("rcx + 48", "rdi + 96", "rdi + 104")) };
    (8) => { concat!(doubles!(7), double!("rcx + 56", "rdi + 112", "rdi + 120")) };
}

/// Returns the text of the rows of a low product after the first one, for a block of w limbs. Row r
/// has w − r columns.
macro_rules! cut_rows {
    (1, $odd:literal) => { "" };
    (2, $odd:literal) => { cut_row!(1, $odd, "rsi + 8", "rdi + 8") };
    (3, $odd:literal) => {
        concat!(
            cut_row!(2, $odd, "rsi + 8", "rdi + 8"),
            cut_row!(1, $odd, "rsi + 16", "rdi + 16"),
        )
    };
    (4, $odd:literal) => {
        concat!(
            cut_row!(3, $odd, "rsi + 8", "rdi + 8"),
            cut_row!(2, $odd, "rsi + 16", "rdi + 16"),
            cut_row!(1, $odd, "rsi + 24", "rdi + 24"),
        )
    };
    (5, $odd:literal) => {
        concat!(
            cut_row!(4, $odd, "rsi + 8", "rdi + 8"),
            cut_row!(3, $odd, "rsi + 16", "rdi + 16"),
            cut_row!(2, $odd, "rsi + 24", "rdi + 24"),
            cut_row!(1, $odd, "rsi + 32", "rdi + 32"),
        )
    };
    (6, $odd:literal) => {
        concat!(
            cut_row!(5, $odd, "rsi + 8", "rdi + 8"),
            cut_row!(4, $odd, "rsi + 16", "rdi + 16"),
            cut_row!(3, $odd, "rsi + 24", "rdi + 24"),
            cut_row!(2, $odd, "rsi + 32", "rdi + 32"),
            cut_row!(1, $odd, "rsi + 40", "rdi + 40"),
        )
    };
    (7, $odd:literal) => {
        concat!(
            cut_row!(6, $odd, "rsi + 8", "rdi + 8"),
            cut_row!(5, $odd, "rsi + 16", "rdi + 16"),
            cut_row!(4, $odd, "rsi + 24", "rdi + 24"),
            cut_row!(3, $odd, "rsi + 32", "rdi + 32"),
            cut_row!(2, $odd, "rsi + 40", "rdi + 40"),
            cut_row!(1, $odd, "rsi + 48", "rdi + 48"),
        )
    };
    (8, $odd:literal) => {
        concat!(
            cut_row!(7, $odd, "rsi + 8", "rdi + 8"),
            cut_row!(6, $odd, "rsi + 16", "rdi + 16"),
            cut_row!(5, $odd, "rsi + 24", "rdi + 24"),
            cut_row!(4, $odd, "rsi + 32", "rdi + 32"),
            cut_row!(3, $odd, "rsi + 40", "rdi + 40"),
            cut_row!(2, $odd, "rsi + 48", "rdi + 48"),
            cut_row!(1, $odd, "rsi + 56", "rdi + 56"),
        )
    };
}

/// Returns the text for one limb of a row x ← a·y. The register `hi` receives the upper limb of the
/// product, and `carried` contains the upper limb of the product before.
macro_rules! mul_limb {
    ($hi:literal, $carried:literal, $at:literal) => {
        concat!(
            "mulx ", $hi, ", r10, [rsi + ", $at, "]\n",
            "adcx r10, ", $carried, "\n",
            "mov [rdi + ", $at, "], r10\n",
        )
    };
}

/// Returns the text for one limb of a row x ← x + a·y: [`mul_limb`] with the old limb of x added.
macro_rules! add_limb {
    ($hi:literal, $carried:literal, $at:literal) => {
        concat!(
            "mulx ", $hi, ", r10, [rsi + ", $at, "]\n",
            "adcx r10, ", $carried, "\n",
            "adox r10, [rdi + ", $at, "]\n",
            "mov [rdi + ", $at, "], r10\n",
        )
    };
}

/// Returns the text for one limb of a row x ← x − a·y: [`add_limb`] on the complement of x. As x −
/// p = ¬(¬x + p), this subtracts the product.
macro_rules! sub_limb {
    ($hi:literal, $carried:literal, $at:literal) => {
        concat!(
            "mov r11, [rdi + ", $at, "]\n",
            "not r11\n",
            "mulx ", $hi, ", r10, [rsi + ", $at, "]\n",
            "adcx r10, ", $carried, "\n",
            "adox r11, r10\n",
            "not r11\n",
            "mov [rdi + ", $at, "], r11\n",
        )
    };
}

/// Returns the text of the beginning of a square in registers: limb 0 is the lower limb of a_0², and
/// limb 1 the sum of its upper limb and the doubled register. `rsi` and `rdx` change.
macro_rules! first_doubled {
    ($low:literal) => {
        concat!(
            "mov rdx, [rcx]\n",
            "mulx rsi, rdx, rdx\n",
            "mov [rdi], rdx\n",
            "adox ", $low, ", ", $low, "\n",
            "adcx ", $low, ", rsi\n",
            "mov [rdi + 8], ", $low, "\n",
        )
    };
}

/// Returns the text that adds the lower limb of the square of the limb at address `limb` to a doubled
/// register, and stores the sum. The upper limb is in `rsi` then. `rdx` and `rax` change.
macro_rules! low_doubled {
    ($limb:literal, $low:literal, $low_at:literal) => {
        concat!(
            "mov rdx, ", $limb, "\n",
            "mulx rsi, rax, rdx\n",
            "adox ", $low, ", ", $low, "\n",
            "adcx ", $low, ", rax\n",
            "mov [rdi + ", $low_at, "], ", $low, "\n",
        )
    };
}

/// Returns the text of [`low_doubled`], and adds the upper limb to a second doubled register. Both
/// carries go on.
macro_rules! next_doubled {
    ($limb:literal, $low:literal, $low_at:literal, $high:literal, $high_at:literal) => {
        concat!(
            low_doubled!($limb, $low, $low_at),
            "adox ", $high, ", ", $high, "\n",
            "adcx ", $high, ", rsi\n",
            "mov [rdi + ", $high_at, "], ", $high, "\n",
        )
    };
}

/// Returns the text of the end of a square in registers: [`low_doubled`], and the sum of the upper
/// limb and both carries.
macro_rules! last_doubled {
    ($limb:literal, $low:literal, $low_at:literal, $high_at:literal) => {
        concat!(
            low_doubled!($limb, $low, $low_at),
            "mov eax, 0\n",
            "adox rsi, rax\n",
            "adcx rsi, rax\n",
            "mov [rdi + ", $high_at, "], rsi\n",
        )
    };
}
