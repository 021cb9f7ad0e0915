"""Grids of nodes with labels, for models that label images."""

import numpy as np
from sklearn.utils import check_random_state

from mlbook._arrays import Floats, Integers
from mlbook._validation import check_integer, check_integers, check_number


def make_xor_grids(
    n_images: int = 10,
    shape: tuple[int, int] = (16, 16),
    *,
    block: int = 4,
    noise: float = 1.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Floats, Integers, Integers]:
    """Images whose labels are the exclusive or of two noisy features.

    An image is tiled with blocks of one of four parts each, drawn uniformly. The parts have
    the feature means (−1, −1), (−1, 1), (1, −1) and (1, 1); the label is 1 for the two in the
    middle. The two parts of a label lie opposite each other: both labels have the same mean, and
    a linear score of the features is not much better than chance.

    Parameters
    ----------
    n_images : int, default=10
        Number of images.
    shape : pair of int, default=(16, 16)
        Rows and columns of an image.
    block : int, default=4
        Side of a block.
    noise : float, default=1.0
        Standard deviation of the features. At 1, 27% of single nodes have the wrong sign of
        the product.
    random_state : int, RandomState instance or None, default=None
        Randomness of the draw.

    Returns
    -------
    images : ndarray of shape (n_images, rows, columns, 2)
        Features of the nodes.
    labels : ndarray of shape (n_images, rows, columns)
        0 or 1.
    parts : ndarray of shape (n_images, rows, columns)
        The part, 0 to 3, that the learner never sees.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> images, labels, parts = make_xor_grids(1, (2, 4), block=2, noise=0, random_state=0)
    >>> print(parts[0])
    [[0 0 3 3]
     [0 0 3 3]]
    >>> print(labels[0, 0], images[0, 0, 0], images[0, 0, 3])
    [0 0 0 0] [-1. -1.] [1. 1.]
    """
    n_images = check_integer(n_images, "n_images", least=1)
    rows, columns = check_integers(shape, "shape", 2, least=1)
    block = check_integer(block, "block", least=1)
    noise = check_number(noise, "noise", least=0, most=1e100)
    rng = check_random_state(random_state)
    coarse = rng.randint(4, size=(n_images, -(-rows // block), -(-columns // block)))
    parts = coarse.repeat(block, axis=1).repeat(block, axis=2)[:, :rows, :columns].astype(np.intp)
    bits = np.stack([parts // 2, parts % 2], axis=-1)
    images = 2.0 * bits - 1 + noise * rng.standard_normal(bits.shape)
    return images, bits.sum(axis=-1) % 2, parts
