"""Blocks and their workers without a cluster: the workers are in this process, and die on request."""

from __future__ import annotations

import operator
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warpint as wp
from conftest import DEVICES
from hypothesis import given
from hypothesis import strategies as st
from local_engine import Local
from warpint._blocks import cut, default_cut, map_blocks, prepared
from warpint._cluster import BlockError, Worker, shares

pytestmark = pytest.mark.quick


def mapped(function: Callable[..., Any], *operands: Any, **options: Any) -> Any:
    return map_blocks(Local, function, operands, **options)


NUMBERS = [pow(3, k, 2**127) for k in range(1, 101)]


@given(
    st.lists(st.integers(0, 2**100), max_size=20),
    st.integers(1, 25),
    st.integers(0, 2**70),
)
def test_blocks_are_joined_in_order(xs: list[int], block: int, y: int) -> None:
    found = mapped(operator.mul, wp.array(xs, bits=101), y, block=block)
    assert found.tolist() == [x * y for x in xs]
    assert found.bits == (wp.array(xs, bits=101) * y).bits


def test_operands_of_all_kinds() -> None:
    xs, n = NUMBERS, len(NUMBERS)
    limbs = wp.array(xs).to_numpy(np.uint64)
    ys = [x % 1000 + 1 for x in xs]
    expected = [pow(x, y, 10**9 + 7) for x, y in zip(xs, ys, strict=True)]
    for a in xs, tuple(xs), limbs, wp.array(xs), np.array(xs, dtype=object):
        for e in ys, np.array(ys), np.array(ys, dtype=np.uint16):
            assert mapped(pow, a, e, 10**9 + 7, block=7).tolist() == expected
    one = wp.array([5])
    assert mapped(operator.add, xs, one, block=9).tolist() == [x + 5 for x in xs]
    assert mapped(operator.add, [5], xs, block=9).tolist() == [x + 5 for x in xs]
    assert mapped(operator.add, [5], 6).tolist() == [11]
    assert mapped(operator.add, xs, np.int64(3), block=n).tolist() == [x + 3 for x in xs]


def test_results_of_all_kinds() -> None:
    xs = NUMBERS
    ys = [x % 7 for x in xs]
    remainders = [x % y if y else None for x, y in zip(xs, ys, strict=True)]
    for block in 1, 13, 100, 1000:
        masked = mapped(operator.mod, xs, wp.array(ys), block=block)
        assert isinstance(masked, wp.Masked) and masked.tolist() == remainders
        assert masked.reason == "division by zero"
        again = mapped(lambda a: a + 1, masked, block=block)
        assert again.tolist() == [None if x is None else x + 1 for x in remainders]
        assert isinstance(again, wp.Masked)
        q, r = mapped(divmod, xs, 1000, block=block)
        assert (q.tolist(), r.tolist()) == ([x // 1000 for x in xs], [x % 1000 for x in xs])
        found = mapped(wp.gcdext, xs, ys, block=block)
        assert isinstance(found, wp.GcdExt)
        assert found.tolist() == wp.gcdext(xs, ys).tolist()
        primes = mapped(wp.is_probable_prime, xs, block=block)
        assert primes.dtype == np.bool_ and primes.tolist() == wp.is_probable_prime(xs).tolist()
        limbs = mapped(lambda a: a.to_numpy(), xs, block=block)
        assert wp.array(limbs).tolist() == xs


def test_results_may_have_other_lengths() -> None:
    small = list(range(1000))
    primes = mapped(lambda n: n[wp.is_probable_prime(n)], small, block=64)
    assert len(primes) == 168 and primes[-1] == 997


def test_array_and_masked_are_joined() -> None:
    def some(a: wp.Array) -> wp.Array | wp.Masked:
        return a - 3 if int(a[0]) < 5 else a

    found = mapped(some, range_list := list(range(10)), block=5)
    assert found.tolist() == [None, None, None, 0, 1, *range_list[5:]]


@pytest.mark.parametrize("name", [name.split(":")[0] for name in DEVICES])
def test_a_block_is_moved_to_the_device(name: str) -> None:
    def device(a: wp.Array, b: wp.Masked, c: int) -> tuple[wp.Masked, np.ndarray]:
        return b + a * c, np.array([a.device, b.device])

    masked = wp.array(NUMBERS) - 3**20
    found, places = mapped(device, NUMBERS, masked, 7, block=30, device=name)
    expected = [x - 3**20 + 7 * x if x >= 3**20 else None for x in NUMBERS]
    assert found.tolist() == expected and found.device == "cpu"
    assert {place.split(":")[0] for place in places.tolist()} == {name}


def test_no_elements() -> None:
    for operands in ([],), (wp.array([], bits=64), 5), ([], [3]):
        found = mapped(lambda *a: a[0] + 1, *operands)
        assert isinstance(found, wp.Array) and found.tolist() == []
    assert cut(0, 5) == [(0, 0)] and cut(10, 5) == [(0, 5), (5, 10)] and cut(3, 9) == [(0, 3)]


def test_default_blocks_cover_all_elements_and_get_smaller() -> None:
    a = wp.array([1], bits=1024)
    for length in 0, 1, 2, 3, 100, 1000, 300_000:
        for workers in 1, 2, 3, 50:
            bounds = default_cut([a, 5], length, workers)
            assert bounds[0][0] == 0 and bounds[-1][1] == length
            assert all(one[1] == other[0] for one, other in pairwise(bounds))
            sizes = [stop - start for start, stop in bounds]
            assert sizes[:-1] == sorted(sizes[:-1], reverse=True)
            assert length == 0 or min(sizes) > 0
            assert len(bounds) <= 32 * workers
    # 2^20 numbers of 1,024 bits are 128 MiB.
    wide = wp.random(1 << 20, bits=1024, rng=1)
    assert default_cut([wide], 1 << 20, 1)[0] == (0, -(-(1 << 20) // 3))
    assert default_cut([wide, wide], 1 << 20, 1)[0] == (0, 1 << 18)


def test_lost_workers_change_nothing() -> None:
    begun: list[int] = []
    for deaths in {0: 1}, {3: 2, 4: 2, 9: 1}, dict.fromkeys(range(10), 2):
        engine: list[Local] = []

        def opened(
            function: Callable[..., Any], deaths: dict[int, int] = deaths, engine: Any = engine
        ) -> Local:
            engine.append(Local(function, deaths=dict(deaths), begun=begun))
            return engine[0]

        found = map_blocks(opened, operator.add, (NUMBERS, 1), block=10)
        assert found.tolist() == [x + 1 for x in NUMBERS]
        assert engine[0].lost >= 1 and engine[0].closed
        assert engine[0].most <= 4


def test_a_block_that_kills_its_workers_is_named(caplog: pytest.LogCaptureFixture) -> None:
    for attempts in 1, 3:
        with pytest.raises(BlockError, match="block 4, elements 40 to 49: .* lost") as caught:
            map_blocks(
                lambda f: Local(f, deaths={4: 99}),
                operator.add,
                (NUMBERS, 1),
                block=10,
                attempts=attempts,
            )
        error = caught.value
        assert (error.block, error.start, error.stop) == (4, 40, 50)
        assert "\n" not in str(error)
        assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert "a worker was lost" in caplog.text


def test_a_worker_that_leaves_is_noticed() -> None:
    engine: list[Local] = []

    def opened(function: Callable[..., Any]) -> Local:
        engine.append(Local(function, leaves_after=3))
        return engine[0]

    found = map_blocks(opened, operator.add, (NUMBERS, 1), block=5)
    assert found.tolist() == [x + 1 for x in NUMBERS] and engine[0].lost == 1


def test_an_exception_has_the_first_element_of_its_block() -> None:
    def broken(a: wp.Array) -> wp.Array:
        if 37 in a:
            raise KeyError("no such number")
        return a

    with pytest.raises(BlockError, match="block 3, elements 30 to 39: KeyError") as caught:
        mapped(broken, list(range(100)), block=10)
    assert caught.value.start == 30
    cause = caught.value.__cause__
    assert isinstance(cause, KeyError) and cause.args == ("no such number",)
    assert "in broken" in str(cause.__cause__)


def test_an_exception_that_has_no_pickle() -> None:
    class Odd(Exception):
        def __reduce__(self) -> Any:
            raise TypeError("no")

    def broken(a: wp.Array) -> wp.Array:
        raise Odd("text")

    with pytest.raises(BlockError, match="Odd: text") as caught:
        mapped(broken, [1])
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_progress_and_its_exceptions() -> None:
    seen: list[wp.Progress] = []
    mapped(operator.add, NUMBERS, 1, block=10, progress=seen.append)
    assert seen[-1].done == seen[-1].total == 100 and seen[-1].unit == "number"
    assert [p.done for p in seen] == sorted(p.done for p in seen)
    engine: list[Local] = []

    def stop(progress: wp.Progress) -> None:
        raise InterruptedError("enough")

    def opened(function: Callable[..., Any]) -> Local:
        engine.append(Local(function))
        return engine[0]

    with pytest.raises(InterruptedError):
        map_blocks(opened, operator.add, (NUMBERS, 1), block=10, progress=stop)
    assert engine[0].closed


@pytest.mark.parametrize(
    ("call", "kind", "match"),
    [
        (lambda: mapped(5, [1]), TypeError, "not callable"),
        (lambda: mapped(operator.add), TypeError, "none of the operands"),
        (lambda: mapped(operator.add, 5, 6), TypeError, "none of the operands"),
        (lambda: mapped(operator.add, [1], "7"), TypeError, "operand 1 .*str"),
        (lambda: mapped(operator.add, [1], 2.5), TypeError, "operand 1 .*float"),
        (lambda: mapped(operator.add, [1], None), TypeError, "operand 1 .*NoneType"),
        (lambda: mapped(operator.add, [1], True), TypeError, "operand 1 .*bool"),
        (lambda: mapped(operator.add, [1, 2.5]), TypeError, "element 1"),
        (lambda: mapped(operator.add, [1, -5]), OverflowError, "element 1"),
        (lambda: mapped(operator.add, np.zeros(3)), TypeError, "dtype"),
        (lambda: mapped(operator.add, np.zeros((3, 2))), TypeError, "uint32"),
        (lambda: mapped(operator.add, [1, 2], [1, 2, 3]), ValueError, "do not fit"),
        (lambda: mapped(operator.add, [1, 2], []), ValueError, "do not fit"),
        (lambda: mapped(operator.add, [1], 1, block=0), ValueError, "block"),
        (lambda: mapped(operator.add, [1], 1, block="x"), TypeError, "block"),
        (lambda: mapped(operator.add, [1], 1, attempts=0), ValueError, "attempts"),
        (lambda: mapped(operator.add, [1], 1, device="gpu"), ValueError, "'gpu'"),
        (lambda: mapped(operator.add, [1], 1, device="cuda:1"), ValueError, "'cuda:1'"),
        (lambda: mapped(operator.add, [1], 1, device=0), TypeError, "int"),
        (lambda: mapped(operator.add, [1], 1, progress=5), TypeError, "progress"),
        (lambda: mapped(lambda a: 5, [1]), BlockError, "returns an Array.*int"),
        (lambda: mapped(lambda a: 5, []), BlockError, "block 0, no elements: TypeError: .*int"),
        (lambda: mapped(lambda a: a.tolist(), [1]), BlockError, "not list"),
        (lambda: mapped(lambda a: (), [1]), BlockError, "not tuple"),
        (lambda: mapped(lambda a: ((a,),), [1]), BlockError, "not tuple"),
        (lambda: mapped(lambda a: np.int64(5), [1]), BlockError, "int64"),
        (
            lambda: mapped(lambda a: a if 0 in a else a == 1, [0, 1], block=1),
            TypeError,
            "block 0 gave an Array, but block 1 gave a NumPy",
        ),
        (
            lambda: mapped(lambda a: np.array(a.tolist()), [5, 2**63 + 1025], block=1),
            TypeError,
            "block 0 gave a NumPy array of int64 .*, but block 1 gave a NumPy array of uint64",
        ),
        (
            lambda: mapped(lambda a: np.ma.array(a.tolist(), mask=True), [1]),
            BlockError,
            "not MaskedArray",
        ),
    ],
)
def test_wrong_input_is_one_line(call: Any, kind: type[Exception], match: str) -> None:
    with pytest.raises(kind, match=match) as caught:
        call()
    assert type(caught.value) is kind and "\n" not in str(caught.value)


def test_a_function_without_a_pickle() -> None:
    with pytest.raises(TypeError, match="cannot be sent to workers") as caught:
        mapped(partial(operator.add, threading.Lock()), [1])
    assert "\n" not in str(caught.value)


def test_the_function_is_loaded_once() -> None:
    worker = pickle.loads(pickle.dumps(Worker(pickle.dumps(operator.add))))
    assert worker.call(wp.array([1]), 2).tolist() == [3]
    function = worker._function
    assert worker.call(wp.array([2]), 2).tolist() == [4] and worker._function is function


def test_prepared_operands() -> None:
    operands, length = prepared((NUMBERS, 5, [7]))
    assert length == 100 and operands[1] == 5 and operands[2].tolist() == [7]


@pytest.mark.parametrize(
    ("nodes", "workers", "threads", "with_gpu", "expected"),
    [
        ([(8, 0)], None, None, False, (1, 8)),
        ([(8, 0), (16, 0)], None, None, False, (3, 8)),
        ([(8, 0)], 2, None, False, (2, 4)),
        ([(8, 0)], 3, None, False, (3, 2)),
        ([(8, 0)], None, 2, False, (4, 2)),
        ([(8, 0)], 2, 1, False, (2, 1)),
        ([(5, 0), (5, 0)], 3, None, False, (3, 2)),
        ([(0, 0), (4, 0)], None, None, False, (1, 4)),
        ([(16, 4), (16, 0)], None, None, True, (4, 4)),
        ([(16, 4), (16, 2)], None, None, True, (6, 4)),
        ([(16, 4)], 2, None, True, (2, 8)),
        ([(2, 4)], None, None, True, (2, 1)),
    ],
)
def test_shares_of_nodes(
    nodes: Any, workers: Any, threads: Any, with_gpu: bool, expected: Any
) -> None:
    assert shares(nodes, workers, threads, with_gpu) == expected


@pytest.mark.parametrize(
    ("nodes", "workers", "threads", "with_gpu", "match"),
    [
        ([], None, None, False, "no node with a CPU"),
        ([(8, 0)], None, None, True, "no node with a GPU"),
        ([(8, 0)], 9, None, False, "room for 8 workers"),
        ([(8, 0)], None, 9, False, "room for 0 workers"),
        ([(8, 2)], 3, None, True, "room for 2 workers"),
        ([(8, 0)], 0, None, False, "workers"),
        ([(8, 0)], None, 0, False, "threads"),
    ],
)
def test_nodes_without_room(
    nodes: Any, workers: Any, threads: Any, with_gpu: bool, match: str
) -> None:
    with pytest.raises(ValueError, match=match):
        shares(nodes, workers, threads, with_gpu)


def test_buffers_at_odd_addresses() -> None:
    a = wp.array(NUMBERS)
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(a, protocol=5, buffer_callback=buffers.append)
    assert buffers and len(data) < 400
    odd = [memoryview(b"x" + bytes(buffer.raw()))[1:] for buffer in buffers]
    assert pickle.loads(data, buffers=odd).equals(a)
    limbs = np.frombuffer(b"x" + a.to_numpy().tobytes(), np.uint8)[1:].view(np.uint32)
    assert wp.array(limbs.reshape(len(a), -1)).equals(a)


def run(code: str, **env: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | env,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_threads_of_a_process() -> None:
    code = """
import os, pickle, operator
from warpint._cluster import Worker
import warpint as wp
def arrived(*arguments):
    return pickle.loads(pickle.dumps(Worker(*arguments)))

environment = dict(os.environ)
Worker(b"", 7, False)
assert environment == os.environ
w = arrived(pickle.dumps(operator.mul), {threads}, {is_default})
before = len(os.listdir("/proc/self/task"))
w.call(wp.random(1000, bits=4096), wp.random(1000, bits=4096))
print(os.environ["RAYON_NUM_THREADS"], len(os.listdir("/proc/self/task")) - before)
print(arrived(b"", 2, False).call())
print(arrived(pickle.dumps(operator.add), 3, True).call(1, 2))
"""
    env = {"RAYON_NUM_THREADS": ""}
    script = "import os; del os.environ['RAYON_NUM_THREADS']\n" + code
    first, second, third = run(script.format(threads=3, is_default=False), **env)
    assert first == "3 3" and "threads=3" in second and third == "3"
    first, second, third = run(code.format(threads=3, is_default=True), RAYON_NUM_THREADS="5")
    assert first == "5 5" and third == "3"


def test_the_libraries_are_imported_on_request_only() -> None:
    code = "import sys, warpint; print({'ray', 'dask', 'distributed'} & set(sys.modules))"
    assert run(code) == ["set()"]
    for module, library, extra in ("ray", "ray", "ray"), ("dask", "distributed", "dask"):
        code = f"""
import sys
sys.modules[{library!r}] = None
try:
    import warpint.{module}
except ImportError as error:
    print(error)
"""
        if module == "dask":
            code = code.replace("sys.modules", "sys.modules['cloudpickle'] = sys.modules", 1)
        (message,) = run(code)
        assert f"needs the package {library}: pip install 'warpint[{extra}]'" in message


def test_the_extras_exist() -> None:
    project = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    assert "\nray = [" in project and "\ndask = [" in project
