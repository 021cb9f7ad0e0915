"""The self-check quizzes: the questions of a page are in the file PAGE.yml beside this one.

A cell ``quiz("kmeans")`` shows them. In the book's build it leaves a placeholder, which
tools/quiz_pages.py fills when the page is written: another word in a question executes no
notebook again.
"""

from __future__ import annotations

import os
from pathlib import Path

from book.quizzes.form import Place, Quiz
from book.quizzes.reader import read

__all__ = ["quiz"]

HERE = Path(__file__).parent


def quiz(page: str) -> Quiz | Place:
    """Show the questions of a page, which tell the reader at once why an answer is right or wrong.

    Write the call as the last line of a cell.

    Parameters
    ----------
    page : str
        Name of the page, as "kmeans".

    Returns
    -------
    Quiz or Place
        Shown by Jupyter as HTML that needs no kernel and no network, and elsewhere as text; a
        placeholder if the environment variable ``MLBOOK_STATIC`` is set to anything but ``0``.

    Raises
    ------
    ValueError
        If the page has no quiz, or its file is malformed.

    Examples
    --------
    >>> print(str(quiz("kmeans")).splitlines()[0])
    1. The points 0, 2, 7 form the clusters {0, 2} and {7}. What is ⟨C, xxᵀ⟩?
    """
    path = HERE / f"{page}.yml"
    if not path.is_file():
        known = sorted(p.stem for p in HERE.glob("*.yml"))
        raise ValueError(f"page must be one of {known}, got {page!r}")
    if os.environ.get("MLBOOK_STATIC", "0") not in ("", "0"):
        return Place(page)
    return Quiz(read(path))
