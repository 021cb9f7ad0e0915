"""Lajugie 2014: what the rows learn from sequences besides a metric, maps and penalties."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.linalg import eigh

from mlbook._arrays import Floats, Integers
from mlbook.changepoints import segment, segmentation_path
from mlbook.changepoints.labels import longest_run
from mlbook.partitions import partition_loss

# Rows that several tables have.
ONE_SEGMENT = "one segment"
PENALTY = "penalty only"
TRUE_NUMBER = "no learning, true number"
OURS = "large margin"
FULL_METRIC = "large margin, full metric"
PENALTIES = np.geomspace(1e-3, 1.0, 25)  # tried for a segment, times the mean scatter
Predict = Callable[[Floats, int], Integers]  # from a sequence and its true number of segments


def mean_loss(predicted: Sequence[Integers], labels: Sequence[Integers]) -> float:
    """Mean Δ over sequences."""
    return float(np.mean([partition_loss(*pair) for pair in zip(predicted, labels, strict=True)]))


def middle_of_best(values: Floats | Integers) -> int:
    """Index in the middle of the longest run of minima.

    Examples
    --------
    >>> middle_of_best(np.array([0, 3, 0, 0, 0, 2]))
    3
    """
    start, stop = longest_run(values <= values.min() + 1e-9)
    return (start + stop) // 2


def tuned_penalty(
    series: Sequence[Floats], labels: Sequence[Integers], min_length: int, cut: Any = segment
) -> float:
    """Penalty of a segment with the least mean loss on labelled sequences.

    Nothing else is learned, so that this is also what cross-validation over the sequences picks.
    """
    spread = 1.0  # of the features of a Gaussian kernel, at most
    if cut is segment:
        spread = float(np.mean([x.var(axis=0).sum() for x in series]))
    penalties = spread * max(map(len, series)) * PENALTIES
    losses = []
    for x, y in zip(series, labels, strict=True):
        shortest = min(min_length, len(x))
        if cut is segment:
            losses.append(_path_losses(x, y, penalties, shortest))
        else:
            found = [cut(x, penalty=p, min_length=shortest) for p in penalties]
            losses.append([partition_loss(labels, y) for labels in found])
    return float(penalties[middle_of_best(np.mean(losses, axis=0))])


def _path_losses(x: Floats, y: Integers, penalties: Floats, min_length: int) -> list[float]:
    """Δ of the best segmentation at each penalty, all from one run of the dynamic program."""
    most = len(x) // min_length
    path = segmentation_path(x, most, min_length=min_length)
    costs = path.distortion + np.multiply.outer(penalties, np.arange(1, most + 1))
    chosen = costs.argmin(axis=1) + 1
    loss = {k: partition_loss(path.labels(int(k)), y) for k in np.unique(chosen)}
    return [loss[k] for k in chosen]


def kernel_segment(
    X: Floats, n_segments: int | None = None, penalty: float = 0.0, min_length: int = 1
) -> Integers:
    """Change points of a Gaussian kernel's features by ruptures, width by its median rule."""
    try:
        import ruptures
    except ImportError as error:
        raise ImportError("this row needs ruptures, of the extra 'reproduce'") from error
    model = ruptures.KernelCPD(kernel="rbf", min_size=min_length).fit(X)
    wanted = {"pen": penalty} if n_segments is None else {"n_bkps": n_segments - 1}
    ends = model.predict(**wanted) if n_segments != 1 else [len(X)]
    return np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))


def pca(series: Sequence[Floats], n_components: int) -> Floats:
    """Principal directions of all rows of centred sequences, as columns."""
    rows = np.concatenate([x - x.mean(axis=0) for x in series])
    return np.linalg.eigh(rows.T @ rows)[1][:, -n_components:]


def rca(
    series: Sequence[Floats], labels: Sequence[Integers], n_components: int, centred: bool
) -> Floats:
    """Directions of most variance relative to that within segments, as columns.

    Sequences are stacked, as the paper says; centring each of them first is ours. Columns are
    scaled to unit variance within segments; a small multiple of I keeps that invertible.
    """
    rows = np.concatenate([x - x.mean(axis=0) if centred else x for x in series])
    within = np.concatenate(
        [
            x[y == k] - x[y == k].mean(axis=0)
            for x, y in zip(series, labels, strict=True)
            for k in np.unique(y)
        ]
    )
    rows = rows - rows.mean(axis=0)
    inner = within.T @ within / len(within)
    ridge = 1e-6 * np.trace(inner) / len(inner) * np.eye(len(inner))
    return eigh(rows.T @ rows / len(rows), inner + ridge)[1][:, -n_components:]


def map_and_segment(components: Floats, min_length: int) -> Predict:
    """Segment mapped sequences, given the true number of segments."""
    return lambda x, k: segment(x @ components, n_segments=k, min_length=min_length)
