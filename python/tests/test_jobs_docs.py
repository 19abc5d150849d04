"""The examples of the docstrings of jobs, and those of the page of the book."""

from __future__ import annotations

import doctest
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import warpint as wp

pytestmark = pytest.mark.quick

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "python-jobs.md"


@pytest.mark.parametrize(
    "item", [wp.Mersenne, wp.Number, wp.test, wp.audit_keys, wp.ntt, wp.convolve, wp.root_of_unity]
)
def test_examples_of_docstrings(item: Any) -> None:
    # Their __module__ is that of the package, so that testmod would not find them.
    runner = doctest.DocTestRunner()
    for example in doctest.DocTestFinder().find(item, item.__name__, globs={}):
        runner.run(example)
    assert runner.tries > 0 and runner.failures == 0


@pytest.mark.parametrize("module", [wp.collatz, wp.huge])
def test_examples_of_modules(module: ModuleType) -> None:
    failed, attempted = doctest.testmod(module)
    assert attempted > 0 and failed == 0


def test_examples_of_the_page() -> None:
    if not PAGE.exists():
        pytest.skip("the page is part of the repository")
    failed, attempted = doctest.testfile(str(PAGE), module_relative=False)
    assert attempted > 20 and failed == 0
