"""Workers in this process, for tests: they do their calls one after the other, and may die."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Hashable
from typing import Any

import cloudpickle
from warpint._cluster import Lost, Worker, pickled


class Local:
    """Two workers. ``deaths`` says how often a block kills its worker, by its number of begin;
    ``leaves_after`` is a number of calls after which a worker leaves.
    """

    count = 2

    def __init__(
        self,
        function: Callable[..., Any],
        deaths: dict[int, int] | None = None,
        begun: list[int] | None = None,
        leaves_after: int | None = None,
    ) -> None:
        self._pickle = pickled(function, cloudpickle.dumps)
        self._deaths = deaths or {}
        self._leaves_after = leaves_after
        self._names = itertools.count()
        self._tickets = itertools.count()
        self._workers: dict[Hashable, Worker] = {}
        self._calls: dict[Hashable, tuple[Hashable, bytes, int]] = {}
        self._blocks: dict[bytes, int] = {}
        self._done = 0
        self.lost = 0
        self.most = 0
        self.closed = False
        self._new()
        self._new()

    def _new(self) -> None:
        self._workers[f"worker {next(self._names)}"] = Worker(self._pickle)

    def members(self) -> list[Hashable]:
        if self._leaves_after is not None and self._done >= self._leaves_after:
            self._leaves_after = None
            self._workers.pop(next(iter(self._workers)))
            self._new()
        return list(self._workers)

    def submit(self, member: Hashable, arguments: tuple[Any, ...]) -> Hashable:
        data = pickle.dumps(arguments)
        block = self._blocks.setdefault(data, len(self._blocks))
        ticket = next(self._tickets)
        self._calls[ticket] = member, data, block
        self.most = max(self.most, len(self._calls))
        return ticket

    def finished(self, tickets: list[Hashable], seconds: float) -> list[Hashable]:
        assert set(tickets) <= set(self._calls)
        # The last call of the last worker first: blocks end in another order than they begin.
        return [max(tickets, key=str)] if tickets else []

    def outcome(self, member: Hashable, ticket: Hashable) -> Any:
        owner, data, block = self._calls.pop(ticket)
        assert owner == member
        if self._deaths.get(block, 0):
            self._deaths[block] -= 1
            raise Lost("killed by a test\nsecond line")
        self._done += 1
        return pickle.loads(pickle.dumps(self._workers[member].call(*pickle.loads(data))))

    def drop(self, member: Hashable) -> None:
        self.lost += 1
        if self._workers.pop(member, None) is not None:
            self._new()
        for ticket in [t for t, (owner, *_) in self._calls.items() if owner == member]:
            del self._calls[ticket]

    def close(self) -> None:
        self.closed = True
