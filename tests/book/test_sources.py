"""The files that code comes from, and hashes that see code and not words."""

from pathlib import Path

import pytest

from book.reproduction.age import ROOT
from book.sources import closure, code_of, fingerprint

FILES = {
    "mlbook/__init__.py": """
        from importlib import import_module
        _ROOMS = {"rows": ("Row", "make_row"), "pack": ("inner_name",)}
        def __getattr__(name):
            return getattr(import_module(f"mlbook.{name}"), name)
    """,
    "mlbook/rows.py": "from mlbook import deep\nclass Row: ...\nmake_row = Row",
    "mlbook/deep.py": "import numpy as np",
    "mlbook/late.py": "x = 1",
    "mlbook/alone.py": "x = 1",
    "mlbook/pack/__init__.py": """
        from mlbook.pack.inner import inner_name
        from .other import other_name as passed_on
        from mlbook.pack import other
        own_name = 3
    """,
    "mlbook/pack/inner.py": "from ..late import x\ninner_name = x",
    "mlbook/pack/other.py": "from . import inner\nother_name = inner.inner_name",
    "mlbook/pack/third.py": "x = 1",
    "book/__init__.py": "",
}


@pytest.fixture
def imports_of(tmp_path):
    """Write the files, and return from code to the names of the files that it comes from."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(line.removeprefix("        ") for line in text.splitlines()))

    def found(code):
        module = tmp_path / "book" / "module.py"
        module.write_text(code)
        names = [file.relative_to(tmp_path).as_posix() for file in closure(module, tmp_path)]
        assert names == sorted(names) and "book/module.py" in names
        return {name.removeprefix("mlbook/").removesuffix(".py") for name in names} - {
            "book/module"
        }

    return found


@pytest.mark.parametrize(
    ("code", "files"),
    [
        ("x = 1", set()),
        ("import numpy, mlbook_other, booking", set()),
        ("import mlbook.alone", {"alone"}),
        ("from mlbook import alone", {"alone"}),
        ("from mlbook.alone import x", {"alone"}),
        ("def f():\n    from mlbook.rows import Row", {"rows", "deep"}),
        ("try:\n    import mlbook.alone as a\nexcept ImportError:\n    a = None", {"alone"}),
        # names that a package passes on lead to the file that defines them
        ("from mlbook.pack import inner_name", {"pack/inner", "late"}),
        ("from mlbook.pack import passed_on", {"pack/other", "pack/inner", "late"}),
        ("from mlbook.pack import third", {"pack/third"}),
        ("from mlbook.pack import other", {"pack/other", "pack/inner", "late"}),
        ("from mlbook.pack import own_name", {"pack/__init__", "pack/inner", "pack/other", "late"}),
        ("from mlbook.pack import *", {"pack/__init__", "pack/inner", "pack/other", "late"}),
        ("from mlbook import pack", {"pack/__init__", "pack/inner", "pack/other", "late"}),
        # and so do names that are loaded when they are used
        ("from mlbook import Row, inner_name", {"rows", "deep", "pack/inner", "late"}),
        ("import mlbook\nmlbook.make_row()", {"__init__", "rows", "deep"}),
        ("import mlbook as m\nm.make_row()", {"__init__", "rows", "deep"}),
    ],
)
def test_imports_are_followed_to_the_file_that_defines(imports_of, code, files):
    assert imports_of(code) == files


def test_imports_in_a_circle_end(imports_of, tmp_path):
    (tmp_path / "mlbook" / "late.py").write_text("import mlbook.pack.inner")
    assert imports_of("import mlbook.late") == {"late", "pack/inner"}


CODE = """
def f(x, *, y=2):
    return {"x": x + y, f"{x!r:>{y}}": [1.5, None, ...]}
"""


@pytest.mark.parametrize(
    "words",
    [
        CODE.replace("\n    return", "\n    # why\n    return"),
        CODE.replace("\n    return", '\n    """What."""\n    return'),
        '"""Module."""\n' + CODE,
        CODE.replace("x + y", "(x\n        + y)"),
        CODE.replace("\n", "\r\n"),
        CODE.replace("[1.5", "[1.50"),
        CODE.replace('"x"', "'x'"),
    ],
)
def test_words_and_layout_do_not_change_the_hash(words):
    assert code_of(words.encode()).digest == code_of(CODE.encode()).digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("y=2", "y=3"),
        ("y=2", "y=2.0"),
        ("*, ", ""),
        ("x + y", "x - y"),
        ("None", "0"),
        ('"x"', '"z"'),
    ],
)
def test_code_changes_the_hash(old, new):
    assert old in CODE
    assert code_of(CODE.replace(old, new).encode()).digest != code_of(CODE.encode()).digest


def test_the_hash_is_that_of_every_version_of_python():
    """A result made under one version is not old under another."""
    assert code_of(CODE.encode()).digest == "34bdc8543084061c"


def test_fingerprint_has_paths_of_any_system():
    file = Path("mlbook") / "pack" / "inner.py"
    found = fingerprint([ROOT / file], ROOT, read=lambda path: CODE.encode())
    assert found == {"mlbook/pack/inner.py": code_of(CODE.encode()).digest}
