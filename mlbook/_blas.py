"""One thread for BLAS while small matrices are worked on."""

from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> Any:
    """Keep BLAS to one thread in a block: more only hurt matrices of a thousand rows or columns.

    The number of threads belongs to the process. threadpoolctl (from 3.8 on) lets one thread of
    Python at a time change it, and passes over the wish of others: so blocks may overlap, and
    nothing is locked that a forked child could wait for.

    Examples
    --------
    >>> with one_blas_thread():
    ...     print({pool["num_threads"] for pool in _controller().info()})
    {1}
    """
    return _controller().limit(limits=1)


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")
