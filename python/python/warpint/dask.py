"""Work on the workers of a Dask cluster. Needs Dask's scheduler: ``pip install 'warpint[dask]'``.

::

    import distributed, warpint.dask
    client = distributed.Client("tcp://scheduler:8786")
    powers = warpint.dask.map(pow, bases, exponents, moduli)

:func:`map` applies a batch operation to blocks of arrays, and :func:`collatz_verify` verifies the
Collatz conjecture for the units of a range.
"""

from __future__ import annotations

import itertools
import os
import queue
import time
from collections.abc import Callable, Hashable
from numbers import Real
from typing import Any

try:
    import cloudpickle
    import distributed
except ModuleNotFoundError as error:
    if error.name not in ("cloudpickle", "dask", "distributed"):
        raise
    raise ImportError(
        "warpint.dask needs the package distributed: pip install 'warpint[dask]'"
    ) from error

from ._blocks import map_blocks
from ._cluster import ATTEMPTS, Lost, Raised, Worker, line, pickled
from ._jobs import Watcher, integer
from ._units import verify_units
from .collatz import DIRECTORY, Merge

__all__ = ["collatz_verify", "map"]

#: The seconds after which a list of the workers is out of date.
_FRESH = 0.5

#: The seconds that a call waits for the first worker.
_START = 60.0

#: The seconds that a first attempt to send or to fetch numbers may take.
_PATIENCE = 10.0

_names = itertools.count()


def _call(worker: Worker, arguments: tuple[Any, ...]) -> Any:
    return worker.call(*arguments)


class _Engine:
    """The workers of a client. A member is the address of a worker.

    A worker that restarts at the same address has lost the numbers that were sent to it, so its
    calls are cancelled like those of other lost workers.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        client: Any,
        threads: int | None,
        resources: dict[str, float] | None,
    ) -> None:
        self._pickle = pickled(function, cloudpickle.dumps)
        self._resources = _amounts(resources)
        self._client = _client(client)
        self._threads = None if threads is None else integer("threads", threads, 1, 1024)
        self._name = f"warpint-{os.getpid()}-{time.time_ns()}-{next(_names)}"
        self._numbers = itertools.count()
        self._looked = 0.0
        self._members: dict[Hashable, Any] = {}
        self._workers: dict[Hashable, Any] = {}
        self._calls: dict[Hashable, tuple[Hashable, Any]] = {}
        self._ended: queue.SimpleQueue[Hashable] = queue.SimpleQueue()
        self.count = self._first_members()

    def _first_members(self) -> int:
        """Wait for the first worker, which may be about to start, and return the number then."""
        end = time.monotonic() + _START
        while not self.members():
            if self._resources and self._all():
                raise ValueError(f"no worker of the Dask cluster has {self._resources}")
            if time.monotonic() > end:
                raise ValueError(f"the Dask cluster has had no worker for {_START:.0f} s")
            time.sleep(_FRESH)
        return len(self._members)

    def _all(self) -> dict[str, Any]:
        workers: dict[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        return workers

    def members(self) -> dict[Hashable, Any]:
        now = time.monotonic()
        if not self._members or now - self._looked > _FRESH:
            self._looked = now
            self._members = {
                address: worker
                for address, worker in self._all().items()
                if all(
                    worker["resources"].get(name, 0) >= amount
                    for name, amount in self._resources.items()
                )
            }
        return self._members

    def submit(self, member: Any, arguments: tuple[Any, ...]) -> Hashable:
        try:
            if member not in self._workers:
                self._workers[member] = self._sent(member, self._worker(member))
            numbers = self._sent(member, arguments)
        except (OSError, TimeoutError, ValueError) as error:
            raise Lost(line(error)) from error
        except Exception as error:
            raise RuntimeError(f"a worker cannot receive numbers: {line(error)}") from error
        call = self._client.submit(
            _call,
            self._workers[member],
            numbers,
            key=f"{self._name}-{next(self._numbers)}",
            workers=[member],
            allow_other_workers=False,
            resources=self._resources or None,
            retries=0,
            pure=False,
        )
        ticket: Hashable = call.key
        self._calls[ticket] = member, call
        call.add_done_callback(lambda ended: self._ended.put(ended.key))
        return ticket

    def _worker(self, member: Hashable) -> Worker:
        threads = self._threads
        if threads is None:
            return Worker(self._pickle, self._members[member]["nthreads"], True)
        return Worker(self._pickle, threads, False)

    def _sent(self, member: Any, data: Any) -> Any:
        """Send data to the memory of a worker. Each keeps its data while a call refers to it."""
        return self._client.scatter([data], workers=[member], hash=False, timeout=_PATIENCE)[0]

    def finished(self, tickets: list[Hashable], seconds: float) -> list[Hashable]:
        try:
            ended = [self._ended.get(timeout=seconds)]
            while not self._ended.empty():
                ended.append(self._ended.get())
        except queue.Empty:
            return []
        return [ticket for ticket in ended if ticket in tickets]

    def outcome(self, member: Hashable, ticket: Hashable) -> Any:
        _, call = self._calls.pop(ticket)
        patience = _PATIENCE
        while True:
            try:
                return call.result(timeout=patience)
            except (TimeoutError, distributed.TimeoutError):
                # The result may be large, or lost with its worker.
                patience *= 2
                self._looked = 0.0
                if member not in self.members():
                    raise Lost("it has left the cluster") from None
            except distributed.CancelledError as error:
                raise Lost("its worker is gone, or the numbers in the worker's memory") from error
            except (distributed.scheduler.KilledWorker, OSError) as error:
                raise Lost(line(error)) from error
            except Exception as error:  # noqa: BLE001
                return Raised(error, line(error))

    def drop(self, member: Hashable) -> None:
        self._looked = 0.0
        self._workers.pop(member, None)
        lost = [ticket for ticket, (owner, _) in self._calls.items() if owner == member]
        self._client.cancel([self._calls.pop(ticket)[1] for ticket in lost])

    def close(self) -> None:
        self._client.cancel([call for _, call in self._calls.values()])
        self._calls.clear()
        self._workers.clear()


def _amounts(resources: Any) -> dict[str, float]:
    """Return the resources of a worker. Raises TypeError if they are no names with amounts."""
    if resources is None:
        return {}
    if not isinstance(resources, dict):
        raise TypeError(f"resources are a dict, not {type(resources).__name__}")
    for name, amount in resources.items():
        if not isinstance(name, str) or not isinstance(amount, Real):
            raise TypeError(f"resources have names and amounts, not {name!r}: {amount!r}")
    return resources


def _client(client: Any) -> Any:
    if client is None:
        try:
            client = distributed.get_client()
        except ValueError as error:
            raise ValueError(
                "there is no Dask client: make one by distributed.Client(…), or pass client="
            ) from error
    if not isinstance(client, distributed.Client):
        raise TypeError(f"client is a distributed.Client, not {type(client).__name__}")
    if client.asynchronous:
        raise ValueError("an asynchronous Dask client cannot be used")
    return client


def map(
    function: Callable[..., Any],
    *operands: Any,
    block: int | None = None,
    client: Any = None,
    threads: int | None = None,
    device: str = "cpu",
    resources: dict[str, float] | None = None,
    attempts: int = ATTEMPTS,
    progress: Watcher = None,
) -> Any:
    """Apply a batch operation to blocks of arrays on Dask's workers, and join the results in order.

    ``function``, ``operands``, ``block``, ``attempts`` and ``progress`` are those of
    :func:`warpint.ray.map`, and so are the results and the exceptions.

    All workers of ``client`` are used, or those that have the ``resources``, and workers that join
    later. By default the client is the current one. A worker does one block at a time, with as many
    threads as it has in Dask, or ``threads``. A process cannot change the number after its first
    computation; another one raises :class:`warpint.BlockError`.

    With ``device="cuda"`` each worker moves its blocks to its first GPU. Start one worker for each
    GPU, with its own ``CUDA_VISIBLE_DEVICES``. Ctrl-C cancels the blocks; those that are being
    computed end first.
    """
    return map_blocks(
        lambda called: _Engine(called, client, threads, resources),
        function,
        operands,
        block=block,
        device=device,
        attempts=attempts,
        progress=progress,
    )


def collatz_verify(
    start: int,
    stop: int | None = None,
    /,
    *,
    directory: str | os.PathLike[str] = DIRECTORY,
    method: str | None = None,
    unit_bits: int | None = None,
    client: Any = None,
    threads: int | None = None,
    device: str = "cpu",
    resources: dict[str, float] | None = None,
    attempts: int = ATTEMPTS,
    check: bool = True,
    progress: Watcher = None,
) -> Merge:
    """Verify that every n with start ≤ n < stop reaches 1, if all smaller ones do, on Dask's workers.

    The same as :func:`warpint.ray.collatz_verify`; ``client``, ``threads``, ``device`` and
    ``resources`` are those of :func:`map`.
    """
    return verify_units(
        lambda called: _Engine(called, client, threads, resources),
        (start, stop),
        directory=directory,
        method=method,
        unit_bits=unit_bits,
        threads=threads,
        device=device,
        attempts=attempts,
        check=check,
        progress=progress,
    )
