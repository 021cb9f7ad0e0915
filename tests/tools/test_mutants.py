"""Altered copies of what the equation index names: tests notice them, and this is stored."""

import json
import os
import subprocess
import sys
from pathlib import Path

import equations
import mutants
import mutations
import pytest
from mutants import Result

ROOT = Path(__file__).resolve().parents[2]
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="copies run in forked processes")


def run_code(code, *arguments, cwd):
    """Run Python in a process of its own, with the tools on its path."""
    command = [sys.executable, "-c", code, *arguments]
    paths = os.environ | {"PYTHONPATH": str(ROOT / "tools")}
    return subprocess.run(command, cwd=cwd, env=paths, capture_output=True, text=True)


# --- the stored result ------------------------------------------------------------------------


def test_the_stored_result_is_complete_and_everything_is_caught():
    """Out of date? Run `make mutants`: it runs only what has changed."""
    index, result = equations.Index(), Result.read(ROOT / mutants.STORED)
    assert mutants.problems(index, result, mutants.reasons()) == []
    said = mutants.counts(index, result)
    for item, entry in index.entries.items():
        if entry.function and entry.test:
            caught, ran = said[item].split(" altered")[0].split(" of ")
            assert caught == ran and said[item].endswith("caught")


def test_few_copies_are_said_to_compute_the_same():
    reasons = mutants.reasons()
    copies = sum(map(len, Result.read(ROOT / mutants.STORED).caught.values()))
    assert copies > 230
    assert sum(map(len, reasons.values())) < 0.08 * copies
    assert all(len(why) > 20 for found in reasons.values() for why in found.values())


def test_most_copies_are_caught_by_a_wrong_value_not_by_a_crash():
    caught = Result.read(ROOT / mutants.STORED).caught
    seen = [set(said.values()) for copies in caught.values() for said in copies.values()]
    assert sum("value" in said for said in seen) > 0.75 * len(seen)


@forks
@pytest.mark.slow
def test_a_handful_of_functions_anew():
    """The same copies are caught by the same tests as in the stored result."""
    names = ("partition_loss", "equivalence_matrix", "cluster_slaves", "normalized_cut_value")
    code = (
        "import json, sys, equations, mutants\n"
        "pairs = mutants.wanted(equations.Index())\n"
        "pairs = {p: tests for p, tests in pairs.items() if p.function.endswith(tuple(sys.argv))}\n"
        "jobs, result = mutants.jobs_for(pairs, mutants.Result())\n"
        "assert mutants.carry_out(jobs, result) == []\n"
        "print(json.dumps(result.caught))"
    )
    done = run_code(code, *names, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    stored = Result.read(ROOT / mutants.STORED).caught
    anew = json.loads(done.stdout)
    assert len(anew) == len(names)
    for function, copies in anew.items():
        assert copies == stored[function]


# --- what is noticed --------------------------------------------------------------------------


def tree(root, library, *, tests="", listed="Law 2016:\n  Eq. 1: the sum\n"):
    for folder in ("tools", "book", "mlbook", "tests", "data/results"):
        (root / folder).mkdir(parents=True)
    (root / "mlbook" / "__init__.py").write_text("")
    (root / "mlbook" / "forms.py").write_text(library)
    (root / "tests" / "test_forms.py").write_text(tests)
    (root / "tools" / "equations.yml").write_text(listed)
    (root / "tools" / "mutants.yml").write_text("{}\n")
    return root


LIBRARY = '''def total(a, b):
    """The sum (Law 2016, Eq. 1)."""
    if a > 100:
        return a * b
    return a + b
'''
TESTS = """import pytest
from mlbook.forms import total

@pytest.mark.equation("Law 2016, Eq. 1")
def test_total():
    assert total(1, 2) == 3
    assert total(200, 2) == 400
"""
FUNCTION, TEST = "mlbook.forms.total", "tests/test_forms.py::test_total"
COPIES = [
    "a + b → a - b",
    "a * b → a / b",
    "a > 100 → a < 100",
    "a > 100 → a > 101",
    "return a * b → turned",
    "return a + b → turned",
]


def noticed(root, outcomes=None, *, same=None, library=LIBRARY, tests=TESTS):
    """What is said of a stored result, by default of a perfect one."""
    tree(root, library, tests=tests)
    names = (FUNCTION, TEST)
    result = Result(
        {FUNCTION: {words: {TEST: "value"} for words in COPIES} | (outcomes or {})},
        {name: mutants.fingerprint(name, root) for name in names},
    )
    result.write(root / mutants.STORED)
    assert Result.read(root / mutants.STORED) == result
    return mutants.problems(equations.Index(root), result, same or {}, root)


def test_a_damaged_result_is_named(tmp_path):
    (tmp_path / "mutants.json").write_text('{"tests": [')
    with pytest.raises(ValueError, match=r"mutants\.json is damaged .*`make mutants ARGS=--all`"):
        Result.read(tmp_path / "mutants.json")


def test_a_perfect_result_has_no_problems(tmp_path):
    assert noticed(tmp_path) == []
    assert list(mutations.mutants(FUNCTION, tmp_path)) == COPIES
    result = Result.read(tmp_path / mutants.STORED)
    (said,) = mutants.counts(equations.Index(tmp_path), result, tmp_path).values()
    assert said == "6 of 6 altered copies caught"
    sentence = mutants.summary(result, {})
    assert "Of 6 altered copies of 1 functions the tests caught all, 6 of them by a wr" in sentence


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        ("passed", "Law 2016, Eq. 1: its tests run mlbook.forms.total, and do not notice a + b → "),
        ("", "Law 2016, Eq. 1: no test runs the part of mlbook.forms.total with a + b → a - b"),
    ],
)
def test_a_copy_that_goes_unnoticed_is_named(how, problem, tmp_path):
    (said,) = noticed(tmp_path, {COPIES[0]: {TEST: how}})
    assert said.startswith(problem)
    result = Result.read(tmp_path / mutants.STORED)
    (said,) = mutants.counts(equations.Index(tmp_path), result, tmp_path).values()
    assert said.startswith("5 of 6" if how else "5 of 5")


def test_a_reason_excuses_a_copy_and_must_be_right(tmp_path):
    same = {FUNCTION: {COPIES[0]: "It computes the same."}}
    assert noticed(tmp_path / "a", {COPIES[0]: {TEST: "passed"}}, same=same) == []
    (said,) = noticed(tmp_path / "b", same=same)
    assert "is caught, its reason is wrong" in said
    (said,) = noticed(tmp_path / "c", same={FUNCTION: {"a → b": "It computes the same."}})
    assert "is not altered with a → b" in said


def test_a_test_that_notices_nothing_is_named(tmp_path):
    blind = {words: {TEST: ""} for words in COPIES}
    said = noticed(tmp_path, blind)
    assert f"Law 2016, Eq. 1: {TEST} notices nothing" in said
    assert f"Law 2016, Eq. 1: of {FUNCTION} no altered copy is noticed" in said


@pytest.mark.parametrize(
    ("part", "old", "new", "name"),
    [
        ("mlbook/forms.py", "a + b", "a + b + 0", FUNCTION),
        ("mlbook/forms.py", "The sum", "Their sum", None),
        ("tests/test_forms.py", "== 3", "!= 4", TEST),
        ("tests/test_forms.py", "assert total(1", "# three\n    assert total(1", None),
    ],
)
def test_code_that_has_changed_is_named_and_words_are_not(part, old, new, name, tmp_path):
    assert noticed(tmp_path) == []
    file = tmp_path / part
    file.write_text(file.read_text().replace(old, new))
    result = Result.read(tmp_path / mutants.STORED)
    said = mutants.problems(equations.Index(tmp_path), result, {}, tmp_path)
    assert said == (
        [f"{name} has changed since it was altered: run `make mutants`"] if name else []
    )
    shown = mutants.counts(equations.Index(tmp_path), result, tmp_path).values()
    assert [each.endswith("earlier version of the code") for each in shown] == [name is not None]


def test_only_what_has_changed_is_run_again(tmp_path):
    assert noticed(tmp_path) == []
    pairs, result = (
        mutants.wanted(equations.Index(tmp_path)),
        Result.read(tmp_path / mutants.STORED),
    )
    assert mutants.jobs_for(pairs, result, tmp_path) == ([], result)
    file = tmp_path / "mlbook" / "forms.py"
    file.write_text(file.read_text().replace("a * b", "b * a"))
    jobs, kept = mutants.jobs_for(pairs, result, tmp_path)
    assert [job.tests for job in jobs] == [[TEST]] * 6
    assert kept.caught[FUNCTION]["b * a → b / a"] == {}


# --- the whole tool on a made-up library ------------------------------------------------------


def run_tool(root, *arguments, seconds=20):
    code = (
        "import sys, mutants; from pathlib import Path\n"
        f"mutants.SHARED, mutants.SECONDS = (), {seconds}\n"
        "sys.exit(mutants.main(sys.argv[2:], Path(sys.argv[1])))"
    )
    return run_code(code, str(root), *arguments, cwd=root)


@forks
@pytest.mark.slow
def test_a_right_test_catches_everything_and_the_result_is_stored(tmp_path):
    tests = TESTS + "    assert total(101, 2) == 202\n    assert total(100, 2) == 102\n"
    tree(tmp_path, LIBRARY, tests=tests)
    done = run_tool(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 functions, 6 altered copies, all caught" in done.stdout
    stored = Result.read(tmp_path / mutants.STORED)
    assert list(stored.caught[FUNCTION]) == COPIES
    assert all(said == {TEST: "value"} for said in stored.caught[FUNCTION].values())
    before = (tmp_path / mutants.STORED).read_bytes()
    again = run_tool(tmp_path)
    assert "all caught" in again.stdout and " of 6" not in again.stderr
    assert (tmp_path / mutants.STORED).read_bytes() == before


@forks
@pytest.mark.slow
def test_a_weak_test_and_one_that_never_calls_the_function_are_found(tmp_path):
    tests = TESTS + (
        '\n@pytest.mark.equation("Law 2016, Eq. 1")\n'
        "def test_of_something_else():\n    assert 1 + 2 == 3\n"
    )
    tree(tmp_path, LIBRARY, tests=tests)
    done = run_tool(tmp_path)
    assert done.returncode == 1
    assert "do not notice a > 100 → a > 101" in done.stdout
    assert "test_forms.py::test_of_something_else notices nothing" in done.stdout
    shown = run_tool(tmp_path, "total").stdout
    assert "a > 100 → a > 101\n    passed  test_total\n" in shown
    assert "-       test_of_something_else" in shown


@forks
@pytest.mark.slow
def test_a_copy_that_never_ends_or_dies_is_caught_and_a_failing_test_is_refused(tmp_path):
    library = '''import os

def total(a, b):
    """The sum (Law 2016, Eq. 1)."""
    while b < 0:
        b = b + 1
        a = a - 1
    if a == 77:
        os._exit(3)
    return a + b
'''
    tests = TESTS.replace("total(200, 2) == 400", "total(5, -2) == 3")
    tree(tmp_path / "a", library, tests=tests)
    done = run_tool(tmp_path / "a", seconds=1)
    said = Result.read(tmp_path / "a" / mutants.STORED).caught[FUNCTION]
    assert said["b + 1 → b - 1"] == {TEST: "time"}, done.stdout + done.stderr
    assert said["a == 77 → a != 77"] == {TEST: "error"}
    tree(tmp_path / "b", LIBRARY, tests=TESTS.replace("== 3", "== 4"))
    done = run_tool(tmp_path / "b")
    assert done.returncode == 1 and f"{TEST} fails on the original" in done.stdout
    assert not (tmp_path / "b" / mutants.STORED).exists()
