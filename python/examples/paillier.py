"""Encrypts many random messages by Paillier's scheme, adds them while encrypted, and decrypts.

    python paillier.py [COUNT] [--bits BITS] [--device DEVICE]

COUNT is 100,000 by default, BITS, the length of the modulus n, is 2,048; ciphers are twice as long.
On a CPU with few cores, the default takes many minutes: give a smaller COUNT.
This shows batches of powers. It is not a secure program: the generator of random numbers is not made
for keys, and nothing runs in constant time.

Source: P. Paillier, Public-key cryptosystems based on composite degree residuosity classes,
EUROCRYPT 1999, section 4, with g = n + 1, for which g^m = 1 + m·n mod n².
"""

from __future__ import annotations

import argparse
import math
import time
from typing import NamedTuple

import numpy as np
import warpint as wp


class Key(NamedTuple):
    """A private key: n = p·q, λ = lcm(p − 1, q − 1) and its inverse modulo n."""

    n: int
    order: int
    inverse: int


def prime(bits: int, rng: np.random.Generator) -> int:
    """Return a random prime of ``bits`` bits, the two highest set."""
    while True:
        high = 3 << (bits - 2)
        candidates = wp.random(256, bits=bits, rng=rng) | high | 1
        primes = candidates[wp.is_probable_prime(candidates)]
        if len(primes):
            return primes[0]


def make_key(bits: int, rng: np.random.Generator) -> Key:
    """Return a key whose modulus has ``bits`` bits."""
    p, q = prime(bits // 2, rng), prime(bits // 2, rng)
    while p == q:
        q = prime(bits // 2, rng)
    # Both have the same length, so n has no common factor with (p − 1)(q − 1).
    order = math.lcm(p - 1, q - 1)
    return Key(p * q, order, pow(order, -1, p * q))


def encrypt(n: int, messages: wp.Array, rng: np.random.Generator) -> wp.Array:
    """Return (1 + m·n)·r^n mod n² for messages m below n, with a random r for each."""
    modulus = wp.Modulus(n * n, device=messages.device)
    r = wp.random_below(n - 1, len(messages), rng).to(messages.device) + 1
    return modulus.mul(messages * n + 1, modulus.pow(r, n))


def add(n: int, first: wp.Array, second: wp.Array) -> wp.Array:
    """Return encryptions of the sums modulo n of two arrays of encrypted messages."""
    return wp.Modulus(n * n, device=first.device).mul(first, second)


def decrypt(key: Key, ciphers: wp.Array) -> wp.Array:
    """Return the messages L(c^λ mod n²)·λ^(−1) mod n, where L(u) = (u − 1)/n."""
    u = wp.Modulus(key.n * key.n, device=ciphers.device).pow(ciphers, key.order)
    quotients = (u - 1).unwrap() // key.n
    return wp.Modulus(key.n, device=ciphers.device).mul(quotients, key.inverse)


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Paillier's scheme for many messages: an example, not a secure program"
    )
    parser.add_argument("count", nargs="?", type=int, default=100_000)
    parser.add_argument("--bits", type=int, default=2048, help="the length of the modulus n")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:1")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.count < 1:
        parser.error("COUNT must be at least 1")
    if options.bits < 64 or options.bits % 2:
        parser.error("BITS must be even and at least 64")

    rng = np.random.default_rng(options.seed)
    key = make_key(options.bits, rng)
    try:
        messages = wp.random_below(key.n, options.count, rng).to(options.device)
    except (ValueError, wp.DeviceError) as error:
        parser.error(str(error))
    print("An example of batches, not a secure program: nothing here runs in constant time.")
    start = time.perf_counter()
    ciphers = encrypt(key.n, messages, rng)
    wp.synchronize(options.device)
    middle = time.perf_counter()
    # Each message and the next one are added without decryption.
    following = wp.concatenate([ciphers[1:], ciphers[:1]])
    decrypted = decrypt(key, add(key.n, ciphers, following))
    wp.synchronize(options.device)
    end = time.perf_counter()
    print(f"{options.count} encryptions with {key.n.bit_length()} bits in {middle - start:.3f} s")
    print(f"{options.count} sums and decryptions in {end - middle:.3f} s")
    expected = (messages + wp.concatenate([messages[1:], messages[:1]])) % key.n
    if not decrypted.equals(expected):
        raise SystemExit("a decrypted sum differs from the sum of the messages")
    print("all decrypted right")


if __name__ == "__main__":
    main()
