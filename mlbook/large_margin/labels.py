"""Labels of training sequences: the shortest segment, stretches without gaps, losses."""

from typing import Any

import numpy as np

from mlbook._arrays import Floats, Integers
from mlbook._validation import check_choice, check_integer
from mlbook.changepoints.labels import runs
from mlbook.partitions import partition_loss


def check_min_length(min_length: Any, labels: list[Integers]) -> int:
    """Resolve "auto" and compare with the segments both of whose ends are known.

    Examples
    --------
    >>> check_min_length("auto", [np.repeat([0, -1, 1, 2], [2, 3, 4, 9])])
    4
    """
    complete = [
        (stop - start, i)
        for i, truth in enumerate(labels)
        for start, stop in runs(truth)
        if truth[start] >= 0
        and (start == 0 or truth[start - 1] >= 0)
        and (stop == len(truth) or truth[stop] >= 0)
    ]
    shortest, where = min(complete, default=(1, 0))
    if isinstance(min_length, str):
        check_choice(min_length, "min_length", ("auto",))
        return max(1, shortest // 2)
    length = check_integer(min_length, "min_length", least=1)
    if complete and shortest < length:
        raise ValueError(
            f"y must have no segment shorter than min_length={length}; y[{where}] has one of "
            f"length {shortest}"
        )
    return length


def labelled_windows(
    series: list[Floats], labels: list[Integers], min_length: int
) -> list[tuple[Floats, Integers]]:
    """Stretches without missing labels, less pieces of segments shorter than `min_length`.

    Examples
    --------
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
            "y must have a stretch of labelled points, longer than min_length, to learn from "
            "with init='labelled'; use init='pca'"
        )
    return windows


def mean_loss(predicted: list[Integers], labels: list[Integers]) -> float:
    """Mean partition loss on the labelled points.

    Examples
    --------
    >>> mean_loss([np.array([0, 0, 1])], [np.array([5, 5, -1])])
    0.0
    """
    losses = [
        partition_loss(a[b >= 0], b[b >= 0])
        for a, b in zip(predicted, labels, strict=True)
        if np.any(b >= 0)
    ]
    return float(np.mean(losses))
