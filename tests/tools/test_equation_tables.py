"""Names in the equation index are linked to where the reference has them."""

from types import SimpleNamespace

import pytest

pytest.importorskip("sphinx")
from docutils import nodes
from equation_tables import Links, breakable, public_name
from equations import Code

pytestmark = pytest.mark.book


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
