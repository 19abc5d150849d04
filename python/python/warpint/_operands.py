"""Operands of functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._array import Array, array
from ._masked import Masked


def is_int(value: Any) -> bool:
    """Return whether an operand is a single integer: an int, an mpz, a NumPy integer."""
    return not isinstance(value, (Array, list, tuple, np.ndarray)) and hasattr(value, "__index__")


def operands(*values: Any, first: int = 0) -> list[Array]:
    """Return arrays of the operands, on the device of the first that is an array, else on the CPU.

    An operand is an array, an int, a list or a NumPy array of numbers. Raises ValueError if two of
    them do not fit together: other lengths than 1 differ, or devices. Errors count operands from
    ``first``.
    """
    like = next((value for value in values if isinstance(value, Array)), None)
    device = "cpu" if like is None else like.device
    found = []
    for k, value in enumerate(values, first):
        if isinstance(value, Masked):
            raise TypeError(f"operand {k} is masked: use unwrap() or fill() first")
        found.append(value if isinstance(value, Array) else array(value, device=device))
    longest = max(found, key=lambda operand: (len(operand) != 1, len(operand)))
    for operand in found:
        longest._pair(operand)
    return found
