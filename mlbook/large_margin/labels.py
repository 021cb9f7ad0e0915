"""Labels of training sequences: the shortest segment, stretches without gaps, losses."""

from itertools import pairwise
from typing import Any

import numpy as np

from mlbook._arrays import Floats, Integers
from mlbook._validation import check_choice, check_integer
from mlbook.changepoints.labels import runs


def check_min_length(min_length: Any, labels: list[Integers]) -> int:
    """Resolve "auto", and refuse a length for which a sequence has no room.

    "auto" is half the shortest segment both of whose ends are known, or half the shortest labelled
    part of a segment if there is none; less where missing labels leave no room for that.

    Examples
    --------
    >>> import numpy as np
    >>> check_min_length("auto", [np.repeat([0, -1, 1, 2], [2, 3, 4, 9])])
    4
    >>> check_min_length("auto", [np.repeat([0, 1], [8, 9]), np.repeat([0, -1, 1], [2, 1, 9])])
    3
    """
    auto = isinstance(min_length, str)
    if auto:
        check_choice(min_length, "min_length", ("auto",))
        parts = [_parts(truth) for truth in labels]
        known = [stop - start for part in parts for start, stop, whole in part if whole]
        known = known or [stop - start for part in parts for start, stop, _ in part]
        length = max(1, min(known, default=1) // 2)
    else:
        length = check_integer(min_length, "min_length", least=1)
    while crowded := [i for i, truth in enumerate(labels) if not _has_room(truth, length)]:
        if not auto:
            raise ValueError(
                f"ys must have room for segments of min_length={length} or more; "
                f"ys[{crowded[0]}] has not"
            )
        length -= 1
    return length


def _parts(truth: Integers) -> list[tuple[int, int, bool]]:
    """Start and end of the labelled part of each segment, and whether it is the whole segment."""
    known = np.flatnonzero(truth >= 0).tolist()
    if not known:
        return []
    ends = [(known[a], known[b - 1] + 1) for a, b in runs(truth[known])]
    n = len(truth)
    return [
        (start, stop, (start == 0 or truth[start - 1] >= 0) and (stop == n or truth[stop] >= 0))
        for start, stop in ends
    ]


def _has_room(truth: Integers, length: int) -> bool:
    """Tell whether segments of some length or more agree with the labels.

    Each labelled part is one segment: a further one would only take room. Each ends as early as
    it can, which leaves most for the next.
    """
    parts, begin = _parts(truth), 0
    for (_, stop, _), (following, _, _) in pairwise(parts):
        begin = max(stop, begin + length)
        if begin > following:
            return False
    return len(truth) - begin >= length


def labelled_windows(
    series: list[Floats], labels: list[Integers], min_length: int
) -> list[tuple[Floats, Integers]]:
    """Stretches without missing labels, less pieces of segments shorter than `min_length`.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.arange(5.0)[:, None], np.array([0, 0, 1, -1, 1])
    >>> [truth.tolist() for _, truth in labelled_windows([x], [y], min_length=2)]
    [[0, 0]]
    """
    windows = []
    for x, truth in zip(series, labels, strict=True):
        for start, stop in runs(truth >= 0):
            if truth[start] < 0:
                continue
            pieces = [(start + a, start + b) for a, b in runs(truth[start:stop])]
            if start > 0 and pieces[0][1] - pieces[0][0] < min_length:
                pieces = pieces[1:]
            if stop < len(x) and pieces and pieces[-1][1] - pieces[-1][0] < min_length:
                pieces = pieces[:-1]
            if pieces and pieces[-1][1] - pieces[0][0] > 1:
                window = slice(pieces[0][0], pieces[-1][1])
                windows.append((x[window], truth[window]))
    if not windows:
        raise ValueError(
            "ys must have a stretch of labelled points, longer than min_length, to learn from "
            "with init='labelled'; use init='pca'"
        )
    return windows
