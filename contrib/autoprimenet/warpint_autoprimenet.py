#!/usr/bin/env python3
"""Runs AutoPrimeNet for a directory in which warpint works, instead of PRPLL.

AutoPrimeNet is read from the file that the user names; nothing of it is in this file. Its functions are
defined first, then some of them are replaced by the functions below, then its main part runs. It uses the
files of PRPLL, worktodo-N.txt and results-N.txt, which `warpint work DIR --worker N` uses, too.

Results and proofs of warpint are never sent: the list of programs of the PrimeNet server does not contain
warpint, and a result must not be reported under the name of another program.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

TESTED = "1.2.2 (tdulcet/AutoPrimeNet at commit 182fd2a)"
TESTED_VERSION = "1.2.2"
RETURN_PAGE = "https://www.mersenne.org/workload/"

# What this file replaces or calls in AutoPrimeNet.
NAMES = [
    "Assignment",
    "PRIMENET",
    "PROGRAMS",
    "SEC",
    "VERSION",
    "assignment_unreserve",
    "check_options",
    "generate_application_str",
    "get_progress_assignment",
    "merge_config_and_options",
    "output_status",
    "program_version_check",
    "report_result",
    "send_request",
    "session",
    "submit_mersenne_ca_results",
    "submit_work",
    "upload_proof",
    "upload_proof_file",
    "upload_proofs",
]


def fail(message: str) -> NoReturn:
    """End with exit code 2 and one line."""
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


class LogNames(ast.NodeTransformer):
    """Replaces the name of the log of PRPLL by that of warpint. A log without news is a stall."""

    def __init__(self) -> None:
        self.count = 0

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if node.value == "gpuowl-{}.log":
            self.count += 1
            return ast.copy_location(ast.Constant("warpint-{}.log"), node)
        return node


def parts(script: Path) -> tuple[ast.Module, ast.Module]:
    """Read AutoPrimeNet and return its definitions and its main part."""
    unknown = f"{script} is not the AutoPrimeNet that this adapter knows, {TESTED}"
    try:
        tree = ast.parse(script.read_bytes(), str(script))
    except OSError as e:
        fail(f"{script}: {e.strerror or e}: name the file autoprimenet.py")
    except (SyntaxError, ValueError) as e:
        fail(f"{script} is not a Python program: {e}")

    def makes_parser(node: ast.stmt) -> bool:
        targets = node.targets if isinstance(node, ast.Assign) else []
        return any(isinstance(target, ast.Name) and target.id == "parser" for target in targets)

    main = next((i for i, node in enumerate(tree.body) if makes_parser(node)), None)
    if main is None:
        fail(f"{unknown}: it makes no argument parser")
    names = LogNames()
    tree = names.visit(tree)
    if not names.count:
        fail(f"{unknown}: it does not name the log of PRPLL")
    return ast.Module(tree.body[:main], []), ast.Module(tree.body[main:], [])


class Warpint:
    """The program warpint."""

    def __init__(self, program: str) -> None:
        self.program = program
        words = self.call("--version").split()
        if len(words) != 2 or words[0] != "warpint":
            raise OSError("this is not the program warpint")
        self.version = words[1]

    def call(self, *arguments: str) -> str:
        """Run the program and return its standard output."""
        try:
            done = subprocess.run(
                [self.program, *arguments],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=60,
                check=True,
            )
        except subprocess.CalledProcessError as e:
            lines = e.stderr.decode(errors="replace").splitlines()
            raise OSError(f"{self.program} failed: {lines[-1] if lines else e}") from e
        except subprocess.TimeoutExpired as e:
            raise OSError(f"{self.program} did not answer within 60 s") from e
        return done.stdout.decode(errors="replace")

    def workers(self, folder: str) -> list[dict[str, Any]]:
        """Return the workers of a directory, as `warpint status --json` describes them."""
        try:
            workers = json.loads(self.call("status", folder, "--json"))["workers"]
        except (ValueError, KeyError, TypeError) as e:
            raise OSError(f"{self.program} status printed no list of workers: {e}") from e
        return [worker for worker in workers if isinstance(worker, dict)]


def kind_of(assignment: Any, prime_net: Any) -> str:
    """Return how the work type of an assignment begins in warpint's status."""
    kinds = {prime_net.WORK_TYPE_PRP: "PRP-", prime_net.WORK_TYPE_CERT: "Cert"}
    return kinds.get(assignment.work_type, "LL")


class Adapter:
    """The functions that replace those of AutoPrimeNet, whose names are in `space`."""

    def __init__(self, space: dict[str, Any], warpint: Warpint, practice: bool) -> None:
        self.space = space
        self.warpint = warpint
        self.practice = practice
        # The results that have been reported on, for each file.
        self.kept: dict[str, int] = {}

    def install(self) -> None:
        """Replace the functions."""
        space = self.space
        name = {"name": "warpint", "version": self.warpint.version}
        space["PROGRAMS"] = tuple(
            name if program["name"] == "PRPLL" else program for program in space["PROGRAMS"]
        )
        for function in ["check_options", "generate_application_str", "merge_config_and_options"]:
            space[function] = getattr(self, function)(space[function])
        space["send_request"] = self.send_request(space["send_request"])
        space["output_status"] = self.output_status(space["output_status"])
        space["get_progress_assignment"] = self.get_progress_assignment
        space["submit_work"] = self.submit_work
        space["upload_proof"] = space["upload_proofs"] = self.keep_proofs
        for function in ["report_result", "submit_mersenne_ca_results", "upload_proof_file"]:
            space[function] = self.refuse
        # Releases of warpint are not announced at mersenne.ca.
        space["program_version_check"] = lambda: None
        if not self.practice:
            space["session"].request = self.offline

    # The name under which the computer is registered.

    def merge_config_and_options(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Refuse a configuration that is registered for another program, before anything is written."""

        def merge(config: Any, args: Any) -> Any:
            sections = self.space["SEC"]
            if config.has_option(sections.PrimeNet, "sw_version"):
                fail(f"{args.localfile} sets sw_version: remove it, the adapter registers warpint")
            registered = config.has_option(sections.PrimeNet, "ComputerGUID")
            program = config.get(sections.Internals, "program", fallback="another program")
            if registered and program.split()[:1] != ["warpint"]:
                fail(
                    f"{args.localfile} is registered for {program}: "
                    "use a directory of its own for warpint (--workdir)"
                )
            return original(config, args)

        return merge

    def check_options(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Refuse the setting for another program than PRPLL, whose files warpint uses."""

        def check(parser: Any, args: Any) -> Any:
            if not args.prpll:
                fail("the adapter needs the files of PRPLL: choose PRPLL in --setup")
            return original(parser, args)

        return check

    def generate_application_str(self, original: Callable[[], str]) -> Callable[[], str]:
        """Name warpint and its version, whatever the configuration says."""

        def generate() -> str:
            name = f"warpint {self.warpint.version}"
            self.space["config"].set(self.space["SEC"].Internals, "program", name)
            return original()

        return generate

    # Requests to servers.

    def offline(self, _method: str, url: str, **_: Any) -> NoReturn:
        """Refuse a request to a server."""
        fail(f"this needs {url.split('?')[0]}, and without --practice no server is asked")

    def send_request(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Refuse to send a result."""

        def send(adapter: Any, guid: Any, params: Any) -> Any:
            if params.get("t") == "ar":
                self.refuse()
            return original(adapter, guid, params)

        return send

    def refuse(self, *_: Any, **__: Any) -> NoReturn:
        """Stop a call that would send a result or a proof."""
        raise RuntimeError("the adapter sends no results and no proofs of warpint")

    # Results and proofs.

    def submit_work(self, _dirs: Any, log: Any, folder: str, worker: int, _tasks: Any) -> bool:
        """Keep the results, and give fetched assignments back that are done."""
        path = Path(folder) / f"results-{worker}.txt"
        results = self.results(log, path)
        if results and self.kept.get(str(path)) != len(results):
            self.kept[str(path)] = len(results)
            log.info(
                "%d results stay in %s: the server's list of programs does not contain warpint",
                len(results),
                path,
            )
        returned = Path(folder) / f"given-back-{worker}.txt"
        done = set(returned.read_text().split()) if returned.exists() else set()
        success = True
        for result in results:
            key, exponent = result.get("aid"), result.get("exponent")
            if not isinstance(key, str) or not isinstance(exponent, int) or key in done:
                continue
            done.add(key)
            if not self.practice:
                log.warning("Give the assignment %s of M%d back at %s", key, exponent, RETURN_PAGE)
                continue
            assignment = self.space["Assignment"]()
            assignment.uid, assignment.n = key, exponent
            if self.space["assignment_unreserve"](log, assignment):
                with returned.open("a") as file:
                    file.write(key + "\n")
            else:
                success = False
        return success

    def results(self, log: Any, path: Path) -> list[dict[str, Any]]:
        """Read the results of warpint in a file. A line that is no result is reported and left out."""
        if not path.exists():
            return []
        results = []
        for number, line in enumerate(path.read_bytes().splitlines(), 1):
            try:
                result: Any = json.loads(line) if line.strip() else None
            except ValueError:
                log.error("%s:%d is not a JSON object: left as it is", path, number)
                continue
            program = result.get("program") if isinstance(result, dict) else None
            if isinstance(program, dict) and program.get("name") == "warpint":
                results.append(result)
        return results

    def keep_proofs(self, log: Any, *_: Any, **__: Any) -> bool:
        """Keep the proofs: a proof belongs to a reported result."""
        log.debug("Proofs stay in their folder: the results to which they belong are not reported")
        return True

    # Progress.

    def get_progress_assignment(self, log: Any, folder: str, assignment: Any) -> Any:
        """Return the progress of an assignment as AutoPrimeNet wants it: the iteration, the number of
        iterations if it differs from the usual one, ms per iteration, curve, stage and transform length.
        """
        if not assignment:
            return None
        try:
            workers = self.warpint.workers(folder)
        except OSError as e:
            log.error("The progress is unknown: %s", e)
            workers = []
        for worker in workers:
            test = worker.get("test") or {}
            kind = kind_of(assignment, self.space["PRIMENET"])
            if (
                test.get("exponent") != assignment.n
                or "number" in test
                or not test.get("worktype", "").startswith(kind)
            ):
                continue
            # A worker that was killed goes on from its last checkpoint.
            lost = worker.get("state") in {"killed", "failed"}
            iteration = test.get("saved", 0) if lost else test.get("iteration", 0)
            micros = test.get("us-per-iteration")
            speed = micros / 1000 if micros is not None else None
            return iteration, None, speed, None, None, test.get("fft-length")
        return 0, None, None, None, None, None

    def output_status(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Take the present speed of each worker for the dates, which otherwise are those of the last
        progress report."""

        def output(dirs: Any, cpu_num: Any = None) -> Any:
            config, sections = self.space["config"], self.space["SEC"]
            several = self.space["args"].num_workers > 1
            for index, folder in enumerate(dirs):
                number = index if cpu_num is None else cpu_num
                section = f"Worker #{number + 1}" if several else sections.Internals
                try:
                    workers = self.warpint.workers(folder)
                except OSError:
                    # `get_progress_assignment` reports it.
                    continue
                for worker in workers:
                    test = worker.get("test") or {}
                    micros = test.get("us-per-iteration")
                    if worker.get("worker") == number and micros is not None and "number" not in test:
                        config.set(section, "msec_per_iter", f"{micros / 1000:f}")
                        config.set(section, "exponent", str(test["exponent"]))
            return original(dirs, cpu_num)

        return output


def main(arguments: list[str]) -> None:
    """Run AutoPrimeNet with the adapter."""
    parser = argparse.ArgumentParser(
        description="Runs AutoPrimeNet for a directory in which warpint works, instead of PRPLL.",
        epilog="Results and proofs of warpint are never sent.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--practice",
        action="store_true",
        help="ask servers: register the computer as one that runs warpint, fetch assignments, report "
        "progress, and give assignments back that are done. Without it no server is asked",
    )
    parser.add_argument(
        "--warpint",
        metavar="PROGRAM",
        default=os.environ.get("WARPINT", "warpint"),
        help="the program warpint (default: the variable WARPINT, or warpint in the search path)",
    )
    parser.add_argument("autoprimenet", metavar="AUTOPRIMENET", type=Path, help="autoprimenet.py")
    parser.add_argument(
        "options", nargs=argparse.REMAINDER, metavar="OPTION", help="options of AutoPrimeNet"
    )
    given = parser.parse_args(arguments)

    definitions, rest = parts(given.autoprimenet)
    try:
        warpint = Warpint(given.warpint)
    except OSError as e:
        fail(f"{given.warpint}: {e.strerror or e}: name the program with --warpint")
    script = str(given.autoprimenet)
    space = {"__name__": "__main__", "__file__": script, "__builtins__": builtins}
    sys.argv = [script, "--prpll", *given.options]
    exec(compile(definitions, script, "exec"), space)
    missing = [name for name in NAMES if name not in space]
    if missing:
        fail(f"{script} is not the AutoPrimeNet that this adapter knows, {TESTED}: no {missing[0]}")
    if space["VERSION"] != TESTED_VERSION:
        print(
            f"warning: AutoPrimeNet {space['VERSION']}: the adapter was tested with {TESTED}",
            file=sys.stderr,
        )
    Adapter(space, warpint, given.practice).install()
    exec(compile(rest, script, "exec"), space)


if __name__ == "__main__":
    main(sys.argv[1:])
