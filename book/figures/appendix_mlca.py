"""Figures of the appendix on MLCA: a sample of the rows, and the condition number."""

from fractions import Fraction
from functools import cache

import numpy as np
from matplotlib.figure import Figure

from book.figures.mlca import cluster, draw_crossed, one_thread, show_found, turned_view
from book.figures.names import name_after
from book.spread import mean_of
from mlbook._arrays import Floats, Integers
from mlbook.mlca import MLCA
from mlbook.partitions import normalized_assignment, partition_loss
from mlbook.plots import COLORS, INK, MARKERS, subplots

__all__ = [
    "CAUSES",
    "ROUTES",
    "conditioning",
    "exact_fit",
    "relative_errors",
    "sampled_rows",
    "sensors",
    "subsampling",
]


# A sample of the rows


@cache
def subsampling(share: float) -> tuple[Floats, Floats]:
    """Learn from a random share of 30 000 rows; compare with the metric of all of them.

    Returns ‖M/‖M‖ − M_all/‖M_all‖‖ and Δ on 3000 test rows for 20 data sets, a sample of each.
    """
    errors, losses = [], []
    for seed in range(20):
        X, y, T, t = draw_crossed((5000,) * 3, 1.0, 7, (500,) * 3, seed)
        drawn = np.random.default_rng(seed).choice(len(X), round(share * len(X)), replace=False)
        with one_thread():
            model = MLCA().fit(X[drawn], y[drawn])
        errors.append(np.linalg.norm(_unit(model) - _from_all_rows(seed)))
        losses.append(partition_loss(t, cluster(model.transform(T))))
    return np.array(errors), np.array(losses)


def sampled_rows() -> Figure:
    """Draw the error of the metric and Δ on test data over the size of the sample."""
    shares = np.array([1, 0.3, 0.1, 0.03, 0.01, 0.003])
    figure, axes = subplots(1, 2, height=2.9)
    for i, (ax, title) in enumerate(
        zip(axes[0], ["error of the metric", "Δ on test data"], strict=True)
    ):
        means = [mean_of(subsampling(float(share))[i]) for share in shares]
        kept = [(n, m) for n, m in zip(30_000 * shares, means, strict=True) if m.mean > 1e-9]
        rows, found = zip(*kept, strict=True)
        errors = [m.error for m in found]
        ax.errorbar(rows, [m.mean for m in found], errors, marker="o", color=COLORS[0])
        ax.set(xscale="log", xlabel="rows", title=title)
    axes[0, 0].set(yscale="log")
    axes[0, 1].set(ylim=(0, None))
    return figure


@cache
def _from_all_rows(seed: int) -> Floats:
    X, y, *_ = draw_crossed((5000,) * 3, 1.0, 7, (500,) * 3, seed)
    with one_thread():
        return _unit(MLCA().fit(X, y))


def _unit(model: MLCA) -> Floats:
    M = model.get_mahalanobis_matrix()
    return M / np.linalg.norm(M)


# Conditioning


CAUSES = ("twin features", "tiny unit")
ROUTES = ("Cholesky of XᵀX", "pseudo-inverse of XᵀX", "QR of X")


def sensors(condition: float, cause: str) -> tuple[Floats, Integers]:
    """Sixty points of three classes that only badly conditioned features tell apart.

    With "twin features" two pairs of features are equal but for a signal of size 1/condition;
    with "tiny unit" the signals are features of their own, one of them in a unit that makes
    its numbers 1/condition as large as the others.

    Examples
    --------
    >>> X, y = sensors(1e4, "tiny unit")
    >>> X.shape, np.bincount(y).tolist()
    ((60, 4), [20, 20, 20])
    """
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    signal = np.array([[3.0, 1.0], [0.0, 2.7], [0.0, -0.7]])[y] + 0.5 * rng.normal(size=(60, 2))
    drift = rng.normal(size=(60, 2))
    if cause == "tiny unit":
        return np.hstack([drift, signal * [1, 1 / condition]]), y
    return np.hstack([drift, drift + signal / condition]), y


def exact_fit(X: Floats, targets: Floats) -> Floats:
    """Fitted values XX†T of least squares in rational arithmetic, rounded once at the end.

    For X of full column rank, by elimination on XᵀX without any rounding. O(nd²) operations on
    integers of growing length: for small examples.

    Examples
    --------
    >>> print(exact_fit(np.array([[3.0], [4.0]]), np.array([[5.0], [10.0]])))
    [[6.6]
     [8.8]]
    """
    d = X.shape[1]
    rows = [[Fraction(value) for value in row] for row in np.hstack([X, targets]).tolist()]
    G = [[sum(row[i] * value for row, value in zip(rows, column, strict=True))
          for column in zip(*rows, strict=True)] for i in range(d)]  # fmt: skip
    for i in range(d):
        G[i] = [value / G[i][i] for value in G[i]]
        for j in set(range(d)) - {i}:
            G[j] = [a - G[j][i] * b for a, b in zip(G[j], G[i], strict=True)]
    fitted = [[sum(row[i] * G[i][c] for i in range(d)) for c in range(d, len(row))] for row in rows]
    return np.array(fitted, dtype=float)


def _fit_by(route: str, X: Floats, y: Integers) -> Floats | None:
    """XL by one way of solving the regression; None where Cholesky refuses."""
    J = normalized_assignment(y).toarray()
    if route == "pseudo-inverse of XᵀX":
        return X @ (np.linalg.pinv(X.T @ X, rcond=1e-12) @ (X.T @ J))
    solver = "qr" if route == "QR of X" else "cholesky"
    try:
        return MLCA(solver=solver).fit(X, y).transform(X)
    except ValueError:
        return None


@cache
def relative_errors(condition: float, cause: str) -> tuple[float, ...]:
    """Relative errors of XL by each route; nan where it refuses."""
    X, y = sensors(condition, cause)
    exact = exact_fit(X, normalized_assignment(y).toarray())
    fits = [_fit_by(route, X, y) for route in ROUTES]
    norm = np.linalg.norm(exact)
    return tuple(
        float("nan") if fit is None else float(np.linalg.norm(fit - exact) / norm) for fit in fits
    )


def conditioning(condition: float, cause: str, route: str) -> tuple[Figure, str]:
    """Draw the error of three ways of solving the regression over the condition number of X."""
    X, y = sensors(condition, cause)
    fit, actual = _fit_by(route, X, y), np.linalg.cond(X)
    digits = np.arange(11)
    errors = np.array([relative_errors(10.0**digit, cause) for digit in digits])
    figure, axes = subplots(1, 2, height=3.1)
    left, right = axes[0]
    for error, name, color, marker in zip(errors.T, ROUTES, COLORS, MARKERS, strict=False):
        style = {"color": color, "marker": marker, "linewidth": 3 if name == route else 1.2}
        left.plot(digits, np.log10(np.maximum(error, 1e-16)), label=name, **style)
    left.axvline(np.log10(condition), color=INK, linewidth=1, linestyle=":")
    left.set(xlabel="condition number, about", title="relative error of XL", ylim=(-16.5, 5))
    for axis, ticks in [(left.xaxis, range(0, 11, 2)), (left.yaxis, range(-16, 1, 4))]:
        axis.set_ticks(list(ticks), [f"1e{tick}" for tick in ticks])
    left.legend(frameon=False, fontsize=9, loc="upper left")
    right.set(title=f"{route}", xticks=[], yticks=[])
    words = f"{cause}, condition number {actual:.1e}, {route}: "
    if fit is None:
        right.text(0.5, 0.5, "refused:\nnumerically\nsingular", ha="center", va="center")
        right.set(xlim=(0, 1), ylim=(0, 1))
        return figure, words + "XᵀX is not positive definite in double precision, refused."
    found = name_after(y, cluster(fit))
    show_found(right, turned_view(fit), y, found)
    right.set(xlim=(-1.1, 1.1), ylim=(-1.1, 1.1))
    error = relative_errors(condition, cause)[ROUTES.index(route)]
    return figure, words + f"error {error:.0e}, Δ = {partition_loss(y, found):.2f}."
