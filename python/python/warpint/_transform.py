"""Fourier transforms and convolutions over finite fields."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _warpint
from ._jobs import integer, observing, place

#: The prime 2^64 − 2^32 + 1, the default of transforms.
GOLDILOCKS = 2**64 - 2**32 + 1

_MOST_BITS = 8192
_MASK = 2**64 - 1

Words = NDArray[np.uint64]


def _modulus(modulus: int) -> list[int]:
    p = integer("modulus", modulus, 3)
    if p.bit_length() > _MOST_BITS:
        raise ValueError(
            f"modulus has {p.bit_length()} bits, but at most {_MOST_BITS} are possible"
        )
    return [(p >> shift) & _MASK for shift in range(0, p.bit_length(), 64)]


def _array(name: str, x: Any, words: int) -> Words:
    """Return an array of shape (…, N), or (…, N, words) for moduli of several words."""
    array = np.asarray(x)
    if array.dtype != np.uint64:
        if isinstance(x, np.ndarray) or array.dtype.kind not in "iu":
            raise TypeError(f"{name} has the dtype {array.dtype}, but uint64 is needed")
        if array.size and array.min() < 0:
            raise ValueError(f"element {int(np.argmax(array.ravel() < 0))} of {name} is negative")
        array = array.astype(np.uint64)
    least = 1 if words == 1 else 2
    if array.ndim < least:
        shape = "(…, N)" if words == 1 else f"(…, N, {words})"
        raise ValueError(f"{name} has the shape {array.shape}, but {shape} is needed")
    if words > 1 and array.shape[-1] != words:
        raise ValueError(
            f"{name} has elements of {array.shape[-1]} words, but those of the modulus have {words}"
        )
    return array


def _points(array: Words, words: int) -> int:
    return int(array.shape[-1 if words == 1 else -2])


def _run(what: str, a: Words, b: Words | None, n: int, modulus: list[int], device: str) -> Words:
    device = place(device)
    if a.size == 0:
        if n == 0:
            raise ValueError("a vector has no points")
        return a.copy()
    flat = [None if x is None else np.ascontiguousarray(x).reshape(-1) for x in (a, b)]
    with observing("transform", "point", None) as observer:
        done = _warpint.transform(what, flat[0], flat[1], n, modulus, device, observer)
    return done.reshape(a.shape)


def ntt(x: Words | Iterable[int], modulus: int = GOLDILOCKS, *, device: str = "cpu") -> Words:
    """Return the transform X_k = Σ_j x_j·ω^(jk) mod p of each vector of N points.

    ``x`` is an array of uint64 of shape (…, N), with numbers below the prime p = ``modulus``; the
    result has the same shape, and X_k is at place k. ω is :func:`root_of_unity` (N, p). For a prime
    of w > 1 words of 64 bits the shape is (…, N, w), with the lowest word first, as
    ``wp.array(...).to_numpy(np.uint64)`` makes it for one vector.

    ================================ =========================== ==============================
    prime p                          N                           ``device``
    ================================ =========================== ==============================
    2^64 − 2^32 + 1                  2^k; on a GPU 3·2^k, 5·2^k  ``"cpu"``, ``"cuda"``, ``"auto"``
    2^46 to 2^50                     2^k, 3·2^k, 5·2^k           ``"cpu"``, ``"cuda"``, ``"auto"``
    other odd primes to 2^4096, and  2^k                         ``"cpu"``
    the primes r^k + 1 of the book
    ================================ =========================== ==============================

    N must divide p − 1, and is at most 2^30. Results are exact. Cost: N·log2(N)/2 products.

    >>> import warpint as wp
    >>> wp.ntt([1, 2, 3, 4]).tolist()[:1]
    [10]
    >>> wp.intt(wp.ntt([1, 2, 3, 4])).tolist()
    [1, 2, 3, 4]

    Errors: TypeError for a dtype other than uint64, ValueError for other shapes, for an element that
    is not below p (its index in the flattened array is named), for a p that is no such prime and an N
    without a root of unity, DeviceError.
    """
    words = _modulus(modulus)
    array = _array("x", x, len(words))
    return _run("forward", array, None, _points(array, len(words)), words, device)


def intt(x: Words | Iterable[int], modulus: int = GOLDILOCKS, *, device: str = "cpu") -> Words:
    """Return the inverse transform x_j = 1/N·Σ_k X_k·ω^(−jk) mod p: see :func:`ntt`."""
    words = _modulus(modulus)
    array = _array("x", x, len(words))
    return _run("inverse", array, None, _points(array, len(words)), words, device)


def convolve(
    a: Words | Iterable[int],
    b: Words | Iterable[int],
    modulus: int = GOLDILOCKS,
    mode: Literal["full", "cyclic", "negacyclic"] = "full",
    *,
    device: str = "cpu",
) -> Words:
    """Return the convolutions of the vectors of ``a`` and ``b`` modulo a prime.

    Shapes and primes are those of :func:`ntt`; the leading dimensions of ``a`` and ``b`` are equal.

    * ``full``: c_l = Σ_(i + j = l) a_i·b_j, the coefficients of a product of polynomials. For
      lengths M and N the result has M + N − 1 points. The transforms have the next power of 2.
    * ``cyclic``: c_l = Σ a_i·b_j over i + j ≡ l mod N, a product modulo z^N − 1.
    * ``negacyclic``: a product modulo z^N + 1. It takes a root of unity of order 2N.

    >>> import warpint as wp
    >>> wp.convolve([1, 2, 3], [4, 5]).tolist()
    [4, 13, 22, 15]
    >>> wp.convolve([1, 2], [3, 4], mode="cyclic").tolist()
    [11, 10]
    >>> wp.convolve([1, 2], [3, 4], modulus=97, mode="negacyclic").tolist()
    [92, 10]

    Cost: three transforms.
    """
    if mode not in ("full", "cyclic", "negacyclic"):
        raise ValueError(f"mode is {mode!r}, not 'full', 'cyclic' or 'negacyclic'")
    words = _modulus(modulus)
    x, y = _array("a", a, len(words)), _array("b", b, len(words))
    m, n = _points(x, len(words)), _points(y, len(words))
    axis = -1 if len(words) == 1 else -2
    if x.shape[:axis] != y.shape[:axis] or (mode != "full" and m != n):
        raise ValueError(f"the shapes {x.shape} and {y.shape} do not match")
    if mode != "full":
        return _run(mode, x, y, n, words, device)
    if not (m and n):
        raise ValueError("a vector has no points")
    length = 1 << (m + n - 2).bit_length()

    def padded(z: Words, points: int) -> Words:
        widths = [(0, 0)] * z.ndim
        widths[axis] = (0, length - points)
        return np.pad(z, widths)

    done = _run("cyclic", padded(x, m), padded(y, n), length, words, device)
    return done[..., : m + n - 1] if axis == -1 else done[..., : m + n - 1, :]


def root_of_unity(n: int, modulus: int = GOLDILOCKS) -> int:
    """Return the root of unity of order n that :func:`ntt` uses.

    Roots of different orders are compatible: ω_(mn)^m = ω_n.

    >>> import warpint as wp
    >>> w = wp.root_of_unity(8)
    >>> pow(w, 4, wp.GOLDILOCKS) == wp.GOLDILOCKS - 1
    True
    """
    words = _modulus(modulus)
    root = _warpint.transform_root(integer("n", n, 1, 2**40), words)
    return sum(word << (64 * i) for i, word in enumerate(root))
