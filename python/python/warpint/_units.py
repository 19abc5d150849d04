"""Verification of the Collatz conjecture by workers that have directories of their own."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from . import collatz
from ._blocks import checked_device
from ._cluster import ATTEMPTS, Calls, Open, Reports
from ._jobs import Watcher, integer, observing

#: There are at least this many units for each worker, if the range has enough numbers.
_UNITS_EACH = 8

#: Units are verified in groups if there are more than this.
_CALLS = 1 << 12

#: No range has this many units, so that part 0 of so many parts is empty.
_PARTS = 1 << 62

#: What is before the digest in a unit's file, and between the digest and the unit.
_HEAD, _MIDDLE = b'{"sha256":"', b'","unit":'
_DIGITS = 64


@dataclass(frozen=True)
class Verified:
    """What a worker has verified."""

    #: The files of the units: name and contents.
    files: dict[str, bytes]
    #: The numbers of these units.
    numbers: int
    #: log2 of the size of a unit.
    unit_bits: int
    #: What the verification has warned of.
    warnings: list[str]
    #: Why some units are not verified; None if all are.
    trouble: str | None


class _Warnings(logging.Handler):
    """Keeps the warnings of a verification."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage().removeprefix("Collatz: "))


def verify_units(
    open_engine: Open,
    bounds: tuple[int, int | None],
    *,
    directory: str | os.PathLike[str],
    method: str | None,
    unit_bits: int | None,
    threads: int | None,
    device: str,
    attempts: int = ATTEMPTS,
    check: bool = True,
    progress: Watcher = None,
) -> collatz.Merge:
    """Verify the units of a range on the workers of an engine: see
    :func:`warpint.ray.collatz_verify`.
    """
    checked_device(device)
    attempts = integer("attempts", attempts, 1)

    def plan(bits: int | None) -> collatz.Verification:
        # Nothing is verified, because the part is empty. Wrong arguments raise exceptions.
        return collatz.verify(
            *bounds,
            directory=directory,
            method=method,
            device="cpu",
            threads=threads,
            unit_bits=bits,
            shard=(0, _PARTS),
        )

    planned = plan(unit_bits)
    # The name that the plan reports may have replaced bytes that are no text.
    start, stop, folder = planned.start, planned.stop, Path(directory)
    done = dict(finished_units(folder, start, stop))
    called = partial(verify_here, start, stop, method, threads, device)
    with (
        observing("Collatz", "number", progress) as observer,
        closing(open_engine(called)) as engine,
    ):
        if unit_bits is None and not any(bits == planned.unit_bits for bits, _ in done):
            bits = planned.unit_bits
            if device != "cpu":
                question = Calls([(0, 0)], lambda _: (None, None), "units", attempts)
                bits = next(question.results(engine, observer))[1].unit_bits
            bits = min(bits, most_bits(stop - start, engine.count))
            planned = plan(bits)
        bits = planned.unit_bits
        before = sum(numbers for (size, _), numbers in done.items() if size == bits)
        missing = (unit for unit in range(planned.units) if (bits, unit) not in done)
        parts = list(groups(missing, -(-planned.units // _CALLS)))
        reports = Reports(observer, stop - start, before)
        calls = Calls(parts, lambda k: (bits, range(*parts[k])), "units", attempts, queued=1)
        for k, found in calls.results(engine, observer):
            for name, data in found.files.items():
                if not keep(folder / name, data):
                    observer("warning", f"cannot write {folder / name}: it is no readable file")
            for warning in found.warnings:
                observer("warning", warning)
            if found.trouble is not None:
                raise calls.error(k, found.trouble)
            reports.add(found.numbers)
    return collatz.merge(directory, check=check)


def most_bits(numbers: int, workers: int) -> int:
    """Return the largest size of units, as its log2, at which there are enough for the workers."""
    fewest = (_UNITS_EACH * workers - 1).bit_length()
    return max(0, (numbers - 1).bit_length() - fewest)


def groups(units: Iterable[int], size: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of at most ``size`` consecutive units, as start and stop."""
    start = stop = -1
    for unit in units:
        if unit == stop and stop - start < size:
            stop += 1
            continue
        if start >= 0:
            yield start, stop
        start, stop = unit, unit + 1
    if start >= 0:
        yield start, stop


def verify_here(
    start: int,
    stop: int,
    method: str | None,
    threads: int | None,
    device: str,
    unit_bits: int | None,
    units: range | None,
) -> Verified:
    """Verify units in a temporary directory of this worker. Without units, find their size."""
    log, warnings = logging.getLogger("warpint"), _Warnings()
    log.addHandler(warnings)
    try:
        with tempfile.TemporaryDirectory(prefix="warpint-") as folder:
            result = collatz.verify(
                start,
                stop,
                directory=folder,
                method=method,
                threads=threads,
                device=device,
                unit_bits=unit_bits,
                units=units,
                shard=(0, _PARTS) if units is None else None,
            )
            files = {path.name: path.read_bytes() for path in Path(folder).glob("*.json")}
    finally:
        log.removeHandler(warnings)
    trouble = result.reason
    if trouble is None and result.failed:
        trouble = next(
            (text for text in warnings.lines if " failed on " in text),
            f"unit {result.failed[0]} could not be verified",
        )
    return Verified(files, result.numbers, result.unit_bits, warnings.lines, trouble)


def finished_units(folder: Path, start: int, stop: int) -> Iterator[tuple[tuple[int, int], int]]:
    """Yield size, as its log2, index and count of numbers of each unit of a range in a folder."""
    for path in folder.glob("*.json"):
        unit = sound_unit(path)
        if unit is not None and (unit["from"], unit["to"]) == (str(start), str(stop)):
            yield (unit["unit-bits"], unit["unit"]), int(unit["numbers"])


def sound_unit(path: Path) -> dict[str, Any] | None:
    """Return the unit of a file; None if the file is not that of a unit, or is damaged, or if it is
    no regular file that can be read.
    """
    try:
        data = _contents(path).strip()
    except OSError:
        return None
    begin = len(_HEAD) + _DIGITS + len(_MIDDLE)
    digest, text = data[len(_HEAD) : len(_HEAD) + _DIGITS], data[begin:-1]
    if data[:begin] != _HEAD + digest + _MIDDLE or data[-1:] != b"}":
        return None
    if hashlib.sha256(text).hexdigest().encode() != digest:
        return None
    unit: dict[str, Any] = json.loads(text)
    return unit


def _contents(path: Path) -> bytes:
    """Return what is in a regular file. Raises OSError for others: links are not followed."""
    if not stat.S_ISREG(path.lstat().st_mode):
        raise OSError(f"{path} is not a regular file")
    return path.read_bytes()


def keep(path: Path, data: bytes) -> bool:
    """Write the file of a unit, as a whole or not at all. A sound file that exists stays.

    A damaged file is renamed, as by the verification of units. What is no regular file, or cannot be
    read, stays too: then the result is false.
    """
    if os.path.lexists(path):
        try:
            _contents(path)
        except OSError:
            return False
        if sound_unit(path) is not None:
            return True
        path.replace(path.with_name(f"{path.name}.bad"))
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        with open(new, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
    return True
