"""What the book found in the four papers: the list, and the computations that show it."""

import re
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.integrate import quad
from scipy.special import eval_hermitenorm

from book.figures.change_points import printed_algorithm, splits_in_time
from book.figures.kmeans import all_partitions
from book.figures.mimlca import toy_bags, wrong_names
from mlbook import MIMLCA, Bags, BinaryMLCA
from mlbook._arrays import Floats, Integers
from mlbook.baselines import METRICS
from mlbook.changepoints import loss_augmented_segment, segment_matrix
from mlbook.datasets import make_crossed_clusters
from mlbook.kmeans import distortion
from mlbook.large_margin import structured_hinge
from mlbook.latent_crf import ExemplarProblem, initial_multipliers, point_slaves, relaxed_loss
from mlbook.mimlca import chi2_rbf_kernel, feasible_assignments, own_clusters, weak_kmeans
from mlbook.mlca import closed_form_metric, worst_case_risk
from mlbook.ncuts import normalized_cut_value
from mlbook.partitions import (
    contingency,
    equivalence_matrix,
    normalized_assignment,
    partition_loss,
)

__all__ = [
    "FINDINGS",
    "KINDS",
    "Finding",
    "address",
    "best_found",
    "chi2_forms",
    "copies",
    "counts",
    "cut_mistakes",
    "flow_errors",
    "hermite_overlap",
    "kept_sum",
    "kernel_values",
    "loss_from_flows",
    "noise_errors",
    "optimal_metrics",
    "own_segments",
    "program_mistakes",
    "second_case",
    "signs_right",
    "singular_disagreement",
    "slave_mistakes",
    "spectral_step",
    "stochastic_excess",
    "summary",
    "theorem_2",
    "violated",
]

# --- the list ----------------------------------------------------------------------------------

ERROR, GAP, UNCLEAR, NUMBER = KINDS = ("error", "gap in proof", "unclear", "number")


class Finding(NamedTuple):
    """One item: its label on the page, what it is about, its kind, where the book treats it."""

    label: str
    what: str
    kind: str
    page: str
    section: str


_MLCA, _CRF, _MI = "mlca.ipynb", "latent_crf.ipynb", "mimlca.ipynb"
_CRF2 = "appendix_latent_crf.ipynb"
_CP, _CUT, _KM = "change_points.ipynb", "normalized_cuts.ipynb", "kmeans.ipynb"
_R16, _R17, _R11, _R14, _RSEG = (
    f"reproduction/{p}.ipynb"
    for p in ("law2016", "law2017", "komodakis2011", "lajugie2014", "segmentation")
)

FINDINGS: dict[str, tuple[Finding, ...]] = {
    "Law 2016": (
        Finding("rows", "Which projectors are partitions", ERROR, _KM, "The partition matrix"),
        Finding("side", "A factor on the wrong side", ERROR, _KM, "The trace"),
        Finding(
            "second-case",
            "Theorem 3.1: a case is missing",
            GAP,
            _MLCA,
            "The general case",
        ),
        Finding(
            "optima",
            "Many metrics are optimal",
            UNCLEAR,
            _MLCA,
            "The theorem fixes a space, not its weights",
        ),
        Finding(
            "forgets",
            "Tables 1 to 3: how was clustered?",
            UNCLEAR,
            _MLCA,
            "Trap 4: the spectral step that forgets M",
        ),
        Finding(
            "centred",
            "The spectral step on centred data",
            UNCLEAR,
            _MLCA,
            "Trap 1: centring, then the spectral step",
        ),
        Finding(
            "sign",
            "The sign rule needs a constant",
            UNCLEAR,
            _MLCA,
            "Trap 2: centring is no intercept for the sign rule",
        ),
        Finding("pairs", "What KISSME costs", UNCLEAR, _MLCA, "What it costs"),
        Finding("kissme", "KISSME in Table 2", NUMBER, _R16, "Table 2: different sizes"),
        Finding("rand", "Rand losses in Table 4", UNCLEAR, _RSEG, "Table 4: Horses"),
    ),
    "Komodakis 2011": (
        Finding("slaves", "Slaves that open nothing", ERROR, _CRF, "The slaves"),
        Finding("nearest", "The nearest exemplar", ERROR, _CRF, "What is latent"),
        Finding("positive", "α or β equal to zero", ERROR, _CRF, "The loss"),
        Finding("tight", "A bound called tight", UNCLEAR, _CRF, "The floor of the relaxed loss"),
        Finding("stochastic", "The stochastic variant", ERROR, _CRF, "Exercises"),
        Finding(
            "hidden", "What Section 5 needs of the error function", UNCLEAR, _CRF2, "Any latent CRF"
        ),
        Finding("diagonal", "Are prices learned?", UNCLEAR, _CRF, "Distances with weights"),
        Finding("price", "How high a price", UNCLEAR, _CRF, "The price"),
        Finding("steps", "One step size", UNCLEAR, _CRF2, "Two steps, and scales"),
        Finding("linear", "Linear time", UNCLEAR, _CRF, "What is latent"),
        Finding("accuracy", "Accuracy of a clustering", UNCLEAR, _R11, "The 15 scene categories"),
        Finding("negative", "χ² of Gaussian vectors", UNCLEAR, _R11, "Textures and noise"),
        Finding("figure2", "Figure 2", NUMBER, _R11, "Figure 2: features of noise"),
    ),
    "Law 2017": (
        Finding("kernel", "A kernel version that never moves", ERROR, _MI, "The kernel trap"),
        Finding(
            "optimal", "Not the optimal assignment", ERROR, _MI, "What the theorem does not say"
        ),
        Finding("eigenfaces", "What eigenfaces are", ERROR, _MI, "The algorithm"),
        Finding("listing", "A sum in the listing of A.10", ERROR, _R17, "Why MIML does not learn"),
        Finding("column", "Row or column", ERROR, _MI, "The algorithm"),
        Finding("discrepancy", "A discrepancy that is not zero", UNCLEAR, _MI, "Which metric?"),
        Finding("jointly", "Learned jointly", UNCLEAR, _MI, "What the theorem does not say"),
        Finding("exactly", "At most one, or exactly one", UNCLEAR, _MI, "The feasible set"),
        Finding("scale", "Features of no size", UNCLEAR, _MI, "Trap 1: noise on a tiny scale"),
        Finding("singular", "Singular kernel matrices", UNCLEAR, _MI, "Exercises"),
        Finding("empty", "Categories that nobody got", UNCLEAR, _MI, "Further"),
        Finding("alpha", "No hyperparameters, and α", UNCLEAR, _MI, "Prediction and α"),
        Finding("ties", "Ties in rankings", UNCLEAR, "api/bags.md", ""),
    ),
    "Lajugie 2014": (
        Finding("program", "Algorithm 1", ERROR, _CP, "Dynamic programming"),
        Finding("chi2", "A factor 2", UNCLEAR, _KM, "How far apart are two partitions?"),
        Finding(
            "oblique",
            "Idempotent is not enough",
            ERROR,
            "appendix_change_points.ipynb",
            "Free partitions need a relaxation",
        ),
        Finding("sizes", "Sizes and numbers", ERROR, _CP, "The same matrix, in blocks"),
        Finding("cut", "Normalized cuts", ERROR, _CUT, "It is a trace"),
        Finding("convex", "A convex part that is not", ERROR, _CUT, "Majorize, minimize"),
        Finding("flows", "Appendix A: a sign", ERROR, _KM, "How far apart are two partitions?"),
        Finding("unit", "The loss of Eq. (8) in the tables", ERROR, _R14, ""),
        Finding(
            "theorem2", "Appendix B, Theorem 2", GAP, "loss_bounds.ipynb", "Boundaries that shift"
        ),
        Finding("psd", "Free K and a PSD matrix", UNCLEAR, _CP, "The same matrix, in blocks"),
        Finding(
            "singletons",
            "λ = 1 while learning",
            UNCLEAR,
            _CP,
            "The singletons, or why the scale shrinks",
        ),
        Finding(
            "origin",
            "The relaxation sees the origin",
            UNCLEAR,
            _KM,
            "The relaxation and Fan's theorem",
        ),
        Finding(
            "hermite",
            "Hermite functions",
            UNCLEAR,
            _CP,
            "From changes of the mean to changes of the distribution",
        ),
        Finding("frontier", "No frontier", UNCLEAR, _KM, "How far apart are two partitions?"),
        Finding("iris", "Iris and Wine in Table 2", NUMBER, _R14, "Iris"),
        Finding(
            "figure1",
            "Figure 1",
            NUMBER,
            _R14,
            "Figure 1: few relevant columns, few labels",
        ),
    ),
}


def address(item: Finding) -> str:
    """Address of the section in the built book; a table made by a cell needs the page itself.

    Examples
    --------
    >>> address(Finding("slaves", "Slaves", "error", "latent_crf.ipynb", "The slaves"))
    'latent_crf.html#the-slaves'
    """
    page = f"{item.page.rsplit('.', 1)[0]}.html"
    anchor = re.sub("[^a-z0-9]+", "-", item.section.lower()).strip("-")
    return f"{page}#{anchor}" if anchor else page


def summary() -> tuple[list[str], list[list[str]]]:
    """All items with their kinds and links, for `book.figures.style.table`.

    Examples
    --------
    >>> for row in summary()[1][:2]:
    ...     print(row[:2])
    ['**Law 2016**', '']
    ['[Which projectors are partitions](#err-rows)', 'error']
    """
    rows = []
    for paper, findings in FINDINGS.items():
        rows.append([f"**{paper}**", "", ""])
        for item in findings:
            name = item.section or item.page.rsplit(".", 1)[0]
            what = f"[{item.what}](#err-{item.label})"
            rows.append([what, item.kind, f"[{name}]({address(item)})"])
    return ["what", "kind", "in the book"], rows


def counts() -> tuple[list[str], list[list[object]]]:
    """Count the items of each kind, paper by paper."""
    rows: list[list[object]] = []
    for paper, findings in FINDINGS.items():
        kinds = [item.kind for item in findings]
        rows.append([paper, *(kinds.count(kind) for kind in KINDS)])
    return ["paper", *KINDS], rows


# --- Law 2016 ----------------------------------------------------------------------------------


def second_case(n_metrics: int, seed: int = 0) -> dict[str, float]:
    """Centred data with rank(PCP) < k < rank(X), which the proof of Theorem 3.1 leaves out.

    Gives the ranks, the rank of the projector that the proof then builds (appendix A.3, second
    case), and by how much the best of some random metrics exceeds the risk of the closed form.

    Examples
    --------
    >>> ranks = second_case(1)
    >>> [int(ranks[name]) for name in ("rank(PCP)", "k", "rank(X)", "rank as printed")]
    [1, 2, 3, 3]
    """
    rng = np.random.default_rng(seed)
    y = np.array([0, 0, 0, 1, 1, 1, 1])
    X = rng.normal(size=(7, 3)) + np.outer(y, [1.0, 0, 0])
    X -= X.mean(axis=0)
    P, C = X @ np.linalg.pinv(X), equivalence_matrix(y)
    U = np.linalg.svd(X, full_matrices=False)[0]
    closed = worst_case_risk(X, closed_form_metric(X, normalized_assignment(y)), y)
    factors = rng.normal(size=(n_metrics, 3, 3))
    factors[::3, :, 1:] = 0
    factors[1::3, :, 2] = 0
    found = min(worst_case_risk(X, L @ L.T, y) for L in factors)
    return {
        "rank(PCP)": float(np.linalg.matrix_rank(P @ C @ P)),
        "k": 2.0,
        "rank(X)": float(np.linalg.matrix_rank(X)),
        "rank as printed": float(np.linalg.matrix_rank(U @ U.T)),
        "excess": found - closed,
    }


def optimal_metrics(n_draws: int = 20) -> tuple[Floats, Floats]:
    """Compare Eq. (15) with the regression onto plain indicators, on draws of the toy data.

    Returns, by draw, the difference of their risks, and the largest difference of the diagonals
    of the two metrics after division by their traces.
    """
    gaps = np.empty((n_draws, 2))
    for seed in range(n_draws):
        X, y = make_crossed_clusters((20, 40, 80), random_state=seed)
        L = METRICS["regression"](X, y)
        metrics = [closed_form_metric(X, normalized_assignment(y)), L.T @ L]
        risks = [worst_case_risk(X, M, y) for M in metrics]
        shares = [M.diagonal() / M.trace() for M in metrics]
        gaps[seed] = risks[0] - risks[1], np.abs(shares[0] - shares[1]).max()
    return gaps[:, 0], gaps[:, 1]


def spectral_step(n_draws: int = 20) -> tuple[list[bool], list[float]]:
    """Follow the singular vectors of Section 3.4 on draws of the toy data, where d = k = 3.

    Returns whether the vectors of X, of XW and of XR, with a random R for W, have the same inner
    products, and, if the data are centred, the third singular value of XW over the first.
    """
    same, ratios = [], []
    for seed in range(n_draws):
        X, y = make_crossed_clusters((20, 40, 80), random_state=seed)
        J = normalized_assignment(y).toarray()
        random = np.random.default_rng(seed).normal(size=(3, 3))
        mapped = (X, X @ np.linalg.pinv(X) @ J, X @ random)
        U, *others = (np.linalg.svd(Z, full_matrices=False)[0] for Z in mapped)
        same.append(all(np.allclose(U @ U.T, V @ V.T, atol=1e-6) for V in others))
        centred = X - X.mean(axis=0)
        values = np.linalg.svd(centred @ np.linalg.pinv(centred) @ J, compute_uv=False)
        ratios.append(float(values[2] / values[0]))
    return same, ratios


def signs_right(n_draws: int = 20) -> Floats:
    """Share of points with the right sign, by draw: centred, and with a column of ones.

    Two classes of 200 and 1800 points, four standard deviations apart.
    """
    shares = np.empty((n_draws, 2))
    y = np.where(np.arange(2000) < 200, 1, -1)
    for seed in range(n_draws):
        X = np.random.default_rng(seed).normal(size=(2000, 2)) + 4 * np.outer(y == 1, [1, 0])
        centred = X - X.mean(axis=0)
        alone = BinaryMLCA().fit(centred, y).cluster(centred)
        ones = BinaryMLCA(fit_intercept=True).fit(X, y).cluster(X)
        shares[seed] = np.mean(alone == y), np.mean(ones == y)
    return shares


# --- Komodakis 2011 ----------------------------------------------------------------------------


def slave_mistakes(n_slaves: int, n: int = 4, seed: int = 0) -> dict[str, int]:
    """Compare the slave of a point, as printed and completed, with all of its binary states.

    Random slaves of n points. "infeasible" counts those in which Eqs. 32-33 assign the point to
    an exemplar that they leave closed, "wrong" those in which a rule misses the minimum.

    Examples
    --------
    >>> slave_mistakes(50)["completed, wrong"]
    0
    """
    rng = np.random.default_rng(seed)
    found = {"printed, infeasible": 0, "completed, infeasible": 0, "completed, wrong": 0}
    for _ in range(n_slaves):
        U, prices = rng.uniform(0, 3, (n, n)), rng.normal(size=(n, n))
        theta = U.diagonal() / (n + 1) + prices[0]

        def energy(chosen: int, is_open: Integers, U: Floats = U, theta: Floats = theta) -> float:
            feasible = is_open[chosen] and is_open[0] == (chosen == 0)
            move = U[0, chosen] if chosen else 0.0
            return move + float(theta @ is_open) if feasible else np.inf

        every = product(range(n), map(np.array, product([0, 1], repeat=n)))
        least = min(energy(q, is_open) for q, is_open in every)
        chosen, complete = point_slaves(U, prices)
        q, is_open = int(chosen[0]), complete[0].astype(int)
        printed = (theta < 0).astype(int)
        printed[0] = q == 0
        found["printed, infeasible"] += np.isinf(energy(q, printed))
        found["completed, infeasible"] += np.isinf(energy(q, is_open))
        found["completed, wrong"] += not np.isclose(energy(q, is_open), least)
    return {name: int(count) for name, count in found.items()}


def stochastic_excess(n_sets: int, tau: float = 0.5, seed: int = 0) -> Floats:
    """Measure what the printed stochastic step regularizes too much, in units of τ∇J.

    One training set is drawn at a time, and its subgradient takes the place of the sum over all
    in Eq. 31. K times the mean of these K steps should be the gradient of (28), which is measured
    by differences, with J(w) = ‖w‖₁; what is too much is returned, feature by feature.

    Examples
    --------
    >>> print(stochastic_excess(3))
    [2. 2.]
    """
    rng = np.random.default_rng(seed)
    w, h = np.array([0.5, 0.5]), 1e-5
    problems = [
        ExemplarProblem(rng.normal(size=(6, 2)), [0, 0, 0, 1, 1, 1], penalty=3.0)
        for _ in range(n_sets)
    ]
    samples = [(p, initial_multipliers(p), p.complete(w, None)) for p in problems]

    def loss(w: Floats) -> float:
        losses = [relaxed_loss(p, w, prices, x).value for p, prices, x in samples]
        return float(tau * np.abs(w).sum() + sum(losses))

    steps = [tau * np.sign(w) + relaxed_loss(p, w, prices, x).weights for p, prices, x in samples]
    gradient = [(loss(w + e) - loss(w - e)) / (2 * h) for e in h * np.eye(2)]
    return np.round((n_sets * np.mean(steps, axis=0) - gradient) / tau, 5) + 0.0


# --- Law 2017 ----------------------------------------------------------------------------------


def best_found(n_problems: int, n_starts: int = 1, seed: int = 0, init: str = "random") -> int:
    """Count small problems in which Algorithm 1 ends in the best assignment, from some starts.

    Four bags of two instances with two of three labels; all 16 feasible assignments are tried.
    Here `init="weighted"` is also the start of the authors' program: all bags have two instances
    and two labels.

    Examples
    --------
    >>> best_found(5) <= best_found(5, n_starts=20)
    True
    """
    rng = np.random.default_rng(seed)
    offsets = np.arange(0, 9, 2)
    found = 0
    for _ in range(n_problems):
        Y = 1 - np.eye(3, dtype=int)[rng.integers(3, size=4)]
        U = np.linalg.svd(rng.normal(size=(8, 2)), full_matrices=False)[0]
        every = feasible_assignments(offsets, Y)
        least = min(distortion(U, own_clusters(labels)) for labels in every)
        state = int(rng.integers(2**31))
        ends = weak_kmeans(U, offsets, Y, init=init, n_init=n_starts, random_state=state)
        found += bool(np.isclose(ends.objective_path[-1], least))
    return found


def kernel_values(n_draws: int = 20) -> list[tuple[int, int, int]]:
    """Count assignments of random bags, and the values that (11) takes: linear, and χ² kernel."""
    offsets = np.arange(0, 9, 2)
    Y = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1], [1, 0, 1]])
    every = list(feasible_assignments(offsets, Y))
    found = []
    for seed in range(n_draws):
        X = np.random.default_rng(seed).exponential(size=(8, 3))
        counts = []
        for A in (X, chi2_rbf_kernel(X, X)):
            P = A @ np.linalg.pinv(A)
            used = [len(set(labels[labels >= 0])) for labels in every]
            values = [
                np.sum(P * equivalence_matrix(own_clusters(labels))) - n
                for labels, n in zip(every, used, strict=True)
            ]
            counts.append(len(set(np.round(values, 6))))
        found.append((len(every), counts[0], counts[1]))
    return found


def noise_errors(n_draws: int = 20) -> Floats:
    """Share of wrong names of MIMLCA by draw: as it is, with tiny noise, and with a cut-off too."""
    shares = np.empty((n_draws, 3))
    for seed in range(n_draws):
        toy = toy_bags(seed=seed)
        tiny = 1e-6 * np.random.default_rng(seed).normal(size=(len(toy.labels), 200))
        for i, (extra, rtol) in enumerate([(0, None), (200, None), (200, 1e-2)]):
            bags = Bags(np.hstack([toy.instances, tiny[:, :extra]]), toy.offsets)
            names = MIMLCA(rtol=rtol).fit(bags, toy.Y).assignments_
            shares[seed, i] = wrong_names(names, toy.labels)
    return shares


def singular_disagreement(n_draws: int = 20) -> list[float]:
    """Share of new points for which (40), (44) and (48), with K† for K⁻¹, are not (15).

    Linear kernel of rank 4.
    """
    shares = []
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1, 2], [5, 10, 25])
        X, new = rng.normal(size=(40, 4)) + np.eye(3, 4)[y], rng.normal(size=(500, 4))
        J, sizes = normalized_assignment(y).toarray(), np.bincount(y)
        maps = np.linalg.pinv(X @ X.T) @ J
        Z, T = X @ X.T @ maps, new @ X.T @ maps
        centroids = (J.T @ Z) / np.sqrt(sizes)[:, None]
        right = ((T[:, None] - centroids) ** 2).sum(axis=2).argmin(axis=1)
        printed = (T / np.sqrt(sizes) - 0.5 / sizes).argmax(axis=1)
        shares.append(float(np.mean(right != printed)))
    return shares


def copies(n_draws: int = 20) -> Floats:
    """Share of predictions by (16) that change if every instance is there four times.

    Returns an array of shape (draws, 2): with the same α, and with twice that.
    """

    def rule(X: Floats, y: Integers, new: Floats, alpha: float) -> Integers:
        L = np.linalg.pinv(X) @ normalized_assignment(y).toarray()
        means = np.array([X[y == c].mean(axis=0) for c in np.unique(y)])
        scores = new @ L - alpha * ((means @ L) ** 2).sum(axis=1)
        return np.asarray(scores.argmax(axis=1))

    changed = np.empty((n_draws, 2))
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1, 2], [5, 10, 25])
        X, new = rng.normal(size=(40, 4)) + 3 * np.eye(3, 4)[y], 2 * rng.normal(size=(500, 4))
        once, X4, y4 = rule(X, y, new, 0.5), np.tile(X, (4, 1)), np.tile(y, 4)
        changed[seed] = [np.mean(rule(X4, y4, new, alpha) != once) for alpha in (0.5, 1.0)]
    return changed


def kept_sum(Z: Floats, moved: Floats) -> tuple[float, float, float]:
    """Follow the running sum of inner products in the listing of Law 2017, A.10 (lines 145-148).

    The reference vectors, columns of `Z`, are replaced one after the other by those of `moved`.
    Returns the sum that the listing keeps, the same with ‖z‖² put back and ‖z_new‖² taken off,
    and the true ‖Σ_c z_c‖².

    Examples
    --------
    >>> kept_sum(np.eye(2), 3 * np.eye(2))
    (34.0, 18.0, 18.0)
    """
    total = Z.sum(axis=1)
    printed = mended = float(total @ total)
    for z, new in zip(Z.T, moved.T, strict=True):
        before = 2 * float(z @ total)
        total = total - z + new
        after = 2 * float(new @ total)
        printed += after - before
        mended += after - before + float(z @ z) - float(new @ new)
    return printed, mended, float(total @ total)


# --- Lajugie 2014 ------------------------------------------------------------------------------


def program_mistakes(n_cases: int, n: int = 5, seed: int = 0) -> tuple[int, int]:
    """Count random matrices on which Algorithm 1 as printed, and ours, miss the maximum.

    Symmetric matrices with n rows; all segmentations are tried.

    Examples
    --------
    >>> program_mistakes(20)[1]
    0
    """
    rng = np.random.default_rng(seed)
    wrong = [0, 0]
    for _ in range(n_cases):
        A = rng.normal(size=(n, n))
        A = A + A.T

        def value(labels: Integers, A: Floats = A) -> float:
            return float(np.sum(A * equivalence_matrix(labels)))

        best = max(map(value, splits_in_time(n)))
        for i, rule in enumerate([printed_algorithm, segment_matrix]):
            wrong[i] += not np.isclose(value(rule(A)), best)
    return wrong[0], wrong[1]


def cut_mistakes(n_graphs: int, n: int = 6, seed: int = 0) -> tuple[int, int]:
    """Count random graphs where the trace of Section 5.1 does not choose the best cut.

    All partitions into two parts are tried. First with M = Y(YᵀY)⁻¹Yᵀ as printed, then with
    D^½Y(YᵀDY)⁻¹YᵀD^½, where D holds the degrees.

    Examples
    --------
    >>> cut_mistakes(20)[1]
    0
    """
    rng = np.random.default_rng(seed)
    every = [np.array(labels) for labels in all_partitions(n) if max(labels) == 1]
    wrong = [0, 0]
    for _ in range(n_graphs):
        W = rng.exponential(size=(n, n)) ** 2
        W = W + W.T
        root = np.sqrt(W.sum(axis=1))
        normalized = W / np.outer(root, root)
        cuts = np.array([normalized_cut_value(W, labels) for labels in every])
        for i, weights in enumerate([np.ones(n), root]):
            traces = []
            for labels in every:
                F = np.array([weights * (labels == c) for c in (0, 1)])
                F /= np.linalg.norm(F, axis=1, keepdims=True)
                traces.append(np.trace(F @ normalized @ F.T))
            wrong[i] += not np.isclose(cuts[int(np.argmax(traces))], cuts.min())
    return wrong[0], wrong[1]


def loss_from_flows(P: Integers, Q: Integers, sign: int) -> float:
    """Loss of two partitions of the same size from their flows, before the bounds of appendix A.

    With p_k, q_l the sizes of the clusters and n_kl what they share, 2 Σ_k (1 − n_kk²/(p_k q_k))
    plus `sign` times 2 Σ n_kl²/(p_k q_l) over k ≠ l. Printed with +1.

    Examples
    --------
    >>> P, Q = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    >>> [round(loss_from_flows(P, Q, sign), 4) for sign in (1, -1)]
    [2.0, 1.3333]
    """
    table = contingency(P, Q).toarray()
    shares = table**2 / np.outer(table.sum(axis=1), table.sum(axis=0))
    stays = np.trace(shares)
    return float(2 * (len(table) - stays) + 2 * sign * (shares.sum() - stays))


def theorem_2(n: int) -> dict[str, int]:
    """Check the inequalities of appendix B on all pairs of different segmentations of n points.

    ε is the Hausdorff distance in points, Δ the loss, of which the normalized one is Δ/n. The
    first part has conditions, which few pairs satisfy; the second has none, and is read as ε over
    the smaller of the two largest lengths, the strongest of its readings. O(4ⁿ n).

    Examples
    --------
    >>> theorem_2(6)["first part: Δ below its lower bound"]
    0
    """
    every = [labels for labels in splits_in_time(n) if labels[-1]]
    projectors = np.array([equivalence_matrix(labels).ravel() for labels in every])
    overlaps = projectors @ projectors.T
    sizes = [np.bincount(labels) for labels in every]
    cuts = [np.cumsum(size)[:-1] for size in sizes]
    names = (
        "first part: pairs",
        "first part: Δ below its lower bound",
        "first part: Δ above its upper bound",
        "first part: Δ/n below the lower bound",
        "second part: pairs",
        "second part: Δ below its lower bound",
    )
    found = np.zeros(len(names), dtype=int)
    for i, j in product(range(len(every)), repeat=2):
        if i == j:
            continue
        p, q = sizes[i], sizes[j]
        gaps = abs(cuts[i][:, None] - cuts[j])
        eps = max(gaps.min(axis=0).max(), gaps.min(axis=1).max())
        loss = len(p) + len(q) - 2 * overlaps[i, j] + 1e-9
        found[4:] += 1, loss < eps / min(p.max(), q.max())
        if len(p) == len(q) and eps < p.min() / 2:
            low, high = eps / p.max(), 12 * len(p) * eps / p.min()
            found[:4] += 1, loss < low, loss > high + 2e-9, loss / n < low
    return dict(zip(names, found.tolist(), strict=True))


def chi2_forms(n: int = 5) -> Floats:
    """Error of the formula with χ², on all pairs of partitions of n points: printed, mended."""
    errors = []
    for a, b in product(list(all_partitions(n)), repeat=2):
        counts = contingency(a, b).toarray()
        expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
        share = (np.sum((counts - expected) ** 2 / expected) + n) / n
        total, true = sum(counts.shape), partition_loss(a, b)
        errors.append([total - share - true, total - 2 * share - true])
    return np.abs(errors)


def flow_errors(n: int = 5, k: int = 3) -> Floats:
    """Error of the loss from flows, on all pairs of partitions into k parts: printed, mended."""
    every = [np.array(labels) for labels in all_partitions(n) if max(labels) == k - 1]
    return np.abs(
        [
            [loss_from_flows(a, b, sign) - partition_loss(a, b) for sign in (1, -1)]
            for a, b in product(every, repeat=2)
        ]
    )


def own_segments(n_draws: int = 20, n: int = 6) -> list[int]:
    """Count the segments that maximize Tr AM for a random positive semidefinite A and free K."""
    found = []
    for seed in range(n_draws):
        X = np.random.default_rng(seed).normal(size=(n, n))
        found.append(int(segment_matrix(X @ X.T).max()) + 1)
    return found


def violated(n_draws: int = 20) -> list[tuple[int, int, float, float]]:
    """Follow the singletons at a metric that nearly always predicts two segments of ten points.

    Returns, by draw, the numbers of segments predicted and most violated, the hinge, and the
    distortion of the truth.
    """
    found = []
    y = np.repeat([0, 1], 10)
    for seed in range(n_draws):
        X = (10.0 * y + np.random.default_rng(seed).normal(size=20))[:, None]
        predicted = int(segment_matrix(0.1 * X @ X.T - np.eye(20)).max()) + 1
        worst = int(loss_augmented_segment(X, y, M=[0.1]).max()) + 1
        within = distortion(X, y, np.array([[0.1]]))
        found.append((predicted, worst, float(structured_hinge(X, y, [0.1])), float(within)))
    return found


def hermite_overlap(i: int, j: int, sigma: float) -> float:
    """Cosine of the angle between two functions of Section 5.3, ∝ He_i(x) exp(−x²/(2σ²)).

    Factors that do not depend on x cancel.

    Examples
    --------
    >>> round(abs(hermite_overlap(1, 3, 2**0.5)), 6)
    0.0
    """

    def product_of(a: int, b: int) -> float:
        def integrand(x: float) -> float:
            return eval_hermitenorm(a, x) * eval_hermitenorm(b, x) * np.exp(-((x / sigma) ** 2))

        return float(quad(integrand, -np.inf, np.inf)[0])

    return float(product_of(i, j) / np.sqrt(product_of(i, i) * product_of(j, j)))
