"""The class :class:`Array`."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from operator import index
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from . import _exchange
from ._arithmetic import Arithmetic, stored
from ._convert import (
    checked_bits,
    from_integers,
    from_limbs,
    integers,
    limbs_of,
    refuse_numpy_mask,
    to_integers,
)
from ._device import canonical
from ._masked import Masked
from ._warpint import Batch

#: How many elements a printed array shows at most, and the longest width printed in decimal.
_SHOWN = 6
_DECIMAL_BITS = 128


class Array(Arithmetic):
    """An immutable array of natural numbers of one width in bits, of shape ``(n,)``, on the CPU or
    on a GPU. :func:`array` makes one.

    Operators work element by element and give exact results. An operand may be an int, a list or
    a NumPy array of numbers; an int, or an array of one element, is combined with every element.
    With the widths a and b in bits, the results have these widths:

    ============================  ==================================================
    ``a + b``                     max(a, b) + 1
    ``a * b``                     a + b
    ``a - b``                     max(a, b); masked where a < b
    ``a // b``, ``a % b``         a, b; masked where b = 0 (an int 0: ZeroDivisionError)
    ``a ** k``                    a·k
    ``a << k``, ``a >> k``        a + k, a − k
    ``a & b``                     min(a, b)
    ``a | b``, ``a ^ b``, ``~a``  max(a, b), a
    ============================  ==================================================

    Masked results are of the class :class:`Masked`, which never drops a missing result silently.
    Comparisons give NumPy arrays of bools, so arrays cannot be keys of dictionaries.

    Element i is row i of a C-contiguous matrix of 32-bit limbs, the lowest limb first, in the
    memory of the CPU or of the GPU. Factors have at most 2^20 bits, results at most 2^21. Results
    wider than that, negative ints and ints that are too wide raise OverflowError.
    """

    __slots__ = ("_batch", "_bits")
    __array_ufunc__ = None

    def __init__(self) -> None:
        raise TypeError("use warpint.array() to make an array")

    @classmethod
    def _of(cls, batch: Batch, bits: int) -> Array:
        """Return the numbers of a batch, all of which are below 2^bits."""
        new = object.__new__(cls)
        new._batch = stored(batch, bits)
        new._bits = bits
        return new

    def _operand(self, other: Any) -> Array | None:
        """Return an operand on the device of this array; None if it cannot be one."""
        if isinstance(other, Array):
            return other
        if isinstance(other, Masked):
            return None
        if isinstance(other, (list, tuple, np.ndarray)):
            return array(other, device=self.device)
        try:
            value = index(other)
        except TypeError:
            return None
        if value < 0:
            raise OverflowError(f"the operand {value} is negative; operands are natural numbers")
        return Array._of(*from_integers([value], None, self.device))

    @property
    def bits(self) -> int:
        """The width of the elements in bits: every element is below 2^bits."""
        return self._bits

    @property
    def shape(self) -> tuple[int]:
        """The shape ``(n,)``."""
        return (self._batch.count,)

    @property
    def ndim(self) -> int:
        """The number of dimensions, 1."""
        return 1

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._batch.count

    @property
    def nbytes(self) -> int:
        """The size of the limbs in bytes."""
        return self._batch.count * self._batch.bits // 8

    @property
    def device(self) -> str:
        """Where the elements are: ``cpu``, ``cuda:0``, …"""
        return self._batch.device

    def to(self, device: str) -> Array:
        """Return the array on another device, or itself if it is there already."""
        name = canonical(device)
        return self if name == self.device else Array._of(self._batch.to(name), self._bits)

    def copy(self) -> Array:
        """Return a copy on the same device, with memory of its own."""
        return Array._of(self._batch.to(self.device), self._bits)

    def __copy__(self) -> Array:
        return self

    def __deepcopy__(self, memo: Any) -> Array:
        return self

    def equals(self, other: Any) -> bool:
        """Return whether the other operand has the same shape and the same numbers."""
        operand = self._operand(other)
        if operand is None or operand.shape != self.shape:
            return False
        return bool((self == operand.to(self.device)).all())

    def tolist(self) -> list[int]:
        """Return the elements as ints."""
        return to_integers(self._batch.limbs())

    @overload
    def to_numpy(self, dtype: type[np.uint32] = ...) -> NDArray[np.uint32]: ...  # type: ignore[overload-overlap]
    @overload
    def to_numpy(self, dtype: type[np.uint64]) -> NDArray[np.uint64]: ...  # type: ignore[overload-overlap]
    @overload
    def to_numpy(self, dtype: type[object]) -> NDArray[np.object_]: ...
    def to_numpy(self, dtype: Any = np.uint32) -> NDArray[Any]:
        """Return the limbs as a NumPy array, or with the dtype ``object`` the numbers.

        With ``uint32`` (default) or ``uint64`` the result has the shape (n, limbs), the lowest limb
        first. On the CPU, an array of uint32 is a read-only view without a copy, and so is one of
        uint64 if the count of 32-bit limbs is even. Other arrays are copies.
        """
        kind = np.dtype(dtype)
        if kind == np.dtype(object):
            return np.array([*self.tolist(), None], dtype=object)[:-1]
        limbs = self._batch.limbs()
        if kind == np.dtype(np.uint32):
            return limbs
        if kind != np.dtype(np.uint64):
            raise TypeError(f"limbs are of dtype uint32 or uint64, not {kind}")
        if limbs.shape[1] % 2:
            limbs = np.pad(limbs, ((0, 0), (0, 1)))
        return limbs.view(np.uint64)

    def tobytes(self, byteorder: Literal["little", "big"] = "little") -> bytes:
        """Return the numbers one after the other, each of ⌈bits/8⌉ bytes."""
        if byteorder not in ("little", "big"):
            raise ValueError(f"a byte order is 'little' or 'big', not {byteorder!r}")
        limbs = np.ascontiguousarray(self._batch.limbs(), dtype="<u4")
        rows = limbs.view(np.uint8)[:, : -(-self._bits // 8)]
        return (rows if byteorder == "little" else rows[:, ::-1]).tobytes()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the numbers, by default as Python ints (dtype object). The array is a copy."""
        if copy is False:
            raise ValueError("an array of numbers is a copy: use to_numpy() for a view of limbs")
        numbers = self.to_numpy(object)
        return numbers if dtype is None else numbers.astype(dtype)

    def __len__(self) -> int:
        return self._batch.count

    def __iter__(self) -> Iterator[int]:
        for start in range(0, len(self), 4096):
            part = self._batch.slice(start, min(start + 4096, len(self)))
            yield from to_integers(part.limbs())

    def __int__(self) -> int:
        if len(self) != 1:
            raise TypeError(f"only an array of one element is an int, not one of {len(self)}")
        return int.from_bytes(self._batch.row(0), "little")

    def __bool__(self) -> bool:
        if len(self) != 1:
            raise ValueError("the truth value of an array is only defined for one element")
        return int(self) != 0

    def __contains__(self, value: Any) -> bool:
        return bool(np.any(self == value))

    @overload
    def __getitem__(self, key: int) -> int: ...
    @overload
    def __getitem__(self, key: slice | NDArray[Any] | list[int]) -> Array: ...
    def __getitem__(self, key: Any) -> int | Array:
        """Return an element as an int, or a part as an array: by a slice, a list or NumPy array of
        indices, or a NumPy array of bools. Parts are copies; all but slices of step 1 are made on
        the host. IndexError names an index that is out of range.
        """
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1:
                return Array._of(self._batch.slice(start, max(start, stop)), self._bits)
            return self._rows(key)
        if isinstance(key, (list, np.ndarray)):
            indices = np.asarray(key, dtype=np.intp if len(key) == 0 else None)
            if indices.ndim != 1 or indices.dtype.kind not in "biu":
                raise TypeError("an index array has one dimension of integers or bools")
            return self._rows(indices)
        try:
            # A comparison with something that is no number is a bool.
            i = None if isinstance(key, (bool, np.bool_)) else index(key)
        except TypeError:
            i = None
        if i is None:
            raise TypeError(f"an index is an int, a slice or an array, not {key!r}")
        if not -len(self) <= i < len(self):
            raise IndexError(f"index {i} is out of range for an array of {len(self)} elements")
        return int.from_bytes(self._batch.row(i % len(self)), "little")

    def _rows(self, key: Any) -> Array:
        limbs = np.ascontiguousarray(self._batch.limbs()[key])
        return Array._of(Batch.from_limbs(limbs, self.device), self._bits)

    def _filled(self, mask: NDArray[np.bool_], value: Any) -> Array:
        batch, _ = from_integers(integers([value]), self._bits, "cpu")
        if not mask.any():
            return self
        limbs = self._batch.limbs().copy()
        limbs[mask] = batch.limbs()[0]
        return Array._of(Batch.from_limbs(limbs, self.device), self._bits)

    def __reduce__(self) -> Any:
        return _restored, (self._batch.limbs(), self._bits)

    def _text(self, name: str, mask: NDArray[np.bool_] | None = None) -> str:
        def element(i: int) -> str:
            if mask is not None and mask[i]:
                return "--"
            value = self[i]
            if self._bits <= _DECIMAL_BITS or value < 1 << _DECIMAL_BITS:
                return str(value)
            digits = f"{value:x}"
            return f"0x{digits[:8]}…{digits[-8:]}"

        n = len(self)
        if n <= _SHOWN:
            shown = [element(i) for i in range(n)]
        else:
            half = _SHOWN // 2
            first = [element(i) for i in range(half)]
            shown = [*first, "…", *(element(i) for i in range(n - half, n))]
        count = f", shape=({n},)" if n > _SHOWN else ""
        return f"{name}([{', '.join(shown)}], bits={self._bits}, device={self.device!r}{count})"

    def __repr__(self) -> str:
        return self._text("warpint.array")

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Return a DLPack capsule with the matrix of limbs: see :func:`from_dlpack`."""
        return _exchange.export(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's kind and index of the device: (1, 0) for the CPU, (2, i) for cuda:i."""
        return self._batch.dlpack_device()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The matrix of limbs for Numba and CuPy. Only GPU arrays have this attribute."""
        return _exchange.cuda_interface(self)


def _restored(limbs: NDArray[np.uint32], bits: int) -> Array:
    if limbs.flags.c_contiguous and limbs.flags.aligned and _is_immutable(limbs):
        return Array._of(Batch.from_immutable(limbs), bits)
    # A buffer that a pickle does not contain may begin at any address.
    return Array._of(Batch.from_limbs(np.require(limbs, requirements=["C", "A"]), "cpu"), bits)


def _is_immutable(array: NDArray[np.uint32]) -> bool:
    """Whether nobody can write the memory of an array: that of bytes, or of Ray's object store."""
    owner: Any = array
    while isinstance(owner, (np.ndarray, memoryview, pickle.PickleBuffer)):
        if isinstance(owner, np.ndarray):
            owner = owner.base
        else:
            owner = memoryview(owner).obj
    kind = type(owner)
    # A read-only buffer of any other owner may show memory that somebody else can write.
    return kind is bytes or (kind.__module__, kind.__qualname__) == ("ray._raylet", "Buffer")


def array(data: Any, bits: int | None = None, device: str = "cpu") -> Array:
    """Return an array of numbers on the CPU or on a GPU.

    ``data`` is one of these:

    * an int, or an iterable of integers: ints, ``gmpy2.mpz``, NumPy integers;
    * a NumPy array of one dimension, of an integer dtype or of objects;
    * a NumPy array of limbs, of shape (n, limbs) and dtype uint32 or uint64, lowest limb first;
    * bytes: numbers of ⌈bits/8⌉ bytes each, the lowest byte first (see :func:`from_bytes`);
    * an :class:`Array`;
    * an object with ``__dlpack__`` or ``__cuda_array_interface__`` (see :func:`from_dlpack`).

    ``bits`` is the width; by default the least one that holds all elements, or that of the limbs.

    Raises OverflowError with the index of the first element that is negative or too wide,
    TypeError with the index of the first that is not an integer, and ValueError for a wrong shape
    or limbs that are not C-contiguous. A missing GPU raises :class:`DeviceError`.

    >>> import warpint as wp
    >>> wp.array([1, 2**64])
    warpint.array([1, 18446744073709551616], bits=65, device='cpu')
    >>> wp.array([3, -1])
    Traceback (most recent call last):
        ...
    OverflowError: element 1 is negative; elements must be natural numbers
    """
    width = None if bits is None else checked_bits(bits)
    if isinstance(data, Masked):
        raise TypeError("masked results are not numbers: use unwrap() or fill() first")
    if isinstance(data, Array):
        found = data
    elif isinstance(data, (bytes, bytearray, memoryview)):
        if width is None:
            raise TypeError("numbers in bytes need a width: bits=…")
        return from_bytes(data, width, device=device)
    elif isinstance(data, np.ndarray):
        found = _from_numpy(data, width, canonical(device))
    elif hasattr(data, "__dlpack__") or hasattr(data, "__cuda_array_interface__"):
        found = from_dlpack(data)
    else:
        values = integers(data if hasattr(data, "__iter__") else [data])
        return Array._of(*from_integers(values, width, canonical(device)))
    found = found if width is None else found.resize(width)
    return found.to(device)


def _from_numpy(data: NDArray[Any], width: int | None, device: str) -> Array:
    refuse_numpy_mask(data)
    if data.ndim == 2:
        if data.dtype.kind not in "iufO":
            raise TypeError(f"limbs must be of dtype uint32 or uint64, not {data.dtype}")
        return Array._of(*from_limbs(data, device))
    if data.ndim > 2:
        raise ValueError(f"an array of shape (n,) or (n, limbs) is needed, not {data.shape}")
    if data.dtype.kind not in "iuO":
        raise TypeError(f"elements must be integers, but the dtype is {data.dtype}")
    values = integers(data.reshape(-1).tolist())
    return Array._of(*from_integers(values, width, device))


def from_bytes(
    data: bytes | bytearray | memoryview,
    bits: int,
    byteorder: Literal["little", "big"] = "little",
    device: str = "cpu",
) -> Array:
    """Return an array of the numbers in ``data``, each of ⌈bits/8⌉ bytes.

    Raises ValueError if ``data`` is not a whole number of elements, and OverflowError with the
    index of the first element that has more than ``bits`` bits.

    >>> import warpint as wp
    >>> wp.from_bytes(b"\\x01\\x00\\x02\\x00", bits=16).tolist()
    [1, 2]
    """
    width = checked_bits(bits)
    if byteorder not in ("little", "big"):
        raise ValueError(f"a byte order is 'little' or 'big', not {byteorder!r}")
    size = -(-width // 8)
    flat = np.frombuffer(data, dtype=np.uint8)
    if len(flat) % size:
        raise ValueError(f"{len(flat)} bytes are not a whole number of elements of {size} bytes")
    rows = flat.reshape(-1, size)
    padded = np.zeros((len(rows), 4 * limbs_of(width)), dtype=np.uint8)
    padded[:, :size] = rows if byteorder == "little" else rows[:, ::-1]
    batch, stored_bits = from_limbs(padded.view("<u4").astype(np.uint32), canonical(device))
    return Array._of(batch, stored_bits).resize(width)


def from_dlpack(x: Any, bits: int | None = None) -> Array:
    """Return an array of the numbers whose limbs are the rows of another library's matrix.

    ``x`` has ``__dlpack__`` (NumPy, PyTorch, CuPy, JAX) or ``__cuda_array_interface__`` (Numba), and
    is a C-contiguous matrix of uint32 or uint64 limbs, the lowest first. The result is on the
    device of ``x``. GPU memory that is aligned to 256 bytes is used without a copy: do not write
    to ``x`` while the array, or one that shares its memory, exists. Other GPU memory and host
    memory are copied once. Work that the other library has submitted is ordered before.

    Raises TypeError for other dtypes, ValueError for other shapes, for matrices that are not
    C-contiguous and for a capsule that was consumed before, and BufferError for other devices.
    """
    width = None if bits is None else checked_bits(bits)
    batch = _exchange.imported(x)
    found = Array._of(batch, batch.bits)
    return found if width is None else found.resize(width)
