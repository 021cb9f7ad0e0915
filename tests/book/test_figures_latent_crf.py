"""What the chapter on the latent CRF claims and draws, against second derivations."""

import re

import numpy as np
import pytest
from enumeration import all_assignments

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")
from matplotlib.contour import ContourSet
from numpy.testing import assert_allclose, assert_array_equal

from book.figures.latent_crf import (
    cards,
    drawings,
    enumerated,
    grids,
    learners,
    noisy,
    programs,
    shops,
    votes,
)
from mlbook.exemplars import exemplar_bound, solve_exemplars, solve_exemplars_exact
from mlbook.latent_crf import (
    ExemplarProblem,
    clustering_error,
    configuration_energy,
    dual_value,
    exemplars_of_partition,
    initial_multipliers,
    relaxed_loss,
)
from mlbook.partitions import f_measure

pytestmark = pytest.mark.book

HALF = np.array([0.5, 0.5])


def numbers(caption: str) -> list[float]:
    return [float(x) for x in re.findall(r"\d+(?:\.\d+)?", caption)]


def energy_of(D, chosen, penalty):
    own = chosen == np.arange(len(D))
    return D[np.arange(len(D)), chosen][~own].sum() + penalty * own.sum()


# --- the dual of clustering ------------------------------------------------------------------


@pytest.mark.parametrize("distance", shops.DISTANCES)
def test_both_sides_of_the_dual_path_enclose_the_optimum(distance):
    D = shops.DISTANCES[distance](shops.towns(15))
    optimum = solve_exemplars_exact(D, 0.8, random_state=0).energy
    path = shops.dual_path(D, 0.8, 100, step=0.06)
    assert path[0].bound == pytest.approx(0, abs=1e-12)
    assert max(step.bound for step in path) <= optimum + 1e-9
    assert min(step.energy for step in path) >= optimum - 1e-9
    assert max(step.bound for step in path) > (0.9 if distance == "random" else 0.99) * optimum
    assert path[40].bound == exemplar_bound(D, 0.8, path[40].offers)


def test_three_points_in_a_circle_have_a_gap_that_no_prices_close():
    D = shops.cyclic_distances()
    assert exemplar_bound(D, 2.0, np.ones(3)) == pytest.approx(3)
    options = {"penalty": 2.0, "alpha": 0.0, "beta": 0.0}
    relaxed, exact = (
        programs.augmented_minimum(D, np.zeros(3, dtype=int), integral=i, **options)
        for i in (False, True)
    )
    assert relaxed == pytest.approx(3) and exact == pytest.approx(4)
    prices = np.random.default_rng(0).uniform(-1, 3, size=(2000, 3))
    assert max(exemplar_bound(D, 2.0, v) for v in prices) <= 3


@pytest.mark.parametrize("distance, penalty", [("Euclidean", 1.6), ("uphill", 0.2)])
def test_penalty_explorer_shows_the_optimum(distance, penalty):
    figure, caption = shops.penalty_and_distance(penalty, distance)
    exact = solve_exemplars_exact(shops.DISTANCES[distance](shops.towns()), penalty, random_state=0)
    shown = numbers(caption)
    assert shown[1] == len(exact.exemplars)
    assert shown[2] == pytest.approx(exact.energy, abs=1e-3)
    counts = figure.axes[1].lines[0].get_ydata()
    assert (np.diff(counts) <= 0).all()
    assert counts[shops.PENALTIES.index(penalty)] == len(exact.exemplars)


def test_step_through_meets_for_euclidean_distances_only():
    for distance, tight in [("Euclidean", True), ("random", False)]:
        figure, caption = shops.step_through(200, distance)
        _, bound, energy, share = numbers(caption)
        D = shops.DISTANCES[distance](shops.towns())
        solution = solve_exemplars(D, 1.6, random_state=0)
        assert bound <= solution.energy + 1e-3 and energy >= solution.lower_bound - 1e-3
        assert share < 0.1 if tight else share > 5
        assert any(isinstance(c, ContourSet) for c in figure.axes[0].collections) == tight


def test_a_point_opens_where_the_offers_exceed_the_penalty():
    """What the shade of the explorer says, at the places of the points themselves."""
    X, path = shops.stepped("Euclidean")
    D = shops.DISTANCES["Euclidean"](X)
    for step in path[:30:3]:
        offered = np.maximum(step.offers[:, None] - D, 0).sum(axis=0)
        own = np.minimum(step.offers, 0)  # (v_q)₊ stands in the sum, v_q in the bound
        bound = step.offers.sum() + np.minimum(0, 1.6 - own - offered).sum()
        assert bound == pytest.approx(step.bound)


# --- drawings --------------------------------------------------------------------------------


def test_assignment_grid_obeys_its_constraints():
    texts = [text.get_text() for text in drawings.assignment_grid().axes[1].texts]
    x = np.array([int(text) for text in texts if text in {"0", "1"}]).reshape(5, 5)
    assert_array_equal(x.sum(axis=1), 1)
    assert (x <= x.diagonal()).all()


def test_master_and_slaves_colours_what_each_slave_sees():
    ax = drawings.master_and_slaves().axes[0]
    cells = ax.patches[1:]  # the first is the master
    seen = np.array([cell.get_facecolor() != (1, 1, 1, 1) for cell in cells]).reshape(5, 3, 3)
    diagonal = np.eye(3, dtype=bool)
    for p in range(3):
        row = np.zeros((3, 3), dtype=bool)
        row[p] = True
        assert_array_equal(seen[p], row | diagonal)
    assert_array_equal(seen[3], np.diag([True, True, False]))
    assert_array_equal(seen[4], np.diag([False, False, True]))


# --- the worked example ----------------------------------------------------------------------


def test_three_points_by_hand():
    X, y = votes.three_points()
    problem = ExemplarProblem(X, y, penalty=3.0)
    D = problem.distances(HALF)
    x = problem.complete(HALF, None)
    assert configuration_energy(problem, HALF, x) == pytest.approx(8)
    lowest = min(energy_of(D, c, 3.0) - clustering_error(c, y) for c in all_assignments(3))
    assert lowest == pytest.approx(5)
    prices = initial_multipliers(problem)
    for step, value, slope in [(4.0, -2, [0, 4]), (2.0, 2, [-8, 0]), (0.0, 3.5, [-4, 0])]:
        loss = relaxed_loss(problem, HALF, prices, x)
        assert dual_value(problem, HALF, prices) == pytest.approx(value)
        assert_allclose(loss.weights, slope)
        prices = [a - step * b for a, b in zip(prices, loss.multipliers, strict=True)]
    by_hand = [np.array([[2.0, -1, 0], [-1, 2, -1], [1, -1, 3]]), np.array([-2.0, 0, -2])]
    assert_allclose(by_hand[0].sum(axis=0) + by_hand[1], 0)
    assert dual_value(problem, HALF, by_hand) == pytest.approx(lowest)


@pytest.mark.equation("Komodakis 2011, Eqs. 32-33")
def test_the_printed_rule_stalls():
    problem = ExemplarProblem(*votes.three_points(), penalty=3.0)
    complete, printed = (
        votes.climb(problem, HALF, 100, step=4.0, printed=printed) for printed in (False, True)
    )
    assert_allclose(complete[:2], [-2, 2])
    assert_allclose(printed[1:], 2)
    assert 4 < complete[-1] <= 5
    assert votes.last_move(problem, HALF, 100, step=4.0) == 1


@pytest.mark.equation("Komodakis 2011, Eq. 26")
@pytest.mark.parametrize("seed", range(5))
def test_augmented_minimum_is_that_of_all_assignments(seed):
    rng = np.random.default_rng(seed)
    D, y = rng.uniform(0, 4, size=(4, 4)), np.array([0, 0, 1, 1])
    values = [
        energy_of(D, c, 1.5) - clustering_error(c, y, alpha=0.7, beta=1.2)
        for c in all_assignments(4)
    ]
    options = {"alpha": 0.7, "beta": 1.2}
    exact = programs.augmented_minimum(D, y, 1.5, integral=True, **options)
    relaxed = programs.augmented_minimum(D, y, 1.5, integral=False, **options)
    assert exact == pytest.approx(min(values))
    problem = ExemplarProblem(D[None], y, penalty=1.5, features="precomputed", **options)
    bounds = votes.climb(problem, np.ones(1), 300, step=0.5)
    assert bounds[-1] <= relaxed + 1e-9 <= exact + 2e-9
    assert bounds[-1] > relaxed - 0.1


def test_the_floor_of_the_relaxed_loss():
    y = np.repeat([0, 1, 2], [2, 3, 5])
    D = np.where(y[:, None] == y, 0.0, 1000.0)
    options = {"penalty": 3.0, "alpha": 1.5, "beta": 1.0}
    truth = 3 * 3.0
    assert programs.augmented_minimum(D, y, integral=True, **options) == pytest.approx(truth)
    relaxed = programs.augmented_minimum(D, y, integral=False, **options)
    assert truth - relaxed == pytest.approx(2 * 1.5 * (1 / 2 + 2 / 3 + 4 / 5))


def test_the_floor_bounds_every_relaxed_loss():
    y = np.repeat([0, 1, 2], 3)
    for seed in range(5):
        D = np.random.default_rng(seed).uniform(0, 2, size=(9, 9)) + 5 * (y[:, None] != y)
        Q = exemplars_of_partition(D, y)
        best = sum(D[p, Q[c]] for p, c in enumerate(y) if p != Q[c])
        within = [D[np.ix_(y == c, y == c)] for c in range(3)]
        mean = sum((W.sum() - np.trace(W)) / 3 for W in within)
        relaxed = programs.augmented_minimum(D, y, 3.0, alpha=1.0, beta=1.0, integral=False)
        assert 9 + best - relaxed >= 2 * 3 * (2 / 3) - (mean - best) - 1e-9


def test_the_oracles_of_the_claims():
    """Every allowed x once; energy and loss as the library has them."""
    x = enumerated.allowed(4)
    assert_array_equal(np.unique(x, axis=0), np.unique(list(all_assignments(4)), axis=0))
    D, y = np.random.default_rng(0).uniform(size=(4, 4)), np.array([0, 1, 1, 0])
    assert_allclose(enumerated.energies(D, 0.4, x), [energy_of(D, row, 0.4) for row in x])
    assert_array_equal(enumerated.errors(y, x), [clustering_error(row, y) for row in x])
    consistent = [enumerated.is_consistent(y, row) for row in x]
    assert_array_equal(consistent, enumerated.errors(y, x) == 0)
    assert sum(consistent) == 4
    fixed = enumerated.hinge_loss(D, 0.4, y, fixed=np.array([0, 1, 1, 0]))
    assert fixed >= enumerated.hinge_loss(D, 0.4, y) >= 0


def test_the_best_bound_is_the_relaxed_program():
    rng = np.random.default_rng(0)
    D, f = rng.normal(size=(6, 6)), rng.normal(size=6)
    one = {"labels": np.zeros(6, dtype=int), "penalty": f, "alpha": 0.0, "beta": 0.0}
    relaxed = programs.augmented_minimum(D, integral=False, **one)
    assert programs.best_bound(D, f) == pytest.approx(relaxed)


def test_slave_minima_are_the_dual_value():
    problem = ExemplarProblem(*votes.three_points(), penalty=3.0)
    rows = np.random.default_rng(0).normal(size=(3, 3))
    prices = [rows, -rows.sum(axis=0)]
    minima = votes.slave_minima(problem, HALF, prices)
    assert minima.sum() == pytest.approx(dual_value(problem, HALF, prices))
    assert len(minima) == 5
    assert_allclose(votes.slave_values(problem, HALF, prices), minima)


def test_slave_values_are_those_of_the_votes(monkeypatch):
    """Votes that are not the best cost more: slave 1 opens 2 as well, slave {1, 2} both."""
    problem = ExemplarProblem(*votes.three_points(), penalty=3.0)
    prices = initial_multipliers(problem)
    chosen = [np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1]]), np.array([1, 1, 0])]
    for batch, price, opened in zip(problem.batches, prices, chosen, strict=True):
        state = batch.minimize(HALF, price)._replace(mu=opened)
        monkeypatch.setattr(batch, "minimize", lambda *_, state=state: state)
    assert_allclose(votes.slave_values(problem, HALF, prices), [1, 0, 0, 1, -1])


def test_without_the_absolute_value_the_relaxation_is_nearly_tight():
    relaxed, exact = programs.tightness_of("Gaussian, far apart", 2)[0, 2:4]
    assert 0 <= programs.linear_gap("Gaussian, far apart", 0) < 0.1 < exact - relaxed
    relaxed, exact = programs.tightness_of("random", 2)[1, :2]
    assert programs.plain_gap("random", 1) == pytest.approx(exact - relaxed)


def test_tightness_of_the_two_relaxations():
    rows = programs.tightness(3)
    assert [row[0] for row in rows][-1] == "random"
    assert rows[0][1:3] == ("3", "0")
    for row in rows:
        relaxed, true = map(float, row[3:])
        assert relaxed >= true >= 0


# --- the exercises ---------------------------------------------------------------------------


@pytest.mark.parametrize("alpha, beta, holds", [(1.0, 1.0, True), (2.5, 1.0, False)])
def test_the_better_loss(alpha, beta, holds):
    """Δ′ vanishes only on consistent x if β min|C| > α, and E − Δ′ is again an energy."""
    y, k, n = np.array([0, 0, 1, 1]), 2, 4
    D = np.random.default_rng(0).uniform(0, 3, size=(n, n))
    better, values = [], []
    for chosen in all_assignments(n):
        consistent = clustering_error(chosen, y) == 0
        delta = alpha * (len(set(chosen)) - k) + beta * np.sum(y[chosen] != y)
        assert not consistent or delta == 0
        better.append(consistent or delta > 1e-9)
        values.append(energy_of(D, chosen, 2.0) - delta)
    assert all(better) == holds
    U = D + beta * (y[:, None] == y)
    solution = solve_exemplars_exact(U, 2.0 + beta - alpha, random_state=0)
    assert solution.energy + alpha * k - beta * n == pytest.approx(min(values))


# --- learning --------------------------------------------------------------------------------


def test_the_first_picture_strikes_out_the_wrong_cards():
    figure = cards.two_sortings()
    (ax,) = figure.axes
    titles = [text.get_text() for text in ax.texts]
    wrong = [int(re.search(r"(\d+) of 40", title)[1]) for title in titles]
    assert len(ax.lines) == sum(wrong)
    assert wrong[0] > 3 * wrong[1]
    right = cards.deck()[2]
    for way, count in zip(cards.WAYS, wrong, strict=True):
        found = cards.piles("right", way, 100)
        own = right[found.box[found.exemplars]][found.labels]
        assert np.sum(own != right[found.box]) == count


def test_boxes_for_learning_and_new_ones_share_no_card():
    for side in cards.SIDES:
        old, new = (
            cards.boxes(side, 8, seed, new=new)[0] for seed, new in ((0, False), (100, True))
        )
        assert not set(np.concatenate(old)) & set(np.concatenate(new))
        digits = cards.deck()[1 + cards.SIDES.index(side)]
        for box in new:
            assert (np.bincount(digits[box], minlength=10) % cards.PILE == 0).all()


def test_learned_cards_look_at_their_side():
    for side, half in zip(cards.SIDES, (slice(0, 8), slice(8, 16)), strict=True):
        image = np.zeros(128)
        metric = cards.learned_cards(side)
        image[cards.varied()] = metric.weights_ * metric.scales_
        assert image.reshape(8, 16)[:, half].sum() > 0.95 * image.sum()
    shown = [ax.images[0].get_array() for ax in cards.card_weights().axes]
    assert_allclose(shown[1].ravel(), image)


def test_all_pixels_alike_is_the_euclidean_distance():
    w = cards.weights_of("right", cards.WAYS[0])
    assert len(w) == len(cards.varied()) and len(set(w)) == 1


def test_ellipses_hold_the_places_at_distance_two():
    figure = drawings.three_metrics()
    for ax, weights in zip(figure.axes, drawings.THREE_WEIGHTS, strict=True):
        x, y = ax.lines[0].get_data()
        if min(weights) > 0:
            assert_allclose(weights[0] * x**2 + weights[1] * y**2, 2)
        else:  # a strip, drawn as a long ellipse
            assert_allclose(abs(x[abs(y) < 3]), 1, atol=0.01)


def test_choices_draw_the_stored_runs():
    figure = drawings.choices()
    means = [collection.get_segments()[0][0][1] for ax in figure.axes for collection in
             ax.collections if hasattr(collection, "get_segments")]  # fmt: skip
    stored = [
        drawings.values(*place).mean()
        for place in [
            ("komodakis2011-choices", "l1 regularizer", "noisy"),
            ("komodakis2011-choices", "l2 regularizer", "noisy"),
            ("komodakis2011-choices", "l1 regularizer", "f"),
            ("komodakis2011-choices", "l2 regularizer", "f"),
            ("komodakis2011-asymmetric", "both ways, learned", "f"),
            ("komodakis2011-asymmetric", "only symmetric", "f"),
        ]
    ]
    assert_allclose(means, stored)


def test_scenes_are_in_percent():
    table = drawings.scenes()
    assert len(table.rows) == 4 and all(len(row) == 3 for row in table.rows)
    assert all(10 < float(cell) < 100 for row in table.rows for cell in row[1:])


def test_sizes_and_prices_count_the_sets(monkeypatch):
    monkeypatch.setattr(noisy, "SIZES", (12, 24))
    figure, caption = noisy.sizes_and_prices(24, "in proportion")
    bars = [bar.get_height() for bar in figure.axes[0].patches]
    _, excess = noisy.sizes_compared(24, 2.0)
    assert sum(bars) == noisy.N_TESTS and bars[2] == np.sum(excess == 0)
    assert f"in {bars[2]:.0f} of 20" in caption
    lines = figure.axes[1].lines
    assert lines[0].get_ydata()[0] == lines[1].get_ydata()[0]  # the same price at size 12


def test_share_of_noise_draws_and_says_the_scores():
    figure, caption = noisy.share_of_noise(0.5, "standardized")
    bars = [bar.get_width() for bar in figure.axes[1].patches]
    assert bars[0] < bars[1] < bars[2]
    X, y = noisy.noisy_sets(0.5, noisy.N_TESTS, 100)
    metric = noisy.learned_metric(0.5)
    by_library = [f_measure(b, metric.predict(a)) for a, b in zip(X, y, strict=True)]
    assert bars[2] == pytest.approx(np.mean(by_library))
    said = [float(x) for x in re.findall(r"(\d\.\d\d) with", caption)]
    assert_allclose(said, bars, atol=0.005)


def test_strength_path_draws_and_says_the_weights(monkeypatch):
    monkeypatch.setattr(noisy, "STRENGTHS", (0.1, 0.4))
    figure, caption = noisy.strength_path(0.1)
    models = [noisy.learned_metric(0.7, tau, noisy.FAIR) for tau in (0.1, 0.4)]
    scaled = np.array([model.weights_ * model.scales_ for model in models])
    count, of, noise, score = numbers(caption)[1:]
    assert (count, of) == (np.count_nonzero(scaled[0]), 30)
    assert noise == pytest.approx(100 * scaled[0, 9:].sum() / scaled[0].sum(), abs=0.05)
    assert score == pytest.approx(noisy.strength_scores(0.1)[0], abs=0.005)
    paths = np.array([line.get_ydata() for line in figure.axes[1].lines[:30]])
    assert_allclose(paths.T, scaled)


def test_a_penalty_below_alpha_costs_loss():
    low, fair = noisy.penalties_compared([0.5, 2])
    assert [low[0], fair[0]] == ["0.5", "2"]
    assert float(low[1]) > 2 * float(fair[1])
    assert float(fair[2]) <= float(fair[1])


def test_steps_and_scales_matter():
    losses = [float(loss) for _, loss in learners.steps_compared(30)]
    assert len(losses) == 4 and 1.5 * losses[0] < min(losses[1:])
    single = learners.single_steps(30)
    assert len(single) == 9 and single.min() > 1.5 * losses[0]
    assert_allclose(single[[0, -1]], losses[1:3], atol=0.51)
    assert learners.one_step_in_fitting_units(30) == pytest.approx(losses[0], abs=0.51)


def test_larger_clusters_want_a_larger_penalty():
    (low, many), (high, right) = (noisy.sizes_compared(30, f, n_seeds=4) for f in (1.0, 2.5))
    assert many.sum() > 0 and abs(right).sum() < abs(many).sum()
    assert high.mean() > low.mean()


def test_mean_features_are_those_of_all_pairs():
    X = [np.random.default_rng(seed).normal(size=(4 + seed, 2)) for seed in range(2)]
    pairs = [(a - b) ** 2 for points in X for i, a in enumerate(points) for b in points[:i]]
    assert_allclose(learners.mean_features(X), np.mean(pairs, axis=0))
    metric = noisy.learned_metric(0.5)
    assert_allclose(learners.mean_features(noisy.noisy_sets(0.5, 4, 0)[0]), metric.scales_)


def test_digit_sets_hold_five_digits_each():
    X, y = learners.digit_sets(2, 3)
    assert [points.shape[0] for points in X] == [60, 60]
    assert_array_equal(np.bincount(y[0]), 12)
    assert X[0].shape[1] == X[1].shape[1] < 64 and not np.array_equal(X[0], X[1])


def test_two_learners_are_above_one_bound():
    """The proof holds for its own exemplars; here the steps end with no better ones."""
    ((stopped, better, proven),) = learners.two_learners("noisy", 1)
    assert stopped > better >= 1 and stopped > proven >= 1


# --- the second latent CRF -------------------------------------------------------------------


def test_hidden_states_solve_the_exclusive_or():
    alone, linear, latent, parts = (float(share[:-1]) for _, share in grids.xor_errors())
    assert latent < 10 < 20 < alone < 35 < 40 < linear
    assert parts < 10


def test_crosses_are_the_wrong_labels():
    truth, *others = grids.xor_grid().axes
    labels = truth.images[0].get_array()
    for ax in others:
        wrong = np.sum(ax.images[0].get_array() != labels)
        assert len(ax.collections[0].get_offsets()) == wrong
