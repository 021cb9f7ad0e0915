"""A second latent CRF: images with hidden parts."""

from functools import cache

import numpy as np
from matplotlib.figure import Figure

from book.figures.names import name_after
from mlbook._arrays import Floats, Integers
from mlbook.datasets import make_xor_grids
from mlbook.grid_crf import LatentGridCRF
from mlbook.plots import COLORS, subplots

__all__ = [
    "xor_errors",
    "xor_grid",
    "xor_grids",
    "xor_models",
]


@cache
def xor_models() -> dict[int, LatentGridCRF]:
    """Learn to label the exclusive-or grids with one and with two hidden states per label."""
    images, labels, _ = xor_grids()
    return {
        n_hidden: LatentGridCRF(n_hidden=n_hidden, random_state=0).fit(
            list(images[:8]), list(labels[:8])
        )
        for n_hidden in (1, 2)
    }


@cache
def xor_grids() -> tuple[Floats, Integers, Integers]:
    """Draw eight training and four test images, their labels and their hidden parts.

    Examples
    --------
    >>> [array.shape for array in xor_grids()]
    [(12, 16, 16, 2), (12, 16, 16), (12, 16, 16)]
    """
    return make_xor_grids(12, (16, 16), noise=1.0, random_state=0)


def xor_errors() -> list[tuple[str, str]]:
    """Share of wrong labels on four test grids, in three ways, and of wrong parts in the best."""
    images, labels, parts = xor_grids()
    images, labels, parts = images[8:], labels[8:], parts[8:]
    rows = [("sign of the product, node by node", (images.prod(axis=-1) < 0) != labels)]
    for n_hidden, model in xor_models().items():
        found = np.array([model.predict(image) for image in images])
        name = "one hidden state per label" if n_hidden == 1 else "two hidden states per label"
        rows.append((name, found != labels))
    states = np.array([xor_models()[2].infer(image).states for image in images])
    named = name_after(parts.ravel(), states.ravel())
    rows.append(("its parts against the true ones", named != parts.ravel()))
    return [(name, f"{np.mean(wrong):.0%}") for name, wrong in rows]


def xor_grid() -> Figure:
    """Draw a test grid: its labels, what single nodes say, and the two CRFs."""
    images, all_labels, _ = xor_grids()
    image, labels = images[8], all_labels[8]
    pictures = [labels, image.prod(axis=-1) < 0]
    pictures += [model.predict(image) for model in xor_models().values()]
    names = ["true labels", "node by node", "CRF, nothing\nhidden", "CRF, two\nhidden states"]
    figure, axes = subplots(1, 4, height=1.9)
    for ax, picture, name in zip(axes[0], pictures, names, strict=True):
        ax.imshow(picture, cmap="Blues", vmin=-0.4, vmax=1.4)
        wrong = np.argwhere(picture != labels)
        ax.scatter(wrong[:, 1], wrong[:, 0], s=8, color=COLORS[1], marker="x", linewidths=1)
        ax.set_title(name, fontsize=10)
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(True)
    return figure
