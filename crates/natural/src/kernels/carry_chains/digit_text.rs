//! Macros that return the assembly code of the kernels in `digits`, which describes the registers and
//! the method.

/// Returns the text that adds limb j > 0 of q̂·d to limb j of ¬u. `hi` receives the upper limb of
/// the product q̂·d_j, `carried` contains the one before, and `this` is limb j of ¬u.
macro_rules! product_limb {
    ($hi:literal, $carried:literal, $this:literal, $at:literal) => {
        concat!(
            "mulx ", $hi, ", rsi, [rdi + ", $at, "]\n",
            "adcx rsi, ", $carried, "\n",
            "adox ", $this, ", rsi\n",
        )
    };
}

/// Returns the text that clears both carries and adds q̂·d to the lowest limbs of ¬u, as many as the
/// argument.
macro_rules! product_limbs {
    (1) => { concat!("xor eax, eax\n", "mulx rcx, rsi, [rdi]\n", "adox r8, rsi\n") };
    (2) => { concat!(product_limbs!(1), product_limb!("rax", "rcx", "r9", "8")) };
    (3) => { concat!(product_limbs!(2), product_limb!("rcx", "rax", "r10", "16")) };
    (4) => { concat!(product_limbs!(3), product_limb!("rax", "rcx", "r11", "24")) };
    (5) => { concat!(product_limbs!(4), product_limb!("rcx", "rax", "r12", "32")) };
    (6) => { concat!(product_limbs!(5), product_limb!("rax", "rcx", "r13", "40")) };
    (7) => { concat!(product_limbs!(6), product_limb!("rcx", "rax", "r14", "48")) };
    (8) => { concat!(product_limbs!(7), product_limb!("rax", "rcx", "r15", "56")) };
}

/// Returns the text that adds the last upper limb of q̂·d and both carries to the top limb of ¬u.
macro_rules! product_top {
    ($hi:literal, $top:literal) => {
        concat!("mov esi, 0\n", "adcx ", $hi, ", rsi\n", "adox ", $top, ", ", $hi, "\n")
    };
}

/// Returns the text that computes ¬u ← ¬(u − q̂·d), for d of m limbs.
macro_rules! subtract_product {
    (3) => { concat!(product_limbs!(3), product_top!("rcx", "r11")) };
    (4) => { concat!(product_limbs!(4), product_top!("rax", "r12")) };
    (5) => { concat!(product_limbs!(5), product_top!("rcx", "r13")) };
    (6) => { concat!(product_limbs!(6), product_top!("rax", "r14")) };
    (7) => { concat!(product_limbs!(7), product_top!("rcx", "r15")) };
    (8) => { concat!(product_limbs!(8), product_top!("rax", "rbx")) };
}

/// Returns the text that adds a limb of d to a copy of a limb of ¬u. Only the carry is kept.
macro_rules! carry_limb {
    ($add:literal, $limb:literal, $at:literal) => {
        concat!("mov rsi, ", $limb, "\n", $add, " rsi, [rdi + ", $at, "]\n")
    };
}

/// Returns the text of [`carry_limb`] for the lowest limbs, as many as the argument.
macro_rules! carry_limbs {
    (1) => { carry_limb!("add", "r8", "0") };
    (2) => { concat!(carry_limbs!(1), carry_limb!("adc", "r9", "8")) };
    (3) => { concat!(carry_limbs!(2), carry_limb!("adc", "r10", "16")) };
    (4) => { concat!(carry_limbs!(3), carry_limb!("adc", "r11", "24")) };
    (5) => { concat!(carry_limbs!(4), carry_limb!("adc", "r12", "32")) };
    (6) => { concat!(carry_limbs!(5), carry_limb!("adc", "r13", "40")) };
}

/// Returns the text that continues the sum of [`carry_limbs`] for the two top limbs of d, at the
/// addresses `second_at` and `first_at`, and for the top limb of ¬u. If the sum is negative, its
/// limbs replace those of ¬u, q̂ is increased by 1, and `rsi` becomes the address of d; otherwise
/// `rsi` becomes the address of zeros.
macro_rules! choose_top {
    ($second:literal, $second_at:literal, $first:literal, $first_at:literal, $top:literal) => {
        concat!(
            "mov rax, ", $second, "\n",
            "adc rax, [rdi + ", $second_at, "]\n",
            "mov rcx, ", $first, "\n",
            "adc rcx, [rdi + ", $first_at, "]\n",
            "mov rsi, ", $top, "\n",
            "adc rsi, 0\n",
            "cmovs ", $top, ", rsi\n",
            "cmovs ", $first, ", rcx\n",
            "cmovs ", $second, ", rax\n",
            "lea rsi, [rdx + 1]\n",
            "cmovs rdx, rsi\n",
            "lea rsi, [rip + {zeros}]\n",
            "cmovs rsi, rdi\n",
        )
    };
}

/// Returns the text that adds the limbs at the address in `rsi` to the lowest limbs of ¬u, as many
/// as the argument.
macro_rules! add_chosen {
    (1) => { "add r8, [rsi]\n" };
    (2) => { concat!(add_chosen!(1), "adc r9, [rsi + 8]\n") };
    (3) => { concat!(add_chosen!(2), "adc r10, [rsi + 16]\n") };
    (4) => { concat!(add_chosen!(3), "adc r11, [rsi + 24]\n") };
    (5) => { concat!(add_chosen!(4), "adc r12, [rsi + 32]\n") };
    (6) => { concat!(add_chosen!(5), "adc r13, [rsi + 40]\n") };
}

/// Returns the text that computes ¬u ← ¬(u − d) and q̂ ← q̂ + 1 if u ≥ d, for d of m limbs.
macro_rules! subtract_again {
    (3) => {
        concat!(carry_limbs!(1), choose_top!("r9", "8", "r10", "16", "r11"), add_chosen!(1))
    };
    (4) => {
        concat!(carry_limbs!(2), choose_top!("r10", "16", "r11", "24", "r12"), add_chosen!(2))
    };
    (5) => {
        concat!(carry_limbs!(3), choose_top!("r11", "24", "r12", "32", "r13"), add_chosen!(3))
    };
    (6) => {
        concat!(carry_limbs!(4), choose_top!("r12", "32", "r13", "40", "r14"), add_chosen!(4))
    };
    (7) => {
        concat!(carry_limbs!(5), choose_top!("r13", "40", "r14", "48", "r15"), add_chosen!(5))
    };
    (8) => {
        concat!(carry_limbs!(6), choose_top!("r14", "48", "r15", "56", "rbx"), add_chosen!(6))
    };
}
