"""The Collatz conjecture against loops in Python and published records."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warpint as wp
from hypothesis import given
from hypothesis import strategies as st
from json_page import names, rows
from vectors import vectors

pytestmark = pytest.mark.quick


def walk(n: int) -> tuple[int, int, int, int | None]:
    """Odd steps, even steps, maximum and glide of a path, step by step."""
    odd = even = 0
    start, maximum, glide = n, n, None
    while n != 1:
        if n % 2:
            n, odd = 3 * n + 1, odd + 1
        else:
            n, even = n // 2, even + 1
        maximum = max(maximum, n)
        if glide is None and n < start:
            glide = odd + even
    return odd, even, maximum, glide


@given(st.one_of(st.integers(1, 2**70), st.integers(2**1000, 2**1001)))
def test_paths(n: int) -> None:
    path = wp.collatz.path(n)
    assert (path.odd_steps, path.even_steps, path.maximum, path.glide) == walk(n)
    assert path.n == n and path.delay == path.odd_steps + path.even_steps


def test_published_records() -> None:
    delays = vectors("collatz_delay_records")["records"]
    paths = vectors("collatz_path_records")["records"]
    for record in delays[-5:]:
        assert wp.collatz.path(int(record["n"])).delay == record["delay"]
    for record in paths[-5:]:
        assert wp.collatz.path(int(record["n"])).maximum == int(record["maximum"])
    limit = 10**6
    survey = wp.collatz.delay(limit, records=True, device="cpu")
    assert survey.delay_records == tuple(
        wp.collatz.Record(int(r["n"]), r["delay"]) for r in delays if int(r["n"]) < limit
    )
    assert survey.path_records == tuple(
        wp.collatz.Record(int(r["n"]), int(r["maximum"])) for r in paths if int(r["n"]) < limit
    )


@pytest.mark.parametrize(("start", "stop"), [(1, 2), (1, 500), (2**40 - 7, 2**40 + 9)])
def test_delays_of_ranges(start: int, stop: int) -> None:
    expected = [sum(walk(n)[:2]) for n in range(start, stop)]
    found = wp.collatz.delays(start, stop, device="cpu")
    assert found.dtype == np.uint32 and found.tolist() == expected
    survey = wp.collatz.delay(start, stop)
    assert survey.sum == sum(expected) and survey.mean == sum(expected) / len(expected)
    assert survey.longest.value == max(expected)
    assert survey.longest.n == start + expected.index(max(expected))
    assert survey.delay_records is None and survey.device == "cpu"
    assert survey.to_dict()["sum"] == str(survey.sum)


def test_standing_records_are_respected() -> None:
    above = wp.collatz.delay(28, 100, records=True, delay_record=111, path_record=9232)
    assert [r.n for r in above.delay_records or ()] == [54, 73, 97]
    assert above.path_records == ()


def test_verification_in_units(tmp_path: Path) -> None:
    folder = tmp_path / "units"
    options: dict[str, Any] = {"directory": folder, "unit_bits": 18, "device": "cpu"}
    first = wp.collatz.verify(2**20, units=range(1, 3), **options)
    assert (first.status, first.units, first.selected, first.done) == ("part", 4, 2, 2)
    assert first.claim is None and not first.is_verified
    one = wp.collatz.verify(2**20, units=0, **options)
    assert (one.done, one.before) == (1, 0)
    rest = wp.collatz.verify(2**20, **options)
    assert (rest.status, rest.done, rest.before) == ("verified", 1, 3)
    assert rest.claim == "every n from 1 up and below 2^20 reaches 1"
    assert rest.unresolved == () and rest.failed == () and rest.devices == ("cpu",)
    again = wp.collatz.verify(2**20, **options)
    assert (again.done, again.before, again.method) == (0, 4, None)
    assert rest.highest == again.highest is not None
    value, start = again.highest.value, again.highest.start
    assert wp.collatz.path(start).maximum >= value
    assert len(list(folder.glob("*.json"))) == 4
    assert again.to_dict()["units"] == 4
    json.dumps(again.to_dict())


@pytest.mark.parametrize("method", ["sieve", "table", "plain"])
def test_methods_and_threads(method: str, tmp_path: Path) -> None:
    result = wp.collatz.verify(
        10**5, 10**5 + 3000, directory=tmp_path, method=method, device="cpu", threads=2
    )
    assert result.is_verified and result.method == method and result.numbers == 3000
    assert "if all below" in (result.claim or "")


def test_merge_of_shards(tmp_path: Path) -> None:
    for i in range(2):
        wp.collatz.verify(2**18, directory=tmp_path / str(i), unit_bits=16, shard=(i, 2))
    half = wp.collatz.merge(tmp_path / "0")
    assert not half.is_complete and half.claim is None and half.units == 2
    both = wp.collatz.merge(tmp_path / "0", tmp_path / "1", audits=2, audit_seed=5, threads=1)
    assert both.is_complete and both.is_checked and both.units == 4
    assert both.covered == ((0, 2**18),) and both.gaps == 0 and both.rejected == ()
    assert len(both.audits) == 2 and all(agrees for _, agrees in both.audits)
    assert both.to_dict()["audit-seed"] == "5"
    twice = wp.collatz.merge(tmp_path / "0", tmp_path / "1", tmp_path / "0", check=False)
    assert not twice.is_checked


def test_dictionaries_have_the_fields_of_the_command_line(tmp_path: Path) -> None:
    fields = {cells[0].strip(" `"): names(cells[1]) for cells in rows("collatz")}
    part = wp.collatz.verify(2**18, directory=tmp_path, unit_bits=17, units=0, device="cpu")
    whole = wp.collatz.verify(2**18, directory=tmp_path, device="cpu")
    # Present only for a verified range, and after a failure.
    assert list(part.to_dict()) == [n for n in fields["verify"] if n not in ("claim", "reason")]
    assert list(whole.to_dict()) == [n for n in fields["verify"] if n != "reason"]
    merged = wp.collatz.merge(tmp_path)
    assert list(merged.to_dict()) == [n for n in fields["merge"] if n != "audit-seed"]
    audited = wp.collatz.merge(tmp_path, audits=1)
    assert list(audited.to_dict()) == fields["merge"]
    survey = wp.collatz.delay(1000, records=True, device="cpu")
    assert list(survey.to_dict()) == fields["delay"]


def test_a_damaged_unit_is_rejected(tmp_path: Path) -> None:
    wp.collatz.verify(2**17, directory=tmp_path, unit_bits=16)
    file = min(tmp_path.glob("*.json"))
    file.write_text(file.read_text().replace('"', "'"))
    merged = wp.collatz.merge(tmp_path)
    assert not merged.is_complete
    assert [path for path, _ in merged.rejected] == [str(file)]


def test_progress_of_a_verification(tmp_path: Path) -> None:
    seen: list[wp.Progress] = []
    wp.collatz.verify(2**22, directory=tmp_path, unit_bits=20, device="cpu", progress=seen.append)
    assert seen and seen[-1].total == 2**22 and seen[-1].unit == "number"
    assert seen[-1].done <= 2**22


LONG = """
import sys, warpint as wp
wp.collatz.verify(
    2**60, 2**60 + 2**46, directory=sys.argv[1], unit_bits=24, device="cpu", threads=1,
    progress=lambda p: print(p.done, flush=True),
)
"""


def test_ctrl_c_keeps_finished_units(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", LONG, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    deadline = time.monotonic() + 100
    while not list(tmp_path.glob("*.json")):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors and process.returncode == -signal.SIGINT
    files = list(tmp_path.glob("*.json"))
    merged = wp.collatz.merge(tmp_path)
    assert merged.units == len(files) and merged.rejected == ()


@pytest.mark.parametrize(
    ("call", "kind", "match"),
    [
        (lambda: wp.collatz.path(0), ValueError, "n is 0"),
        (lambda: wp.collatz.path(2.5), TypeError, "float"),
        (lambda: wp.collatz.delay(0), ValueError, "no numbers"),
        (lambda: wp.collatz.delay(5, 5), ValueError, "no numbers"),
        (lambda: wp.collatz.delay(0, 5), ValueError, "start is 0"),
        (lambda: wp.collatz.delay(2**96 + 1), ValueError, "stop"),
        (lambda: wp.collatz.delay(9, path_record=5), ValueError, "records=True"),
        (lambda: wp.collatz.delay(9, device="x"), ValueError, "'x'"),
        (lambda: wp.collatz.delays(1, 2**95), MemoryError, "delays"),
        (lambda: wp.collatz.verify(1), ValueError, "below 1"),
        (lambda: wp.collatz.verify(-5), ValueError, "-5"),
        (lambda: wp.collatz.verify(2**128), ValueError, "stop"),
        (lambda: wp.collatz.verify(100, method="magic"), ValueError, "sieve"),
        (lambda: wp.collatz.verify(100, unit_bits=200), ValueError, "unit_bits"),
        (lambda: wp.collatz.verify(100, unit_bits=6, units=9), ValueError, "unit"),
        (lambda: wp.collatz.verify(100, units=1, shard=(0, 2)), ValueError, "exclude"),
        (lambda: wp.collatz.verify(100, unit_bits=5, shard=(4, 2)), ValueError, "part|shard"),
        (lambda: wp.collatz.verify(100, units=range(0, 4, 2)), ValueError, "step"),
        (lambda: wp.collatz.verify(100, threads=0), ValueError, "threads"),
        (lambda: wp.collatz.verify(100, units=range(5, 2**65)), ValueError, "a unit is .* 65 bits"),
        (lambda: wp.collatz.verify(100, units=range(-1, 5)), ValueError, "a unit is -1"),
        (lambda: wp.collatz.verify(100, method=5), TypeError, "method is a str, not int"),
        (lambda: wp.collatz.verify(100, shard=5), TypeError, "shard is a tuple .*, not 5"),
        (lambda: wp.collatz.verify(100, shard=(0, 1, 2)), TypeError, "shard is a tuple"),
        (lambda: wp.collatz.verify(100, directory=b"x"), TypeError, "directory is .*, not bytes"),
        (lambda: wp.collatz.verify(100, directory=5), TypeError, "directory is .*, not int"),
        (lambda: wp.collatz.merge(b"x"), TypeError, "directory is .*, not bytes"),
        (lambda: wp.collatz.merge(), ValueError, "no directory"),
        (lambda: wp.collatz.merge("not-there"), FileNotFoundError, "not-there"),
    ],
)
def test_wrong_input_is_one_line(
    call: Any, kind: type[Exception], match: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind, match=match) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())
