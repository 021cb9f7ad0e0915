"""Altered copies of a function: each kind of change, what is left alone, wrong results."""

import ast
from dataclasses import dataclass
from typing import NamedTuple

import mutations
import numpy as np
import pytest


def tree(root, library):
    (root / "mlbook").mkdir(parents=True)
    (root / "mlbook" / "forms.py").write_text(library)
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
    if a - b > 1e-9 * (a + 1):
        return b
    with progress(a + 1):
        return a
'''


def test_refusals_warnings_tolerances_and_defaults_are_left_alone(tmp_path):
    results = {f"return {name} → {wrong}" for name in "ab" for wrong in ("grown", "turned")}
    assert set(changes(ASIDE, tmp_path)) == results


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
