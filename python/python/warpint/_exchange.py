"""Exchange with other libraries by DLPack and by CUDA's array interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _warpint
from ._convert import refuse_numpy_mask
from ._device import canonical
from ._device import stream as stream_of
from ._warpint import Batch

if TYPE_CHECKING:
    from ._array import Array

_CPU, _CUDA = 1, 2


def export(
    array: Array,
    stream: int | None,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> Any:
    """Return a DLPack capsule.

    Without ``copy=True``, the consumer shares the memory, which it must not write: DLPack 1.0 marks
    it as read-only, earlier versions cannot. Work that the consumer submits to ``stream`` after the
    call waits until the GPU has computed the array. Without a stream the call waits itself; after
    that, a consumer may use every stream. With −1, the consumer takes care of the order.
    """
    kind, number = array.__dlpack_device__()
    if kind == _CPU and stream is not None:
        raise BufferError("an array in host memory has no stream: stream must be None")
    if kind == _CUDA and stream is not None and (stream == 0 or stream < -1):
        raise ValueError(f"stream {stream} is not a CUDA stream: see __dlpack__ of the array API")
    batch = array._batch
    copied = bool(copy)
    if dl_device is not None and tuple(map(int, dl_device)) != (kind, number):
        if tuple(map(int, dl_device)) != (_CPU, 0) or copy is False:
            raise BufferError(f"the array is on {array.device}: move it by the method to()")
        batch, copied = batch.to("cpu"), True
    elif copied:
        batch = batch.to(batch.device)
    versioned = max_version is not None and max_version[0] >= 1
    return batch.dlpack(versioned, copied, stream)


def cuda_interface(array: Array) -> dict[str, Any]:
    """Return the dictionary of version 3. The memory is ready for every stream, and read-only."""
    address = array._batch.cuda_address()
    if address is None:
        raise AttributeError(f"an array on {array.device!r} has no __cuda_array_interface__")
    return {
        "shape": (len(array), array._batch.bits // 32),
        "typestr": "<u4",
        "data": (address, True),
        "version": 3,
        "strides": None,
        "stream": None,
    }


def imported(x: Any) -> Batch:
    """Return a batch of the limbs of another library's matrix, or of a DLPack capsule."""
    refuse_numpy_mask(x)
    if type(x).__name__ == "PyCapsule":
        return _warpint.from_capsule(x)
    batch = _warpint.from_exchange_api(x)
    if batch is not None:
        return batch
    if hasattr(x, "__dlpack__"):
        return _warpint.from_capsule(_capsule(x))
    interface = getattr(x, "__cuda_array_interface__", None)
    if interface is None:
        kind = type(x).__name__
        raise TypeError(f"{kind} has neither __dlpack__ nor __cuda_array_interface__")
    return _from_interface(x, interface)


def _capsule(x: Any) -> Any:
    kind, number = x.__dlpack_device__()
    # The producer orders its work before the stream on which this library works.
    stream = stream_of(int(number)) if int(kind) == _CUDA else None
    try:
        return x.__dlpack__(stream=stream, max_version=(1, 0))
    except TypeError:
        # A producer of DLPack before 1.0.
        return x.__dlpack__() if stream is None else x.__dlpack__(stream=stream)


def _from_interface(x: Any, interface: dict[str, Any]) -> Batch:
    if interface.get("mask") is not None:
        raise TypeError("a masked array cannot be used")
    dtype = np.dtype(interface["typestr"])
    if dtype not in (np.dtype(np.uint32), np.dtype(np.uint64)):
        raise TypeError(f"limbs must be of dtype uint32 or uint64, not {dtype}")
    strides = interface.get("strides")
    return _warpint.from_cuda_address(
        canonical(_device_of(x)),
        int(interface["data"][0]),
        [int(extent) for extent in interface["shape"]],
        None if strides is None else [int(stride) for stride in strides],
        8 * dtype.itemsize,
        x,
    )


def _device_of(x: Any) -> str:
    """Return the GPU of an array of CuPy, Numba or PyTorch; the first GPU if it does not say."""
    device = getattr(x, "device", None)
    for name in ("id", "index"):
        number = getattr(device, name, None)
        if isinstance(number, int):
            return f"cuda:{number}"
    return "cuda:0"
