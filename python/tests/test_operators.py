"""Operators against Python's integers, at widths at the ends of limbs."""

from __future__ import annotations

import operator

import numpy as np
import pytest
import warpint as wp
from conftest import lists, numbers, pairs, widths
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.quick


def made(pair):
    values, bits = pair
    return wp.array(values, bits=bits)


@given(pairs())
def test_sums_and_products_are_exact(pair):
    (xs, m), (ys, n) = pair
    a, b = map(made, pair)
    total, product = a + b, a * b
    assert total.tolist() == [x + y for x, y in zip(xs, ys)]
    assert total.bits == max(m, n) + 1
    assert product.tolist() == [x * y for x, y in zip(xs, ys)]
    assert product.bits == m + n
    assert a.square().tolist() == (a * a).tolist() == [x * x for x in xs]
    assert total._batch.bits == -(-total.bits // 32) * 32
    assert product._batch.bits == -(-product.bits // 32) * 32


@given(pairs())
def test_differences_are_masked_where_negative(pair):
    (xs, m), (ys, n) = pair
    d = made(pair[0]) - made(pair[1])
    assert isinstance(d, wp.Masked)
    assert d.tolist() == [x - y if x >= y else None for x, y in zip(xs, ys)]
    assert d.bits == max(m, n)
    assert all(value < 1 << d.bits for value in d.values.tolist())


@given(pairs())
def test_quotients_and_remainders_are_masked_where_the_divisor_is_zero(pair):
    (xs, m), (ys, n) = pair
    a, b = map(made, pair)
    q, r = divmod(a, b)
    quotients = [x // y if y else None for x, y in zip(xs, ys)]
    remainders = [x % y if y else None for x, y in zip(xs, ys)]
    assert q.tolist() == (a // b).tolist() == quotients
    assert r.tolist() == (a % b).tolist() == remainders
    assert (q.bits, r.bits) == (m, n)


@given(pairs())
def test_bit_operations(pair):
    (xs, m), (ys, n) = pair
    a, b = map(made, pair)
    for op, bits in (operator.and_, min), (operator.or_, max), (operator.xor, max):
        result = op(a, b)
        assert result.tolist() == [op(x, y) for x, y in zip(xs, ys)]
        assert result.bits == bits(m, n)
    assert (~a).tolist() == [(1 << m) - 1 - x for x in xs]
    assert a.bit_length().tolist() == [x.bit_length() for x in xs]


@given(lists(), st.integers(0, 150))
def test_shifts(pair, k):
    xs, m = pair
    a = made(pair)
    left, right = a << k, a >> k
    assert left.tolist() == [x << k for x in xs] and left.bits == m + k
    assert right.tolist() == [x >> k for x in xs] and right.bits == max(1, m - k)


@given(pairs())
def test_comparisons(pair):
    (xs, _), (ys, _) = pair
    a, b = map(made, pair)
    for op in operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge:
        result = op(a, b)
        assert isinstance(result, np.ndarray) and result.dtype == np.bool_
        assert result.tolist() == [op(x, y) for x, y in zip(xs, ys)]
    assert a.equals(b) == (xs == ys)
    assert a.equals(a.copy())


@given(lists(), widths.flatmap(numbers))
def test_ints_are_combined_with_every_element(pair, s):
    xs, _ = pair
    a = made(pair)
    assert (a + s).tolist() == (s + a).tolist() == [x + s for x in xs]
    assert (a * s).tolist() == (s * a).tolist() == [x * s for x in xs]
    assert (a - s).tolist() == [x - s if x >= s else None for x in xs]
    assert (s - a).tolist() == [s - x if s >= x else None for x in xs]
    assert (a & s).tolist() == (s & a).tolist() == [x & s for x in xs]
    assert (a | s).tolist() == [x | s for x in xs]
    assert (a ^ s).tolist() == (s ^ a).tolist() == [x ^ s for x in xs]
    assert (a >= s).tolist() == (s <= a).tolist() == [x >= s for x in xs]
    assert (s // a).tolist() == [s // x if x else None for x in xs]
    assert (s % a).tolist() == [s % x if x else None for x in xs]
    if s:
        q, r = divmod(a, s)
        assert isinstance(q, wp.Array) and isinstance(a % s, wp.Array)
        assert q.tolist() == (a // s).tolist() == [x // s for x in xs]
        assert r.tolist() == (a % s).tolist() == [x % s for x in xs]
        assert divmod(s, a)[0].tolist() == (s // a).tolist()


def test_an_int_zero_as_divisor_is_refused():
    a = wp.array([1, 2])
    for op in operator.floordiv, operator.mod, divmod:
        with pytest.raises(ZeroDivisionError):
            op(a, 0)


@given(lists(), st.integers(0, 9))
def test_powers(pair, k):
    xs, m = pair
    power = made(pair) ** k
    assert power.tolist() == [x**k for x in xs]
    assert power.bits == max(1, k * m)


def test_other_operands():
    a = wp.array([5, 6, 7])
    assert (a + [1, 2, 3]).tolist() == ([1, 2, 3] + a).tolist() == [6, 8, 10]
    assert (a + np.array([1, 2, 3])).tolist() == (np.array([1, 2, 3]) + a).tolist() == [6, 8, 10]
    assert (np.uint64(2) * a).tolist() == (a * np.uint64(2)).tolist() == [10, 12, 14]
    assert (a + wp.array([1])).tolist() == [6, 7, 8]
    assert (a == np.array([5, 0, 7])).tolist() == [True, False, True]
    assert (a > -1).all() and not (a == -5).any() and (a != -5).all()
    assert (a == None) is False and (a != "x") is True
    for wrong in 1.5, "1", None, object():
        with pytest.raises(TypeError):
            a + wrong
        with pytest.raises(TypeError):
            wrong - a
    with pytest.raises(TypeError, match="exponent"):
        a**1.5
    with pytest.raises(ValueError, match="negative"):
        a**-1
    with pytest.raises(TypeError, match="shift count"):
        a << 1.5
    for op in operator.lshift, operator.rshift:
        with pytest.raises(ValueError, match="negative"):
            op(a, -1)


def test_negative_operands_are_refused():
    a = wp.array([5, 6])
    for op in operator.add, operator.sub, operator.mul, operator.floordiv, operator.and_:
        with pytest.raises(OverflowError, match="-3 is negative"):
            op(a, -3)
        with pytest.raises(OverflowError, match="element 1 is negative"):
            op(a, [1, -3])


def test_shapes_must_fit():
    with pytest.raises(ValueError, match=r"shapes \(2,\) and \(3,\)"):
        wp.array([1, 2]) + wp.array([1, 2, 3])
    with pytest.raises(ValueError, match="shapes"):
        operator.eq(wp.array([1, 2]), [1, 2, 3])
    empty = wp.array([], bits=40)
    assert (empty + 1).tolist() == (empty * wp.array([7])).tolist() == []
    assert (empty - empty).mask.shape == (0,)


def test_results_that_are_too_wide():
    a = wp.array([1], bits=1 << 20)
    wide = a << (1 << 20)
    assert wide.bits == 1 << 21 and int(wide >> (1 << 20)) == 1
    for job in lambda: wide << 1, lambda: wide + 1, lambda: wide * 2, lambda: a**3:
        with pytest.raises(OverflowError):
            job()
    with pytest.raises(OverflowError, match="at most 1048576"):
        wp.array([1], bits=(1 << 20) + 32) * wp.array([1])
    assert int(wp.array([2]) ** (1 << 19)) == 1 << (1 << 19)


@given(lists(), widths)
def test_other_widths(pair, bits):
    xs, _ = pair
    a = made(pair)
    assert a.truncate(bits).tolist() == [x % (1 << bits) for x in xs]
    assert a.truncate(bits).bits == bits
    wide = [i for i, x in enumerate(xs) if x.bit_length() > bits]
    if wide:
        with pytest.raises(OverflowError, match=f"element {wide[0]} has"):
            a.resize(bits)
    else:
        assert a.resize(bits).tolist() == xs and a.resize(bits).bits == bits
