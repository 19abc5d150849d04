"""Transforms and convolutions against their definitions in Python's integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import warpint as wp
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.quick

#: 2^64 − 2^32 + 1; a prime below 2^50; small primes; a prime of 62 bits; the scalar
#: field of BLS12-381; primes r^k + 1 of 127, 256 and 505 bits.
PRIMES = [
    2**64 - 2**32 + 1,
    1_125_899_865_948_161,
    97,
    998_244_353,
    4_611_686_018_326_724_609,
    0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001,
    (2**63 + 2**53) ** 2 + 1,
    (2**64 - 2**50) ** 4 + 1,
    (2**63 + 2**34) ** 8 + 1,
]


def words_of(p: int) -> int:
    return (p.bit_length() + 63) // 64


def pack(numbers: list[int], p: int) -> Any:
    """Numbers as an array of shape (N,), or (N, words)."""
    w = words_of(p)
    rows = [[x >> (64 * i) & (2**64 - 1) for i in range(w)] for x in numbers]
    array = np.array(rows, dtype=np.uint64)
    return array[:, 0] if w == 1 else array


def unpack(array: Any, p: int) -> list[int]:
    rows = array.reshape(-1, words_of(p)).tolist()
    return [sum(word << (64 * i) for i, word in enumerate(row)) for row in rows]


def transformed(x: list[int], p: int) -> list[int]:
    """The definition."""
    n = len(x)
    w = wp.root_of_unity(n, p)
    return [sum(x[j] * pow(w, j * k, p) for j in range(n)) % p for k in range(n)]


@pytest.mark.parametrize("p", PRIMES)
@given(st.data())
def test_transforms_are_those_of_the_definition(p: int, data: st.DataObject) -> None:
    n = 1 << data.draw(st.integers(0, 4))
    element = st.one_of(st.sampled_from([0, 1, p - 1]), st.integers(0, p - 1))
    x = data.draw(st.lists(element, min_size=n, max_size=n))
    array = pack(x, p)
    found = wp.ntt(array, p)
    assert found.dtype == np.uint64 and found.shape == array.shape
    assert unpack(found, p) == transformed(x, p)
    assert unpack(wp.intt(found, p), p) == x
    assert unpack(array, p) == x


@pytest.mark.parametrize("n", [3, 5, 6, 12, 20, 40])
def test_lengths_with_factors_3_and_5(n: int) -> None:
    p = _prime_for_all_lengths()
    x = [(i * i + 7) % p for i in range(n)]
    assert unpack(wp.ntt(pack(x, p), p), p) == transformed(x, p)
    with pytest.raises(ValueError, match="power of two"):
        wp.ntt(pack(x, PRIMES[0]))


def _prime_for_all_lengths() -> int:
    """A prime below 2^50 such that 15·2^31 divides p − 1."""
    step = 15 * 2**31
    return next(
        p for p in range(2**50 // step * step + 1 - step, 2**46, -step) if pow(2, p - 1, p) == 1
    )


@pytest.mark.parametrize("p", PRIMES)
@given(st.data())
def test_convolutions(p: int, data: st.DataObject) -> None:
    element = st.one_of(st.sampled_from([0, 1, p - 1]), st.integers(0, p - 1))
    a = data.draw(st.lists(element, min_size=1, max_size=9))
    b = data.draw(st.lists(element, min_size=1, max_size=9))
    full = [0] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            full[i + j] = (full[i + j] + x * y) % p
    assert unpack(wp.convolve(pack(a, p), pack(b, p), p), p) == full
    n = 8
    a, b = (a + [0] * n)[:n], (b + [0] * n)[:n]
    cyclic, negacyclic = [0] * n, [0] * n
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            k = (i + j) % n
            cyclic[k] = (cyclic[k] + x * y) % p
            negacyclic[k] = (negacyclic[k] + (x * y if i + j < n else -x * y)) % p
    for mode, expected in [("cyclic", cyclic), ("negacyclic", negacyclic)]:
        assert unpack(wp.convolve(pack(a, p), pack(b, p), p, mode), p) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("p", PRIMES)
def test_roots_have_their_order_and_are_compatible(p: int) -> None:
    for k in range(1, 5):
        w = wp.root_of_unity(2**k, p)
        assert pow(w, 2 ** (k - 1), p) == p - 1
        assert w * w % p == wp.root_of_unity(2 ** (k - 1), p)


def test_batches_and_strides() -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(0, 2**63, size=(3, 2, 16), dtype=np.uint64)
    all_of_them = wp.ntt(x)
    for i in range(3):
        for j in range(2):
            assert (all_of_them[i, j] == wp.ntt(x[i, j])).all()
    strided = np.asfortranarray(x)[::2, ::-1, :8]
    assert not strided.flags.c_contiguous
    assert (wp.ntt(strided) == wp.ntt(strided.copy())).all()
    assert wp.ntt(np.zeros((0, 8), dtype=np.uint64)).shape == (0, 8)
    c = wp.convolve(x, x[..., :5])
    assert c.shape == (3, 2, 20)
    big = PRIMES[5]
    y = np.stack([pack([1, 2, 3, 4], big), pack([5, 6, 7, 8], big)])
    assert y.shape == (2, 4, 4)
    assert (wp.ntt(y, big)[1] == wp.ntt(y[1], big)).all()


def test_a_long_product() -> None:
    rng = np.random.default_rng(2)
    a = rng.integers(0, 2**16, size=50_000, dtype=np.uint64)
    b = rng.integers(0, 2**16, size=40_000, dtype=np.uint64)
    # Coefficients are below 2^48, so that the product is that of integers.
    c = wp.convolve(a, b)
    x = int.from_bytes(b"".join(int(v).to_bytes(8, "little") for v in a), "little")
    y = int.from_bytes(b"".join(int(v).to_bytes(8, "little") for v in b), "little")
    z = int.from_bytes(b"".join(int(v).to_bytes(8, "little") for v in c), "little")
    assert x * y == z


U64 = np.uint64


@pytest.mark.parametrize(
    ("call", "kind", "match"),
    [
        (lambda: wp.ntt(np.zeros(4)), TypeError, "float64"),
        (lambda: wp.ntt(np.zeros(4, dtype=np.int64)), TypeError, "int64"),
        (lambda: wp.ntt([1.5, 2]), TypeError, "float64"),
        (lambda: wp.ntt([1, -2]), ValueError, "element 1 of x is negative"),
        (lambda: wp.ntt(np.array(5, dtype=U64)), ValueError, "shape \\(\\)"),
        (lambda: wp.ntt(np.zeros(0, dtype=U64)), ValueError, "no points"),
        (lambda: wp.ntt(np.zeros(6, dtype=U64)), ValueError, "power of two"),
        (lambda: wp.ntt([1, 97], 97), ValueError, "element 1 of x is not below the modulus"),
        (lambda: wp.ntt([1, 2], 91), ValueError, "prime"),
        (lambda: wp.ntt([1, 2], 2**47 + 1), ValueError, "prime"),
        (lambda: wp.ntt([1] * 8, 11), ValueError, "root of unity"),
        (lambda: wp.ntt([1, 2], 10.0), TypeError, "float"),
        (lambda: wp.ntt([1, 2], -7), ValueError, "modulus is -7"),
        (lambda: wp.ntt([1, 2], 2**9000 + 1), ValueError, "8192"),
        (lambda: wp.ntt([1, 2], 2**127 - 1), ValueError, "shape"),
        (lambda: wp.ntt(np.zeros((2, 3), dtype=U64), 2**127 - 1), ValueError, "3 words"),
        (lambda: wp.ntt([1, 2], device="x"), ValueError, "'x'"),
        (lambda: wp.convolve([1], [2], mode="valid"), ValueError, "valid"),
        (lambda: wp.convolve([1, 2], [2], mode="cyclic"), ValueError, "match"),
        (lambda: wp.convolve([[1, 2]], [1, 2]), ValueError, "match"),
        (lambda: wp.convolve([1], []), TypeError, "b has the dtype float64"),
        (lambda: wp.root_of_unity(7, 97), ValueError, "order 7"),
        (lambda: wp.root_of_unity(64, 97), ValueError, "2\\^6|order"),
        (lambda: wp.root_of_unity(0), ValueError, "n is 0"),
    ],
)
def test_wrong_input_is_one_line(call: Any, kind: type[Exception], match: str) -> None:
    with pytest.raises(kind, match=match) as caught:
        call()
    assert "\n" not in str(caught.value)
