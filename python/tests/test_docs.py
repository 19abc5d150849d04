"""The examples in docstrings, in the guide and in the folder of examples."""

from __future__ import annotations

import doctest
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
import warpint

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "python" / "examples"


def test_docstrings():
    outcome = doctest.testmod(warpint)
    assert outcome.failed == 0 and outcome.attempted > 40


def test_an_installed_package_has_its_licences():
    try:
        files = distribution("warpint").files or []
    except PackageNotFoundError:
        pytest.skip("the package is not installed")
    for name in "LICENSE-APACHE", "LICENSE-MIT":
        (found,) = (file for file in files if file.name == name and "licenses" in file.parts)
        assert found.read_text(encoding="utf-8") == (ROOT / name).read_text(encoding="utf-8")


def blocks(page):
    """The Python blocks of a page in which there are prompts."""
    for block in page.split("```python\n")[1:]:
        code = block.split("```")[0]
        if ">>>" in code:
            yield code


def test_the_guide():
    page = (ROOT / "docs" / "guides" / "python.md").read_text(encoding="utf-8")
    code = "\n".join(blocks(page))
    test = doctest.DocTestParser().get_doctest(code, {}, "python.md", "python.md", 0)
    assert len(test.examples) > 30
    outcome = doctest.DocTestRunner().run(test)
    assert outcome.failed == 0


@pytest.mark.parametrize("name", ["paillier", "rsa"])
def test_examples(name):
    done = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py", "20", "--bits", "256"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "20 encryptions" in done.stdout and "all decrypted right" in done.stdout
    assert "constant time" in done.stdout


@pytest.mark.parametrize("name", ["paillier", "rsa"])
def test_examples_refuse_wrong_arguments(name):
    for wrong in ["0"], ["5", "--bits", "9"], ["5", "--device", "gpu"]:
        done = subprocess.run(
            [sys.executable, EXAMPLES / f"{name}.py", *wrong],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 2 and done.stderr.splitlines()[-1].startswith(f"{name}.py: error")
