"""The quizzes of the chapters: their numbers, and the claims behind their answers."""

import itertools
import re

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from book.quizzes import questions as quizzes
from mlbook.exemplars import exemplar_energy
from mlbook.kmeans import distortion, spectral_bound, trace_objective
from mlbook.mimlca import chi2_rbf_kernel, weak_kmeans
from mlbook.mlca import MLCA

pytestmark = pytest.mark.book

CHAPTERS = {name: getattr(quizzes, name)() for name in quizzes.__all__}


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_quiz_is_short_and_its_answers_cannot_be_guessed(name):
    questions = CHAPTERS[name]
    assert 4 <= len(questions) <= 6
    assert len({question.right for question in questions}) > 1, "the same letter is always right"
    reasons = [why for question in questions for _, why in question.answers]
    assert len(set(reasons)) == len(reasons)


def right(name: str, start: str) -> str:
    """The right answer to the question that begins so."""
    (question,) = [q for q in CHAPTERS[name] if q.text.startswith(start)]
    return question.answers[question.right][0]


@pytest.mark.parametrize(
    "name, start, number",
    [
        ("kmeans", "The points 0, 2, 7", 2 * 1**2 + 1 * 7**2),
        ("kmeans", "The metric M is multiplied", 4),
        ("kmeans", "There are four true clusters", 4 + 1 - 2),
        ("mlca", "Four points, two classes", 2 * 2),
        ("mlca", "After training", 2 * 0.3),
        ("mlca", "A perfect fit", 1 / 4 + 1 / 100),
        ("mlca", "You centre the data", 3 - 1),
        ("latent_crf", "Two points at distance 1", 6 - 2 - 2),
        ("latent_crf", "Training ends", 36.7),
        ("mimlca", "A photograph shows", 3 * 2),
        ("mimlca", "Two instances", 2 + 2),
        ("mimlca", "A colleague", 5),
        ("change_points", "Two stretches", 3 * 6 / 9 * 2**2),
        ("segmentation", "A path of four", 1 / 5 + 1 / 5),
        ("segmentation", "An object has 5%", -0.33),
        ("segmentation", "Three pixels", 0.06),
        ("comparison", "In the worked example", round(24 / 18, 2)),
        ("scale", "A machine has digested", 88),
    ],
)
def test_numbers_are_those_found_by_hand(name, start, number):
    shown = re.search(r"−?\d+(\.\d+)?", right(name, start))
    assert float(shown[0].replace("−", "-")) == pytest.approx(number)


# --- claims that the answers make ------------------------------------------------------------


def test_a_shift_changes_the_trace_and_not_the_distortion():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(9, 2)), np.arange(9) % 3
    assert distortion(X + 5, labels) == pytest.approx(distortion(X, labels))
    assert trace_objective(X + 5, labels) > trace_objective(X, labels) + 1
    assert right("kmeans", "All points are moved").startswith("only the trace")


def test_the_bound_says_nothing_for_two_features_and_three_clusters():
    assert spectral_bound(np.random.default_rng(0).normal(size=(30, 2)), 3) == 0


def test_units_do_not_move_the_points_of_mlca():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.arange(30) % 3
    grams = X * [1000, 1, 1, 1]
    assert np.allclose(MLCA().fit(X, y).transform(X), MLCA().fit(grams, y).transform(grams))


def test_a_higher_price_never_means_more_exemplars():
    rng = np.random.default_rng(0)
    sets = [Q for k in range(1, 6) for Q in itertools.combinations(range(5), k)]
    for D in rng.uniform(size=(20, 5, 5)):
        numbers = [
            len(min(sets, key=lambda Q, f=f, D=D: exemplar_energy(D, list(Q), f)))
            for f in np.linspace(0, 2, 15)
        ]
        assert numbers == sorted(numbers, reverse=True) and len(set(numbers)) > 1


def test_an_invertible_kernel_stops_every_start_at_the_same_objective():
    rng = np.random.default_rng(0)
    U = np.linalg.eigh(chi2_rbf_kernel(*[rng.random((12, 3))] * 2))[1]
    offsets, Y = [0, 3, 6, 9, 12], np.ones((4, 3), dtype=int)
    found = [weak_kmeans(U, offsets, Y, init="random", random_state=s) for s in range(5)]
    assert {round(f.objective_path[-1], 9) for f in found} == {12 - 3}
    assert len({tuple(f.assignments) for f in found}) > 1


def test_no_price_gives_two_segments():
    path = np.array([10, 9, 1])
    prices = np.linspace(0, 20, 2001)[:, None]
    assert set(np.argmin(path + prices * [1, 2, 3], axis=1) + 1) == {1, 3}
    assert right("change_points", "The least distortions") == "none"


def test_answers_merge_by_luck_only():
    """Equal Gram matrices and class sizes are such luck; equal class sizes alone are not."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), np.arange(12) % 2

    def multiple(first, second):
        mean = (MLCA().fit(first, y).components_ + MLCA().fit(second, y).components_) / 2
        whole = MLCA().fit(np.vstack([first, second]), np.tile(y, 2)).components_
        return np.allclose(mean / np.linalg.norm(mean), whole / np.linalg.norm(whole))

    turned = np.linalg.qr(rng.normal(size=(12, 12)))[0] @ X
    assert multiple(X, turned) and not multiple(X, rng.normal(size=(12, 3)))
    assert right("scale", "Two machines") == "only by luck"
