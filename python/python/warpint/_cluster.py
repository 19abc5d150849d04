"""Calls of a function on the workers of a cluster, whichever library runs them."""

from __future__ import annotations

import os
import pickle
import threading
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Collection, Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from ._jobs import Observer, integer

#: How often a block is begun when its workers are lost, if the caller does not say.
ATTEMPTS = 3

#: The calls that a worker has at most: one that it does, and one whose operands are on their way.
_QUEUED = 2

#: The seconds after which lost and new workers are looked for.
_LOOK_EVERY = 0.5

#: The seconds without a worker after which a warning is logged.
_PATIENCE = 30.0

_RAYON = "RAYON_NUM_THREADS"


class BlockError(RuntimeError):
    """A block has no result: the function raised an exception, which is the cause of this one, or
    the workers of the block were lost again and again.

    ``block`` is the index of the block, ``start`` the index of its first element, and ``stop`` that
    after its last. For :func:`collatz_verify` these are units.
    """

    def __init__(self, block: int, start: int, stop: int, what: str, reason: str) -> None:
        part = f"{what} {start} to {stop - 1}" if start < stop else f"no {what}"
        super().__init__(f"block {block}, {part}: {reason}")
        self.block, self.start, self.stop = block, start, stop
        self._arguments = (block, start, stop, what, reason)

    def __reduce__(self) -> Any:
        return BlockError, self._arguments


class Lost(Exception):
    """A worker is gone, and the results of its calls with it. The text says why."""


@dataclass(frozen=True)
class Raised:
    """An exception that the function raised on a worker."""

    error: BaseException
    trace: str


class _RemoteTraceback(Exception):
    """The cause of an exception from a worker: the traceback there, as text."""

    def __init__(self, trace: str) -> None:
        super().__init__(trace)
        self._trace = trace

    def __str__(self) -> str:
        return f"on a worker:\n{self._trace}"


def line(error: BaseException) -> str:
    """Return the type of an exception and the first line of its text."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def pickled(function: Callable[..., Any], dumps: Callable[[Any], bytes]) -> bytes:
    """Return the pickle of a function. Raises TypeError if there is none."""
    try:
        return dumps(function)
    except Exception as error:
        raise TypeError(f"the function cannot be sent to workers: {line(error)}") from error


#: A process does one call at a time, with all its threads.
_one_call = threading.Lock()

#: The number of threads that :func:`use_threads` has set in this process.
_threads: int | None = None


def use_threads(threads: int, is_default: bool) -> str | None:
    """Set the number of threads of this process, before it computes for the first time.

    A default does not replace the number of the environment. Returns what is wrong, or None: a
    process cannot change the number later.
    """
    global _threads
    if is_default and (_threads is not None or _RAYON in os.environ):
        return None
    if _threads is not None and _threads != threads:
        return f"a worker already computes with threads={_threads}, which it cannot change"
    _threads = threads
    os.environ[_RAYON] = str(threads)
    return None


class Worker:
    """A function on a worker. Its pickle is loaded once in each process."""

    def __init__(
        self, function: bytes, threads: int | None = None, is_default: bool = True
    ) -> None:
        """Take the pickle of a function. Where this object arrives, the process gets ``threads``;
        None leaves them to its environment.
        """
        self._pickle = function
        self._settings = threads, is_default
        self._function: Callable[..., Any] | None = None
        self._trouble: str | None = None

    def __reduce__(self) -> Any:
        return _arrived, (self._pickle, *self._settings)

    def ready(self) -> None:
        """Return as soon as the process can work."""

    def call(self, *arguments: Any) -> Any:
        """Return the function's result, or what it raised."""
        with _one_call:
            try:
                if self._trouble is not None:
                    raise ValueError(self._trouble)
                if self._function is None:
                    self._function = pickle.loads(self._pickle)
                return self._function(*arguments)
            except (Exception, SystemExit) as error:  # noqa: BLE001
                return Raised(_sendable(error), traceback.format_exc())


def _arrived(function: bytes, threads: int | None, is_default: bool) -> Worker:
    worker = Worker(function, threads, is_default)
    if threads is not None:
        worker._trouble = use_threads(threads, is_default)
    return worker


def _sendable(error: BaseException) -> BaseException:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001
        return RuntimeError(line(error))
    return error


class Engine(Protocol):
    """The workers of a library for clusters, all with the same function."""

    #: How many workers there are if none is lost.
    count: int

    def members(self) -> Collection[Hashable]:
        """Return the workers that can take calls. A lost worker is not among them."""

    def submit(self, member: Hashable, arguments: tuple[Any, ...]) -> Hashable:
        """Give a worker a call, and return its ticket. Raises Lost."""

    def finished(self, tickets: list[Hashable], seconds: float) -> list[Hashable]:
        """Wait until one of the calls has ended, or some seconds. Return calls that have ended."""

    def outcome(self, member: Hashable, ticket: Hashable) -> Any:
        """Return what a call gave, which may be :class:`Raised`. Raises Lost."""

    def drop(self, member: Hashable) -> None:
        """Forget a lost worker and its calls."""

    def close(self) -> None:
        """End the calls that are not done, and the workers if they are this engine's own."""


#: Makes an engine for a function.
Open = Callable[[Callable[..., Any]], Engine]


class Calls:
    """Calls of the function of an engine, one for each block of elements or units."""

    def __init__(
        self,
        bounds: list[tuple[int, int]],
        arguments: Callable[[int], tuple[Any, ...]],
        what: str,
        attempts: int = ATTEMPTS,
        queued: int = _QUEUED,
    ) -> None:
        """Describe the calls: the bounds of the blocks, what they count, and the arguments of each.

        ``queued`` is the number of calls that a worker has at most, done or waiting.
        """
        self._bounds, self._what = bounds, what
        self._arguments, self._queued = arguments, queued
        self._attempts = integer("attempts", attempts, 1)

    def results(self, engine: Engine, observer: Observer) -> Iterator[tuple[int, Any]]:
        """Yield the index and the result of each block once, as they end.

        A block that has lost its worker is begun again, and from then on it is alone on its worker,
        so that it is known which block loses workers: only these losses count as attempts. Raises
        :class:`BlockError` after the last attempt, or if the function raised an exception.
        """
        return _Round(self, engine, observer).results()

    def error(self, block: int, reason: str) -> BlockError:
        """Return the exception for a block."""
        return BlockError(block, *self._bounds[block], self._what, reason)


class _Round:
    """What is going on during :meth:`Calls.results`."""

    def __init__(self, calls: Calls, engine: Engine, observer: Observer) -> None:
        self._calls, self._engine, self._observer = calls, engine, observer
        self._waiting = deque(range(len(calls._bounds)))
        self._suspects: set[int] = set()
        self._losses: Counter[int] = Counter()
        self._queues: dict[Hashable, dict[Hashable, int]] = {}
        self._seen = time.monotonic()

    def results(self) -> Iterator[tuple[int, Any]]:
        while self._waiting or any(self._queues.values()):
            self._look()
            self._fill()
            owners = {ticket: member for member, queue in self._queues.items() for ticket in queue}
            for ticket in self._engine.finished(list(owners), _LOOK_EVERY):
                member = owners[ticket]
                if member not in self._queues:
                    continue
                try:
                    outcome = self._engine.outcome(member, ticket)
                except Lost as loss:
                    self._lost(member, str(loss))
                    continue
                block = self._queues[member].pop(ticket)
                if isinstance(outcome, Raised):
                    outcome.error.__cause__ = _RemoteTraceback(outcome.trace)
                    raise self._calls.error(block, line(outcome.error)) from outcome.error
                yield block, outcome

    def _look(self) -> None:
        """Notice new and lost workers."""
        members = self._engine.members()
        for member in [member for member in self._queues if member not in members]:
            self._lost(member, "it has left the cluster")
        for member in members:
            self._queues.setdefault(member, {})
        now = time.monotonic()
        if members:
            self._seen = now
        elif now - self._seen > _PATIENCE:
            self._seen = now
            self._observer("warning", f"there has been no worker for {_PATIENCE:.0f} s: waiting")

    def _fill(self) -> None:
        """Give calls to workers that have room, first to those that have none.

        The last blocks do not wait behind others, so that all workers end at about the same time.
        """
        for room in range(self._calls._queued):
            for member, queue in list(self._queues.items()):
                if not self._waiting or (room and len(self._waiting) <= len(self._queues)):
                    return
                block = self._waiting[0]
                together = {block, *queue.values()}
                if len(queue) > room or (queue and together & self._suspects):
                    continue
                try:
                    ticket = self._engine.submit(member, self._calls._arguments(block))
                except Lost as loss:
                    self._lost(member, str(loss))
                    continue
                queue[ticket] = self._waiting.popleft()

    def _lost(self, member: Hashable, reason: str) -> None:
        """Let other workers do the blocks of a lost one."""
        blocks = sorted(self._queues.pop(member).values())
        self._engine.drop(member)
        self._waiting.extendleft(reversed(blocks))
        lines = reason.strip().splitlines()
        again = f", blocks {blocks} are done again" if blocks else ""
        self._observer("warning", f"a worker was lost{again}: {lines[0]}")
        self._suspects.update(blocks)
        if len(blocks) == 1:
            self._losses.update(blocks)
            count = self._losses[blocks[0]]
            if count >= self._calls._attempts:
                lost = "its worker was lost" if count == 1 else f"{count} workers were lost"
                raise self._calls.error(blocks[0], f"{lost}: {lines[0]}")


class Reports:
    """Reports the progress of a job of blocks, at most ten times a second."""

    def __init__(self, observer: Observer, total: int, done: int = 0) -> None:
        self._observer, self._total, self._done = observer, total, done
        self._last = -1.0

    def add(self, amount: int) -> None:
        """Report that more is done."""
        self._done += amount
        now = time.monotonic()
        if now - self._last >= 0.1 or self._done == self._total:
            self._last = now
            self._observer("progress", self._done, self._total, 0.0)


def shares(
    nodes: list[tuple[float, float]], workers: int | None, threads: int | None, with_gpu: bool
) -> tuple[int, int]:
    """Return the number of workers, and of the threads of each, for nodes of (CPUs, GPUs).

    By default there is a worker for each GPU, or as many as there are nodes of the smallest size,
    and they share the CPUs. Raises ValueError if the nodes have no room for the workers.
    """
    nodes = [(cpus, gpus) for cpus, gpus in nodes if cpus >= 1 and (gpus >= 1 or not with_gpu)]
    if not nodes:
        raise ValueError(f"the cluster has no node with a {'GPU' if with_gpu else 'CPU'}")
    if workers is not None:
        workers = integer("workers", workers, 1)
    if threads is not None:
        threads = integer("threads", threads, 1, 1024)
    elif workers is None and with_gpu:
        threads = max(1, min(int(cpus // gpus) for cpus, gpus in nodes))
    elif workers is None:
        threads = int(min(cpus for cpus, _ in nodes))
    else:
        threads = max(1, int(sum(cpus for cpus, _ in nodes)) // workers)
        while threads > 1 and _room(nodes, threads, with_gpu) < workers:
            threads -= 1
    room = _room(nodes, threads, with_gpu)
    needs = f"{threads} CPUs and a GPU" if with_gpu else f"{threads} CPUs"
    if (workers or 1) > room:
        raise ValueError(
            f"the nodes have room for {room} workers with {needs} each, not for {workers or 1}"
        )
    return room if workers is None else workers, threads


def _room(nodes: list[tuple[float, float]], threads: int, with_gpu: bool) -> int:
    """Return how many workers fit on the nodes."""
    places = (min(cpus // threads, gpus) if with_gpu else cpus // threads for cpus, gpus in nodes)
    return sum(map(int, places))
