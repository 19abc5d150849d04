"""Long and many numbers against gmpy2. Not part of the quick suite."""

from __future__ import annotations

import gmpy2
import numpy as np
import pytest
import warpint as wp
from gmpy2 import mpz


@pytest.mark.parametrize("bits", [2047, 4096, 16400, 65536, 262145, 1 << 20])
def test_long_numbers(bits):
    rng = np.random.default_rng(bits)
    a = wp.concatenate([wp.random(3, bits, rng), wp.array([0, 1, (1 << bits) - 1])])
    b = wp.concatenate([wp.random(5, bits // 2 + 1, rng), wp.array([(1 << (bits // 3)) - 1])])
    xs, ys = map(mpz, a), map(mpz, b)
    pairs = list(zip(xs, ys, strict=True))
    assert (a + b).tolist() == [x + y for x, y in pairs]
    assert (a * b).tolist() == [x * y for x, y in pairs]
    assert a.square().tolist() == [x * x for x, _ in pairs]
    assert (a // b).tolist() == [x // y for x, y in pairs]
    assert (a % b).tolist() == [x % y for x, y in pairs]
    assert wp.gcd(a, b).tolist() == [gmpy2.gcd(x, y) for x, y in pairs]
    assert wp.isqrt(a).tolist() == [gmpy2.isqrt(x) for x, _ in pairs]
    assert wp.iroot(a, 5).tolist() == [gmpy2.iroot(x, 5)[0] for x, _ in pairs]
    assert (a >> 999).tolist() == [x >> 999 for x, _ in pairs]


@pytest.mark.parametrize("bits", [1024, 2048, 4100])
def test_long_powers(bits):
    rng = np.random.default_rng(bits)
    a, e = wp.random(20, bits, rng), wp.random(20, bits, rng)
    m = wp.random(20, bits, rng) | 1
    expected = [gmpy2.powmod(*row) for row in zip(a, e, m, strict=True)]
    assert pow(a, e, m).tolist() == expected
    one = m[0]
    assert wp.Modulus(one).pow(a, e).tolist() == [
        gmpy2.powmod(x, k, one) for x, k in zip(a, e, strict=True)
    ]
    assert wp.FixedBase(7, one, bits).pow(e).tolist() == [gmpy2.powmod(7, k, one) for k in e]


def test_many_numbers():
    a, b = wp.random(200_000, 521, 1), wp.random(200_000, 300, 2)
    xs, ys = a.tolist(), b.tolist()
    assert (a * b).tolist() == [x * y for x, y in zip(xs, ys, strict=True)]
    assert (a - b).tolist() == [x - y if x >= y else None for x, y in zip(xs, ys, strict=True)]
    assert wp.from_dlpack(np.ascontiguousarray(a.to_numpy()), bits=521).equals(a)


def test_primes_of_cryptographic_length():
    found = wp.next_prime(wp.random(20, 512, 1))
    assert found.tolist() == [gmpy2.next_prime(x) for x in wp.random(20, 512, 1)]
