"""The memory of the machine, asked before a matrix of all pairs is made."""

import os


def machine_memory() -> float:
    """Return the bytes of memory of this machine; infinity where the system does not tell."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf
        return float("inf")


def check_memory(n_bytes: float, what: str, remedy: str) -> None:
    """Refuse what would take more than half of the memory, before it is tried.

    Parameters
    ----------
    n_bytes : float
        Bytes that are going to be needed at a time.
    what : str
        What needs them.
    remedy : str
        What to do instead.

    Raises
    ------
    MemoryError
        If there are not twice as many.

    Examples
    --------
    >>> check_memory(8e18, "the distances of all pairs of 1000000000 rows", "take fewer rows")
    Traceback (most recent call last):
    ...
    MemoryError: the distances of all pairs of 1000000000 rows need 7.5e+09 GiB, more than half \
of this machine's memory; take fewer rows
    """
    if n_bytes > machine_memory() / 2:
        raise MemoryError(
            f"{what} need {n_bytes / 2**30:.2g} GiB, more than half of this machine's memory; "
            f"{remedy}"
        )


def check_pairs(n: int, name: str, *, copies: float = 3, itemsize: int = 8) -> None:
    """Refuse so many rows that all pairs of them, `copies` times, do not fit.

    Examples
    --------
    >>> check_pairs(1000, "X")
    """
    what = f"{name}: all pairs of its {n} rows"
    check_memory(copies * itemsize * float(n) ** 2, what, "take a sample of the rows")
