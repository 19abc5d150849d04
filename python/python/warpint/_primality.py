"""Tests of single numbers: Mersenne numbers, and numbers k·b^n ± 1."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from . import _warpint
from ._jobs import Watcher, folder, integer, observing, place

#: The directory of checkpoints and results of the command line.
DIRECTORY = "warpint-work"

_VERDICTS = {
    "P": "prime",
    "PRP": "probable prime",
    "C": "composite",
    "F": "composite",
    "interim": "interim",
}


@dataclass(frozen=True)
class TestErrors:
    """The errors of the hardware that a test has detected and recovered from."""

    __test__ = False

    #: Failed Gerbicz–Li checks.
    gerbicz: int = 0
    #: Failed Jacobi checks of a Lucas–Lehmer test.
    jacobi: int = 0
    #: Residues on which two engines differed.
    double_check: int = 0
    #: Squarings that were wrong by the sums over their words.
    squarings: int = 0
    #: Failed checks of the Lucas sequences of Morrison's test.
    lucas: int = 0
    #: Round-off errors, after each of which the test continued with a longer transform.
    round_off: int = 0

    @property
    def count(self) -> int:
        """The number of errors of all kinds."""
        return (
            self.gerbicz
            + self.jacobi
            + self.double_check
            + self.squarings
            + self.lucas
            + self.round_off
        )


@dataclass(frozen=True)
class TestResult:
    """The result of a test. ``str`` gives the line that the command line prints."""

    __test__ = False

    #: The number that was tested, such as ``M127`` or ``3*2^189+1``.
    number: str
    #: ``prime``, ``probable prime``, ``composite``, or ``interim`` before the last iteration.
    verdict: str
    #: The type of work: ``PRP-3``, ``LL``, ``Proth-5``, ``LLR``, …; ``TF`` if a factor was found.
    worktype: str
    #: The low 64 bits of the last residue in 16 hexadecimal digits; None if there is none.
    residue: str | None
    #: The low 2048 bits of the residue in hexadecimal digits; for PRP tests of 2^p − 1 only.
    residue_2048: str | None
    #: The theorem by which a number k·b^n ± 1 is proven prime; None if there is none.
    theorem: str | None
    #: A factor that made the test unnecessary, in digits or as an expression such as ``2^7-1``.
    factor: str | None
    #: The iterations done, those of earlier calls included.
    iterations: int
    #: The iterations of the whole test.
    total: int
    #: The iteration from which the last call continued; 0 if it computed the whole test.
    resumed_at: int
    #: The computing time of all calls, in seconds.
    seconds: float
    #: The engine; None if no engine was needed.
    engine: str | None
    #: Where the engine computed: ``cpu``, ``cuda:0``; None if no engine was needed.
    device: str | None
    #: The errors detected and recovered from.
    errors: TestErrors
    _text: str = field(repr=False)
    _report: dict[str, Any] = field(repr=False, hash=False)

    @property
    def is_prime(self) -> bool | None:
        """Whether the number is prime or a probable prime; None before the last iteration.

        With known factors it is about the cofactor.
        """
        return None if self.verdict == "interim" else self.verdict != "composite"

    def to_dict(self) -> dict[str, Any]:
        """Return the object that the command line prints with ``--json``."""
        return copy.deepcopy(self._report)

    def __str__(self) -> str:
        return self._text


def _result(report: str, text: str) -> TestResult:
    r: dict[str, Any] = json.loads(report)
    engine = r.get("engine")
    verdict = _VERDICTS[r["status"]]
    if r["worktype"] == "PRP-3" and "number" not in r and verdict == "prime" and engine:
        verdict = "probable prime"
    errors = {name.replace("-", "_"): count for name, count in r.get("errors", {}).items()}
    return TestResult(
        number=r.get("number") or f"M{r['exponent']}",
        verdict=verdict,
        worktype=r["worktype"],
        residue=r.get("res64"),
        residue_2048=r.get("res2048"),
        theorem=r.get("theorem"),
        factor=r["factors"][0] if r["status"] == "F" else None,
        iterations=r.get("iterations", 0),
        total=r.get("total", 0),
        resumed_at=r.get("resumed-at", 0),
        seconds=r.get("seconds", 0.0),
        engine=engine,
        device=r.get("device", "cpu") if engine else None,
        errors=TestErrors(**errors),
        _text=text,
        _report=r,
    )


def _run(
    kind: str,
    number: str,
    description: str,
    *,
    device: str,
    threads: int | None,
    directory: str | os.PathLike[str] | None,
    iterations: int | None,
    engine: str | None,
    factor_limit: int | None,
    checkpoint_interval: float,
    restart: bool,
    progress: Watcher,
    base: int | None = None,
    factors: Iterable[int] = (),
) -> TestResult:
    interval = float(checkpoint_interval)
    if not interval > 0:
        raise ValueError(f"checkpoint_interval is {checkpoint_interval}, but must be above 0")
    options = {
        "device": place(device),
        "engine": engine,
        "threads": None if threads is None else integer("threads", threads, 1, 1024),
        "iterations": None if iterations is None else integer("iterations", iterations, 1, 2**62),
        "base": None if base is None else integer("base", base, 2, 65536),
        "factors": [str(integer("a factor", factor, 2)) for factor in factors],
        "factor_limit": (
            None if factor_limit is None else integer("factor_limit", factor_limit, 0, 2**63)
        ),
        "checkpoint_interval": interval,
        "restart": bool(restart),
    }
    with folder(directory) as path, observing(description, "squaring", progress) as observer:
        return _result(*_warpint.run_test(kind, number, {**options, "directory": path}, observer))


class Mersenne:
    """The Mersenne number 2^p − 1, for a prime p below 2^31.

    >>> import warpint as wp
    >>> wp.Mersenne(127)
    Mersenne(127)
    >>> int(wp.Mersenne(7))
    127

    The tests take these options, all by name:

    ``device``
        ``"auto"`` (a GPU if there is one that works and p is large enough), ``"cpu"``, ``"cuda"``,
        ``"cuda:1"``.
    ``threads``
        The threads of the CPU; one for each logical CPU if None.
    ``directory``
        The directory of checkpoints, stored results and ``results.txt``, shared with the command
        line. A call resumes from the newest checkpoint there, and returns a stored result at once.
        With None, nothing is kept.
    ``iterations``
        Stop after this many iterations; the verdict is then ``interim``.
    ``engine``
        ``"fp64"``, ``"goldilocks"``, …; ``"exact"`` for the fastest whose products are exact.
    ``factor_limit``
        Look for a factor 2kp + 1 with k up to this limit first; 0 for no search.
    ``checkpoint_interval``
        The seconds between two checkpoints.
    ``restart``
        Remove the checkpoints and the stored result of this test, and begin anew.
    ``progress``
        A callable that is called up to five times a second with a :class:`Progress`, or
        ``"tqdm"``. An exception that it raises stops the test as Ctrl-C does.

    Ctrl-C saves a checkpoint and raises KeyboardInterrupt; the same call then resumes the test. A
    second Ctrl-C while the checkpoint is written is ignored. Python's lock is not held, so other
    threads run during a test. The logger ``warpint`` receives notes and warnings.

    Errors: ValueError for a p or an option that is not possible, DeviceError for a GPU that is
    missing or fails, OSError for files, BlockingIOError if another process does the same test,
    RuntimeError if the hardware is too unreliable for a result.
    """

    __slots__ = ("_p",)

    def __init__(self, p: int) -> None:
        p = integer("p", p, 0, 2**64 - 1)
        _warpint.check_exponent(p)
        self._p = p

    @property
    def p(self) -> int:
        """The exponent."""
        return self._p

    def __int__(self) -> int:
        return (1 << self._p) - 1

    def __eq__(self, other: object) -> bool:
        return self._p == other._p if isinstance(other, Mersenne) else NotImplemented

    def __hash__(self) -> int:
        return hash(("Mersenne", self._p))

    def __repr__(self) -> str:
        return f"Mersenne({self._p})"

    def prp(
        self,
        *,
        device: str = "auto",
        threads: int | None = None,
        directory: str | os.PathLike[str] | None = DIRECTORY,
        iterations: int | None = None,
        engine: str | None = None,
        factors: Iterable[int] = (),
        factor_limit: int | None = None,
        checkpoint_interval: float = 60.0,
        restart: bool = False,
        progress: Watcher = None,
    ) -> TestResult:
        """Make Fermat's probable-prime test to base 3, guarded by Gerbicz–Li checks.

        ``factors`` are known factors of the number; the test is then about their cofactor.

        >>> import warpint as wp
        >>> result = wp.Mersenne(1279).prp(directory=None)
        >>> result.verdict, result.residue, result.errors.count
        ('probable prime', '0000000000000001', 0)
        >>> wp.Mersenne(67).prp(directory=None).factor
        '193707721'

        Cost: p squarings modulo 2^p − 1.
        """
        return _run(
            "prp",
            str(self._p),
            f"M{self._p}",
            device=device,
            threads=threads,
            directory=directory,
            iterations=iterations,
            engine=engine,
            factors=factors,
            factor_limit=factor_limit,
            checkpoint_interval=checkpoint_interval,
            restart=restart,
            progress=progress,
        )

    def ll(
        self,
        *,
        device: str = "auto",
        threads: int | None = None,
        directory: str | os.PathLike[str] | None = DIRECTORY,
        iterations: int | None = None,
        engine: str | None = None,
        factor_limit: int | None = None,
        checkpoint_interval: float = 60.0,
        restart: bool = False,
        progress: Watcher = None,
    ) -> TestResult:
        """Make the test of Lucas and Lehmer, which proves whether the number is prime.

        >>> import warpint as wp
        >>> wp.Mersenne(1279).ll(directory=None).verdict
        'prime'
        >>> wp.Mersenne(1277).ll(directory=None, factor_limit=0).residue
        '5613A480590E78BA'

        Cost: p − 2 squarings modulo 2^p − 1.
        """
        return _run(
            "ll",
            str(self._p),
            f"M{self._p}",
            device=device,
            threads=threads,
            directory=directory,
            iterations=iterations,
            engine=engine,
            factor_limit=factor_limit,
            checkpoint_interval=checkpoint_interval,
            restart=restart,
            progress=progress,
        )


class Number:
    """A number k·b^n ± 1, from a text such as ``"7*2^2256+1"``.

    1 ≤ k < 2^63, 2 ≤ b < 2^32, and the number has at most 2^31 bits. ``M127`` is 2^127 − 1. The
    normal form is stored, in which b is not a power and does not divide k:

    >>> import warpint as wp
    >>> n = wp.Number("6*4^9-1")
    >>> n, (n.k, n.b, n.n, n.c), int(n)
    (Number('3*2^19-1'), (3, 2, 19, -1), 1572863)
    """

    __slots__ = ("_b", "_c", "_k", "_n", "_text")

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise TypeError(
                f"a number is given as text such as '7*2^2256+1', not as {type(text).__name__}"
            )
        self._k, self._b, self._n, self._c, self._text = _warpint.parse_number(text)

    @property
    def k(self) -> int:
        """The multiplier."""
        return self._k

    @property
    def b(self) -> int:
        """The base."""
        return self._b

    @property
    def n(self) -> int:
        """The exponent."""
        return self._n

    @property
    def c(self) -> int:
        """The last term, 1 or −1."""
        return self._c

    def __int__(self) -> int:
        return int(self._k * self._b**self._n + self._c)

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, Number) else NotImplemented

    def __hash__(self) -> int:
        return hash(("Number", self._text))

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Number({self._text!r})"

    def test(
        self,
        *,
        device: str = "auto",
        threads: int | None = None,
        directory: str | os.PathLike[str] | None = DIRECTORY,
        iterations: int | None = None,
        base: int | None = None,
        engine: str | None = None,
        factor_limit: int | None = None,
        checkpoint_interval: float = 60.0,
        restart: bool = False,
        progress: Watcher = None,
    ) -> TestResult:
        """Test the number: see :func:`test`."""
        return _test(
            self._text,
            device=device,
            threads=threads,
            directory=directory,
            iterations=iterations,
            base=base,
            engine=engine,
            factor_limit=factor_limit,
            checkpoint_interval=checkpoint_interval,
            restart=restart,
            progress=progress,
        )


def test(
    number: str | Number | Mersenne,
    *,
    device: str = "auto",
    threads: int | None = None,
    directory: str | os.PathLike[str] | None = DIRECTORY,
    iterations: int | None = None,
    base: int | None = None,
    engine: str | None = None,
    factor_limit: int | None = None,
    checkpoint_interval: float = 60.0,
    restart: bool = False,
    progress: Watcher = None,
) -> TestResult:
    """Test a number k·b^n ± 1 by the test that proves most.

    >>> import warpint as wp
    >>> result = wp.test("7*2^2256+1", directory=None)
    >>> result.verdict, result.worktype, result.theorem
    ('prime', 'Proth-3', 'Proth')
    >>> wp.test("5*2^7+1", directory=None).theorem
    'Sorenson–Webster'

    With ``base``, from 2 to 65536, Fermat's probable-prime test to this base is made instead.
    Prime factors up to ``factor_limit``, at least 65536, are looked for first. The other options
    are those of :class:`Mersenne`. A GPU tests numbers with b below 2^18.

    Cost: about log2 of the number squarings modulo the number.
    """
    if not isinstance(number, (str, Number, Mersenne)):
        raise TypeError(
            f"a number is given as text such as '7*2^2256+1', not as {type(number).__name__}"
        )
    text = f"M{number.p}" if isinstance(number, Mersenne) else str(number)
    return _test(
        text,
        device=device,
        threads=threads,
        directory=directory,
        iterations=iterations,
        base=base,
        engine=engine,
        factor_limit=factor_limit,
        checkpoint_interval=checkpoint_interval,
        restart=restart,
        progress=progress,
    )


def _test(text: str, **options: Any) -> TestResult:
    return _run("best", text, text, **options)
