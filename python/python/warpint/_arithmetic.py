"""The operators of arrays."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias, Union, overload

import numpy as np
from numpy.typing import NDArray

from ._convert import checked_bits, limbs_of
from ._masked import Masked
from ._warpint import Batch

if TYPE_CHECKING:
    from ._array import Array

#: An operand of several numbers.
Numbers: TypeAlias = Union["Arithmetic", list[int], tuple[int, ...], NDArray[Any]]


class Arithmetic:
    """The operators of :class:`Array`, which documents them."""

    __slots__ = ()
    _batch: Batch
    _bits: int

    if TYPE_CHECKING:

        @classmethod
        def _of(cls, batch: Batch, bits: int) -> Array: ...
        def _operand(self, other: Any) -> Array | None: ...
        def __len__(self) -> int: ...

    def _pair(self, other: Any) -> tuple[Batch, int] | None:
        """Return the batch and the width of the other operand; None if it is no operand."""
        operand = self._operand(other)
        if operand is None:
            return None
        counts = len(self), len(operand)
        if counts[0] != counts[1] and 1 not in counts:
            raise ValueError(f"shapes ({counts[0]},) and ({counts[1]},) do not fit together")
        if operand.device != self._batch.device:
            raise ValueError(
                f"the operands are on {self._batch.device} and on {operand.device}: "
                "move one by the method to()"
            )
        return operand._batch, operand._bits

    @overload
    def __add__(self, other: int | Numbers) -> Array: ...
    @overload
    def __add__(self, other: Masked) -> Masked: ...
    def __add__(self, other: Any) -> Array | Masked:
        """Return the sum. Its width is that of the wider operand and one bit."""
        pair = self._pair(other)
        if pair is None:
            return NotImplemented
        bits = checked_bits(max(self._bits, pair[1]) + 1)
        return self._of(self._batch.add(pair[0], bits), bits)

    def __radd__(self, other: int | Numbers) -> Array:
        return self.__add__(other)

    def _minus(self, a: Batch, b: Batch, bits: int) -> Masked:
        values, flags = a.sub(b)
        return Masked(self._of(values, bits)._low(), flags, "a < b")

    def __sub__(self, other: Any) -> Masked:
        """Return the difference, masked where it is negative."""
        pair = self._pair(other)
        if pair is None:
            return NotImplemented
        return self._minus(self._batch, pair[0], max(self._bits, pair[1]))

    def __rsub__(self, other: Any) -> Masked:
        pair = self._pair(other)
        if pair is None:
            return NotImplemented
        return self._minus(pair[0], self._batch, max(self._bits, pair[1]))

    @overload
    def __mul__(self, other: int | Numbers) -> Array: ...
    @overload
    def __mul__(self, other: Masked) -> Masked: ...
    def __mul__(self, other: Any) -> Array | Masked:
        """Return the product. Its width is the sum of the widths."""
        if isinstance(other, Arithmetic) and other is self:
            return self.square()
        pair = self._pair(other)
        if pair is None:
            return NotImplemented
        bits = checked_bits(self._bits + pair[1])
        return self._of(self._batch.mul(pair[0]), bits)

    def __rmul__(self, other: int | Numbers) -> Array:
        return self.__mul__(other)

    def square(self) -> Array:
        """Return the squares, of twice the width. Faster than a product."""
        bits = checked_bits(2 * self._bits)
        return self._of(self._batch.square(), bits)

    def _divisor(self, other: Any) -> tuple[Batch, int, bool] | None:
        """Return a divisor, and whether it is an int, which is checked not to be zero."""
        pair = self._pair(other)
        if pair is None:
            return None
        is_int = not isinstance(other, (Arithmetic, list, tuple, np.ndarray))
        if is_int and index(other) == 0:
            raise ZeroDivisionError("division by zero")
        return *pair, is_int

    @overload
    def __floordiv__(self, other: int) -> Array: ...
    @overload
    def __floordiv__(self, other: Numbers) -> Masked: ...
    def __floordiv__(self, other: Any) -> Array | Masked:
        """Return the quotient, of the width of the dividend."""
        found = self._divisor(other)
        if found is None:
            return NotImplemented
        values, flags = self._batch.div(found[0])
        quotient = self._of(values, self._bits)
        return quotient if found[2] else Masked(quotient, flags, "division by zero")

    def __rfloordiv__(self, other: Any) -> Masked:
        dividend = self._operand(other)
        return NotImplemented if dividend is None else dividend // self

    @overload
    def __mod__(self, other: int) -> Array: ...
    @overload
    def __mod__(self, other: Numbers) -> Masked: ...
    def __mod__(self, other: Any) -> Array | Masked:
        """Return the remainder, of the width of the divisor."""
        found = self._divisor(other)
        if found is None:
            return NotImplemented
        values, flags = self._batch.rem(found[0])
        remainder = self._of(values, found[1])
        return remainder if found[2] else Masked(remainder, flags, "division by zero")

    def __rmod__(self, other: Any) -> Masked:
        dividend = self._operand(other)
        return NotImplemented if dividend is None else dividend % self

    @overload
    def __divmod__(self, other: int) -> tuple[Array, Array]: ...
    @overload
    def __divmod__(self, other: Numbers) -> tuple[Masked, Masked]: ...
    def __divmod__(self, other: Any) -> tuple[Array, Array] | tuple[Masked, Masked]:
        """Return the quotient and the remainder, at the cost of one division."""
        found = self._divisor(other)
        if found is None:
            return NotImplemented
        quotients, remainders, flags = self._batch.div_rem(found[0])
        q, r = self._of(quotients, self._bits), self._of(remainders, found[1])
        if found[2]:
            return q, r
        reason = "division by zero"
        return Masked(q, flags, reason), Masked(r, flags, reason)

    def __rdivmod__(self, other: Any) -> tuple[Masked, Masked]:
        dividend = self._operand(other)
        return NotImplemented if dividend is None else divmod(dividend, self)

    def __pow__(self, exponent: Any, modulus: Any = None) -> Array | Masked:
        """Return a power. Without a modulus, the exponent is an int."""
        if modulus is not None:
            from ._functions import powmod

            return powmod(self, exponent, modulus)
        try:
            e = index(exponent)
        except TypeError:
            raise TypeError("an exponent without a modulus must be an int") from None
        if e < 0:
            raise ValueError(f"the exponent {e} is negative")
        checked_bits(max(1, e * self._bits))
        if e == 0:
            return (self & 0) | 1
        power = self._of(self._batch, self._bits)
        # From the highest bit of the exponent to the lowest.
        for bit in bin(e)[3:]:
            power = power.square()
            if bit == "1":
                power = power * self
        return power

    def _bitwise(self, other: Any, name: str, bits: Any) -> Array:
        pair = self._pair(other)
        if pair is None:
            return NotImplemented  # type: ignore[no-any-return]
        batch: Batch = getattr(self._batch, name)(pair[0])
        return self._of(batch, bits(self._bits, pair[1]))

    def __and__(self, other: Any) -> Array:
        """Return the bitwise AND, of the width of the narrower operand."""
        return self._bitwise(other, "and_", min)

    __rand__ = __and__

    def __or__(self, other: Any) -> Array:
        """Return the bitwise OR, of the width of the wider operand."""
        return self._bitwise(other, "or_", max)

    __ror__ = __or__

    def __xor__(self, other: Any) -> Array:
        """Return the bitwise XOR, of the width of the wider operand."""
        return self._bitwise(other, "xor", max)

    __rxor__ = __xor__

    def __invert__(self) -> Array:
        """Return the complement 2^bits − 1 − a."""
        return self ^ ((1 << self._bits) - 1)

    def __lshift__(self, count: Any) -> Array:
        """Return a·2^count. The result is wider by ``count`` bits. ``count`` is an int."""
        shift = _shift(count)
        bits = checked_bits(self._bits + shift)
        wide, _ = self._batch.resized(bits)
        return self._of(wide.shl(shift), bits)

    def __rshift__(self, count: Any) -> Array:
        """Return ⌊a/2^count⌋. The result is narrower by ``count`` bits. ``count`` is an int."""
        shift = _shift(count)
        bits = max(1, self._bits - shift)
        return self._of(self._batch.shr(min(shift, 1 << 31)), bits)

    def _low(self) -> Array:
        """Return the low ``bits`` bits of the stored numbers, which may be wider."""
        if self._bits % 32 == 0:
            return self._of(self._batch, self._bits)
        return self & ((1 << self._bits) - 1)

    def resize(self, bits: int) -> Array:
        """Return the same numbers with another width.

        Raises OverflowError with the index of the first number that does not fit. A narrower width
        costs a pass over the numbers, and waits for the device.
        """
        bits = checked_bits(bits)
        if bits < self._bits:
            lengths = self._batch.bit_lengths()
            if len(lengths) and lengths.max() > bits:
                i = int((lengths > bits).argmax())
                raise OverflowError(
                    f"element {i} has {lengths[i]} bits, but the width is {bits} bits"
                )
        return self._of(self._batch, bits)

    def truncate(self, bits: int) -> Array:
        """Return the numbers modulo 2^bits, with the width ``bits``."""
        bits = checked_bits(bits)
        return self._of(self._batch, bits)._low() if bits < self._bits else self.resize(bits)

    def bit_length(self) -> NDArray[np.uint32]:
        """Return the bit length of each number: 0 for 0, otherwise ⌊log2 a⌋ + 1."""
        return self._batch.bit_lengths()

    def _signs(self, other: Any) -> NDArray[np.int8] | None:
        if isinstance(other, Masked):
            raise TypeError("masked results are not compared: use unwrap() or fill() first")
        if isinstance(other, (float, np.floating)):
            raise TypeError(f"numbers are compared with integers, not with the float {other}")
        if not isinstance(other, (Arithmetic, list, tuple, np.ndarray)):
            try:
                negative = index(other) < 0
            except TypeError:
                return None
            if negative:
                return np.ones(len(self), dtype=np.int8)
        pair = self._pair(other)
        return None if pair is None else self._batch.compare(pair[0])

    def __eq__(self, other: object) -> NDArray[np.bool_]:  # type: ignore[override]
        signs = self._signs(other)
        return NotImplemented if signs is None else signs == 0

    def __ne__(self, other: object) -> NDArray[np.bool_]:  # type: ignore[override]
        signs = self._signs(other)
        return NotImplemented if signs is None else signs != 0

    def __lt__(self, other: Any) -> NDArray[np.bool_]:
        signs = self._signs(other)
        return NotImplemented if signs is None else signs < 0

    def __le__(self, other: Any) -> NDArray[np.bool_]:
        signs = self._signs(other)
        return NotImplemented if signs is None else signs <= 0

    def __gt__(self, other: Any) -> NDArray[np.bool_]:
        signs = self._signs(other)
        return NotImplemented if signs is None else signs > 0

    def __ge__(self, other: Any) -> NDArray[np.bool_]:
        signs = self._signs(other)
        return NotImplemented if signs is None else signs >= 0

    __hash__ = None  # type: ignore[assignment]


def _shift(count: Any) -> int:
    try:
        shift = index(count)
    except TypeError:
        raise TypeError(f"a shift count must be an int, not {type(count).__name__}") from None
    if shift < 0:
        raise ValueError(f"the shift count {shift} is negative")
    return shift


def stored(batch: Batch, bits: int) -> Batch:
    """Return the batch with exactly the limbs of numbers of ``bits`` bits."""
    if batch.bits == 32 * limbs_of(bits):
        return batch
    return batch.resized(bits)[0]
