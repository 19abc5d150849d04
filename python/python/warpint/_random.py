"""Random arrays."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._array import Array, array
from ._convert import checked_bits, limbs_of
from ._operands import operands

Seed = int | np.random.SeedSequence | np.random.BitGenerator | np.random.Generator | None


def _limbs(n: int, bits: int, rng: np.random.Generator) -> NDArray[np.uint32]:
    limbs = rng.integers(0, 1 << 32, size=(n, limbs_of(bits)), dtype=np.uint32)
    limbs[:, -1] >>= np.uint32(-bits % 32)
    return limbs


def random(n: int, bits: int, rng: Seed = None, device: str = "cpu") -> Array:
    """Return n numbers of width ``bits``, uniform from 0 to 2^bits − 1.

    ``rng`` is a ``numpy.random.Generator``, or a seed of ``numpy.random.default_rng``. The same seed
    gives the same numbers on every device. NumPy's generators are not for cryptographic keys.

    >>> import warpint as wp
    >>> a = wp.random(1000, bits=100, rng=1)
    >>> a.bits, a.equals(wp.random(1000, bits=100, rng=1))
    (100, True)
    """
    count, width = index(n), checked_bits(bits)
    if count < 0:
        raise ValueError(f"{count} elements: the count is negative")
    limbs = _limbs(count, width, np.random.default_rng(rng))
    return array(limbs, bits=width, device=device)


def random_below(bound: Any, n: int | None = None, rng: Seed = None) -> Array:
    """Return numbers that are uniform from 0 to bound − 1, of the width of the bound.

    ``bound`` is an int or an array. ``n`` is the count of the numbers: by default one for each
    element of ``bound``. The numbers are on the device of ``bound``. A number is drawn again until
    it is below its bound, less than twice on average where the bound has the full width.

    Raises ValueError with the index of the first bound that is 0.

    >>> import warpint as wp
    >>> sorted(set(wp.random_below(3, n=100, rng=1).tolist()))
    [0, 1, 2]
    """
    (limit,) = operands(bound)
    zeros = np.asarray(limit == 0)
    if zeros.any():
        raise ValueError(f"bound {int(zeros.argmax())} is 0: no number is below it")
    count = len(limit) if n is None else index(n)
    if count < 0 or len(limit) not in (1, count):
        raise ValueError(f"{count} elements for {len(limit)} bounds")
    generator = np.random.default_rng(rng)
    lengths = limit.bit_length()
    limits = limit.to("cpu")._batch.limbs()
    rows = np.zeros(count, dtype=np.intp) if len(limit) == 1 else np.arange(count)
    result = np.zeros((count, limits.shape[1]), dtype=np.uint32)
    left = np.arange(count)
    # The bits of each 32-bit limb that its bound can have.
    high = np.clip(lengths.astype(np.int64)[:, None] - 32 * np.arange(limits.shape[1]), 0, 32)
    mask = ((np.uint64(1) << high.astype(np.uint64)) - np.uint64(1)).astype(np.uint32)
    while len(left):
        drawn = _limbs(len(left), 32 * limits.shape[1], generator) & mask[rows[left]]
        fits = array(drawn) < array(limits[rows[left]])
        result[left[fits]] = drawn[fits]
        left = left[~fits]
    return Array._of(array(result, device=limit.device)._batch, limit.bits)
