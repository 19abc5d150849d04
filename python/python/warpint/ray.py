"""Work on the workers of a Ray cluster. Needs the package Ray: ``pip install 'warpint[ray]'``.

::

    import warpint.ray
    powers = warpint.ray.map(pow, bases, exponents, moduli)

The workers are actors. :func:`map` applies a batch operation to blocks of arrays, and
:func:`collatz_verify` verifies the Collatz conjecture for the units of a range. The cluster is the
one to which ``ray.init`` has connected; without such a call, ``ray.init()`` finds or starts one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Hashable
from typing import Any

try:
    import ray
    from ray import cloudpickle, exceptions
except ModuleNotFoundError as error:
    if error.name != "ray":
        raise
    raise ImportError("warpint.ray needs the package ray: pip install 'warpint[ray]'") from error

from ._blocks import map_blocks
from ._cluster import ATTEMPTS, Lost, Raised, Worker, line, pickled, shares
from ._jobs import Watcher
from ._units import verify_units
from .collatz import DIRECTORY, Merge

__all__ = ["collatz_verify", "map"]

#: A start of a worker fails at most this many times one after the other.
_STARTS = 3


class _Engine:
    """Actors, each with the CPUs of its threads, and with a GPU if the device is ``cuda``."""

    def __init__(
        self,
        function: Callable[..., Any],
        workers: int | None,
        threads: int | None,
        device: str,
    ) -> None:
        function_pickle = pickled(function, cloudpickle.dumps)
        if not ray.is_initialized():
            ray.init()
        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        sizes = [(node.get("CPU", 0.0), node.get("GPU", 0.0)) for node in nodes]
        self.count, threads = shares(sizes, workers, threads, device == "cuda")
        self._class = ray.remote(
            num_cpus=threads,
            num_gpus=1 if device == "cuda" else 0,
            max_restarts=0,
            runtime_env={"env_vars": {"RAYON_NUM_THREADS": str(threads)}},
        )(Worker)
        self._function = ray.put(function_pickle)
        self._starting: dict[Any, Any] = {}
        self._members: set[Hashable] = set()
        self._failed_starts = 0
        for _ in range(self.count):
            self._start()

    def _start(self) -> None:
        actor = self._class.remote(self._function)
        self._starting[actor.ready.remote()] = actor

    def members(self) -> set[Hashable]:
        self._started(list(self._starting), 0)
        return self._members

    def _started(self, calls: list[Any], seconds: float) -> None:
        """Take actors that have started as members, and replace those that could not start."""
        if not calls:
            return
        for call in ray.wait(calls, num_returns=len(calls), timeout=seconds)[0]:
            actor = self._starting.pop(call)
            try:
                ray.get(call)
            except exceptions.RayError as error:
                self._failed_starts += 1
                if self._failed_starts >= _STARTS:
                    raise RuntimeError(f"no worker can start: {line(error)}") from error
                self._start()
            else:
                self._failed_starts = 0
                self._members.add(actor)

    def submit(self, member: Any, arguments: tuple[Any, ...]) -> Hashable:
        ticket: Hashable = member.call.remote(*arguments)
        return ticket

    def finished(self, tickets: list[Hashable], seconds: float) -> list[Hashable]:
        calls = [*tickets, *self._starting]
        if not calls:
            time.sleep(seconds)
            return []
        ended = ray.wait(calls, num_returns=1, timeout=seconds)[0]
        return [call for call in ended if call not in self._starting]

    def outcome(self, member: Hashable, ticket: Any) -> Any:
        try:
            return ray.get(ticket)
        except exceptions.RayTaskError as error:
            cause = error.cause if isinstance(error.cause, Exception) else RuntimeError(line(error))
            return Raised(cause, str(error))
        except exceptions.RayError as error:
            raise Lost(line(error)) from error

    def drop(self, member: Any) -> None:
        self._members.discard(member)
        ray.kill(member)
        self._start()

    def close(self) -> None:
        for actor in (*self._members, *self._starting.values()):
            ray.kill(actor)
        self._members.clear()
        self._starting.clear()


def map(
    function: Callable[..., Any],
    *operands: Any,
    block: int | None = None,
    workers: int | None = None,
    threads: int | None = None,
    device: str = "cpu",
    attempts: int = ATTEMPTS,
    progress: Watcher = None,
) -> Any:
    """Apply a batch operation to blocks of arrays on Ray's workers, and join the results in order.

    ``function`` gets as many arguments as there are operands, and is called once for each block of
    ``block`` elements. An operand is an Array, a Masked, a list of ints, a NumPy array of integers
    or a NumPy matrix of limbs, and the function gets an Array or a Masked. An int, or an array of
    one element, is given to every block. The function returns an Array, a Masked, a NumPy array or a
    tuple of these, not necessarily of the length of the block.

    There are ``workers`` actors with ``threads`` threads and CPUs each. By default there is one on
    each node, or several on larger nodes, and the CPUs are shared among them. With
    ``device="cuda"`` each worker has one GPU and moves its blocks there; by default there is a
    worker for each GPU. A worker has at most two blocks at a time. By default blocks get
    smaller, from a third of a worker's share on, so that all workers end at about the same time, and
    their operands have at most 64 MiB.

    The blocks of a lost worker are done again by others; after ``attempts`` lost workers a block
    raises :class:`warpint.BlockError`. So does an exception of the function, which is the cause. Raises
    TypeError if the function cannot be pickled, and ValueError if the nodes have no room for the
    workers. ``progress`` is that of all jobs; Ctrl-C ends the workers.
    """
    return map_blocks(
        lambda called: _Engine(called, workers, threads, device),
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
    workers: int | None = None,
    threads: int | None = None,
    device: str = "cpu",
    attempts: int = ATTEMPTS,
    check: bool = True,
    progress: Watcher = None,
) -> Merge:
    """Verify that every n with start ≤ n < stop reaches 1, if all smaller ones do, on Ray's workers.

    The units are those of :func:`warpint.collatz.verify`. Each worker verifies units in a temporary
    directory of its node, and their files are brought to ``directory`` here, so the nodes need no
    common file system. Units whose files are in ``directory`` are not verified again. At the end all
    files of the directory are merged as by :func:`warpint.collatz.merge`, with its ``check``.

    ``workers``, ``threads``, ``device``, ``attempts`` and ``progress`` are those of :func:`map`.
    Raises :class:`warpint.BlockError` if units cannot be verified. Files of finished units stay, and the
    same call goes on.
    """
    return verify_units(
        lambda called: _Engine(called, workers, threads, device),
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
