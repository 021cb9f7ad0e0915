"""The latent grid against enumeration of all labels and hidden states."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from mlbook.datasets import make_xor_grids
from mlbook.dual_decomposition import (
    configuration_energy,
    dual_value,
    initial_multipliers,
    relaxed_loss,
    tighten,
)
from mlbook.grid_crf import GridProblem, LatentGridCRF, minimize_chains

SHAPES = [(2, 2), (1, 4), (4, 1), (1, 1), (2, 3)]


def random_problem(shape=(2, 2), decomposition="chains", n_hidden=2, seed=0, annotated=True):
    rng = np.random.default_rng(seed)
    image, labels = rng.normal(size=(*shape, 2)), rng.integers(0, 2, shape)
    problem = GridProblem(
        image, labels if annotated else None, n_hidden=n_hidden, decomposition=decomposition
    )
    return problem, image, labels, rng.normal(size=problem.n_features)


def all_states(shape, n_states):
    for states in product(range(n_states), repeat=shape[0] * shape[1]):
        yield np.reshape(states, shape)


def energy_by_hand(image, w, x, n_states):
    """Node by node and edge by edge, from the definition."""
    rows, columns, F = image.shape
    unary = w[: n_states * (F + 1)].reshape(n_states, F + 1)
    H, V = w[n_states * (F + 1) :].reshape(2, n_states, n_states)
    total = 0.0
    for i, j in product(range(rows), range(columns)):
        total += unary[x[i, j]] @ [*image[i, j], 1]
        if j + 1 < columns:
            total += H[x[i, j], x[i, j + 1]]
        if i + 1 < rows:
            total += V[x[i, j], x[i + 1, j]]
    return total


def random_multipliers(problem, rng):
    """Random numbers, less their mean over the copies of each variable."""
    raw = [rng.normal(size=batch.shape) for batch in problem.batches]
    totals, copies = np.zeros(problem.n_variables), np.zeros(problem.n_variables)
    for batch, own in zip(problem.batches, raw, strict=True):
        np.add.at(totals, batch.coords, own)
        np.add.at(copies, batch.coords, 1)
    return [
        own - (totals / copies)[batch.coords]
        for batch, own in zip(problem.batches, raw, strict=True)
    ]


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 3), st.booleans())
@settings(max_examples=40, deadline=None)
def test_chains_against_enumeration(seed, length, n_states, ties):
    rng = np.random.default_rng(seed)
    unary, table = rng.normal(size=(3, length, n_states)), rng.normal(size=(n_states, n_states))
    if ties:
        unary, table = unary.round(), table.round()
    unary[0, 0, 1:] = np.inf
    found = minimize_chains(unary, table)

    def cost(m, states):
        nodes = sum(unary[m, node, state] for node, state in enumerate(states))
        return nodes + sum(table[a, b] for a, b in pairwise(states))

    for m in range(3):
        best = min(cost(m, states) for states in product(range(n_states), repeat=length))
        assert_allclose(cost(m, found[m]), best, atol=1e-12)


@pytest.mark.equation("Komodakis 2011, Section 5 and Eq. 35")
@pytest.mark.parametrize("decomposition", ["chains", "edges"])
@pytest.mark.parametrize("shape", SHAPES)
def test_slaves_add_up_to_the_energy_less_the_error(shape, decomposition):
    n_hidden = 2 if np.prod(shape) <= 4 else 1
    problem, image, labels, w = random_problem(shape, decomposition, n_hidden)
    multipliers = random_multipliers(problem, np.random.default_rng(1))
    S = problem.n_states
    lowest = np.inf
    for x in all_states(shape, S):
        wanted = energy_by_hand(image, w, x, S) - np.sum(x // n_hidden != labels)
        assert_allclose(configuration_energy(problem, w, x), wanted, atol=1e-10)
        states = [batch.evaluate(x) for batch in problem.batches]
        summed = sum(s.energy(w, own) for s, own in zip(states, multipliers, strict=True))
        assert_allclose(summed, wanted, atol=1e-10)
        lowest = min(lowest, wanted)
    assert dual_value(problem, w, multipliers) <= lowest + 1e-10
    x = problem.complete(w, None)
    bounds = tighten(problem, w, initial_multipliers(problem), x)
    hinge = configuration_energy(problem, w, x) - lowest
    assert bounds.hinge_lower_bound <= hinge + 1e-10
    assert hinge <= bounds.relaxed_loss + 1e-10
    if min(shape) == 1 and decomposition == "chains":
        assert len(problem.batches) == 1
        assert_allclose(bounds.relaxed_loss, hinge, atol=1e-10)
        assert_allclose(bounds.hinge_lower_bound, hinge, atol=1e-10)


@pytest.mark.equation("Komodakis 2011, Eqs. 28, 31 and 35, and Lemma 1")
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("decomposition", ["chains", "edges"])
@pytest.mark.parametrize("shape", [(2, 3), (1, 4)])
def test_subgradient_against_finite_differences(shape, decomposition, seed):
    problem, _, _, w = random_problem(shape, decomposition, seed=seed)
    rng = np.random.default_rng(seed)
    multipliers, direction = random_multipliers(problem, rng), random_multipliers(problem, rng)
    x = problem.complete(w, None)
    loss = relaxed_loss(problem, w, multipliers, x)
    totals = np.zeros(problem.n_variables)
    for batch, gradient in zip(problem.batches, loss.multipliers, strict=True):
        np.add.at(totals, batch.coords, gradient)
    assert_allclose(totals, 0, atol=1e-12)
    step, toward = 1e-6, rng.normal(size=w.size)
    moved = relaxed_loss(problem, w + step * toward, multipliers, x).value
    assert_allclose((moved - loss.value) / step, loss.weights @ toward, atol=1e-4)
    shifted = [a + step * b for a, b in zip(multipliers, direction, strict=True)]
    moved = relaxed_loss(problem, w, shifted, x).value
    slope = sum(np.vdot(g, d) for g, d in zip(loss.multipliers, direction, strict=True))
    assert_allclose((moved - loss.value) / step, slope, atol=1e-4)


def edge_program(problem, w, shape):
    """The local polytope: nodes and edges with consistent marginals, which edge slaves relax to."""
    S, (rows, columns) = problem.n_states, shape
    n = rows * columns
    nodes = np.arange(n).reshape(shape)
    edges = [(0, p, q) for p, q in zip(nodes[:, :-1].ravel(), nodes[:, 1:].ravel(), strict=True)]
    edges += [(1, p, q) for p, q in zip(nodes[:-1].ravel(), nodes[1:].ravel(), strict=True)]
    tables = problem.pairwise(w)
    cost = np.concatenate(
        [problem.augmented_unary(w).ravel(), *(tables[axis].ravel() for axis, _, _ in edges)]
    )
    A, b = [], []
    for p in range(n):
        row = np.zeros(cost.size)
        row[p * S : (p + 1) * S] = 1
        A.append(row)
        b.append(1)
    for e, (_, *ends) in enumerate(edges):
        pair = np.arange(n * S + e * S * S, n * S + (e + 1) * S * S).reshape(S, S)
        for end, table in zip(ends, (pair, pair.T), strict=True):
            for state in range(S):
                row = np.zeros(cost.size)
                row[table[state]] = 1
                row[end * S + state] = -1
                A.append(row)
                b.append(0)
    return linprog(cost, A_eq=np.array(A), b_eq=b, bounds=(0, 1)).fun


@pytest.mark.parametrize("decomposition", ["chains", "edges"])
@pytest.mark.parametrize("seed", range(3))
def test_both_decompositions_relax_to_the_local_polytope(decomposition, seed):
    problem, _, _, w = random_problem((3, 3), decomposition, n_hidden=1, seed=seed)
    x = problem.complete(w, None)
    best = configuration_energy(problem, w, x) - edge_program(problem, w, (3, 3))
    multipliers = initial_multipliers(problem)
    first = relaxed_loss(problem, w, multipliers, x).value
    for _ in range(3):
        loss, _, multipliers = tighten(problem, w, multipliers, x)
        assert loss >= best - 1e-7
    assert loss - best <= max(0.1 * (first - best), 1e-7)


@pytest.mark.equation("Komodakis 2011, Section 5")
@pytest.mark.parametrize("shape", SHAPES)
def test_completion_agrees_never_rises_and_is_exact_on_chains(shape):
    problem, image, labels, w = random_problem(shape)
    previous = 2 * labels + 1
    x = problem.complete(w, previous)
    assert_array_equal(x // 2, labels)
    cost = energy_by_hand(image, w, x, 4)
    assert cost <= energy_by_hand(image, w, previous, 4) + 1e-12
    if min(shape) == 1:
        hidden = all_states(shape, 2)
        assert_allclose(cost, min(energy_by_hand(image, w, 2 * labels + h, 4) for h in hidden))


@pytest.mark.equation("Komodakis 2011, Section 5")
def test_descent_stops_on_ties_and_not_before_it_is_stuck():
    problem, _, labels, w = random_problem((3, 4))
    assert_array_equal(problem.complete(0 * w, None), 2 * labels)
    for shape, share in (((5, 6), 1.0), ((4, 5), 0.2)):  # in the second the neighbours count more
        for seed in range(20):
            problem, _, _, w = random_problem(shape, seed=seed)
            w[: problem.n_unary] *= share
            x = problem.decode(w, None)
            assert_array_equal(problem.decode(w, x), x)


# The estimator


@pytest.fixture(scope="module")
def xor():
    return make_xor_grids(8, (12, 12), block=3, random_state=0)


@pytest.fixture(scope="module")
def model(xor):
    return LatentGridCRF(random_state=0).fit(xor[0][:5], xor[1][:5])


def error(model, images, labels):
    wrong = [model.predict(image) != y for image, y in zip(images, labels, strict=True)]
    return np.mean(wrong)


@pytest.mark.slow
def test_hidden_states_solve_what_no_linear_model_can(xor, model):
    images, labels, parts = xor
    assert error(model, images[5:], labels[5:]) < 0.1
    linear = LatentGridCRF(n_hidden=1, random_state=0).fit(images[:5], labels[:5])
    assert error(linear, images[5:], labels[5:]) > 0.35
    alone = (images[5:].prod(axis=-1) < 0) != labels[5:]
    assert alone.mean() > 0.2
    assert_array_equal(np.array(model.states_) // 2, labels[:5])
    table = np.zeros((4, 4))
    np.add.at(table, (np.array(model.states_), parts[:5]), 1)
    assert table.max(axis=0).sum() > 0.9 * table.sum()  # the hidden states are the parts


def test_report(model):
    path = model.objective_path_
    assert len(path) == model.n_iter_ + 1 and model.best_iter_ == path.argmin()
    assert path.min() < 0.8 * path[0]
    assert model.hinge_lower_bound_ <= model.relaxed_loss_ <= model.current_loss_
    assert_allclose(model.duality_gap_, model.relaxed_loss_ - model.hinge_lower_bound_)
    assert model.n_labels_ == 2 and model.n_features_in_ == 2


@pytest.mark.equation("Komodakis 2011, Section 5")
@pytest.mark.parametrize("shape", [(2, 3), (1, 5), (1, 1)])
@pytest.mark.parametrize("decomposition", ["chains", "edges"])
def test_inference_brackets_the_minimum(model, shape, decomposition):
    image = np.random.default_rng(5).normal(size=(*shape, 2))
    fitted = LatentGridCRF(decomposition=decomposition)
    fitted.weights_, fitted.n_labels_, fitted.n_features_in_ = model.weights_, 2, 2
    solution = fitted.infer(image)
    lowest = min(energy_by_hand(image, model.weights_, x, 4) for x in all_states(shape, 4))
    assert_allclose(energy_by_hand(image, model.weights_, solution.states, 4), solution.energy)
    assert solution.lower_bound <= lowest + 1e-9 <= solution.energy + 2e-9
    assert_array_equal(fitted.predict(image), solution.states // 2)


def test_inference_uses_the_slaves():
    """Where the single nodes mislead the descent, the chains' own minimizers lead it."""
    helped = 0
    for seed in range(20):
        problem, image, _, w = random_problem((6, 6), annotated=False, seed=seed)
        fitted = LatentGridCRF()
        fitted.weights_, fitted.n_labels_, fitted.n_features_in_ = w, 2, 2
        solution = fitted.infer(image)
        plain = configuration_energy(problem, w, problem.decode(w, None))
        assert solution.lower_bound - 1e-9 <= solution.energy <= plain + 1e-9
        helped += solution.energy < plain - 1e-6
    assert helped > 0


@pytest.mark.slow
def test_units_and_origin_do_not_matter(xor, model):
    images, labels, _ = xor
    other = clone(model).fit(images[:5] * [10, 0.1] + 3, labels[:5])
    assert_allclose(other.objective_path_, model.objective_path_, rtol=1e-6)
    assert_array_equal(other.predict(images[6] * [10, 0.1] + 3), model.predict(images[6]))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_edges_three_labels_and_a_constant_feature(xor):
    images, _, parts = xor
    labels = np.minimum(parts, 2)
    padded = np.concatenate([images, np.ones((*images.shape[:3], 1))], axis=3)
    model = LatentGridCRF(n_hidden=1, decomposition="edges", max_iter=60).fit(
        padded[:5], labels[:5]
    )
    assert model.n_labels_ == 3
    assert error(model, padded[5:], labels[5:]) < 0.15


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: GridProblem(np.ones((2, 2))), r"image must have shape .* got \(2, 2\)"),
        (lambda: GridProblem(np.ones((2, 0, 1))), "image must have shape|minimum of 1"),
        (lambda: GridProblem(np.full((1, 1, 1), np.nan)), "image contains NaN"),
        (lambda: GridProblem(np.ones((2, 2, 1)), [[0, 1]]), r"of the shape \(2, 2\)"),
        (lambda: GridProblem(np.ones((1, 2, 1)), [[0.0, 1.0]]), "dtype float64"),
        (lambda: GridProblem(np.ones((1, 2, 1)), [[0, 2]]), "at most 1; got 0 to 2"),
        (lambda: GridProblem(np.ones((1, 2, 1)), [[-1, 1]]), "got -1 to 1"),
        (lambda: GridProblem(np.ones((2, 2, 1)), n_hidden=0), "n_hidden must be"),
        (lambda: GridProblem(np.ones((2, 2, 1)), decomposition="tree"), "decomposition must be"),
        (lambda: LatentGridCRF().fit([], []), "same length, at least 1; got 0 and 0"),
        (
            lambda: LatentGridCRF().fit(
                [np.ones((1, 4, 1)), np.ones((1, 4, 2))], [[[0, 0, 1, 1]]] * 2
            ),
            r"same number of features; got \[1, 2\]",
        ),
        (
            lambda: LatentGridCRF().fit([np.ones((1, 3, 1))], [[[0, 0, 2]]]),
            r"at least n_hidden=2 training nodes; the labels 0 to 2 have \[2 0 1\]",
        ),
        (lambda: LatentGridCRF().fit([np.ones((1, 2, 1))], [[[-1, 0]]]), "at least 0; got -1"),
        (lambda: LatentGridCRF(alpha=-1).fit([np.ones((1, 2, 1))], [[[0, 1]]]), "alpha must"),
        (lambda: LatentGridCRF(n_hidden=1.5).fit([np.ones((1, 2, 1))], [[[0, 1]]]), "n_hidden"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_prediction_refuses(model):
    with pytest.raises(ValueError, match="image must have 2 features, as in fit; got 3"):
        model.predict(np.ones((2, 2, 3)))
    with pytest.raises(NotFittedError):
        LatentGridCRF().predict(np.ones((2, 2, 2)))
