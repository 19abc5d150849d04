"""The examples of the page that compares packages, for the packages that are installed."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "python-compared.md"


@pytest.mark.parametrize("package", ["warpint", "gmpy2", "flint", "cupy"])
def test_examples_of_a_package(package: str) -> None:
    if not PAGE.exists():
        pytest.skip("the page is part of the repository")
    pytest.importorskip(package)
    blocks = [part.split("```")[0] for part in PAGE.read_text(encoding="utf-8").split("```pycon\n")]
    (block,) = (block for block in blocks[1:] if f"import {package}" in block.splitlines()[0])
    test = doctest.DocTestParser().get_doctest(block, {}, package, str(PAGE), 0)
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert runner.tries > 1 and runner.failures == 0
