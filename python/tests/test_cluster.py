"""Ray and Dask with two workers on this machine, which lose workers by SIGKILL."""

from __future__ import annotations

import importlib
import math
import operator
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warpint as wp

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]


class Cluster:
    """The functions of one of the modules, for two workers with one thread each."""

    def __init__(self, name: str, options: dict[str, Any], pids: Callable[[], list[int]]) -> None:
        module = importlib.import_module(f"warpint.{name}")
        self.name, self.pids = name, pids
        self.map: Callable[..., Any] = partial(module.map, **options)
        self.collatz_verify: Callable[..., Any] = partial(module.collatz_verify, **options)

    def kill_one(self) -> None:
        os.kill(self.pids()[0], signal.SIGKILL)


def parent(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(next(text for text in status.splitlines() if text.startswith("PPid:")).split()[1])


def actors() -> list[int]:
    """The processes of Ray's actors that descend from this one."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if not (path / "cmdline").read_bytes().startswith(b"ray::Worker"):
                continue
            pid = int(path.name)
            while pid not in (0, 1, os.getpid()):
                pid = parent(pid)
        except OSError:
            continue
        if pid == os.getpid():
            found.append(int(path.name))
    return found


@pytest.fixture(scope="module", params=["ray", "dask"])
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    if request.param == "ray":
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        ray = pytest.importorskip("ray")
        ray.init(
            num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=10**8
        )
        yield Cluster("ray", {"workers": 2, "threads": 1}, actors)
        ray.shutdown()
        return
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as local,
        distributed.Client(local) as client,
    ):
        yield Cluster("dask", {}, lambda: list(client.run(os.getpid).values()))


def test_powers_and_primes(cluster: Cluster) -> None:
    n, modulus = 2000, 2**521 - 1
    a, e = wp.random(n, bits=521, rng=1), wp.random(n, bits=64, rng=2)
    xs, es = a.tolist(), e.tolist()
    seen: list[wp.Progress] = []
    environment = dict(os.environ)
    found = cluster.map(pow, a, e, modulus, block=150, progress=seen.append)
    assert found.tolist() == [pow(x, k, modulus) for x, k in zip(xs, es, strict=True)]
    assert seen[-1].done == seen[-1].total == n
    assert dict(os.environ) == environment
    # Large blocks go through the object store; their buffers are outside of the pickles.
    wide = wp.random(4000, bits=4096, rng=3)
    product = cluster.map(operator.mul, wide, wide.to_numpy())
    assert product.tolist() == [x * x for x in wide.tolist()]
    quotient, remainder = cluster.map(divmod, xs, e >> 60, block=333)
    pairs = [(x, k >> 60) for x, k in zip(xs, es, strict=True)]
    assert quotient.tolist() == [x // k if k else None for x, k in pairs]
    assert remainder.tolist() == [x % k if k else None for x, k in pairs]
    small = list(range(5000))
    primes = cluster.map(wp.is_probable_prime, small, block=600)
    assert primes.dtype == np.bool_
    assert primes.tolist() == [
        n > 1 and all(n % d for d in range(2, math.isqrt(n) + 1)) for n in small
    ]


def test_a_local_function_and_the_threads_of_a_worker(cluster: Cluster) -> None:
    def threads(a: wp.Array) -> np.ndarray:
        started = len(os.listdir("/proc/self/task"))
        a * a
        computing = len(os.listdir("/proc/self/task")) - started
        return np.array([[os.getpid(), int(os.environ["RAYON_NUM_THREADS"]), computing]])

    found = cluster.map(threads, list(range(100)), block=10)
    assert found.shape == (10, 3) and 1 <= len(set(found[:, 0].tolist())) <= 2
    assert set(found[:, 1].tolist()) == {1} and found[:, 2].max() <= 1
    assert os.getpid() not in found[:, 0]


def test_a_worker_dies_during_a_map(cluster: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    n, modulus = 600, 2**1279 - 1
    a, e = wp.random(n, bits=1279, rng=1), wp.random(n, bits=1279, rng=2)
    killed: list[float] = []

    def kill(progress: wp.Progress) -> None:
        if not killed:
            cluster.kill_one()
            killed.append(progress.share)

    def slow(x: wp.Array, k: wp.Array, m: int) -> wp.Array | wp.Masked:
        time.sleep(0.5)
        return pow(x, k, m)

    found = cluster.map(slow, a, e, modulus, block=30, progress=kill)
    assert killed and killed[0] < 0.5 and "a worker was lost" in caplog.text
    expected = [pow(x, k, modulus) for x, k in zip(a, e, strict=True)]
    assert found.tolist() == expected


def test_a_block_that_kills_its_workers(cluster: Cluster) -> None:
    def deadly(a: wp.Array) -> wp.Array:
        if 50 in a:
            os.kill(os.getpid(), signal.SIGKILL)
        return a

    with pytest.raises(wp.BlockError, match="block 5, elements 50 to 59: 2 workers were lost"):
        cluster.map(deadly, list(range(100)), block=10, attempts=2)
    # The cluster works on.
    assert cluster.map(operator.add, [1, 2, 3], 1, block=1).tolist() == [2, 3, 4]


def test_an_exception_of_the_function(cluster: Cluster) -> None:
    with pytest.raises(wp.BlockError, match="block 2, elements 20 to 25: OverflowError") as caught:
        cluster.map(lambda a: wp.array(a.tolist(), bits=5), [*range(25), 99], block=10)
    assert caught.value.start == 20
    assert isinstance(caught.value.__cause__, OverflowError)
    assert "on a worker" in str(caught.value.__cause__.__cause__)


def test_wrong_input(cluster: Cluster) -> None:
    lock = threading.Lock()
    for call, kind, match in (
        (lambda: cluster.map(lambda a: (lock, a), [1]), TypeError, "cannot be sent to workers"),
        (lambda: cluster.map(operator.add, [1, 2], [1, 2, 3]), ValueError, "do not fit"),
        (lambda: cluster.map(operator.add, [1], 1, threads=0), ValueError, "threads"),
        (lambda: cluster.collatz_verify(1), ValueError, "below 1"),
    ):
        with pytest.raises(kind, match=match) as caught:
            call()
        assert "\n" not in str(caught.value)
    if cluster.name == "ray":
        with pytest.raises(ValueError, match="room for 2 workers"):
            cluster.map(operator.add, [1], 1, workers=3)
        with pytest.raises(ValueError, match="no node with a GPU"):
            cluster.map(operator.add, [1], 1, device="cuda")
    else:
        with pytest.raises(ValueError, match="no worker of the Dask cluster has"):
            cluster.map(operator.add, [1], 1, resources={"GPU": 1})
        for wrong in 5, ["GPU"], {"GPU": "1"}, {1: 1}:
            with pytest.raises(TypeError, match="^resources .*, not "):
                cluster.map(operator.add, [1], 1, resources=wrong)
        with pytest.raises(TypeError, match=r"distributed\.Client"):
            cluster.map(operator.add, [1], 1, client=5)
        # Both workers have computed, so neither can change its threads.
        cluster.map(operator.add, list(range(100)), 1, block=1)
        with pytest.raises(wp.BlockError, match="threads=1"):
            cluster.map(operator.add, [1], 1, threads=2)


def test_a_worker_dies_during_a_verification(
    cluster: Cluster, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    killed: list[float] = []

    def kill(progress: wp.Progress) -> None:
        if not killed:
            cluster.kill_one()
            killed.append(progress.share)

    merged = cluster.collatz_verify(
        2**28, directory=tmp_path / "units", unit_bits=24, progress=kill
    )
    assert killed and killed[0] < 0.5 and "a worker was lost" in caplog.text
    assert merged.is_complete and merged.units == 16 and merged.duplicates == 0
    assert merged.claim == "every n from 1 up and below 2^28 reaches 1"
    # The units of a machine alone are the same.
    one = wp.collatz.verify(2**28, directory=tmp_path / "one", unit_bits=24, units=range(4, 6))
    assert one.done == 2
    both = wp.collatz.merge(tmp_path / "units", tmp_path / "one")
    assert both.is_complete and both.duplicates == 2 and both.disagreements == ()
    # Nothing is left to do.
    seen: list[wp.Progress] = []
    again = cluster.collatz_verify(2**28, directory=tmp_path / "units", progress=seen.append)
    assert again.is_complete and again.units == 16 and seen == []


INTERRUPTED = """
import time, warnings
warnings.simplefilter("ignore")
import warpint as wp

def slow(a):
    time.sleep(2)
    return a

def main():
    options = {}
    if NAME == "ray":
        import ray
        import warpint.ray as module
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        options = {"workers": 2, "threads": 1}
    else:
        import distributed
        import warpint.dask as module
        local = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        )
        client = distributed.Client(local)
    try:
        module.map(slow, list(range(1000)), block=1, progress=lambda p: print(p.done, flush=True),
                   **options)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        left = module.map(lambda a: a + 1, [1, 2], block=1, **options)
        print(left.tolist(), flush=True)

if __name__ == "__main__":
    main()
"""


def test_ctrl_c(cluster: Cluster, tmp_path: Path) -> None:
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED.replace("NAME", repr(cluster.name)), encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "1"
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=200)
    lines = [text for text in out.splitlines() if not text.isdigit()]
    assert lines == ["interrupted", "[2, 3]"], errors
    assert process.returncode == 0, errors
