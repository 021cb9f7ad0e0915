"""The lowest point under a ceiling of cuts: the model that bounds a regularized loss from below.

Learning minimizes τJ(w) + Σ_k (energy of x^k − minimum of all energies of problem k). Energies are
linear in w: any configuration of problem k gives a cut, a linear function that the minimum of
problem k never exceeds. With few of them in place of all, the objective becomes a model below it.
"""

from typing import NamedTuple, Self

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from mlbook._arrays import Floats, Integers

_TANGENTS = 12  # rounds of tangents to a squared norm, at most
_TIGHT = 1e-4  # share of the model's value to which they bring it


class Cuts(NamedTuple):
    """Linear functions w·slope + offset, none below the minimum of the energies of its owner.

    Attributes
    ----------
    slopes : ndarray of shape (m, n_features)
    offsets : ndarray of shape (m,)
    owners : ndarray of shape (m,)
        Number of the problem.
    """

    slopes: Floats
    offsets: Floats
    owners: Integers

    @classmethod
    def none(cls, n_features: int) -> Self:
        """Return an empty collection."""
        return cls(np.empty((0, n_features)), np.empty(0), np.empty(0, dtype=np.intp))

    def add(self, slopes: Floats, offsets: Floats) -> Self:
        """Add one cut for each problem."""
        return type(self)(
            np.vstack([self.slopes, slopes]),
            np.append(self.offsets, offsets),
            np.append(self.owners, np.arange(len(offsets))),
        )


class Model(NamedTuple):
    """τJ(w) + slope·w + offset − Σ_k (lowest cut of problem k at w).

    Attributes
    ----------
    regularizer : {"l1", "l2"}
        J is Σ |w_i| or ½ Σ w_i².
    alpha : float
        τ.
    slope, offset : ndarray of shape (n_features,), float
        Energy of the x^k. They must be among the cuts too, so that no loss is below zero.
    cuts : Cuts
        At least one for each problem.
    signed : bool, default=False
        Whether weights may be negative.
    """

    regularizer: str
    alpha: float
    slope: Floats
    offset: float
    cuts: Cuts
    signed: bool = False

    def minimize(self, low: Floats, high: Floats) -> tuple[Floats, float, Floats]:
        """Find the lowest point of the model within low ≤ w ≤ high, by linear programs (HiGHS).

        A squared norm is replaced by tangents, which are added where the last point was found.

        Returns
        -------
        w, value : ndarray of shape (n_features,), float
            The point, and the model there or, by its tangents, a little less.
        shares : ndarray of shape (m,)
            What each cut counts: they add up to 1 for each problem.
        """
        slopes, offsets, owners = self.cuts
        (m, F), K = slopes.shape, int(owners.max()) + 1
        of_owner = sparse.csr_matrix((np.ones(m), (np.arange(m), owners)), (m, K))
        # Variables: w, the lowest cut of each problem, and for each weight its part of J.
        costs = np.concatenate([self.slope, np.full(K, -1.0), np.full(F, self.alpha)])
        eye, nothing = sparse.identity(F, format="csr"), sparse.csr_matrix((F, K))
        rows = [sparse.hstack([sparse.csr_matrix(-slopes), of_owner, sparse.csr_matrix((m, F))])]
        limits = [offsets]
        bounds = np.column_stack([np.append(low, np.full(K + F, -np.inf)),
                                  np.append(high, np.full(K + F, np.inf))])  # fmt: skip
        bounds[F + K :, 0] = 0

        def touch(slope: Floats, limit: Floats) -> None:
            rows.append(sparse.hstack([sparse.diags(slope), nothing, -eye]))
            limits.append(limit)

        if self.regularizer == "l1":
            touch(np.ones(F), np.zeros(F))
            touch(-np.ones(F), np.zeros(F))
        else:
            for w in (low, high):
                if np.isfinite(w).all():
                    touch(w, w * w / 2)
        for _ in range(_TANGENTS):
            found = linprog(
                costs, A_ub=sparse.vstack(rows, format="csr"), b_ub=np.concatenate(limits),
                bounds=bounds, method="highs",
            )  # fmt: skip
            if found.status != 0:
                raise RuntimeError(f"the linear program of the cuts failed: {found.message}")
            w, parts = found.x[:F], found.x[F + K :]
            value = float(found.fun) + self.offset
            missing = w * w / 2 - parts
            if self.regularizer == "l1" or self.alpha * missing.sum() <= _TIGHT * abs(value):
                break
            touch(w, w * w / 2)
        shares = np.maximum(-found.ineqlin.marginals[:m], 0)
        totals = np.bincount(owners, shares, K)
        shares /= np.where(totals > 0, totals, 1)[owners]
        return w, value, shares

    def bound(self) -> tuple[float, Floats]:
        """Bound the objective from below, for all w (Komodakis 2011, Eq. 28), and say by which w.

        The cuts are averaged with the shares that the linear program gives them. What is left is
        τJ and a linear function, whose minimum is known: no accuracy of the program counts.
        """
        F = len(self.slope)
        far = np.full(F, np.inf)
        w, _, shares = self.minimize(-far if self.signed else np.zeros(F), far)
        value = self.offset - float(shares @ self.cuts.offsets)
        descent = (
            shares @ self.cuts.slopes - self.slope
        )  # the other problems have cuts of their own
        descent = np.abs(descent) if self.signed else np.maximum(descent, 0)
        if self.regularizer == "l2":
            missing = float(descent @ descent) / 2
            return (value - missing / self.alpha if self.alpha else 0.0), w
        # If it falls for ever, as much of it is taken as does not: the cuts of the x^k are flat.
        steepest = float(descent.max())
        tiny = 1e-12 * float(np.abs(self.slope).max(initial=0))
        return value * (1.0 if steepest <= self.alpha + tiny else self.alpha / steepest), w
