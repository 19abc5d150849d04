"""The fields of JSON objects that docs/reference/json.md describes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "json.md"


def rows(section: str) -> list[list[str]]:
    """Return the cells of the rows of the first table of a section."""
    if not PAGE.exists():
        pytest.skip(f"{PAGE} is part of the repository, not of the package")
    text = PAGE.read_text(encoding="utf-8").split(f"## `{section}`\n")[1].split("\n## ")[0]
    table = text[text.index("|---") :].split("\n\n")[0].splitlines()[1:]
    return [line.strip("|").split(" | ") for line in table]


def names(text: str) -> list[str]:
    """Return the names in backquotes, without those in parentheses."""
    return re.findall("`([^`]+)`", re.sub(r"\([^()]*\)", "", text))
