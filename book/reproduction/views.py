"""Many distances to compare things by (Komodakis 2011, Section 6).

The paper learns d = Σ_f w_f d_f: one weight for each pair of a feature and a distance. A *view* is
one feature of all things, an array with one row per thing, as `mlbook.datasets.load_textures` has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances

from mlbook._arrays import Floats, Integers
from mlbook.images import chi2_distances

__all__ = ["KINDS", "DistanceStacks", "distance_stacks", "plain_distances"]

#: ``Σ_i (x_i − z_i)² / (x_i + z_i)``, ``Σ_i (x_i − z_i)²``, ``Σ_i |x_i − z_i|``, and the distance
#: of the RBF kernel, which `distance_stacks` makes of the second.
KINDS = ("chi2", "l2", "l1", "rbf")

Plain = Mapping[str, Mapping[str, Floats]]  # by view and kind


class DistanceStacks(NamedTuple):
    """Distances within the training and test data, and from test to training data.

    Each has shape (F, n, m): one matrix for each view and kind, the kinds of one view following
    each other; `names` says which, as "HOG, chi2".
    """

    train: Floats
    test: Floats
    across: Floats
    names: list[str]


def plain_distances(views: Mapping[str, Floats]) -> dict[str, dict[str, Floats]]:
    """Compare all things of each view by χ², l2 (squared) and l1.

    O(n² d) for each view, less where many numbers are 0 (`mlbook.images.chi2_distances`).

    Parameters
    ----------
    views : mapping of str to array of shape (n, d)
        The things; no number is negative.

    Returns
    -------
    dict of str to dict of str to ndarray of shape (n, n)
        By view and kind.

    Raises
    ------
    ValueError
        If a number is negative.

    Examples
    --------
    >>> plain_distances({"position": np.array([[0.0], [1.0], [3.0]])})["position"]["l2"]
    array([[0., 1., 9.],
           [1., 0., 4.],
           [9., 4., 0.]])
    """
    return {
        name: {
            "chi2": chi2_distances(X),
            "l2": euclidean_distances(X, squared=True),
            "l1": manhattan_distances(X),
        }
        for name, X in views.items()
    }


def distance_stacks(
    plain: Plain, train: Integers, test: Integers, kinds: Sequence[str] = KINDS
) -> DistanceStacks:
    """Take the distances of training and test data, each divided by its mean over training pairs.

    Without that no two kinds could be added. The distance of the RBF kernel k is
    (2 − 2 k(x, z))^½ with k = exp(−l2) and the l2 that was divided (Komodakis 2011, footnote 3).

    Parameters
    ----------
    plain : mapping of str to mapping of str to array of shape (n, n)
        As `plain_distances` returns.
    train, test : ndarray of int
        Rows of the training and of the test data.
    kinds : sequence of {"chi2", "l2", "l1", "rbf"}, default=KINDS
        Which distances.

    Returns
    -------
    DistanceStacks
        Single precision.

    Raises
    ------
    ValueError
        If a kind is not known, or all training data are the same in a view.

    Examples
    --------
    >>> plain = plain_distances({"position": np.array([[0.0], [1.0], [3.0]])})
    >>> stacks = distance_stacks(plain, np.array([0, 1]), np.array([2]), ["l1", "l2"])
    >>> stacks.names
    ['position, l1', 'position, l2']
    >>> stacks.across.ravel().tolist()
    [3.0, 2.0, 9.0, 4.0]
    """
    if not kinds or not set(kinds) <= set(KINDS):
        raise ValueError(f"kinds must be of {', '.join(KINDS)}; got {list(kinds)!r}")
    blocks = (train, train), (test, test), (test, train)
    found: tuple[list[Floats], ...] = ([], [], [])
    names = []
    for view, matrices in plain.items():
        for kind in kinds:
            D = matrices["l2" if kind == "rbf" else kind]
            parts = _divided([D[np.ix_(*rows)] for rows in blocks], view)
            if kind == "rbf":
                parts = _divided([np.sqrt(-2 * np.expm1(-np.maximum(D, 0))) for D in parts], view)
            for stack, part in zip(found, parts, strict=True):
                stack.append(part.astype(np.float32))
            names.append(f"{view}, {kind}")
    within, among, across = (np.array(stack) for stack in found)
    return DistanceStacks(within, among, across, names)


def _divided(parts: list[Floats], view: str) -> list[Floats]:
    """Divide by the mean over the pairs of training data, of which the diagonal has none."""
    n = len(parts[0])
    scale = (parts[0].sum() - parts[0].trace()) / max(n * (n - 1), 1)
    if not scale > 0:
        raise ValueError(f"all training data are the same in the view {view!r}")
    return [part / scale for part in parts]
