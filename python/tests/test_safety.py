"""The boundary to the native part: panics, threads, forks, and machines without a driver."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import warpint as wp
from conftest import DEVICES

pytestmark = pytest.mark.quick


@pytest.mark.skipif(
    not hasattr(wp._warpint, "panic_for_test"), reason="the package is built without faults"
)
def test_a_panic_is_a_runtime_error(capfd):
    with pytest.raises(RuntimeError, match="internal error of warpint: so it goes") as caught:
        wp._warpint.panic_for_test("so it goes")
    text = str(caught.value)
    assert "please report it at https://github.com/warpint/warpint/issues" in text
    assert ".rs:" in text and "\n" not in text
    captured = capfd.readouterr()
    assert captured.err == captured.out == ""
    # The next call works.
    assert (wp.array([2]) * 3).tolist() == [6]


def test_other_threads_run_during_work():
    a = wp.random(200, bits=2048, rng=1)
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    pow(a, wp.random(1, bits=2048, rng=2), wp.random(1, bits=2048, rng=3))
    end = time.perf_counter()
    done.set()
    thread.join()
    during = sum(start < tick < end for tick in ticks)
    # With the lock held, there would be none.
    assert during > 5, f"{during} ticks in {end - start:.3f} s"


def test_threads_share_arrays():
    a, results = wp.random(500, bits=512, rng=1), []
    threads = [threading.Thread(target=lambda: results.append((a * a + a).tolist())) for _ in "123"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results[0] == results[1] == results[2] == [x * x + x for x in a.tolist()]


def run(code, **env):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env=os.environ | env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout.strip(), done.stderr.strip()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_of_a_process_that_has_computed_is_refused():
    code = """
import os, warpint as wp
a = wp.array([3])
if os.fork() == 0:
    try:
        a * a
    except RuntimeError as error:
        print(error, flush=True)
    os._exit(0)
os.wait()
print((a * a).tolist())
"""
    status, out, err = run(code)
    assert (status, err) == (0, "")
    first, second = out.splitlines()
    assert "forked" in first and "spawn" in first and second == "[9]"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_before_the_first_computation_computes():
    code = """
import os, warpint as wp
if os.fork() == 0:
    print((wp.array([3]) * 3).tolist(), flush=True)
    os._exit(0)
os.wait()
"""
    assert run(code) == (0, "[9]", "")


@pytest.mark.parametrize(
    "job",
    [
        "wp.huge.factorial(5 * 10**6)",
        "wp.Mersenne(216091).prp(directory=None)",
        "wp.Mersenne(216091).prp(directory=None, progress=lambda p: None)",
        "pow(a, a, a | 1)",
        "[a * a for _ in range(10**9)]",
    ],
)
@pytest.mark.parametrize("slow", [False, True])
def test_the_end_of_python_while_a_daemon_thread_computes(job, slow):
    code = f"""
import atexit, threading, time
if {slow}:
    class Slow:
        def __del__(self, sleep=time.sleep):
            sleep(1)
    keep = Slow()
    # Called last: the thread that ends Python can still compute.
    atexit.register(lambda: print((wp.array([3]) * 3).tolist()))
import warpint as wp
a = wp.random(3000, bits=2048, rng=1)
threading.Thread(target=lambda: {job}, daemon=True).start()
time.sleep(0.3)
"""
    assert run(code) == (0, "[9]" if slow else "", "")


def test_a_job_saves_its_work_when_python_ends(tmp_path):
    code = f"""
import threading, time, warpint as wp
job = lambda: wp.Mersenne(216091).prp(directory={str(tmp_path)!r})
threading.Thread(target=job, daemon=True).start()
time.sleep(1)
"""
    assert run(code) == (0, "", "")
    starts = []
    with pytest.raises(KeyboardInterrupt):
        wp.Mersenne(216091).prp(directory=tmp_path, progress=interrupt_after_first(starts))
    assert starts[0] > 0


def interrupt_after_first(done):
    """A callable for ``progress=`` that notes how much is done, and ends the job."""

    def progress(p):
        done.append(p.done)
        raise KeyboardInterrupt

    return progress


@pytest.mark.skipif("cuda:0" in DEVICES, reason="shows what happens without a GPU")
def test_without_a_gpu():
    assert wp.devices() == []
    for job in (
        lambda: wp.array([1], device="cuda"),
        lambda: wp.array([1]).to("cuda:1"),
        lambda: wp.random(1, bits=5, device="cuda"),
        lambda: wp.synchronize("cuda"),
        lambda: wp.Modulus(5, device="cuda"),
    ):
        with pytest.raises(wp.DeviceError) as caught:
            job()
        assert isinstance(caught.value, RuntimeError) and "\n" not in str(caught.value)


def compiler(prefix):
    """What is found by a process whose Python is installed in ``prefix``, and not activated."""
    code = """
import sys, warpint as wp
sys.prefix = sys.argv[1]
from warpint._device import canonical
canonical("cuda")
try:
    print(*wp._warpint.nvrtc())
except wp.DeviceError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, prefix],
        env={
            "PATH": "/nonexistent",
            "HOME": "/nonexistent",
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout


def test_run_time_compilers_are_searched_for_in_this_environment(tmp_path):
    if "no run-time compiler" not in compiler("/nonexistent"):
        pytest.skip("the system has a run-time compiler, which comes first")
    wheel = tmp_path / "lib/python3.11/site-packages/nvidia/cu13/lib"
    wheel.mkdir(parents=True)
    (wheel / "libnvrtc.so.13").write_bytes(b"not a library")
    # A file that cannot be loaded is reported.
    assert str(wheel / "libnvrtc.so.13") in compiler(str(tmp_path))


def test_the_run_time_compiler_of_an_extra_is_found():
    wheels = [*Path(sys.prefix).glob("lib/python3*/site-packages/nvidia/c*/lib/libnvrtc.so.*")]
    if not wheels:
        pytest.skip("neither of the extras cuda13 and cuda12 is installed")
    if "no run-time compiler" not in compiler("/nonexistent"):
        pytest.skip("the system has a run-time compiler, which comes first")
    assert any(compiler(sys.prefix).startswith(str(wheel)) for wheel in wheels)


def test_memory_that_cannot_be_had():
    # Some systems promise any amount of memory, so the process limits itself.
    code = """
import resource, numpy as np, warpint as wp
many = wp.array(np.ones((1 << 23, 1), dtype=np.uint32))
resource.setrlimit(resource.RLIMIT_AS, (1 << 36, 1 << 36))
try:
    # 2^23 numbers of 2^21 bits are 2 TiB.
    many << ((1 << 21) - 32)
except MemoryError as error:
    print(error)
"""
    status, out, err = run(code)
    assert (status, err) == (0, "")
    assert "not enough memory for 8388608 integers" in out
