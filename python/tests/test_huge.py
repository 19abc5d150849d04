"""Single numbers of any length against Python's integers and gmpy2."""

from __future__ import annotations

import itertools
import math
import signal
import subprocess
import sys
import time
from typing import Any

import gmpy2
import pytest
import warpint as wp
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.quick

# Numbers of few bits, and of many limbs whose bits are all ones or hardly any.
SHORT = st.integers(0, 2**200)
LONG = st.builds(
    lambda bits, low, minus: max(0, (1 << bits) + (-low if minus else low)),
    st.integers(0, 40_000),
    st.integers(0, 2**70),
    st.booleans(),
)
NUMBERS = st.one_of(st.sampled_from([0, 1, 2**63, 2**64 - 1, 2**64]), SHORT, LONG)


@given(NUMBERS, NUMBERS)
def test_products(a: int, b: int) -> None:
    assert wp.huge.mul(a, b) == a * b
    assert wp.huge.mul(a, a) == wp.huge.sqr(a) == a * a


@given(NUMBERS, NUMBERS)
def test_division_and_gcd(a: int, b: int) -> None:
    assert wp.huge.gcd(a, b) == math.gcd(a, b)
    if b:
        assert wp.huge.divmod(a, b) == divmod(a, b)
    else:
        with pytest.raises(ZeroDivisionError):
            wp.huge.divmod(a, b)


@given(NUMBERS)
def test_roots(a: int) -> None:
    s = math.isqrt(a)
    assert wp.huge.sqrt_rem(a) == (s, a - s * s)
    assert wp.huge.isqrt(a) == s


@given(st.integers(0, 2**100), st.integers(0, 300))
def test_powers(a: int, e: int) -> None:
    assert wp.huge.pow(a, e) == a**e
    assert wp.huge.pow(1, 2**63) == 1 and wp.huge.pow(0, 2**63) == 0


@given(NUMBERS)
def test_decimal_digits(a: int) -> None:
    digits = gmpy2.mpz(a).digits()
    assert wp.huge.to_decimal(a) == digits
    assert wp.huge.from_decimal(digits) == a
    assert wp.huge.from_decimal(b"000" + digits.encode()) == a


@pytest.mark.parametrize("n", [0, 1, 2, 3, 20, 21, 100, 1000, 12345])
def test_factorials_and_primorials(n: int) -> None:
    assert wp.huge.factorial(n) == math.factorial(n)
    assert wp.huge.primorial(n) == gmpy2.primorial(n)


def test_long_numbers_against_gmpy2() -> None:
    state = gmpy2.random_state(1)
    a, b = (int(gmpy2.mpz_urandomb(state, bits)) for bits in (3_000_000, 1_000_000))
    assert wp.huge.mul(a, b) == gmpy2.mpz(a) * b
    assert wp.huge.divmod(a, b) == tuple(map(int, gmpy2.f_divmod(a, b)))
    assert wp.huge.gcd(a * 3**1000, b * 3**900) == gmpy2.gcd(a * 3**1000, b * 3**900)
    assert wp.huge.isqrt(a) == gmpy2.isqrt(a)
    digits = wp.huge.to_decimal(a)
    assert digits == gmpy2.mpz(a).digits() and wp.huge.from_decimal(digits) == a


@pytest.mark.parametrize("threads", [1, 2, None])
def test_the_number_of_threads_does_not_matter(threads: int | None) -> None:
    a = 3**200_000
    assert wp.huge.sqr(a, threads=threads) == a * a


def test_progress_reaches_the_total() -> None:
    seen: list[wp.Progress] = []
    wp.huge.factorial(200_000, progress=seen.append)
    assert seen and seen[-1].description == "factorial" and seen[-1].unit == "work"
    assert all(a.done <= b.done for a, b in itertools.pairwise(seen))


class Indexed:
    """A number that is no int, such as one of NumPy."""

    def __index__(self) -> int:
        return 12


def test_numbers_of_other_types() -> None:
    assert wp.huge.mul(Indexed(), 2) == 24  # type: ignore[arg-type]
    assert wp.huge.mul(gmpy2.mpz(5), 7) == 35  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "kind", "match"),
    [
        (lambda: wp.huge.mul(-1, 2), ValueError, "a is -1"),
        (lambda: wp.huge.mul(1, -(2**100)), ValueError, "b is -2\\^100"),
        (lambda: wp.huge.mul(1.0, 2), TypeError, "a is an int, not float"),
        (lambda: wp.huge.mul("1", 2), TypeError, "str"),
        (lambda: wp.huge.divmod(1, 0), ZeroDivisionError, "zero|0"),
        (lambda: wp.huge.pow(2, -1), ValueError, "e is -1"),
        (lambda: wp.huge.pow(3, 2**64), ValueError, "2\\^64|bits|at most"),
        (lambda: wp.huge.pow(3, 2**46), MemoryError, "GiB"),
        (lambda: wp.huge.pow(3, 2**63), OverflowError, "power"),
        (lambda: wp.huge.factorial(10**12), MemoryError, "GiB"),
        (lambda: wp.huge.factorial(2**64 - 1), OverflowError, "factorial"),
        (lambda: wp.huge.factorial(-3), ValueError, "n is -3"),
        (lambda: wp.huge.from_decimal(""), ValueError, "no digits"),
        (lambda: wp.huge.from_decimal("12x4"), ValueError, "character 2, 'x'"),
        (lambda: wp.huge.from_decimal("1²"), ValueError, "character 1"),
        (lambda: wp.huge.from_decimal("-5"), ValueError, "character 0"),
        (lambda: wp.huge.from_decimal(5), TypeError, "int"),
        (lambda: wp.huge.sqr(5, device="tpu"), ValueError, "tpu"),
        (lambda: wp.huge.sqr(5, device=None), TypeError, "NoneType"),
        (lambda: wp.huge.sqr(5, threads=0), ValueError, "threads"),
        (lambda: wp.huge.sqr(5, progress="x"), TypeError, "tqdm"),
    ],
)
def test_wrong_input_is_one_line(call: Any, kind: type[Exception], match: str) -> None:
    with pytest.raises(kind, match=match) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_ctrl_c_ends_a_calculation() -> None:
    code = "import warpint as wp; print('go', flush=True); wp.huge.factorial(300_000_000)"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "go\n"
    time.sleep(2)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    _, errors = process.communicate(timeout=120)
    assert "KeyboardInterrupt" in errors and process.returncode == -signal.SIGINT
    assert time.monotonic() - begin < 60
