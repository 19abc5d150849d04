"""The Collatz conjecture: verification of ranges, delays, records and paths.

The steps are n/2 for even n and 3n + 1 for odd n, each counted.

>>> import warpint as wp
>>> wp.collatz.path(27).delay
111
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _warpint
from ._jobs import Watcher, directory_path, integer, observing, place

__all__ = [
    "Highest",
    "Merge",
    "Path",
    "Record",
    "Survey",
    "Verification",
    "delay",
    "delays",
    "merge",
    "path",
    "verify",
]

#: The directory of unit files of the command line.
DIRECTORY = "warpint-collatz"

_END = 2**127
_END_OF_DELAYS = 2**96


@dataclass(frozen=True)
class Highest:
    """The highest value on the paths that were walked."""

    #: The value.
    value: int
    #: The number on whose path it is.
    start: int


@dataclass(frozen=True)
class Record:
    """A number that sets a record, with its delay or the maximum of its path."""

    #: The number.
    n: int
    #: The delay, or the largest number on the path.
    value: int


@dataclass(frozen=True)
class Path:
    """The path of a number to 1."""

    #: The number.
    n: int
    #: The steps 3n + 1.
    odd_steps: int
    #: The steps n/2.
    even_steps: int
    #: The largest number on the path, the start included.
    maximum: int
    #: The steps until the path is below n; None for n = 1.
    glide: int | None

    @property
    def delay(self) -> int:
        """The steps to 1, odd and even."""
        return self.odd_steps + self.even_steps


@dataclass(frozen=True)
class Survey:
    """The delays of a range: their sum, the largest one, and records."""

    #: The first number.
    start: int
    #: The number after the last.
    stop: int
    #: The sum of all delays.
    sum: int
    #: The smallest number with the largest delay.
    longest: Record
    #: The numbers whose delays exceed those of all smaller ones; None if not asked for.
    delay_records: tuple[Record, ...] | None
    #: The numbers whose paths rise higher than those of all smaller ones; None if not asked for.
    path_records: tuple[Record, ...] | None
    #: Where the delays were computed.
    device: str
    #: The time of the call.
    seconds: float
    _report: dict[str, Any] = field(repr=False, hash=False)

    @property
    def mean(self) -> float:
        """The mean of all delays."""
        return self.sum / (self.stop - self.start)

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``warpint collatz delay --json`` prints."""
        return copy.deepcopy(self._report)


@dataclass(frozen=True)
class Verification:
    """The result of :func:`verify`."""

    #: ``verified``: the whole range; ``part``: the selected units; ``unresolved``: there may be a
    #: counter-example; ``failed``: some units could not be verified.
    status: str
    #: The statement that is proven; None unless the status is ``verified``.
    claim: str | None
    #: The first number.
    start: int
    #: The number after the last.
    stop: int
    #: The directory of the unit files.
    directory: str
    #: log2 of the size of a unit.
    unit_bits: int
    #: The units of the range.
    units: int
    #: The units that were selected.
    selected: int
    #: The units that this call has verified.
    done: int
    #: The selected units that were verified before.
    before: int
    #: The selected units that could not be verified.
    failed: tuple[int, ...]
    #: The numbers that this call has verified.
    numbers: int
    #: The numbers whose paths did not come down within a limit of steps.
    unresolved: tuple[int, ...]
    #: The highest value; None if it is unknown.
    highest: Highest | None
    #: The method of this call: ``sieve``, ``table``, ``plain``; None if all units were done before.
    method: str | None
    #: Where the units were verified.
    devices: tuple[str, ...]
    #: The time of the call.
    seconds: float
    #: Why the call ended early, such as a full disk; None if it did not.
    reason: str | None
    _report: dict[str, Any] = field(repr=False, hash=False)

    @property
    def is_verified(self) -> bool:
        """Whether the whole range is verified."""
        return self.status == "verified"

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``warpint collatz verify --json`` prints."""
        return copy.deepcopy(self._report)


@dataclass(frozen=True)
class Merge:
    """The result of :func:`merge`: what the unit files of several directories cover."""

    #: Whether the files verify one range, and nothing is in doubt.
    is_complete: bool
    #: The statement that is proven; None unless the files are complete.
    claim: str | None
    #: The sound files.
    units: int
    #: The sound files that repeat the numbers of another.
    duplicates: int
    #: The intervals (start, stop) of verified numbers.
    covered: tuple[tuple[int, int], ...]
    #: The number of gaps between these intervals.
    gaps: int
    #: The first gaps, at most ten.
    first_gaps: tuple[tuple[int, int], ...]
    #: The files that contradict each other: two paths, and what differs.
    disagreements: tuple[tuple[str, str, str], ...]
    #: The files that cannot be read or whose contents are wrong: path and reason.
    rejected: tuple[tuple[str, str], ...]
    #: The sound files without evidence of the work.
    lacking_evidence: tuple[str, ...]
    #: The unresolved numbers of all files.
    unresolved: tuple[int, ...]
    #: The highest value; None if it is unknown.
    highest: Highest | None
    #: Whether samples and evidence were recomputed.
    is_checked: bool
    #: The audits that were made, and whether each agrees: path and result.
    audits: tuple[tuple[str, bool], ...]
    #: The computing time of all units.
    seconds: float
    _report: dict[str, Any] = field(repr=False, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``warpint collatz merge --json`` prints."""
        return copy.deepcopy(self._report)


def _highest(peak: dict[str, str] | None) -> Highest | None:
    return None if peak is None else Highest(int(peak["value"]), int(peak["start"]))


def _range(start: int, stop: int | None, least: int, most: int) -> tuple[int, int]:
    if stop is None:
        start, stop = least, start
    start, stop = integer("start", start, least, most), integer("stop", stop, 0, most)
    if start >= stop:
        raise ValueError(f"there are no numbers from {start} to below {stop}")
    return start, stop


def verify(
    start: int,
    stop: int | None = None,
    /,
    *,
    directory: str | os.PathLike[str] = DIRECTORY,
    method: str | None = None,
    device: str = "auto",
    threads: int | None = None,
    unit_bits: int | None = None,
    units: range | int | None = None,
    shard: tuple[int, int] | None = None,
    progress: Watcher = None,
) -> Verification:
    """Verify that every n with start ≤ n < stop reaches 1, if all smaller ones do.

    ``verify(stop)`` begins at 0, and then nothing is presupposed. ``stop`` is at most 2^127.

    The range is cut into units of 2^``unit_bits`` numbers. The file of each finished unit, with
    evidence of the work, is kept in ``directory``. A later call, or the command line, does the units
    that are missing. Ctrl-C keeps the finished units, and raises KeyboardInterrupt.

    ``units`` selects one unit or a range of units, ``shard=(i, n)`` part i of n, numbered from 0.
    ``method`` is ``"sieve"``, ``"table"`` or ``"plain"``, by default the fastest. ``device`` is
    ``"auto"``, ``"cpu"``, ``"cuda"``, ``"cuda:1"``, or ``"all"`` for every GPU.

    >>> import tempfile, warpint as wp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = wp.collatz.verify(2**20, directory=folder)
    >>> result.claim
    'every n from 1 up and below 2^20 reaches 1'
    """
    start, stop = _range(start, stop, 0, _END)
    if (start, stop) == (0, 1):
        raise ValueError("there is nothing to verify below 1: no claim is made about 0")
    if units is not None and shard is not None:
        raise ValueError("units and shard exclude each other")
    chosen = None
    if isinstance(units, range):
        if units.step != 1 or not units:
            raise ValueError(f"{units} is not a range of units with step 1")
        chosen = tuple(integer("a unit", unit, 0, 2**64 - 1) for unit in (units[0], units[-1]))
    elif units is not None:
        chosen = (integer("units", units, 0, 2**64 - 1),) * 2
    if method is not None and not isinstance(method, str):
        raise TypeError(f"method is a str, not {type(method).__name__}")
    if shard is not None:
        if not isinstance(shard, (tuple, list)) or len(shard) != 2:
            raise TypeError(f"shard is a tuple of the index and the number of parts, not {shard!r}")
        i, n = shard
        shard = integer("the index of the shard", i, 0, 2**63), integer("shards", n, 1, 2**63)
    options = {
        "from": start,
        "to": stop,
        "directory": directory_path(directory),
        "method": method,
        "device": place(device),
        "threads": None if threads is None else integer("threads", threads, 1, 1024),
        "unit_bits": None if unit_bits is None else integer("unit_bits", unit_bits, 0, 127),
        "units": chosen,
        "shard": shard,
    }
    with observing("Collatz", "number", progress) as observer:
        r: dict[str, Any] = json.loads(_warpint.collatz_verify(options, observer))
    return Verification(
        status=r["status"],
        claim=r.get("claim"),
        start=start,
        stop=stop,
        directory=r["dir"],
        unit_bits=r["unit-bits"],
        units=r["units"],
        selected=r["selected"],
        done=r["done"],
        before=r["before"],
        failed=tuple(r["failed"]),
        numbers=int(r["numbers"]),
        unresolved=tuple(map(int, r["unresolved"])),
        highest=_highest(r["highest"]),
        method=r["method"],
        devices=tuple(r["places"]),
        seconds=r["seconds"],
        reason=r.get("reason"),
        _report=r,
    )


def merge(
    *directories: str | os.PathLike[str],
    check: bool = True,
    audits: int = 0,
    audit_seed: int | None = None,
    threads: int | None = None,
    progress: Watcher = None,
) -> Merge:
    """Combine the unit files of directories, such as those of several machines.

    With ``check``, the samples and the evidence of each file are recomputed, in 0.1 to 0.2 s a unit.
    ``audits`` random units, or random parts of units, are verified by another method; ``audit_seed``
    repeats an earlier choice.

    >>> import tempfile, warpint as wp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for i in range(2):
    ...         part = wp.collatz.verify(2**18, directory=folder, unit_bits=16, shard=(i, 2))
    ...     merged = wp.collatz.merge(folder)
    >>> part.status, merged.is_complete, merged.units
    ('verified', True, 4)
    """
    if not directories:
        raise ValueError("no directory is given")
    paths = [directory_path(path) for path in directories]
    audits = integer("audits", audits, 0, 2**63)
    if audit_seed is not None:
        audit_seed = integer("audit_seed", audit_seed, 0, 2**64 - 1)
    threads = None if threads is None else integer("threads", threads, 1, 1024)
    with observing("Collatz merge", "file", progress) as observer:
        report = _warpint.collatz_merge(paths, bool(check), audits, audit_seed, threads, observer)
    r: dict[str, Any] = json.loads(report)

    def intervals(objects: Iterable[dict[str, str]]) -> tuple[tuple[int, int], ...]:
        return tuple((int(o["from"]), int(o["to"])) for o in objects)

    return Merge(
        is_complete=r["complete"],
        claim=r.get("claim"),
        units=r["units"],
        duplicates=r["duplicates"],
        covered=intervals(r["covered"]),
        gaps=r["gaps"],
        first_gaps=intervals(r["first-gaps"]),
        disagreements=tuple((d["first"], d["second"], d["what"]) for d in r["disagreements"]),
        rejected=tuple((f["path"], f["reason"]) for f in r["unusable"] + r["refused"]),
        lacking_evidence=tuple(r["lacking-evidence"]),
        unresolved=tuple(map(int, r["unresolved"])),
        highest=_highest(r["highest"]),
        is_checked=r["checked"],
        audits=tuple((a["path"], a["agrees"]) for a in r["audits"]),
        seconds=r["seconds"],
        _report=r,
    )


def delay(
    start: int,
    stop: int | None = None,
    /,
    *,
    records: bool = False,
    delay_record: int | None = None,
    path_record: int | None = None,
    device: str = "auto",
    progress: Watcher = None,
) -> Survey:
    """Compute the delays of all n with start ≤ n < stop: their sum and the largest one.

    ``delay(stop)`` begins at 1. ``stop`` is at most 2^96. With ``records``, all numbers that take more
    steps, or rise higher, than all smaller ones of the range are found; ``delay_record`` and
    ``path_record`` are the records below the range. ``device`` is ``"auto"`` (a GPU for long ranges),
    ``"cpu"``, ``"cuda"``.

    >>> import warpint as wp
    >>> survey = wp.collatz.delay(1000, records=True)
    >>> survey.longest
    Record(n=871, value=178)
    >>> [record.n for record in survey.path_records]
    [1, 2, 3, 7, 15, 27, 255, 447, 639, 703]
    """
    start, stop = _range(start, stop, 1, _END_OF_DELAYS)
    if not records and (delay_record is not None or path_record is not None):
        raise ValueError("delay_record and path_record need records=True")
    highest = None
    if path_record is not None:
        number = integer("path_record", path_record, 0)
        highest = list(number.to_bytes((number.bit_length() + 7) // 8, "little"))
    if delay_record is not None:
        delay_record = integer("delay_record", delay_record, 0, 2**32 - 1)
    options = {
        "from": start,
        "to": stop,
        "device": place(device),
        "records": bool(records),
        "delay_record": delay_record,
        "path_record": highest,
    }
    with observing("Collatz delays", "number", progress) as observer:
        r: dict[str, Any] = json.loads(_warpint.collatz_delay(options, observer))

    def found(name: str, value: str) -> tuple[Record, ...] | None:
        return tuple(Record(int(o["n"]), int(o[value])) for o in r[name]) if name in r else None

    return Survey(
        start=start,
        stop=stop,
        sum=int(r["sum"]),
        longest=Record(int(r["longest"]["n"]), r["longest"]["delay"]),
        delay_records=found("delay-records", "delay"),
        path_records=found("path-records", "maximum"),
        device=r["device"],
        seconds=r["seconds"],
        _report=r,
    )


def delays(
    start: int, stop: int | None = None, /, *, device: str = "auto", progress: Watcher = None
) -> NDArray[np.uint32]:
    """Return the delays of all n with start ≤ n < stop, as an array of shape (stop − start,).

    >>> import warpint as wp
    >>> wp.collatz.delays(1, 8)
    array([ 0,  1,  7,  2,  5,  8, 16], dtype=uint32)
    """
    start, stop = _range(start, stop, 1, _END_OF_DELAYS)
    with observing("Collatz delays", "number", progress) as observer:
        return _warpint.collatz_delays(start, stop, place(device), observer)


def path(n: int, *, progress: Watcher = None) -> Path:
    """Follow a number of any size to 1.

    >>> import warpint as wp
    >>> wp.collatz.path(7)
    Path(n=7, odd_steps=5, even_steps=11, maximum=52, glide=11)

    Cost: O(M(b)·log b) for a number of b bits, where M(b) is the time of a product.
    """
    n = integer("n", n, 1)
    with observing("Collatz path", "bit", progress) as observer:
        data = n.to_bytes((n.bit_length() + 7) // 8, "little")
        odd, even, maximum, glide = _warpint.collatz_path(data, observer)
    return Path(n, odd, even, int.from_bytes(maximum, "little"), glide)
