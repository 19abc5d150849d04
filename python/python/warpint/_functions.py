"""Functions on arrays: number theory, roots and primes."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd as int_gcd
from operator import index
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._array import Array, array
from ._convert import checked_bits
from ._masked import Masked, merged
from ._modulus import Modulus
from ._operands import is_int, operands


def gcd(a: Any, b: Any) -> Array:
    """Return the greatest common divisors. gcd(a, 0) is a.

    The width is that of the wider operand. Costs O(n²) for n limbs, less for long numbers.

    >>> import warpint as wp
    >>> wp.gcd(wp.array([12, 0, 7]), 18).tolist()
    [6, 18, 1]
    """
    x, y = operands(a, b)
    return Array._of(x._batch.gcd(y._batch), max(x.bits, y.bits))


def lcm(a: Any, b: Any) -> Array:
    """Return the least common multiples. lcm(a, 0) is 0. The width is the sum of the widths.

    >>> import warpint as wp
    >>> wp.lcm(wp.array([4, 0, 7]), 6).tolist()
    [12, 0, 42]
    """
    x, y = operands(a, b)
    # The quotient is 0 where a = b = 0, and so is the result.
    quotient, _ = x._batch.div(x._batch.gcd(y._batch))
    return Array._of(quotient.mul(y._batch), checked_bits(x.bits + y.bits))


class GcdExt(NamedTuple):
    """Greatest common divisors g with cofactors x and y: g = x·a + y·b.

    The cofactors are given by their absolute values and signs.
    """

    gcd: Array
    x: Array
    x_negative: NDArray[np.bool_]
    y: Array
    y_negative: NDArray[np.bool_]

    def tolist(self) -> list[tuple[int, int, int]]:
        """Return (g, x, y) for each pair of operands, with signs."""

        def signed(values: Array, negative: NDArray[np.bool_]) -> list[int]:
            pairs = zip(values.tolist(), negative.tolist(), strict=True)
            return [-value if minus else value for value, minus in pairs]

        xs, ys = signed(self.x, self.x_negative), signed(self.y, self.y_negative)
        return list(zip(self.gcd.tolist(), xs, ys, strict=True))


def gcdext(a: Any, b: Any) -> GcdExt:
    """Return g = gcd(a, b) and cofactors x and y with x·a + y·b = g and |x| ≤ max(1, b/(2g)).

    For b = 0, x = 1 and y = 0; if a = 0 too, then x = 0.

    >>> import warpint as wp
    >>> wp.gcdext(wp.array([240, 5]), wp.array([46, 0])).tolist()
    [(2, -9, 47), (5, 1, 0)]
    """
    p, q = operands(a, b)
    g, x, x_negative, y, y_negative = p._batch.gcd_ext(q._batch)
    return GcdExt(
        Array._of(g, max(p.bits, q.bits)),
        Array._of(x, q.bits),
        x_negative.to_numpy(),
        Array._of(y, p.bits),
        y_negative.to_numpy(),
    )


def invert(a: Any, m: Any) -> Masked:
    """Return the inverses x of a modulo m: a·x ≡ 1 mod m and 0 ≤ x < m, with the width of m.

    Masked where gcd(a, m) > 1 or m = 0. Modulo 1 the inverse is 0.

    >>> import warpint as wp
    >>> wp.invert(wp.array([3, 2]), 10).tolist()
    [7, None]
    """
    if isinstance(m, Modulus):
        return m.invert(a)
    x, y = operands(a, m)
    values, flags = x._batch.mod_inv(y._batch)
    return Masked._of(Array._of(values, y.bits), flags, "no inverse")


def powmod(a: Any, e: Any, m: Any) -> Array | Masked:
    """Return a^e mod m, with the width of m. The same as ``pow(a, e, m)`` for an array a.

    ``m`` is a :class:`Modulus`, an int or an array. An array of moduli gives a masked result, with
    the elements masked where m = 0; an int 0 raises ZeroDivisionError. A negative int e gives powers
    of the inverse, masked where there is none. 0^0 is 1 mod m.

    >>> import warpint as wp
    >>> pow(wp.array([2, 3]), 10, 1000).tolist()
    [24, 49]
    >>> wp.powmod(2, wp.array([10, 11]), wp.array([1000, 0])).tolist()
    [24, None]
    """
    if is_int(e) and index(e) < 0:
        inverse = invert(a, m)
        return merged(powmod(inverse.values, -index(e), m), inverse)
    if isinstance(m, Modulus):
        return m.pow(a, e)
    if is_int(m) and index(m) == 0:
        raise ZeroDivisionError("the modulus is zero")
    x, y, z = operands(a, e, m)
    y._pair(z)
    values, flags = x._batch.pow_mod(y._batch, z._batch)
    power = Array._of(values, z.bits)
    return power if is_int(m) else Masked._of(power, flags, "the modulus is zero")


def isqrt(a: Any) -> Array:
    """Return ⌊√a⌋, of half the width.

    >>> import warpint as wp
    >>> wp.isqrt(wp.array([15, 16])).tolist()
    [3, 4]
    """
    (x,) = operands(a)
    return Array._of(x._batch.sqrt_rem()[0], -(-x.bits // 2))


def isqrt_rem(a: Any) -> tuple[Array, Array]:
    """Return s = ⌊√a⌋ and the remainder a − s² ≤ 2s.

    >>> import warpint as wp
    >>> [x.tolist() for x in wp.isqrt_rem(wp.array([15, 16]))]
    [[3, 4], [6, 0]]
    """
    (x,) = operands(a)
    root, rem = x._batch.sqrt_rem()
    half = -(-x.bits // 2)
    return Array._of(root, half), Array._of(rem, half + 1)


def iroot(a: Any, k: int) -> Array:
    """Return ⌊a^(1/k)⌋ for an int k ≥ 1, of the width ⌈bits/k⌉.

    A GPU computes square roots; the CPU computes other roots of GPU arrays.

    >>> import warpint as wp
    >>> wp.iroot(wp.array([26, 27]), 3).tolist()
    [2, 3]
    """
    (x,) = operands(a)
    degree = index(k)
    if degree < 1:
        raise ValueError(f"the degree of a root must be at least 1, not {degree}")
    # From the width on, all roots are 0 or 1.
    degree = min(degree, x.bits)
    on = x if degree <= 2 else x.to("cpu")
    root = on._batch if degree == 1 else on._batch.root(degree)
    return Array._of(root, -(-x.bits // degree)).to(x.device)


def minimum(a: Any, b: Any) -> Array:
    """Return the smaller number of each pair, of the width of the wider operand."""
    x, y = operands(a, b)
    return Array._of(x._batch.min(y._batch), max(x.bits, y.bits))


def maximum(a: Any, b: Any) -> Array:
    """Return the larger number of each pair, of the width of the wider operand."""
    x, y = operands(a, b)
    return Array._of(x._batch.max(y._batch), max(x.bits, y.bits))


def is_probable_prime(a: Any, bases: Sequence[int] | None = None) -> NDArray[np.bool_]:
    """Return whether each number is a probable prime.

    By default, this is the Baillie–PSW test: no composite number is known that passes, and there is
    none below 2^64. With ``bases``, ints from 2 to 2^32 − 1, these are the strong tests
    (Miller–Rabin) to these bases. All primes pass. Costs about a power with an exponent of the
    width of the numbers.

    >>> import warpint as wp
    >>> wp.is_probable_prime(wp.array([1, 2, 2**127 - 1, 2**127 + 1])).tolist()
    [False, True, True, False]
    """
    (x,) = operands(a)
    if bases is None:
        return x._batch.is_probable_prime()
    chosen = [index(base) for base in bases]
    if not chosen:
        raise ValueError("no bases: give at least one, or None for the Baillie–PSW test")
    for base in chosen:
        if not 2 <= base < 1 << 32:
            raise ValueError(f"base {base}: a base of a strong test is from 2 to 2^32 − 1")
    return x._batch.is_probable_prime(chosen)


def next_prime(a: Any) -> Array:
    """Return the least probable prime above each number, wider by one bit.

    Tests the odd numbers in order by :func:`is_probable_prime`, about (ln a)/2 of them on average.
    The host chooses the candidates.

    >>> import warpint as wp
    >>> wp.next_prime(wp.array([0, 7, 2**61 - 1])).tolist()
    [2, 11, 2305843009213693967]
    """
    (x,) = operands(a)
    # The only even prime follows 0 and 1.
    part = Masked._of((x + 1) | 1, x < 2, "even").fill(2)
    bits, limbs, left = part.bits, part._batch.limbs().copy(), np.arange(len(x))
    while len(left):
        found = is_probable_prime(part)
        limbs[left[found]] = part[found]._batch.limbs()
        left, part = left[~found], part[~found] + 2
        # There is a prime between n and 2n.
        part = Array._of(part._batch, bits)
    return Array._of(array(limbs, device=x.device)._batch, bits)


def crt(residues: Sequence[Any], moduli: Sequence[Any]) -> Array | Masked:
    """Return the x with x ≡ r_k mod m_k for all k and 0 ≤ x < Π m_k (Garner's algorithm).

    ``residues`` and ``moduli`` are sequences of the same length, of arrays or ints. The moduli must
    be pairwise coprime: ints that are not raise ValueError. If one of the moduli is an array, the
    result is masked where moduli are not coprime or are 0. The width is the sum of the widths of
    the moduli.

    >>> import warpint as wp
    >>> wp.crt([wp.array([2, 0]), wp.array([3, 1])], [3, 5]).tolist()
    [8, 6]
    """
    if len(residues) != len(moduli) or not moduli:
        counts = f"{len(residues)} residues and {len(moduli)} moduli"
        raise ValueError(f"{counts}: as many of one as of the other are needed, at least one")
    all_ints = all(map(is_int, moduli))
    if all_ints:
        _check_coprime([index(m) for m in moduli])
    parts = operands(*residues, *moduli)
    remainders, divisors = parts[: len(moduli)], parts[len(moduli) :]
    x, product = remainders[0] % divisors[0], divisors[0]
    for r, m in zip(remainders[1:], divisors[1:], strict=True):
        # x + product·t ≡ r mod m
        difference = r % m + m - x % m
        t = difference * invert(product, m) % m
        bits = checked_bits(product.bits + m.bits)
        following = t * product + x
        product = product * m
        # Less than the product, also where it is masked.
        x = Masked._of(Array._of(following.values._batch, bits), following.mask, "")
    if all_ints:
        return x.values
    return Masked._of(x.values, x.mask, "moduli that are zero or not coprime")


def _check_coprime(moduli: list[int]) -> None:
    for k, m in enumerate(moduli):
        if m == 0:
            raise ZeroDivisionError(f"modulus {k} is zero")
        for j in range(k):
            if int_gcd(moduli[j], m) != 1:
                raise ValueError(f"the moduli {j} and {k} are not coprime")
