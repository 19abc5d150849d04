"""Measures how much faster two workers of Ray are than one, each with one thread of the CPU.

    python cluster.py [COUNT] [--bits BITS] [--block BLOCK]

COUNT powers (by default 1,000,000) modulo one number of BITS bits (1,024) are computed by one worker,
then by two. Each call starts its workers. A call for two numbers before shows how long that takes.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

import warpint as wp


def timed(
    map_blocks: Any, workers: int, operands: tuple[Any, ...], block: int | None
) -> tuple[float, Any]:
    """Return the seconds of one call, and its result."""
    begin = time.perf_counter()
    found = map_blocks(pow, *operands, workers=workers, threads=1, block=block)
    return time.perf_counter() - begin, found


def main() -> None:
    parser = argparse.ArgumentParser(description="two workers of Ray against one")
    parser.add_argument("count", nargs="?", type=int, default=1_000_000)
    parser.add_argument("--bits", type=int, default=1024)
    parser.add_argument("--block", type=int, help="by default blocks get smaller")
    options = parser.parse_args()

    import ray
    import warpint.ray

    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    bits, count = options.bits, options.count
    bases = wp.random(count, bits=bits, rng=1)
    exponents = wp.random(count, bits=bits, rng=2)
    modulus = int(wp.random(1, bits=bits, rng=3)[0]) | 1 | 1 << (bits - 1)
    few = bases[:2], exponents[:2], modulus
    print(f"{count} powers of {bits} bits, one thread a worker")
    print(f"load average {os.getloadavg()[0]:.2f} on {os.cpu_count()} CPUs")
    seconds, starts = [], []
    for workers in 1, 2:
        start, _ = timed(warpint.ray.map, workers, few, 1)
        total, found = timed(warpint.ray.map, workers, (bases, exponents, modulus), options.block)
        seconds.append(total)
        starts.append(start)
        sample = range(0, count, max(1, count // 100))
        if any(found[i] != pow(bases[i], exponents[i], modulus) for i in sample):
            raise SystemExit("a power is wrong")
        print(f"workers: {workers}, {total:.2f} s (start of the workers {start:.2f} s)")
    ratio = (seconds[0] - starts[0]) / (seconds[1] - starts[1])
    print(f"two workers are {seconds[0] / seconds[1]:.2f} times as fast as one", end="")
    print(f", {ratio:.2f} times without the start")
    print(f"load average {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()
