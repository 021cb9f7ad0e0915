"""Whether the tests that the equation index names notice when the formula is wrong.

For each item with a function and a test, the function is altered in up to six ways
(tools/mutations.py), and the tests that the index names are run on each altered copy. A copy is
caught if one of them fails.

- Each copy is caught by a test of one of the items that name the function.
- What the tests of an item run of its function, they also check: if one of them comes past the
  altered place, one of them fails.
- Each test of an item catches a copy, and of each function of an item one is caught: a test that
  catches none checks something else.

    python tools/mutants.py              run what has changed since the stored result, store it
    python tools/mutants.py --all        run everything again
    python tools/mutants.py NAME ...     of these functions only, store nothing, show each copy

Exit 1 if a copy goes unnoticed. The result is stored in data/results/mutants.json, and shown on
the page Equation index. A copy that computes the same as the original is listed in
tools/mutants.yml, with the reason. A test that does not end in time has failed.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import importlib.abc
import importlib.util
import io
import json
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import mutations
import yaml
from equations import Code, Index, Item
from mutations import Module, Mutant
from threadpoolctl import threadpool_limits

from book.sources import code_of

ROOT = Path(__file__).resolve().parent.parent
FAILED = ("value", "error", "time")  # a wrong value was seen, something was raised, it did not end
STORED = Path("data") / "results" / "mutants.json"
REASONS = Path("tools") / "mutants.yml"
AT_ONCE = int(os.environ.get("JOBS", "2"))
SECONDS = 20.0  # of work for one test function, with all its parameters
SHARED = (  # imported once, before the copies are made; nothing of the library is among them
    "numpy", "scipy.optimize", "scipy.sparse.linalg", "scipy.spatial", "sklearn.cluster",
    "sklearn.datasets", "sklearn.metrics", "sklearn.utils.estimator_checks", "joblib",
    "matplotlib.pyplot", "hypothesis", "hypothesis.extra.numpy",
)  # fmt: skip
UNUSED = ("cacheprovider", "nbval", "xdist", "cov")  # plugins of pytest


# --- what has to be caught ---------------------------------------------------------------------


class Pair(NamedTuple):
    """An item of the index and one of its functions."""

    item: Item
    function: str


def wanted(index: Index) -> dict[Pair, list[str]]:
    """Return the tests, as pytest names them, of each item and function of the index."""
    return {
        Pair(item, function.name): [test_id(test) for test in entry.test]
        for item, entry in index.entries.items()
        for function in entry.function
        if entry.test
    }


def test_id(test: Code) -> str:
    """Name a test as pytest does."""
    return f"{test.path}::{test.name}"


def fingerprint(name: str, root: Path = ROOT) -> str:
    """Hash the code that is altered, or the code of a test; words do not count.

    Parameters
    ----------
    name : str
        Full name of a function or class, or of a test ("tests/library/test_a.py::test_b").
    root : Path
        The repository.
    """
    if "::" in name:
        file, test = name.split("::")
        nodes: list[Any] = [
            node
            for node in ast.walk(ast.parse((root / file).read_text()))
            if isinstance(node, ast.FunctionDef) and node.name == test
        ]
        for node in nodes:
            node.decorator_list = [
                each for each in node.decorator_list if "mark.equation" not in ast.unparse(each)
            ]
    else:
        nodes = mutations.altered_code(name, root)
    return code_of("\n".join(ast.unparse(node) for node in nodes).encode()).digest


@dataclass
class Result:
    """Which tests caught which altered copies, and of which code.

    Attributes
    ----------
    caught : dict
        By function and copy: for each test, how it failed, one of `FAILED`; "passed" if it did
        not though it came past the altered place; "" if it never came there.
    code : dict
        Fingerprints of functions and tests.
    """

    caught: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    code: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Result:
        """Read a stored result; an empty one if there is none."""
        if not path.is_file():
            return cls()
        try:
            stored = json.loads(path.read_text())
        except ValueError as error:
            again = "`make mutants ARGS=--all` makes it again"
            raise ValueError(f"{path} is damaged ({error}); {again}") from error
        tests = stored["tests"]
        caught = {
            function: {
                words: {tests[int(place)]: how for place, how in outcomes.items()}
                for words, outcomes in copies.items()
            }
            for function, copies in stored["caught"].items()
        }
        return cls(caught, stored["code"])

    def write(self, path: Path) -> None:
        """Store the result."""
        tests = sorted({t for c in self.caught.values() for each in c.values() for t in each})
        caught = {
            function: {
                words: {str(tests.index(test)): how for test, how in sorted(outcomes.items())}
                for words, outcomes in copies.items()
            }
            for function, copies in sorted(self.caught.items())
        }
        text = {"tests": tests, "caught": caught, "code": dict(sorted(self.code.items()))}
        path.write_text(json.dumps(text, indent=1, ensure_ascii=False) + "\n")

    def is_old(self, name: str, root: Path = ROOT) -> bool:
        """Whether the code of a function or test is another now."""
        try:
            return self.code.get(name) != fingerprint(name, root)
        except (LookupError, OSError):
            return True


def reasons(root: Path = ROOT) -> dict[str, dict[str, str]]:
    """Read why some altered copies compute the same as the original, by function and copy."""
    return yaml.safe_load((root / REASONS).read_text()) or {}


def counts(index: Index, result: Result, root: Path = ROOT) -> dict[Item, str]:
    """Say how many altered copies the tests of each item run, and how many they catch.

    Copies that compute the same as the original do not count.
    """
    same, said = reasons(root), {}
    old = {name for name in _names(wanted(index)) if result.is_old(name, root)}
    for item, entry in index.entries.items():
        tests = [test_id(test) for test in entry.test]
        copies = [
            {outcomes.get(test, "") for test in tests}
            for function in entry.function
            for words, outcomes in result.caught.get(function.name, {}).items()
            if words not in same.get(function.name, {})
        ]
        ran = [seen for seen in copies if seen != {""}]
        if ran:
            caught = sum(not seen.isdisjoint(FAILED) for seen in ran)
            said[item] = f"{caught} of {len(ran)} altered copies caught"
            if not old.isdisjoint([*tests, *(function.name for function in entry.function)]):
                said[item] += ", in an earlier version of the code"
    return said


def summary(result: Result, same: dict[str, dict[str, str]]) -> str:
    """Say in a sentence or two how many altered copies there are, and what became of them."""
    copies = [
        set(outcomes.values())
        for function, found in result.caught.items()
        for words, outcomes in found.items()
        if words not in same.get(function, {})
    ]
    caught = [seen for seen in copies if not seen.isdisjoint(FAILED)]
    values = sum("value" in seen for seen in caught)
    equal = sum(map(len, same.values()))
    share = "all" if len(caught) == len(copies) else f"{len(caught)}"
    return (
        f"Of {len(copies)} altered copies of {len(result.caught)} functions the tests caught "
        f"{share}, {values} of them by a wrong value, the others because something broke or did "
        f"not end. {equal} more compute the same as the original."
    )


def _names(pairs: dict[Pair, list[str]]) -> set[str]:
    return {name for pair, tests in pairs.items() for name in (pair.function, *tests)}


def problems(
    index: Index, result: Result, same: dict[str, dict[str, str]], root: Path = ROOT
) -> list[str]:
    """Say what goes unnoticed, which tests notice nothing, and what is out of date."""
    found = []
    pairs = wanted(index)
    for name in sorted(_names(pairs)):
        if result.is_old(name, root):
            found.append(f"{name} has changed since it was altered: run `make mutants`")
    noticing: set[tuple[Item, str]] = set()
    for (item, function), tests in pairs.items():
        for words, outcomes in result.caught.get(function, {}).items():
            said = {outcomes.get(test, "") for test in tests}
            noticing |= {(item, test) for test in tests if outcomes.get(test) in FAILED}
            if not said.isdisjoint(FAILED):
                noticing.add((item, function))
            elif words not in same.get(function, {}):
                if "passed" in said:
                    found.append(f"{item}: its tests run {function}, and do not notice {words}")
                elif set(outcomes.values()).isdisjoint(FAILED):
                    found.append(f"{item}: no test runs the part of {function} with {words}")
    for item, entry in index.entries.items():
        for code in entry.function if entry.test else []:
            if (item, code.name) not in noticing:
                found.append(f"{item}: of {code.name} no altered copy is noticed")
        for test in map(test_id, entry.test if entry.function else []):
            if (item, test) not in noticing:
                found.append(f"{item}: {test} notices nothing")
    for function, reasoned in same.items():
        for words in reasoned:
            seen = result.caught.get(function, {}).get(words)
            if seen is None:
                found.append(f"{REASONS}: {function} is not altered with {words}")
            elif not set(seen.values()).isdisjoint(FAILED):
                found.append(f"{REASONS}: {function} with {words} is caught, its reason is wrong")
    return found


# --- running -----------------------------------------------------------------------------------


class Job(NamedTuple):
    """Tests to run on an altered copy; on the original if there is none."""

    function: str
    mutant: Mutant | None
    tests: list[str]


def run(jobs: Iterable[Job], root: Path = ROOT, at_once: int = AT_ONCE) -> Iterator[tuple]:
    """Run jobs in processes of their own; yield each job with what its tests said.

    The processes are copies of this one, which has imported everything slow but no part of the
    library. A process that hangs is ended, and the test it was in counts as failed.
    """
    for name in SHARED:
        importlib.import_module(name)
    _settle_hypothesis()
    todo = list(jobs)[::-1]
    running: dict[Any, tuple[Job, Any, dict[str, str], float]] = {}
    try:
        while todo or running:
            while todo and len(running) < at_once:
                job = todo.pop()
                end, start = multiprocessing.Pipe(duplex=False)
                process = multiprocessing.get_context("fork").Process(
                    target=_child, args=(job, root, start)
                )
                process.start()
                start.close()
                running[end] = job, process, {}, time.monotonic()
            ready: list[Any] = multiprocessing.connection.wait(list(running), timeout=1.0)
            for end in ready:
                job, process, outcomes, _ = running[end]
                try:
                    test, how = end.recv()
                    outcomes[test] = how
                    running[end] = job, process, outcomes, time.monotonic()
                except EOFError:
                    process.join()
                    del running[end]
                    yield from _finished(job, outcomes, "error", todo)
            for end, (job, process, outcomes, since) in list(running.items()):
                if time.monotonic() - since > 30 * SECONDS:
                    process.kill()
                    process.join()
                    del running[end]
                    yield from _finished(job, outcomes, "time", todo)
    finally:
        for _, process, _, _ in running.values():
            process.kill()


def _finished(job: Job, outcomes: dict[str, str], how: str, todo: list[Job]) -> Iterator[tuple]:
    """Yield a job that is done; if it died in a test, run the tests after it again."""
    left = [test for test in job.tests if test not in outcomes]
    if left:
        outcomes[left[0]] = how
        if left[1:]:
            todo.append(job._replace(tests=left[1:]))
    yield job, outcomes


def _settle_hypothesis() -> None:
    from hypothesis import HealthCheck, Phase, settings

    phases = (Phase.explicit, Phase.generate)
    settings.register_profile(
        "mutants", derandomize=True, database=None, deadline=None, phases=phases,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    settings.load_profile("mutants")


def _child(job: Job, root: Path, answers: Any) -> None:
    """Run the tests of a job and send (test, how it failed) after each."""
    import pytest

    sys.dont_write_bytecode = True
    os.chdir(root)
    sys.path[:0] = [str(root)]
    threadpool_limits(1)
    ran: list[bool] = []
    if job.mutant is not None:
        job.mutant.change()
        sys.meta_path.insert(0, _Loader(job.mutant.module, root, lambda: ran.append(True)))
    unused = [part for name in UNUSED for part in ("-p", f"no:{name}")]
    options = ["-q", "--assert=plain", "--rootdir", str(root), *unused]
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        for test in job.tests:
            watch = _Watch()
            ran.clear()
            code = pytest.main([*options, test], plugins=[watch])
            if not watch.how and code != pytest.ExitCode.OK:
                watch.how = "error"  # it was not found, or could not be imported
            answers.send((test, watch.how or ("passed" if ran else "")))
    answers.close()
    os._exit(0)


class _Loader(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives the altered module to whoever imports it."""

    def __init__(self, module: Module, root: Path, note: Callable[[], None]) -> None:
        self.module, self.note = module, note
        parts = module.path.relative_to(root).with_suffix("").parts
        self.name = ".".join(parts).removesuffix(".__init__")

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Answer for one name only."""
        if name != self.name:
            return None
        return importlib.util.spec_from_file_location(name, self.module.path, loader=self)

    def exec_module(self, module: Any) -> None:
        """Run the altered code in the module."""
        for name, hidden in mutations.WRONG.items():
            module.__dict__[hidden] = getattr(mutations, name)
        module.__dict__[mutations.RAN] = self.note
        tree = ast.fix_missing_locations(copy.deepcopy(self.module.tree))
        exec(compile(tree, str(self.module.path), "exec"), module.__dict__)


class _OutOfTime(BaseException):
    """A test ran too long."""


class _Watch:
    """A plugin for pytest: after the first failure the session ends; a slow test is ended."""

    def __init__(self) -> None:
        self.how = ""

    def pytest_runtest_setup(self, item: Any) -> None:
        """Leave out what follows a failure; start the clock at the first."""
        import pytest

        if self.how:
            pytest.skip("caught already")
        if signal.getsignal(signal.SIGPROF) is not _out_of_time:
            signal.signal(signal.SIGPROF, _out_of_time)
            signal.setitimer(signal.ITIMER_PROF, SECONDS)

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        """Note how a test failed."""
        import pytest

        if call.excinfo is None or self.how:
            return
        kind = call.excinfo.type
        if issubclass(kind, _OutOfTime):
            self.how = "time"
        elif issubclass(kind, AssertionError | pytest.fail.Exception):
            self.how = "value"
        elif not issubclass(kind, pytest.skip.Exception):
            self.how = "error"

    def pytest_sessionfinish(self) -> None:
        """Stop the clock."""
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)


def _out_of_time(*_: Any) -> None:
    raise _OutOfTime


# --- the command -------------------------------------------------------------------------------


def jobs_for(
    pairs: dict[Pair, list[str]], result: Result, root: Path = ROOT
) -> tuple[list[Job], Result]:
    """Return what has to be run, and what of a result is still good."""
    tests: dict[str, list[str]] = {}
    for pair, named in pairs.items():
        both = [*tests.get(pair.function, []), *named]
        tests[pair.function] = list(dict.fromkeys(both))
    everything = _names(pairs)
    old = {name for name in everything if result.is_old(name, root)}
    kept = Result({}, {name: fingerprint(name, root) for name in everything})
    jobs = []
    for function, named in tests.items():
        before = {} if function in old else result.caught.get(function, {})
        kept.caught[function] = {}
        for words, mutant in mutations.mutants(function, root).items():
            known = before.get(words, {})
            kept.caught[function][words] = {
                test: known[test] for test in named if test in known and test not in old
            }
            left = [test for test in named if test not in kept.caught[function][words]]
            if left:
                jobs.append(Job(function, mutant, left))
    return jobs, kept


def carry_out(jobs: list[Job], result: Result, root: Path = ROOT) -> list[str]:
    """Run jobs and add what they say to a result; return tests that fail on the original."""
    tests = list(dict.fromkeys(test for job in jobs for test in job.tests))
    unaltered = [Job("", None, tests[i::AT_ONCE]) for i in range(AT_ONCE) if tests[i::AT_ONCE]]
    failing = [t for _, said in run(unaltered, root) for t, how in said.items() if how in FAILED]
    if failing:
        return [f"{test} fails on the original" for test in sorted(failing)]
    for done, (job, outcomes) in enumerate(run(jobs, root), start=1):
        assert job.mutant is not None
        result.caught[job.function][job.mutant.words] |= outcomes
        print(f"\r{done} of {len(jobs)} altered copies", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return []


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="python tools/mutants.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="function, or the end of its name")
    parser.add_argument("--all", action="store_true", help="also what has not changed")
    options = parser.parse_args(arguments)
    index = Index(root)
    same = reasons(root)
    pairs = wanted(index)
    if options.names:
        ends = tuple(options.names)
        pairs = {pair: tests for pair, tests in pairs.items() if pair.function.endswith(ends)}
    fresh = options.all or bool(options.names)
    jobs, result = jobs_for(pairs, Result() if fresh else Result.read(root / STORED), root)
    said = carry_out(jobs, result, root)
    if options.names:
        print("\n".join(said))
        for function, copies in result.caught.items():
            print(function)
            for words, outcomes in copies.items():
                print(f"  {words}")
                for test, how in outcomes.items():
                    print(f"    {how or '-':7} {test.split('::')[1]}")
        return bool(said)
    if not said:
        result.write(root / STORED)
        said = problems(index, result, same, root)
    number = sum(map(len, result.caught.values()))
    print("\n".join(said) or f"{len(result.caught)} functions, {number} altered copies, all caught")
    return bool(said)


if __name__ == "__main__":
    sys.exit(main())
