"""One state of an explorer: the call of the figure function, its words, the figures it leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from explorers import Page, bar

from mlbook.explore import Slider, explore

if TYPE_CHECKING:
    from matplotlib.figure import Figure

pytestmark = [pytest.mark.book, pytest.mark.usefixtures("drawing")]


@pytest.mark.parametrize("bad", [None, "figure", (1, "caption"), ("figure",)])
def test_refuses_anything_but_a_figure(static: None, bad: Any) -> None:
    with pytest.raises(ValueError, match=r"Figure or a tuple.*for \{'a': 1\}"):
        explore(lambda a: bad, alt="nothing", a=[1, 2])


@pytest.mark.parametrize("alt", ["", " ", None, "{nothing}", "{", "{sigma.x}", lambda sigma: ""])
def test_refuses_bad_alt(static: None, alt: Any) -> None:
    with pytest.raises(ValueError, match="alt"):
        explore(bar, alt=alt, sigma=[1, 2])


def test_refuses_pictures_of_different_size(static: None) -> None:
    from matplotlib.figure import Figure

    with pytest.raises(ValueError, match=r"same figure size.*\(384, 192\) and \(192, 192\)"):
        explore(lambda a: Figure(figsize=(2 * a, 2)), alt="growing", a=[1, 2])


def test_values_reach_the_function_as_python_numbers_and_are_shown_short(static: None) -> None:
    from matplotlib.figure import Figure

    seen = []

    def draw(a: float, b: int, c: bool) -> Figure:
        seen.append((type(a), type(b), type(c)))
        return Figure(figsize=(1, 1))

    page = Page(
        explore(
            draw,
            alt=lambda a, b, c: f"{a + b}",
            a=np.linspace(0.1, 0.3, 3, dtype=np.float32),
            b=Slider(np.array([10, 2000]), format=",d"),
            c=Slider([False, True], format=lambda c: "on" if c else "off"),
        ).data
    )
    assert set(seen) == {(float, int, bool)}
    assert page.data["texts"] == [["0.1", "0.2", "0.3"], ["10", "2,000"], ["off", "on"]]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["static", "live"])
def test_leaves_exactly_the_figures_that_were_open(
    mode: str, request: pytest.FixtureRequest
) -> None:
    import matplotlib.pyplot as plt

    request.getfixturevalue(mode)
    mine = plt.figure()

    def draw(a: int) -> Figure:
        assert not plt.isinteractive()  # an interactive backend would show the figure as well
        plt.figure()
        figure, _ = plt.subplots(figsize=(1, 1))
        return figure

    def crash(a: int) -> Figure:
        plt.figure()
        raise RuntimeError("boom")

    with plt.ion():
        explore(draw, alt="empty", a=range(30))
    with pytest.raises(RuntimeError, match="boom"):
        explore(crash, alt="empty", a=[1, 2])
    assert plt.get_fignums() == [mine.number]
    explore(lambda a: mine, alt="empty", a=[1, 2])
    assert plt.get_fignums() == []
