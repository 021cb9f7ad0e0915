"""Labelled rows: MLCA in all its routes, its competitors, the spectral bound, partition losses."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.linear_model import Ridge

from benchmarks.case import Bar, Benchmark, Size
from mlbook.baselines import METRICS
from mlbook.kmeans import spectral_bound
from mlbook.mlca import MLCA, BinaryMLCA
from mlbook.partitions import normalized_assignment, partition_loss

D, N = 135, 2_000_000  # the features and pixels of Law 2016, Section 5.2
N_CLASSES = 10
IMAGE = 100 * 150  # pixels of a test image
CHUNKS = {"mlca-chunks": 100_000, "mlca-small-chunks": 1000}  # rows per call of partial_fit
OVER_N = ((1_000, D), (10_000, D), (100_000, D), (500_000, D), (N, D))
OVER_D = ((200_000, 32), (200_000, 64), (200_000, D), (200_000, 270))
DENSITY = 0.01  # share of entries that are not zero in a sparse matrix
WIDE_SPARSE = (20_000, 50_000)  # with 50 entries a row that are not zero


@dataclass(frozen=True)
class Rows:
    """Labelled rows, and the exact W = X†J."""

    X: NDArray[Any]
    y: NDArray[np.int64]
    W: NDArray[Any]

    @property
    def nbytes(self) -> int:
        """Size of X, to which memory is compared."""
        return self.X.nbytes


def make_rows(n: int, d: int, condition: float = 1.0) -> Rows:
    """Draw normal rows around class means, with a known W for any condition number.

    The rows are X = ZT. Z is well conditioned and its entries are multiples of 2⁻¹². T puts
    z_j + t z_{j+1} in place of every second column, with powers of two t from 2/condition up
    to 1: so X is exact in double precision, and W = T⁻¹Z†J is known to the accuracy of
    Z†J. Nothing as large as X is made beside it.
    """
    rng = np.random.default_rng(0)
    y = np.arange(n) % N_CLASSES
    means = rng.normal(size=(N_CLASSES, d))
    t = 2.0 ** -np.round(np.linspace(np.log2(max(condition / 2, 1)), 0, d // 2))
    X, gram, sums = np.empty((n, d)), np.zeros((d, d)), np.zeros((N_CLASSES, d))
    for start in range(0, n, 1000):
        block = slice(start, min(start + 1000, n))
        Z = np.round((rng.standard_normal((block.stop - start, d)) + means[y[block]]) * 2**12)
        Z /= 2**12
        gram += Z.T @ Z
        sums += np.stack([Z[c::N_CLASSES].sum(axis=0) for c in range(N_CLASSES)])
        if condition > 1:
            Z[:, 1::2] = Z[:, : d - 1 : 2] + t * Z[:, 1::2]
        X[block] = Z
    W = np.linalg.solve(gram, sums.T / np.sqrt(np.maximum(1, np.bincount(y))))
    if condition > 1:
        W[1::2] /= t[:, None]
        W[: d - 1 : 2] -= W[1::2]
    return Rows(X, y, W)


def make_ill_rows(n: int, d: int) -> Rows:
    """Draw rows with a condition number of at least 1e8."""
    return make_rows(n, d, condition=1e8)


def make_single_rows(n: int, d: int) -> Rows:
    """Give the rows in single precision, in which they are exact too."""
    rows = make_rows(n, d)
    return Rows(rows.X.astype(np.float32), rows.y, rows.W)


def make_plain_rows(n: int, d: int) -> Rows:
    """Draw normal rows around class means, of any shape; W is not known."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % N_CLASSES
    X = rng.standard_normal((n, d)) + rng.standard_normal((N_CLASSES, d))[y]
    return Rows(X, y, np.empty((0, 0)))


@dataclass(frozen=True)
class SparseRows:
    """Labelled sparse rows."""

    X: sp.csr_array
    y: NDArray[np.int64]

    @property
    def nbytes(self) -> int:
        """Size of what is stored of X."""
        return self.X.data.nbytes + self.X.indices.nbytes + self.X.indptr.nbytes


def make_sparse_rows(n: int, d: int, per_row: int | None = None) -> SparseRows:
    """Draw rows with `per_row` normal entries, by default a hundredth of all, the others zero."""
    rng = np.random.default_rng(0)
    per_row = round(DENSITY * d) if per_row is None else per_row
    columns = np.sort(rng.integers(d, size=(n, per_row)), axis=1).ravel()
    starts = per_row * np.arange(n + 1)
    X = sp.csr_array((rng.standard_normal(n * per_row), columns, starts), shape=(n, d))
    X.sum_duplicates()
    return SparseRows(X, np.arange(n) % N_CLASSES)


def make_wide_sparse_rows(n: int, d: int) -> SparseRows:
    """Draw rows with 50 entries."""
    return make_sparse_rows(n, d, per_row=min(50, d))


@dataclass(frozen=True)
class Image:
    """The features of the pixels of an image, and a two-class rule learned from others."""

    X: NDArray[np.float64]
    rule: BinaryMLCA


def make_image(n: int, d: int) -> Image:
    """Draw the pixels of an image, and as many to learn from."""
    rows = make_rows(2 * n, d)
    return Image(rows.X[n:], BinaryMLCA().fit(rows.X[:n], rows.y[:n] % 2))


def make_labels(n: int, k: int) -> NDArray[np.int64]:
    """Draw two labelings with k clusters each that agree on half of the points."""
    labels = np.random.default_rng(0).integers(k, size=(2, n))
    labels[1, ::2] = labels[0, ::2]
    return labels


def make_parts(n: int, d: int) -> tuple[MLCA, MLCA]:
    """Fit two models, to be merged, on n rows each."""
    rows = make_rows(2 * n, d)
    return MLCA().fit(rows.X[:n], rows.y[:n]), MLCA().fit(rows.X[n:], rows.y[n:])


def gram(data: Rows) -> NDArray[Any]:
    """Compute XᵀX, and nothing else."""
    return data.X.T @ data.X


def gram_of_states(parts: tuple[MLCA, MLCA]) -> NDArray[np.float64]:
    """Compute AᵀA for a matrix as large as the two triangles that are merged."""
    d = parts[0].n_features_in_
    A = np.ones((2 * d, d))
    return A.T @ A


def gram_in_chunks(data: Rows) -> NDArray[Any]:
    """Compute XᵀX from the smaller chunks, and nothing else."""
    chunk, total = CHUNKS["mlca-small-chunks"], np.zeros((data.X.shape[1],) * 2)
    for start in range(0, len(data.X), chunk):
        rows = data.X[start : start + chunk]
        total += rows.T @ rows
    return total


def fit(data: Rows | SparseRows) -> MLCA:
    """Fit MLCA to all rows."""
    return MLCA().fit(data.X, data.y)


def fit_in_chunks(data: Rows, chunk: int) -> MLCA:
    """Fit MLCA from chunks of rows."""
    model = MLCA()
    for start in range(0, len(data.y), chunk):
        model.partial_fit(data.X[start : start + chunk], data.y[start : start + chunk])
    model.components_  # noqa: B018 (solved for when first used)
    return model


def lstsq(data: Rows, solve: Callable[..., Any]) -> Any:
    """Solve for W by the least squares of NumPy or SciPy."""
    return solve(data.X, normalized_assignment(data.y).toarray())


def ridge(data: SparseRows) -> Ridge:
    """Solve for W by scikit-learn's ridge regression, with hardly any regularization."""
    model = Ridge(alpha=1e-6, fit_intercept=False)
    return model.fit(data.X, normalized_assignment(data.y).toarray())


def baseline(name: str) -> Callable[[Rows], Any]:
    """Learn a metric by a method of `mlbook.baselines`."""
    return lambda data: METRICS[name](data.X, data.y, random_state=0)


def metric_learn(name: str) -> Callable[[Rows], Any]:
    """Fit a metric-learn estimator on rows and classes, with its defaults."""

    def fit(data: Rows) -> Any:
        import metric_learn as library

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(library, name)().fit(data.X, data.y)

    return fit


def relative_error(data: Rows, model: MLCA) -> float:
    """‖Ŵ − W‖/‖W‖."""
    return float(np.linalg.norm(model.components_.T - data.W) / np.linalg.norm(data.W))


def on_rows(name: str, subject: Callable[[Rows], Any], **others: Any) -> Benchmark:
    """Compare a function of rows with XᵀX, over the number of rows if nothing else is said."""
    usual: dict[str, Any] = {
        "code": "mlca/estimators",
        "make": make_rows,
        "sizes": OVER_N,
        "versus": "XᵀX",
        "reference": gram,
        "grows": {"n": 1},
        "grows_from": 10_000,
        "tiny": (400, 12),
    }
    return Benchmark(name, subject=subject, **(usual | others))


def _mlca() -> Iterator[Benchmark]:
    what = "CPU time of a fit / XᵀX"
    yield on_rows(
        "mlca",
        fit,
        sizes=OVER_N + OVER_D,
        grows={"n": 1, "d": 2},
        error=relative_error,
        bars=(
            Bar(f"{what}, 135 features", "cpu_ratio", 1.15, (N, D)),
            Bar("extra memory of a fit / X", "memory", 0.1, (N, D)),
        ),
    )
    narrow: tuple[Size, ...] = ((200_000, 10), (632_000, 10), (N, 10))
    broad: tuple[Size, ...] = ((12_500, 1000), (25_000, 1000), (50_000, 1000))
    for name, sizes, width, limit in (
        ("mlca-narrow", narrow, "10", 2.5),
        ("mlca-broad", broad, "1,000", 1.05),
    ):
        bar = Bar(f"{what}, {width} features", "cpu_ratio", limit, sizes[-1])
        yield on_rows(name, fit, sizes=sizes, error=relative_error, bars=(bar,))
    yield on_rows(
        "mlca-ill",
        fit,
        make=make_ill_rows,
        error=relative_error,
        bars=(
            Bar(f"{what}, condition number 1e8", "cpu_ratio", 5.0, (N, D)),
            Bar("error of W at condition number 1e8", "error", 1e-7, (N, D)),
            Bar("extra memory of a fit / X, condition number 1e8", "memory", 0.1, (N, D)),
        ),
    )
    yield on_rows(
        "mlca-single",
        fit,
        make=make_single_rows,
        sizes=OVER_N[2:],
        versus="XᵀX in float32",
        error=relative_error,
        bars=(Bar("CPU time of a fit of float32 rows / XᵀX", "cpu_ratio", 3.0, (N, D)),),
    )
    wide: tuple[Size, ...] = ((250, 8000), (500, 8000), (1000, 8000))
    yield on_rows(
        "mlca-wide",
        fit,
        make=make_plain_rows,
        sizes=wide,
        versus="SciPy lstsq",
        reference=partial(lstsq, solve=scipy.linalg.lstsq),
        grows={"n": 2},
        grows_from=0,
        tiny=(30, 80),
        bars=(
            Bar("CPU time of a fit / lstsq, n < d", "cpu_ratio", 0.7, wide[-1]),
            Bar("extra memory of a fit / X, n < d", "memory", 2.0, wide[-1]),
        ),
    )


def _sparse() -> Iterator[Benchmark]:
    sizes: tuple[Size, ...] = ((6250, 5000), (12_500, 5000), (25_000, 5000))
    for name, versus, reference, limit in (
        ("mlca-sparse", "sparse XᵀX", lambda data: data.X.T @ data.X, 2.5),
        ("mlca-sparse-ridge", "sparse Ridge", ridge, 1.5),
    ):
        yield on_rows(
            name,
            fit,
            make=make_sparse_rows,
            sizes=sizes,
            versus=versus,
            reference=reference,
            grows_from=0,
            tiny=(300, 100),
            bars=(Bar(f"CPU time of a sparse fit / {versus}", "cpu_ratio", limit, sizes[-1]),),
        )
    bar = Bar("extra bytes of a fit, 20,000 × 50,000", "extra_bytes", 2e9, WIDE_SPARSE)
    yield on_rows(
        "mlca-sparse-wide",
        fit,
        make=make_wide_sparse_rows,
        sizes=((5000, 50_000), (10_000, 50_000), WIDE_SPARSE),
        versus="sparse XᵀX",
        reference=lambda data: data.X.T @ data.X,
        grows_from=0,
        tiny=(40, 120),
        bars=(bar,),
    )


def _in_parts() -> Iterator[Benchmark]:
    yield on_rows(
        "mlca-chunks",
        partial(fit_in_chunks, chunk=CHUNKS["mlca-chunks"]),
        sizes=OVER_N[2:],
        error=relative_error,
        bars=(Bar("CPU time by chunks of 100,000 / XᵀX", "cpu_ratio", 1.3, (N, D)),),
    )
    small: tuple[Size, ...] = ((100_000, D), (200_000, D), (400_000, D))
    yield on_rows(
        "mlca-small-chunks",
        partial(fit_in_chunks, chunk=CHUNKS["mlca-small-chunks"]),
        sizes=small,
        versus="XᵀX by chunks",
        reference=gram_in_chunks,
        error=relative_error,
        bars=(Bar("CPU time by chunks of 1,000 / XᵀX by chunks", "cpu_ratio", 1.3, small[-1]),),
    )
    yield Benchmark(
        "mlca-merge",
        code="mlca/estimators",
        subject=lambda parts: parts[0].merge(parts[1]),
        make=make_parts,
        sizes=tuple((2 * d, d) for _, d in OVER_D),
        versus="AᵀA of both triangles",
        reference=gram_of_states,
        grows={},  # n and d grow together
        tiny=(400, 12),
    )
    yield Benchmark(
        "two-class-rule",
        code="mlca/estimators",
        subject=lambda image: image.rule.cluster(image.X),
        make=make_image,
        sizes=((IMAGE // 4, D), (IMAGE // 2, D), (IMAGE, D)),
        versus="Xw",
        reference=lambda image: image.X @ image.rule.direction_,
        grows={"n": 1},
        tiny=(400, 12),
        bars=(Bar("CPU time of the two-class rule / Xw", "cpu_ratio", 3.0, (IMAGE, D)),),
    )


def _peers() -> Iterator[Benchmark]:
    peer = {"metric_learn": "reproduce"}
    library, other = {"code": "baselines/metrics"}, {"code": "partitions"}
    numpy_lstsq = partial(lstsq, solve=partial(np.linalg.lstsq, rcond=None))
    yield on_rows("lstsq", numpy_lstsq, **other)
    yield on_rows("kissme", baseline("kissme"), **library)
    yield on_rows("rca", metric_learn("RCA"), needs=peer, **other)
    yield on_rows("lfda", metric_learn("LFDA"), needs=peer, grows={"n": 2}, **other)
    yield on_rows("itml", baseline("itml"), needs=peer, **library)


def row_benchmarks() -> Iterator[Benchmark]:
    """List the benchmarks."""
    yield from _mlca()
    yield from _sparse()
    yield from _in_parts()
    yield from _peers()
    labelings: tuple[Size, ...] = ((100_000, 100), (1_000_000, 100), (10_000_000, 100))
    yield Benchmark(
        "partition_loss",
        code="partitions",
        subject=lambda labels: partition_loss(*labels),
        make=make_labels,
        sizes=labelings,
        versus="bincount",
        reference=lambda labels: np.bincount(labels[0]),
        grows={"n": 1},
        tiny=(400, 12),
        bars=(Bar("CPU time of the loss / bincount", "cpu_ratio", 12.0, labelings[-1]),),
    )
    of_bound = Bar("CPU time of the bound / XᵀX, 50 features", "cpu_ratio", 2.5, (100_000, 50))
    narrow = Bar("CPU time of the bound / XᵀX, 20 features", "cpu_ratio", 2.5, (N, 20))
    yield on_rows(
        "spectral_bound",
        lambda data: spectral_bound(data.X, N_CLASSES),
        code="kmeans",
        sizes=((25_000, 50), (50_000, 50), (100_000, 50), (N, 20)),
        bars=(of_bound, narrow),
    )
