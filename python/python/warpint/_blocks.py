"""Batch operations on blocks of arrays: the operands are cut, the results are joined."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial
from operator import index
from typing import Any

import numpy as np

from ._array import Array, array
from ._cluster import ATTEMPTS, Calls, Open, Reports
from ._jobs import Watcher, integer, observing
from ._join import concatenate
from ._masked import Masked

#: By default a block has this share of the elements that are left for a worker, and at least that
#: share of all elements for a worker, so that all workers end at about the same time.
_SHARE, _LEAST_SHARE = 3, 64

#: The operands of a block have at most this size by default.
_BLOCK_BYTES = 64 << 20

_DEVICES = ("cpu", "cuda", "sim")


def map_blocks(
    open_engine: Open,
    function: Callable[..., Any],
    operands: tuple[Any, ...],
    *,
    block: int | None = None,
    device: str = "cpu",
    attempts: int = ATTEMPTS,
    progress: Watcher = None,
) -> Any:
    """Apply a function to blocks of the operands on the workers of an engine: see
    :func:`warpint.ray.map`.
    """
    if not callable(function):
        raise TypeError(f"the function is not callable but of type {type(function).__name__}")
    found, length = prepared(operands)
    size = None if block is None else integer("block", block, 1)
    device = checked_device(device)
    attempts = integer("attempts", attempts, 1)
    called = partial(apply, function, device)
    with observing("map", "number", progress) as observer, closing(open_engine(called)) as engine:
        bounds = cut(length, size) if size else default_cut(found, length, engine.count)

        def arguments(k: int) -> tuple[Any, ...]:
            start, stop = bounds[k]
            return tuple(_part(operand, length, start, stop) for operand in found)

        results: list[Any] = [None] * len(bounds)
        reports = Reports(observer, length)
        calls = Calls(bounds, arguments, "elements", attempts)
        for k, result in calls.results(engine, observer):
            results[k] = _owned(result)
            reports.add(bounds[k][1] - bounds[k][0])
    return join(results)


def checked_device(device: str) -> str:
    """Return the device of a worker. Raises TypeError or ValueError for others."""
    if not isinstance(device, str):
        raise TypeError(f"a device is named by a string, not by {type(device).__name__}")
    if device not in _DEVICES:
        raise ValueError(f"{device!r} is not a device of a worker: use 'cpu' or 'cuda'")
    return device


def prepared(operands: tuple[Any, ...]) -> tuple[list[Any], int]:
    """Return the operands as arrays, masked arrays and ints, and the number of elements.

    Raises TypeError for others, with the number of the operand, and ValueError if lengths other than
    1 differ.
    """
    found: list[Any] = []
    for k, operand in enumerate(operands):
        if isinstance(operand, (Array, Masked)):
            found.append(operand)
        elif isinstance(operand, (list, tuple, np.ndarray)) and np.ndim(operand) > 0:
            found.append(array(operand))
        elif hasattr(type(operand), "__index__") and not isinstance(operand, bool):
            found.append(index(operand))
        else:
            kind = type(operand).__name__
            raise TypeError(f"operand {k} is not an array, a list or an int but of type {kind}")
    lengths = [len(operand) for operand in found if not isinstance(operand, int)]
    if not lengths:
        raise TypeError("none of the operands is an array")
    length = next((n for n in lengths if n != 1), 1)
    for n in lengths:
        if n not in (1, length):
            raise ValueError(f"shapes ({length},) and ({n},) do not fit together")
    return found, length


def cut(length: int, block: int) -> list[tuple[int, int]]:
    """Return the bounds of the blocks. If there are no elements, there is one empty block."""
    starts = range(0, max(length, 1), block)
    return [(start, min(start + block, length)) for start in starts]


def default_cut(operands: list[Any], length: int, workers: int) -> list[tuple[int, int]]:
    """Return the bounds of blocks that get smaller, and whose operands do not exceed a size."""
    values = [x.values if isinstance(x, Masked) else x for x in operands if not isinstance(x, int)]
    row = sum(x.nbytes // len(x) for x in values if len(x) > 1)
    most = max(1, _BLOCK_BYTES // max(row, 1))
    least = -(-length // (_LEAST_SHARE * workers))
    bounds: list[tuple[int, int]] = []
    start = 0
    while start < length or not bounds:
        block = max(least, -(-(length - start) // (_SHARE * workers)))
        stop = min(start + min(block, most), length)
        bounds.append((start, stop))
        start = stop
    return bounds


def _part(operand: Any, length: int, start: int, stop: int) -> Any:
    if isinstance(operand, int) or len(operand) != length:
        return operand
    return operand[start:stop]


def apply(function: Callable[..., Any], device: str, *operands: Any) -> Any:
    """Apply the function to a block on the device of this worker, and return results on the CPU."""
    moved = [x if isinstance(x, int) else x.to(device) for x in operands]
    return _to_host(function(*moved))


def _to_host(result: Any, depth: int = 0) -> Any:
    if isinstance(result, (Array, Masked)):
        return result.to("cpu")
    if type(result) is np.ndarray and result.ndim > 0:
        return result
    if isinstance(result, tuple) and result and depth == 0:
        return _rebuilt(result, [_to_host(part, 1) for part in result])
    raise TypeError(
        "the function of a block returns an Array, a Masked, a NumPy array or a tuple of these, "
        f"not {type(result).__name__}"
    )


def _rebuilt(like: tuple[Any, ...], parts: list[Any]) -> Any:
    """Return a tuple, or a named tuple of the same type."""
    return like._make(parts) if hasattr(like, "_make") else tuple(parts)


def _owned(result: Any) -> Any:
    """Return a result that does not use the memory of an object store, which may be small."""
    if isinstance(result, tuple):
        return _rebuilt(result, [_owned(part) for part in result])
    if isinstance(result, Masked):
        return Masked._of(result.values.copy(), result.mask.copy(), result.reason)
    return result.copy()


def join(results: list[Any]) -> Any:
    """Return the results of all blocks as one, in order.

    Raises TypeError if they are of different kinds. Array and Masked may be mixed.
    """
    kinds = {_kind(result): k for k, result in enumerate(results)}
    if len(kinds) > 1:
        (one, i), (other, k) = list(kinds.items())[:2]
        raise TypeError(f"block {i} gave {one}, but block {k} gave {other}")
    first = results[0]
    if isinstance(first, tuple):
        return _rebuilt(first, [join(list(parts)) for parts in zip(*results, strict=True)])
    if isinstance(first, np.ndarray):
        return np.concatenate(results)
    return concatenate(results)


def _kind(result: Any) -> str:
    if isinstance(result, tuple):
        return f"a {type(result).__name__} of {len(result)}"
    if isinstance(result, np.ndarray):
        columns = "".join(f", {m}" for m in result.shape[1:])
        return f"a NumPy array of {result.dtype} of shape (n{columns})"
    return "an Array"
