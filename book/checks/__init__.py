"""Exercises that check themselves: ``check("ex-hand", my_function)`` says what is not right yet.

The oracles of a chapter, mostly brute force, are in the module CHAPTER.py beside this one. Only
the module that knows the exercise is loaded.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

from book.checks.registry import oracle_of

__all__ = ["check", "labels"]

HERE = Path(__file__).parent
REGISTERED = re.compile(r"^@oracle\(\s*[\"']([^\"']+)[\"']\s*\)", re.MULTILINE)


def labels() -> dict[str, str]:
    """Return the exercises that can be checked, each with the name of its module."""
    found = {}
    for path in sorted(HERE.glob("[!_]*.py")):
        for label in REGISTERED.findall(path.read_text(encoding="utf-8")):
            found[label] = path.stem
    return found


def check(label: str, thing: Any) -> None:
    """Print in a line whether a solution is right, and if not, what differs.

    Parameters
    ----------
    label : str
        The exercise, as "ex-hand".
    thing : object
        What the exercise asks for: your function itself, or a value.

    Raises
    ------
    ValueError
        If no exercise of that name can be checked.
    """
    known = labels()
    if label not in known:
        near = get_close_matches(str(label), known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"label must be one of {sorted(known)}"
        raise ValueError(f"no exercise {label!r} can be checked; {hint}")
    import_module(f"book.checks.{known[label]}")
    try:
        differs = oracle_of(label)(thing)
    except Exception as error:  # a value of another kind than the oracle reads
        differs = f"The check stopped at what you gave it: {type(error).__name__}: {error}"
    print(f"{label}: " + ("right." if differs is None else f"not yet. {' '.join(differs.split())}"))
