"""Published values: files of the repository, in tests/vectors and crates/selftest/vectors."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "vectors"
SHIPPED = ROOT / "crates" / "selftest" / "vectors"


@cache
def vectors(name: str) -> dict[str, Any]:
    """Read a file of vectors. Skips the test in a package without the repository."""
    if sys.version_info < (3, 11):
        pytest.skip("reading TOML needs Python 3.11")
    import tomllib

    for folder in [SHIPPED, FOLDER]:
        path = folder / f"{name}.toml"
        if path.exists():
            return tomllib.loads(path.read_text(encoding="utf-8"))
    pytest.skip(f"{name}.toml is part of the repository, not of the package")
