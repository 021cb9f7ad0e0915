"""Packages of the extras: imported where they are used, with a word on how to get them.

The advice is the extra, not the package: only the extra knows which versions go together.
"""

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
