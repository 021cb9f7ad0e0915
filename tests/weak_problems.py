"""Small problems with weakly labelled bags, and all that is feasible for them: oracles of tests."""

from itertools import combinations, permutations, product

import numpy as np

from mlbook.bags import Bags


def matchings(instances, categories, size):
    """Every way to give `size` of the instances different ones of the categories."""
    for chosen in combinations(instances, size):
        for given_labels in permutations(categories, size):
            yield dict(zip(chosen, given_labels, strict=True))


def feasible(sizes, Y, *, partial=False):
    """Every assignment of Law 2017, Eq. 2; with `partial`, those that leave more unassigned."""
    offsets = np.cumsum([0, *sizes])
    per_bag = []
    for i, y in enumerate(Y):
        rows, categories = range(offsets[i], offsets[i + 1]), np.flatnonzero(y)
        most = min(len(rows), len(categories))
        wanted = range(most + 1) if partial else [most]
        per_bag.append([match for p in wanted for match in matchings(rows, categories, p)])
    for choice in product(*per_bag):
        labels = np.full(offsets[-1], -1)
        for match in choice:
            for row, category in match.items():
                labels[row] = category
        yield labels


def assignment(labels, k):
    """H, written out."""
    return (np.asarray(labels)[:, None] == np.arange(k)).astype(float)


def distortion(U, labels, k):
    """Law 2017, Eq. 35: the objective with the best centroids."""
    H = assignment(labels, k)
    return np.linalg.norm(np.diag(H.sum(axis=1)) @ U - H @ np.linalg.pinv(H) @ U) ** 2


def tiny(seed):
    """A few small bags, among them ones without instance or label, or with labels to spare."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 4, size=4)
    Y = rng.integers(0, 2, size=(4, 3))
    sizes[0], Y[0] = 2, [1, 1, 0]
    U = np.linalg.qr(rng.normal(size=(sizes.sum(), 2)))[0]
    return U, np.cumsum([0, *sizes]), Y, rng


def weak_problem(seed=0, m=40, k=4, d=6, spread=0.7, outsiders=0):
    """Bags of two or three instances of different categories, and strangers."""
    rng = np.random.default_rng(seed)
    means = 3 * rng.normal(size=(k, d)) + 1
    truth, offsets, Y = [], [0], np.zeros((m, k), dtype=int)
    for i in range(m):
        members = rng.choice(k, size=rng.integers(1, 4), replace=False)
        Y[i, members] = 1
        strangers = rng.integers(0, outsiders + 1)
        truth += [*members, *[-1] * strangers]
        offsets.append(len(truth))
    truth = np.array(truth)
    centres = np.where(truth[:, None] >= 0, means[truth], 3 * rng.normal(size=(len(truth), d)) + 1)
    return Bags(centres + spread * rng.normal(size=centres.shape), offsets), Y, truth
