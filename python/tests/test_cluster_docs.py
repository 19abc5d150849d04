"""The examples of the page about clusters."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "clusters.md"


def test_examples_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    pytest.importorskip("distributed")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    failed, attempted = doctest.testfile(str(PAGE), module_relative=False)
    assert attempted > 20 and failed == 0
