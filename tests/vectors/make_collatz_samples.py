#!/usr/bin/env python3
"""Makes collatz_samples.toml:
`python3 tests/vectors/make_collatz_samples.py > tests/vectors/collatz_samples.toml`.

The sample checksum of regions from its definition alone, which stands in crates/collatz/src/runs/sample.rs:
one step after another, in Python's integers. Takes a minute or two.
"""

MASK = 2**64 - 1
GAMMA = 0x9E3779B97F4A7C15


def mix(z):
    z = (z + GAMMA) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def odd_steps(n):
    """Odd steps until n is below itself; 0 for 0 and 1."""
    x, odd = n, 0
    while n > 1 and x >= n:
        if x % 2:
            x, odd = (3 * x + 1) // 2, odd + 1
        else:
            x //= 2
    return odd


def sample(first, step_bits, count):
    """The numbers of the sample of first + k·2^step_bits, k < count."""
    if count <= 2**20:
        return [first + (k << step_bits) for k in range(count)]
    seed = 0
    for word in (first & MASK, first >> 64, step_bits, count & MASK, count >> 64):
        seed = mix(seed ^ word)
    numbers = []
    for i in range(2**20):
        high, low = (mix((seed + j * GAMMA) & MASK) for j in (2 * i, 2 * i + 1))
        numbers.append(first + (((high << 64 | low) % count) << step_bits))
    return numbers


def show(head, first, step_bits, count):
    numbers = sample(first, step_bits, count)
    three = [str(n) for n in numbers[:3]]
    three += [""] * (3 - len(three))
    print("[[sample]]")
    print(head)
    print("first-three = [" + ", ".join(f'"{n}"' for n in three) + "]")
    print(f"numbers = {len(numbers)}")
    print(f"odd-steps = {sum(map(odd_steps, numbers))}\n")


def interval(a, b):
    show(f'from = "{a}"\nto = "{b}"', a, 0, b - a)


def residue_class(bits, low_bits, residue):
    head = f'bits = {bits}\nlow-bits = {low_bits}\nresidue = "{residue}"'
    show(head, residue, low_bits, 2 ** (bits - low_bits))


print("# Sample checksums of regions: numbers, and the sum of their odd steps to the first descent.")
print("# Source: make_collatz_samples.py in this folder, which follows the definition step by step in Python.")
print("# An interval is from ≤ n < to; a class n < 2^bits with n ≡ residue mod 2^low-bits.\n")
interval(0, 2)
interval(0, 1000)
interval(0, 2**20)
interval(5, 2**20 + 6)
interval(10**12, 10**12 + 123456789)
residue_class(40, 8, 27)
residue_class(72, 20, 703)
interval(2**71, 2**71 + 2**48)
residue_class(127, 16, 65535)
interval(2**127 - 2**100, 2**127)
