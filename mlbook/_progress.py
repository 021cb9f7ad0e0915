"""How long work shows that it goes on."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(
    total: int, label: str, *, shown: bool = True, done: int = 0
) -> Iterator[Callable[[str], None]]:
    """Yield a function to call after each step, with a few words about it.

    Shows a bar on standard error where tqdm is installed, else a line a step.

    Parameters
    ----------
    total : int
        Number of steps, `done` included.
    label : str
        What is going on.
    shown : bool, default=True
        False: show nothing.
    done : int, default=0
        Number of steps that were made before.

    Examples
    --------
    >>> with progress(3, "rounds", shown=False) as step:
    ...     for gap in (0.5, 0.2, 0.1):
    ...         step(f"gap {gap}")
    """
    if not shown:
        yield lambda note: None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        count = done

        def line(note: str) -> None:
            nonlocal count
            count += 1
            print(f"{label}: {count} of {total}, {note}", file=sys.stderr)

        yield line
        return
    with tqdm(total=total, initial=done, desc=label) as bar:

        def step(note: str) -> None:
            bar.set_postfix_str(note, refresh=False)
            bar.update()

        yield step
