"""What the tests share: devices, strategies of hypothesis, and its profiles."""

from __future__ import annotations

import os
import shutil

import pytest
import warpint as wp
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

settings.register_profile("quick", max_examples=40, deadline=None)
settings.register_profile(
    "long", max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("WARPINT_HYPOTHESIS", "quick"))

#: Widths at the ends of limbs, and others.
WIDTHS = [1, 2, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 192, 255, 256, 257, 521, 1024]


def numbers(bits: int) -> st.SearchStrategy[int]:
    """Numbers below 2^bits, often at the ends, and powers of 2 with their neighbours."""
    top = (1 << bits) - 1
    near = st.integers(0, bits - 1).flatmap(
        lambda k: st.sampled_from([max(0, (1 << k) - 1), 1 << k, min(top, (1 << k) + 1)])
    )
    return st.one_of(st.sampled_from([0, 1, top]), near, st.integers(0, top))


widths = st.sampled_from(WIDTHS)


@st.composite
def lists(draw: st.DrawFn, count: int | None = None) -> tuple[list[int], int]:
    """A list of numbers, which may be empty, and their width."""
    bits = draw(widths)
    n = draw(st.integers(0, 6)) if count is None else count
    return draw(st.lists(numbers(bits), min_size=n, max_size=n)), bits


@st.composite
def pairs(draw: st.DrawFn) -> tuple[tuple[list[int], int], tuple[list[int], int]]:
    """Two lists of the same length and of widths of their own."""
    n = draw(st.integers(0, 6))
    return draw(lists(n)), draw(lists(n))


def has_simulator() -> bool:
    """Whether the package is built with the kernel simulator, and a compiler is there for it."""
    if not (shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")):
        return False
    try:
        wp.array([1], device="sim")
    except wp.DeviceError:
        return False
    return True


DEVICES = ["cpu"]
if has_simulator():
    DEVICES.append("sim")
if wp.devices():
    DEVICES.append("cuda:0")


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> str:
    """Each device of this machine in turn."""
    return str(request.param)
