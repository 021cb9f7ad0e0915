"""Names in the equation index are linked to where the reference has them."""

from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("sphinx")
import equation_tables
import mutants
from docutils import nodes
from docutils.utils import new_document
from equation_tables import (
    AlteredCopies,
    Links,
    breakable,
    equation_table,
    fill_equations,
    public_name,
)
from equations import Code, Entry, Item

pytestmark = pytest.mark.book
CODE = Code("mlbook/kmeans.py", "mlbook.kmeans.distortion", 1)


@pytest.mark.parametrize(
    "path, name, public",
    [
        ("mlbook/kmeans.py", "mlbook.kmeans.distortion", "mlbook.kmeans.distortion"),
        ("mlbook/mlca/estimators.py", "mlbook.mlca.estimators.MLCA.fit", "mlbook.mlca.MLCA.fit"),
        ("mlbook/mlca/__init__.py", "mlbook.mlca.thing", "mlbook.mlca.thing"),
        ("mlbook/mlca/least_squares.py", "mlbook.mlca.least_squares.solve", None),
        ("mlbook/other/estimators.py", "mlbook.other.estimators.MLCA.fit", None),
    ],
)
def test_the_public_name_is_that_of_the_room(path, name, public):
    reference = {"mlbook.kmeans.distortion", "mlbook.mlca.MLCA.fit", "mlbook.mlca.thing"}
    assert public_name(Code(path, name, 1), reference) == public


def test_long_names_break_after_their_parts():
    shown = breakable("test_a.py::closedForm").astext()
    assert shown.replace("<wbr>", "").endswith("test_a.py::closedForm</code>")
    assert "test_<wbr>a.<wbr>py::<wbr>closed<wbr>Form" in shown


@pytest.mark.parametrize(
    "code, address",
    [
        (Code("tests/library/test_a.py", "test_b", 7), "tests/library/test_a#test_b"),
        (
            Code("mlbook/mlca/digest.py", "mlbook.mlca.digest.Digest.of", 7),
            "mlbook/mlca/digest#Digest",
        ),
    ],
)
def test_what_the_reference_lacks_is_linked_to_its_source(code, address):
    """The page of the source is written because the index asks for it."""
    app = SimpleNamespace(
        env=SimpleNamespace(domaindata={"py": {"objects": {}}}),
        builder=SimpleNamespace(get_relative_uri=lambda start, end: f"../{end}"),
    )
    links = Links(app, "book/equations")
    found = links.source(code, breakable("name"))
    (link,) = found.findall(nodes.reference)
    assert link["refuri"] == f"../_modules/{address}"
    module = address.partition("#")[0].replace("/", ".")
    assert app.mlbook_sources == {module: {"book/equations"}}


def test_a_row_says_how_many_altered_copies_its_tests_caught(monkeypatch, tmp_path):
    """One row for items that share everything, with the number below the tests."""
    listed = {
        Item("Law 2016", "Eq. 1"): Entry("first", function=[CODE], test=[CODE]),
        Item("Law 2016", "Eq. 2"): Entry("second", function=[CODE], test=[CODE]),
        Item("Law 2016", "Eq. 3"): Entry("third", without={"function": "proof"}, test=[CODE]),
    }
    said = {item: "5 of 6 altered copies caught" for item in list(listed)[:2]}
    monkeypatch.setattr(equation_tables, "Index", lambda root: SimpleNamespace(entries=listed))
    monkeypatch.setattr(mutants, "counts", lambda index, result, root: said)
    for name in ("function", "test"):
        monkeypatch.setattr(Links, name, lambda links, code, name=name: nodes.paragraph("", name))
    page = new_document("page")
    page += equation_table("", paper="Law 2016")
    env = SimpleNamespace(domaindata={"py": {"objects": {}}})
    fill_equations(SimpleNamespace(srcdir=str(tmp_path), env=env), page, "book/equations")
    rows = [[cell.astext() for cell in row.findall(nodes.entry)] for row in page.findall(nodes.row)]
    assert rows[1] == [
        "Eq. 1 first.\n\nEq. 2 second.",
        "",
        "function",
        "test\n\n5 of 6 altered copies caught",
    ]
    assert rows[2] == ["Eq. 3 third.", "", "proof", "test"]


def test_the_sentence_above_the_tables_follows_the_stored_result(tmp_path):
    (tmp_path / "data" / "results").mkdir(parents=True)
    (tmp_path / "tools").mkdir()
    (tmp_path / mutants.REASONS).write_text("f: {b: It computes the same.}\n")
    caught = {"f": {"a": {"t": "value"}, "b": {"t": "passed"}}, "g": {"c": {"t": "error"}}}
    mutants.Result(caught, {}).write(tmp_path / mutants.STORED)
    read = []
    directive = AlteredCopies.__new__(AlteredCopies)
    env = SimpleNamespace(srcdir=str(tmp_path), note_dependency=read.append)
    document = SimpleNamespace(settings=SimpleNamespace(env=env))
    directive.state = SimpleNamespace(document=document)
    (paragraph,) = directive.run()
    assert paragraph.astext() == (
        "Of 2 altered copies of 2 functions the tests caught all, 1 of them by a wrong value, the "
        "others because something broke or did not end. 1 more compute the same as the original."
    )
    assert [Path(name).name for name in read] == ["mutants.json", "mutants.yml"]
