"""The page of each estimator says what it is for, shows it, and helps to choose its parameters."""

import importlib
import inspect
import re
from pathlib import Path
from textwrap import dedent

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt
from sklearn.base import BaseEstimator

API = Path(__file__).resolve().parents[2] / "book" / "api"
SECTIONS = [
    "How to choose the parameters",
    "Cost and memory",
    "Errors and warnings",
    "Equation",
    "See also",
    "All names",
]


def estimators(page):
    module = importlib.import_module(re.search(r"automodule:: (\S+)", page.read_text())[1])
    named = {name: getattr(module, name) for name in getattr(module, "__all__", vars(module))}
    return {
        name: value
        for name, value in named.items()
        if inspect.isclass(value)
        and issubclass(value, BaseEstimator)
        and value.__module__.startswith(module.__name__)
    }


PAGES = [page for page in sorted(API.glob("*.md")) if estimators(page)]


def examples(text):
    """Return the code of the plots, then that of the other examples."""
    plots = re.findall(r"^\.\. plot::\n((?:   .*\n|\n)+)", text, re.M)
    drawn = [re.split(r"\n\n", dedent(block), maxsplit=1) for block in plots]
    return drawn, re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)


def test_there_are_pages():
    assert {"mlca", "exemplars", "large_margin", "mimlca"} <= {page.stem for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_page_has_every_part(page):
    text = page.read_text()
    assert re.findall(r"^## (.*)$", text, re.M) == SECTIONS
    purpose = text.split("\n\n")[1]
    choose = text.split("## How to choose")[1].split("\n## ")[0]
    for name, estimator in estimators(page).items():
        assert f"`{name}`" in purpose, "the first paragraph says what each is for"
        parameters = {*inspect.signature(estimator).parameters}
        assert {p for p in parameters if f"`{p}`" not in choose} == set()
    for options, _ in examples(text)[0]:
        assert ":alt:" in options and ":caption:" in options
    assert "$" in text.split("## Equation")[1].split("## See also")[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_examples_run_and_draw(page):
    drawn, others = examples(page.read_text())
    assert drawn and all(len(code.splitlines()) <= 20 for _, code in drawn)
    with mpl.rc_context({"backend": "agg"}):
        space: dict[str, object] = {}
        for _, code in drawn:
            exec(code, space)
            assert plt.get_fignums()
            plt.close("all")
        for code in others:
            exec(code, space)
