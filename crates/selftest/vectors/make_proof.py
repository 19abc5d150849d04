#!/usr/bin/env python3
"""Makes proof_layout.toml: `python3 crates/selftest/vectors/make_proof.py > crates/selftest/vectors/proof_layout.toml`.

The middles are computed from the claim that they halve (A^(2^s) from A, again and again), not from
residues kept on the way; only Python's integers and hashlib are used.
"""

import hashlib

# p, power, known factors: spans that are odd and even, bytes that p fills and does not, M_p prime,
# composite, with a prime and with a composite cofactor.
PROOFS = [
    (131, 3, [263]),
    (179, 2, [359]),
    (521, 4, []),
    (1009, 3, []),
    (2203, 5, []),
    (4423, 8, []),
    (9949, 6, []),
]
WHOLE_UP_TO = 1100


def power_of_two_power(a, n, m):
    for _ in range(n):
        a = a * a % m
    return a


def proof_file(p, power, factors):
    m = 2**p - 1
    size = (p + 7) // 8
    last = power_of_two_power(3, p, m)
    residues = [last]
    digest = hashlib.sha3_256(last.to_bytes(size, "little")).digest()
    a, b, span = 3, last, p
    for _ in range(power):
        if span % 2 == 1:
            b = b * b % m
        span = (span + 1) // 2
        middle = power_of_two_power(a, span, m)
        residues.append(middle)
        digest = hashlib.sha3_256(digest + middle.to_bytes(size, "little")).digest()
        h = int.from_bytes(digest[:8], "little")
        a, b = pow(a, h, m) * middle % m, pow(middle, h, m) * b % m
        assert power_of_two_power(a, span, m) == b
    number = "/".join(["M%d" % p] + [str(f) for f in factors])
    lines = ["PRP PROOF", "VERSION=2", "HASHSIZE=64", "POWER=%d" % power, "NUMBER=" + number]
    header = "".join(line + "\n" for line in lines).encode()
    body = b"".join(x.to_bytes(size, "little") for x in residues)
    res64 = last * pow(9, -1, m) % m % 2**64
    cofactor = m
    for factor in factors:
        assert cofactor % factor == 0
        cofactor //= factor
    return header + body, res64, pow(3, cofactor, cofactor) == 3


print("# Made by `python3 crates/selftest/vectors/make_proof.py`.")
print("# Whole proof files of version 2 (GpuOwl's page PRP Proof File Spec, and its Proof.cpp).")
print('source = "Python integers and hashlib.sha3_256: middles by repeated squaring of the halved claim"')
print("proofs = [")
for p, power, factors in PROOFS:
    data, res64, prime = proof_file(p, power, factors)
    fields = [
        "p = %d" % p,
        "power = %d" % power,
        "factors = [%s]" % ", ".join('"%d"' % f for f in factors),
        "prime = %s" % str(prime).lower(),
        'res64 = "%016X"' % res64,
        "bytes = %d" % len(data),
        'md5 = "%s"' % hashlib.md5(data).hexdigest(),
        'sha256 = "%s"' % hashlib.sha256(data).hexdigest(),
    ]
    if len(data) <= WHOLE_UP_TO:
        fields.append('hex = "%s"' % data.hex())
    print("    { %s }," % ", ".join(fields))
print("]")
