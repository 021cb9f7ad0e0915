"""Metrics learned by other methods: what the papers compare with.

Each method is a function of labelled rows that returns a linear map. The metric it has
learned is the Euclidean distance after ``X @ components.T``. `METRICS` holds the methods by
name, and the first line of each docstring says what it is:

>>> for name, learn in METRICS.items():
...     print(f"{name:10}", learn.__doc__.splitlines()[0])
euclidean  Euclidean distance: nothing is learned.
regression Least squares onto class indicators: MLCA without its normalization.
lda        Linear discriminant analysis (Fisher 1936, Rao 1948).
rca        Relevant component analysis, one chunk per class (Shental et al. 2002).
kissme     Keep it simple and straightforward metric learning, KISSME (Köstinger et al. 2012).
xqda       KISSME in the subspace where it is positive, XQDA (Liao et al. 2015).
pcca       Pairwise constrained component analysis (Mignon and Jurie 2012).
mmc        Metric learning from side information, MMC (Xing et al. 2002).
itml       Information-theoretic metric learning (Davis et al. 2007).
lmnn       Large margin nearest neighbours (Weinberger et al. 2005).

Law 2016, Section 5.1 gives all n(n − 1)/2 pairs of rows to the methods that learn from pairs.
KISSME and XQDA have them all here too, but through class scatters, in O(nd²) operations
instead of O(n²d²). The iterative methods draw `N_PAIRS` of them, and LMNN, whose cost is
quadratic in n, draws at most `MAX_SAMPLES` rows.

MMC, ITML and LMNN are those of metric-learn with its default settings, and need the
extra ``reproduce``.

`RCA`, `KISSME` and `LDAMetric` are estimators: they have `fit`, `transform`, `cluster` and `score`.

The files: `metrics` (all of these) and `estimators` (three of them for scikit-learn).
"""

from mlbook.baselines.estimators import KISSME, RCA, LDAMetric
from mlbook.baselines.metrics import (
    MAX_SAMPLES,
    METRICS,
    N_PAIRS,
    euclidean,
    itml,
    kissme,
    lda,
    lmnn,
    mmc,
    pcca,
    rca,
    regression,
    xqda,
)

__all__ = [
    "KISSME",
    "MAX_SAMPLES",
    "METRICS",
    "N_PAIRS",
    "RCA",
    "LDAMetric",
    "euclidean",
    "itml",
    "kissme",
    "lda",
    "lmnn",
    "mmc",
    "pcca",
    "rca",
    "regression",
    "xqda",
]
