"""Packages of the extras: imported where they are used, with a word on how to get them.

The advice is the extra, not the package: only the extra knows which versions go together.
"""

import logging
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any


def need(module: str, *, project: str, extra: str) -> Any:
    """Import and return a module of an optional package.

    Examples
    --------
    >>> need("no_such_module", project="no-such-project", extra="notebook")
    Traceback (most recent call last):
    ...
    ImportError: this needs no-such-project, of the extra `notebook`: pip install "mlbook[notebook]"
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f'this needs {project}, of the extra `{extra}`: pip install "mlbook[{extra}]"'
        ) from error


def jit() -> Callable[..., Any] | None:
    """Return the compiler `numba.njit`, or None where numba is not installed, and say so once.

    To import numba takes half a second: ask only before long work.

    Examples
    --------
    >>> compile = jit()
    >>> compile is None or compile(lambda x: x + 1)(1) == 2
    True
    """
    try:
        from numba import njit
    except ImportError:
        _advise()
        return None
    return njit


@cache
def _advise() -> None:
    logging.getLogger("mlbook").warning('numba makes this faster: pip install "mlbook[fast]"')
