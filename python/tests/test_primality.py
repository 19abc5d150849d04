"""Tests of numbers against published residues, Python's integers, and gmpy2."""

from __future__ import annotations

import dataclasses
import itertools
import json
import logging
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import gmpy2
import pytest
import warpint as wp
from vectors import vectors

pytestmark = pytest.mark.quick

CPU = {"device": "cpu", "threads": 1}


@pytest.mark.parametrize("p", [3, 5, 31, 61, 67, 521, 607, 1009, 1277, 1279, 1999, 4423, 4441])
def test_residues_of_mersenne_numbers_are_those_of_gmp(p: int) -> None:
    known = {entry["p"]: entry for entry in vectors("small_residues")["residues"]}[p]
    primes = vectors("mersenne_primes")["exponents"]
    for result, residue in [
        (wp.Mersenne(p).ll(directory=None, factor_limit=0, **CPU), known["ll"]),
        (wp.Mersenne(p).prp(directory=None, factor_limit=0, **CPU), known["prp"]),
    ]:
        assert result.residue == residue
        assert result.is_prime is (p in primes)
        assert result.errors.count == 0
        assert result.number == f"M{p}"


def test_interim_residue_of_a_long_number() -> None:
    known = next(r for r in vectors("residues")["residues"] if r["test"] == "prp")
    result = wp.Mersenne(known["p"]).prp(
        directory=None, device="cpu", iterations=10, factor_limit=0
    )
    assert result.verdict == "interim" and result.is_prime is None
    assert (result.iterations, result.total) == (10, known["p"])
    expected = pow(3, 2**10) & (2**64 - 1)
    assert result.residue == f"{expected:016X}"


def test_fermat_numbers_have_published_residues() -> None:
    for known in vectors("fermat_residues")["residues"]:
        # The first iteration of a power takes its highest bit: 3^(2^i) is reached after i + 1.
        if known["m"] == 14 and known["iterations"] <= 1000:
            result = wp.test(
                f"2^{2**14}+1", directory=None, iterations=known["iterations"] + 1, base=3, **CPU
            )
            assert result.residue == known["res64"]


@pytest.mark.parametrize(
    "text", ["3*2^189+1", "3*2^189-1", "7*2^2256+1", "10^50+1", "5*6^100+1", "45*2^50-1"]
)
def test_numbers_against_gmpy2(text: str) -> None:
    number = wp.Number(text)
    value = int(number)
    assert value == number.k * number.b**number.n + number.c
    for result in (number.test(directory=None, **CPU), wp.test(text, directory=None, **CPU)):
        assert result.is_prime is gmpy2.is_prime(value, 50)
        if result.factor is not None and result.factor.isdigit():
            assert value % int(result.factor) == 0
        if result.is_prime and result.verdict == "prime":
            assert result.theorem
        assert result.number == str(number)


def test_a_prime_is_proven_by_each_theorem() -> None:
    for text, theorem in [
        ("3*2^189+1", "Proth"),
        ("3*2^94-1", "Riesel"),
        ("5*2^7+1", "Sorenson"),
        ("2^16+1", "Sorenson"),
        ("4*3^201+1", "Pocklington"),
        ("27*10^100-1", "Morrison"),
    ]:
        result = wp.test(text, directory=None, **CPU)
        assert result.verdict == "prime" and gmpy2.is_prime(int(wp.Number(text)), 50)
        assert theorem in (result.theorem or ""), result


def test_a_factor_makes_a_test_unnecessary() -> None:
    result = wp.Mersenne(67).prp(directory=None)
    assert (result.verdict, result.factor, result.worktype) == ("composite", "193707721", "TF")
    assert result.residue is None and result.engine is None and result.device is None
    assert result.is_prime is False
    assert str(result).startswith("M67 is composite")


def test_known_factors_leave_a_cofactor() -> None:
    result = wp.Mersenne(67).prp(factors=[193707721], directory=None, **CPU)
    cofactor = (2**67 - 1) // 193707721
    assert result.is_prime is gmpy2.is_prime(cofactor)
    assert result.to_dict()["known-factors"] == ["193707721"]
    with pytest.raises(ValueError, match="divide"):
        wp.Mersenne(67).prp(factors=[7], directory=None)


def test_base_of_fermats_test() -> None:
    # It has no prime factor below 10^6.
    text = "39*2^211+1"
    n = int(wp.Number(text))
    for base in (5, 7, 65535):
        result = wp.test(text, base=base, directory=None, **CPU)
        expected = pow(base, n - 1, n) & (2**64 - 1)
        assert result.residue == f"{expected:016X}"
        assert result.worktype == f"PRP-{base}" and result.verdict == "composite"


def test_a_result_is_frozen_and_has_the_json_of_the_command_line() -> None:
    result = wp.Mersenne(1279).prp(directory=None, **CPU)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.verdict = "composite"  # type: ignore[misc]
    report = result.to_dict()
    report["res64"] = "changed"
    assert result.to_dict()["res64"] == result.residue == "0000000000000001"
    assert result.to_dict()["seconds"] == result.seconds
    assert set(result.to_dict()) >= {
        *("status", "exponent", "worktype", "iterations", "total", "res64", "res2048"),
        *("engine", "fft-length", "shift-count", "errors", "seconds", "program", "timestamp"),
    }
    json.dumps(result.to_dict())
    assert "probable prime" in str(result)
    assert hash(result) == hash(result)


def test_progress_is_reported_in_the_calling_thread() -> None:
    seen: list[wp.Progress] = []
    threads = set()

    def watch(progress: wp.Progress) -> None:
        seen.append(progress)
        threads.add(threading.get_ident())

    result = wp.Mersenne(9689).prp(directory=None, progress=watch, **CPU)
    assert result.verdict == "probable prime"
    assert threads == {threading.get_ident()}
    assert seen and seen[0].iteration == 0 and seen[0].description == "M9689"
    assert all(a.iteration <= b.iteration for a, b in itertools.pairwise(seen))
    assert all(0 <= p.share <= 1 and p.total == 9689 for p in seen)


def test_tqdm_shows_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    wp.Mersenne(9689).prp(directory=None, progress="tqdm", **CPU)
    assert "M9689" in capsys.readouterr().err


def test_other_threads_run_during_a_test() -> None:
    done = threading.Event()
    counted = 0

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    before = time.monotonic()
    wp.Mersenne(19937).prp(directory=None, factor_limit=0, **CPU)
    seconds = time.monotonic() - before
    done.set()
    thread.join()
    assert counted > 10 * min(seconds, 1)


def test_an_exception_of_the_callable_stops_the_test_and_keeps_a_checkpoint(
    tmp_path: Path,
) -> None:
    class Enough(Exception):
        pass

    def watch(progress: wp.Progress) -> None:
        if progress.iteration > 0:
            raise Enough

    options = {"directory": tmp_path, "factor_limit": 0, **CPU}
    with pytest.raises(Enough):
        wp.Mersenne(110503).prp(progress=watch, **options)
    assert list((tmp_path / "M110503").iterdir())
    first: list[int] = []
    with pytest.raises(Enough):
        wp.Mersenne(110503).prp(progress=lambda p: (first.append(p.iteration), watch(p)), **options)
    assert first[0] > 0


def test_a_stored_result_is_returned_at_once(tmp_path: Path) -> None:
    first = wp.Mersenne(4423).ll(directory=tmp_path, **CPU)
    again = wp.Mersenne(4423).ll(directory=str(tmp_path), **CPU)
    assert again == first
    anew = wp.Mersenne(4423).ll(directory=tmp_path, restart=True, **CPU)
    assert anew.residue == first.residue and anew.to_dict() != first.to_dict()
    lines = (tmp_path / "results.txt").read_text().splitlines()
    assert json.loads(lines[0])["exponent"] == 4423


RESUMED = """
import sys, warpint as wp
wp.Mersenne(216091).prp(
    directory=sys.argv[1], device="cpu", threads=1, factor_limit=0, checkpoint_interval=0.2,
    progress=lambda p: print(p.iteration, flush=True),
)
"""


def _until_it_runs(process: subprocess.Popen[str], least: int) -> int:
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) >= least:
            return int(line)
    raise AssertionError(f"the test ended with {process.wait()}")


def _start(folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", RESUMED, str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_ctrl_c_saves_a_checkpoint_and_the_next_call_resumes(tmp_path: Path) -> None:
    process = _start(tmp_path)
    reached = _until_it_runs(process, 1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    assert process.returncode == -signal.SIGINT
    assert _resumed_at(tmp_path) >= reached


def test_a_killed_test_resumes_from_its_last_checkpoint(tmp_path: Path) -> None:
    process = _start(tmp_path)
    first = _until_it_runs(process, 1)
    deadline = time.monotonic() + 60
    while not any(path.name != "lock" for path in (tmp_path / "M216091").glob("*")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    _until_it_runs(process, first + 1)
    time.sleep(1)
    process.kill()
    process.communicate(timeout=60)
    assert _resumed_at(tmp_path) > 0


def _resumed_at(folder: Path) -> int:
    """Where a call with the same directory resumes; it is stopped there."""
    process = _start(folder)
    try:
        return _until_it_runs(process, 0)
    finally:
        process.kill()
        process.communicate(timeout=60)


def test_the_result_of_a_resumed_test_is_that_of_a_whole_one(tmp_path: Path) -> None:
    def stop(progress: wp.Progress) -> None:
        if progress.iteration > 0:
            raise InterruptedError

    options = {"factor_limit": 0, "device": "cpu", "engine": "fp64"}
    with pytest.raises(InterruptedError):
        wp.Mersenne(86243).prp(directory=tmp_path, progress=stop, threads=1, **options)
    result = wp.Mersenne(86243).prp(directory=tmp_path, **options)
    assert result.resumed_at > 0
    assert result.residue == "0000000000000001" and result.verdict == "probable prime"


@pytest.mark.parametrize(
    ("call", "kind", "match"),
    [
        (lambda: wp.Mersenne(4), ValueError, "prime"),
        (lambda: wp.Mersenne(1), ValueError, "1"),
        (lambda: wp.Mersenne(2**40 + 1), ValueError, "2\\^31|large"),
        (lambda: wp.Mersenne(-3), ValueError, "-3"),
        (lambda: wp.Mersenne(7.0), TypeError, "float"),
        (lambda: wp.Mersenne("7"), TypeError, "str"),
        (lambda: wp.Mersenne(True), TypeError, "bool"),
        (lambda: wp.Number("7*2^x+1"), ValueError, "7\\*2\\^x"),
        (lambda: wp.Number(5), TypeError, "int"),
        (lambda: wp.test(97), TypeError, "int"),
        (lambda: wp.test("2^4+3"), ValueError, "2\\^4"),
        (lambda: wp.test("3*2^50+1", base=1), ValueError, "base"),
        (lambda: wp.test("2^127-1", base=3), ValueError, "Mersenne"),
        (lambda: wp.test("2^64+1", base=2, directory=None), ValueError, "would pass"),
        (lambda: wp.Mersenne(127).ll(device="gpu"), ValueError, "cuda:N"),
        (lambda: wp.Mersenne(127).ll(device=0), TypeError, "int"),
        (lambda: wp.Mersenne(127).ll(threads=0), ValueError, "threads"),
        (lambda: wp.Mersenne(127).ll(engine="fft"), ValueError, "goldilocks"),
        (lambda: wp.Mersenne(127).ll(iterations=0), ValueError, "iterations"),
        (lambda: wp.Mersenne(127).ll(checkpoint_interval=0), ValueError, "interval"),
        (lambda: wp.Mersenne(127).ll(checkpoint_interval=float("nan")), ValueError, "interval"),
        (lambda: wp.Mersenne(127).ll(progress="bar"), TypeError, "tqdm"),
        (lambda: wp.Mersenne(127).ll(progress=1), TypeError, "callable"),
        (lambda: wp.Mersenne(127).ll(directory=b"x"), TypeError, "bytes"),
        (lambda: wp.Mersenne(127).ll(p=7), TypeError, "unexpected"),
    ],
)
def test_wrong_input_is_one_line(
    call: object, kind: type[Exception], match: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind, match=match) as caught:
        call()  # type: ignore[operator]
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(bool(wp.devices()), reason="there is a GPU")
def test_a_missing_gpu_is_an_error_of_the_device(tmp_path: Path) -> None:
    with pytest.raises(wp.DeviceError):
        wp.Mersenne(127).ll(device="cuda", directory=tmp_path)


def test_files_in_the_way_are_errors_of_the_system(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OSError, match="file"):
        wp.Mersenne(9689).prp(directory=tmp_path / "file", **CPU)
    assert (tmp_path / "file").read_text() == "x"


def test_two_tests_of_a_number_exclude_each_other(tmp_path: Path) -> None:
    process = _start(tmp_path)
    _until_it_runs(process, 1)
    try:
        with pytest.raises(BlockingIOError, match=str(process.pid)):
            wp.Mersenne(216091).prp(directory=tmp_path, factor_limit=0, **CPU)
    finally:
        process.kill()
        process.communicate(timeout=60)


def test_notes_go_to_the_logger(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="warpint"):
        wp.Mersenne(9689).prp(directory=tmp_path, **CPU)
    assert any("M9689" in message for message in caplog.messages)


def test_numbers_compare_by_their_normal_form() -> None:
    assert wp.Number("6*4^9-1") == wp.Number("3*2^19-1") != wp.Number("3*2^19+1")
    assert len({wp.Number("M127"), wp.Number("2^127-1")}) == 1
    assert wp.Mersenne(127) == wp.Mersenne(127) != wp.Mersenne(89)
    assert int(wp.Mersenne(127)) == 2**127 - 1 and wp.Mersenne(127).p == 127
    assert repr(wp.Number("2^127-1")) == "Number('M127')"
