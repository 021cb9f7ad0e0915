"""Small problems of learning to cluster, with what the tests of several rooms ask of them."""

import numpy as np
from scipy.optimize import linprog

from mlbook.datasets import make_noisy_gaussians
from mlbook.dual_decomposition import relaxed_loss
from mlbook.latent_crf import ExemplarProblem

LABELS = [[0, 0, 0, 1, 1], [0, 1, 2, 3, 4], [0, 0, 0, 0, 0], [1, 0, 1, 0, 2]]


def random_problem(seed=0, labels=LABELS[0], n_features=2, penalty=1.5, alpha=0.7, beta=1.3):
    """Asymmetric features of both signs: nothing that only holds for distances can be used."""
    rng = np.random.default_rng(seed)
    n = len(labels)
    stack = rng.normal(0.5, 1, (n_features, n, n))
    problem = ExemplarProblem(
        stack, labels, penalty=penalty, alpha=alpha, beta=beta, features="precomputed"
    )
    return problem, stack, rng.normal(0.5, 1, n_features)


def random_multipliers(problem, rng, scale=1.0):
    """Numbers that add up to zero over the copies of each x_qq (Eq. 25)."""
    points = scale * rng.normal(size=(problem.n_variables, problem.n_variables))
    return [points, -points.sum(axis=0)]


def energy(D, x, penalty):
    exemplar = x == np.arange(len(x))
    return D[~exemplar, x[~exemplar]].sum() + penalty * exemplar.sum()


def slave_program(U, labels, alpha, beta):
    """The convex hull of all slaves, glued together: value, and multipliers from the LP's dual.

    Variables: x_pq, the copies y_pq of x_qq in slave p, its copy z_q in a cluster slave,
    m_C = max z_q, and the common g_q. With x_qq binary, m_C is 1 where a cluster is open, so
    that 2 m_C − 1 − Σ z_q is −|1 − Σ z_q|.
    """
    n, K = len(U), max(labels) + 1
    at_x, at_y, at_z, at_m, at_g = np.cumsum([0, n * n, n * n, n, K])
    size = at_g + n
    shares = np.diag(U) / (n + 1)
    cost = np.zeros(size)
    cost[:at_y] = np.where(np.eye(n), 0, U).ravel()
    cost[at_y:at_z] = np.tile(shares, n)
    cost[at_z:at_m] = shares - alpha
    cost[at_m:at_g] = 2 * alpha
    equal, equal_to, below = [], [], []

    def row(*entries):
        out = np.zeros(size)
        for column, value in entries:
            out[column] = value
        return out

    for p in range(n):
        for q in range(n):
            equal.append(row((at_y + p * n + q, 1), (at_g + q, -1)))
            equal_to.append(0)
    for q in range(n):
        equal.append(row((at_z + q, 1), (at_g + q, -1)))
        equal_to.append(0)
        below.append(row((at_z + q, 1), (at_m + labels[q], -1)))
    for p in range(n):
        equal.append(row(*((at_x + p * n + q, 1) for q in range(n))))
        equal_to.append(1)
        equal.append(row((at_x + p * n + p, 1), (at_y + p * n + p, -1)))
        equal_to.append(0)
        below += [row((at_x + p * n + q, 1), (at_y + p * n + q, -1)) for q in range(n) if q != p]
    bounds = [(0, 1)] * at_g + [(None, None)] * n
    arguments = {
        "A_ub": np.array(below),
        "b_ub": np.zeros(len(below)),
        "A_eq": np.array(equal),
        "b_eq": equal_to,
        "bounds": bounds,
    }
    constant = -alpha * K - beta * n
    relaxed = linprog(cost, **arguments)
    exact = linprog(cost, **arguments, integrality=np.arange(size) >= at_g)
    assert relaxed.success and exact.success
    glue = -relaxed.eqlin.marginals[: n * n + n]
    return (
        relaxed.fun + constant,
        exact.fun + constant,
        [glue[: n * n].reshape(n, n), glue[n * n :]],
    )


def small_sets(n_sets=3, n_samples=15, **kwargs):
    setting = {"n_features": 6, "n_clusters": 3, "center_std": 4.0} | kwargs
    draws = [make_noisy_gaussians(n_samples, **setting, random_state=s) for s in range(n_sets)]
    return [X for X, _ in draws], [np.unique(y, return_inverse=True)[1] for _, y in draws]


def descent(problems, w, *, regularizer, alpha, steps, max_iter, inner_iter=1, order=None,
            project=lambda w: w, patience=20, tol=1e-3):  # fmt: skip
    """The learning algorithm (Komodakis 2011, Figure 1) one line after another.

    `regularizer` is (J, its proximal step), `steps` the first ones of weights and multipliers.
    With `order`, a random state, the problems are visited one by one. Returns the path of the
    objective and, for its best point, (weights, multipliers, completions, loss).
    """
    value, prox = regularizer
    prices = [[np.zeros(batch.shape) for batch in problem.batches] for problem in problems]
    filled, rounds, path, best = [None] * len(problems), 0, [], None

    def losses(which):
        return [relaxed_loss(problems[k], w, prices[k], filled[k]) for k in which]

    def step(which, share):
        nonlocal w
        found, decay = losses(which), np.sqrt(1 + rounds / 10)
        slope = sum(loss.weights for loss in found)
        w = project(prox(w - steps[0] / decay * slope, steps[0] / decay * alpha * share))
        for k, loss in zip(which, found, strict=True):
            pairs = zip(prices[k], loss.multipliers, strict=True)
            prices[k] = [own - steps[1] / decay * gradient for own, gradient in pairs]

    w = project(w)
    everything = range(len(problems))
    for t in range(max_iter + 1):
        filled = [problems[k].complete(w, filled[k]) for k in everything]
        loss = sum(found.value for found in losses(everything))
        path.append(alpha * value(w) + loss)
        if path.index(min(path)) == t:
            best = w, list(prices), list(filled), loss
        stuck = t >= patience and min(path[: t - patience + 1]) - min(path) <= tol * abs(min(path))
        if stuck or t == max_iter:
            return np.array(path), best
        if order is not None:
            for k in order.permutation(len(problems)):
                filled[k] = problems[k].complete(w, filled[k])
                for _ in range(inner_iter):
                    step([k], 1 / len(problems))
            rounds += inner_iter
        else:
            for _ in range(inner_iter):
                step(everything, 1)
                rounds += 1
