"""Encrypts many random messages by RSA and decrypts them by the Chinese remainder theorem.

    python rsa.py [COUNT] [--bits BITS] [--device DEVICE]

COUNT is 100,000 by default, BITS, the length of the modulus, is 2,048. This shows batches of powers.
It is not a secure cipher: the messages are not padded, the generator of random numbers is not made
for keys, and nothing runs in constant time.
"""

from __future__ import annotations

import argparse
import time
from typing import NamedTuple

import numpy as np
import warpint as wp


class Key(NamedTuple):
    """A private key: n = p·q, the public exponent e, and what decryption needs."""

    n: int
    e: int
    p: int
    q: int
    d_p: int
    d_q: int


def prime(bits: int, e: int, rng: np.random.Generator) -> int:
    """Return a random prime p of ``bits`` bits, the two highest set, with gcd(e, p − 1) = 1."""
    while True:
        high = 3 << (bits - 2)
        candidates = wp.random(256, bits=bits, rng=rng) | high | 1
        for p in candidates[wp.is_probable_prime(candidates)]:
            if (p - 1) % e:
                return p


def make_key(bits: int, rng: np.random.Generator) -> Key:
    """Return a key whose modulus has ``bits`` bits."""
    e = 65537
    p = prime(bits // 2, e, rng)
    q = prime(bits // 2, e, rng)
    while q == p:
        q = prime(bits // 2, e, rng)
    return Key(p * q, e, p, q, pow(e, -1, p - 1), pow(e, -1, q - 1))


def encrypt(key: Key, messages: wp.Array) -> wp.Array:
    """Return messages^e mod n, for messages below n."""
    return wp.Modulus(key.n, device=messages.device).pow(messages, key.e)


def decrypt(key: Key, ciphers: wp.Array) -> wp.Array:
    """Return the messages: powers modulo p and q, combined."""
    parts = []
    for prime, exponent in ((key.p, key.d_p), (key.q, key.d_q)):
        modulus = wp.Modulus(prime, device=ciphers.device)
        parts.append(modulus.pow(ciphers, exponent))
    return wp.crt(parts, [key.p, key.q])


def main() -> None:
    parser = argparse.ArgumentParser(description="RSA of many messages: an example, not a cipher")
    parser.add_argument("count", nargs="?", type=int, default=100_000)
    parser.add_argument("--bits", type=int, default=2048, help="the length of the modulus")
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
    print("An example of batches, not a cipher: nothing here runs in constant time.")
    start = time.perf_counter()
    ciphers = encrypt(key, messages)
    wp.synchronize(options.device)
    middle = time.perf_counter()
    decrypted = decrypt(key, ciphers)
    wp.synchronize(options.device)
    end = time.perf_counter()
    print(f"{options.count} encryptions with {key.n.bit_length()} bits in {middle - start:.3f} s")
    print(f"{options.count} decryptions in {end - middle:.3f} s")
    if not decrypted.equals(messages):
        raise SystemExit("a decrypted message differs from the original")
    print("all decrypted right")


if __name__ == "__main__":
    main()
