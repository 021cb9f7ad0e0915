"""Names in the equation index are linked to where the reference has them."""

import pytest

pytest.importorskip("sphinx")
from equation_tables import breakable, public_name
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
