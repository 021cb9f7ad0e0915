"""Choice of the price of an exemplar and of the regularization, on the training sets alone.

Each half of the training sets judges what is learned from the other; a single set is halved cluster
by cluster. The price decides how many clusters there are: the one is chosen whose clusterings of
the other half have about the right number. Regularization costs loss and removes noise: as much of
it is taken as leaves nine tenths of what can be gained on the other half.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.parallel import Parallel

from mlbook._arrays import Floats, Integers
from mlbook._cutting_planes import Cuts
from mlbook.exemplars import solve_exemplars
from mlbook.latent_crf.learning import first_weights, learn, loss_at_zero, strength, stretch, visit
from mlbook.latent_crf.pair_features import PairFeatures
from mlbook.latent_crf.problem import ExemplarProblem

PRICES = (0.4, 0.8, 0.2)  # shares of β × mean size of a cluster; of equals the first is taken
ALPHAS = (0.02, 0.05, 0.1, 0.2, 0.3)  # shares of the number of points
USUAL = 0.4, 0.05  # where the training sets are too small to be halved
ENOUGH = 0.9  # of the gain
MOST_POINTS = 1000  # in a half; further sets are left out
TOLERANCE, STEPS = 0.1, 40  # of the learner, here

Sets = list[tuple[PairFeatures, Integers]]


class Choice(NamedTuple):
    """Price as a share of β × mean size of a cluster, τ as a share of the number of points."""

    price: float
    alpha: float


def choose(
    sets: Sets,
    make: Callable[[Sets, float], list[ExemplarProblem]],
    regularizer: str,
    price: float | None,
    alpha: float | None,
    parallel: Parallel,
    show: Callable[[str], Any],
) -> Choice:
    """Choose what is None. `make` sets up the problems of some sets at a price."""
    halves = halved(sets)
    if halves is None:
        return Choice(USUAL[0] if price is None else price, USUAL[1] if alpha is None else alpha)
    trials: dict[float, list[_Trial]] = {}
    for candidate in PRICES if price is None else (price,):
        trials[candidate] = [
            _Trial(make(own, candidate), make(other, candidate), regularizer, parallel)
            for own, other in (halves, halves[::-1])
        ]
    if price is None:
        usual, wrong = USUAL[1] if alpha is None else alpha, {}
        for candidate, both in trials.items():
            wrong[candidate] = sum(trial.wrong_number(usual) for trial in both)
            show(f"penalty {candidate:g} of the mean size of a cluster")
        price = min(wrong, key=wrong.__getitem__)
    if alpha is None:
        gains: dict[float, float] = {}
        for candidate in ALPHAS:
            gains[candidate] = sum(trial.gain(candidate) for trial in trials[price])
            show(f"alpha {candidate:g} of the number of points")
            best = max(gains.values())
            enough = best - (1 - ENOUGH) * abs(best)
            if gains[candidate] < enough:
                break
        alpha = max(a for a, gain in gains.items() if gain >= enough)
    return Choice(price, alpha)


def halved(sets: Sets) -> tuple[Sets, Sets] | None:
    """Cut the training sets in two; None if one has nowhere two clusters of two points."""
    if len(sets) > 1:
        halves = sets[::2], sets[1::2]
    else:
        data, codes = sets[0]
        order = np.argsort(codes, kind="stable")
        halves = [_part(data, codes, order[::2])], [_part(data, codes, order[1::2])]
    for half in halves:
        sizes = [len(codes) for _, codes in half]
        del half[max(1, int(np.searchsorted(np.cumsum(sizes), MOST_POINTS))) :]
        if not any((np.bincount(codes) > 1).sum() > 1 for _, codes in half):
            return None
    return halves


def _part(data: PairFeatures, codes: Integers, points: Integers) -> tuple[PairFeatures, Integers]:
    return data.part(points), np.unique(codes[points], return_inverse=True)[1]


class _Trial:
    """What is learned from one half, and how it does on the other."""

    def __init__(
        self,
        own: list[ExemplarProblem],
        other: list[ExemplarProblem],
        regularizer: str,
        parallel: Parallel,
    ) -> None:
        self.own, self.other, self.regularizer = own, other, regularizer
        self.parallel = parallel
        self.start = first_weights(own)
        self.cuts: Cuts | None = None
        self.found: dict[float, Floats] = {}

    def weights(self, share: float) -> Floats:
        """Learn with τ = share × the number of points; cuts serve all τ."""
        if share not in self.found:
            tau = strength(self.own, self.regularizer, share, self.start)
            start = next(reversed(self.found.values()), self.start)
            learned = learn(
                self.own, start if start.any() else self.start, self.regularizer, tau,
                tol=TOLERANCE, max_iter=STEPS, cuts=self.cuts, parallel=self.parallel,
            )  # fmt: skip
            w, self.cuts = learned.weights, learned.cuts
            self.found[share] = stretch(self.own, w, self.parallel) * w
        return self.found[share]

    def wrong_number(self, share: float) -> float:
        """How far the number of clusters found in the other half is from the true one."""
        w, wrong = self.weights(share), 0.0
        for problem in self.other:
            D = problem.distances(w)
            found = solve_exemplars(D, problem.penalty, max_iter=100, random_state=0)
            wrong += abs(np.log(len(found.exemplars) / problem.n_clusters))
        return wrong / len(self.other)

    def gain(self, share: float) -> float:
        """Loss in the other half that the weights save, for each point."""
        w = self.weights(share)
        visits = [visit(problem, w, None, 1e-3 * problem.n_variables) for problem in self.other]
        loss = sum(found.energy - found.lower for found in visits)
        n_points = sum(problem.n_variables for problem in self.other)
        return float(sum(map(loss_at_zero, self.other)) - loss) / n_points
