"""Bars that are missed, and why: the key is what a bar measures, or how that begins."""

from __future__ import annotations

REASONS = {
    "CPU time of a fit / XᵀX, 1,000 features": "Beside XᵀX the sums of the classes take "
    "3% of its time, the Cholesky factor 2%, and XᵀX in blocks 2% more than at once.",
    "CPU time by chunks of 1,000 / XᵀX by chunks": "Beside the 0.7 ms of XᵀX each chunk costs "
    "0.15 ms of Python (checks, adding two digests) and the sums of the classes.",
    "extra memory / D, gaussian 100-d": "In many dimensions few distances can be left out: the "
    "sorted lists of the search and the pairs of the bound hold them twice, beside a copy of D.",
    "extra memory / D, uniform 100-d": "As above.",
    "wall time, two jobs / one, 40 series": "The quadratic program between two rounds, a fifth of "
    "the time, does not split, and joblib sends 60 MB of sequences to its workers every round.",
}


def reason(what: str) -> str:
    """Say why a bar is missed; empty if nobody knows.

    Examples
    --------
    >>> reason("extra memory / D, uniform 100-d, 500 points")
    'As above.'
    >>> reason("speed of light")
    ''
    """
    return next((why for start, why in REASONS.items() if what.startswith(start)), "")
