"""A figure from stored results says so when they are older than their code."""

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")
from matplotlib.figure import Figure

from book.figures import ages, comparison
from book.figures.reproduction import (
    komodakis2011,
    lajugie2014,
    lajugie2014_map,
    law2017,
    law2017_images,
)

pytestmark = pytest.mark.book

DRAWN = {  # figures from stored results, and from which
    "dots": (comparison.dot_plot, ["comparison-unseen"]),
    "objective": (
        komodakis2011.objective_paths,
        ["komodakis2011-figure2a", "komodakis2011-figure6b"],
    ),
    "rho": (komodakis2011.f_against_rho, ["komodakis2011-figure2"]),
    "curves": (lajugie2014.curves, ["lajugie2014-figure1"]),
    "map": (lajugie2014_map.map_of_orders, ["lajugie2014-figure1-map"]),
    "alphas": (
        law2017.alpha_curves,
        [f"law2017-table3{end}" for end in ("-eighth", "-faces", "-digits")],
    ),
    "images": (law2017_images.images_curve, ["law2017-corel5k-500-curve"]),
    "nuisance": (law2017.nuisance_curves, ["law2017-nuisance"]),
}


@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("figure", DRAWN)
def test_a_figure_is_marked_if_one_of_its_results_is_old(monkeypatch, figure, old):
    draw, names = DRAWN[figure]
    asked = []
    monkeypatch.setattr(ages, "age_note", lambda *given, **_: asked.extend(given) or "Old." * old)
    drawn = draw()
    assert isinstance(drawn, Figure) and asked == names
    assert drawn.get_suptitle() == ("drawn from a result older than its code" if old else "")
