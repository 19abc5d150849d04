"""Exact arithmetic on arrays of large integers, on the CPU and on NVIDIA GPUs.

>>> import warpint as wp
>>> a = wp.array([2**100, 3])
>>> (a * a + 1).tolist() == [2**200 + 1, 10]
True
>>> pow(a, 65537, 10**9 + 7).tolist()
[538426437, 754428556]

:func:`array` makes arrays, :class:`Array` documents their operators. GPU arrays are made by
``device="cuda"`` or by :meth:`Array.to`. Nothing here runs in constant time: do not use secret
numbers.
"""

import atexit as _atexit

from . import _warpint, collatz, huge
from ._array import Array, array, from_bytes, from_dlpack
from ._cluster import BlockError
from ._device import Device, devices, synchronize
from ._functions import (
    GcdExt,
    crt,
    gcd,
    gcdext,
    invert,
    iroot,
    is_probable_prime,
    isqrt,
    isqrt_rem,
    lcm,
    maximum,
    minimum,
    next_prime,
    powmod,
)
from ._jobs import Progress
from ._join import concatenate
from ._keys import Finding, KeyAudit, Place, audit_keys
from ._masked import Masked, MaskedError
from ._modulus import FixedBase, Modulus
from ._primality import Mersenne, Number, TestErrors, TestResult, test
from ._random import random, random_below
from ._transform import GOLDILOCKS, convolve, intt, ntt, root_of_unity
from ._warpint import DeviceError

__version__ = "0.2.0"

__all__ = [
    "GOLDILOCKS",
    "Array",
    "BlockError",
    "Device",
    "DeviceError",
    "Finding",
    "FixedBase",
    "GcdExt",
    "KeyAudit",
    "Masked",
    "MaskedError",
    "Mersenne",
    "Modulus",
    "Number",
    "Place",
    "Progress",
    "TestErrors",
    "TestResult",
    "array",
    "audit_keys",
    "collatz",
    "concatenate",
    "convolve",
    "crt",
    "devices",
    "from_bytes",
    "from_dlpack",
    "gcd",
    "gcdext",
    "huge",
    "intt",
    "invert",
    "iroot",
    "is_probable_prime",
    "isqrt",
    "isqrt_rem",
    "lcm",
    "maximum",
    "minimum",
    "next_prime",
    "ntt",
    "powmod",
    "random",
    "random_below",
    "root_of_unity",
    "synchronize",
    "test",
]

# Daemon threads may compute when Python ends.
_atexit.register(_warpint.end)

for _name in set(__all__) - {"GOLDILOCKS", "collatz", "huge"}:
    # Names in messages and in pickles are those that users import.
    globals()[_name].__module__ = "warpint"
del _name
