"""Real data of the chapter on MLCA: splits keep classes apart, pictures show what was found."""

import re

import numpy as np
import pytest

pytest.importorskip("matplotlib")
from numpy.testing import assert_allclose
from sklearn.metrics import adjusted_rand_score

from book.figures import mlca_unseen as demo
from mlbook.mlca import MLCA, SHRINKAGES

pytestmark = pytest.mark.book


@pytest.mark.parametrize("name, m", [("letters", 22), ("digits", 6)])
def test_a_split_has_new_classes_or_new_rows(name, m):
    _, y, _, t = demo.split(name, m, 3)
    assert len(set(y)) == m and len(set(t)) == 4 and not set(y) & set(t)
    again = demo.split(name, m, 3, seen=True)
    assert set(again.y) == set(t) and len(again.T) == len(t)
    rows, _ = demo._read(name)
    assert max(np.bincount(y)) <= 100 and max(np.bincount(t)) == 60
    assert len(again.X) <= 400 < len(rows)


def test_seen_rows_are_not_those_of_the_test(monkeypatch):
    numbered = np.arange(1000.0)[:, None], np.arange(1000) % 5
    monkeypatch.setattr(demo, "_read", lambda name: numbered)
    X, y, T, t = demo.split("numbers", 4, 0, seen=True)
    assert not set(X[:, 0]) & set(T[:, 0]) and set(y) == set(t)
    assert (X[:, 0] % 5 == y).all()


def test_the_letters_of_the_first_picture_are_not_in_training():
    _, y, _, t = demo.split_letters(1)
    assert {chr(65 + c) for c in t} == set("MLCA") and not set(y) & set(t)


def test_whitening_is_shrunk_towards_the_plain_distance():
    X = np.random.default_rng(0).normal(size=(50, 3)) * [1, 2, 5]
    assert_allclose(np.cov(demo.whitened(X, X, 0.0).T, ddof=0), np.eye(3), atol=1e-9)
    Z = demo.whitened(X, X, 1.0)
    ratio = np.linalg.norm(Z[0] - Z[1:], axis=1) / np.linalg.norm(X[0] - X[1:], axis=1)
    assert_allclose(ratio, ratio[0])
    half, total = demo.whitened(X, X, 0.5), np.cov(X.T, ddof=0)
    shrunk = (total + np.trace(total) / 3 * np.eye(3)) / 2
    assert_allclose(half @ half.T, X @ np.linalg.inv(shrunk) @ X.T)


def test_scores_are_those_of_the_library():
    X, y, T, t = demo.split("letters", 22, 0)
    model = MLCA(fit_intercept=True).fit(X, y)
    found = demo.scores("letters", 22, seen=False, n_seeds=1)
    assert found["nearest class mean"][0] == adjusted_rand_score(t, model.predict(T))
    assert found["MLCA"][0] == demo.score(t, model.transform(T))
    shrunk = demo.shrunk_scores("letters, from 22", 1)
    assert shrunk["MLCA"][0, 0] == found["MLCA"][0]
    assert shrunk["MLCA"][0, -1] == pytest.approx(found["plain distance"][0])
    assert shrunk["whitened"].shape == (1, len(SHRINKAGES))


def test_new_letters_shows_letters_and_their_names():
    plain, learned, names = demo.new_letters().axes
    before, after = (float(re.findall(r"[\d.]+$", a.get_title())[0]) for a in (plain, learned))
    assert after < before
    shown = [text.get_text() for text in names.texts]
    assert set("MLCA") <= set(shown) and {"N", "E"} <= set(shown)
    assert sum(bar.get_width() for bar in names.patches) == 4 * 60


def test_shrinking_says_what_it_shows(monkeypatch):
    curves = {way: np.full((2, len(SHRINKAGES)), value)
              for way, value in [("MLCA", 0.61), ("whitened", 0.42)]}  # fmt: skip
    monkeypatch.setattr(demo, "shrunk_scores", lambda data: curves)
    figure, caption = demo.shrinking(0.3, "letters, from 3")
    assert "a = 0.3" in caption and "0.61" in caption and "0.42" in caption
    assert [line.get_label() for line in figure.axes[1].lines[:2]] == ["MLCA", "no labels"]
