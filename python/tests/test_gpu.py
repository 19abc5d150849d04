"""Exchange of GPU arrays with CuPy, PyTorch and Numba. Each test needs a GPU and its library."""

from __future__ import annotations

import gc
import subprocess
import sys

import numpy as np
import pytest
import warpint as wp
from conftest import DEVICES

pytestmark = [
    pytest.mark.quick,
    pytest.mark.skipif("cuda:0" not in DEVICES, reason="needs a GPU"),
]

BITS = 2048


def example(n=1000):
    return wp.random(n, bits=BITS, rng=1, device="cuda")


def test_the_device_is_stated():
    a = example()
    assert a.__dlpack_device__() == (2, 0)
    with pytest.raises(ValueError, match="stream 0"):
        a.__dlpack__(stream=0)
    on_host = np.from_dlpack(a, device="cpu")
    assert on_host.tolist() == a.to_numpy().tolist()
    interface = a.__cuda_array_interface__
    assert interface["shape"] == (1000, BITS // 32) and interface["data"][1] is True


def test_cupy_shares_the_memory():
    cupy = pytest.importorskip("cupy")
    a = example()
    shared = cupy.from_dlpack(a)
    assert shared.data.ptr == a.__cuda_array_interface__["data"][0]
    assert cupy.asnumpy(shared).tolist() == a.to_numpy().tolist()
    back = wp.from_dlpack(shared)
    assert back.__cuda_array_interface__["data"][0] == shared.data.ptr and back.equals(a)
    other = cupy.asarray(a)
    assert other.data.ptr == shared.data.ptr


def test_work_of_cupy_on_other_streams_is_done_before():
    cupy = pytest.importorskip("cupy")
    for k in range(20):
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            limbs = cupy.zeros((1 << 18, 64), dtype=cupy.uint32)
            for _ in range(50):
                limbs += cupy.uint32(1)
            a = wp.from_dlpack(limbs)
        assert a[0] == a[-1] == sum(50 << (32 * j) for j in range(64)), k
        # The product is used by another stream at once.
        product = a * a
        with stream:
            low = int(cupy.from_dlpack(product)[-1, 0])
        assert low == 2500


def test_work_of_other_streams_waits_for_exported_arrays():
    cupy = pytest.importorskip("cupy")
    torch = pytest.importorskip("torch")
    a, m = example(1 << 17), (1 << BITS) - 1
    expected = [pow(x, 65537, m) % 2**31 for x in (a[0], a[-1])]
    for _ in range(5):
        # Computes for milliseconds after it has returned.
        power = pow(a, 65537, m)
        with cupy.cuda.Stream(non_blocking=True):
            low = cupy.from_dlpack(power)[:: len(a) - 1, 0] & cupy.uint32(2**31 - 1)
            assert low.tolist() == expected
        power = pow(a, 65537, m)
        with torch.cuda.stream(torch.cuda.Stream()):
            words = torch.from_dlpack(power).view(torch.int32)
            assert (words[:: len(a) - 1, 0] & (2**31 - 1)).tolist() == expected


def test_work_of_pytorch_on_other_streams_is_done_before():
    torch = pytest.importorskip("torch")
    for k in range(20):
        with torch.cuda.stream(torch.cuda.Stream()):
            limbs = torch.zeros((1 << 18, 64), dtype=torch.int32, device="cuda")
            for _ in range(50):
                limbs += 1
            a = wp.from_dlpack(limbs.view(torch.uint32))
        assert a[0] == a[-1] == sum(50 << (32 * j) for j in range(64)), k


def test_memory_is_not_reused_before_cupy_is_done():
    cupy = pytest.importorskip("cupy")
    stream = cupy.cuda.Stream(non_blocking=True)
    expected = int(example(1 << 14).to_numpy()[:, 0].astype(np.uint64).sum())
    for _ in range(20):
        a = example(1 << 14)
        with stream:
            shared = cupy.from_dlpack(a)
            busy = cupy.ones((4096, 4096), dtype=cupy.float32)
            for _ in range(5):
                busy = busy @ busy * 0
            total = shared[:, 0].astype(cupy.uint64).sum()
        del a, shared
        gc.collect()
        # Takes the freed memory.
        full = wp.array([(1 << BITS) - 1], device="cuda") + wp.random(
            1 << 14, bits=1, device="cuda"
        )
        assert int(total.get(stream=stream)) == expected
        del full, busy


def test_memory_that_is_not_aligned_is_copied():
    cupy = pytest.importorskip("cupy")
    limbs = cupy.arange(4096, dtype=cupy.uint32).reshape(1024, 4)
    part = limbs[1:]
    a = wp.from_dlpack(part)
    assert a.__cuda_array_interface__["data"][0] != part.data.ptr
    limbs[:] = 0
    assert a[0] == 4 + (5 << 32) + (6 << 64) + (7 << 96)
    for strided in limbs[:, ::2], limbs[::2], limbs.T:
        with pytest.raises(ValueError, match="contiguous"):
            wp.from_dlpack(strided)
    with pytest.raises(TypeError, match="uint32 or uint64"):
        wp.from_dlpack(cupy.zeros((2, 2), dtype=cupy.int32))


def test_pytorch_shares_the_memory():
    torch = pytest.importorskip("torch")
    a = example()
    shared = torch.from_dlpack(a)
    assert shared.data_ptr() == a.__cuda_array_interface__["data"][0]
    assert shared.view(torch.int32).cpu().numpy().view(np.uint32).tolist() == a.to_numpy().tolist()
    back = wp.from_dlpack(shared)
    assert back.equals(a)
    del a, shared
    gc.collect()
    assert back.equals(example())


def test_the_end_of_python_while_a_daemon_thread_uses_the_gpu():
    code = """
import threading, time, warpint as wp
a = wp.random(100_000, bits=2048, rng=1, device="cuda")
def work():
    while True:
        pow(a, a, a | 1)[0]
threading.Thread(target=work, daemon=True).start()
job = lambda: wp.Mersenne(1257787).prp(directory=None, device="cuda")
threading.Thread(target=job, daemon=True).start()
time.sleep(2)
"""
    for _ in range(5):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_numba_shares_the_memory():
    cuda = pytest.importorskip("numba.cuda")
    a = example()
    shared = cuda.as_cuda_array(a)
    assert shared.copy_to_host().tolist() == a.to_numpy().tolist()
    assert wp.from_dlpack(shared).equals(a)
