"""Masked results: how they are raised, filled, and carried through further operations."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import warpint as wp
from conftest import pairs
from hypothesis import given

pytestmark = pytest.mark.quick


def example():
    return wp.array([5, 3, 9]) - wp.array([2, 4, 9])


def test_access():
    d = example()
    assert d.mask.tolist() == [False, True, False] and d.mask.dtype == np.bool_
    assert not d.mask.flags.writeable
    assert d.tolist() == list(d) == [3, None, 0]
    assert (len(d), d.shape, d.bits, d.device, d.reason) == (3, (3,), 4, "cpu", "a < b")
    assert d[0] == 3 and d[1] is None and d[-1] == 0
    assert d[1:].tolist() == [None, 0] and d[[2, 1]].tolist() == [0, None]
    assert d.compressed().tolist() == [3, 0]
    assert repr(d) == "warpint.Masked([3, --, 0], bits=4, device='cpu')"


def test_a_missing_result_is_raised_or_filled():
    d = example()
    with pytest.raises(wp.MaskedError, match="element 1 has no result: a < b") as caught:
        d.unwrap()
    assert caught.value.index == 1 and isinstance(caught.value, ValueError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert d.fill(7).tolist() == [3, 7, 0] and d.fill(7).bits == 4
    assert d[::2].unwrap().tolist() == d[::2].fill(1).tolist() == [3, 0]
    with pytest.raises(OverflowError, match="negative"):
        d.fill(-1)
    with pytest.raises(OverflowError, match="5 bits"):
        d.fill(16)
    with pytest.raises(TypeError):
        d.fill(1.5)


def test_masks_are_carried():
    a, d = wp.array([10, 20, 30]), example()
    assert (d + 1).tolist() == (1 + d).tolist() == [4, None, 1]
    assert (d * a).tolist() == (a * d).tolist() == [30, None, 0]
    assert (a - d).tolist() == [7, None, 30]
    assert (d - a).tolist() == [None, None, None]
    assert (a // d).tolist() == [3, None, None] and (d % 2).tolist() == [1, None, 0]
    assert (d & 1).tolist() == (1 & d).tolist() == [1, None, 0]
    assert (d | a).tolist() == [3 | 10, None, 30] and (d ^ 1).tolist() == [2, None, 1]
    assert (d << 2).tolist() == [12, None, 0] and (d >> 1).tolist() == [1, None, 0]
    assert (d**2).tolist() == [9, None, 0] and pow(d, 2, 4).tolist() == [1, None, 0]
    assert (~d).tolist() == [15 - 3, None, 15] and (~d).bits == d.bits
    for dividend, divisor in [
        (d, a),
        (a, d),
        (d, 2),
        (35, d),
        (d, d),
        ([9, 9, 9], d),
        (d, [2, 2, 0]),
    ]:
        q, r = divmod(dividend, divisor)
        assert q.tolist() == (dividend // divisor).tolist()
        assert r.tolist() == (dividend % divisor).tolist()
    assert [x.tolist() for x in divmod(d, 2)] == [[1, None, 0], [1, None, 0]]
    with pytest.raises(ZeroDivisionError):
        divmod(d, 0)
    both = d + (wp.array([1, 1, 0]) - 1)
    assert both.tolist() == [3, None, None]
    with pytest.raises(wp.MaskedError, match="element 0 has no result: a < b or division by zero"):
        (a // d)[2:].unwrap()


@given(pairs())
def test_a_masked_chain_agrees_with_python(pair):
    (xs, m), (ys, n) = pair
    a, b = wp.array(xs, bits=m), wp.array(ys, bits=n)
    expected = [(x - y) * x % y if y and x >= y else None for x, y in zip(xs, ys)]
    assert ((a - b) * a % b).tolist() == expected


def test_masked_results_are_not_numbers():
    d = example()
    for job in (
        lambda: wp.array(d),
        lambda: wp.gcd(d, 2),
        lambda: d == 3,
        lambda: d < d[1:],
        lambda: wp.array([1, 2, 3]) == d,
        lambda: wp.Modulus(7).mul(d, 2),
        lambda: bool(d),
        lambda: bool(d[:1]),
    ):
        with pytest.raises(TypeError, match="unwrap"):
            job()


def test_pickles():
    d = pickle.loads(pickle.dumps(example()))
    assert d.tolist() == [3, None, 0] and d.reason == "a < b"


def test_own_masks_are_checked():
    a = wp.array([1, 2])
    assert wp.Masked(a, np.array([True, False]), "no data").tolist() == [None, 2]
    with pytest.raises(TypeError, match="bool"):
        wp.Masked(a, np.array([1, 0]), "x")
    with pytest.raises(ValueError, match="shape"):
        wp.Masked(a, np.array([True]), "x")
    for values in [1, 2], np.array([1, 2]), wp.Masked(a, np.array([True, False]), "x"), None:
        with pytest.raises(TypeError, match="values are an Array, not"):
            wp.Masked(values, np.array([True, False]), "x")
    for mask in [True, False], None, a, True:
        with pytest.raises(TypeError, match="a mask is a NumPy array of dtype bool, not"):
            wp.Masked(a, mask, "x")
    with pytest.raises(TypeError, match="a reason is a str, not int"):
        wp.Masked(a, np.array([True, False]), 5)


def test_masks_are_not_shared():
    mask = np.array([True, False])
    d = wp.Masked(wp.array([1, 2]), mask, "no data")
    parts = d[:], d.to("cpu"), d + 0, pickle.loads(pickle.dumps(d)), wp.concatenate([d])
    mask[:] = False
    assert all(part.tolist() == [None, 2] for part in (d, *parts))
    assert not d.mask.flags.writeable
