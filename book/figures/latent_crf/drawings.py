"""What a matrix x says, and what each slave sees."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

from book.figures.ages import mark_age
from book.figures.latent_crf.shops import draw_stars
from book.figures.latent_crf.votes import three_points
from book.figures.reproduction.komodakis2011 import values
from book.reproduction import Table, age_note
from book.reproduction.komodakis2011_distances import AVERAGE, NCA, SINGLE
from mlbook.plots import COLORS, INK, MARKERS, subplots

__all__ = [
    "THREE_WEIGHTS",
    "assignment_grid",
    "choices",
    "master_and_slaves",
    "scenes",
    "three_metrics",
]


def assignment_grid() -> Figure:
    """Draw five points, their exemplars, and the same as a 0-1 matrix with its constraints."""
    X = np.array([[0.1, 0.75], [0.3, 0.95], [0.25, 0.45], [0.8, 0.3], [0.95, 0.6]])
    exemplars, labels = np.array([0, 3]), np.array([0, 0, 0, 1, 1])
    figure, axes = subplots(1, 2, height=2.9)
    left, right = axes[0]
    draw_stars(left, X, exemplars, labels)
    for p, x in enumerate(X):
        left.annotate(f"{p + 1}", tuple(x), (7, 5), textcoords="offset points")
    left.set(title="two exemplars: 1 and 4")
    for p in range(5):
        for q in range(5):
            chosen = exemplars[labels[p]] == q
            color = COLORS[labels[p]] if chosen else ("0.85" if p == q else "white")
            right.add_patch(Rectangle((q, p), 1, 1, facecolor=color, edgecolor="0.6"))
            text = "1" if chosen else "0"
            right.text(q + 0.5, p + 0.5, text, ha="center", va="center",
                       color="white" if chosen else "0.4")  # fmt: skip
    right.add_patch(Rectangle((0, 1), 5, 1, fill=False, edgecolor=INK, linewidth=2.5))
    right.text(5.15, 1.5, "one 1\nper row", va="center", fontsize=10)
    arrow = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.5}
    right.annotate("", (3.82, 3.35), (3.82, 4.5), arrowprops=arrow)
    right.text(5.15, 4.1, "a 1 needs a 1\non the diagonal", va="center", fontsize=10)
    ticks = np.arange(5) + 0.5
    right.set(xlim=(-0.1, 8.6), ylim=(5.1, -0.1), aspect="equal", ylabel="point p")
    right.set(xticks=ticks, xticklabels=range(1, 6), yticks=ticks, yticklabels=range(1, 6))
    right.set_title("x, exemplar q across", loc="left")
    right.spines[:].set_visible(False)
    return figure


def master_and_slaves() -> Figure:
    """Draw which of the nine variables of three points each of the five slaves sees."""
    rows = [{(p, q) for q in range(3)} | {(q, q) for q in range(3)} for p in range(3)]
    seen = [*rows, {(0, 0), (1, 1)}, {(2, 2)}]
    names = ["point 1", "point 2", "point 3", "{1, 2}", "{3}"]
    arrow = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.2}
    figure, axes = subplots(height=2.9)
    ax = axes[0, 0]
    ax.add_patch(FancyBboxPatch((2.2, 5.2), 12.2, 1.5, boxstyle="round,pad=0.2", facecolor="0.93"))
    ax.text(8.3, 5.95, "master: weights w, fees λ with sum 0", ha="center", va="center")
    for i, (cells, name) in enumerate(zip(seen, names, strict=True)):
        x = 3.4 * i
        for p in range(3):
            for q in range(3):
                inside = (p, q) in cells
                face = (COLORS[1] if p == q else COLORS[2]) if inside else "white"
                spot = (x + q, 2 - p)
                hatch = "//" if inside and p == q else None
                ax.add_patch(Rectangle(spot, 1, 1, facecolor=face, edgecolor="0.4", hatch=hatch))
        ax.text(x + 1.5, -0.3, name, ha="center", va="top", fontsize=11)
        for shift, ends in [(1.1, (5.0, 3.1)), (1.9, (3.1, 5.0))]:
            ax.annotate("", (x + shift, ends[1]), (x + shift, ends[0]), arrowprops=arrow)
    ax.text(0.95, 4.05, "λ", ha="right", va="center")
    ax.text(2.05, 4.05, "x̂", ha="left", va="center")
    ax.set(xlim=(-0.4, 17), ylim=(-1.5, 7), aspect="equal")
    ax.axis("off")
    return figure


THREE_WEIGHTS = ((0.5, 0.5), (1.0, 0.25), (2.0, 0.0))  # of the two features of the three points


def three_metrics() -> Figure:
    """Draw the three points with the places at distance 2 from the first, for three metrics."""
    X, y = three_points()
    figure, axes = subplots(1, 3, height=2.5)
    angle = np.linspace(0, 2 * np.pi, 200)
    for ax, weights in zip(axes[0], THREE_WEIGHTS, strict=True):
        a, b = (np.sqrt(2 / w) if w else 50.0 for w in weights)
        ax.plot(a * np.cos(angle), b * np.sin(angle), color=INK, linewidth=1.2)
        for p, (point, label) in enumerate(zip(X, y, strict=True)):
            ax.scatter(*point, s=60, color=COLORS[label], marker=MARKERS[label], zorder=3)
            ax.annotate(f"{p + 1}", tuple(point), (7, 4), textcoords="offset points")
        ax.set(xlim=(-3.2, 3.2), ylim=(-3.2, 3.2), aspect="equal", xticks=[-2, 0, 2])
        ax.set(yticks=[-2, 0, 2] if weights == THREE_WEIGHTS[0] else [])
        ax.set_title(f"w = ({weights[0]:g}, {weights[1]:g})", fontsize=11)
    return figure


def choices() -> Figure:
    """Draw the stored runs with l1 and l2, and with a distance both ways and a symmetric one."""
    runs = (
        ("noise in the distance", "komodakis2011-choices", "noisy"),
        ("F on test sets", "komodakis2011-choices", "f"),
        ("F, parts of sets", "komodakis2011-asymmetric", "f"),
    )
    rows = {
        "komodakis2011-choices": ("l1 regularizer", "l2 regularizer"),
        "komodakis2011-asymmetric": ("both ways, learned", "only symmetric"),
    }
    short = {"l1 regularizer": "l1", "l2 regularizer": "l2", "both ways, learned": "both",
             "only symmetric": "their sum"}  # fmt: skip
    figure, axes = subplots(1, 3, height=2.6)
    for ax, (title, name, key) in zip(axes[0], runs, strict=True):
        for i, row in enumerate(rows[name]):
            each = values(name, row, key)
            if not len(each):
                continue
            spread = np.linspace(-0.18, 0.18, len(each))
            style = {"color": COLORS[i], "marker": MARKERS[i], "linewidths": 0, "alpha": 0.7}
            ax.scatter(i + spread, each, s=16, **style)
            ax.hlines(each.mean(), i - 0.3, i + 0.3, color=INK, linewidth=1.5)
        ax.set(xlim=(-0.6, 1.6), ylim=(0, 1.05), yticks=[0, 0.5, 1])
        ax.set_xticks([0, 1], [short[row] for row in rows[name]])
        ax.set_title(title, fontsize=11)
    return mark_age(figure, *rows)


def scenes() -> Table:
    """List what the stored runs on the 15 scenes have, in percent, means over the splits."""
    name = "komodakis2011-scenes"
    rows = []
    for row in ("learned", AVERAGE, SINGLE, NCA):
        each = [values(name, row, key) for key in ("nn", "one_to_one")]
        cells = (f"{100 * value.mean():.0f}" if len(value) else "–" for value in each)
        rows.append([row, *cells])
    header = ["percent right", "nearest neighbour", "15 clusters"]
    return Table(header, rows, age_note(name))
