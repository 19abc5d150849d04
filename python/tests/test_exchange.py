"""Exchange with other libraries: what the CPU can show of DLPack."""

from __future__ import annotations

import ctypes
import gc
import os
import weakref

import numpy as np
import pytest
import warpint as wp
from conftest import DEVICES, lists
from hypothesis import given

pytestmark = pytest.mark.quick

LIMBS = np.arange(1, 13, dtype=np.uint32).reshape(4, 3)

#: NumPy 2.0 exports arrays by DLPack before 1.0, which has no read-only arrays.
HAS_DLPACK_1 = np.lib.NumpyVersion(np.__version__) >= "2.1.0"
needs_dlpack_1 = pytest.mark.skipif(not HAS_DLPACK_1, reason="needs NumPy 2.1")


class Producer:
    """An object of another library, which exports a NumPy array by DLPack before 1.0."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__(stream=stream)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OldConsumer(Producer):
    """Passes an array of this package on by DLPack before 1.0."""

    def __dlpack__(self, **_):
        return self.array.__dlpack__()


@given(lists())
def test_numpy_shares_the_limbs(pair):
    xs, bits = pair
    a = wp.array(xs, bits=bits)
    shared = np.from_dlpack(a)
    assert shared.dtype == np.uint32 and shared.tolist() == a.to_numpy().tolist()
    assert not shared.flags.writeable
    if xs:
        assert shared.ctypes.data == a.to_numpy().ctypes.data
    assert wp.from_dlpack(a, bits=bits).tolist() == xs
    limbs = a.to_numpy() if HAS_DLPACK_1 else a.to_numpy().copy()
    assert wp.from_dlpack(np.ascontiguousarray(limbs), bits=bits).tolist() == xs


def test_the_memory_lives_as_long_as_a_consumer_uses_it():
    a = wp.array(range(1000), bits=256)
    shared = np.from_dlpack(a)
    old = np.from_dlpack(OldConsumer(a))
    del a
    gc.collect()
    assert shared[:, 0].tolist() == old[:, 0].tolist() == list(range(1000))


@needs_dlpack_1
def test_copies():
    a = wp.array([1, 2])
    copied = np.from_dlpack(a, copy=True)
    assert copied.tolist() == [[1], [2]] and copied.ctypes.data != a.to_numpy().ctypes.data
    # NumPy 2.1.0 makes every array that it takes read-only.
    if copied.flags.writeable:
        copied[0, 0] = 9
        assert a.tolist() == [1, 2] and copied.tolist() == [[9], [2]]
    assert np.from_dlpack(a, copy=False).ctypes.data == a.to_numpy().ctypes.data


def test_a_capsule_is_consumed_once():
    for version in None, (1, 0), (1, 3):
        capsule = wp.array([1, 2]).__dlpack__(max_version=version)
        name = "dltensor" if version is None else "dltensor_versioned"
        assert f'"{name}"' in repr(capsule)
        assert wp.from_dlpack(capsule).tolist() == [1, 2]
        assert f'"used_{name}"' in repr(capsule)
        with pytest.raises(ValueError, match="consumed before"):
            wp.from_dlpack(capsule)


@needs_dlpack_1
def test_a_refused_capsule_can_be_used_elsewhere():
    array = np.arange(3, dtype=np.uint32)
    capsule = array.__dlpack__(max_version=(1, 0))
    for _ in range(2):
        with pytest.raises(ValueError, match="1 dimensions"):
            wp.from_dlpack(capsule)
    assert '"dltensor_versioned"' in repr(capsule)


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
@pytest.mark.parametrize("version", [None, (1, 0)])
def test_memory_is_freed_with_its_last_user(version):
    limbs = np.ones((1 << 20, 8), dtype=np.uint32)
    before = resident_bytes()
    for _ in range(20):
        a = wp.array(limbs)
        # A capsule that nobody consumes, and one that is consumed.
        unused = a.__dlpack__(max_version=version)
        taken = np.from_dlpack(OldConsumer(a) if version is None else a)
        del a, unused, taken
    gc.collect()
    # Arrays of 32 MiB that are not freed would add up to 640 MiB.
    assert resident_bytes() - before < 200 << 20


def test_the_owner_is_given_back_once_the_numbers_are_copied():
    array = LIMBS.copy()
    finished = weakref.finalize(array, lambda: None)
    a = wp.from_dlpack(array)
    del array
    gc.collect()
    assert not finished.alive
    assert a.tolist() == [1 + (2 << 32) + (3 << 64), *a.tolist()[1:]]


def test_producers_of_earlier_versions():
    assert wp.from_dlpack(Producer(LIMBS.copy())).to_numpy().tolist() == LIMBS.tolist()
    assert wp.array(Producer(LIMBS.copy()), bits=90).bits == 90


def test_imported_numbers_are_copies_on_the_cpu():
    array = LIMBS.copy()
    a = wp.from_dlpack(array)
    array[:] = 0
    assert a.to_numpy().tolist() == LIMBS.tolist()
    wide = np.array([[2**64 - 1, 1]], dtype=np.uint64)
    assert wp.from_dlpack(wide).tolist() == [2**65 - 1] and wp.from_dlpack(wide).bits == 128
    assert wp.from_dlpack(wide, bits=65).bits == 65
    with pytest.raises(OverflowError, match="element 0 has 65 bits"):
        wp.from_dlpack(wide, bits=64)


def test_wrong_arrays():
    for dtype in np.int32, np.uint16, np.float32, np.uint8, bool, np.complex64:
        with pytest.raises(TypeError, match="uint32 or uint64"):
            wp.from_dlpack(np.zeros((2, 2), dtype=dtype))
    for shape in (), (3,), (2, 2, 2), (2, 0):
        with pytest.raises(ValueError, match="shape"):
            wp.from_dlpack(np.zeros(shape, dtype=np.uint32))
    for columns in (1 << 16) + 1, 1 << 50:
        with pytest.raises(OverflowError, match="65536 limbs"):
            wp.from_dlpack(np.zeros((0, columns), dtype=np.uint32))
    for strided in LIMBS[:, ::2], LIMBS[::2], LIMBS.T, LIMBS[:, 1:], LIMBS[::-1]:
        with pytest.raises(ValueError, match="contiguous"):
            wp.from_dlpack(strided.copy(order="K") if strided is LIMBS.T else strided)
    # One row or one column is contiguous with any stride of the other axis.
    assert wp.from_dlpack(LIMBS[1:2]).shape == (1,)
    assert wp.from_dlpack(np.asfortranarray(LIMBS[:, :1])).tolist() == [1, 4, 7, 10]
    assert wp.from_dlpack(np.zeros((0, 3), dtype=np.uint32)).bits == 96


def test_objects_that_are_no_arrays():
    for wrong in None, 5, "x", object(), [1]:
        with pytest.raises(TypeError, match="neither __dlpack__ nor"):
            wp.from_dlpack(wrong)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
    )
    for name in b"other", b"dltensors", None:
        with pytest.raises(TypeError, match="not a DLPack capsule"):
            wp.from_dlpack(new(1, name, None))


class Version(ctypes.Structure):
    _fields_ = (("major", ctypes.c_uint32), ("minor", ctypes.c_uint32))


def pointer_of(capsule, name):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, name)


@needs_dlpack_1
def test_versions_and_devices_that_are_not_supported():
    capsule = LIMBS.__dlpack__(max_version=(1, 0))
    version = Version.from_address(pointer_of(capsule, b"dltensor_versioned"))
    assert (version.major, version.minor) >= (1, 0)
    version.major = 2
    with pytest.raises(BufferError, match="version 2 of DLPack"):
        wp.from_dlpack(capsule)
    version.major = 1
    # The tensor follows version, context, deleter and flags; its device follows the data.
    kind = ctypes.c_int32.from_address(ctypes.addressof(version) + 8 * 5)
    assert kind.value == 1
    kind.value = 4
    with pytest.raises(BufferError, match="kind 4"):
        wp.from_dlpack(capsule)


#: The functions of the C exchange API that are used.
FROM_OBJECT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_void_p))
CURRENT_STREAM = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)
)


class ExchangeApi(ctypes.Structure):
    """DLPackExchangeAPI of dlpack.h."""

    _fields_ = (
        ("version", Version),
        ("previous", ctypes.c_void_p),
        ("allocator", ctypes.c_void_p),
        ("from_object", FROM_OBJECT),
        ("to_object", ctypes.c_void_p),
        ("tensor_from_object", ctypes.c_void_p),
        ("current_stream", CURRENT_STREAM),
    )


EXCHANGE = b"dlpack_exchange_api"
USED = b"used_dltensor_versioned"


def taken(capsule):
    """The address of an array whose capsule counts as consumed."""
    address = pointer_of(capsule, b"dltensor_versioned")
    rename = ctypes.pythonapi.PyCapsule_SetName
    rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
    rename(capsule, USED)
    return address


def class_with_api(version, previous=None):
    """A class of another library whose arrays are exchanged by the C exchange API."""

    @FROM_OBJECT
    def from_object(x, out):
        if x.array is None:
            return -1
        out[0] = taken(x.array.__dlpack__(max_version=(1, 0)))
        return 0

    api = ExchangeApi(Version(*version), previous, None, from_object, None, None)

    class Fast(Producer):
        exchanged = api

        def __dlpack__(self, **_):
            raise AssertionError("the slow way")

    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    Fast.__dlpack_c_exchange_api__ = new(ctypes.addressof(api), EXCHANGE, None)
    return Fast


@needs_dlpack_1
def test_the_c_exchange_api_is_used():
    fast = class_with_api((1, 3))
    array = LIMBS.copy()
    assert wp.from_dlpack(fast(array)).to_numpy().tolist() == LIMBS.tolist()
    assert wp.array(fast(array), bits=90).bits == 90
    # The array is given back.
    alive = weakref.ref(array)
    del array
    gc.collect()
    assert alive() is None
    # An earlier version of the same functions is found behind a later one.
    later = class_with_api((2, 0), ctypes.addressof(fast.exchanged))
    assert wp.from_dlpack(later(LIMBS.copy())).to_numpy().tolist() == LIMBS.tolist()


@needs_dlpack_1
def test_wrong_arrays_of_the_c_exchange_api():
    fast = class_with_api((1, 3))
    with pytest.raises(BufferError, match="gave no reason"):
        wp.from_dlpack(fast(None))
    wrong = np.zeros((2, 2), dtype=np.int32)
    alive = weakref.ref(wrong)
    with pytest.raises(TypeError, match="uint32 or uint64"):
        wp.from_dlpack(fast(wrong))
    del wrong
    gc.collect()
    assert alive() is None


def test_a_c_exchange_api_that_is_not_known_is_not_used():
    for attribute in None, 7, "x":
        class_ = type("Other", (Producer,), {"__dlpack_c_exchange_api__": attribute})
        assert wp.from_dlpack(class_(LIMBS.copy())).to_numpy().tolist() == LIMBS.tolist()
    with pytest.raises(AssertionError, match="the slow way"):
        wp.from_dlpack(class_with_api((2, 0))(LIMBS.copy()))


def test_exports_state_what_they_are():
    capsule = wp.array([1, 2, 3], bits=70).__dlpack__(max_version=(1, 0))
    address = pointer_of(capsule, b"dltensor_versioned")
    words = (ctypes.c_uint64 * 12).from_address(address)
    version, _, deleter, flags = words[:4]
    assert version == 1 and deleter and flags == 1  # 1.0, read-only
    device, dimensions_and_type, shape, strides, offset = words[5:10]
    assert device == 1 and offset == 0  # The CPU, number 0
    assert dimensions_and_type == 2 | 1 << 32 | 32 << 40 | 1 << 48  # 2 dimensions, uint32, 1 lane
    assert list((ctypes.c_int64 * 2).from_address(shape)) == [3, 3]
    assert list((ctypes.c_int64 * 2).from_address(strides)) == [3, 1]
    copied = wp.array([1]).__dlpack__(max_version=(1, 0), copy=True)
    assert (ctypes.c_uint64 * 4).from_address(pointer_of(copied, b"dltensor_versioned"))[3] == 2


def test_requests_that_cannot_be_met():
    a = wp.array([1])
    assert a.__dlpack_device__() == (1, 0)
    for stream in 1, -1, 0:
        with pytest.raises(BufferError, match="stream"):
            a.__dlpack__(stream=stream)
    with pytest.raises(BufferError, match="cpu"):
        a.__dlpack__(dl_device=(2, 0))
    assert wp.from_dlpack(a.__dlpack__(dl_device=(1, 0))).tolist() == [1]
    assert not hasattr(a, "__cuda_array_interface__")


class Interface:
    """An object with CUDA's array interface."""

    def __init__(self, **changes):
        described = {"shape": (2, 2), "typestr": "<u4", "data": (256, False), "version": 3}
        self.__cuda_array_interface__ = described | changes


def test_wrong_cuda_arrays():
    for wrong, error, text in [
        ({"typestr": "<f4"}, TypeError, "float32"),
        ({"typestr": "<i4"}, TypeError, "int32"),
        ({"mask": object()}, TypeError, "masked"),
        ({"shape": (4,)}, ValueError, "1 dimensions"),
        ({"strides": (4, 8)}, ValueError, "contiguous"),
        ({"strides": (10, 5)}, ValueError, "contiguous"),
        ({"strides": (8,)}, ValueError, "strides"),
        ({"shape": (-1, 2)}, ValueError, "shape"),
        ({"shape": (1 << 62, 1 << 10)}, ValueError, "address space"),
    ]:
        with pytest.raises(error, match=text):
            wp.from_dlpack(Interface(**wrong))
        with pytest.raises(error, match=text):
            wp.array(Interface(**wrong))


@pytest.mark.skipif("cuda:0" in DEVICES, reason="shows what happens without a GPU")
def test_cuda_arrays_without_a_gpu():
    with pytest.raises(wp.DeviceError):
        wp.from_dlpack(Interface())
    with pytest.raises(wp.DeviceError):
        wp.from_dlpack(Interface(strides=(8, 4), typestr="<u8", shape=(2, 1)))
