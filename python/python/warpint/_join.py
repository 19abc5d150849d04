"""Joins arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import overload

import numpy as np

from ._array import Array, array
from ._masked import Masked, joint_reason


@overload
def concatenate(arrays: Iterable[Array]) -> Array: ...
@overload
def concatenate(arrays: Iterable[Masked]) -> Masked: ...
@overload
def concatenate(arrays: Iterable[Array | Masked]) -> Array | Masked: ...
def concatenate(arrays: Iterable[Array | Masked]) -> Array | Masked:
    """Return the elements of all arrays, one after the other, with the largest of the widths.

    The result is on the device of the arrays, which must be the same. GPU arrays are joined on the
    host. If one of the arrays is masked, the result is masked. Raises ValueError without arrays, and
    TypeError for a single array that is in no list.

    >>> import warpint as wp
    >>> wp.concatenate([wp.array([1]), wp.array([2**40])])
    warpint.array([1, 1099511627776], bits=41, device='cpu')
    >>> wp.concatenate([wp.array([1]), wp.array([5, 3]) - wp.array([2, 4])])
    warpint.Masked([1, 3, --], bits=3, device='cpu')
    """
    if isinstance(arrays, (Array, Masked)) or not hasattr(arrays, "__iter__"):
        raise TypeError(f"a list of arrays is needed, not {type(arrays).__name__}")
    parts = list(arrays)
    if not parts:
        raise ValueError("no arrays to join")
    for k, part in enumerate(parts):
        if not isinstance(part, (Array, Masked)):
            raise TypeError(f"element {k} is not an array but of type {type(part).__name__}")
        if part.device != parts[0].device:
            raise ValueError(f"array {k} is on {part.device}, the first on {parts[0].device}")
    bits = max(part.bits for part in parts)
    values = [part.values if isinstance(part, Masked) else part for part in parts]
    limbs = np.concatenate([part.resize(bits)._batch.limbs() for part in values])
    joined = Array._of(array(limbs, device=parts[0].device)._batch, bits)
    masked = [part for part in parts if isinstance(part, Masked)]
    if not masked:
        return joined
    masks = [
        part.mask if isinstance(part, Masked) else np.zeros(len(part), np.bool_) for part in parts
    ]
    return Masked._of(joined, np.concatenate(masks), joint_reason(masked))
