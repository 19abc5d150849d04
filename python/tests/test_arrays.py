"""Arrays from and to Python's objects and NumPy, and access to their elements."""

from __future__ import annotations

import copy
import mmap
import operator
import pickle
import sys

import gmpy2
import numpy as np
import pytest
import warpint as wp
from conftest import lists
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.quick


@given(lists())
def test_numbers_return_from_every_form(pair):
    xs, bits = pair
    a = wp.array(xs, bits=bits)
    assert (len(a), a.shape, a.size, a.ndim, a.bits) == (len(xs), (len(xs),), len(xs), 1, bits)
    assert a.tolist() == list(a) == [int(x) for x in a.to_numpy(object)] == xs
    assert wp.array([gmpy2.mpz(x) for x in xs], bits=bits).tolist() == xs
    assert wp.array(tuple(xs), bits=bits).tolist() == wp.array(iter(xs), bits=bits).tolist() == xs
    assert wp.array(np.array([*xs, None], dtype=object)[:-1], bits=bits).tolist() == xs
    for dtype in np.uint32, np.uint64:
        limbs = a.to_numpy(dtype)
        assert limbs.dtype == dtype
        assert limbs.shape == (len(xs), -(-bits // (8 * limbs.itemsize)))
        assert wp.array(limbs, bits=bits).tolist() == xs
        assert wp.array(limbs).tolist() == xs
    for order in "little", "big":
        data = a.tobytes(order)
        assert data == b"".join(x.to_bytes(-(-bits // 8), order) for x in xs)
        assert wp.from_bytes(data, bits, order).tolist() == xs
    assert wp.array(a.tobytes(), bits=bits).tolist() == xs
    assert wp.array(bytearray(a.tobytes()), bits=bits).tolist() == xs
    assert a.copy().tolist() == wp.array(a).tolist() == xs
    assert copy.copy(a) is a and copy.deepcopy(a) is a
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        b = pickle.loads(pickle.dumps(a, protocol))
        assert (b.tolist(), b.bits, b.device) == (xs, bits, "cpu")


@given(lists())
def test_the_default_width_is_the_least(pair):
    xs, _ = pair
    assert wp.array(xs).bits == max([x.bit_length() for x in xs] + [1])


def test_pickled_limbs_can_travel_out_of_band():
    a = wp.random(100, bits=999, rng=5)
    buffers = []
    data = pickle.dumps(a, protocol=5, buffer_callback=buffers.append)
    assert len(buffers) == 1 and len(data) < 1000
    assert pickle.loads(data, buffers=buffers).equals(a)


def pickled(a):
    """A pickle of an array, and its limbs."""
    buffers = []
    data = pickle.dumps(a, protocol=5, buffer_callback=buffers.append)
    (buffer,) = buffers
    return data, bytes(buffer.raw())


def addresses(a, buffer):
    """The address of the limbs of an array, and that of a buffer."""
    there = np.frombuffer(buffer, np.uint8)
    return a._batch.limbs().ctypes.data, there.ctypes.data


def test_unpickled_arrays_share_memory_that_nobody_can_write():
    a = wp.random(100, bits=999, rng=5)
    data, limbs = pickled(a)
    for buffer in (limbs, memoryview(limbs), pickle.PickleBuffer(limbs)):
        b = pickle.loads(data, buffers=[buffer])
        here, there = addresses(b, limbs)
        assert here == there and b.equals(a)
        # The array keeps the memory, and results are elsewhere.
        assert (b + 1).tolist() == [x + 1 for x in a.tolist()] and b.equals(a)
        again = pickle.loads(pickle.dumps(b))
        assert again.equals(a)
        del b
    held = sys.getrefcount(limbs)
    b = pickle.loads(data, buffers=[limbs])
    assert sys.getrefcount(limbs) > held
    del b
    assert sys.getrefcount(limbs) == held
    # The bytes of a pickle itself are used too.
    inner = pickle.loads(pickle.dumps(a, protocol=5))
    assert inner.equals(a)


def test_unpickled_arrays_copy_memory_that_can_be_written(tmp_path):
    a = wp.random(100, bits=999, rng=5)
    data, limbs = pickled(a)
    file = tmp_path / "limbs"
    file.write_bytes(limbs)
    own = np.frombuffer(limbs, np.uint8).copy()
    own.flags.writeable = False
    with file.open("r+b") as opened:
        mapped = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    changed = bytearray(limbs)
    for buffer in (changed, memoryview(changed).toreadonly(), own, memoryview(own), mapped):
        b = pickle.loads(data, buffers=[buffer])
        here, there = addresses(b, buffer)
        assert here != there and b.equals(a)
    b = pickle.loads(data, buffers=[memoryview(changed).toreadonly()])
    changed[:] = bytes(len(changed))
    assert b.equals(a)


def test_a_bool_is_no_index():
    a = wp.array([1, 2, 3])
    for wrong in True, False, np.True_, a == "x", 1.0, None:
        with pytest.raises(TypeError, match="an index is an int"):
            a[wrong]
    assert a[np.int64(1)] == 2


def test_numbers_are_not_compared_with_floats():
    a = wp.array([1, 2, 3])
    for compare in operator.eq, operator.ne, operator.lt, operator.ge:
        for wrong in 2.0, np.float64(2), np.float32(2):
            with pytest.raises(TypeError, match=r"with integers, not with the float 2\.0"):
                compare(a, wrong)


def test_masked_arrays_of_numpy_are_refused():
    for masked in (
        np.ma.array([[1, 2]], mask=[[1, 0]], dtype=np.uint32),
        np.ma.array([1, 2], mask=[1, 0]),
    ):
        with pytest.raises(TypeError, match="masked array of NumPy"):
            wp.array(masked)
        with pytest.raises(TypeError, match="masked array of NumPy"):
            wp.from_dlpack(masked)


def test_one_number():
    a = wp.array(2**70)
    assert a.shape == (1,) and int(a) == 2**70 and bool(a) and not bool(wp.array([0]))
    assert wp.array(gmpy2.mpz(5)).tolist() == wp.array(np.uint8(5)).tolist() == [5]
    assert wp.array(np.array(7)).tolist() == [7]
    with pytest.raises(TypeError, match="one element"):
        int(wp.array([1, 2]))
    with pytest.raises(ValueError, match="truth value"):
        bool(wp.array([1, 2]))


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_numpy_arrays_of_numbers(dtype):
    xs = np.array([0, 1, np.iinfo(dtype).max], dtype=dtype)
    assert wp.array(xs).tolist() == xs.tolist()
    assert wp.array(xs[::-1]).tolist() == xs.tolist()[::-1]


@pytest.mark.parametrize("i", [0, 3, 7])
def test_the_first_wrong_element_is_named(i):
    def with_element(x):
        return [*range(i), x, *range(7 - i), x]

    for wrong, error, text in [
        (-1, OverflowError, f"element {i} is negative"),
        (1 << 80, OverflowError, f"element {i} has 81 bits, but the width is 80 bits"),
        (1.0, TypeError, f"element {i} is not an integer but of type float"),
        ("1", TypeError, f"element {i} is not an integer but of type str"),
        (None, TypeError, f"element {i} is not an integer but of type NoneType"),
    ]:
        with pytest.raises(error, match=text):
            wp.array(with_element(wrong), bits=80)
        with pytest.raises(error, match=text):
            wp.array(np.array(with_element(wrong), dtype=object), bits=80)
    with pytest.raises(OverflowError, match=f"element {i} is negative"):
        wp.array(np.array(with_element(-1)), bits=80)
    with pytest.raises(OverflowError, match=f"element {i} has 64 bits"):
        wp.array(np.array(with_element(2**64 - 1), dtype=np.uint64), bits=63)
    limbs = np.zeros((9, 2), dtype=np.uint32)
    limbs[i, 1] = 1
    with pytest.raises(OverflowError, match=f"element {i} has 33 bits"):
        wp.array(limbs, bits=32)
    with pytest.raises(OverflowError, match=f"element {i} has 16 bits"):
        wp.from_bytes(bytes(2 * i) + b"\xff\xff", bits=15)


def test_wrong_arrays_of_numpy():
    for dtype in float, np.float32, bool, complex, "U3", "M8[s]":
        with pytest.raises(TypeError, match="dtype"):
            wp.array(np.zeros(3, dtype=dtype))
        with pytest.raises(TypeError, match="dtype"):
            wp.array(np.zeros((3, 2), dtype=dtype))
    for dtype in np.int32, np.int64, np.uint8, ">u4", object:
        with pytest.raises(TypeError, match="uint32 or uint64"):
            wp.array(np.zeros((3, 2), dtype=dtype))
    for shape in (3, 0), (2, 2, 2):
        with pytest.raises(ValueError, match="shape"):
            wp.array(np.zeros(shape, dtype=np.uint32))
    with pytest.raises(OverflowError, match="at most 2097152"):
        wp.array(np.zeros((0, 1 << 50), dtype=np.uint64))
    limbs = np.arange(24, dtype=np.uint32).reshape(4, 6)
    for strided in limbs[:, ::2], limbs[::2], limbs.T, np.asfortranarray(limbs), limbs[:, 1:]:
        with pytest.raises(ValueError, match="contiguous"):
            wp.array(strided)
        assert wp.array(np.ascontiguousarray(strided)).shape == (len(strided),)
    assert wp.array(limbs[1:3]).shape == (2,)


def test_wrong_widths_bytes_and_devices():
    for bits in 0, -5:
        with pytest.raises(ValueError, match="at least 1 bit"):
            wp.array([1], bits=bits)
    with pytest.raises(OverflowError, match="2097153 bits"):
        wp.array([1], bits=(1 << 21) + 1)
    with pytest.raises(TypeError, match="width"):
        wp.array([1], bits=1.5)
    with pytest.raises(TypeError, match="width"):
        wp.array(b"ab")
    with pytest.raises(ValueError, match="3 bytes"):
        wp.from_bytes(b"abc", bits=16)
    with pytest.raises(ValueError, match="byte order"):
        wp.from_bytes(b"ab", bits=16, byteorder="middle")
    with pytest.raises(ValueError, match="byte order"):
        wp.array([1]).tobytes("middle")
    for name in "gpu", "cuda:", "cuda:-1", "cuda:x", "CPU", "":
        with pytest.raises(ValueError, match="is not a device"):
            wp.array([1], device=name)
        with pytest.raises(ValueError, match="is not a device"):
            wp.array([1]).to(name)
    with pytest.raises(TypeError, match="string"):
        wp.array([1], device=0)
    with pytest.raises(TypeError, match="warpint.array"):
        wp.Array()


@given(lists(), st.data())
def test_elements_and_parts(pair, data):
    xs, bits = pair
    a = wp.array(xs, bits=bits)
    part = data.draw(st.slices(len(xs)))
    assert a[part].tolist() == xs[part] and a[part].bits == bits
    for i in range(-len(xs), len(xs)):
        assert a[i] == xs[i] and type(a[i]) is int
        assert xs[i] in a
    for i in len(xs), -len(xs) - 1:
        with pytest.raises(IndexError, match=f"index {i} is out of range"):
            a[i]
    if xs:
        indices = data.draw(st.lists(st.integers(-len(xs), len(xs) - 1)))
        assert (
            a[indices].tolist()
            == a[np.array(indices, dtype=int)].tolist()
            == [xs[i] for i in indices]
        )
        with pytest.raises(IndexError):
            a[[len(xs)]]
    keep = data.draw(st.lists(st.booleans(), min_size=len(xs), max_size=len(xs)))
    assert a[np.array(keep, dtype=bool)].tolist() == [x for x, k in zip(xs, keep) if k]


def test_wrong_indices():
    a = wp.array([1, 2, 3])
    for wrong in 1.0, "0", None, (0, 1):
        with pytest.raises(TypeError, match="index"):
            a[wrong]
    with pytest.raises(TypeError, match="index"):
        a[np.array([0.5])]
    with pytest.raises(IndexError):
        a[np.array([True, False])]
    with pytest.raises(TypeError):
        a[0] = 5


def test_views_of_limbs_share_the_memory_and_are_read_only():
    a = wp.array([2**95 + 1, 5], bits=128)
    for dtype in np.uint32, np.uint64:
        view = a.to_numpy(dtype)
        assert view.ctypes.data == a.to_numpy().ctypes.data and not view.flags.writeable
        with pytest.raises(ValueError):
            view[0, 0] = 1
    view = a.to_numpy()
    del a
    assert view.tolist() == [[1, 0, 1 << 31, 0], [5, 0, 0, 0]]
    for dtype in np.int64, np.float64:
        with pytest.raises(TypeError, match="uint32 or uint64"):
            wp.array([1]).to_numpy(dtype)


def test_numpy_makes_arrays_of_numbers():
    a = wp.array([1, 2**70])
    assert np.asarray(a).tolist() == [1, 2**70] and np.asarray(a).dtype == object
    assert np.array(wp.array([1, 2]), dtype=np.int64).dtype == np.int64
    assert np.asarray(a, dtype=float).tolist() == [1.0, 2.0**70]
    with pytest.raises(ValueError, match="copy"):
        np.array(a, copy=False)


def test_texts():
    assert repr(wp.array([1, 2], bits=9)) == "warpint.array([1, 2], bits=9, device='cpu')"
    many = repr(wp.array(range(100)))
    assert many == "warpint.array([0, 1, 2, …, 97, 98, 99], bits=7, device='cpu', shape=(100,))"
    long = repr(wp.array([2**20000 + 0xABCDEF12]))
    assert "0x10000000…abcdef12" in long
    assert repr(wp.array([], bits=7)) == "warpint.array([], bits=7, device='cpu')"


def test_arrays_are_not_keys():
    with pytest.raises(TypeError, match="unhashable"):
        hash(wp.array([1]))
    with pytest.raises(TypeError, match="unhashable"):
        {wp.array([1]) - 1}


def test_arrays_are_joined():
    parts = [wp.array([1, 2]), wp.array([], bits=3), wp.array([2**64])]
    assert wp.concatenate(parts).tolist() == [1, 2, 2**64]
    assert wp.concatenate(parts).bits == 65
    assert wp.concatenate(iter(parts)).equals(wp.concatenate(parts))
    assert wp.concatenate(part for part in parts).equals(wp.concatenate(tuple(parts)))
    for wrong in parts[0], parts[0] - 1, 5, None:
        with pytest.raises(TypeError, match="a list of arrays is needed, not "):
            wp.concatenate(wrong)
    with pytest.raises(ValueError, match="no arrays"):
        wp.concatenate(iter([]))
    with pytest.raises(TypeError, match="element 1"):
        wp.concatenate([wp.array([1]), [2]])
