"""What the appendix on MLCA claims and draws, against second derivations."""

import re

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from book.figures import appendix_mlca as demo

pytestmark = pytest.mark.book


def numbers(caption: str) -> list[float]:
    return [float(x) for x in re.findall(r"\d+(?:\.\d+)?(?:e[+-]\d+)?", caption)]


def test_subsampling_errs_less_with_more_rows():
    everything, tenth, few = (demo.subsampling(share) for share in (1, 0.1, 0.003))
    assert everything[0] == pytest.approx(0, abs=1e-9)
    assert 0 < tenth[0].mean() < few[0].mean()
    assert len(tenth[1]) == 20 and few[1].mean() > tenth[1].mean()


def test_sampled_rows_shows_both_curves():
    error, loss = demo.sampled_rows().axes
    rows, means = error.lines[0].get_data()
    assert_allclose(sorted(rows), [90, 300, 900, 3000, 9000])
    assert (np.diff(np.asarray(means)[np.argsort(rows)]) < 0).all()
    assert max(loss.lines[0].get_xdata()) == 30_000


# --- conditioning ----------------------------------------------------------------------------


def test_exact_fit_of_an_ill_conditioned_problem_with_a_known_solution():
    rng = np.random.default_rng(5)
    X = rng.integers(-3, 4, size=(20, 3)).astype(float)
    X = np.column_stack([X, 2.0**40 * X[:, 0] + X[:, 1] ** 2])  # exact in double precision
    W = rng.integers(-2, 3, size=(4, 2)) * [[1], [1], [1], [0]]
    assert_array_equal(demo.exact_fit(X, X @ W), X @ W)
    easy, targets = rng.normal(size=(20, 3)), rng.normal(size=(20, 2))
    assert_allclose(
        demo.exact_fit(easy, targets), easy @ np.linalg.lstsq(easy, targets)[0], atol=1e-13
    )


@pytest.mark.parametrize("cause", demo.CAUSES)
def test_sensors_are_as_badly_conditioned_as_asked(cause):
    for condition in (1e3, 1e6):
        X, _ = demo.sensors(condition, cause)
        assert condition / 3 < np.linalg.cond(X) < 3 * condition


def test_three_routes_err_as_the_chapter_says():
    cholesky, cut, qr = demo.relative_errors(1e5, "twin features")
    assert 1e-9 < cholesky < 1e-4 and qr < 1e-9 and cut > 1e-9
    assert demo.relative_errors(1e7, "twin features")[1] > 0.5
    cholesky, cut, qr = demo.relative_errors(1e7, "tiny unit")
    assert cholesky < 1e-12 and qr < 1e-12 and cut > 0.5


def test_conditioning_says_what_happened():
    _, refused = demo.conditioning(1e10, "twin features", "Cholesky of XᵀX")
    assert "refused" in refused
    figure, fine = demo.conditioning(1e10, "twin features", "QR of X")
    assert isinstance(figure, Figure) and numbers(fine)[-1] == 0
    _, lost = demo.conditioning(1e8, "tiny unit", "pseudo-inverse of XᵀX")
    assert numbers(lost)[-1] > 1
