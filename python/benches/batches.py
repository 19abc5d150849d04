"""Times the package beside the Rust library, gmpy2, CuPy and PyTorch, and prints one table.

    python python/benches/batches.py --device cuda --rust target/release/examples/calls

``--rust`` names the program that ``cargo build --release -p warpint --example calls`` makes; without
it, the calls of the Rust library are left out. Libraries that are not installed are left out too.
Results are compared with those of gmpy2, or else with Python's, before anything is timed. Each figure
is a median of several calls.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import multiprocessing
import operator
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import warpint as wp

#: What is measured, in seconds: (part, what, by whom, seconds, numbers).
Row = tuple[str, str, str, float, int]


def library(name: str) -> Any:
    """Return a library, or None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


class Clock:
    """Times calls whose work may go on on a GPU."""

    def __init__(self, device: str) -> None:
        self._device = device

    def wait(self) -> None:
        """Wait until the device is idle."""
        if self._device != "cpu":
            wp.synchronize(self._device)

    def median(self, call: Callable[[], Any], at_once: int = 1) -> float:
        """Return the median time of a call within a second: of at least 3 times, at most 101.

        A time is that of ``at_once`` calls, divided by ``at_once``, until the device is idle.
        """
        # The first call compiles kernels and takes memory from the system.
        call()
        self.wait()
        times: list[float] = []
        start = time.perf_counter()
        while len(times) < 3 or (len(times) < 101 and time.perf_counter() - start < 1):
            begin = time.perf_counter()
            for _ in range(at_once):
                call()
            self.wait()
            times.append((time.perf_counter() - begin) / at_once)
        return statistics.median(times)


def short(call: Callable[[], Any], calls: int = 2000) -> float:
    """Return the mean time of a call whose work is short, and of freeing its result."""
    call()
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - begin) / calls


def calls(clock: Clock, device: str, count: int, bits: int, rust: str | None) -> list[Row]:
    """Return the times of calls from Python and from the Rust library."""
    a = wp.random(count, bits=bits, rng=1, device=device)
    b = wp.random(count, bits=bits, rng=2, device=device)
    m = b | 1
    e = wp.array([65537], device=device)
    operations: dict[str, Callable[[], Any]] = {
        "a + b": lambda: a + b,
        "a * b": lambda: a * b,
        "a.square()": lambda: a.square(),
        "a & b": lambda: a & b,
        "pow(a, 65537, m)": lambda: pow(a, e, m),
    }
    # An idle host sleeps while the GPU computes, and wakes up late.
    at_once = 1 if device == "cpu" else 10
    here: dict[str, float] = {}
    there: dict[str, float] = {}
    # In turns, because a machine is not equally fast all the time.
    for _ in range(3):
        for name, call in operations.items():
            here[name] = min(clock.median(call, at_once), here.get(name, math.inf))
        if rust is not None:
            command = [rust, device, str(count), str(bits)]
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            for line in output.splitlines():
                name, seconds = line.split("\t")
                there[name] = min(float(seconds), there.get(name, math.inf))
    part = f"calls, {count:,} numbers of {bits} bits, best of 3 medians"
    rows: list[Row] = [(part, name, "warpint", seconds, count) for name, seconds in here.items()]
    rows += [(part, name, "the Rust library", seconds, count) for name, seconds in there.items()]
    return rows


def small_calls(device: str) -> list[Row]:
    """Return the times of calls on one number, which are all overhead."""
    a = wp.array([3], bits=64, device=device)
    rows: list[Row] = []
    for name, call in {
        "a * a": lambda: a * a,
        "a * 3": lambda: a * 3,
        "a[0]": lambda: a[0],
    }.items():
        rows.append(("calls, 1 number of 64 bits", name, "warpint", short(call), 1))
    return rows


def exchange(clock: Clock, device: str) -> list[Row]:
    """Return the times to share 1,000 numbers of 2,048 bits with other libraries."""
    a = wp.random(1000, bits=2048, rng=1, device=device)
    clock.wait()
    part = "exchange, 1,000 numbers of 2048 bits"
    rows: list[Row] = []

    def add(what: str, call: Callable[[], Any]) -> None:
        rows.append((part, what, "warpint", short(call), 1000))

    if device == "cpu":
        add("numpy.from_dlpack(a)", lambda: np.from_dlpack(a))
        add("a.to_numpy()", lambda: a.to_numpy())
        return rows
    cupy, torch = library("cupy"), library("torch")
    if cupy is not None:
        there = cupy.from_dlpack(a)
        assert there.data.ptr == a.__cuda_array_interface__["data"][0]
        add("cupy.from_dlpack(a)", lambda: cupy.from_dlpack(a))
        add("cupy.asarray(a)", lambda: cupy.asarray(a))
        add("warpint.from_dlpack(cupy)", lambda: wp.from_dlpack(there))
    if torch is not None:
        tensor = torch.from_dlpack(a)
        assert tensor.data_ptr() == a.__cuda_array_interface__["data"][0]
        add("torch.from_dlpack(a)", lambda: torch.from_dlpack(a))
        add("warpint.from_dlpack(torch)", lambda: wp.from_dlpack(tensor))
    return rows


def conversions(clock: Clock, device: str, count: int, bits: int) -> list[Row]:
    """Return the times to make an array of ints and ints of an array."""
    numbers = wp.random(count, bits=bits, rng=1).tolist()
    a = wp.array(numbers, bits=bits, device=device)
    part = f"conversions, {count:,} numbers of {bits} bits"
    rows: list[Row] = [
        (
            part,
            "array(list)",
            "warpint",
            clock.median(lambda: wp.array(numbers, bits=bits, device=device)),
            count,
        ),
        (part, "a.tolist()", "warpint", clock.median(a.tolist), count),
        (part, "a.to_numpy()", "warpint", clock.median(a.to_numpy), count),
    ]
    return rows


def _gmpy2_powers(numbers: list[tuple[int, int, int]]) -> list[Any]:
    gmpy2 = importlib.import_module("gmpy2")
    return [gmpy2.powmod(a, e, m) for a, e, m in numbers]


def powers(clock: Clock, device: str, count: int, bits: int, sample: int) -> list[Row]:
    """Return the times of powers a^e mod m with all of ``bits`` bits, and of gmpy2's."""
    a, e, m = (wp.random(count, bits=bits, rng=seed, device=device) for seed in (1, 2, 3))
    m = m | 1
    power = wp.powmod(a, e, m)
    assert isinstance(power, wp.Masked)
    triples = [(int(a[i]), int(e[i]), int(m[i])) for i in range(min(count, 64))]
    expected = [pow(*triple) for triple in triples]
    assert power.unwrap()[: len(expected)].tolist() == expected
    part = f"powers, {bits} bits"
    rows: list[Row] = [(part, "pow(a, e, m)", "warpint", clock.median(lambda: pow(a, e, m)), count)]
    gmpy2 = library("gmpy2")
    if gmpy2 is None:
        return rows
    some = [wp.concatenate([x[:sample].to("cpu")]).tolist() for x in (a, e, m)]
    numbers = [tuple(map(gmpy2.mpz, row)) for row in zip(*some, strict=True)]
    begin = time.perf_counter()
    _gmpy2_powers(numbers)
    rows.append(
        (part, "pow(a, e, m)", "gmpy2, one thread", time.perf_counter() - begin, len(numbers))
    )
    cores = os.cpu_count() or 1
    context = multiprocessing.get_context("spawn")
    parts = [numbers[i::cores] for i in range(cores)]
    with context.Pool(cores) as pool:
        pool.map(_gmpy2_powers, parts)
        begin = time.perf_counter()
        pool.map(_gmpy2_powers, parts)
        seconds = time.perf_counter() - begin
    rows.append((part, "pow(a, e, m)", f"gmpy2, {cores} processes", seconds, len(numbers)))
    return rows


def products(clock: Clock, device: str, count: int, bits: int) -> list[Row]:
    """Return the times of products, and of a loop over gmpy2's numbers or Python's ints."""
    a, b = (wp.random(count, bits=bits, rng=seed, device=device) for seed in (1, 2))
    gmpy2 = library("gmpy2")
    make = int if gmpy2 is None else gmpy2.mpz
    x, y = (list(map(make, numbers.tolist())) for numbers in (a, b))

    def loop() -> list[Any]:
        return list(map(operator.mul, x, y))

    assert (a * b).tolist() == loop()
    part = f"products, {bits} bits"
    other = "Python" if gmpy2 is None else "gmpy2, one thread"
    host = Clock("cpu")
    return [
        (part, "a * b", "warpint", clock.median(lambda: a * b), count),
        (part, "a * b", other, host.median(loop), count),
    ]


def single_words(clock: Clock, count: int) -> list[Row]:
    """Return the times of products of 64-bit words: exact here, modulo 2^64 in CuPy."""
    cupy = library("cupy")
    a, b = (wp.random(count, bits=64, rng=seed, device="cuda") for seed in (1, 2))
    part = "products, 64 bits"
    rows: list[Row] = [(part, "a * b, exact", "warpint", clock.median(lambda: a * b), count)]
    if cupy is not None:
        x, y = (cupy.from_dlpack(numbers).view(cupy.uint64).ravel() for numbers in (a, b))
        stream = cupy.cuda.get_current_stream()

        def product() -> Any:
            result = x * y
            stream.synchronize()
            return result

        rows.append((part, "a * b mod 2^64", "CuPy", clock.median(product), count))
    return rows


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--device", default="cpu", help="cpu (default) or cuda")
    parser.add_argument("--rust", help="the program of the example calls of the Rust library")
    parser.add_argument(
        "--count", type=int, default=1_000_000, help="numbers of 2048 bits of a call"
    )
    parser.add_argument("--json", help="a file for the figures")
    options = parser.parse_args()
    device = "cuda:0" if options.device == "cuda" else options.device
    clock = Clock(device)
    rows = calls(clock, device, options.count, 2048, options.rust)
    rows += small_calls(device)
    rows += exchange(clock, device)
    rows += conversions(clock, device, 100_000, 1024)
    rows += products(clock, device, 100_000, 1024)
    if device == "cpu":
        rows += powers(clock, device, 100_000, 1024, 10_000)
    else:
        rows += powers(clock, device, 1_000_000, 2048, 8_000)
        rows += single_words(clock, 100_000_000)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(
                {"version": wp.__version__, "python": sys.version, "rows": rows}, file, indent=1
            )
    print(f"{'what':28} {'by':22} {'seconds':>12} {'ns a number':>12}")
    shown = ""
    for part, what, by, seconds, count in rows:
        if part != shown:
            print(part)
            shown = part
        print(f"  {what:26} {by:22} {seconds:12.6f} {1e9 * seconds / count:12.2f}")


if __name__ == "__main__":
    main()
