"""Joins arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ._array import Array, array


def concatenate(arrays: Sequence[Array]) -> Array:
    """Return the elements of all arrays, one after the other, with the largest of the widths.

    The result is on the device of the arrays, which must be the same. GPU arrays are joined on the
    host. Raises ValueError without arrays.

    >>> import warpint as wp
    >>> wp.concatenate([wp.array([1]), wp.array([2**40])])
    warpint.array([1, 1099511627776], bits=41, device='cpu')
    """
    if not arrays:
        raise ValueError("no arrays to join")
    for k, part in enumerate(arrays):
        if not isinstance(part, Array):
            raise TypeError(f"element {k} is not an array but of type {type(part).__name__}")
        if part.device != arrays[0].device:
            raise ValueError(f"array {k} is on {part.device}, the first on {arrays[0].device}")
    bits = max(part.bits for part in arrays)
    limbs = np.concatenate([part.resize(bits)._batch.limbs() for part in arrays])
    return Array._of(array(limbs, device=arrays[0].device)._batch, bits)
