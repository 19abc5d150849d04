"""The page of the book about the names of the package, and that every name is documented."""

from __future__ import annotations

import inspect
import os
import re
from pathlib import Path
from types import ModuleType

import pytest
import reference
import warpint as wp

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "python.md"


def test_page_is_up_to_date() -> None:
    if not PAGE.parent.exists():
        pytest.skip("the page is part of the repository")
    page = reference.page()
    if os.environ.get("WARPINT_UPDATE"):
        PAGE.write_text(page, encoding="utf-8")
        return
    stored = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    lines, old = page.splitlines(), stored.splitlines()
    differing = (i for i, (a, b) in enumerate(zip(lines, old, strict=False)) if a != b)
    line = next(differing, min(len(lines), len(old)))
    where = f"docs/reference/python.md:{line + 1} is out of date"
    assert page == stored, f"{where}: in the folder python, run {reference.COMMAND}"


def test_page_has_every_name_once() -> None:
    grouped = " ".join(reference.SUBJECTS.values()).split()
    assert sorted(grouped) == sorted(reference.names(wp)), "add new names to reference.SUBJECTS"
    assert {"warpint", "warpint.collatz", "warpint.huge"} <= {
        module.__name__ for module in reference.modules()
    }
    headings = re.findall("^### `(.+)`$", reference.page(), re.MULTILINE)
    expected = [
        f"{module.__name__}.{name}".removeprefix("warpint.")
        for module in reference.modules()
        for name in reference.names(module)
    ]
    assert sorted(headings) == sorted(expected)


def test_page_has_every_method_and_attribute() -> None:
    page = reference.page()
    for module in reference.modules():
        for name in reference.names(module):
            item = getattr(module, name)
            if not inspect.isclass(item):
                continue
            path = f"{module.__name__}.{name}".removeprefix("warpint.")
            section = page.split(f"\n### `{path}`\n")[1].split("\n### ")[0]
            for member, value in reference.members(item).items():
                call = reference.OPERATORS.get(member, member)
                is_method = inspect.isfunction(value) and call == member
                mark = f"\n#### `{path}.{member}`\n" if is_method else f"\n- `{call}`:"
                # The operators of masked results have no docstrings of their own.
                if value.__doc__ or call == member:
                    assert mark in section, (path, member)
            for field in reference.fields(item):
                assert f"\n- `{field}`: " in section, (path, field)


def test_links_lead_to_headings() -> None:
    page = reference.page()
    anchors: list[str] = []
    for heading in re.findall("^#+ (.+)$", page, re.MULTILINE):
        slug = re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        numbered = [slug, *(f"{slug}-{i}" for i in range(1, len(anchors) + 1))]
        anchors.append(next(anchor for anchor in numbered if anchor not in anchors))
    links = re.findall(r"\[`([^`]+)`\]\(#([^)]+)\)", page)
    assert len(links) > 60
    assert {anchor for _, anchor in links} <= set(anchors)
    # Names that differ in case only.
    by_name = dict(links)
    assert by_name["Array"] == "array" and by_name["array"] == "array-1"


@pytest.mark.parametrize("module", reference.modules())
def test_every_public_name_has_a_docstring(module: ModuleType) -> None:
    assert module.__doc__
    for name in reference.names(module):
        item = getattr(module, name)
        if not callable(item):
            continue
        # A dataclass without a docstring would have its signature in place of it.
        assert item.__doc__ and not item.__doc__.startswith(f"{name}("), name
        if not inspect.isclass(item):
            continue
        for member, value in reference.members(item).items():
            assert value.__doc__ or member in reference.OPERATORS, f"{name}.{member}"
        for field, text in reference.fields(item).items():
            assert text, f"{name}.{field} has no comment after #:"


def test_marks_of_docstrings_become_marks_of_markdown() -> None:
    lines = "\n\n".join(
        reference._prose(
            """Return a_k*b of ``x * y``: see :func:`gcd`.

            * one,
              in two lines;
            * two.

            ``device``
                ``"cpu"``.

            ====  =====
            ``a``  b | c
            ====  =====

            Raises ValueError.

            >>> 1 + 1
            2
            """,
            {"gcd": "gcd"},
        )
    )
    assert lines == (
        "Return a\\_k\\*b of `x * y`: see [`gcd`](#gcd).\n\n"
        "- one, in two lines;\n- two.\n\n"
        '- `device`: `"cpu"`.\n\n'
        "|  |  |\n| --- | --- |\n| `a` | b \\| c |\n\n"
        "**Raises** ValueError.\n\n"
        "```pycon\n>>> 1 + 1\n2\n```"
    )
