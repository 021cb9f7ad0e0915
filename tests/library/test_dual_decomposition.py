"""The learner: its bounds against linear programs, its steps, and a problem of one's own."""

import doctest
import os
import sys
from itertools import permutations

import numpy as np
import pytest
from clustering_problems import (
    LABELS,
    descent,
    energy,
    random_multipliers,
    random_problem,
    slave_program,
    small_sets,
)
from enumeration import all_assignments
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import mlbook.latent_crf
from mlbook import dual_decomposition
from mlbook.datasets import make_noisy_gaussians, make_xor_grids
from mlbook.dual_decomposition import (
    DualDecompositionLearner,
    SlaveState,
    configuration_energy,
    dual_value,
    initial_multipliers,
    relaxed_loss,
    tighten,
)
from mlbook.grid_crf import GridProblem, LatentGridCRF
from mlbook.latent_crf import (
    ExemplarProblem,
    LatentExemplarMetric,
    clustering_error,
    loss_augmented_potentials,
)

# The relaxation


@pytest.mark.equation("Komodakis 2011, Eqs. 25-26")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("labels", LABELS)
def test_relaxation_is_the_linear_program(labels, seed):
    """The dual value at the LP's multipliers is the LP's value; nowhere is it above."""
    problem, stack, w = random_problem(seed, labels)
    U = loss_augmented_potentials(np.tensordot(w, stack, 1), labels, 1.5, 1.3)
    relaxed, exact, best = slave_program(U, labels, 0.7, 1.3)
    lowest = min(configuration_energy(problem, w, x) for x in all_assignments(5))
    assert_allclose(exact, lowest, atol=1e-7)
    assert relaxed <= lowest + 1e-9
    assert_allclose(dual_value(problem, w, best), relaxed, atol=1e-7)
    rng = np.random.default_rng(seed)
    for scale in (0, 0.1, 1, 10):
        multipliers = random_multipliers(problem, rng, scale)
        assert dual_value(problem, w, multipliers) <= relaxed + 1e-7


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.equation("Komodakis 2011, Eqs. 12, 14, 21-22 and 27-28")
@pytest.mark.parametrize("labels", LABELS)
def test_the_hinge_is_the_least_slack_and_the_relaxed_loss_bounds_it(labels):
    problem, stack, w = random_problem(labels=labels)

    def hinge(w):
        D = np.tensordot(w, stack, 1)
        E = np.array([energy(D, x, 1.5) for x in all_assignments(5)])
        error = np.array([clustering_error(x, labels, 0.7, 1.3) for x in all_assignments(5)])
        slack = min(np.max(truth - (E - error)) for truth in E[error == 0])
        assert_allclose(E[error == 0].min() - np.min(E - error), slack)
        augmented = np.array([configuration_energy(problem, w, x) for x in all_assignments(5)])
        assert_allclose(augmented[error == 0].min() - augmented.min(), slack)
        return slack

    x = problem.complete(w, None)
    bracket = tighten(problem, w, initial_multipliers(problem), x)
    assert bracket.hinge_lower_bound <= hinge(w) + 1e-9 <= bracket.relaxed_loss + 2e-9
    decoded = configuration_energy(problem, w, problem.decode(w, x))
    found = configuration_energy(problem, w, x) - decoded
    assert_allclose(bracket.hinge_lower_bound, max(found, 0), atol=1e-12)
    relaxed, _, best = slave_program(problem.potentials(w), labels, 0.7, 1.3)
    bound = configuration_energy(problem, w, x) - relaxed
    assert_allclose(relaxed_loss(problem, w, best, x).value, bound, atol=1e-7)
    assert bound >= hinge(w) - 1e-9
    rng = np.random.default_rng(0)
    for scale in (0, 0.1, 1):
        prices = random_multipliers(problem, rng, scale)
        assert relaxed_loss(problem, w, prices, x).value >= bound - 1e-7

    learner = DualDecompositionLearner(alpha=0.3, step_weights=0.02, max_iter=8)
    learner.fit([problem], w)
    regularization = 0.3 * learner.weights_ @ learner.weights_ / 2
    assert_allclose(learner.objective_path_.min(), regularization + learner.current_loss_)
    assert learner.objective_path_.min() >= regularization + hinge(learner.weights_) - 1e-9


@pytest.mark.equation("Komodakis 2011, Eqs. 12, 14, 21 and 27")
@pytest.mark.parametrize("seed", range(3))
def test_tightening_approaches_the_linear_program_and_brackets_the_hinge(seed):
    X, y = make_noisy_gaussians(12, n_features=4, n_clusters=3, random_state=seed)
    y = np.unique(y, return_inverse=True)[1]
    problem = ExemplarProblem(X, y, penalty=2.0, scales=X.var(axis=0) * 2)
    w = np.full(4, 0.2)
    x = problem.complete(w, None)
    relaxed, exact, _ = slave_program(problem.potentials(w), y, 1.0, 1.0)
    energy = configuration_energy(problem, w, x)
    start = initial_multipliers(problem)
    found = tighten(problem, w, start, x)
    assert found.hinge_lower_bound <= energy - exact + 1e-6
    assert found.relaxed_loss >= energy - relaxed - 1e-6
    untouched = relaxed_loss(problem, w, start, x).value - (energy - relaxed)
    assert found.relaxed_loss - (energy - relaxed) < 0.1 * untouched
    assert_allclose(
        relaxed_loss(problem, w, found.multipliers, x).value, found.relaxed_loss, rtol=1e-12
    )


@pytest.mark.equation("Komodakis 2011, Eqs. 12, 14, 21 and 27")
def test_the_multipliers_move_by_what_is_missing_to_the_hinge(monkeypatch):
    """Polyak's step: the gap between both bounds, over the squared length of the slope."""
    monkeypatch.setattr(dual_decomposition, "_TIGHTEN", 2)
    moved = 0
    for seed in range(12):
        problem, _, w = random_problem(seed)
        x, start = problem.complete(w, None), initial_multipliers(problem)
        found, first = tighten(problem, w, start, x), relaxed_loss(problem, w, start, x)
        size = sum(np.sum(slope**2) for slope in first.multipliers)
        step = (first.value - found.hinge_lower_bound) / size
        after = [a - step * b for a, b in zip(start, first.multipliers, strict=True)]
        second = relaxed_loss(problem, w, after, x).value
        assert_allclose(found.relaxed_loss, min(first.value, second), rtol=1e-12)
        moved += found.hinge_lower_bound > 0.1 and second < first.value
    assert moved > 3


@pytest.mark.equation("Komodakis 2011, Eq. 28")
def test_floor_of_the_relaxed_loss():
    """Perfect separation leaves 2α Σ_C (1 − 1/|C|) of relaxed loss, and no hinge loss."""
    labels = np.repeat([0, 1, 2], [4, 2, 1])
    D = np.where(labels[:, None] == labels, 0.0, 100.0)
    problem = ExemplarProblem([D], labels, penalty=3.0, features="precomputed")
    w = np.ones(1)
    x = problem.complete(w, None)
    _, exact, best = slave_program(problem.potentials(w), labels, 1.0, 1.0)
    assert_allclose(configuration_energy(problem, w, x) - exact, 0, atol=1e-7)
    floor = 2 * (1 - 1 / 4 + 1 - 1 / 2)
    assert_allclose(relaxed_loss(problem, w, best, x).value, floor, atol=1e-7)
    assert tighten(problem, w, best, x).hinge_lower_bound == 0


@pytest.mark.equation("Komodakis 2011, Eqs. 28, 31 and 35, and Lemma 1")
@pytest.mark.parametrize("seed", range(5))
def test_subgradient_against_finite_differences(seed):
    """Lemma 1, in w and along the allowed directions of the multipliers."""
    problem, _, w = random_problem(seed)
    rng = np.random.default_rng(seed)
    multipliers = random_multipliers(problem, rng)
    x = problem.complete(w, None)
    loss = relaxed_loss(problem, w, multipliers, x)
    assert_allclose(loss.multipliers[0].sum(axis=0) + loss.multipliers[1], 0, atol=1e-12)
    step = 1e-6
    for f in range(2):
        moved = w + step * np.eye(2)[f]
        difference = relaxed_loss(problem, moved, multipliers, x).value - loss.value
        assert_allclose(difference / step, loss.weights[f], atol=1e-4)
    direction = random_multipliers(problem, rng)
    moved = [a + step * b for a, b in zip(multipliers, direction, strict=True)]
    difference = relaxed_loss(problem, w, moved, x).value - loss.value
    slope = sum(np.vdot(g, d) for g, d in zip(loss.multipliers, direction, strict=True))
    assert_allclose(difference / step, slope, atol=1e-4)


# The learner


class Flat:
    """A problem with nothing to learn, where only the regularizer moves the weights."""

    shape, coords = (1,), np.array([0])
    n_variables = 1

    def __init__(self, slope=0.0, n_features=2):
        self.n_features, self.slope = n_features, slope

    @property
    def batches(self):
        return [self]

    def evaluate(self, x):
        psi = np.full(self.n_features, self.slope * x)
        return SlaveState(np.array([x]), psi, 0.0)

    def minimize(self, w, multipliers):
        return self.evaluate(0)

    def complete(self, w, previous):
        return 1

    def decode(self, w, start):
        return start


@pytest.mark.equation("Komodakis 2011, Eqs. 12, 14, 21 and 27")
def test_bounds_stay_apart_where_slaves_agree_and_nothing_better_is_found():
    bounds = tighten(Flat(1.0), np.array([1.0, 2.0]), [np.zeros(1)], 1)
    assert (bounds.relaxed_loss, bounds.hinge_lower_bound) == (3.0, 0.0)


@pytest.mark.parametrize("stochastic", [False, True])
def test_a_pass_regularizes_once_however_many_problems_there_are(stochastic):
    """As printed, the stochastic variant would shrink the weights K times as much."""
    learner = DualDecompositionLearner(
        regularizer="l1", alpha=2.0, step_weights=0.1, max_iter=1, stochastic=stochastic
    )
    with pytest.warns(ConvergenceWarning):
        learner.fit([Flat() for _ in range(5)], [1.0, 3.0])
    assert_allclose(learner.weights_, [0.8, 2.8])


def test_steps_that_only_lead_away_are_told():
    """They used to pass for convergence: the best objective no longer falls."""
    problem, _, w = random_problem()
    long = DualDecompositionLearner(alpha=1.0, step_weights=1e6, max_iter=30)
    with pytest.warns(ConvergenceWarning, match="every step raised the objective above"):
        long.fit([problem], w)
    assert long.best_iter_ == 0
    assert_array_equal(long.weights_, w)


@pytest.mark.equation("Komodakis 2011, Eq. 30")
def test_proximal_steps():
    def soft(w, step):
        return np.sign(w) * np.maximum(np.abs(w) - step, 0)

    def fitted(regularizer, **options):
        learner = DualDecompositionLearner(
            regularizer=regularizer, alpha=2.0, step_weights=0.1, tol=0, max_iter=3, **options
        )
        with pytest.warns(ConvergenceWarning):
            return learner.fit([Flat()], [1.0, -0.1])

    steps = 0.1 / np.sqrt(1 + np.arange(3) / 10)
    assert_allclose(fitted("l1").weights_, [1 - 2 * steps.sum(), 0])
    assert_allclose(fitted("l2").weights_, np.array([1, -0.1]) / np.prod(1 + 2 * steps))
    silent = fitted(soft)
    assert_array_equal(silent.objective_path_, 0)  # J unknown: the objective is the loss
    soft.value = lambda w: np.abs(w).sum()
    assert_allclose(fitted(soft).objective_path_, fitted("l1").objective_path_)
    kept = fitted("l1", projection=lambda w: np.maximum(w, 0.9))
    assert_allclose(kept.weights_, [0.9, 0.9])


REGULARIZERS = {
    "l1": (lambda w: np.abs(w).sum(), lambda w, t: np.sign(w) * np.maximum(np.abs(w) - t, 0)),
    "l2": (lambda w: w @ w / 2, lambda w, t: w / (1 + t)),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.equation("Komodakis 2011, Eqs. 27, 30 and 35, and Figure 1")
@pytest.mark.parametrize("model", ["clusters", "grid"])
@pytest.mark.parametrize(
    "options",
    [
        {"regularizer": "l2", "alpha": 0.3},
        {"regularizer": "l1", "alpha": 2.0, "inner_iter": 3},
        {"regularizer": "l2", "alpha": 0.3, "stochastic": True, "inner_iter": 2},
        {"regularizer": "l1", "alpha": 2.0, "patience": 4, "tol": 0.05},
    ],
)
def test_the_learner_takes_the_steps_of_the_algorithm(options, model):
    """The same path as that of a loop that follows the paper's listing, to the last digits."""
    if model == "clusters":
        problems = [random_problem(seed, labels)[0] for seed, labels in enumerate(LABELS)]
    else:
        rng = np.random.default_rng(0)
        problems = [GridProblem(rng.normal(size=(2, 3, 1)), np.eye(2, 3, dtype=int)) for _ in "ab"]
    start = np.linspace(0.2, 0.9, problems[0].n_features)
    steps = {"step_weights": 0.05, "step_multipliers": 0.2}
    learner = DualDecompositionLearner(
        projection=lambda w: w.clip(0.1), max_iter=25, random_state=3, **steps, **options
    ).fit(problems, start)
    by_hand = options | {"regularizer": REGULARIZERS[options["regularizer"]]}
    order = np.random.RandomState(3) if by_hand.pop("stochastic", False) else None
    path, (w, prices, filled, loss) = descent(
        problems, start, steps=[*steps.values()], order=order, max_iter=25,
        project=lambda w: w.clip(0.1), **by_hand,
    )  # fmt: skip
    assert_allclose(learner.objective_path_, path, rtol=1e-10)
    assert len(path) == learner.n_iter_ + 1 > 5
    assert learner.settled_ == (len(path) < 26)
    assert learner.best_iter_ == path.argmin() > 0
    assert_allclose(learner.weights_, w, rtol=1e-9)
    assert_allclose(learner.current_loss_, loss, rtol=1e-9)
    weights = [w] * len(problems)
    bounds = list(map(tighten, problems, weights, prices, filled))
    assert_allclose(learner.relaxed_loss_, sum(b.relaxed_loss for b in bounds), rtol=1e-6)
    below = sum(b.hinge_lower_bound for b in bounds)
    assert_allclose(learner.hinge_lower_bound_, below, rtol=1e-6)
    assert_allclose(learner.duality_gap_, learner.relaxed_loss_ - below, rtol=1e-6)
    for x, found in zip(filled, learner.completions_, strict=True):
        assert_array_equal(x, found)
    for problem, x, found in zip(problems, filled, learner.multipliers_, strict=True):
        reached = relaxed_loss(problem, learner.weights_, found, x).value
        assert reached <= loss + 1e-9


def test_best_iterate_is_returned_and_reproduces_its_objective():
    points, partitions = small_sets(n_samples=30)
    # Steps far too long: the path goes up and down.
    problems = [ExemplarProblem(X, y, penalty=2.0) for X, y in zip(points, partitions, strict=True)]
    learner = DualDecompositionLearner(
        alpha=0.1, step_weights=1e-3, step_multipliers=1.0, projection=lambda w: w.clip(0)
    ).fit(problems, np.full(6, 0.05))
    path = learner.objective_path_
    assert len(path) == learner.n_iter_ + 1 and np.any(np.diff(path) > 0)
    assert learner.best_iter_ == path.argmin() < learner.n_iter_
    assert_allclose(
        learner.current_loss_ + 0.1 * learner.weights_ @ learner.weights_ / 2, path.min()
    )
    assert learner.hinge_lower_bound_ <= learner.relaxed_loss_ <= learner.current_loss_ + 1e-9
    assert_allclose(learner.duality_gap_, learner.relaxed_loss_ - learner.hinge_lower_bound_)
    assert learner.settled_
    again = sum(
        relaxed_loss(problem, learner.weights_, own, x).value
        for problem, own, x in zip(
            problems, learner.multipliers_, learner.completions_, strict=True
        )
    )
    assert_allclose(again, learner.relaxed_loss_)


def test_learner_refuses():
    learner = DualDecompositionLearner()
    for problems, start in [([], [1.0]), ([Flat()], [1.0]), ([Flat(), Flat(0, 3)], [1.0, 1.0])]:
        with pytest.raises(ValueError, match="problems must not be empty"):
            learner.fit(problems, start)
    with pytest.raises(ValueError, match="the loss is not finite"):
        DualDecompositionLearner().fit([Flat(np.inf)], [1.0, 1.0])
    for name, value in {
        "max_iter": 0,
        "inner_iter": 0,
        "patience": 0,
        "tol": -1.0,
        "alpha": -1.0,
        "step_weights": 0.0,
        "step_multipliers": -1.0,
        "regularizer": "l3",
    }.items():
        with pytest.raises(ValueError, match=f"{name} must be"):
            DualDecompositionLearner(**{name: value}).fit([Flat()], [1.0, 1.0])


def test_progress_is_shown_if_wanted(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    learner = DualDecompositionLearner(patience=2)
    learner.fit([Flat()], [0.0, 0.0])
    assert capsys.readouterr().err == ""
    learner.set_params(verbose=True).fit([Flat()], [0.0, 0.0])
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "subgradient steps: 1 of 301, objective 0" and len(lines) == 3


# A problem of one's own: the example that the module's docstring gives


@pytest.fixture(scope="module")
def example():
    """What the names of the example stand for after it has run."""
    names = {}
    for step in doctest.DocTestParser().get_examples(dual_decomposition.__doc__):
        exec(compile(step.source, "<example>", "exec"), names)
    return names


@pytest.mark.equation("Komodakis 2011, Eqs. 12, 14, 21 and 27")
def test_slaves_of_the_example_add_up_and_bound_every_matching(example):
    rng = np.random.default_rng(1)
    for known in ([0, 1, 2, 3], [2, -1, -1, 0], [-1, -1, -1, -1]):
        F, w = rng.normal(size=(4, 4, 2)), rng.normal(size=2)
        problem = example["Matching"](F, known)
        raw = rng.normal(size=(4, 4))
        every = [np.array(x) for x in permutations(range(4))]
        augmented, agreeing = [], []
        for x in every:
            cost = sum(w @ F[person, job] for person, job in enumerate(x))
            error = sum(a != b for a, b in zip(known, x, strict=True) if a >= 0)
            assert_allclose(configuration_energy(problem, w, x), cost - error, atol=1e-12)
            states = [batch.evaluate(x) for batch in problem.batches]
            summed = states[0].energy(w, raw) + states[1].energy(w, -raw)
            assert_allclose(summed, cost - error, atol=1e-12)
            augmented.append(cost - error)
            if error == 0:
                agreeing.append((cost, x.tolist()))
        assert dual_value(problem, w, [raw, -raw]) <= min(augmented) + 1e-12
        x = problem.complete(w, None)
        assert x.tolist() == min(agreeing)[1]
        assert_allclose(configuration_energy(problem, w, problem.decode(w, x)), min(augmented))
        # Matchings are the corners of the relaxation (Birkhoff), which therefore is tight.
        bounds = tighten(problem, w, initial_multipliers(problem), x)
        hinge = min(agreeing)[0] - min(augmented)
        assert_allclose(bounds.hinge_lower_bound, hinge, atol=1e-12)
        assert_allclose(bounds.relaxed_loss, hinge, atol=0.02)


def test_slaves_of_the_example_take_the_cheapest_cell_of_each_line(example):
    rng = np.random.default_rng(2)
    wrong = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 1]])
    for _ in range(10):
        F, w, multipliers = rng.normal(size=(3, 3, 2)), rng.normal(size=2), rng.normal(size=(3, 3))
        costs = (F @ w - wrong) / 2 + multipliers
        for batch, axis in zip(example["Matching"](F, [1, -1, 0]).batches, (0, 1), strict=True):
            state = batch.minimize(w, multipliers)
            assert_array_equal(state.mu.sum(axis=axis), 1)
            assert_allclose(state.energy(w, multipliers), costs.min(axis=axis).sum())


def test_the_example_learns_what_trying_all_weights_finds(example):
    """No direction of the weights on a grid has a lower regularized hinge loss, by enumeration."""
    learner, problems = example["learner"], example["problems"]
    every = np.array(list(permutations(range(5))))
    people = np.arange(5)
    psi = np.array([problem.F[people, every].sum(axis=1) for problem in problems])
    error = np.array([problem.wrong[people, every].sum(axis=1) for problem in problems])

    def objective(w):
        cost = psi @ w
        agreeing = np.where(error == 0, cost, np.inf).min(axis=1)
        return w @ w / 2 + np.sum(agreeing - (cost - error).min(axis=1))

    w = learner.weights_
    reached = objective(w)
    assert_allclose(learner.relaxed_loss_, reached - w @ w / 2, rtol=1e-3)
    assert_allclose(learner.objective_path_.min(), reached, rtol=0.05)
    steps = np.linspace(-3, 3, 13)
    grid = np.array(np.meshgrid(steps, steps, steps)).reshape(3, -1).T
    assert reached < 1.02 * min(objective(v) for v in grid)
    assert reached < objective(np.array([2.0, -1.0, 0.0]))
    assert learner.settled_


def test_the_room_of_clustering_hands_the_learner_on():
    for name in dual_decomposition.__all__:
        assert getattr(mlbook.latent_crf, name) is getattr(dual_decomposition, name)


def learners():
    """Sets so large that the number of BLAS threads alters digits, and grids."""
    rng = np.random.default_rng(0)
    sizes = (100, 101)
    points = [rng.normal(size=(n, 100)) + 4 * (np.arange(n) % 3)[:, None] for n in sizes]
    partitions = [np.arange(n) % 3 for n in sizes]
    images, labels, _ = make_xor_grids(4, (5, 6), random_state=0)
    yield LatentExemplarMetric(alpha=0.1, max_iter=3, tol=0), points, partitions
    yield LatentGridCRF(max_iter=2, random_state=0), images, labels


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_two_workers_compute_the_same_numbers(two_workers):
    for learner, Xs, ys in learners():
        expected = clone(learner).fit(Xs, ys)
        with two_workers():
            found = clone(learner).set_params(n_jobs=2).fit(Xs, ys)
        for name in ("weights_", "objective_path_", "relaxed_loss_", "hinge_lower_bound_"):
            assert_array_equal(getattr(found, name), getattr(expected, name))
        latent = "states_" if isinstance(learner, LatentGridCRF) else "exemplars_"
        for own, other in zip(getattr(found, latent), getattr(expected, latent), strict=True):
            assert_array_equal(own, other)


class Elsewhere(Flat):
    """A problem that writes down the process that fills it in."""

    def complete(self, w, previous):
        return os.getpid()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_processes_do_the_work():
    learner = DualDecompositionLearner(max_iter=1, n_jobs=2)
    with parallel_config("loky"):
        seen = learner.fit([Elsewhere(), Elsewhere()], [0.0, 0.0]).completions_
    assert os.getpid() not in seen
