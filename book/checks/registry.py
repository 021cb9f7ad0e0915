"""What oracles are made of: how they are registered, and how two functions are compared.

    @oracle("ex-hand")
    def hand(mine):
        return compare(mine, brute_force, [(x, k) for k in (1, 2, 3)])

An oracle takes what the reader gives and returns None if that is right, or else a sentence that
says what differs. It never says the right answer.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from typing import Any

import numpy as np

__all__ = ["alike", "compare", "oracle", "shown"]

Oracle = Callable[[Any], str | None]
_ORACLES: dict[str, Oracle] = {}
_LONGEST = 160  # characters of an input or a result that are shown


def oracle(label: str) -> Callable[[Oracle], Oracle]:
    """Register the oracle of an exercise; at most one for each label."""

    def register(function: Oracle) -> Oracle:
        other = _ORACLES.get(label)
        if other is not None and other.__module__ != function.__module__:
            raise ValueError(f"{label!r} has an oracle in {other.__module__} already")
        _ORACLES[label] = function
        return function

    return register


def oracle_of(label: str) -> Oracle:
    """Return the oracle of an exercise whose module was loaded."""
    return _ORACLES[label]


def compare(
    mine: Callable[..., Any],
    theirs: Callable[..., Any],
    inputs: Iterable[Any],
    *,
    describe: Callable[..., str] | None = None,
    same: Callable[[Any, Any], bool] | None = None,
    must: str | Mapping[str, Callable[..., bool]] = "",
) -> str | None:
    """Say where a reader's function differs from one that is right, on the smallest such input.

    Parameters
    ----------
    mine, theirs : callable
        The reader's function, and one that is right. Both get copies.
    inputs : iterable
        A tuple holds several arguments; anything else is the only one. They are tried from small
        to large, counted in numbers.
    describe : callable, optional
        Takes the arguments and returns what to call them. They are written out without it.
    same : callable, optional
        Takes both results and says if the first one is right. By default that is `alike`.
    must : str or mapping, optional
        What a right answer has: a sentence; or sentences, each with a test of the result and the
        arguments, of which the first that fails is said.

    Returns
    -------
    str or None
        None if nothing differs.
    """
    if not callable(mine):
        return f"Give your function itself, without calling it. This is {shown(mine)}."
    agrees = same or alike
    for arguments in sorted(map(_as_tuple, inputs), key=_size):
        given, kept = deepcopy(arguments), deepcopy(arguments)
        what = describe(*kept) if describe else _written_out(theirs, kept)
        try:
            got = mine(*given)
        except Exception as error:
            return f"For {what} your function raised {type(error).__name__}: {error}"
        if not _equal(given, kept):
            return f"For {what} your function changes its argument. Work on a copy."
        if got is None:
            return f"For {what} your function returned nothing. Does it end with return?"
        if not _says(agrees, got, theirs(*deepcopy(kept))):
            result = f"For {what} your function returned {shown(got)}."
            return f"{result} {_failing(must, got, kept)}".rstrip()
    return None


def alike(mine: Any, theirs: Any) -> bool:
    """Say if two results agree in shape and, up to rounding, in their numbers."""
    if isinstance(theirs, Mapping):
        return (
            isinstance(mine, Mapping)
            and mine.keys() == theirs.keys()
            and all(alike(mine[key], value) for key, value in theirs.items())
        )
    if isinstance(theirs, str | set | frozenset):
        return bool(mine == theirs)
    if isinstance(theirs, list | tuple) and not _is_array(theirs):
        return len(mine) == len(theirs) and all(map(alike, mine, theirs))
    left, right = np.asarray(mine), np.asarray(theirs)
    if left.shape != right.shape:
        return False
    if right.dtype.kind in "biufc" and left.dtype.kind in "biufc":
        return bool(np.allclose(left, right, rtol=1e-6, atol=1e-9, equal_nan=True))
    return bool(np.all(left == right))


def shown(value: Any) -> str:
    """Write a value in one short line."""
    if isinstance(value, np.ndarray):
        value = value.tolist() if value.size <= 60 else _Text(f"an array of shape {value.shape}")
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        value = _Text(f"{value:.6g}")
    if isinstance(value, list | tuple):
        ends = "[]" if isinstance(value, list) else "()"
        text = ends[0] + ", ".join(map(shown, value)) + ends[1]
    else:
        text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


class _Text(str):
    """Text that is shown without quotes."""

    def __repr__(self) -> str:
        return str(self)


def _as_tuple(arguments: Any) -> tuple[Any, ...]:
    return arguments if isinstance(arguments, tuple) else (arguments,)


def _size(value: Any) -> int:
    """Count the numbers in an input."""
    if isinstance(value, Mapping):
        return sum(map(_size, value.values()))
    if isinstance(value, list | tuple | set | frozenset):
        return sum(map(_size, value))
    return int(np.size(value)) if isinstance(value, np.ndarray) else 1


def _written_out(function: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    """Write the arguments with the names that `function` has for them."""
    try:
        names = list(inspect.signature(function).bind(*arguments).arguments)
    except (TypeError, ValueError):
        names = []
    if len(names) != len(arguments):
        return ", ".join(map(shown, arguments))
    return ", ".join(f"{n} = {shown(a)}" for n, a in zip(names, arguments, strict=True))


def _is_array(value: Any) -> bool:
    """Whether a list or tuple is numbers in a rectangle."""
    try:
        return bool(np.asarray(value).dtype.kind in "biufc")
    except ValueError:
        return False


def _equal(left: Any, right: Any) -> bool:
    """Say if two copies of arguments are still alike, number for number."""
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return bool(
            np.shape(left) == np.shape(right)
            and np.array_equal(left, right, equal_nan=np.asarray(right).dtype.kind in "fc")
        )
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(_equal(left[k], right[k]) for k in right)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(_equal, left, right))
    if isinstance(right, int | float | str | bool | set | frozenset | type(None)):
        return bool(left == right or (left != left and right != right))
    return True  # objects that cannot be compared, such as random generators


def _says(test: Callable[..., bool], *arguments: Any) -> bool:
    """Return what a test says; a result that it cannot read is not right."""
    try:
        return bool(test(*arguments))
    except Exception:
        return False


def _failing(must: str | Mapping[str, Callable[..., bool]], got: Any, given: Any) -> str:
    """Return the sentence of what a right answer has and this one has not."""
    if isinstance(must, str):
        return must
    failing = (sentence for sentence, test in must.items() if not _says(test, got, *given))
    return next(failing, "")
