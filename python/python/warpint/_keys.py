"""Audits of public RSA keys."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from . import _warpint
from ._jobs import Watcher, directory_path, integer, observing, place
from ._jobs import text_of as _text_of

_MOST_BITS = 1 << 16


@dataclass(frozen=True)
class Place:
    """Where a key is: a file, and a line or the number of a key in it, counted from 1.

    For moduli that were given as numbers, ``file`` is ``moduli``, and ``index`` is the place in the
    list, counted from 0.
    """

    #: The path of the file.
    file: str
    #: The line; None if keys are counted, or the file has one key.
    line: int | None
    #: The number of the key; None if lines are counted, or the file has one key.
    key: int | None
    #: The index among the given moduli; None for a file.
    index: int | None


@dataclass(frozen=True)
class Finding:
    """A weakness of a modulus or of an exponent, or a notice. ``repr`` does not show the factor."""

    #: ``shared-prime``, ``even``, ``small-factor``, ``perfect-power``, ``close-primes``, ``roca``,
    #: ``exponent-one``, ``exponent-even``, ``exponent-small``, ``exponent-large``, ``duplicate``,
    #: ``below-1024-bits``, ``below-2048-bits``.
    kind: str
    #: The kind in a few words.
    description: str
    #: Whether it only describes the key.
    is_notice: bool
    #: The modulus.
    modulus: int
    #: The exponent, for findings about exponents.
    exponent: int | None
    #: The places of all keys that it concerns.
    places: tuple[Place, ...]
    #: The places of keys with which the modulus shares a prime.
    shared_with: tuple[Place, ...]
    #: A proper factor of the modulus, if one was found. It is a private key.
    factor: int | None = field(repr=False)
    _object: dict[str, Any] = field(repr=False, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``warpint audit-keys --json`` prints, which has no factor."""
        return copy.deepcopy(self._object)


@dataclass(frozen=True)
class KeyAudit:
    """The result of :func:`audit_keys`."""

    #: The findings that are weaknesses: moduli in ascending order.
    findings: tuple[Finding, ...]
    #: The findings that only describe keys, such as short moduli.
    notices: tuple[Finding, ...]
    #: The keys that were read.
    keys: int
    #: The distinct moduli among them.
    distinct: int
    #: The distinct moduli that the store had before; None without a store.
    known: int | None
    #: The entries that could not be read; the logger ``warpint`` has the reasons.
    unreadable: int
    #: The entries that are no RSA keys, by what they are.
    others: tuple[tuple[str, int], ...]
    _objects: tuple[dict[str, Any], ...] = field(repr=False, hash=False)

    @property
    def is_clean(self) -> bool:
        """Whether there are no findings, and every entry could be read."""
        return not self.findings and not self.unreadable

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, and as ``findings`` the objects that ``warpint audit-keys --json`` prints.

        These are findings and notices in the order of the command line, without factors.
        """
        return {
            "keys": self.keys,
            "distinct": self.distinct,
            "known": self.known,
            "unreadable": self.unreadable,
            "others": dict(self.others),
            "findings": copy.deepcopy(list(self._objects)),
        }


def audit_keys(
    keys: str | os.PathLike[str] | Iterable[int | str | os.PathLike[str]],
    *,
    device: str = "cpu",
    threads: int | None = None,
    memory: int = 4 << 30,
    store: str | os.PathLike[str] | None = None,
    progress: Watcher = None,
) -> KeyAudit:
    """Find weak public RSA keys: shared primes, small or close factors, ROCA, bad exponents.

    ``keys`` is a path, or an iterable of paths and of moduli as ints. A path is that of a file of
    keys (PEM, DER, SSH, JWK, or moduli in digits), or of a directory, which is searched to all
    depths. Moduli have at most 2^16 bits.

    ``memory`` limits the bytes of the search for shared primes. ``store`` is a directory that keeps
    the moduli of earlier audits. With ``device="cuda"`` a GPU computes the product and remainder
    trees. Ctrl-C stops; with a store, the same call goes on.

    >>> import warpint as wp
    >>> p, q, r = 2**521 - 1, 2**607 - 1, 2**1279 - 1
    >>> audit = wp.audit_keys([p * q, p * r])
    >>> [(f.kind, [place.index for place in f.places]) for f in audit.findings]
    [('shared-prime', [0]), ('shared-prime', [1])]
    >>> audit.findings[0].factor == p
    True

    Errors: ValueError if no key is found or a number is no modulus, FileNotFoundError, TypeError.
    """
    paths: list[str] = []
    moduli: list[int] = []
    items = [keys] if isinstance(keys, (str, os.PathLike)) else keys
    try:
        items = list(items)
    except TypeError:
        raise TypeError(f"keys are a path, or paths and ints, not {type(keys).__name__}") from None
    for i, item in enumerate(items):
        if isinstance(item, (str, os.PathLike)):
            paths.append(os.fspath(item))
            continue
        if isinstance(item, bytes) or not hasattr(type(item), "__index__"):
            raise TypeError(f"item {i} is neither a path nor an int, but {type(item).__name__}")
        modulus = integer(f"modulus {i}", item, 2)
        if modulus.bit_length() > _MOST_BITS:
            raise ValueError(f"modulus {i} is {_text_of(modulus)}, but at most 65536 are possible")
        moduli.append(modulus)
    options = {
        "paths": paths,
        "moduli": "".join(f"{modulus:#x}\n" for modulus in moduli),
        "device": place(device),
        "threads": None if threads is None else integer("threads", threads, 1, 1024),
        "memory": integer("memory", memory, 1, 2**63),
        "store": None if store is None else directory_path(store),
    }
    with observing("audit", "step", progress) as observer:
        report: dict[str, Any] = json.loads(_warpint.audit(options, observer))
    if not report["keys"] and not report["unreadable"]:
        raise ValueError("there is no RSA key" + (f" in {', '.join(paths)}" if paths else ""))
    indices = [i for i, item in enumerate(items) if not isinstance(item, (str, os.PathLike))]

    def places(objects: list[dict[str, Any]]) -> tuple[Place, ...]:
        return tuple(
            Place(o["file"], None, None, indices[o["line"] - 1])
            if o["file"] == "moduli" and "moduli" not in paths
            else Place(o["file"], o["line"], o["key"], None)
            for o in objects
        )

    def finding(described: dict[str, Any]) -> Finding:
        o, factor = described["object"], described["factor"]
        return Finding(
            kind=o["kind"],
            description=described["says"],
            is_notice=described["notice"],
            modulus=int(o["modulus"], 16),
            exponent=None if o["exponent"] is None else int(o["exponent"], 16),
            places=places(o["places"]),
            shared_with=places(o["shared-with"]),
            factor=None if factor is None else int(factor, 16),
            _object=o,
        )

    findings = [finding(described) for described in report["findings"]]
    return KeyAudit(
        findings=tuple(f for f in findings if not f.is_notice),
        notices=tuple(f for f in findings if f.is_notice),
        keys=report["keys"],
        distinct=report["distinct"],
        known=report["known"],
        unreadable=report["unreadable"],
        others=tuple(report["others"].items()),
        _objects=tuple(described["object"] for described in report["findings"]),
    )
