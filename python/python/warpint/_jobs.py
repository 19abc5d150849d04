"""What long jobs have in common: progress, messages, Ctrl-C and places."""

from __future__ import annotations

import importlib
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from . import _warpint

_LOG = logging.getLogger("warpint")


@dataclass(frozen=True)
class Progress:
    """How far a job has come: the argument of the callable ``progress=``."""

    #: What is computed, such as ``M216091``.
    description: str
    #: How much is done, in units of ``unit``. A resumed job does not begin with 0.
    done: int
    #: The amount at which the job ends.
    total: int
    #: What is counted: ``squaring``, ``number``, …
    unit: str
    #: The seconds since the call began.
    seconds: float
    #: An estimate of the seconds until the end; None at the beginning.
    seconds_left: float | None

    @property
    def iteration(self) -> int:
        """The same as ``done``: for a test, the number of iterations done."""
        return self.done

    @property
    def share(self) -> float:
        """The part that is done, from 0 to 1."""
        return self.done / self.total if self.total else 1.0


#: What ``progress=`` takes: a callable, ``"tqdm"``, or None.
Watcher = Callable[[Progress], object] | str | None


class Observer:
    """Receives the reports of a native job, and passes them on to the user's callable.

    Messages go to the logger ``warpint``: notes at level INFO, trouble at level WARNING.
    """

    def __init__(self, description: str, unit: str, progress: Watcher) -> None:
        self._description, self._unit = description, unit
        self._begin = time.monotonic()
        self._first: tuple[int, float] | None = None
        self._bar: Any = None
        self._call: Callable[[Progress], object] | None = None
        if progress == "tqdm":
            self._bar = _tqdm()(desc=description, unit=unit, unit_scale=True)
        elif progress is not None and not callable(progress):
            given = repr(progress) if isinstance(progress, str) else type(progress).__name__
            raise TypeError(f"progress is a callable, 'tqdm' or None, not {given}")
        elif progress is not None:
            self._call = progress

    def __call__(self, kind: str, *news: Any) -> None:
        if kind == "progress":
            self._progress(*news)
        elif kind == "note":
            _LOG.info("%s: %s", self._description, news[0])
        else:
            _LOG.warning("%s: %s", self._description, news[0])

    def _progress(self, done: int, total: int, each: float) -> None:
        now = time.monotonic()
        if self._first is None or done < self._first[0]:
            self._first = (done, now)
        if each == 0 and done > self._first[0]:
            each = (now - self._first[1]) / (done - self._first[0])
        left = each * (total - done) if each > 0 or done == total else None
        if self._bar is not None:
            self._bar.total = total
            self._bar.update(done - self._bar.n)
        if self._call is not None:
            self._call(
                Progress(self._description, done, total, self._unit, now - self._begin, left)
            )

    def close(self) -> None:
        """Remove or complete the bar."""
        if self._bar is not None:
            self._bar.close()


def _tqdm() -> Any:
    try:
        return importlib.import_module("tqdm.auto").tqdm
    except ImportError as error:
        raise ImportError("progress='tqdm' needs the package tqdm: pip install tqdm") from error


@contextmanager
def observing(description: str, unit: str, progress: Watcher) -> Iterator[Observer]:
    """Make an observer, and close it at the end."""
    observer = Observer(description, unit, progress)
    try:
        yield observer
    finally:
        observer.close()


@contextmanager
def folder(directory: str | os.PathLike[str] | None) -> Iterator[str]:
    """Give the path of the directory of a job; None stands for one that is removed at the end."""
    if directory is None:
        with tempfile.TemporaryDirectory(prefix="warpint-") as path:
            yield path
        return
    yield directory_path(directory)


def directory_path(directory: str | os.PathLike[str]) -> str:
    """Return the path of a directory. Raises TypeError if it is none, or one of bytes."""
    if not isinstance(directory, (str, os.PathLike)) or not isinstance(os.fspath(directory), str):
        kind = type(directory).__name__
        raise TypeError(f"a directory is a str or a path of str, not {kind}")
    return os.fspath(directory)


def place(device: str) -> str:
    """Check the type of ``device``, and prepare the search for the compiler of GPUs."""
    if not isinstance(device, str):
        raise TypeError(f"a device is named by a string, not by {type(device).__name__}")
    if device not in ("cpu", "sim"):
        _warpint.search_nvrtc_in(sys.prefix)
    return device


def integer(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return ``value`` as an int. Raise TypeError or ValueError if it is none of the range."""
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        raise TypeError(f"{name} is an int, not {type(value).__name__}")
    number = int(value.__index__())  # type: ignore[attr-defined]
    if number < least:
        raise ValueError(f"{name} is {text_of(number)}, but at least {least} is needed")
    if most is not None and number > most:
        raise ValueError(f"{name} is {text_of(number)}, but at most {text_of(most)} is possible")
    return number


def text_of(number: int) -> str:
    """Return a short text for a number."""
    bits = number.bit_length()
    if bits <= 64:
        return str(number)
    sign = "-" if number < 0 else ""
    return f"{sign}2^{bits - 1}" if abs(number) == 1 << (bits - 1) else f"a number of {bits} bits"
