"""Single natural numbers of any length: products, division, roots, factorials, decimal digits.

>>> import warpint as wp
>>> a = wp.huge.factorial(1000)
>>> digits = wp.huge.to_decimal(a)
>>> len(digits), digits[:10]
(2568, '4023872600')
>>> wp.huge.from_decimal(digits) == a
True

The functions take and return Python ints, which are not negative. Python's own products of numbers of
n bits take n^1.58 steps and its decimal conversions n^2 or n^1.58, those here n·log n, on all threads
or on a GPU. An operand and a result are each copied once or twice, between Python's digits of 30 bits
and limbs; so numbers below about 10^4 bits are faster in Python.

Options of every function, by name:

``device``
    ``"cpu"``, or ``"cuda"``, ``"cuda:1"``: a GPU computes products, divisions and conversions of
    numbers from about 2^19 bits on, whose results the host verifies modulo 2^61 − 1. ``"auto"``
    is a GPU if one works.
``threads``
    The threads of the CPU; one for each logical CPU if None.
``progress``
    A callable that receives a :class:`warpint.Progress`, or ``"tqdm"``; the unit is an estimate of
    work.

Ctrl-C ends a calculation after the current product. Errors: TypeError for an operand that is no int,
ValueError for a negative one, ZeroDivisionError, OverflowError for a result above 2^48 bits,
MemoryError before the start if the memory of the machine is too small, DeviceError.
"""

from __future__ import annotations

from . import _warpint
from ._jobs import Watcher, integer, observing, place

__all__ = [
    "divmod",
    "factorial",
    "from_decimal",
    "gcd",
    "isqrt",
    "mul",
    "pow",
    "primorial",
    "sqr",
    "sqrt_rem",
    "to_decimal",
]

_LIMIT = 2**64 - 1


def _bytes(name: str, value: object) -> bytes:
    number = integer(name, value, 0)
    # Whole limbs are read in place.
    return number.to_bytes(8 * ((number.bit_length() + 63) // 64), "little")


def _calculate(
    calculation: str,
    operands: list[bytes],
    small: int,
    device: str,
    threads: int | None,
    progress: Watcher,
) -> list[bytes]:
    device = place(device)
    threads = None if threads is None else integer("threads", threads, 1, 1024)
    with observing(calculation, "work", progress) as observer:
        return _warpint.huge_calculate(calculation, operands, small, device, threads, observer)


def _number(data: bytes) -> int:
    return int.from_bytes(data, "little")


def mul(
    a: int,
    b: int,
    *,
    device: str = "cpu",
    threads: int | None = None,
    progress: Watcher = None,
) -> int:
    """Return a·b. Cost M(n), the time of a product of n bits.

    >>> import warpint as wp
    >>> wp.huge.mul(2**64, 3)
    55340232221128654848
    """
    if a is b:
        return sqr(a, device=device, threads=threads, progress=progress)
    operands = [_bytes("a", a), _bytes("b", b)]
    return _number(_calculate("mul", operands, 0, device, threads, progress)[0])


def sqr(
    a: int, *, device: str = "cpu", threads: int | None = None, progress: Watcher = None
) -> int:
    """Return a². Cost about two thirds of that of :func:`mul`.

    >>> import warpint as wp
    >>> wp.huge.sqr(10**20)
    10000000000000000000000000000000000000000
    """
    return _number(_calculate("sqr", [_bytes("a", a)], 0, device, threads, progress)[0])


def divmod(
    a: int,
    b: int,
    *,
    device: str = "cpu",
    threads: int | None = None,
    progress: Watcher = None,
) -> tuple[int, int]:
    """Return ⌊a/b⌋ and a mod b. Cost about 3.75·M(n) for a quotient and a divisor of n bits.

    >>> import warpint as wp
    >>> wp.huge.divmod(10**20, 7)
    (14285714285714285714, 2)
    """
    operands = [_bytes("a", a), _bytes("b", b)]
    q, r = _calculate("divmod", operands, 0, device, threads, progress)
    return _number(q), _number(r)


def gcd(
    a: int,
    b: int,
    *,
    device: str = "cpu",
    threads: int | None = None,
    progress: Watcher = None,
) -> int:
    """Return the greatest common divisor, where gcd(a, 0) = a. Cost O(M(n)·log n).

    >>> import warpint as wp
    >>> wp.huge.gcd(2**60 - 1, 2**48 - 1)
    4095
    """
    operands = [_bytes("a", a), _bytes("b", b)]
    return _number(_calculate("gcd", operands, 0, device, threads, progress)[0])


def sqrt_rem(
    a: int, *, device: str = "cpu", threads: int | None = None, progress: Watcher = None
) -> tuple[int, int]:
    """Return s = ⌊√a⌋ and a − s². Cost at most about 3·M(n).

    >>> import warpint as wp
    >>> wp.huge.sqrt_rem(10**41)
    (316227766016837933199, 562477137586013626399)
    """
    s, r = _calculate("sqrt_rem", [_bytes("a", a)], 0, device, threads, progress)
    return _number(s), _number(r)


def isqrt(
    a: int, *, device: str = "cpu", threads: int | None = None, progress: Watcher = None
) -> int:
    """Return ⌊√a⌋: the first result of :func:`sqrt_rem`."""
    return sqrt_rem(a, device=device, threads=threads, progress=progress)[0]


def pow(
    a: int,
    e: int,
    *,
    device: str = "cpu",
    threads: int | None = None,
    progress: Watcher = None,
) -> int:
    """Return a^e for 0 ≤ e < 2^64, where a^0 = 1. Cost about M(n) for a result of n bits.

    >>> import warpint as wp
    >>> wp.huge.pow(3, 50)
    717897987691852588770249
    """
    a, e = integer("a", a, 0), integer("e", e, 0, _LIMIT)
    if a <= 1:
        return a if e else 1
    return _number(_calculate("pow", [_bytes("a", a)], e, device, threads, progress)[0])


def factorial(
    n: int, *, device: str = "cpu", threads: int | None = None, progress: Watcher = None
) -> int:
    """Return n!. Cost O(M(l)·log l) for a result of l bits.

    >>> import warpint as wp
    >>> wp.huge.factorial(25)
    15511210043330985984000000
    """
    n = integer("n", n, 0, _LIMIT)
    return _number(_calculate("factorial", [], n, device, threads, progress)[0])


def primorial(
    n: int, *, device: str = "cpu", threads: int | None = None, progress: Watcher = None
) -> int:
    """Return the product of all primes up to n. Cost O(M(l)·log l) for a result of l bits.

    >>> import warpint as wp
    >>> wp.huge.primorial(30)
    6469693230
    """
    n = integer("n", n, 0, _LIMIT)
    return _number(_calculate("primorial", [], n, device, threads, progress)[0])


def to_decimal(
    a: int, *, device: str = "cpu", threads: int | None = None, progress: Watcher = None
) -> str:
    """Return the decimal digits of a. Cost O(M(n)·log n). Python's limit of digits does not apply.

    >>> import warpint as wp
    >>> wp.huge.to_decimal(2**127 - 1)
    '170141183460469231731687303715884105727'
    """
    digits = _calculate("to_decimal", [_bytes("a", a)], 0, device, threads, progress)[0]
    return digits.decode("ascii")


def from_decimal(
    digits: str | bytes,
    *,
    device: str = "cpu",
    threads: int | None = None,
    progress: Watcher = None,
) -> int:
    """Return the number with these decimal digits. Cost O(M(n)·log n).

    Other characters than the digits 0 to 9 are a ValueError, which names the first of them.

    >>> import warpint as wp
    >>> wp.huge.from_decimal("00123")
    123
    """
    if not isinstance(digits, (str, bytes)):
        raise TypeError(f"digits are a str or bytes, not {type(digits).__name__}")
    text = digits if isinstance(digits, str) else digits.decode("latin-1")
    if not (text.isascii() and text.isdigit()):
        if not text:
            raise ValueError("there are no digits")
        bad = next(i for i, c in enumerate(text) if c not in "0123456789")
        raise ValueError(f"character {bad}, {text[bad]!r}, is not a decimal digit")
    data = text.encode("ascii")
    return _number(_calculate("from_decimal", [data], 0, device, threads, progress)[0])
