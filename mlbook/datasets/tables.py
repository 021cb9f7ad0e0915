"""Tables with classes: the bundled UCI sets of Lajugie 2014, Table 2."""

import numpy as np

from mlbook._arrays import Floats, Integers
from mlbook.datasets._sources import bundled_file

__all__ = ["load_letters", "load_libras"]


def load_letters() -> tuple[Floats, Integers]:
    """Load 20000 distorted printed capital letters, 16 integer features each.

    The features are moments and edge counts of the letter's pixels, scaled by their makers to
    the integers 0 to 15; nothing else was done to them. 1332 rows repeat an earlier row, letter
    included: letters that look different can have the same features. The order of the rows is
    not UCI's, so the custom of training on the first 16000 does not give the usual split.

    Source: D. Slate, *Letter Recognition*, UCI Machine Learning Repository (1991),
    doi:10.24432/C5ZP40, CC BY 4.0.

    Returns
    -------
    X : ndarray of shape (20000, 16)
        Features.
    y : ndarray of shape (20000,)
        Letter, 0 for A to 25 for Z; each has 734 to 813 rows.

    Raises
    ------
    FileNotFoundError
        If the table is not there.

    Examples
    --------
    >>> X, y = load_letters()
    >>> print(X[0].astype(int), "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[y[0]])
    [ 2  4  4  3  2  7  8  2  9 11  7  7  1  8  5  6] Z
    """
    table = np.loadtxt(
        bundled_file("letters.csv.gz"),
        delimiter=",",
        skiprows=1,
        converters={16: lambda letter: ord(letter) - ord("A")},
        encoding="ascii",
    )
    return table[:, :-1], table[:, -1].astype(np.int64)


def load_libras() -> tuple[Floats, Integers]:
    """Load 360 hand movements of the Brazilian sign language Libras, 90 features each.

    A movement is the path of the hand through 45 video frames, x and y in turn, scaled by its
    makers to [0, 1]; nothing else was done to it. 30 rows repeat an earlier row of the same
    class exactly, so rows split at random into training and test sets are not independent.

    Source: D. Dias, S. Peres and H. Bíscaro, *Libras Movement*, UCI Machine Learning Repository
    (2009), doi:10.24432/C5GC82, CC BY 4.0.

    Returns
    -------
    X : ndarray of shape (360, 90)
        Features x1, y1, ..., x45, y45.
    y : ndarray of shape (360,)
        Type of movement, 0 to 14, each of 24 rows: UCI's number less one.

    Raises
    ------
    FileNotFoundError
        If the table is not there.

    Examples
    --------
    >>> X, y = load_libras()
    >>> X.shape, np.bincount(y).tolist() == [24] * 15
    ((360, 90), True)
    """
    table = np.loadtxt(bundled_file("libras.csv.gz"), delimiter=",", skiprows=1)
    return table[:, :-1], table[:, -1].astype(np.int64) - 1
