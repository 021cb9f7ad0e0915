"""Sliders and buttons of an explorer, checked before anything is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from explorers import bar

from mlbook.explore import MAX_STATES, Slider, explore
from mlbook.explore.controls import check_controls

if TYPE_CHECKING:
    from matplotlib.figure import Figure

pytestmark = [pytest.mark.book, pytest.mark.usefixtures("drawing")]


def test_a_control_knows_its_values_their_texts_and_where_it_starts() -> None:
    sigma = Slider(np.linspace(0.1, 0.5, 5), label="noise σ", start=0.3)
    moving, choice = check_controls(bar, {"sigma": sigma, "k": ["few", "many"]})
    assert moving.texts == ("0.1", "0.2", "0.3", "0.4", "0.5")
    assert (moving.name, moving.label, moving.start, moving.is_choice) == (
        "sigma",
        "noise σ",
        2,
        False,
    )
    assert (choice.label, choice.start, choice.is_choice) == ("k", 0, True)
    assert all(type(value) is float for value in moving.values)


def test_refuses_sliders_that_do_not_fit_the_function() -> None:
    with pytest.raises(ValueError, match=r"\['noise'\].*parameters are \['sigma', 'k'\]"):
        explore(bar, alt="bars", noise=[1, 2])
    with pytest.raises(ValueError, match="'sigma'"):
        explore(bar, alt="bars", k=[1, 2])
    with pytest.raises(ValueError, match="at least one slider"):
        explore(bar, alt="bars")
    with pytest.raises(ValueError, match="must be callable"):
        explore("bar", alt="bars", sigma=[1, 2])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], r"'sigma' needs at least two values, got \[\]"),
        ([3], r"at least two values, got \[3\]"),
        ([1, 2, 1], r"shows \[1, 1\] all as '1'"),
        ([0.1234567, 0.1234568], "Slider.format=...."),
        ("abc", "ordered collection of values, got 'abc'"),
        ({1, 2}, "ordered collection"),
        (7, "ordered collection of values, got 7"),
        (Slider([1, 2], start=5), r"starts at 5, not in \[1, 2\]"),
        (Slider(["a", "b"], format=".2f"), "format '.2f' on 'a'"),
        (Slider(["a", "b"], play=True), r"cannot play: its values \['a', 'b'\] are a choice"),
    ],
)
def test_refuses_bad_values(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        explore(bar, alt="bars", sigma=given)


@pytest.mark.parametrize("mode", ["static", "live"])
def test_refuses_a_large_grid_before_drawing(mode: str, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue(mode)

    def never(sigma: float, k: int) -> Figure:
        raise AssertionError("drawn")

    with pytest.raises(ValueError, match=rf"126 states, 14 \(sigma\) × 9 \(k\).*{MAX_STATES}"):
        explore(never, alt="bars", sigma=range(14), k=range(9))
