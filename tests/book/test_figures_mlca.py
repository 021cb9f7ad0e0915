"""What the chapter on MLCA claims and draws, against second derivations."""

import re

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans

from book.figures import mlca as demo
from book.figures.names import name_after
from mlbook.datasets import CROSSED_CLUSTER_MEANS, make_crossed_clusters
from mlbook.mlca import MLCA, closed_form_metric, worst_case_risk
from mlbook.partitions import normalized_assignment, partition_loss

pytestmark = pytest.mark.book

LABELS = np.array([0, 0, 0, 1, 1, 2, 2])


def numbers(caption: str) -> list[float]:
    return [float(x) for x in re.findall(r"\d+(?:\.\d+)?(?:e[+-]\d+)?", caption)]


def test_scatter_directions_and_discriminant_metric():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(7, 4))
    J = normalized_assignment(LABELS).toarray()
    rho, V = demo.scatter_directions(X, LABELS)
    cosines = np.linalg.svd(np.linalg.qr(X).Q.T @ J)[1]
    assert_allclose(rho, [*cosines**2, 0], atol=1e-12)
    assert_allclose(V.T @ X.T @ X @ V, np.eye(4), atol=1e-10)
    assert_allclose(V.T @ X.T @ J @ J.T @ X @ V, np.diag(rho), atol=1e-10)
    kept = V[:, :3] / np.sqrt(1 - rho[:3])
    assert_allclose(demo.discriminant_metric(X, LABELS), kept @ kept.T, atol=1e-8)


# --- the worked example ----------------------------------------------------------------------


def test_four_points_by_hand():
    X, y = demo.four_points()
    M = closed_form_metric(X, normalized_assignment(y))
    assert_allclose(M, np.diag([1 / 4, 1 / 25, 0]), atol=1e-15)
    assert worst_case_risk(X, M, y) == pytest.approx(0.4)
    assert worst_case_risk(X, np.diag([1.0, 0, 1]), y) == pytest.approx(2)


def test_triangle_shows_a_staircase_under_its_bound():
    left, right = demo.risk_triangle().axes
    assert {"2.4", "2.0", "0.4"} <= {text.get_text() for text in left.texts}
    bound, risk = (np.asarray(line.get_ydata(), dtype=float) for line in right.lines)
    assert (bound >= risk).all()
    assert_allclose(sorted(set(risk.round(6))), [0.4, 2, 2.4])


def test_metric_by_hand_shows_a_circle_and_two_lines():
    left, right = demo.metric_by_hand().axes
    assert "Δ = 2" in left.get_title() and "Δ = 0" in right.get_title()
    (circle,) = left.lines
    assert_allclose(np.hypot(*circle.get_data()), 2)
    assert len(right.lines) == 2
    assert sorted(line.get_xy1()[0] for line in right.lines) == pytest.approx([-2, 2])


def test_target_projected_shows_the_residual():
    left, right = demo.target_projected().axes
    assert "√0.2" in {text.get_text() for text in left.texts}
    ties = [np.diff(np.asarray(line.get_xydata()), axis=0) for line in right.lines]
    assert sum(np.sum(tie**2) for tie in ties) == pytest.approx(0.2)
    (rise,) = [np.asarray(line.get_xydata()) for line in left.lines]
    assert np.sum(np.diff(rise, axis=0) ** 2) == pytest.approx(0.2)


# --- clustering test data --------------------------------------------------------------------


def test_crossed_clusters_tell_the_story():
    wrong, right = (numbers(axes.get_title())[-1] for axes in demo.crossed_clusters().axes)
    assert wrong > 2.9 and right < 0.2


def test_losses_are_those_of_the_library():
    X, y, T, t = demo.draw_crossed((50, 60, 70), 1.0, 2, (40,) * 3, 1)
    model = MLCA().fit(X, y)
    labels = KMeans(3, n_init=10, random_state=0).fit_predict(model.transform(T))
    options = {"n_seeds": 2, "test": (40,) * 3}
    losses = demo.losses_of("MLCA", (50, 60, 70), n_noise_features=2, **options)
    assert losses[1] == partition_loss(t, labels)
    found = demo.losses_of("KISSME", **options)
    assert len(found) == 2 and (found < 0.3).all()


def test_the_spectral_step_forgets_the_metric_only_without_noise_features():
    options = {"n_seeds": 1, "test": (100,) * 3}
    narrow = [demo.losses_of(f"{w}, spectral", **options) for w in ("Euclidean", "MLCA")]
    assert_allclose(*narrow, atol=0.02)
    wide = [
        demo.losses_of(f"{w}, spectral", n_noise_features=7, **options)[0]
        for w in ("Euclidean", "MLCA")
    ]
    assert wide[0] > 3 and wide[1] < 0.3


def test_a_wrong_partition_is_preferred_only_where_its_distortion_is_smaller():
    stuck, drawn = (400, 100, 200), 18  # ten starts end with Δ = 1.4, above the truth
    losses = demo.losses_of("MLCA, spectral", stuck, n_noise_features=7)
    preferred = demo.prefers_wrong("MLCA, spectral", stuck, n_noise_features=7)
    assert losses[drawn] > 1 and not preferred[drawn]
    assert_array_equal(np.flatnonzero(preferred), [8, 15])
    assert_array_equal(preferred & (losses > 1), preferred)


def test_third_vector_as_learned_is_the_spectral_step_but_for_its_length():
    X, y, T, _ = demo.draw_crossed((50,) * 3, 2.0, 4, (40,) * 3, 0)
    Z = demo.WAYS["MLCA, spectral, third as learned"](X, y, T)
    lengths = np.linalg.svd(MLCA().fit(X, y).transform(T), compute_uv=False)
    assert_allclose(Z.T @ Z, np.diag([1, 1, (lengths[2] / lengths[1]) ** 2]), atol=1e-9)


def test_sizes_are_sorted_by_the_tilt_they_give():
    tilts = [demo.mean_tilt(sizes) for sizes in demo.SIZES]
    assert_allclose(np.diff(tilts).clip(max=0), 0, atol=1e-12)
    assert demo.mean_tilt((0, 0, 1)) == 0.15
    X, y = make_crossed_clusters((100, 100, 900), random_state=3)
    learned = demo.learned_tilt(X, y, fit_intercept=True)
    assert learned == pytest.approx(demo.mean_tilt((1, 1, 9)), abs=0.004)


def test_tilts_are_those_of_the_means():
    low, high = np.sort(CROSSED_CLUSTER_MEANS, axis=1).transpose(1, 0, 2)
    assert_allclose((high - low)[:, 0] / (high - low)[:, 1], demo.TILTS)
    X, y = make_crossed_clusters((2, 1, 1), noise=0, random_state=0)
    straight = demo._straight(X, y)
    upper = X[:, 1] > 30
    assert_array_equal(straight[upper], X[upper])
    for c in range(3):
        assert np.ptp(straight[y == c, 0]) == pytest.approx(0)
    assert_array_equal(straight[:, 1:], X[:, 1:])


def test_the_large_category_decides_whether_the_second_is_torn():
    assert demo.whole_categories((100, 200, 100), n_seeds=2).all()
    assert_array_equal(demo.whole_categories((200, 100, 400), n_seeds=2), [[True, False, True]] * 2)


def test_repeated_rows_are_balanced():
    X, y = demo._repeated(np.arange(7.0)[:, None], np.array([0, 1, 1, 2, 2, 2, 2]))
    assert_array_equal(np.bincount(y), [4, 4, 4])
    assert_array_equal(X[:, 0], [0, 0, 0, 0, 1, 1, 2, 2, 3, 4, 5, 6])


def test_tilts_shows_every_size():
    left, right = demo.tilts().axes
    assert len(left.lines) >= 6
    assert {text.get_text() for text in right.texts} >= {"1:2:4", "20:1:1", "1:1:20"}
    assert len(right.texts) == len(demo.SIZES)


def test_centred_spectral_step_depends_on_rounding():
    three, two = ([demo.centred_spectral(n, order=i) for i in range(12)] for n in (3, 2))
    assert np.ptp(two) < 0.05 and max(two) < 0.2 < np.ptp(three)


@pytest.mark.parametrize(
    "draw, arguments, n_ways",
    [
        (demo.noise_and_features, (1, 7), 5),
        (demo.sizes_and_ways, ((100, 200, 400), "LDA"), 4),
    ],
)
def test_bars_and_caption_agree(draw, arguments, n_ways):
    figure, caption = draw(*arguments)
    bars = [bar.get_width() for bar in figure.axes[1].patches]
    assert len(bars) == n_ways
    said = [float(x) for x in re.findall(r"[a-zA-Z] (\d\.\d\d)[;.]", caption)]
    assert_allclose(said, bars, atol=0.005)


def test_caption_names_sizes_and_shares():
    _, caption = demo.sizes_and_ways((100, 100, 2000), "MLCA")
    assert caption.startswith("Map of MLCA. Training sizes 1:1:20,")
    X, y, *_ = demo.draw_crossed((100, 100, 2000), 1.0, 7, (200,) * 3, 0)
    *_, one, two, three, tilt = numbers(caption)
    assert_allclose([one, two, three], demo.scatter_directions(X, y)[0][:3], atol=0.005)
    assert tilt == pytest.approx(demo.mean_tilt((1, 1, 20)), abs=5e-4)


def test_names_follow_the_truth():
    truth = np.array([0, 0, 0, 1, 1, 2, 2, 2])
    found = np.array([2, 2, 0, 0, 0, 1, 1, 1])
    assert_array_equal(name_after(truth, found), [0, 0, 1, 1, 1, 2, 2, 2])
    more = np.array([2, 2, 1, 0, 0, 3, 3, 3])
    assert_array_equal(name_after(truth, more), [0, 0, 3, 1, 1, 2, 2, 2])
    gaps = np.array([5, 5, 1, 0, 0, 9, 9, 9])
    assert_array_equal(name_after(truth, gaps), [0, 0, 3, 1, 1, 2, 2, 2])
    larger = np.array([0, 0, 1, 1, 1, 1])
    assert_array_equal(name_after(larger, np.zeros(6, dtype=int)), 1)  # two classes, one cluster
