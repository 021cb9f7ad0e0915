"""What the chapter on change points claims and draws, against second derivations."""

import gzip
import json
import re
from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")
from enumeration import all_segmentations
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from book.figures import change_points as demo
from book.figures.change_points import speech
from mlbook.changepoints import (
    loss_augmented_segment,
    segment,
    segment_matrix,
    segment_starts,
    segmentation_path,
)
from mlbook.kmeans import distortion
from mlbook.large_margin import structured_hinge
from mlbook.partitions import equivalence_matrix, partition_loss

pytestmark = pytest.mark.book


def numbers(caption: str) -> list[float]:
    return [float(x) for x in re.findall(r"\d+(?:\.\d+)?", caption)]


def value(A, labels):
    return np.sum(A * equivalence_matrix(labels))


# --- segmentations, and the dynamic program ---------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 5])
def test_all_segmentations_are_listed_once(n):
    listed = {tuple(labels.tolist()) for labels in demo.splits_in_time(n)}
    assert listed == {tuple(labels.tolist()) for labels in all_segmentations(n)}
    assert len(demo.splits_in_time(n)) == 2 ** (n - 1)


def test_a_cut_adds_a_square():
    """The lemma: the difference of the matrices is vvᵀ, and the gain pq/(p + q)‖z − z'‖²."""
    X = np.random.default_rng(0).normal(size=(7, 2))
    whole, cut = np.array([0, 0, 1, 1, 1, 1, 1]), np.array([0, 0, 1, 1, 2, 2, 2])
    difference = equivalence_matrix(cut) - equivalence_matrix(whole)
    assert_allclose(np.linalg.eigvalsh(difference), [*[0] * 6, 1], atol=1e-12)
    jump = X[2:4].mean(axis=0) - X[4:].mean(axis=0)
    assert np.sum(difference * (X @ X.T)) == pytest.approx(2 * 3 / 5 * jump @ jump)


@pytest.mark.parametrize("penalty", [1.0, 5.0, 20.0])
def test_candidate_costs_are_those_of_enumeration(penalty):
    x, _ = demo.six_points()
    costs = demo.candidate_costs(x, penalty)
    for u in range(1, 7):
        for s in range(u):
            cheapest = min(
                distortion(x[:u, None], labels) + penalty * (labels[-1] + 1)
                for labels in all_segmentations(u)
                if segment_starts(labels)[-1] == s
            )
            assert costs[u - 1, s] == pytest.approx(cheapest)
        assert np.isinf(costs[u - 1, u:]).all()


def test_trace_by_hand():
    x, y = demo.six_points()
    costs = demo.candidate_costs(x, 5)
    assert_allclose(costs.min(axis=1), [5, 7, 12, 14, 19, 21])
    assert_array_equal(costs.argmin(axis=1), [0, 0, 2, 2, 4, 4])
    assert_array_equal(segment(x[:, None], penalty=5.0), y)
    assert_allclose(segmentation_path(x[:, None], 6).distortion, [34, 22, 6, 4, 2, 0], atol=1e-9)


@pytest.mark.equation("Lajugie 2014, Algorithm 1")
def test_printed_algorithm_is_a_segmentation_but_not_the_best():
    rng = np.random.default_rng(1)
    worse = 0
    for _ in range(50):
        A = rng.normal(size=(5, 5))
        A += A.T
        labels = demo.printed_algorithm(A)
        assert labels[0] == 0 and set(np.diff(labels)) <= {0, 1}
        best = max(value(A, s) for s in all_segmentations(5))
        assert value(A, segment_matrix(A)) == pytest.approx(best)
        worse += value(A, labels) < best - 1e-9
    assert worse > 25
    assert value(np.diag([-1.0, 2]), demo.printed_algorithm(np.diag([-1.0, 2]))) < 1


@pytest.mark.parametrize("penalty, best", [(5.0, 2), (20.0, 0)])
def test_program_step_names_the_best_start(penalty, best):
    figure, caption = demo.program_step(4 if penalty == 5 else 5, penalty)
    assert f"Best: from {best}" in caption
    solid = [p for p in figure.axes[1].patches if p.get_linestyle() in ("-", "solid")]
    assert len(solid) == 1 and solid[0].get_linewidth() > 2


def test_no_price_gives_two_segments():
    left, right = demo.path_of_six_points().axes
    counts = set(np.asarray(right.lines[0].get_ydata()).tolist())
    assert counts == {1, 3, 6}
    height = {line.get_xdata()[0]: line.get_ydata()[0] for line in left.lines[1:]}
    assert height[2] > (height[1] + height[3]) / 2


def test_blocks_and_problem_are_drawn():
    assert len(demo.block_matrix().axes[1].images) == 1
    _, seen, strip, matrix = demo.the_problem().axes
    plain, learned = (numbers(t.get_text())[0] for t in strip.get_yticklabels()[1:])
    assert learned < plain / 2
    M = np.asarray(matrix.images[0].get_array())
    assert M.shape == (12, 12) and np.linalg.eigvalsh(M)[0] > -1e-9
    assert len(seen.images) == 1


def test_price_explorer_tells_what_it_shows():
    x, labels = demo.noisy(0.5)
    figure, caption = demo.price_and_noise(8, 0.5)
    assert isinstance(figure, Figure)
    assert numbers(caption) == [8, 0.5, 6, 6, 0]
    for price, count in [(0.5, 32), (128, 1)]:
        found = segment(x[:, None], penalty=price)
        assert found[-1] + 1 == count
        loss = partition_loss(found, labels)
        assert numbers(demo.price_and_noise(price, 0.5)[1])[-1] == pytest.approx(loss, abs=0.005)


# --- the hinge and its cuts --------------------------------------------------------------------


def test_hinge_of_the_six_points_by_hand():
    x, y = demo.six_points()
    for b in np.linspace(0, 0.6, 25):
        hinge = structured_hinge(x[:, None], y, [b])
        assert hinge == pytest.approx(max(4 - 28 * b, 4 / 3 - 2 * b, 6 * b))
        pairs = structured_hinge(x[:, None], y, [b], min_length=2)
        assert pairs == pytest.approx(max(4 - 28 * b, 0), abs=1e-9)


def test_hinge_picture_is_an_envelope_over_a_staircase():
    (ax,) = demo.hinge_of_six_points().axes
    curves = {line.get_label(): np.asarray(line.get_ydata(), dtype=float) for line in ax.lines}
    hinge, loss = curves["hinge h(b)"], curves["loss Δ of the prediction"]
    lines = [y for label, y in curves.items() if label.startswith("_")]
    assert len(lines) == 32
    assert_allclose(np.max(lines, axis=0), hinge, atol=1e-9)
    assert (hinge >= loss - 1e-9).all()
    assert_allclose(sorted(set(loss.round(6))), [0, 2, 3])


def test_hinge_is_at_least_the_distortion_of_the_truth():
    rng = np.random.default_rng(2)
    for labels in all_segmentations(6):
        X, b = rng.normal(size=(6, 2)), rng.exponential(size=2)
        hinge = structured_hinge(X, labels, b)
        assert hinge >= distortion(X, labels, np.diag(b)) - 1e-9
        assert structured_hinge(X, labels, [0.0, 0]) == pytest.approx(2 * labels[-1])


def test_changes_below_the_noise_vanish():
    """The corollary, for h + τb on a grid: the truth without one change scores higher."""
    labels = np.repeat([0, 1], 30)
    signs = np.tile([1.0, -1.0], 30)  # variance 1 within segments
    X = (1.3 * labels + signs)[:, None]  # 1.3² < 2/(2 − 1)
    grid = np.linspace(0, 0.2, 81)
    for tau in (0.0, 0.5):
        best = grid[np.argmin([structured_hinge(X, labels, [b]) + tau * b for b in grid])]
        assert segment(np.sqrt(best) * X, penalty=1.0)[-1] == 0
    assert segment(X, n_segments=2, min_length=10)[-1] == 1
    assert_array_equal(segment(X, penalty=5.0), labels)  # the data would have told


def test_cutting_planes_enclose_the_minimum():
    X, y = demo.one_series()
    rounds = demo.cutting_planes(9)
    bounds = [r.bound for r in rounds]
    assert bounds == sorted(bounds)
    for b in np.linspace(0, 4, 81):
        hinge = structured_hinge(X, y, [b], min_length=5)
        assert hinge + demo.STRENGTH * b**2 / 2 >= bounds[-1] - 1e-9
    assert min(r.objective for r in rounds) == pytest.approx(bounds[-1])
    for r in rounds:
        exact = structured_hinge(X, y, [r.weight], min_length=5)
        assert r.objective == pytest.approx(exact + demo.STRENGTH * r.weight**2 / 2)
        worst = loss_augmented_segment(X, y, M=[r.weight], min_length=5)
        slope = X[:, 0] @ (equivalence_matrix(worst) - equivalence_matrix(y)) @ X[:, 0]
        assert r.slope == pytest.approx(slope)


def test_planes_are_below_the_objective_and_the_gap_closes():
    gaps = []
    for rounds in (1, 3, 7):
        figure, caption = demo.planes_round_by_round(rounds)
        (ax,) = figure.axes
        curves = {line.get_label(): line.get_ydata() for line in ax.lines}
        assert (curves["largest cut"] <= curves["objective Φ"] + 1e-9).all()
        gaps.append(float(re.search(r"gap ([\d.]+)%", caption)[1]))
    assert gaps[0] > gaps[1] > gaps[2] == 0


def test_certificate_bounds_every_metric():
    """Any average of cuts: ō − ‖(−Ḡ)₊‖²/(2τ) is below J at random diagonal metrics."""
    rng = np.random.default_rng(3)
    X, y, tau = rng.normal(size=(12, 3)), np.repeat([0, 1, 2], 4), 0.3
    offset, gradient = 0.0, np.zeros(3)
    for _ in range(5):
        b = rng.exponential(size=3)
        worst = loss_augmented_segment(X, y, M=b)
        difference = equivalence_matrix(worst) - equivalence_matrix(y)
        offset += (partition_loss(worst, y) - worst[-1] + y[-1]) / 5
        gradient += np.einsum("ij,ik,kj->j", X, difference, X) / 5
    bound = offset - np.sum(np.maximum(-gradient, 0) ** 2) / (2 * tau)
    for b in rng.exponential(scale=rng.uniform(0, 2, size=(200, 1)), size=(200, 3)):
        assert structured_hinge(X, y, b) + tau / 2 * b @ b >= bound - 1e-9


# --- learning ----------------------------------------------------------------------------------


def test_test_sequences_stay_the_same_when_training_shrinks():
    few, all_of_them = demo.small_sequences(4, n_train=2), demo.small_sequences(4)
    assert len(few.train) == 2
    assert_array_equal(few.train[1], all_of_them.train[1])
    assert_array_equal(few.test[0], all_of_them.test[0])


def test_best_price_has_the_least_training_loss():
    data = demo.small_sequences(5)
    price = demo.best_price(data.train, data.train_labels)
    at = np.mean(demo.losses_at(data.train, data.train_labels, price))
    for factor in (0.1, 0.5, 2, 10):
        assert at <= np.mean(demo.losses_at(data.train, data.train_labels, factor * price))


def test_best_price_is_the_best_of_a_search_at_every_price():
    for seed in range(3):
        data = demo.short_sequences(seed)
        scatter = np.mean([np.sum((x - x.mean(axis=0)) ** 2) for x in data.train])
        prices = scatter * np.geomspace(1e-3, 0.3, 20)
        losses = [np.mean(demo.losses_at(data.train, data.train_labels, p)) for p in prices]
        found = demo.best_price(data.train, data.train_labels)
        assert found == pytest.approx(prices[np.argmin(losses)])


def test_large_margin_learns_from_the_columns_it_is_tested_on():
    """Without steps it is learned without steps, too."""
    steps, noise = (demo.short_model(0, steps=is_step) for is_step in (True, False))
    assert not np.allclose(steps.get_mahalanobis_matrix(), noise.get_mahalanobis_matrix())


def test_two_classes_with_their_names_exchanged():
    """All labels wrong is all labels right; half of them wrong is no label at all."""
    for seed in range(3):
        assert max(demo.slope_without_noise(seed, 1.0, n_classes=2)) < 0
        assert min(demo.slope_without_noise(seed, 0.5, n_classes=2)) > 0


def test_shares_are_squared_cosines_with_the_segments():
    data = demo.small_sequences(3)
    shares = demo.column_shares(data)
    between = total = 0
    for X, y in zip(data.train, data.train_labels, strict=True):
        X = X - X.mean(axis=0)
        between = between + np.sum((equivalence_matrix(y) @ X) ** 2, axis=0)
        total = total + np.sum(X**2, axis=0)
    assert_allclose(shares, between / total)
    assert shares[:6].mean() > shares[6:].mean()


def test_both_remedies_help():
    plain = np.mean(demo.learned_losses(20, min_length=1, calibrate=False))
    assert plain > 0.5
    for options in ({"calibrate": False}, {"min_length": 1}, {}):
        assert np.mean(demo.learned_losses(20, **options)) < plain / 3


def test_bars_and_caption_agree():
    figure, caption = demo.irrelevant_columns(20, 6)
    bars = [bar.get_width() for bar in figure.axes[1].patches]
    said = [float(x) for x in re.findall(r" (\d\.\d\d)[;.]", caption)]
    assert_allclose(said, bars, atol=0.005)
    assert bars[-1] < 0.2 < 1 < min(bars[:-1])
    assert bars[0] == pytest.approx(np.mean(demo.map_losses("Euclidean", 20)), abs=1e-3)


@pytest.mark.parametrize("n_irrelevant, n_train", [(0, 2), (10, 3), (20, 6)])
def test_the_explorer_draws_what_is_learned_now(n_irrelevant, n_train):
    stored = json.loads(demo.FITTED.read_text())
    assert list(stored) == [f"{n}, {m}" for n in demo.COLUMNS for m in demo.TRAINING]
    now, then = demo.fitted_columns(n_irrelevant, n_train), stored[f"{n_irrelevant}, {n_train}"]
    assert_allclose(then["weights"], now["weights"], atol=0.02)
    assert now["losses"] == pytest.approx(then["losses"], abs=1e-3)


def test_the_longest_bar_is_inside_the_picture():
    figure, _ = demo.irrelevant_columns(160, 2)
    right = figure.axes[1]
    assert max(bar.get_width() for bar in right.patches) > 5.9
    assert max(bar.get_width() for bar in right.patches) < right.get_xlim()[1] - 0.5


def test_any_sum_over_segments_is_maximized():
    rng = np.random.default_rng(5)
    for _ in range(20):
        table = rng.normal(size=(7, 7))
        found, labels = demo.best_by_segments(lambda s, u, table=table: table[s, u], 6)
        sums = []
        for split in all_segmentations(6):
            bounds = [*segment_starts(split), 6]
            sums.append(sum(table[s, u] for s, u in pairwise(bounds)))
        assert found == pytest.approx(max(sums))
        bounds = [*segment_starts(labels), 6]
        assert found == pytest.approx(sum(table[s, u] for s, u in pairwise(bounds)))


def test_hinge_of_partitions_over_segmentations_is_that_of_the_library():
    rng = np.random.default_rng(6)
    every = list(all_segmentations(5))
    for labels in every:
        X, b = rng.normal(size=(5, 2)), rng.exponential()
        found = demo.hinge_of_partitions(X, labels, b, demo.all_matrices(every))
        assert found == pytest.approx(structured_hinge(X, labels, [b, b]))


def test_all_partitions_are_listed_once():
    counts = [len({tuple(a) for a in demo.free_partitions(n)}) for n in range(1, 7)]
    assert counts == [1, 2, 5, 15, 52, 203]


def test_is_linear_tells_a_square_from_a_line():
    x = np.arange(5.0)[:, None]
    assert demo.is_linear(x, 3 * x[:, 0] - 1)
    assert not demo.is_linear(x, x[:, 0] ** 2)


def test_fast_loss_is_the_loss():
    for a in all_segmentations(5):
        for b in all_segmentations(5):
            assert demo.fast_loss(a, b) == pytest.approx(partition_loss(a, b))


def test_irrelevant_columns_of_noise_have_the_same_variance():
    steps, noise = (demo.short_sequences(s, steps=s < 30) for s in (0, 30))
    assert_allclose(
        np.var(np.vstack(noise.train)[:, 6:]), np.var(np.vstack(steps.train)[:, 6:]), rtol=0.25
    )


@pytest.mark.parametrize("share", [0.0, 0.4])
def test_least_slope_is_below_the_slope_of_the_hinge_everywhere(share):
    """The proposition, against differences of the hinge in random directions."""
    sets = demo.wrong_labels(3, share)
    least, below = demo.least_slope(sets)
    assert below <= least + 1e-9
    assert least < 0 if share == 0 else below >= 0
    rng = np.random.default_rng(0)
    scale = np.mean([np.sum((X - X.mean(axis=0)) ** 2, axis=0) for X, _ in sets], axis=0)
    for direction in rng.dirichlet(np.ones(18), size=20):
        hinges = [
            structured_hinge(
                X, y, 1e-6 * direction / scale, structure="spectral", n_clusters="known"
            )
            for X, y in sets
        ]
        assert (np.mean(hinges) - 6) / 1e-6 >= below - 1e-4


def test_least_slope_of_one_column_by_hand():
    X = np.array([[0.0], [1.0], [4.0], [5.0]])  # within 1, between 16, total 17
    assert demo.least_slope([(X, np.array([0, 0, 1, 1]))])[0] == pytest.approx((1 - 16) / 17)


def test_without_noise_the_threshold_is_one_over_root_two():
    """a² = ½ at p = (1 − 1/√2)(k − 1)/k, 22% for four classes."""
    rises = {p: np.mean([demo.slope_without_noise(s, p) for s in range(5)]) for p in (0.18, 0.26)}
    assert rises[0.18] < 0 < rises[0.26]


def test_alternation_on_annotated_points_goes_down():
    for seed in range(10):
        assert (demo.alternation_steps(seed, annotated_only=True) <= 1e-9).all()


# --- changes of distribution -------------------------------------------------------------------


@pytest.mark.parametrize("change", demo.CHANGES)
def test_what_does_not_change_stays(change):
    draws = [demo.wandering_series(change, seed) for seed in range(40)]
    x, odd = np.concatenate([d[0] for d in draws]), np.concatenate([d[1] for d in draws]) % 2 == 1
    means, spreads = ([f(x[odd]), f(x[~odd])] for f in (np.mean, np.std))
    assert (abs(means[0] - means[1]) < 0.3) == (change != "mean")
    assert (abs(spreads[0] - spreads[1]) < 0.1) == (change in ("shape", "mean"))


def test_degrees_see_what_the_chapter_says():
    def loss(features, degree, change):
        return np.mean(demo.distribution_losses(features, degree, change, 10))

    assert loss("Hermite", 0, "variance") < 1 < 4 < loss("x alone", 0, "variance")
    assert (
        loss("powers", 4, "variance, heavy tails")
        > 4
        > 1
        > loss("Hermite", 4, "variance, heavy tails")
    )
    assert loss("Hermite", 0, "mean") > 3 > 1 > loss("Hermite", 1, "mean")
    assert loss("Hermite", 2, "shape") > 3 > 1 > loss("Hermite", 8, "shape")


def test_degree_explorer_tells_the_losses():
    _, caption = demo.degree_and_change(2, "variance")
    expected = [
        demo.distribution_losses("Hermite", 2, "variance", 1)[0],
        np.mean(demo.distribution_losses("Hermite", 2, "variance", 10)),
        np.mean(demo.distribution_losses("powers", 2, "variance", 10)),
    ]
    said = numbers(caption)
    assert_allclose([said[1], said[2], said[4]], expected, atol=0.005)


def test_learned_degrees_pick_the_mean():
    equal, learned, shares = demo.learned_degrees("mean", degree=4)
    assert shares.argmax() == 1 and shares[1] > 0.8
    assert learned < min(equal + 0.2, 0.6)


def test_noise_has_the_memory_asked_for():
    x = np.concatenate([demo.noise_with_memory(4000, 0.7, seed) for seed in range(5)])
    assert np.var(x) == pytest.approx(1, abs=0.15)
    assert np.corrcoef(x[1:], x[:-1])[0, 1] == pytest.approx(0.7, abs=0.03)
    first = [demo.noise_with_memory(3, 0.7, seed) for seed in range(3000)]
    assert_allclose(np.std(first, axis=0), 1, atol=0.06)


def test_pieces_of_two_or_more_are_counted_by_fibonacci():
    counts = [sum(np.bincount(a).min() > 1 for a in demo.splits_in_time(n)) for n in range(2, 9)]
    assert counts == [1, 1, 2, 3, 5, 8, 13]


# --- speech --------------------------------------------------------------------------------------


def test_recordings_are_those_of_the_package(tmp_path, monkeypatch):
    kept = speech.SPEECH.read_bytes()
    monkeypatch.setattr(speech, "SPEECH", tmp_path / "vowels.csv.gz")
    try:
        demo.write_recordings()
    except ImportError:
        pytest.skip("the package aeon carries them")
    assert gzip.decompress(speech.SPEECH.read_bytes()) == gzip.decompress(kept)


def test_nobody_is_in_training_and_test():
    frames, _ = demo.recordings()
    first = {tuple(f[0]): s for f, s in zip(*demo.recordings(), strict=True)}
    assert len(first) == len(frames)
    for seed in range(3):
        data = demo.held_out(seed)
        rows = np.vstack([np.diff(x, axis=0) for x in (*data.train, *data.test)])
        assert np.isfinite(rows).all()
        for y in (*data.train_labels, *data.test_labels):
            assert y[-1] == 14 and set(np.diff(y)) == {0, 1}
        assert len(demo.held_out(seed, n_train=3).train) == 3


def test_neighbours_are_never_by_the_same_speaker():
    _, speakers = demo.recordings()
    rng = np.random.default_rng(0)
    order = speech._dealt(rng.permutation(270), speakers, rng)
    assert sorted(order) == list(range(270))
    assert (speakers[order[1:]] != speakers[order[:-1]]).all()


def test_what_is_stored_of_the_speech_is_what_is_learned_now():
    stored, now = speech.fitted()[0], speech.fitted_speech(0)
    assert now["losses"] == pytest.approx(stored["losses"], abs=1e-3)
    assert list(now["strengths"]) == list(stored["strengths"])
    for name, fit in now["strengths"].items():
        assert fit["loss"] == pytest.approx(stored["strengths"][name]["loss"], abs=0.3)
        assert_allclose(fit["values"], stored["strengths"][name]["values"], atol=0.05)


def test_the_explorer_of_the_regularizer_tells_what_it_shows():
    figure, caption = demo.regularizers(1e-2, "trace")
    assert numbers(caption.split(":")[0]) == [0.01]
    loss = demo.strengths("trace", "loss")[:, 2].mean()
    assert f"mean test loss {loss:.1f}" in caption
    assert len(figure.axes[1].lines) == 3


def test_noise_ratio_of_white_noise_is_one(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20000)
    X = rng.normal(size=(40000, 2)) + 5 * y[:, None]
    data = demo.Sequences([X], [y], [], [])
    monkeypatch.setattr(speech, "held_out", lambda seed: data)
    assert demo.noise_ratio(0) == pytest.approx(1, abs=0.05)


def test_mixing_changes_no_distance():
    plain, mixed = (demo.short_sequences(3, mixed=m) for m in (False, True))
    for a, b in zip(plain.train, mixed.train, strict=True):
        assert_allclose(a @ a.T, b @ b.T, atol=1e-9)
    assert_allclose(demo.mean_losses("Euclidean", mixed=True), demo.mean_losses("Euclidean"))


# --- pictures of the hinge, of partial labels and of Hermite functions ---------------------------


def test_the_margin_line_shows_the_hinge():
    x, y = demo.six_points()
    for ax, b in zip(demo.margin_line().axes, (1 / 50, 1 / 6), strict=True):
        hinge = structured_hinge(x[:, None], y, [b])
        assert numbers(ax.get_title())[-1] == pytest.approx(hinge, abs=0.005)
        low, high = ax.lines[-1].get_ydata()
        assert high - low == pytest.approx(hinge)
        assert len(ax.lines[2].get_xdata()) + len(ax.lines[3].get_xdata()) == 32


def test_planes_by_hand_are_cuts_of_the_hinge():
    x, y = demo.six_points()
    for plane in demo.planes_by_hand():
        value = plane.offset + plane.slope * plane.weight
        assert value == pytest.approx(structured_hinge(x[:, None], y, [plane.weight]))
        for b in np.linspace(0, 1, 21):
            below = plane.offset + plane.slope * b
            assert below <= structured_hinge(x[:, None], y, [b]) + 1e-9
            assert plane.bound <= structured_hinge(x[:, None], y, [b]) + 1e-9
    assert len(demo.planes_of_six_points().axes) == 4


def test_three_hinges_lie_above_each_other():
    curves = [line.get_ydata() for line in demo.three_hinges().axes[0].lines]
    assert len(curves) == 3
    assert all((high >= np.array(low) - 1e-9).all() for low, high in pairwise(curves))


def test_partial_labels_are_drawn_as_they_constrain():
    (ax,) = demo.partial_labels().axes
    words = [text.get_text() for text in ax.texts]
    assert words[:5] == ["no", "cut?", "cut?", "cut?", "no"]


def test_the_bump_jumps_where_the_mean_does_not():
    _, series, seen = demo.hermite_picture().axes
    heights = [[c.get_segments()[0][0, 1] for c in ax.collections] for ax in (series, seen)]
    assert np.ptp(heights[0]) < 0.8
    assert (np.abs(np.diff(heights[1])) > 0.2).all()
