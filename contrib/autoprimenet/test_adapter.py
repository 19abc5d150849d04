#!/usr/bin/env python3
"""Tests of the adapter for AutoPrimeNet: `python3 contrib/autoprimenet/test_adapter.py`.

No test uses the network. Tests of whole runs need AUTOPRIMENET, the path of autoprimenet.py, WARPINT, the
path of the program warpint, and the Python package requests; without the variables they are skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import types
import unittest
from pathlib import Path
from typing import Any

import warpint_autoprimenet as adapter

AUTOPRIMENET = os.environ.get("AUTOPRIMENET")
WARPINT = os.environ.get("WARPINT")
HERE = Path(__file__).resolve().parent
KEY = "0123456789ABCDEF0123456789ABCDEF"

# What `warpint work DIR --worker 0 --device cpu` wrote when it was stopped in this test.
STATUS: dict[str, Any] = {
    "worker": 0,
    "pid": 11835,
    "state": "stopped",
    "since": "2026-11-30 03:07:42",
    "updated": "2026-11-30 03:07:54",
    "done": 0,
    "failed": 0,
    "test": {
        "exponent": 2976221,
        "worktype": "PRP-3",
        "device": "cpu",
        "engine": "fp64",
        "fft-length": 179200,
        "since": "2026-11-30 03:07:42",
        "iteration": 1351,
        "total": 2976221,
        "percent": 0.0453931344480131,
        "us-per-iteration": 8117.302999999999,
        "eta-seconds": 24147,
        "saved": 1351,
        "round-off": {"max": 0.00341796875, "z": 1724.7898429180252},
        "errors": {"checks": 0, "round-off": 0, "device": 0},
    },
}

# Runs the adapter with a server that is a function. The argument is the path of a file, to which a line
# with the parameters of each request is appended.
SERVER = """
import json, sys
import requests
requests_file = sys.argv[2]
sys.path.insert(0, sys.argv[1])
import warpint_autoprimenet

class Response:
    encoding = "utf-8"
    def __init__(self, lines):
        self.content = "\\n".join(["pnErrorResult=0", "pnErrorDetail=SUCCESS", *lines, "==END=="]).encode()
    def raise_for_status(self):
        pass

def request(session, method, url, params=None, **_):
    assert url == "https://v5.mersenne.org/v5server/", url
    with open(requests_file, "a") as file:
        file.write(json.dumps(params) + "\\n")
    replies = {
        "uc": ["g=%032x" % 7, "u=someone", "un=Someone", "cn=here", "od=0"],
        "ga": ["w=150", "k=KEY", "n=9689", "A=1", "b=2", "c=-1", "sf=70", "saved=0"],
    }
    return Response(replies.get(params["t"], ["od=0"]))

requests.Session.request = request
warpint_autoprimenet.main(sys.argv[3:])
""".replace("KEY", KEY)


class Log:
    """Collects lines of a log."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def info(self, text: str, *values: object) -> None:
        self.lines.append(text % values)

    debug = warning = error = info


class Program:
    """A program warpint that shows one worker."""

    version = "1.2.3"

    def __init__(self, worker: dict[str, Any]) -> None:
        self.worker = worker

    def workers(self, _folder: str) -> list[dict[str, Any]]:
        return [self.worker]


def progress(worker: dict[str, Any], work_type: str = "prp", exponent: int = 2976221) -> Any:
    """Return the progress of an assignment when `worker` is the only one."""
    kinds = types.SimpleNamespace(WORK_TYPE_PRP="prp", WORK_TYPE_CERT="cert")
    at = adapter.Adapter({"PRIMENET": kinds}, Program(worker), practice=False)  # type: ignore[arg-type]
    assignment = types.SimpleNamespace(n=exponent, work_type=work_type)
    return at.get_progress_assignment(Log(), "dir", assignment)


def changed(**fields: Any) -> dict[str, Any]:
    """Return the sample status with other values, those of the test by the key `test`."""
    return {**STATUS, **fields, "test": {**STATUS["test"], **fields.get("test", {})}}


class Parts(unittest.TestCase):
    """Tests without AutoPrimeNet."""

    def test_progress_is_that_of_the_same_test(self) -> None:
        nothing = (0, None, None, None, None, None)
        self.assertEqual(progress(changed()), (1351, None, 8.117303, None, None, 179200))
        self.assertEqual(progress(changed(), exponent=2976229), nothing)
        self.assertEqual(progress(changed(), work_type="ll"), nothing)
        self.assertEqual(progress(changed(), work_type="cert"), nothing)
        self.assertEqual(progress(changed(test={"worktype": "LL"}), work_type="ll")[0], 1351)
        self.assertEqual(progress(changed(test={"worktype": "Cert"}), work_type="cert")[0], 1351)
        self.assertEqual(progress(changed(test={"number": "3*2^2976221+1"})), nothing)

    def test_a_killed_worker_is_at_its_last_checkpoint(self) -> None:
        self.assertEqual(progress(changed(state="killed", test={"saved": 1172}))[0], 1172)
        self.assertEqual(progress(changed(state="testing", test={"saved": 1172}))[0], 1351)

    def test_results_are_refused_as_requests(self) -> None:
        sent: list[Any] = []
        at = adapter.Adapter({}, Program(changed()), practice=True)  # type: ignore[arg-type]
        send = at.send_request(lambda _adapter, _guid, params: sent.append(params))
        send(None, None, {"t": "ap"})
        with self.assertRaises(RuntimeError):
            send(None, None, {"t": "ar"})
        self.assertEqual(sent, [{"t": "ap"}])

    def test_assignments_of_other_programs_are_not_given_back(self) -> None:
        given_back: list[tuple[str, int]] = []

        def unreserve(_log: Log, assignment: Any) -> bool:
            given_back.append((assignment.uid, assignment.n))
            return True

        space = {"Assignment": types.SimpleNamespace, "assignment_unreserve": unreserve}
        at = adapter.Adapter(space, Program(changed()), practice=True)  # type: ignore[arg-type]
        with tempfile.TemporaryDirectory() as folder:
            ours = {"aid": KEY, "exponent": 9689, "program": {"name": "warpint"}}
            other = {"aid": KEY[::-1], "exponent": 3, "program": {"name": "prpll"}}
            lines = [json.dumps(other), "{", "7", "", json.dumps(ours)]
            (Path(folder) / "results-0.txt").write_text("\n".join(lines) + "\n")
            log = Log()
            for _ in range(2):
                self.assertTrue(at.submit_work(None, log, folder, 0, None))
            self.assertEqual(given_back, [(KEY, 9689)])
            self.assertEqual((Path(folder) / "given-back-0.txt").read_text(), KEY + "\n")
            self.assertEqual(sum("1 results stay in " in line for line in log.lines), 1)
            self.assertTrue(any("results-0.txt:2 is not a JSON object" in line for line in log.lines))

    def test_other_programs_are_no_autoprimenet(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            other = Path(folder) / "other.py"
            for text, what in [
                ("print(1)\n", "makes no argument parser"),
                ("parser = 1\n", "does not name the log of PRPLL"),
                ("x = = 1\n", "is not a Python program"),
                (None, "No such file"),
            ]:
                if text is None:
                    other.unlink()
                else:
                    other.write_text(text)
                done = subprocess.run(
                    [sys.executable, HERE / "warpint_autoprimenet.py", other],
                    capture_output=True,
                    text=True,
                )
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(what, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


@unittest.skipUnless(AUTOPRIMENET, "set AUTOPRIMENET to the path of autoprimenet.py")
@unittest.skipUnless(WARPINT, "set WARPINT to the path of the program warpint")
class Runs(unittest.TestCase):
    """Whole runs of AutoPrimeNet with the adapter."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_adapter(self, *options: str, code: int = 0, before: tuple[str, ...] = ()) -> str:
        """Run AutoPrimeNet without a server, and return what it printed."""
        command = [sys.executable, str(HERE / "warpint_autoprimenet.py")]
        return self.finish([*command, *before], options, code)

    def run_with_server(self, *options: str) -> list[dict[str, Any]]:
        """Run AutoPrimeNet once with the server above, and return the requests."""
        requests = self.folder / "requests"
        requests.write_text("")
        command = [sys.executable, "-c", SERVER, str(HERE), str(requests), "--practice"]
        self.finish(command, ["--timeout", "0", "--no-version-check", *options], 0)
        return [json.loads(line) for line in requests.read_text().splitlines()]

    def finish(self, command: list[str], options: Any, code: int) -> str:
        whole = [*command, str(AUTOPRIMENET), "--workdir", str(self.folder), "-u", "someone", *options]
        done = subprocess.run(whole, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def work(self) -> list[dict[str, Any]]:
        """Let warpint do the lines of the list, and return its results."""
        command = [str(WARPINT), "work", str(self.folder), "--worker", "0", "--device", "cpu", "--quiet"]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        self.assertEqual((self.folder / "worktodo-0.txt").read_text(), "")
        lines = (self.folder / "results-0.txt").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def test_status_has_the_date_that_warpint_expects(self) -> None:
        (self.folder / "status-0.json").write_text(json.dumps(STATUS))
        work = "PRP=N/A,1,2,2976221,-1,99,0\nDoubleCheck=N/A,216091,70,1\n"
        (self.folder / "worktodo-0.txt").write_text(work)
        shown = self.run_adapter("--status")
        # 24147 s, the field `eta-seconds`.
        self.assertIn("M2976221, PRP, 6h 42m 27s", shown)
        self.assertIn("M216091, Double-check, ", shown)
        self.assertEqual((self.folder / "worktodo-0.txt").read_text(), work)

    def test_results_and_proofs_stay(self) -> None:
        work = f"PRP={KEY},1,2,9689,-1,70,0\nTest=N/A,4423\n"
        (self.folder / "worktodo-0.txt").write_text(work)
        self.assertEqual([result["status"] for result in self.work()], ["P", "P"])
        before = (self.folder / "results-0.txt").read_bytes()
        proofs = list((self.folder / "proof").iterdir())
        self.assertEqual(len(proofs), 1)
        shown = self.run_adapter("--report-results")
        self.assertIn("2 results stay in ", shown)
        self.assertIn(f"Give the assignment {KEY} of M9689 back", shown)
        self.run_adapter("--upload-proofs")
        self.assertEqual((self.folder / "results-0.txt").read_bytes(), before)
        self.assertEqual(list((self.folder / "proof").iterdir()), proofs)
        self.assertFalse((self.folder / "results_sent-0.txt").exists())

    def test_no_server_is_asked_unless_it_is_wanted(self) -> None:
        for options in [["--timeout", "0"], ["--ping"]]:
            shown = self.run_adapter(*options, code=2)
            self.assertIn("without --practice no server is asked", shown)

    def test_practice_registers_warpint_and_gives_assignments_back(self) -> None:
        version = subprocess.run([str(WARPINT), "--version"], capture_output=True, text=True).stdout
        first = self.run_with_server()
        self.assertEqual([request["t"] for request in first], ["uc", "po"])
        self.assertRegex(first[0]["a"], rf",warpint,v{version.split()[-1]}$")
        self.assertIn(f"program = {version.strip()}\n", (self.folder / "prime.ini").read_text())

        fetched = self.run_with_server("--num-cache", "1")
        kinds = [request["t"] for request in fetched]
        self.assertIn("ga", kinds)
        self.assertIn("ap", kinds)
        work = (self.folder / "worktodo-0.txt").read_text()
        self.assertEqual(set(work.splitlines()), {f"PRP={KEY},1,2,9689,-1,70,0"})

        self.assertEqual([result["aid"] for result in self.work()], [KEY])
        self.run_adapter("--no-more-work")
        after = self.run_with_server()
        self.assertEqual([(request["t"], request.get("k")) for request in after], [("au", KEY)])
        self.assertEqual((self.folder / "given-back-0.txt").read_text(), KEY + "\n")
        self.assertEqual(self.run_with_server(), [])

    def test_a_computer_of_another_program_is_refused(self) -> None:
        text = textwrap.dedent(
            """\
            [PrimeNet]
            ComputerGUID = 0123
            [Internals]
            program = prpll 0.15
            """
        )
        (self.folder / "prime.ini").write_text(text)
        shown = self.run_adapter("--status", code=2)
        self.assertIn("prime.ini is registered for prpll 0.15: use a directory of its own", shown)
        self.assertEqual((self.folder / "prime.ini").read_text(), text)

    def test_a_wrong_program_is_refused(self) -> None:
        for program in ["/nowhere/warpint", "false", "true"]:
            shown = self.run_adapter("--status", code=2, before=("--warpint", program))
            self.assertIn("name the program with --warpint", shown)
            self.assertEqual(shown.count("\n"), 1, shown)


if __name__ == "__main__":
    unittest.main()
