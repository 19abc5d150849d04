"""Conversions from Python objects to batches of limbs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._warpint import Batch

#: The largest width in bits.
MAX_BITS = 1 << 21


def checked_bits(bits: Any) -> int:
    """Return ``bits`` as a width. Raises TypeError, ValueError (below 1) or OverflowError."""
    try:
        width = index(bits)
    except TypeError:
        raise TypeError(f"a width in bits is an int, not {type(bits).__name__}") from None
    if width < 1:
        raise ValueError(f"a width must be at least 1 bit, not {width}")
    if width > MAX_BITS:
        raise OverflowError(f"a width of {width} bits: at most {MAX_BITS} are supported")
    return width


def limbs_of(bits: int) -> int:
    """Return the count of 32-bit limbs of a number of ``bits`` bits."""
    return -(-bits // 32)


def refuse_numpy_mask(x: Any) -> None:
    """Raise TypeError for a masked array of NumPy, whose mask would be lost."""
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError("a masked array of NumPy has no numbers where it is masked: use filled()")


def integers(values: Iterable[Any]) -> list[int]:
    """Return the values as ints. Raises TypeError with the index of the first that is no integer."""
    values = list(values)
    try:
        return list(map(index, values))
    except TypeError:
        for i, value in enumerate(values):
            if not hasattr(type(value), "__index__"):
                kind = type(value).__name__
                raise TypeError(f"element {i} is not an integer but of type {kind}") from None
        raise


def from_integers(values: Sequence[int], bits: int | None, device: str) -> tuple[Batch, int]:
    """Return a batch of the values, and its width: ``bits``, or the least one that holds them.

    Raises OverflowError with the index of the first value that is negative or too wide.
    """
    if values and min(values) < 0:
        i = next(i for i, value in enumerate(values) if value < 0)
        raise OverflowError(f"element {i} is negative; elements must be natural numbers")
    longest = max(values).bit_length() if values else 0
    if bits is None:
        bits = checked_bits(max(longest, 1))
    elif longest > bits:
        i = next(i for i, value in enumerate(values) if value.bit_length() > bits)
        length = values[i].bit_length()
        raise OverflowError(f"element {i} has {length} bits, but the width is {bits} bits")
    limbs = limbs_of(bits)
    size = 4 * limbs
    data = b"".join([value.to_bytes(size, "little") for value in values])
    return Batch.from_bytes(data, 32 * limbs, device), bits


def from_limbs(limbs: NDArray[Any], device: str) -> tuple[Batch, int]:
    """Return a batch of the numbers whose limbs are the rows of a matrix, and its width.

    Raises TypeError unless the elements are uint32 or uint64 in the machine's byte order, and
    ValueError for other shapes and for matrices that are not C-contiguous.
    """
    if limbs.dtype not in (np.dtype(np.uint32), np.dtype(np.uint64)):
        raise TypeError(f"limbs must be of dtype uint32 or uint64, not {limbs.dtype}")
    if limbs.ndim != 2 or limbs.shape[1] == 0:
        raise ValueError(f"limbs must have the shape (n, limbs), not {limbs.shape}")
    if not limbs.flags.c_contiguous:
        raise ValueError("the limbs are not C-contiguous: use numpy.ascontiguousarray")
    bits = checked_bits(8 * limbs.dtype.itemsize * limbs.shape[1])
    return Batch.from_limbs(np.require(limbs, requirements="A").view(np.uint32), device), bits


def to_integers(limbs: NDArray[np.uint32]) -> list[int]:
    """Return the numbers whose limbs are the rows of a matrix."""
    count, width = limbs.shape
    if width == 1:
        return list(limbs[:, 0].tolist())
    size, data = 4 * width, memoryview(np.ascontiguousarray(limbs).tobytes())
    return [int.from_bytes(data[i : i + size], "little") for i in range(0, count * size, size)]
