"""Names of devices, and the GPUs of this machine."""

from __future__ import annotations

import re
import sys
from functools import cache
from typing import NamedTuple

from . import _warpint

_CUDA = re.compile(r"cuda(?::([0-9]{1,3}))?")


class Device(NamedTuple):
    """A GPU: its name for ``device=``, such as ``cuda:0``, and its model."""

    name: str
    model: str


def canonical(device: str) -> str:
    """Return the full name of a device: ``cpu``, ``cuda:0``, ``sim``.

    Raises TypeError if ``device`` is not a string, and ValueError for other names.
    """
    if not isinstance(device, str):
        raise TypeError(f"a device is named by a string, not by {type(device).__name__}")
    return _canonical(device)


@cache
def _canonical(device: str) -> str:
    found = _CUDA.fullmatch(device)
    if found:
        # The wheels of NVIDIA's run-time compiler in this environment are found first.
        _warpint.search_nvrtc_in(sys.prefix)
        return f"cuda:{int(found[1] or 0)}"
    if device in ("cpu", "sim"):
        return device
    raise ValueError(f"{device!r} is not a device: use 'cpu', 'cuda' or 'cuda:1'")


@cache
def stream(index: int) -> int | None:
    """Return the driver's handle of the stream on which the GPU of an index works."""
    return _warpint.stream(canonical(f"cuda:{index}"))


def devices() -> list[Device]:
    """Return the GPUs of this machine. The list is empty if there is none, or no driver."""
    return [Device(*found) for found in _warpint.list_devices()[0]]


def synchronize(device: str = "cuda") -> None:
    """Wait until the device has done all submitted work.

    Operations on GPU arrays return before the GPU has finished. Every conversion to the host waits
    by itself, so this is only needed for measurements.
    """
    _warpint.synchronize(canonical(device))
