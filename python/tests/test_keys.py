"""Audits of keys with planted weaknesses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gmpy2
import pytest
import warpint as wp
from json_page import names, rows
from vectors import FOLDER

pytestmark = pytest.mark.quick

P, Q, R, S = 2**521 - 1, 2**607 - 1, 2**1279 - 1, 2**2203 - 1


def kinds(audit: wp.KeyAudit) -> list[tuple[str, int | None]]:
    return [(f.kind, f.places[0].index) for f in audit.findings]


def prime_after(x: int) -> int:
    return int(gmpy2.next_prime(x))


def test_shared_primes_are_found_with_their_factors() -> None:
    moduli = [P * Q, R * S, P * R, prime_after(2**600) * prime_after(3**400)]
    audit = wp.audit_keys(moduli)
    assert {(f.kind, f.places[0].index) for f in audit.findings} == {
        ("shared-prime", 0),
        ("shared-prime", 1),
        ("shared-prime", 2),
    }
    for finding in audit.findings:
        assert finding.modulus == moduli[finding.places[0].index or 0]
        assert finding.factor is not None and finding.modulus % finding.factor == 0
        assert 1 < finding.factor < finding.modulus
        assert str(finding.factor) not in repr(finding)
    shared = next(f for f in audit.findings if f.places[0].index == 2)
    assert {place.index for place in shared.shared_with} == {0, 1}
    assert (audit.keys, audit.distinct, audit.known, audit.unreadable) == (4, 4, None, 0)
    assert not audit.is_clean


def test_dictionaries_have_the_fields_of_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "moduli.txt"
    file.write_text(f"{P * Q}\n{P * R}\n")
    audit = wp.audit_keys([file, prime_after(2**300) * prime_after(3**250)])
    report = audit.to_dict()
    assert json.loads(json.dumps(report)) == report
    assert (report["keys"], report["distinct"], report["known"]) == (3, 3, None)
    objects = report["findings"]
    fields = [name for cells in rows("audit-keys") for name in names(cells[0])]
    assert len(fields) > 5
    assert all(sorted(o) == sorted(fields) for o in objects)
    shared = [o for o in objects if o["kind"] == "shared-prime"]
    assert len(shared) == 2
    for o, line in zip(shared, (1, 2)):
        assert o["places"] == [{"file": str(file), "line": line, "key": None}]
        assert o["shared-with"] == [{"file": str(file), "line": 3 - line, "key": None}]
        assert int(o["modulus"], 16) == P * (Q if line == 1 else R) and o["exponent"] is None
        assert o["bits"] == int(o["modulus"], 16).bit_length()
    (short,) = (o for o in objects if o["kind"] == "below-1024-bits")
    assert short["places"][0]["file"] == "moduli"
    each = [f.to_dict() for f in audit.findings + audit.notices]
    assert sorted(map(str, each)) == sorted(map(str, objects))
    # A private key is in no object, and a caller cannot change the result.
    assert f"{P:x}" not in json.dumps(report)
    count = len(objects)
    objects.clear()
    audit.findings[0].to_dict().clear()
    assert len(audit.to_dict()["findings"]) == count and audit.findings[0].to_dict()


def test_each_weakness_has_its_kind() -> None:
    close = prime_after(2**600)
    for modulus, kind in [
        (2 * P, "even"),
        (9973 * Q, "small-factor"),
        (P**2, "perfect-power"),
        (close * prime_after(close), "close-primes"),
    ]:
        audit = wp.audit_keys([modulus])
        assert kinds(audit) == [(kind, 0)], kind
    twice = wp.audit_keys([P * Q, 5 * 7 * R, P * Q])
    assert ("duplicate", 0) in kinds(twice)
    duplicate = next(f for f in twice.findings if f.kind == "duplicate")
    assert [place.index for place in duplicate.places] == [0, 2]


def test_notices_only_describe_keys() -> None:
    audit = wp.audit_keys([prime_after(2**300) * prime_after(3**250)])
    assert audit.findings == () and audit.is_clean
    assert [notice.kind for notice in audit.notices] == ["below-1024-bits"]
    assert audit.notices[0].is_notice and audit.notices[0].description


def test_files_and_moduli_together(tmp_path: Path) -> None:
    file = tmp_path / "moduli.txt"
    file.write_text(f"{P * Q}\n# a comment\n{hex(R * S)}\n")
    audit = wp.audit_keys([file, P * S], threads=1)
    by_index = next(f for f in audit.findings if f.places[0].index is not None)
    # Items are counted, paths too.
    assert by_index.places[0].index == 1
    assert {(place.file, place.line) for place in by_index.shared_with} == {
        (str(file), 1),
        (str(file), 3),
    }


def test_keys_of_openssl_and_openssh() -> None:
    folder = FOLDER / "keys"
    if not folder.exists():
        pytest.skip("the keys are part of the repository")
    modulus = int((folder / "modulus.txt").read_text().split()[-1].split("=")[-1], 16)
    for name in ["certificate.pem", "spki.der", "ssh.pub", "pkcs1.pem"]:
        audit = wp.audit_keys([folder / name])
        assert (audit.keys, audit.distinct) == (1, 1)
        assert modulus.bit_length() < 2048 or audit.notices == ()
    ec = wp.audit_keys([folder / "ec.pem", folder / "ssh.pub"])
    assert ec.keys == 1 and sum(count for _, count in ec.others) == 1
    everything = wp.audit_keys(folder)
    assert {f.modulus for f in everything.findings if f.kind == "duplicate"} == {modulus}


def test_a_store_knows_earlier_moduli(tmp_path: Path) -> None:
    store = tmp_path / "store"
    first = wp.audit_keys([P * Q], store=store)
    assert first.known == 0 and first.is_clean
    second = wp.audit_keys([P * R], store=store)
    assert [f.kind for f in second.findings].count("shared-prime") >= 1
    again = wp.audit_keys([P * R], store=store)
    assert again.known == 1


def test_unreadable_entries_are_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "keys"
    file.write_text(f"ssh-rsa AAAA\n{P * Q}\n")
    audit = wp.audit_keys(file)
    assert audit.keys == 1 and audit.unreadable == 1 and not audit.is_clean
    assert any(str(file) in message for message in caplog.messages)


def test_progress_of_an_audit() -> None:
    seen: list[wp.Progress] = []
    wp.audit_keys([P * Q, P * R], progress=seen.append)
    assert seen and all(0 <= p.share <= 1 for p in seen)


@pytest.mark.parametrize(
    ("call", "kind", "match"),
    [
        (lambda: wp.audit_keys([]), ValueError, "no RSA key"),
        (lambda: wp.audit_keys("not-there"), FileNotFoundError, "not-there"),
        (lambda: wp.audit_keys([0]), ValueError, "modulus 0 is 0"),
        (lambda: wp.audit_keys([P * Q, -5]), ValueError, "modulus 1 is -5"),
        (lambda: wp.audit_keys([2**70000]), ValueError, "modulus 0"),
        (lambda: wp.audit_keys([P * Q, 1.5]), TypeError, "item 1"),
        (lambda: wp.audit_keys([b"x"]), TypeError, "item 0"),
        (lambda: wp.audit_keys(5), TypeError, "int"),
        (lambda: wp.audit_keys([P * Q], store=b"x"), TypeError, "directory is .*, not bytes"),
        (lambda: wp.audit_keys([P * Q], memory=0), ValueError, "memory"),
        (lambda: wp.audit_keys([P * Q], device="x"), ValueError, "'x'"),
    ],
)
def test_wrong_input_is_one_line(call: Any, kind: type[Exception], match: str) -> None:
    with pytest.raises(kind, match=match) as caught:
        call()
    assert "\n" not in str(caught.value)
