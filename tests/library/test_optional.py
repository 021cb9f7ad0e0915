"""Optional packages: there, or asked for by the extra that pins them."""

import json
import sys

import pytest

from mlbook._optional import need


def test_a_module_that_is_there_is_returned():
    assert need("json", project="json", extra="book") is json


@pytest.mark.parametrize("extra", ["book", "reproduce"])
def test_the_advice_is_the_extra(monkeypatch, extra):
    monkeypatch.setitem(sys.modules, "metric_learn", None)
    advice = rf'this needs metric-learn, of the extra `{extra}`: pip install "mlbook\[{extra}\]"$'
    with pytest.raises(ImportError, match=advice):
        need("metric_learn", project="metric-learn", extra=extra)


def test_it_says_which_import_failed(monkeypatch):
    monkeypatch.setitem(sys.modules, "metric_learn", None)
    with pytest.raises(ImportError) as caught:
        need("metric_learn", project="metric-learn", extra="reproduce")
    assert isinstance(caught.value.__cause__, ImportError)
