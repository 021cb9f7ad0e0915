"""Oracles of the chapter on the latent CRF."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from book.checks.registry import compare, oracle
from book.figures.latent_crf import cards
from mlbook._arrays import Floats, Integers
from mlbook.partitions import f_measure

__all__ = ["fill_in", "pair_sum"]


@oracle("crf-ex-certificate")
def certificate(mine: Any) -> str | None:
    """Add up what four offers prove for the points 0, 1, 2 and 9 at the price 9."""
    v = np.asarray(mine, dtype=float)
    if v.shape != (4,):
        return f"Give four offers, one for each point. These have the shape {v.shape}."
    x = np.array([0.0, 1.0, 2.0, 9.0])
    lacks = []
    for q in range(4):
        paid = [max(v[p] - (x[p] - x[q]) ** 2, 0) for p in range(4) if p != q]
        lacks.append(9 - v[q] - sum(paid))
    bound = v.sum() + sum(min(0, r) for r in lacks)
    if abs(bound - 20) < 1e-6:
        return None
    over = [f"{place:g}" for place, r in zip(x, lacks, strict=True) if r < -1e-9]
    why = f" Too much is offered at {' and '.join(over)}." if over else ""
    return f"The offers sum to {v.sum():g} and prove {bound:g}, which is not E(Q).{why}"


def fill_in(D: Floats, labels: Integers) -> Integers:
    """Go through all consistent assignments; return a cheapest one, all prices being equal."""
    clusters = [np.flatnonzero(labels == c) for c in np.unique(labels)]
    best, lowest = np.zeros(len(D), dtype=int), np.inf
    for chosen in product(*clusters):
        x = np.empty(len(D), dtype=int)
        for inside, q in zip(clusters, chosen, strict=True):
            x[inside] = q
        cost = _ways(D, x)
        if cost < lowest:
            best, lowest = x, cost
    return best


def _ways(D: Floats, x: Any) -> float:
    return float(sum(D[p, q] for p, q in enumerate(x) if p != q))


def _is_assignment(x: Any, D: Floats, _: Integers) -> bool:
    x = np.asarray(x)
    return x.shape == (len(D),) and set(x.tolist()) <= set(range(len(D)))


def _keeps_clusters(x: Any, _: Floats, labels: Integers) -> bool:
    return bool((labels[np.asarray(x)] == labels).all())


def _one_exemplar_each(x: Any, _: Floats, labels: Integers) -> bool:
    return all(len(set(np.asarray(x)[labels == c].tolist())) == 1 for c in np.unique(labels))


@oracle("crf-ex-nearest")
def nearest(mine: Callable[..., Any]) -> str | None:
    """Compare with all consistent assignments of two to six points."""
    inputs: list[Any] = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = 2 + seed % 5
        D = rng.integers(1, 10, size=(n, n)).astype(float)
        np.fill_diagonal(D, 0)
        inputs.append((D, rng.permutation(np.arange(n) % 2)))

    def alike(got: Any, right: Integers) -> bool:
        D, labels = now[0]
        ok = _is_assignment(got, D, labels) and _keeps_clusters(got, D, labels)
        return ok and _one_exemplar_each(got, D, labels) and _ways(D, got) == _ways(D, right)

    now: list[Any] = [None]

    def theirs(D: Floats, labels: Integers) -> Integers:
        now[0] = D, labels
        return fill_in(D, labels)

    must = {
        "It must have a number from 0 to n − 1 for each point.": _is_assignment,
        "Each point must go to an exemplar of its own cluster.": _keeps_clusters,
        "Each cluster must have a single exemplar.": _one_exemplar_each,
        "Another exemplar makes the ways in a cluster shorter; D[p, q] leads from p to q.": (
            lambda x, D, labels: _ways(D, x) <= _ways(D, fill_in(D, labels))
        ),
    }
    return compare(mine, theirs, inputs, same=alike, must=must)


def pair_sum(A: Floats, X: Floats) -> Floats:
    """Sum A_pq (x_p − x_q)² pair by pair."""
    total = np.zeros(X.shape[1])
    for p, q in product(range(len(X)), repeat=2):
        total += A[p, q] * (X[p] - X[q]) ** 2
    return total


@oracle("crf-ex-pairs")
def pairs(mine: Callable[..., Any]) -> str | None:
    """Compare with the sum over all pairs, also for matrices that are not symmetric."""
    inputs = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n, d = 1 + seed % 5, 1 + seed % 3
        inputs.append(
            (
                rng.integers(-2, 4, size=(n, n)).astype(float),
                rng.integers(-3, 4, size=(n, d)).astype(float),
            )
        )
    return compare(mine, pair_sum, inputs)


@oracle("crf-ex-cards")
def sort_box(mine: Any) -> str | None:
    """Sort 20 new boxes of cards, which a colleague would sort by the left digit."""
    if not callable(mine):
        return "Give your function itself, without calling it."
    tests, piles = cards.boxes("left", 20, 100, new=True)
    scores, counts = [], []
    for box, truth in zip(tests, piles, strict=True):
        labels = np.asarray(mine(cards.pixels_of(box).copy()))
        if labels.shape != (len(box),):
            return f"For a box of {len(box)} cards it returned an array of shape {labels.shape}."
        scores.append(f_measure(truth, labels))
        counts.append(len(np.unique(labels)))
    if np.mean(scores) >= 0.62:
        return None
    return (
        f"On 20 new boxes F is {np.mean(scores):.2f} on average, with {np.mean(counts):.1f} piles. "
        "A distance learned from eight boxes gets more than 0.62."
    )
