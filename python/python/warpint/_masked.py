"""Results of operations that are not defined for every element."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from ._warpint import FlagArray

if TYPE_CHECKING:
    from ._array import Array


class MaskedError(ValueError):
    """An element has no result. The attribute ``index`` is the index of the first such element."""

    def __init__(self, index: int, reason: str) -> None:
        super().__init__(f"element {index} has no result: {reason}")
        self.index = index
        self.reason = reason

    def __reduce__(self) -> Any:
        return MaskedError, (self.index, self.reason)


Operator = Callable[["Masked", Any], "Masked"]


def _plain(operand: Any) -> Any:
    return operand.values if isinstance(operand, Masked) else operand


def _operators(function: Callable[[Any, Any], Any]) -> tuple[Operator, Operator]:
    """Return an operator, and that with exchanged operands, which keep masked elements masked."""

    def forward(self: Masked, other: Any) -> Masked:
        return merged(function(self.values, _plain(other)), self, other)

    def backward(self: Masked, other: Any) -> Masked:
        return merged(function(_plain(other), self.values), self, other)

    return forward, backward


class Masked:
    """An array of which some elements have no result, because ``a < b`` in ``a - b``, because a
    divisor is zero, or because there is no inverse.

    ``values`` is the :class:`Array` of all results and ``mask`` a NumPy array that is true where an
    element has no result. The values there are unspecified. ``unwrap`` raises an exception if
    there is such an element, ``fill`` replaces these elements. Operations on masked results give
    masked results.

    >>> import warpint as wp
    >>> d = wp.array([5, 3]) - wp.array([2, 4])
    >>> d
    warpint.Masked([3, --], bits=3, device='cpu')
    >>> d.mask
    array([False,  True])
    >>> d.fill(0).tolist()
    [3, 0]
    >>> d.unwrap()
    Traceback (most recent call last):
        ...
    warpint.MaskedError: element 1 has no result: a < b
    """

    __slots__ = ("_flags", "_reason", "_values")
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, values: Array, mask: FlagArray | NDArray[np.bool_], reason: str) -> None:
        """Mark elements of ``values``. ``reason`` says in errors why they have no result.

        A NumPy mask is copied.
        """
        if not _is_array(values):
            raise TypeError(f"values are an Array, not {type(values).__name__}")
        if isinstance(mask, np.ndarray):
            if mask.dtype != np.bool_:
                raise TypeError(f"a mask is of dtype bool, not {mask.dtype}")
            if mask.shape != (len(values),):
                raise ValueError(f"a mask of shape {mask.shape} for {len(values)} elements")
            mask = np.array(mask, subok=False)
        elif not isinstance(mask, FlagArray):
            raise TypeError(f"a mask is a NumPy array of dtype bool, not {type(mask).__name__}")
        if not isinstance(reason, str):
            raise TypeError(f"a reason is a str, not {type(reason).__name__}")
        self._values = values
        self._flags = mask
        self._reason = reason

    @classmethod
    def _of(cls, values: Array, mask: FlagArray | NDArray[np.bool_], reason: str) -> Masked:
        """Return a result with a mask that fits and that nobody else changes."""
        new = object.__new__(cls)
        new._values, new._flags, new._reason = values, mask, reason
        return new

    @property
    def values(self) -> Array:
        """All results. Those of masked elements are unspecified."""
        return self._values

    @property
    def mask(self) -> NDArray[np.bool_]:
        """A read-only array that is true where an element has no result. Waits for the device."""
        if isinstance(self._flags, FlagArray):
            self._flags = self._flags.to_numpy()
        view = self._flags.view()
        view.flags.writeable = False
        return view

    @property
    def reason(self) -> str:
        """Why the masked elements have no result, such as ``division by zero``."""
        return self._reason

    @property
    def bits(self) -> int:
        """The width of the elements in bits."""
        return self._values.bits

    @property
    def device(self) -> str:
        """The device of the values."""
        return self._values.device

    @property
    def shape(self) -> tuple[int]:
        """The shape ``(n,)``."""
        return self._values.shape

    def unwrap(self) -> Array:
        """Return the values. Raises :class:`MaskedError` if an element has no result."""
        mask = self.mask
        if mask.any():
            raise MaskedError(int(mask.argmax()), self._reason)
        return self._values

    def fill(self, value: int) -> Array:
        """Return the values, with ``value`` in place of the masked elements.

        Raises OverflowError if ``value`` is negative or wider than the elements. If an element is
        masked, this copies the array through the host.
        """
        return self._values._filled(self.mask, value)

    def compressed(self) -> Array:
        """Return the elements that have a result."""
        mask = self.mask
        return self._values if not mask.any() else self._values[~mask]

    def tolist(self) -> list[int | None]:
        """Return the elements as a list, with None for masked elements."""
        pairs = zip(self._values.tolist(), self.mask.tolist(), strict=True)
        return [None if masked else value for value, masked in pairs]

    def to(self, device: str) -> Masked:
        """Return a copy on another device: see :meth:`Array.to`."""
        return Masked._of(self._values.to(device), self.mask, self._reason)

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[int | None]:
        return iter(self.tolist())

    @overload
    def __getitem__(self, key: int) -> int | None: ...
    @overload
    def __getitem__(self, key: slice | NDArray[Any] | list[int]) -> Masked: ...
    def __getitem__(self, key: Any) -> int | None | Masked:
        values = self._values[key]
        if isinstance(values, int):
            return None if self.mask[key] else values
        return Masked._of(values, self.mask[key].copy(), self._reason)

    __add__, __radd__ = _operators(operator.add)
    __sub__, __rsub__ = _operators(operator.sub)
    __mul__, __rmul__ = _operators(operator.mul)
    __floordiv__, __rfloordiv__ = _operators(operator.floordiv)
    __mod__, __rmod__ = _operators(operator.mod)
    __and__, __rand__ = _operators(operator.and_)
    __or__, __ror__ = _operators(operator.or_)
    __xor__, __rxor__ = _operators(operator.xor)
    __lshift__ = _operators(operator.lshift)[0]
    __rshift__ = _operators(operator.rshift)[0]

    def __divmod__(self, other: Any) -> tuple[Masked, Masked]:
        quotient, remainder = divmod(self._values, _plain(other))
        return merged(quotient, self, other), merged(remainder, self, other)

    def __rdivmod__(self, other: Any) -> tuple[Masked, Masked]:
        quotient, remainder = divmod(other, self._values)
        return merged(quotient, self), merged(remainder, self)

    def __invert__(self) -> Masked:
        return merged(~self._values, self)

    def _not_compared(self, other: object) -> Any:
        raise TypeError("masked results are not compared: use unwrap() or fill() first")

    __eq__ = __ne__ = _not_compared
    __lt__ = __le__ = __gt__ = __ge__ = _not_compared

    def __bool__(self) -> bool:
        raise TypeError("masked results have no truth value: use unwrap() or fill() first")

    def __pow__(self, exponent: Any, modulus: Any = None) -> Masked:
        return merged(pow(self._values, exponent, modulus), self)

    def __repr__(self) -> str:
        return self._values._text("warpint.Masked", self.mask)

    def __reduce__(self) -> Any:
        return Masked, (self._values, self.mask, self._reason)


def _is_array(values: object) -> bool:
    # Modules of the package import each other.
    from ._array import Array

    return isinstance(values, Array)


def merged(result: Any, *operands: Any) -> Masked:
    """Return a result whose elements are masked where it or one of its operands is masked."""
    parts = [part for part in (*operands, result) if isinstance(part, Masked)]
    values = result.values if isinstance(result, Masked) else result
    mask = np.zeros(len(values), dtype=np.bool_)
    for part in parts:
        mask |= part.mask
    return Masked._of(values, mask, joint_reason(parts))


def joint_reason(parts: Sequence[Masked]) -> str:
    """Return the reasons of all parts in which an element is masked, or that of the first part."""
    reasons = [part.reason for part in parts if part.mask.any()] or [parts[0].reason]
    return " or ".join(dict.fromkeys(reasons))
