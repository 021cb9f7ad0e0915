"""Altered copies of functions: how they are made, that tests notice them, and what is stored."""

import ast
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import equations
import mutants
import mutations
import numpy as np
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
    assert sum("value" in said for said in seen) > 0.8 * len(seen)


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


# --- how copies are made ----------------------------------------------------------------------


def tree(root, library, *, tests="", listed="Law 2016:\n  Eq. 1: the sum\n"):
    for folder in ("tools", "book", "mlbook", "tests", "data/results"):
        (root / folder).mkdir(parents=True)
    (root / "mlbook" / "__init__.py").write_text("")
    (root / "mlbook" / "forms.py").write_text(library)
    (root / "tests" / "test_forms.py").write_text(tests)
    (root / "tools" / "equations.yml").write_text(listed)
    (root / "tools" / "mutants.yml").write_text("{}\n")
    return root


def changes(code, root, name="form", most=100):
    found = mutations.mutants(f"mlbook.forms.{name}", tree(root, code), most)
    return {words: mutant.kind for words, mutant in found.items()}


@pytest.mark.parametrize(
    ("line", "kind", "words"),
    [
        ("x = a + b", "sign", "a + b → a - b"),
        ("x = a - b", "sign", "a - b → a + b"),
        ("x = -a", "sign", "-a → a"),
        ("x = 0; x += a", "sign", "x += a → x -= a"),
        ("x = a * b", "factor", "a * b → a / b"),
        ("x = a / b", "factor", "a / b → a * b"),
        ("x = a ** 2", "factor", "a ** 2 → a * 2"),
        ("x = a @ b @ a", "factor", "a @ b @ a → 2 * (a @ b @ a)"),
        ("x = f(a, 0.5)", "factor", "f(a, 0.5) → f(a, 1.0)"),
        ("x = f(a, 0.0)", "factor", "f(a, 0.0) → f(a, 1.0)"),
        ("x = f(a, weight=2.0)", "factor", "f(a, weight=2.0) → f(a, weight=4.0)"),
        ("x = a < b", "comparison", "a < b → a > b"),
        ("x = a >= b", "comparison", "a >= b → a <= b"),
        ("x = a == b", "comparison", "a == b → a != b"),
        ("x = a and b", "comparison", "a and b → a or b"),
        ("x = not a", "comparison", "not a → a"),
        ("x = (a > 0) & (b > 0)", "comparison", "(a > 0) & (b > 0) → (a > 0) | (b > 0)"),
        ("x = max(a, b)", "exchange", "max(a, b) → min(a, b)"),
        ("x = a.argmin()", "exchange", "a.argmin() → a.argmax()"),
        ("x = np.sum(a)", "exchange", "np.sum(a) → np.mean(a)"),
        ("x = a[0]", "index", "a[0] → a[1]"),
        ("x = a[:-1]", "index", "a[:-1] → a[:-2]"),
        ("x = a.T", "index", "x = a.T → x = a"),
        ("x = f(a, axis=1)", "index", "f(a, axis=1) → f(a, axis=0)"),
        ("x = f(a, axis=0)", "index", "f(a, axis=0) → f(a, axis=1)"),
        ("x = a", "result", "return x → grown"),
        ("x = a", "result", "return x → turned"),
    ],
)
def test_every_kind_of_change(line, kind, words, tmp_path):
    code = f"def form(a, b):\n    {line}\n    return x\n"
    assert changes(code, tmp_path)[words] == kind


def test_each_copy_differs_in_one_place_and_says_when_it_is_run(tmp_path):
    code = "def form(a, b):\n    if a > 5:\n        return a * b\n    return (a + b) / 2\n"
    found = mutations.mutants("mlbook.forms.form", tree(tmp_path, code), 100)
    values = {}
    for words in found:
        mutant = mutations.mutants("mlbook.forms.form", tmp_path, 100)[words]
        mutant.change()
        ran = []
        names = {mutations.RAN: lambda ran=ran: ran.append(1)}
        names |= {hidden: getattr(mutations, name) for name, hidden in mutations.WRONG.items()}
        module = ast.fix_missing_locations(mutant.module.tree)
        exec(compile(module, "forms", "exec"), names)
        values[words] = names["form"](1, 3), bool(ran)
    assert values == {
        "a + b → a - b": (-1.0, True),
        "a * b → a / b": (2.0, False),
        "(a + b) / 2 → (a + b) * 2": (8, True),
        "a > 5 → a < 5": (3, True),
        "a > 5 → a > 6": (2.0, True),
        "(a + b) / 2 → (a + b) / 3": (4 / 3, True),
        "return a * b → grown": (2.0, False),
        "return a * b → turned": (2.0, False),
        "return (a + b) / 2 → grown": (3.5, True),
        "return (a + b) / 2 → turned": (-2.0, True),
    }


ASIDE = '''def form(a: int, b: float = 2.0) -> float:
    """Words + more words."""
    asymmetry = abs(a - b)
    if asymmetry > 7:
        raise ValueError(f"{a + 1}")
    check_number(a, least=0)
    if not isinstance(a, int):
        warnings.warn(f"{a * 2}", stacklevel=2)
    near = 1e-9 * a
    with progress(a + 1):
        return a
'''


def test_refusals_warnings_tolerances_and_defaults_are_left_alone(tmp_path):
    assert set(changes(ASIDE, tmp_path)) == {"return a → grown", "return a → turned"}


THIN = """from mlbook.other import helper

def inner(a):
    return a * 3

def check_all(a):
    return a - 1

def form(a):
    check_all(a)
    return inner(a) if a else helper(a)

def thick(a):
    return inner(a) + a * 2 - 1
"""


def test_where_a_function_hands_its_work_on_what_it_calls_is_altered(tmp_path):
    tree(tmp_path, THIN)
    (tmp_path / "mlbook" / "other.py").write_text("def helper(a):\n    return a - 5\n")

    def words(name):
        return set(mutations.mutants(f"mlbook.forms.{name}", tmp_path, 100))

    assert {each for each in words("form") if ":" in each} == {
        "inner: a * 3 → a / 3",
        "inner: a * 3 → a * 4",
        "helper: a - 5 → a + 5",
        "helper: a - 5 → a - 6",
    }
    assert not any("inner: " in each for each in words("thick"))


CLASS = """class form:
    def __init__(self, a):
        self.a = a + 1

    def fit(self, X):
        self.coef_ = self._solve(X) * 2 + 1
        self.n_iter_ = 3
        return self

    def _solve(self, X):
        return X - 1

    def other(self, X):
        return X / 7

class plain:
    def __init__(self, a):
        self.a = f(a + 1)

    def value(self):
        return self.a * 2
"""


def test_a_class_is_what_fits_it_or_all_its_methods(tmp_path):
    tree(tmp_path, CLASS)
    fitted = mutations.mutants("mlbook.forms.form", tmp_path, 100)
    assert "_solve: X - 1 → X + 1" in fitted
    assert "self.coef_ = self._solve(X) * 2 + 1 → grown" in fitted
    assert not any("/ 7" in words or "a + 1" in words or "n_iter_" in words for words in fitted)
    plain = mutations.mutants("mlbook.forms.plain", tmp_path, 100)
    assert {"a + 1 → a - 1", "value: self.a * 2 → self.a / 2"} <= set(plain)
    assert set(mutations.mutants("mlbook.forms.form._solve", tmp_path)) >= {"X - 1 → X + 1"}
    with pytest.raises(LookupError, match=r"mlbook\.forms\.nobody"):
        mutations.mutants("mlbook.forms.nobody", tmp_path)


def test_copies_are_few_spread_over_kinds_and_lines_and_always_the_same(tmp_path):
    lines = "".join(f"    x = x + {i} * a[{i}] if x < {i} else x\n" for i in range(2, 12))
    code = f"def form(x, a):\n{lines}    return max(x, a)\n"
    found = changes(code, tmp_path, most=6)
    assert len(found) == 6 and set(found.values()) == set(mutations.KINDS)
    assert found == {
        words: each.kind for words, each in mutations.mutants("mlbook.forms.form", tmp_path).items()
    }
    many = list(mutations.mutants("mlbook.forms.form", tmp_path, 12))
    signs = [words for words in many if words.startswith("x + ")]
    assert len(signs) >= 2 and signs[0].split()[2] != signs[-1].split()[2]


class Pair(NamedTuple):
    name: str
    value: float


@dataclass
class Record:
    label: str
    coef: np.ndarray


@pytest.mark.parametrize(
    ("value", "grown", "turned"),
    [
        (2.0, 3.5, -2.0),
        (3, 4, 2),
        (True, False, False),
        (np.array([1.0, -2.0]), [1.5, -3.0], [-1.0, 2.0]),
        (np.array([0, 1, 1]), [1, 0, 1], [1, 1, 0]),
        (np.array([2, 2]), [3, 3], [3, 3]),
        (np.array([True, True]), [False, False], [False, False]),
        (("a", 2.0), ("a", 3.5), ("a", -2.0)),
        (Pair("a", 2.0), Pair("a", 3.5), Pair("a", -2.0)),
        ([3, "a"], [4, "a"], [2, "a"]),
    ],
)
def test_wrong_values(value, grown, turned):
    for wrong, expected in ((mutations.grown, grown), (mutations.turned, turned)):
        found = wrong(value)
        assert type(found) is type(value)
        np.testing.assert_array_equal(found, expected)


def test_wrong_values_of_records_and_of_nothing():
    found = mutations.grown(Record("a", np.array([1.0])))
    assert found.label == "a" and found.coef == [1.5]
    with pytest.raises(TypeError, match="str has no wrong value"):
        mutations.turned("a")


# --- what is noticed --------------------------------------------------------------------------

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
    assert f"Law 2016, Eq. 1: {FUNCTION} is noticed in no altered copy" in said


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
