"""What the exercises of the chapter on pixels ask for, by brute force."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from book.checks.registry import compare, oracle

__all__ = ["centred", "elsewhere", "histogram", "rocket"]

Array = NDArray[Any]


@oracle("seg-ex-centre")
def centred(mine: Callable[..., Any]) -> str | None:
    """Compare `stacked(images)` with the rows centred one image at a time."""

    def right(images: list[Array]) -> Array:
        rows = []
        for image in images:
            for row in image:
                rows.append([x - sum(image[:, j]) / len(image) for j, x in enumerate(row)])
        return np.array(rows)

    rng = np.random.default_rng(0)
    lists = [[rng.integers(-3, 9, (n, 2)).astype(float) for n in (2, 1 + m)] for m in range(1, 6)]
    must = {
        "The rows of each image should have the mean zero.": lambda got, images: all(
            np.allclose(part.mean(axis=0), 0)
            for part in np.split(np.asarray(got), np.cumsum([len(i) for i in images])[:-1])
        )
    }
    return compare(mine, right, [(images,) for images in lists], must=must)


@oracle("seg-ex-histogram")
def histogram(mine: Callable[..., Any]) -> str | None:
    """Compare `threshold(values, counts)` with the best of all cuts of the pixels written out."""

    def cost(values: Array, counts: Array, cut: float) -> float:
        pixels = np.repeat(values, counts)
        parts = pixels[pixels <= cut], pixels[pixels > cut]
        return sum(float(np.sum((part - part.mean()) ** 2)) for part in parts if len(part))

    def right(values: Array, counts: Array) -> float:
        cuts = (values[:-1] + values[1:]) / 2
        return float(cuts[np.argmin([cost(values, counts, cut) for cut in cuts])])

    inputs = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        size = 2 + seed // 4
        values = np.sort(rng.choice(60, size, replace=False)).astype(float)
        inputs.append((values, rng.integers(1, 9, size)))
    return compare(
        mine,
        right,
        inputs,
        same=lambda got, best: np.ndim(got) == 0 and abs(float(got) - best) < 1e-6,
        must={
            "It should lie in the middle between two neighbouring values.": lambda got, v, c: (
                np.isclose(float(got), (v[:-1] + v[1:]) / 2).any()
            ),
            "Another place has a smaller distortion.": lambda got, v, c: (
                cost(v, c, float(got)) <= cost(v, c, right(v, c)) + 1e-9
            ),
        },
    )


@oracle("seg-ex-rocket")
def rocket(mine: Callable[..., Any]) -> str | None:
    """Compare `middle(share, R2)` with the class means of least-squares fits."""
    found = {}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        y = np.arange(40) < 2 + 2 * seed
        s, x = np.where(y, 1.0, -1.0), rng.normal(size=40) + 2 * y
        A = np.column_stack([x, np.ones(40)])
        fit = A @ np.linalg.lstsq(A, s, rcond=None)[0]
        R2 = 1 - np.sum((s - fit) ** 2) / np.sum((s - s.mean()) ** 2)
        found[float(y.mean()), float(R2)] = (fit[y].mean() + fit[~y].mean()) / 2

    def right(share: float, R2: float) -> float:
        return float(found[share, R2])

    return compare(
        mine,
        right,
        list(found),
        must="It should be the middle between the mean fitted scores of the two classes.",
    )


@oracle("seg-ex-elsewhere")
def elsewhere(mine: Callable[..., Any]) -> str | None:
    """Compare `shrunk(X, s, a)` with least squares on more rows: a multiple of the identity."""

    def right(X: Array, s: Array, a: float) -> tuple[Array, float]:
        Z, d = X - X.mean(axis=0), X.shape[1]
        t = np.sum(Z**2) / d
        rows = np.vstack([np.sqrt(1 - a) * Z, np.sqrt(a * t) * np.eye(d)])
        target = np.concatenate([s / np.sqrt(1 - a), np.zeros(d)])
        v = np.linalg.lstsq(rows, target, rcond=None)[0]
        return v, float(s.mean() - X.mean(axis=0) @ v)

    inputs = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        s = np.where(np.arange(4 + seed) % 3 == 0, 1.0, -1.0)
        inputs.append((rng.normal(size=(len(s), 2)) + s[:, None], s, (0.1, 0.5)[seed % 2]))
    return compare(
        mine,
        right,
        inputs,
        must={
            "It should return the direction and the constant.": lambda got, *_: len(got) == 2,
            "The direction differs.": lambda got, *given: np.allclose(got[0], right(*given)[0]),
            "The constant differs.": lambda got, *given: np.isclose(got[1], right(*given)[1]),
        },
    )
