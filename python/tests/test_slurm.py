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


def run(
    script: str,
    folder: Path,
    *arguments: str,
    status: int = 0,
    errors: bool = False,
    **variables: str | int,
) -> str:
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
    return done.stderr if errors else done.stdout


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


def array(tasks: list[int]) -> list[dict[str, int]]:
    """The variables of the tasks of a job array, as Slurm sets them."""
    whole = {
        "SLURM_ARRAY_TASK_COUNT": len(tasks),
        "SLURM_ARRAY_TASK_MIN": min(tasks),
        "SLURM_ARRAY_TASK_MAX": max(tasks),
    }
    return [whole | {"SLURM_ARRAY_TASK_ID": task} for task in tasks]


def test_primes_in_an_array(tmp_path: Path) -> None:
    numbers = list(range(2, 1000)) + [2**127 - 1, 2**127 + 1]
    (tmp_path / "numbers.txt").write_text("".join(f"{n}\n" for n in numbers))
    run("primes-merge.sbatch", tmp_path, "numbers.txt", status=1)
    for variables in array(list(range(11))):
        run("primes.sbatch", tmp_path, "numbers.txt", **variables)
    assert len(list(tmp_path.glob("primes-*.txt"))) == 11
    out = run("primes-merge.sbatch", tmp_path, "numbers.txt")
    found = [int(n) for n in (tmp_path / "primes.txt").read_text().split()]
    small = [n for n in range(2, 1000) if all(n % d for d in range(2, int(n**0.5) + 1))]
    assert found == [*small, 2**127 - 1]
    assert out == f"{len(found)} probable primes of 11 parts\n"
    run("primes.sbatch", tmp_path, "missing.txt", status=1, **array([0])[0])
    assert "missing.txt" not in {path.name for path in tmp_path.iterdir()}


def test_missing_and_foreign_parts_of_primes_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "numbers.txt").write_text("2\n3\n4\n5\n6\n7\n")
    (tmp_path / "others.txt").write_text("11\n12\n13\n")

    def refused(text: str, numbers: str = "numbers.txt") -> None:
        assert text in run("primes-merge.sbatch", tmp_path, numbers, status=1, errors=True)
        assert not (tmp_path / "primes.txt").exists()

    tasks = array([0, 1, 2])
    for variables in (tasks[0], tasks[2]):
        run("primes.sbatch", tmp_path, "numbers.txt", **variables)
    refused("part 1 of 3 is missing")
    # A task that is done again is alone in its array.
    again = array([1])[0]
    out = run("primes.sbatch", tmp_path, "numbers.txt", status=1, errors=True, **again)
    assert "does not begin at 0" in out
    refused("part 1 of 3 is missing")
    run("primes.sbatch", tmp_path, "others.txt", PARTS=3, **again)
    refused("primes-000001-of-000003.txt is not of the numbers in numbers.txt")
    run("primes.sbatch", tmp_path, "numbers.txt", PARTS=3, **again)
    refused("primes-000000-of-000003.txt is not of the numbers in others.txt", "others.txt")
    other = array([0, 1])[0]
    run("primes.sbatch", tmp_path, "numbers.txt", **other)
    refused("files of 2 and of 3 parts")
    (tmp_path / "primes-000000-of-000002.txt").unlink()
    assert run("primes-merge.sbatch", tmp_path, "numbers.txt") == "4 probable primes of 3 parts\n"
    assert (tmp_path / "primes.txt").read_text() == "2\n3\n5\n7\n"


@pytest.mark.parametrize("tasks", [[1, 2, 3], [0, 2, 4], [7]])
def test_arrays_that_are_no_whole_are_refused(tasks: list[int], tmp_path: Path) -> None:
    (tmp_path / "numbers.txt").write_text("2\n")
    for variables in array(tasks):
        run("primes.sbatch", tmp_path, "numbers.txt", status=1, **variables)
    out = run(
        "primes.sbatch", tmp_path, "numbers.txt", status=1, errors=True, PARTS=1, **array([1])[0]
    )
    assert "no part 1 of 1" in out
    assert not list(tmp_path.glob("primes-*"))


@pytest.mark.parametrize("name", ["collatz", "collatz-merge", "primes", "primes-merge"])
def test_the_options_are_before_the_first_command(name: str) -> None:
    # Slurm reads no options after it.
    lines = (EXAMPLES / f"{name}.sbatch").read_text(encoding="utf-8").splitlines()
    first = next(i for i, text in enumerate(lines) if text and not text.startswith("#"))
    options = [i for i, text in enumerate(lines) if text.startswith("#SBATCH ")]
    assert options and max(options) < first
