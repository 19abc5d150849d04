"""Published values: the files in tests/vectors of the repository."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "tests" / "vectors"


@cache
def vectors(name: str) -> dict[str, Any]:
    """Read a file of vectors. Skips the test in a package without the repository."""
    if sys.version_info < (3, 11):
        pytest.skip("reading TOML needs Python 3.11")
    import tomllib

    path = FOLDER / f"{name}.toml"
    if not path.exists():
        pytest.skip(f"{path} is part of the repository, not of the package")
    return tomllib.loads(path.read_text(encoding="utf-8"))
