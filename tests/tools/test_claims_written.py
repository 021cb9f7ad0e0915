"""How claims are written."""

import claims
import nbformat
import notebooks
import pytest


def notebook(tmp_path, *cells):
    made = [nbformat.v4.new_code_cell(source, metadata={"tags": tags}) for source, tags in cells]
    path = tmp_path / "page.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=made), path)
    return path


@pytest.mark.parametrize(
    ("source", "tags", "message"),
    [
        ('claim("A.", x)', [], "if and only if"),
        ("x = 1", ["claim"], "if and only if"),
        ('claim("A.", x)', ["claim", "hide-input"], "no other tag"),
        ('claim(f"{x}.", x)', ["claim"], "string in the call"),
        ('claim("$x$.", x)', ["claim"], "without TeX"),
        ('claim("A.", True)', ["claim"], "must be computed"),
        ('claim("A.")', ["claim"], "must be computed"),
        ('claim("A because of B.", x)', ["claim"], "names a cause"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, source, tags, message):
    (found,) = claims.problems(notebook(tmp_path, (source, tags)))
    assert message in found


def test_a_good_claim_is_good(tmp_path):
    cells = [("%matplotlib inline", []), ('claim("A because of B.", x, gone=y)', ["claim"])]
    path = notebook(tmp_path, *cells)
    assert list(claims.problems(path)) == []
    assert claims.texts(path) == ["A because of B."]


def test_a_sentence_claimed_twice_is_found(tmp_path, monkeypatch, capsys):
    notebook(tmp_path, *[('claim("A.", x)', ["claim"])] * 2)
    monkeypatch.setattr(notebooks, "BOOK", tmp_path)
    assert claims.main() == 1
    assert "'A.' is also claimed in page.ipynb" in capsys.readouterr().out


def test_the_claims_of_the_book_are_well_written(capsys):
    assert claims.main() == 0, capsys.readouterr().out
    assert sum(len(claims.texts(path)) for path in notebooks.chapters()) >= 150
