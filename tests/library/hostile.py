"""Hostile and equivalent input for every public name, and what comes of it.

`python tests/library/hostile.py` runs every case and prints how many ended how;
`python tests/library/hostile.py NAME` those of the names that contain NAME, and what went wrong.

Each argument of a valid call (`hostile_calls.py`) is replaced by what people pass by mistake. A
mutation is one of three kinds. "same" is the same input in another dress: the result must be the
same too. "refuse" cannot mean anything: it must be refused. "fine" is unusual but may be meant:
a finite result will do. A clear error is always allowed.
"""

from __future__ import annotations

import inspect
import os
import re
import signal
import sys
import traceback
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, is_dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

OUTCOMES = ("right", "clear error", "scikit-learn's error", "obscure", "silent", "hang")
BAD = OUTCOMES[3:]
SECONDS = 5.0  # of the processor, for one case


# --- arguments -------------------------------------------------------------------------------


@dataclass
class Argument:
    """A valid value, and how to spoil it."""

    value: Any
    allow: tuple[str, ...] = ()  # mutations that mean something here: any finite result will do

    def mutations(self) -> Iterator[tuple[str, str, Any, float]]:
        """Yield name, kind, mutated value, and tolerance."""
        for name, kind, value, tolerance in self.spoiled():
            yield name, "fine" if name in self.allow else kind, value, tolerance

    def spoiled(self) -> Iterator[tuple[str, str, Any, float]]:
        return iter(())

    def fresh(self) -> Any:
        """A copy that the call may keep."""
        return _copy(self.value)


def _copy(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, list):
        return [_copy(item) for item in value]
    return value


class Fixed(Argument):
    """An argument that stays as it is."""


class Setting(Argument):
    """A number, a choice, a switch: anything that is not data."""

    def spoiled(self) -> Iterator[tuple[str, str, Any, float]]:
        value = self.value
        if value is not None:
            yield "None", "refuse", None, 0
        yield "nonsense", "refuse", "nonsense", 0
        yield "object", "refuse", object(), 0
        yield "empty list", "refuse", [], 0
        yield "array", "refuse", np.array([1.5, 2.5]), 0
        yield "matrix", "refuse", np.full((2, 5), 0.5), 0
        yield "dict", "refuse", {"a": 1}, 0
        yield "NaN", "refuse", float("nan"), 0
        yield "complex", "refuse", 1 + 2j, 0
        yield "-1", "refuse", -1, 0
        yield "inf", "refuse", float("inf"), 0
        yield "-inf", "refuse", float("-inf"), 0
        yield "bytes", "refuse", b"1", 0
        yield "type", "refuse", int, 0
        yield "NA", "refuse", pd.NA, 0
        yield "0", "fine", 0, 0
        yield "1.5", "fine", 1.5, 0
        yield "text of a number", "fine", "1", 0
        yield "True", "fine", True, 0
        yield "1e308", "fine", 1e308, 0
        yield "1e-310", "fine", 1e-310, 0
        if isinstance(value, bool):
            yield "numpy bool", "same", np.bool_(value), 1e-9
        elif isinstance(value, int):
            yield "int64", "same", np.int64(value), 1e-9
            yield "uint16", "same", np.uint16(value), 1e-9
        elif isinstance(value, float):
            yield "float64", "same", np.float64(value), 1e-9


class Vector(Argument):
    """Numbers in a row, given as a list or an array."""

    def spoiled(self) -> Iterator[tuple[str, str, Any, float]]:
        yield from _arrays(np.asarray(self.value))
        yield "-1", "refuse", -1, 0
        yield "negative", "fine", -np.asarray(self.value), 0
        yield "too short", "refuse", np.asarray(self.value)[:-1], 0
        yield "Series", "same", pd.Series(np.asarray(self.value)), 1e-9


class Rows(Argument):
    """A matrix or a stack of matrices."""

    def spoiled(self) -> Iterator[tuple[str, str, Any, float]]:
        A = np.asarray(self.value)
        yield from _arrays(A)
        yield "one row", "fine", A[:1], 0
        yield "a row less", "fine", A[:-1], 0
        yield "a column less", "fine", A[..., :-1], 0
        yield "a column more", "fine", np.concatenate([A, A[..., :1]], axis=-1), 0
        yield "no column", "refuse", A[..., :0], 0
        yield "equal rows", "fine", np.repeat(A[:1], len(A), axis=0), 0
        if A.ndim != 2:
            return
        frame = pd.DataFrame(A, columns=[f"f{j}" for j in range(A.shape[1])])
        yield "DataFrame", "same", frame, 1e-9
        yield "DataFrame, numbered", "same", pd.DataFrame(A), 1e-9
        yield "DataFrame, nullable", "same", frame.astype("Float64"), 1e-9
        yield "DataFrame, object", "same", frame.astype(object), 1e-9
        yield "DataFrame, categorical", "same", frame.astype("category"), 1e-9
        yield "DataFrame, float32", "same", frame.astype(np.float32), 1e-2
        yield "DataFrame, index", "same", frame.set_index(np.arange(len(A))[::-1]), 1e-9
        holed = frame.astype("Float64")
        holed.iloc[1, 0] = pd.NA
        yield "DataFrame, NA", "refuse", holed, 0
        yield "DataFrame, text", "refuse", frame.assign(f0="red"), 0
        yield "DataFrame, dates", "refuse", frame.assign(f0=pd.Timestamp("2020")), 0
        for kind in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia"):
            yield f"{kind}_array", "same", getattr(sp, f"{kind}_array")(A), 1e-9
            yield f"{kind}_matrix", "same", getattr(sp, f"{kind}_matrix")(A), 1e-9
        holed = sp.csr_array(A.astype(float))
        holed.data[0] = np.nan
        yield "sparse NaN", "refuse", holed, 0
        yield "sparse complex", "refuse", sp.csr_array(A * (1 + 1j)), 0


class Scaled(Rows):
    """Rows whose unit does not matter: the result is the same in any other."""

    def mutations(self) -> Iterator[tuple[str, str, Any, float]]:
        for name, kind, value, tolerance in super().mutations():
            unit = name.startswith("times")
            yield name, "same" if unit else kind, value, 1e-6 if unit else tolerance


class Labels(Argument):
    """Labels of points."""

    renamed = True  # the names of the labels do not matter

    def spoiled(self) -> Iterator[tuple[str, str, Any, float]]:
        y = np.asarray(self.value)
        name = "same" if self.renamed else "fine"
        for kind in (np.int8, np.uint8, np.int32, np.uint64, ">i4", np.float64, object):
            yield f"dtype {np.dtype(kind)}", "same", y.astype(kind), 1e-9
        yield "list", "same", y.tolist(), 1e-9
        yield "tuple", "same", tuple(y.tolist()), 1e-9
        yield "read-only", "same", _read_only(y), 1e-9
        yield "strided", "same", np.repeat(y, 2, axis=0)[::2], 1e-9
        yield "empty mask", "same", np.ma.masked_array(y, np.zeros(y.shape, bool)), 1e-9
        yield "holes", name, 3 + 14 * y, 1e-9
        yield "huge", name, y.astype(np.int64) + 2**61, 1e-9
        yield "uint64 from 2^63", name, y.astype(np.uint64) + np.uint64(2**63), 1e-9
        yield "strings", name, np.array([f"a{v}" for v in y.ravel()]).reshape(y.shape), 1e-9
        yield "-1 among", "fine", np.where(np.arange(y.size).reshape(y.shape) == 1, -1, y), 0
        yield "all equal", "fine", np.zeros_like(y), 0
        yield "all different", "fine", np.arange(y.size).reshape(y.shape), 0
        second = np.arange(y.size).reshape(y.shape) == 1
        yield "NaN among", "refuse", np.where(second, np.nan, y), 0
        yield "inf among", "refuse", np.where(second, np.inf, y), 0
        yield "None among", "refuse", np.where(second, None, y), 0
        yield "NA among", "refuse", np.where(second, pd.NA, y.astype(object)), 0
        yield "-5 among", "refuse", np.where(second, -5, y), 0
        yield "halves", "refuse", y + 0.5, 0
        yield "text among", "refuse", np.where(second, "b", y.astype(object)), 0
        yield "masked", "refuse", np.ma.masked_array(y, second), 0
        yield "complex", "refuse", y + 1j, 0
        yield "too short", "refuse", y[:-1], 0
        yield "too long", "refuse", np.concatenate([y, y[-1:]]), 0
        yield "empty", "refuse", y[:0], 0
        yield "a dimension more", "refuse", np.stack([y, y], axis=-1), 0
        yield "number", "refuse", 3, 0
        yield "None", "refuse", None, 0
        yield "text", "refuse", "nonsense", 0
        yield "dict", "refuse", {"a": 1}, 0
        yield "object", "refuse", object(), 0
        if y.ndim == 1:
            yield "Series", "same", pd.Series(y, index=np.arange(len(y))[::-1]), 1e-9
            yield "Series, nullable", "same", pd.Series(y, dtype="Int64"), 1e-9
            yield "Series, categorical", "same", pd.Series(y, dtype="category"), 1e-9
            holed = pd.Series(y, dtype="Int64")
            holed[1] = pd.NA
            yield "Series, NA", "refuse", holed, 0
            yield "ragged", "refuse", [[0, 1], [2]], 0


class Named(Labels):
    """Labels whose names come back in the result."""

    renamed = False


class Sets(Argument):
    """A list of arrays; the first is spoiled, and the list itself."""

    kind: type[Argument] = Rows

    def spoiled(self) -> Iterator[tuple[str, str, Any, float]]:
        first, *rest = self.value
        for name, kind, value, tolerance in self.kind(first).mutations():
            yield f"first: {name}", kind, [value, *_copy(rest)], tolerance
        yield "tuple", "same", tuple(_copy(self.value)), 1e-9
        yield "empty list", "refuse", [], 0
        yield "None", "refuse", None, 0
        yield "number", "refuse", 3, 0
        yield "text", "refuse", "nonsense", 0
        yield "object", "refuse", object(), 0
        yield "dict", "refuse", {"a": first}, 0
        yield "one less", "refuse", _copy(self.value[:-1]), 0
        yield "not in a list", "refuse", np.asarray(first), 0


class LabelSets(Sets):
    """A list of labellings."""

    kind = Labels


def _arrays(A: Any) -> Iterator[tuple[str, str, Any, float]]:
    """Mutations of an array of numbers of any number of dimensions."""
    yield "list", "same", A.tolist(), 1e-9
    yield "Fortran", "same", np.asfortranarray(A), 1e-9
    yield "read-only", "same", _read_only(A), 1e-9
    yield "strided", "same", np.repeat(A, 2, axis=-1)[..., ::2], 1e-9
    yield "big-endian", "same", A.astype(A.dtype.newbyteorder(">")), 1e-9
    yield "object", "same", A.astype(object), 1e-9
    yield "longdouble", "same", A.astype(np.longdouble), 1e-9
    yield "float64", "same", A.astype(np.float64), 1e-9
    yield "float32", "same", A.astype(np.float32), 1e-2
    yield "empty mask", "same", np.ma.masked_array(A, np.zeros(A.shape, bool)), 1e-9
    if np.array_equal(A, A.astype(np.float16)):
        yield "float16", "same", A.astype(np.float16), 1e-2
    if A.dtype.kind != "b" and np.array_equal(A, A.astype(np.int16)):
        yield "int16", "same", A.astype(np.int16), 1e-9
        yield "int64", "same", A.astype(np.int64), 1e-9
    second = np.zeros(A.size, bool)
    second[min(1, A.size - 1)] = True
    second = second.reshape(A.shape)
    yield "NaN", "refuse", np.where(second, np.nan, A), 0
    yield "inf", "refuse", np.where(second, np.inf, A), 0
    yield "-inf", "refuse", np.where(second, -np.inf, A), 0
    yield "all NaN", "refuse", np.full(A.shape, np.nan), 0
    yield "masked", "refuse", np.ma.masked_array(A, second), 0
    yield "None among", "refuse", np.where(second, None, A), 0
    yield "NA among", "refuse", np.where(second, pd.NA, A.astype(object)), 0
    yield "text among", "refuse", np.where(second, "b", A.astype(object)), 0
    yield "complex", "refuse", A * (1 + 1j), 0
    yield "dates", "refuse", np.full(A.shape, np.datetime64("2020-01-01")), 0
    yield "empty", "refuse", A[:0], 0
    yield "number", "refuse", 3, 0
    yield "None", "refuse", None, 0
    yield "text", "refuse", "nonsense", 0
    yield "dict", "refuse", {"a": 1}, 0
    yield "object instance", "refuse", object(), 0
    yield "ragged", "refuse", [[1.0, 2.0], [3.0]], 0
    yield "a dimension more", "refuse", np.stack([A, A], axis=-1), 0
    yield "a dimension less", "refuse", A[0], 0
    yield "all zero", "fine", np.zeros_like(A), 0
    for factor in (1e155, 1e-155, 1e300, 1e-310):
        yield f"times {factor:g}", "fine", A * factor, 0
    yield "1e308", "fine", np.where(second, 1e308, A), 0


def _read_only(A: Any) -> Any:
    A = A.copy()
    A.setflags(write=False)
    return A


# --- calls -----------------------------------------------------------------------------------


@dataclass
class Call:
    """A valid call: the function, its arguments, what its errors may name."""

    name: str
    run: Callable[..., Any]
    arguments: dict[str, Argument]
    words: set[str] = field(default_factory=set)
    every: int = 1  # try one of so many cases
    _valid: Any = None

    def valid(self) -> Any:
        """Parts of the result of the valid call."""
        if self._valid is None:
            with quietly():
                self._valid = parts(self.run(**{k: a.fresh() for k, a in self.arguments.items()}))
        return self._valid

    def cases(self) -> Iterator[Case]:
        with quietly():
            every = [
                Case(self, name, *mutation)
                for name, argument in self.arguments.items()
                for mutation in argument.mutations()
            ]
        return (case for case in every if case.number % self.every == 0)


@dataclass
class Case:
    """One argument of a call spoiled."""

    call: Call
    argument: str
    mutation: str
    kind: str
    value: Any
    tolerance: float

    def __str__(self) -> str:
        return f"{self.call.name}({self.argument}: {self.mutation})"

    @property
    def number(self) -> int:
        """The same in every run."""
        return zlib.crc32(str(self).encode())

    def outcome(self) -> tuple[str, str]:
        """Run the case; return one of OUTCOMES and what was seen."""
        valid = self.call.valid()
        given = {k: a.fresh() for k, a in self.call.arguments.items()}
        given[self.argument] = self.value
        try:
            with quietly(), _alarm():
                found = parts(self.call.run(**given))
        except Hang:
            return "hang", f"more than {SECONDS} s"
        except Exception as error:
            return self._judge_error(error)
        return self._judge(found, valid)

    def _judge(self, found: dict[str, Any], valid: dict[str, Any]) -> tuple[str, str]:
        if self.kind == "same":
            for path, array in valid.items():
                if not _close(found.get(path), array, self.tolerance):
                    return "silent", f"{path}: {_short(found.get(path))} for {_short(array)}"
            return "right", ""
        if self.kind == "refuse":
            if self.argument == "random_state" and all(
                _close(found.get(path), array, 0) for path, array in valid.items()
            ):
                return "right", "not used"
            return "silent", "not refused"
        for path, array in found.items():
            if array.dtype.kind in "fc" and np.isnan(array).any():
                return "silent", f"{path} has NaN"
            was = valid.get(path)
            finite = was is None or was.dtype.kind not in "fc" or np.isfinite(was).all()
            if array.dtype.kind in "fc" and finite and np.isinf(array).any():
                return "silent", f"{path} has infinity"
        return "right", ""

    def _judge_error(self, error: Exception) -> tuple[str, str]:
        seen = f"{type(error).__name__}: {str(error)[:300]}"
        frames = traceback.extract_tb(error.__traceback__)
        files = [frame.filename.replace(os.sep, "/") for frame in frames]
        ours = max((i for i, file in enumerate(files) if "/mlbook/" in file), default=-1)
        after = files[ours + 1 :]
        named = any(
            re.search(rf"(?<![\w]){re.escape(word)}(?![\w])", str(error))
            for word in {*self.call.arguments, *self.call.words}
        )
        if isinstance(error, ValueError | TypeError | NotFittedError):
            theirs = [file for file in after if "/sklearn/" in file]
            if type(error).__name__ == "InvalidParameterError":
                return "scikit-learn's error", seen
            if theirs and "/sklearn/utils/" in theirs[0]:
                return "scikit-learn's error", seen
            if not theirs and named and not _foreign(error, files[-1]):
                return "clear error", seen
        if isinstance(error, FileNotFoundError | NotADirectoryError | ImportError) and named:
            return "clear error", seen
        return "obscure", f"{seen} [{files[-1].split('site-packages/')[-1]}:{frames[-1].lineno}]"


def _foreign(error: Exception, file: str) -> bool:
    """Tell whether another package's error happens to contain the name of an argument."""
    if "truth value" in str(error):
        return True
    return not any(place in file for place in ("/mlbook/", "/matplotlib/"))


class Hang(BaseException):
    """The call took too long."""


@contextmanager
def _alarm() -> Iterator[None]:
    def ring(*_: Any) -> None:
        raise Hang

    if not hasattr(signal, "setitimer"):  # Windows
        yield
        return
    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def quietly() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


# --- results ---------------------------------------------------------------------------------


def parts(value: Any, path: str = "result", depth: int = 0) -> dict[str, Any]:
    """Arrays of a result, by where they are in it."""
    if value is None or isinstance(value, Mapping | BaseEstimator) or _is_object(value):
        if value is None or depth > 4:
            return {}
        found = {}
        for name, part in _fields(value):
            found |= parts(part, f"{path}.{name}", depth + 1)
        return found
    if sp.issparse(value):
        value = value.toarray()
    if isinstance(value, pd.DataFrame | pd.Series):
        value = value.to_numpy()
    if isinstance(value, np.ndarray | np.generic | bool | int | float | complex | str):
        array = np.asarray(value)
        if array.dtype != object:
            return {path: array}
        value = list(array)
    if isinstance(value, tuple | list) or inspect.isgenerator(value):
        found = {}
        for i, part in enumerate(value):
            found |= parts(part, f"{path}[{i}]", depth + 1)
        return found
    return {}


def _is_object(value: Any) -> bool:
    return is_dataclass(value) or (
        type(value).__module__.startswith("mlbook") and not isinstance(value, tuple)
    )


def _fields(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return list(value.items())
    names = set(vars(value))
    if isinstance(value, BaseEstimator):
        names = {name for name in names if name.endswith("_") and not name.startswith("_")}
        names |= {"components_"} if hasattr(value, "components_") else set()
        names -= {"feature_names_in_", "classes_", "labels_", "n_features_in_"}
    hidden = {"columns", "ids", "features", "problem", "batches"}
    return [
        (name, getattr(value, name))
        for name in sorted(names)
        if not name.startswith("_") and name not in hidden
    ]


def _close(found: Any, wanted: Any, tolerance: float) -> bool:
    if found is None or found.shape != wanted.shape:
        return False
    if wanted.dtype.kind not in "biufc" or found.dtype.kind not in "biufc":
        return bool(np.array_equal(found, wanted))
    if found.size == 0:
        return True
    with np.errstate(all="ignore"):
        finite = np.isfinite(wanted)
        size = float(np.abs(wanted[finite]).max()) if finite.any() else 0.0
        atol = tolerance * size + 1e-300
        return bool(np.allclose(found, wanted, rtol=tolerance, atol=atol, equal_nan=False))


def _short(value: Any) -> str:
    return " ".join(str(value).split())[:60]


# --- the command -----------------------------------------------------------------------------


def run(cases: list[Case]) -> tuple[Counter[str], list[str]]:
    """Count the outcomes; list the bad ones."""
    counts: Counter[str] = Counter()
    bad = []
    for case in cases:
        try:
            outcome, seen = case.outcome()
        except ImportError:  # the valid call needs a package that is not there
            continue
        counts[outcome] += 1
        if outcome in BAD:
            bad.append(f"{outcome}: {case} -> {seen}")
    return counts, bad


def main(wanted: list[str]) -> None:
    """Print the table of outcomes by room."""
    from hostile_calls import calls

    table: dict[str, Counter[str]] = {}
    for call in calls():
        if wanted and not any(word in call.name for word in wanted):
            continue
        counts, bad = run(list(call.cases()))
        table.setdefault(call.name.split(".")[0], Counter()).update(counts)
        print("".join(f"{line}\n" for line in bad), end="", flush=True)
    table["all"] = sum(table.values(), Counter())
    print(f"{'':20}{'cases':>8}" + "".join(f"{name:>22}" for name in OUTCOMES))
    for room, counts in table.items():
        row = "".join(f"{counts[name]:>22}" for name in OUTCOMES)
        print(f"{room:20}{counts.total():>8}{row}")


if __name__ == "__main__":
    import matplotlib

    matplotlib.use("Agg")
    main(sys.argv[1:])
