"""Prepared moduli and fixed bases against Python's integers."""

from __future__ import annotations

import pickle

import pytest
import warpint as wp
from conftest import lists, numbers, widths
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.quick


@given(lists(4), lists(4), widths.flatmap(numbers).filter(bool))
def test_one_modulus(first, second, m):
    (xs, p), (ys, q) = first, second
    a, b, modulus = wp.array(xs, bits=p), wp.array(ys, bits=q), wp.Modulus(m)
    pairs = list(zip(xs, ys))
    assert modulus.bits == m.bit_length() and int(modulus.modulus) == m
    assert modulus.reduce(a).tolist() == [x % m for x in xs]
    assert modulus.add(a, b).tolist() == [(x + y) % m for x, y in pairs]
    assert modulus.sub(a, b).tolist() == [(x - y) % m for x, y in pairs]
    assert modulus.mul(a, b).tolist() == [x * y % m for x, y in pairs]
    assert modulus.square(a).tolist() == [x * x % m for x in xs]
    assert modulus.pow(a, b).tolist() == pow(a, b, modulus).tolist()
    assert modulus.pow(a, b).tolist() == [pow(x, y, m) for x, y in pairs]
    assert modulus.pow(a, 7).tolist() == [pow(x, 7, m) for x in xs]
    assert modulus.mul(a, b).bits == m.bit_length()
    for x, found, power in zip(xs, modulus.invert(a).tolist(), modulus.pow(a, -2).tolist()):
        try:
            expected = pow(x, -1, m)
        except ValueError:
            expected = None
        assert found == expected
        assert power == (None if expected is None else pow(expected, 2, m))


@given(lists(4), lists(4), st.lists(numbers(129).filter(bool), min_size=4, max_size=4))
def test_a_modulus_for_each_element(first, second, ms):
    (xs, _), (ys, _) = first, second
    modulus = wp.Modulus(ms)
    assert modulus.mul(xs, ys).tolist() == [x * y % m for x, y, m in zip(xs, ys, ms)]
    assert modulus.sub(xs, ys).tolist() == [(x - y) % m for x, y, m in zip(xs, ys, ms)]
    assert modulus.pow(xs, ys).tolist() == [pow(x, y, m) for x, y, m in zip(xs, ys, ms)]


@given(
    widths.flatmap(numbers),
    widths.flatmap(numbers).filter(bool),
    st.sampled_from([1, 5, 32, 33, 100]).flatmap(
        lambda bits: st.tuples(st.just(bits), st.lists(numbers(bits), max_size=5))
    ),
)
def test_fixed_bases(base, m, exponents):
    bits, es = exponents
    table = wp.Modulus(m).fixed_base(base, bits)
    assert table.pow(wp.array(es, bits=bits)).tolist() == [pow(base, e, m) for e in es]
    assert table.pow(0).tolist() == [1 % m]
    assert (table.bits, int(table.base), table.modulus.bits) == (bits, base, m.bit_length())


def test_wrong_moduli_and_bases():
    with pytest.raises(ZeroDivisionError, match="modulus 2 is 0"):
        wp.Modulus([3, 5, 0])
    with pytest.raises(ZeroDivisionError):
        wp.FixedBase(2, 0, bits=5)
    with pytest.raises(ValueError, match="exactly one"):
        wp.FixedBase(2, [5, 7], bits=5)
    with pytest.raises(ValueError, match="exactly one"):
        wp.FixedBase([2, 3], 7, bits=5)
    table = wp.FixedBase(2, 7, bits=5)
    with pytest.raises(OverflowError, match="element 1 has 6 bits"):
        table.pow([1, 32])
    assert table.pow(wp.array([31], bits=300)).tolist() == [pow(2, 31, 7)]


def test_operands_are_counted_like_the_arguments():
    a, masked, m = wp.array([1, 2]), wp.array([1, 2]) - wp.array([2, 1]), wp.Modulus(5)
    for name in "add", "sub", "mul", "pow":
        for k, arguments in enumerate([(masked, a), (a, masked)]):
            with pytest.raises(TypeError, match=f"operand {k} is masked"):
                getattr(m, name)(*arguments)
            if name == "pow":
                for modulus in 5, m:
                    with pytest.raises(TypeError, match=f"operand {k} is masked"):
                        wp.powmod(*arguments, modulus)
    table = m.fixed_base(2, 8)
    for job in m.reduce, m.square, m.invert, table.pow, lambda x: m.fixed_base(x, 8), wp.Modulus:
        with pytest.raises(TypeError, match="operand 0 is masked"):
            job(masked)


def test_a_table_outlives_its_modulus():
    tables = [wp.Modulus(2**61 - 1).fixed_base(k, 64) for k in range(2, 30)]
    for k, table in zip(range(2, 30), tables):
        assert table.pow([2**63 + k]).tolist() == [pow(k, 2**63 + k, 2**61 - 1)]


def test_pickles_and_texts():
    modulus = wp.Modulus(1009)
    assert repr(modulus) == "warpint.Modulus([1009], bits=10, device='cpu')"
    assert pickle.loads(pickle.dumps(modulus)).mul(1000, 1000).tolist() == [10**6 % 1009]
    table = pickle.loads(pickle.dumps(modulus.fixed_base(3, 10)))
    assert table.pow(1000).tolist() == [pow(3, 1000, 1009)] and "FixedBase" in repr(table)
