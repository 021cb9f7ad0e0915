"""Progress: a bar where tqdm is, lines where it is not, nothing where none is wanted."""

import sys

import pytest

from mlbook._progress import progress


def three_steps(**options):
    with progress(5, "rounds", done=2, **options) as step:
        for note in "abc":
            step(note)


def test_a_bar_counts_from_what_was_done_before(capsys):
    pytest.importorskip("tqdm")
    three_steps()
    err = capsys.readouterr().err
    assert "rounds" in err and "5/5" in err and err.rstrip().endswith("c]")


def test_lines_without_tqdm(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    three_steps()
    assert capsys.readouterr().err.splitlines()[0] == "rounds: 3 of 5, a"


def test_nothing_unless_wanted(capsys):
    three_steps(shown=False)
    assert capsys.readouterr() == ("", "")
