//! Combines many steps of Euclid's algorithm into one matrix whose entries are single limbs. The
//! steps are found from the leading 128 bits of both numbers (Lehmer 1938, *Euclid's algorithm for
//! large numbers*, American Mathematical Monthly 45, 227–233).
//!
//! A step subtracts a multiple of the smaller number from the larger one. Steps are valid for the
//! whole numbers as long as neither leading part falls below a bound (Möller 2008, *On Schönhage's
//! algorithm and subquadratic integer gcd computation*, Mathematics of Computation 77, 589–607,
//! §3). No step has to be undone. This criterion is simpler than the conditions of Collins and of
//! Jebelean (1995, *A double-digit Lehmer–Euclid algorithm for finding the GCD of long integers*,
//! Journal of Symbolic Computation 19, 145–157), which concern cofactors of both signs.

/// A matrix M by rows, with non-negative entries below 2^63 and determinant 1. It describes steps
/// from a pair (a; b) to (a'; b') with (a; b) = M·(a'; b'), where pairs are column vectors.
pub(super) type Small = [[u64; 2]; 2];

/// A receiver of the quotients of Euclid's algorithm, in the order of the steps.
pub(super) trait Quotients {
    /// Receives the quotient of a step a ← a − q·b.
    fn reduce_a(&mut self, q: u64);

    /// Receives the quotient of a step b ← b − q·a.
    fn reduce_b(&mut self, q: u64);
}

/// Ignores the quotients, for computations that do not need them.
impl Quotients for () {
    #[inline(always)]
    fn reduce_a(&mut self, _: u64) {}

    #[inline(always)]
    fn reduce_b(&mut self, _: u64) {}
}

/// Executes steps of Euclid's algorithm on A = `a` and B = `b`. If `whole` is true, A and B are the
/// numbers themselves. Otherwise they are the leading parts of two longer numbers: 128 bits at the
/// same position of both, with only zero bits above. Returns the matrix M of the steps, or `None`
/// if no step is possible.
///
/// A and B stay at or above a floor. The floor is 2^65 for leading parts, and the least integer
/// above max(A, B)/2^63 for whole numbers. Every entry m of M satisfies m·floor ≤ max(A, B), so
/// m < 2^63.
///
/// Let A and B be the leading parts of x = 2^k·A + x0 and y = 2^k·B + y0 with x0, y0 < 2^k. Let A'
/// and B' be the leading parts after the steps, which are at least 2^65. Both components of
/// M^(−1)·(x; y) differ from those of 2^k·(A'; B') by less than 2^k·2^63. So both numbers stay
/// positive.
///
/// In the same way, most steps are found from the leading 64 bits of A and B ([`round`]). About two
/// rounds are enough.
pub(super) fn steps(
    mut a: u128,
    mut b: u128,
    whole: bool,
    quotients: &mut impl Quotients,
) -> Option<Small> {
    let floor = if whole { (a.max(b) >> 63) + 1 } else { 1 << 65 };
    if a < floor || b < floor {
        return None;
    }
    let mut m = [[1, 0], [0, 1]];
    let mut moved = false;
    loop {
        if let Some(more) = round(a, b, floor, quotients) {
            let [[n00, n01], [n10, n11]] = more;
            (a, b) = inverse_times(&more, a, b);
            let row = |[x, y]: [u64; 2]| [x * n00 + y * n10, x * n01 + y * n11];
            m = [row(m[0]), row(m[1])];
            moved = true;
            // Both numbers are below 64 times the floor, so another round would find few steps.
            if (a | b) >> 6 < floor {
                break;
            }
        } else if a >= b {
            let Some((q, rest)) = step(a, b, floor) else { break };
            a = rest;
            m[0][1] += q * m[0][0];
            m[1][1] += q * m[1][0];
            quotients.reduce_a(q);
            moved = true;
        } else {
            let Some((q, rest)) = step(b, a, floor) else { break };
            b = rest;
            m[0][0] += q * m[0][1];
            m[1][0] += q * m[1][1];
            quotients.reduce_b(q);
            moved = true;
        }
    }
    moved.then_some(m)
}

/// Finds steps on A = `a` and B = `b` from the leading 64 bits of both. Returns the matrix of the
/// steps, or `None` if none is found. A and B stay at or above `floor`, which is at least 1.
///
/// Let a = 2^s·a' + a0 and b = 2^s·b' + b0, where a0, b0 < 2^s and a', b' < 2^64. Steps on a' and
/// b' are executed as long as both numbers stay at or above a number f. If s = 0, f is `floor`, and
/// nothing is rounded. Otherwise f is at least 2^33, so the entries m of the matrix, which satisfy
/// m·f ≤ max(a', b'), are below 2^31. The steps change the lower parts to numbers above −2^(s+31).
/// As 2^s·f ≥ `floor` + 2^(s+31), both numbers stay at or above `floor`.
#[inline(always)]
fn round(a: u128, b: u128, floor: u128, quotients: &mut impl Quotients) -> Option<Small> {
    let s = 64u32.saturating_sub((a | b).leading_zeros());
    let (mut a, mut b) = ((a >> s) as u64, (b >> s) as u64);
    let f = match s {
        0 => floor as u64,
        _ => {
            // If this exceeds 64 bits, no step is possible.
            let above = ((floor - 1) >> s) + 1 + (1 << 31);
            u64::try_from(above).ok()?.max(1 << 33)
        }
    };
    if a < f || b < f {
        return None;
    }
    let mut m = [[1, 0], [0, 1]];
    let mut of_a = a >= b;
    let mut moved = false;
    loop {
        if of_a {
            let (q, rest) = (a / b, a % b);
            if rest < f {
                let q = (a - f) / b;
                if q > 0 {
                    m[0][1] += q * m[0][0];
                    m[1][1] += q * m[1][0];
                    quotients.reduce_a(q);
                    moved = true;
                }
                break;
            }
            a = rest;
            m[0][1] += q * m[0][0];
            m[1][1] += q * m[1][0];
            quotients.reduce_a(q);
            moved = true;
        }
        of_a = true;
        let (q, rest) = (b / a, b % a);
        if rest < f {
            let q = (b - f) / a;
            if q > 0 {
                m[0][0] += q * m[0][1];
                m[1][0] += q * m[1][1];
                quotients.reduce_b(q);
                moved = true;
            }
            break;
        }
        b = rest;
        m[0][0] += q * m[0][1];
        m[1][0] += q * m[1][1];
        quotients.reduce_b(q);
        moved = true;
    }
    moved.then_some(m)
}

/// Returns a number q ≥ 1 with x − q·y ≥ `floor`, and the difference x − q·y. q is not always the
/// largest number with this property, because a smaller one can be cheaper to compute. Returns
/// `None` if there is no such q. Requires x ≥ y ≥ `floor`.
#[inline(always)]
fn step(x: u128, y: u128, floor: u128) -> Option<(u64, u128)> {
    let difference = x - y;
    if difference < floor {
        return None;
    }
    if difference < y {
        return Some((1, difference));
    }
    let twice = difference - y;
    if twice < y {
        return Some(if twice < floor { (1, difference) } else { (2, twice) });
    }
    let (high, below) = ((twice >> 64) as u64, (y >> 64) as u64);
    // `more` is at most ⌊twice/y⌋, which is below 2^63. If it is smaller, even 0, `rest` is y or
    // more.
    let more = match below.checked_add(1) {
        Some(above) if below != 0 => high / above,
        _ => (twice / y) as u64,
    };
    let rest = twice - u128::from(more) * y;
    Some(if rest < floor { (more + 1, rest + y) } else { (more + 2, rest) })
}

/// Computes (a; b) ← M^(−1)·(a; b) for the matrix M = `m`, and a and b of equal length. The new a
/// and b must be non-negative and fit in the length of the old ones; this is not checked.
pub(super) fn apply_inverse(m: &Small, a: &mut [u64], b: &mut [u64]) {
    let [[m00, m01], [m10, m11]] = *m;
    let product = |x: u64, y: u64| u128::from(x) * u128::from(y);
    // −m·y ≡ m·¬y + m mod 2^(64·n), so every term is positive.
    let (mut carry_a, mut carry_b) = (m01, m10);
    for (a, b) in a.iter_mut().zip(b) {
        let (x, y) = (*a, *b);
        // Two products of at most (2^63 − 1)(2^64 − 1) and a carry below 2^64.
        let s = product(m11, x) + product(m01, !y) + u128::from(carry_a);
        let t = product(m00, y) + product(m10, !x) + u128::from(carry_b);
        (*a, *b) = (s as u64, t as u64);
        (carry_a, carry_b) = ((s >> 64) as u64, (t >> 64) as u64);
    }
    debug_assert!(carry_a == m01 && carry_b == m10, "a step went below zero");
}

/// Computes (x, y) ← (x, y)·M for the matrix M = `m`, and x and y of equal length. Returns the limb
/// carried out of x and the limb carried out of y.
pub(super) fn apply_right(m: &Small, x: &mut [u64], y: &mut [u64]) -> [u64; 2] {
    let [[m00, m01], [m10, m11]] = *m;
    let product = |x: u64, y: u64| u128::from(x) * u128::from(y);
    let (mut carry_x, mut carry_y) = (0u128, 0u128);
    for (x, y) in x.iter_mut().zip(y) {
        let (u, v) = (*x, *y);
        // Two products of at most (2^63 − 1)(2^64 − 1) and a carry below 2^64.
        let s = product(u, m00) + product(v, m10) + carry_x;
        let t = product(u, m01) + product(v, m11) + carry_y;
        (*x, *y) = (s as u64, t as u64);
        (carry_x, carry_y) = (s >> 64, t >> 64);
    }
    [carry_x as u64, carry_y as u64]
}

/// Returns gcd(a, b) for positive a and b. Numbers of two limbs are first reduced by Euclid's
/// algorithm to little more than one limb. The method for the rest is shifts and subtractions
/// (Stein 1967, *Computational problems associated with Racah algebra*, Journal of Computational
/// Physics 1, 397–405).
pub(super) fn gcd_128(mut a: u128, mut b: u128) -> u128 {
    if a.min(b) >> 64 != 0
        && let Some(m) = steps(a, b, true, &mut ())
    {
        (a, b) = inverse_times(&m, a, b);
    }
    let shift = (a | b).trailing_zeros();
    (a, b) = (a >> a.trailing_zeros(), b >> b.trailing_zeros());
    // Both are odd.
    while (a | b) >> 64 != 0 {
        if a == b {
            return a << shift;
        }
        let (large, small) = if a > b { (a, b) } else { (b, a) };
        let difference = large - small;
        (a, b) = (small, difference >> difference.trailing_zeros());
    }
    u128::from(gcd_of_odd(a as u64, b as u64)) << shift
}

/// Returns gcd(a, b) for positive a and b, by shifts and subtractions (Stein 1967).
#[inline]
pub(super) fn gcd_64(a: u64, b: u64) -> u64 {
    gcd_of_odd(a >> a.trailing_zeros(), b >> b.trailing_zeros()) << (a | b).trailing_zeros()
}

/// Returns gcd(a, b) for odd a and b.
#[inline]
fn gcd_of_odd(mut a: u64, mut b: u64) -> u64 {
    loop {
        let (difference, is_negative) = a.overflowing_sub(b);
        if difference == 0 {
            return a;
        }
        // a − b mod 2^64 has as many trailing zeros as |a − b|, and is known earlier. With masks,
        // no comparison is between the difference and its absolute value.
        let mask = u64::from(is_negative).wrapping_neg();
        b = b.wrapping_add(difference & mask);
        a = (difference ^ mask).wrapping_sub(mask) >> difference.trailing_zeros();
    }
}

/// Returns M^(−1)·(a; b) mod 2^128 for the matrix M = `m`.
#[inline(always)]
fn inverse_times(m: &Small, a: u128, b: u128) -> (u128, u128) {
    let times = |x: u128, n: u64| x.wrapping_mul(u128::from(n));
    (
        times(a, m[1][1]).wrapping_sub(times(b, m[0][1])),
        times(b, m[0][0]).wrapping_sub(times(a, m[1][0])),
    )
}
