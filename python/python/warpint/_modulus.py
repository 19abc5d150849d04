"""Arithmetic modulo numbers that are used many times."""

from __future__ import annotations

from operator import index
from typing import Any

from ._array import Array
from ._convert import checked_bits
from ._masked import Masked, merged
from ._operands import is_int, operands
from ._warpint import Batch, PreparedBase, PreparedModulus


class Modulus:
    """A modulus m > 0, or one modulus per element, with data that many operations share.

    Powers modulo odd numbers use Montgomery's products; remainders by long moduli use reciprocals
    (Barrett). Operands have any width; results are less than m and have its width. Nothing here
    runs in constant time: do not use secret numbers.

    Raises ZeroDivisionError with the index of the first modulus that is 0, and OverflowError for
    moduli of more than 2^20 bits.

    >>> import warpint as wp
    >>> m = wp.Modulus(2**127 - 1)
    >>> m.pow(wp.array([2, 3]), 127).tolist()
    [1, 101174605149735978759860737748945094645]
    >>> m.mul(wp.array([2**126, 5]), 4).tolist()
    [2, 20]
    """

    __slots__ = ("_array", "_prepared")

    def __init__(self, m: Any, device: str | None = None) -> None:
        """Prepare an int, a list or an array of moduli, on ``device`` or where the array is."""
        (array,) = operands(m)
        self._array = array if device is None else array.to(device)
        self._prepared = PreparedModulus(self._array._batch)

    @property
    def modulus(self) -> Array:
        """The moduli: one for all elements, or one per element."""
        return self._array

    @property
    def bits(self) -> int:
        """The width of the moduli and of the results."""
        return self._array.bits

    @property
    def device(self) -> str:
        """Where the moduli and the results are."""
        return self._array.device

    def __repr__(self) -> str:
        return self._array._text("warpint.Modulus")

    def __reduce__(self) -> Any:
        return Modulus, (self._array,)

    def _operands(self, *values: Any) -> list[Array]:
        # The moduli are no argument of the call.
        return operands(self._array, *values, first=-1)[1:]

    def _wrap(self, batch: Batch) -> Array:
        return Array._of(batch, self.bits)

    def _narrow(self, x: Array, bits: int) -> Array:
        """Return x, or its remainder if x has more than ``bits`` bits of storage."""
        return x if x._batch.bits <= bits else self.reduce(x)

    def reduce(self, a: Any) -> Array:
        """Return a mod m."""
        (x,) = self._operands(a)
        storage = self._array._batch.bits
        if x._batch.bits > 2 * storage:
            return self._wrap(x._batch.rem(self._array._batch)[0])
        return self._wrap(self._prepared.rem(x._batch))

    def add(self, a: Any, b: Any) -> Array:
        """Return a + b mod m."""
        x, y = self._operands(a, b)
        return self.reduce(self.reduce(x) + self.reduce(y))

    def sub(self, a: Any, b: Any) -> Array:
        """Return a − b mod m, which is never masked."""
        x, y = self._operands(a, b)
        # Not negative, since the remainder of b is below m.
        return self.reduce((self.reduce(x) + self._array - self.reduce(y)).values)

    def mul(self, a: Any, b: Any) -> Array:
        """Return a·b mod m."""
        x, y = self._operands(a, b)
        storage = self._array._batch.bits
        if x._batch.bits + y._batch.bits > 2 * storage:
            x, y = self._narrow(x, storage), self._narrow(y, storage)
        return self._wrap(self._prepared.mul(x._batch, y._batch))

    def square(self, a: Any) -> Array:
        """Return a² mod m."""
        (x,) = self._operands(a)
        return self._wrap(self._prepared.square(self._narrow(x, self._array._batch.bits)._batch))

    def pow(self, a: Any, e: Any) -> Array | Masked:
        """Return a^e mod m. A negative int e gives a masked result. 0^0 is 1 mod m."""
        if is_int(e) and index(e) < 0:
            inverse = self.invert(a)
            return merged(self.pow(inverse.values, -index(e)), inverse)
        x, exponents = self._operands(a, e)
        x = self._narrow(x, 2 * self._array._batch.bits)
        return self._wrap(self._prepared.pow(x._batch, exponents._batch))

    def invert(self, a: Any) -> Masked:
        """Return the inverses modulo m, masked where there is none."""
        (x,) = self._operands(a)
        values, flags = x._batch.mod_inv(self._array._batch)
        return Masked._of(self._wrap(values), flags, "no inverse")

    def fixed_base(self, base: Any, bits: int) -> FixedBase:
        """Return precomputed powers of ``base``: see :class:`FixedBase`."""
        return FixedBase(base, self, bits)


class FixedBase:
    """Powers of one base modulo one number, by a table (Brickell, Gordon, McCurley and Wilson 1992;
    Yao 1976).

    For exponents of up to E bits, the table has about 2^w·E/w residues with w ≤ 6, and at most
    256 MiB if w > 1. A power takes E/w products and no squarings. Nothing here runs in constant
    time: do not use secret exponents.

    >>> import warpint as wp
    >>> g = wp.FixedBase(3, wp.Modulus(1009), bits=10)
    >>> g.pow([0, 1, 1008]).tolist()
    [1, 3, 1]
    """

    __slots__ = ("_base", "_bits", "_modulus", "_table")

    def __init__(self, base: Any, modulus: Any, bits: int) -> None:
        """Compute the table for one ``base``, one ``modulus`` (a :class:`Modulus` or a number) and
        exponents of up to ``bits`` bits.

        Raises ValueError unless there is one base and one modulus.
        """
        self._modulus = modulus if isinstance(modulus, Modulus) else Modulus(modulus)
        self._bits = checked_bits(bits)
        (self._base,) = self._modulus._operands(base)
        reduced = self._modulus._narrow(self._base, self._modulus._array._batch.bits)
        self._table = PreparedBase(self._modulus._prepared, reduced._batch, self._bits)

    @property
    def base(self) -> Array:
        """The base, an array of one element."""
        return self._base

    @property
    def modulus(self) -> Modulus:
        """The modulus."""
        return self._modulus

    @property
    def bits(self) -> int:
        """The width of the widest exponents."""
        return self._bits

    def pow(self, e: Any) -> Array:
        """Return base^e mod m. Raises OverflowError for exponents wider than ``bits``."""
        (exponents,) = self._modulus._operands(e)
        if exponents.bits > self._bits:
            exponents = exponents.resize(self._bits)
        return self._modulus._wrap(self._table.pow(exponents._batch))

    def __repr__(self) -> str:
        return f"warpint.FixedBase({self._base!r}, {self._modulus!r}, bits={self._bits})"

    def __reduce__(self) -> Any:
        return FixedBase, (self._base, self._modulus, self._bits)
