"""The job arrays among the examples, run by bash with the variables that Slurm sets."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import warpint as wp

pytestmark = pytest.mark.quick

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(script: str, folder: Path, *arguments: str, status: int = 0, **variables: str | int) -> str:
    # The Python of the tests is the one that the script finds.
    bin_folder = folder / "bin"
    bin_folder.mkdir(exist_ok=True)
    if not (bin_folder / "python").exists():
        (bin_folder / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        (bin_folder / "python").chmod(0o755)
    path = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
    texts = {name: str(value) for name, value in variables.items()}
    done = subprocess.run(
        ["bash", str(EXAMPLES / script), *arguments],
        env=os.environ | {"PATH": path, "DEVICE": "cpu", "SLURM_CPUS_PER_TASK": "1"} | texts,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == status, done.stderr
    return done.stdout


def test_collatz_in_an_array(tmp_path: Path) -> None:
    options = {"PARTS": 3, "BELOW_BITS": 19, "UNIT_BITS": 16}
    for part in 0, 2:
        out = run("collatz.sbatch", tmp_path, SLURM_ARRAY_TASK_ID=part, **options)
        assert f"part {part}: " in out and " 0 done before, part" in out
    out = run("collatz-merge.sbatch", tmp_path, status=1)
    assert "nothing is proven yet" in out
    run("collatz.sbatch", tmp_path, SLURM_ARRAY_TASK_ID=1, **options)
    out = run("collatz-merge.sbatch", tmp_path)
    assert wp.collatz.merge(*tmp_path.glob("collatz-units-*")).claim == out.splitlines()[0]
    assert "8 units, 0 gaps, 0 rejected files" in out
    again = run("collatz.sbatch", tmp_path, SLURM_ARRAY_TASK_ID=1, **options)
    assert "part 1: 0 units done" in again


def test_primes_in_an_array(tmp_path: Path) -> None:
    numbers = list(range(2, 1000)) + [2**127 - 1, 2**127 + 1]
    (tmp_path / "numbers.txt").write_text("".join(f"{n}\n" for n in numbers))
    for part in range(11):
        run("primes.sbatch", tmp_path, "numbers.txt", SLURM_ARRAY_TASK_ID=part, PARTS=11)
    names = sorted(path.name for path in tmp_path.glob("primes-*.txt"))
    assert len(names) == 11
    found = [int(n) for name in names for n in (tmp_path / name).read_text().split()]
    small = [n for n in range(2, 1000) if all(n % d for d in range(2, int(n**0.5) + 1))]
    assert found == [*small, 2**127 - 1]
    run("primes.sbatch", tmp_path, "missing.txt", SLURM_ARRAY_TASK_ID=0, status=1)
    assert "missing.txt" not in {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize("name", ["collatz", "collatz-merge", "primes"])
def test_the_options_are_before_the_first_command(name: str) -> None:
    # Slurm reads no options after it.
    lines = (EXAMPLES / f"{name}.sbatch").read_text(encoding="utf-8").splitlines()
    first = next(i for i, text in enumerate(lines) if text and not text.startswith("#"))
    options = [i for i, text in enumerate(lines) if text.startswith("#SBATCH ")]
    assert options and max(options) < first
