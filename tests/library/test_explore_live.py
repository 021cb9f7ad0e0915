"""An explorer in a running notebook: its widgets, and a slider moved in a real kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from explorers import Page, bar

from mlbook.explore import Slider, explore

if TYPE_CHECKING:
    from matplotlib.figure import Figure

pytestmark = [pytest.mark.book, pytest.mark.usefixtures("drawing")]


@pytest.mark.parametrize(("value", "kind"), [("", "VBox"), ("0", "VBox"), ("1", "HTML")])
def test_the_environment_chooses(monkeypatch: pytest.MonkeyPatch, value: str, kind: str) -> None:
    monkeypatch.setenv("MLBOOK_STATIC", value)
    assert type(explore(bar, alt="bars", sigma=[1, 2])).__name__ == kind


def test_live_draws_only_what_is_shown(live: None) -> None:
    import ipywidgets as widgets

    drawn = []

    def draw(sigma: float, k: int) -> tuple[Figure, str]:
        drawn.append((sigma, k))
        return bar(sigma, k)

    box = explore(
        draw, alt="{k} bars", sigma=Slider([0.1, 0.2], label="noise σ", start=0.2), k=range(1, 5)
    )
    noise, clusters, picture = box.children
    assert isinstance(noise, widgets.SelectionSlider)
    assert (noise.description, noise.value, noise.label) == ("noise σ", 0.2, "0.2")
    assert drawn == [(0.2, 1)]
    before = Page(picture.value)
    clusters.value = 3
    after = Page(picture.value)
    assert drawn == [(0.2, 1), (0.2, 3)]
    assert before.all("img")[0]["src"] != after.all("img")[0]["src"]
    assert after.all("img")[0]["alt"] == "3 bars"
    assert after.text["span"] == ["σ = 0.20 and k = 3"]


def test_live_buttons_and_player(live: None) -> None:
    import ipywidgets as widgets
    from matplotlib.figure import Figure

    drawn = []

    def draw(way: str, step: int) -> Figure:
        drawn.append((way, step))
        return Figure(figsize=(1, 1))

    box = explore(draw, alt="{way}", way=["up", "down"], step=Slider(range(4), play=True))
    buttons, played, _ = box.children
    assert isinstance(buttons, widgets.ToggleButtons)
    player, slider = played.children
    assert isinstance(player, widgets.Play)
    player.value = 2
    buttons.value = "down"
    assert slider.value == 2
    assert drawn == [("up", 0), ("up", 2), ("down", 2)]


def test_live_errors_are_shown_and_pass(live: None) -> None:
    from matplotlib.figure import Figure

    def fragile(a: int) -> Figure:
        if a == 2:
            raise RuntimeError("no <b>two</b>")
        return Figure(figsize=(a if a == 3 else 1, 1))

    box = explore(fragile, alt="{a}", a=[1, 2, 3, 4])
    slider, picture = box.children
    slider.value = 2
    page = Page(picture.value)
    assert page.elements == [("pre", {"role": "alert"})]
    text = "".join(page.text["pre"])
    assert "failed at a=2" in text
    assert "RuntimeError: no <b>two</b>" in text
    slider.value = 3
    assert "same figure size" in picture.value
    slider.value = 4
    assert Page(picture.value).all("img")[0]["alt"] == "4"


CELLS = [
    """
import matplotlib.pyplot as plt
from mlbook.explore import explore
drawn = []
def line(slope):
    drawn.append(slope)
    figure, axes = plt.subplots(figsize=(2, 1))
    axes.plot([0, slope])
    return figure, f"rises by {slope}"
""",
    "box = explore(line, alt='slope {slope}', slope=[1, 2, 3])\nbox",
    "print(drawn, 'slope 3' in box.children[1].value, 'rises by 3' in box.children[1].value)",
]


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Any]]:
    """Return a function that starts a kernel on CELLS; the kernel ends with the test."""
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    monkeypatch.delenv("MPLBACKEND", raising=False)
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    client = nbclient.NotebookClient(nbformat.v4.new_notebook(cells=cells), timeout=60)
    with client.setup_kernel():
        yield lambda: client


@pytest.mark.slow
def test_in_a_kernel_a_moved_slider_redraws(live: None, notebook: Callable[[], Any]) -> None:
    client = notebook()
    for i in (0, 1):
        client.execute_cell(client.nb.cells[i], i)
    (output,) = client.nb.cells[1].outputs  # the box, and no figure beside it
    box = output.data["application/vnd.jupyter.widget-view+json"]["model_id"]
    slider = client.widget_state[box]["children"][0].removeprefix("IPY_MODEL_")
    content = {"comm_id": slider, "data": {"method": "update", "state": {"index": 2}}}
    client.kc.shell_channel.send(client.kc.session.msg("comm_msg", content))
    client.execute_cell(client.nb.cells[2], 2)
    assert client.nb.cells[2].outputs[0].text == "[1, 3] True True\n"


@pytest.mark.slow
def test_in_a_kernel_the_book_gets_html(static: None, notebook: Callable[[], Any]) -> None:
    client = notebook()
    for i in (0, 1):
        client.execute_cell(client.nb.cells[i], i)
    (output,) = client.nb.cells[1].outputs
    assert len(Page(output.data["text/html"]).data["states"]) == 3
