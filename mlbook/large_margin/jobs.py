"""The same work for every sequence, in turn or by several workers of joblib."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from mlbook._blas import one_blas_thread

Spread = Callable[..., list[Any]]


def in_turn(function: Callable[..., Any], items: Sequence[Any], *args: Any) -> list[Any]:
    """Return ``function(item, *args)`` of every item."""
    return [function(item, *args) for item in items]


@contextmanager
def spread_over(n_jobs: int | None) -> Iterator[Spread]:
    """Give what does the same as `in_turn`, with as many batches of items as there are workers.

    Examples
    --------
    >>> with spread_over(1) as spread:
    ...     print(spread(pow, [2, 3], 2))
    [4, 9]
    """
    n = effective_n_jobs(n_jobs)
    if n == 1:
        yield in_turn
        return
    with Parallel(n_jobs=n_jobs) as parallel:

        def spread(function: Callable[..., Any], items: Sequence[Any], *args: Any) -> list[Any]:
            size = -(-len(items) // n)
            batches = [items[i : i + size] for i in range(0, len(items), size)]
            found = parallel(delayed(_batch)(function, batch, *args) for batch in batches)
            return list(chain.from_iterable(found))

        yield spread


def _batch(function: Callable[..., Any], items: Sequence[Any], *args: Any) -> list[Any]:
    with one_blas_thread():
        return in_turn(function, items, *args)
