"""Arrays on each device of this machine: the CPU, a GPU, and the simulator if it is built in."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import warpint as wp
from conftest import DEVICES

pytestmark = pytest.mark.quick

A = [0, 1, 2**100 - 1, 2**64, 12345678901234567890, 97]
B = [2**70 - 1, 0, 3, 2**64 + 1, 2**33, 10**20 + 39]


def test_operators(device):
    a, b = wp.array(A, bits=100, device=device), wp.array(B, bits=70, device=device)
    pairs = list(zip(A, B))
    assert a.device == b.device == (a + b).device == (a - b).device == device
    assert (a + b).tolist() == [x + y for x, y in pairs]
    assert (a * b).tolist() == [x * y for x, y in pairs] and a.square().equals(a * a)
    assert (a - b).tolist() == [x - y if x >= y else None for x, y in pairs]
    assert (a // b).tolist() == [x // y if y else None for x, y in pairs]
    assert (a % b).tolist() == [x % y if y else None for x, y in pairs]
    assert (a % 1000).tolist() == [x % 1000 for x in A]
    assert (a & b).tolist() == [x & y for x, y in pairs]
    assert (~a).tolist() == [2**100 - 1 - x for x in A]
    assert (a << 37).tolist() == [x << 37 for x in A] and (a >> 37).tolist() == [x >> 37 for x in A]
    assert (a < b).tolist() == [x < y for x, y in pairs]
    assert (a + 5).tolist() == [x + 5 for x in A] and (7 - a).tolist()[1] == 6
    assert (a**3).tolist() == [x**3 for x in A]
    assert a.truncate(65).tolist() == [x % 2**65 for x in A]
    with pytest.raises(OverflowError, match="element 2 has 100 bits"):
        a.resize(70)


def test_functions(device):
    a, b = wp.array(A, bits=100, device=device), wp.array(B, bits=70, device=device)
    pairs = list(zip(A, B))
    assert wp.gcd(a, b).tolist() == [math.gcd(x, y) for x, y in pairs]
    assert wp.lcm(a, b).tolist() == [math.lcm(x, y) for x, y in pairs]
    for (g, p, q), x, y in zip(wp.gcdext(a, b).tolist(), A, B):
        assert g == math.gcd(x, y) == p * x + q * y
    assert wp.invert(a, 2**61 - 1).tolist() == [
        pow(x, -1, 2**61 - 1) if x % (2**61 - 1) else None for x in A
    ]
    assert pow(a, b, 10**30 + 57).tolist() == [pow(x, y, 10**30 + 57) for x, y in pairs]
    modulus = wp.Modulus(10**30 + 57, device=device)
    assert modulus.device == device
    assert modulus.mul(a, b).tolist() == [x * y % (10**30 + 57) for x, y in pairs]
    table = modulus.fixed_base(3, 100)
    assert table.pow(a).tolist() == [pow(3, x, 10**30 + 57) for x in A]
    assert wp.isqrt(a).tolist() == [math.isqrt(x) for x in A]
    assert wp.iroot(a, 3).device == device
    assert wp.iroot(a, 3).tolist() == wp.iroot(a.to("cpu"), 3).tolist()
    assert wp.is_probable_prime(a).tolist() == wp.is_probable_prime(A).tolist()
    assert wp.next_prime(a).device == device and wp.next_prime(a).equals(wp.next_prime(A))
    assert wp.crt([a % 1009, a % 1013], [1009, 1013]).tolist() == [x % (1009 * 1013) for x in A]
    assert wp.random(9, 100, rng=1, device=device).equals(wp.random(9, 100, rng=1))
    assert (
        wp.random_below(b | 1, rng=1).tolist() == wp.random_below(wp.array(B) | 1, rng=1).tolist()
    )
    wp.synchronize(device)


def test_access(device):
    a = wp.array(A, bits=100, device=device)
    assert [a[i] for i in range(-6, 6)] == A + A and list(a) == a.tolist() == A
    for part in slice(None), slice(1, 4), slice(4, 1), slice(None, None, 2), slice(None, None, -1):
        assert a[part].tolist() == A[part] and a[part].device == device
    assert a[[5, 0]].tolist() == [97, 0] and a[a < 100].tolist() == [0, 1, 97]
    assert a.to("cpu").device == "cpu" and a.to(device) is a and a.copy().equals(a)
    assert a.to_numpy().tolist() == wp.array(A, bits=100).to_numpy().tolist()
    assert not a.to_numpy().flags.writeable
    assert pickle.loads(pickle.dumps(a)).device == "cpu"
    assert wp.array(a.to_numpy(), bits=100, device=device).equals(a)
    assert wp.concatenate([a, a[:1]]).device == device
    d = a - 97
    assert d.to("cpu").tolist() == d.tolist() and d.fill(3).tolist()[:2] == [3, 3]
    assert d.fill(3).device == device
    assert repr(a).endswith(f"device='{device}')")
    empty = wp.array([], bits=64, device=device)
    assert (empty * empty).tolist() == empty[:].tolist() == []


@pytest.mark.skipif(len(DEVICES) < 2, reason="needs a second device")
def test_operands_on_different_devices_are_refused():
    other = DEVICES[1]
    a, b = wp.array([1]), wp.array([1], device=other)
    for job in (
        lambda: a + b,
        lambda: b == a,
        lambda: wp.gcd(a, b),
        lambda: wp.powmod(a, a, b),
        lambda: wp.Modulus(5, device=other).mul(a, 2),
    ):
        with pytest.raises(ValueError, match=f"on (cpu and on {other}|{other} and on cpu)"):
            job()
    with pytest.raises(ValueError, match=f"array 1 is on {other}"):
        wp.concatenate([a, b])
    assert a.equals(b)


@pytest.mark.skipif("sim" not in DEVICES, reason="needs the simulator")
def test_the_simulator_exports_host_memory():
    a = wp.array(A, bits=100, device="sim")
    shared = np.from_dlpack(a)
    again = np.from_dlpack(a)
    assert a.__dlpack_device__() == (1, 0)
    assert shared.ctypes.data == again.ctypes.data
    assert shared.tolist() == again.tolist() == a.to_numpy().tolist()
    assert np.from_dlpack(a, copy=True).ctypes.data != shared.ctypes.data
    del a, again
    assert shared.tolist() == wp.array(A, bits=100).to_numpy().tolist()
    assert not hasattr(wp.array([1], device="sim"), "__cuda_array_interface__")


@pytest.mark.skipif("sim" not in DEVICES, reason="the package is built without the simulator")
def test_prices_of_tune_are_read(tmp_path: Path) -> None:
    file = tmp_path / "tuning.json"
    file.write_text("{")
    code = """
import logging, warpint as wp
logging.basicConfig(format="%(name)s: %(message)s")
for _ in "12":
    print((wp.array([3], device="sim") * 5).tolist())
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"WARPINT_CONFIG_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "[15]\n[15]\n")
    # The damaged file is reported once, when the device is opened, and is set aside.
    (line,) = done.stderr.splitlines()
    assert line.startswith("warpint: ") and str(file) in line
    assert not file.exists() and (tmp_path / "tuning.json.bad").exists()
