"""Collatz units on workers without a cluster, against the verification on this machine."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import warpint as wp
from local_engine import Local
from warpint._cluster import BlockError
from warpint._units import (
    Verified,
    finished_units,
    groups,
    keep,
    most_bits,
    sound_unit,
    verify_here,
    verify_units,
)

pytestmark = pytest.mark.quick

BELOW = 2**18


def verified(folder: Path, **options: Any) -> wp.collatz.Merge:
    options = {"method": None, "threads": 1, "device": "cpu", "unit_bits": 15} | options
    opened = options.pop("opened", Local)
    return verify_units(opened, (BELOW, None), directory=folder, **options)


def test_the_units_come_back(tmp_path: Path) -> None:
    seen: list[wp.Progress] = []
    merged = verified(tmp_path / "new", progress=seen.append)
    assert merged.is_complete and merged.units == 8 and merged.is_checked
    assert seen[-1].done == seen[-1].total == BELOW and seen[-1].unit == "number"
    assert {path.suffix for path in (tmp_path / "new").iterdir()} == {".json"}
    here = wp.collatz.verify(BELOW, directory=tmp_path / "here", unit_bits=15, device="cpu")
    assert merged.claim == here.claim is not None
    names = [sorted(p.name for p in (tmp_path / f).glob("*.json")) for f in ("new", "here")]
    assert names[0] == names[1]
    both = wp.collatz.merge(tmp_path / "new", tmp_path / "here")
    assert both.is_complete and both.duplicates == 8 and both.disagreements == ()


def test_a_directory_whose_name_is_no_text(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"units-\xff")
    assert verified(folder).is_complete
    assert list(tmp_path.iterdir()) == [folder] and len(list(folder.glob("*.json"))) == 8


def test_finished_units_are_not_verified_again(tmp_path: Path) -> None:
    wp.collatz.verify(BELOW, directory=tmp_path, unit_bits=15, units=range(2, 5), device="cpu")
    before = {path: path.read_bytes() for path in tmp_path.glob("*.json")}
    assert set(dict(finished_units(tmp_path, 0, BELOW))) == {(15, 2), (15, 3), (15, 4)}
    engines: list[Local] = []

    def opened(function: Callable[..., Any]) -> Local:
        engines.append(Local(function))
        return engines[-1]

    # The size of the units is that of the files.
    merged = verified(tmp_path, opened=opened, unit_bits=None)
    assert merged.is_complete and merged.units == 8
    assert engines[0]._done == 5
    assert all(path.read_bytes() == data for path, data in before.items())
    again = verified(tmp_path, opened=opened, unit_bits=None)
    assert again.is_complete and engines[1]._done == 0


def test_the_size_of_units_suits_the_workers(tmp_path: Path) -> None:
    merged = verified(tmp_path, unit_bits=None)
    assert merged.is_complete and merged.units == 16
    assert most_bits(2**20, 2) == 16 and most_bits(2**20 + 1, 2) == 17
    assert most_bits(2**20, 1) == 17 and most_bits(5, 100) == 0


def test_lost_workers_change_nothing(tmp_path: Path) -> None:
    merged = verified(tmp_path, opened=lambda f: Local(f, deaths={0: 2, 5: 1}))
    assert merged.is_complete and merged.units == 8 and merged.duplicates == 0


def test_units_that_kill_their_workers_are_named(tmp_path: Path) -> None:
    with pytest.raises(BlockError, match="block 5, units 5 to 5: 3 workers were lost") as caught:
        verified(tmp_path, opened=lambda f: Local(f, deaths={5: 9}))
    assert (caught.value.start, caught.value.stop) == (5, 6)
    # What other workers have verified stays, and the same call goes on.
    assert list(tmp_path.glob("*.json"))
    assert verified(tmp_path).is_complete


def test_a_range_with_short_ends(tmp_path: Path) -> None:
    merged = verify_units(
        Local,
        (10**5, 10**5 + 3000),
        directory=tmp_path,
        method="plain",
        unit_bits=10,
        threads=1,
        device="cpu",
    )
    assert merged.is_complete and merged.covered == ((10**5, 10**5 + 3000),)
    assert "if all below" in (merged.claim or "")


def test_a_damaged_file_is_set_aside(tmp_path: Path) -> None:
    verified(tmp_path)
    path = min(tmp_path.glob("*.json"))
    sound = path.read_bytes()
    for damaged in sound.replace(b'"unit":0', b'"unit":1'), b"", b"{}", sound[:-3], sound[1:]:
        path.write_bytes(damaged)
        assert sound_unit(path) is None
    path.write_bytes(sound[:-2])
    assert verified(tmp_path).is_complete
    assert path.with_name(f"{path.name}.bad").read_bytes() == sound[:-2]
    assert sound_unit(path) is not None
    keep(path, b"other")
    assert sound_unit(path) is not None


def test_what_is_no_regular_file_is_rejected(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    verified(tmp_path)
    first, second, *_ = sorted(tmp_path.glob("*.json"))
    sound = second.read_bytes()
    first.unlink()
    first.mkdir()
    second.replace(tmp_path / "elsewhere")
    second.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "link.json").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.json")
    merged = verified(tmp_path)
    assert not merged.is_complete and merged.units == 6
    # The same files as in a call without workers.
    assert dict(merged.rejected) == dict(wp.collatz.merge(tmp_path).rejected)
    assert {Path(path).name for path, _ in merged.rejected} == {
        first.name,
        second.name,
        "link.json",
        "pipe.json",
    }
    assert f"cannot write {first}" in caplog.text and f"cannot write {second}" in caplog.text
    assert first.is_dir() and second.is_symlink() and second.read_bytes() == sound


def test_units_that_cannot_be_verified(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    whole = verify_here(0, BELOW, None, 1, "cpu", 15, range(3, 4))
    assert whole.trouble is None and whole.numbers == 2**15 and len(whole.files) == 1

    def broken(*arguments: Any) -> Verified:
        units = arguments[-1]
        found = verify_here(*arguments)
        if 6 not in units:
            return found
        return Verified(found.files, 0, 15, ["unit 6 failed on cuda:0: text"], "unit 6 failed")

    class Broken(Local):
        def __init__(self, function: Any) -> None:
            super().__init__(lambda *a: broken(*function.args, *a))

    with pytest.raises(BlockError, match="units 6 to 6: unit 6 failed"):
        verified(tmp_path, opened=Broken)
    assert "unit 6 failed on cuda:0" in caplog.text


def test_warnings_of_workers_are_logged_here(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real = wp.collatz.verify

    def warns(*arguments: Any, **options: Any) -> wp.collatz.Verification:
        logging.getLogger("warpint").warning("Collatz: unit 0: UNRESOLVED 27")
        return real(*arguments, **options)

    monkeypatch.setattr(wp.collatz, "verify", warns)
    found = verify_here(0, 2**16, None, 1, "cpu", 15, range(1))
    assert found.warnings == ["unit 0: UNRESOLVED 27"]


def test_groups_of_units() -> None:
    assert list(groups([], 3)) == []
    assert list(groups(range(7), 3)) == [(0, 3), (3, 6), (6, 7)]
    assert list(groups([0, 1, 4, 5, 6, 7, 9], 3)) == [(0, 2), (4, 7), (7, 8), (9, 10)]
    assert list(groups([5], 1)) == [(5, 6)]


@pytest.mark.parametrize(
    ("bounds", "options", "kind", "match"),
    [
        ((1, None), {}, ValueError, "below 1"),
        ((5, 5), {}, ValueError, "no numbers"),
        ((2**128, None), {}, ValueError, "stop"),
        ((100, None), {"method": "magic"}, ValueError, "sieve"),
        ((100, None), {"unit_bits": 200}, ValueError, "unit_bits"),
        ((100, None), {"threads": 0}, ValueError, "threads"),
        ((100, None), {"device": "cuda:3"}, ValueError, "'cuda:3'"),
        ((100, None), {"device": "auto"}, ValueError, "'auto'"),
        ((100, None), {"attempts": 0}, ValueError, "attempts"),
        ((100, None), {"progress": 7}, TypeError, "progress"),
        ((2.5, None), {}, TypeError, "float"),
    ],
)
def test_wrong_input_is_one_line(
    bounds: Any, options: Any, kind: type[Exception], match: str, tmp_path: Path
) -> None:
    options = {"method": None, "threads": 1, "device": "cpu", "unit_bits": None} | options
    with pytest.raises(kind, match=match) as caught:
        verify_units(Local, bounds, directory=tmp_path, **options)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())
