"""What the chapter on pixels claims can fail."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")
pytest.importorskip("skimage", reason="images need the extra `reproduce`")

from book.figures import pixel_claims as claims

pytestmark = pytest.mark.book


def test_what_the_page_checks_can_fail():
    """The checks behind the claims fail for statements that are false."""
    assert min(claims.shifted(5)[:, 1]) > 1 - 1e-9 > min(claims.shifted(5)[:, 0])
    kept = claims.empty_lawns(3)
    assert (kept[:, 0] < kept[:, 1]).all()
    strips, whole = np.moveaxis(claims.scribbles(2), 2, 0)
    assert (strips > whole - 0.05).all()


def test_a_wrong_regression_is_not_that_of_the_library():
    def right(X, s):
        centre = X.mean(axis=0)
        v = np.linalg.pinv(X - centre, rcond=1e-9) @ s
        return v, s.mean() - centre @ v

    def uncentred(X, s):
        return np.linalg.pinv(X, rcond=1e-9) @ s, 0.0

    assert claims.by_numpy(right, 1) == [True, True]
    assert not any(claims.by_numpy(uncentred, 1))


def test_small_objects_are_lost_in_noise():
    small, large = claims.lost_objects(0.3, 0.1, 3), claims.lost_objects(1.4, 0.1, 3)
    assert (small[:, :2] < 0).all() and (large[:, :2] > 0).all()
    assert (small[:, 2] < small[:, 3]).all()
