"""The scoreboard names what is declared, judges as `judge` does, and hides nothing."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from book import reproduction as experiments
from book.reproduction import Column, Experiment
from book.reproduction.items import Item, Line, Shown, item_lines, standing
from book.reproduction.verdicts import OTHER_DATA, judge
from book.spread import stored_mean

ROOT = Path(__file__).resolve().parents[2]
LOSS = Column("loss", "Loss")
SPEED = Column("speed", "Speed")


def made_up(name: str, data: str = "same") -> Experiment:
    """An experiment of two rows of the paper, one of which is not run, and one of ours."""
    return Experiment(
        id=name,
        paper="Nobody 2000",
        title="nothing",
        columns=(LOSS, SPEED),
        paper_numbers={"a": {"loss": "1.00"}, "b": {"loss": "2.00"}, "c": {"loss": "3.00"}},
        units=lambda scale: [{"row": row, "seed": 0} for row in "acd"],
        run_unit=lambda unit: {},
        data=data,
        reasons={"a": "why a", "b": "not written here"},
    )


def result(**losses: float) -> dict:
    """A stored result of nine runs with these losses, without spread."""
    cells = {r: {"loss": {"mean": x, "sd": 0.0, "median": x, "n": 9}} for r, x in losses.items()}
    return {"summary": cells, "skipped": {}, "scale": "full"}


def lines_of(shown: list[Shown], stored: dict, data: str = "same", **changes) -> list[Line]:
    item = Item("Nobody 2000", "Table 1", "nothing", "nowhere", shown, **changes)
    return item_lines(item, {"one": made_up("one", data)}, stored)


def test_a_line_has_both_numbers_and_the_verdict_and_reason_of_the_experiment():
    shown = [Shown("one", [("a", "loss"), ("c", "loss"), ("b", "loss")])]
    a, c, b = lines_of(shown, {"one": result(a=1.5, c=3.004)})
    assert a[2:] == (
        "a: Loss",
        "same",
        "1.00",
        "1.500 ± 0.000 (9)",
        "same ordering",
        "why a",
        "one",
    )
    assert (c.ours, c.verdict, c.reason) == ("3.004 ± 0.000 (9)", "matches", "")
    assert (b.printed, b.ours, b.verdict, b.reason) == ("2.00", "–", "not run", "not written here")


def test_without_a_result_or_a_number_of_the_paper_nothing_is_made_up():
    shown = [Shown("one", [("a", "loss"), ("d", "loss")], "the data are gone")]
    a, d = lines_of(shown, {"one": None})
    assert (a.printed, a.ours, a.verdict, a.reason) == (
        "1.00",
        "–",
        "missing",
        "the data are gone",
    )
    assert (d.printed, d.ours, d.verdict) == ("–", "–", "missing")
    _, d = lines_of(shown, {"one": result(d=4.0)})
    assert (d.printed, d.ours, d.verdict) == ("–", "4.000 ± 0.000 (9)", "no number in the paper")
    (nothing,) = lines_of([Shown("one", [("d", "speed")])], {"one": result(d=4.0)})
    assert (nothing.printed, nothing.ours, nothing.verdict) == ("–", "–", "not run")
    assert [x.verdict for x in lines_of([], {})] == ["missing"]
    assert [x.verdict for x in lines_of([], {}, figure="a-figure")] == ["drawn"]


@pytest.mark.parametrize("number", [("e", "loss"), ("a", "lost")])
def test_an_unknown_number_is_refused(number):
    with pytest.raises(ValueError, match=rf"Table 1.*{number[0]}.*{number[1]}.*one does not have"):
        lines_of([Shown("one", [number])], {"one": None})


def test_an_unknown_experiment_is_refused():
    with pytest.raises(ValueError, match=r"Table 1.*'two', which is not an experiment"):
        lines_of([Shown("two", [("a", "loss")])], {})


@pytest.mark.parametrize(
    "losses, data, expected",
    [
        ({"a": 1.0, "c": 3.0}, "same", "matches"),
        ({"a": 1.0, "c": 2.5}, "same", "same ordering"),
        ({"a": 1.5, "c": 0.5}, "same", "differs"),
        ({"a": 1.0}, "same", "matches"),  # c is not run, and says so on its line
        ({"a": 1.0, "c": 3.0}, "stand-in: toys", "other data"),
        ({"d": 1.0}, "same", "missing"),
    ],
)
def test_an_item_stands_by_its_worst_number_on_the_papers_data(losses, data, expected):
    shown = [Shown("one", [("a", "loss"), ("c", "loss")])]
    assert standing(lines_of(shown, {"one": result(**losses)}, data)) == expected


def test_a_picture_stands_as_drawn():
    assert standing(lines_of([], {}, figure="a-figure")) == "drawn"
    assert standing(lines_of([], {})) == "missing"


# The papers' items


def test_every_experiment_but_variants_stands_beside_an_item():
    shown = {shown.experiment for item in experiments.ITEMS for shown in item.shown}
    declared = {e.id for e in experiments.EXPERIMENTS.values() if e.what != "variant"}
    assert declared <= shown <= experiments.EXPERIMENTS.keys()


def test_items_are_those_of_their_paper_and_each_is_there_once():
    names = [(item.paper, item.name) for item in experiments.ITEMS]
    assert max(Counter(names).values()) == 1
    for item in experiments.ITEMS:
        assert item.shown or item.note, f"{item.name}: nothing is shown and nothing says why"
        for shown in item.shown:
            assert experiments.find(shown.experiment).paper == item.paper


def test_results_and_lines_agree_with_judge():
    """The verdicts of the whole board, by `judge` from the stored numbers."""
    _, lines = experiments.scoreboard()
    judged = 0
    for line in lines:
        result = experiments.load(line.experiment) if line.experiment else None
        if result is None:
            assert line.ours == "–" and line.verdict in ("missing", "drawn")
            continue
        declared = experiments.find(line.experiment)
        (column,) = [c for c in declared.columns if line.number.endswith(f": {c.title}")]
        row = line.number.removesuffix(f": {column.title}")
        paper = {r: x[column.key] for r, x in declared.paper_numbers.items() if column.key in x}
        cells = {r: x[column.key] for r, x in result["summary"].items() if column.key in x}
        ours = {r: stored_mean(cell) for r, cell in cells.items()}
        if row in ours:
            assert line.ours == column.show(ours[row])
            if declared.data == "same":
                assert line.verdict == judge(row, paper, ours)
            else:
                assert line.verdict == OTHER_DATA[declared.kind]
            judged += 1
        else:
            assert line.verdict == "not run" and line.reason
    assert judged > 20


def test_what_was_never_run_is_missing_beside_what_was(tmp_path):
    """One result in the folder: the rest is missing; no result at all is an error."""
    with pytest.raises(experiments.NoResults):
        experiments.standings(results=tmp_path)
    shutil.copy(ROOT / "data" / "results" / "law2016-table1.json", tmp_path)
    found = experiments.standings(results=tmp_path)
    assert len(found) == len(experiments.ITEMS)
    assert found.pop(("Law et al. 2016", "Table 1")) == "differs"
    assert set(found.values()) == {"missing", "drawn"} <= experiments.STANDINGS.keys()


@pytest.mark.parametrize("page", sorted({item.page for item in experiments.ITEMS}))
def test_every_page_is_in_the_book(page):
    assert f"- file: book/{page}\n" in (ROOT / "_toc.yml").read_text()
    assert (ROOT / "book" / f"{page}.ipynb").exists()


def test_every_picture_is_on_its_page():
    for item in experiments.ITEMS:
        if item.figure:
            cells = json.loads((ROOT / "book" / f"{item.page}.ipynb").read_text())["cells"]
            names = [c["metadata"].get("mystnb", {}).get("figure", {}).get("name") for c in cells]
            assert item.figure in names


# The page


@pytest.fixture
def demo():
    pytest.importorskip("matplotlib")
    pytest.importorskip("IPython")
    from book.figures import scoreboard

    return scoreboard


def test_cards_show_every_number_once_with_its_command(demo, monkeypatch):
    items = [
        Item("A", "Table 1", "first", "p", [Shown("x", [("a", "loss")])], "Mind this."),
        Item("A", "Figure 1", "second", "absent", note="No picture."),
        Item("B", "Table 1", "third", "p"),
    ]
    lines = [
        Line("A", "Table 1", "a: Loss", "same", "1", "2 ± 1", "differs", "why", "x"),
        Line("A", "Table 1", "b: Loss", "same", "3", "4 ± 1", "differs", "why", "x"),
        Line("A", "Table 1", "a: Loss", "stand-in: y", "1", "–", "missing", "gone", "y"),
        Line("A", "Table 1", "c: Loss", "changed: z", "1", "2 ± 1", "changed data", "why c", "z"),
        Line("A", "Figure 1", "", "", "–", "–", "missing", "", ""),
    ]
    monkeypatch.setattr(demo, "ITEMS", items)
    monkeypatch.setattr(demo, "scoreboard", lambda: ([], lines))
    monkeypatch.setattr(demo, "age_note", lambda name: "Old; rerun: `x`" if name == "x" else "")
    text = demo.cards("A").data.replace("\N{NO-BREAK SPACE}", " ")
    assert text.split("\n\n") == [
        "**[Table 1](p.ipynb): first**",
        "Mind this.",
        "|  | paper | ours | verdict |\n| --- | --- | --- | --- |\n"
        "| a: Loss | 1 | 2 ± 1 | differs |\n| b: Loss | 3 | 4 ± 1 | differs |",
        "Data: the paper's. Differs: why. Old; rerun: `x`",
        "|  | paper | ours | verdict |\n| --- | --- | --- | --- |\n| a: Loss | 1 | – | missing |",
        "Stand-in: y. Missing: gone. Rerun: `python book/reproduction run y`",
        "|  | paper | ours | verdict |\n| --- | --- | --- | --- |\n"
        "| c: Loss | 1 | 2 ± 1 | changed data |",
        "Changed data: z. Why c. Rerun: `python book/reproduction run z`",
        "**[Figure 1](absent.ipynb): second**",
        "Missing. No picture.",
    ]
    with pytest.raises(ValueError, match="paper must be one of A, B; got 'C'"):
        demo.cards("C")


def test_summary_counts_every_item_once(demo, monkeypatch):
    found = {("A", "Table 1"): "matches", ("A", "Table 2"): "matches", ("B", "Table 1"): "matches"}
    monkeypatch.setattr(demo, "standings", lambda: found | {("B", "Figure 1"): "missing"})
    _, rows = demo.summary()
    assert [row[1] for row in rows] == ["3", "0", "0", "0", "0", "1"]
    assert rows[0][2] == "A: Table 1, Table 2; B: Table 1" and rows[1][2] == "–"


def test_the_picture_has_every_number_of_both_and_its_bar_is_the_rule(demo):
    """On the paper's data the bar reaches the line at 1 if and only if the number matches."""
    _, lines = experiments.scoreboard()
    both = [x for x in lines if "–" not in (x.printed, x.ours) and x.printed[0].isdigit()]
    points = demo.points()
    assert Counter(p.kind for p in points) == Counter(x.data.partition(":")[0] for x in both)
    assert [p.verdict for p in points] == [x.verdict for x in both]
    (ax,) = demo.paper_against_ours().axes
    drawn = [line for line in ax.lines if line.get_marker() != "None" and len(line.get_xdata())]
    assert len(drawn) == len(points)
    bars = [x.get_xdata() for x in ax.lines if x.get_color() == demo.COLORS[0] and x not in drawn]
    bars = [ends for ends in bars if len(ends) == 2]
    judged = [p for p in points if p.kind == "same" and p.printed.value]
    assert len(bars) == len(judged) > 10
    for (low, high), point in zip(bars, judged, strict=True):
        assert (low <= 1 + 1e-9 and high >= 1 - 1e-9) == (point.verdict == "matches")


def test_ratios_stay_within_the_picture(demo):
    assert demo._ratio(3.0, 2.0) == 1.5 and demo._ratio(0.0, 0.0) == 1
    assert demo._ratio(0.1, 0.0) == demo._ratio(99.0, 1.0) == demo.EDGE
    assert demo._ratio(0.0, 1.0) == demo._ratio(-0.1, 0.0) == 1 / demo.EDGE


def test_what_is_missing_says_why():
    for item in experiments.ITEMS:
        assert item.shown or item.figure or len(item.note) > 20
    for line in experiments.scoreboard()[1]:
        if line.experiment and line.verdict in ("missing", "not run"):
            assert len(line.reason) > 10, line


def test_the_page_has_all_papers(demo):
    cells = json.loads((ROOT / "book" / "scoreboard.ipynb").read_text())["cells"]
    called = re.findall(r'demo\.cards\("(.*?)"\)', "".join("".join(c["source"]) for c in cells))
    assert called == list(dict.fromkeys(item.paper for item in experiments.ITEMS))
    assert all(demo.cards(paper).data for paper in called)
