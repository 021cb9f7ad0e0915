"""The definitions that functions use, and hashes that see them and not words."""

import sys
import textwrap
from pathlib import Path

import pytest

from book.reproduction import EXPERIMENTS
from book.reproduction.age import ROOT, code_used, sources_of
from book.used_code import definitions_used, hashes, module_of

FILES = {
    "mlbook/__init__.py": """
        from importlib import import_module
        _ROOMS = {"rows": ("Row", "make_row")}
        def __getattr__(name):
            return getattr(import_module(f"mlbook.{name}"), name)
    """,
    "mlbook/rows.py": """
        import numpy as np
        from mlbook import deep
        from mlbook.deep import SCALE as size
        class Row:
            width = size
        make_row = Row
        def other():
            return deep.other()
        other.note = Row
    """,
    "mlbook/deep.py": """
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from mlbook.rows import Row
        SCALE = 2
        KINDS = {}
        def register(f): KINDS[f.__name__] = f
        for name in "ab":
            register(lambda: name)
        def other(row: "Row" = None) -> "Row":
            return SCALE
        def unused(): ...
    """,
    "mlbook/pack/__init__.py": "from mlbook.pack.inner import found\nown = 1",
    "mlbook/pack/inner.py": "from mlbook.rows import make_row\nfound = make_row\nlost = 1",
    "book/__init__.py": "",
}


@pytest.fixture
def used_by(tmp_path):
    """Write the files, and return from code to the names of the definitions that `run` uses."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))

    def found(code):
        (tmp_path / "book" / "module.py").write_text(code)
        names = set()
        for file, parts in definitions_used(
            [(tmp_path / "book" / "module.py", "run")], tmp_path
        ).items():
            module = module_of(file.read_bytes())
            for name, numbers in module.places.items():
                if any(module.definitions[number] in parts for number in numbers):
                    names.add(f"{file.stem}.{name}")
        return names - {"module.run"}

    return found


DEEP = {"deep.KINDS", "deep.register"}  # a loop at the top of the file uses them
SCALE = {"deep.SCALE", *DEEP}
OTHER = {"deep.other", *SCALE}
ALL_OF_DEEP = {"deep.unused", *OTHER}
ROW = {"rows.Row", *SCALE}
MADE = {"rows.make_row", *ROW}


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("def run(): return 1", set()),
        ("import numpy as np\ndef run(): return np.ones(1)", set()),
        ("x = 1\ny = 2\ndef run(): return x", {"module.x"}),
        ("x = 1\ndef help(): return x\ndef run(): return help()", {"module.x", "module.help"}),
        ("x = y = 1\nx += 1\nx.a = y\ndef run(): return x", {"module.x", "module.y"}),
        ("from mlbook.deep import SCALE\ndef run(): return SCALE", SCALE),
        ("def run():\n    from mlbook.deep import SCALE\n    return SCALE", SCALE),
        ("from mlbook import deep\ndef run(): return deep.SCALE", SCALE),
        ("from mlbook import deep\ndef run(): return deep.other()", OTHER),
        ("import mlbook.deep as d\ndef run(): return d.SCALE", SCALE),
        ("from mlbook import deep\ndef run(): return vars(deep)", ALL_OF_DEEP),
        ("from mlbook import Row\ndef run(): return Row", ROW),
        ("import mlbook\ndef run(): return mlbook.Row", ROW),
        ("from mlbook.pack import found\ndef run(): return found", MADE | {"inner.found"}),
        ("from mlbook import pack\ndef run(): return pack.own", {"__init__.own"}),
        ("from mlbook.pack import inner\ndef run(): return inner.lost", {"inner.lost"}),
        ("from mlbook.rows import other\ndef run(): return other", OTHER | ROW | {"rows.other"}),
        ("from mlbook.rows import Row\ndef run(row: Row) -> Row: return row", set()),
        ("from mlbook.rows import Row\ndef run(x):\n    raise ValueError(f'{Row}')", set()),
        ("from mlbook.rows import Row\ndef run(x):\n    assert x, Row", set()),
        ("def run(x): return x if x else run(x - 1)", set()),
        ("T = {}\ndef put(f): T[f.__name__] = f\n@put\ndef one(): ...\ndef run(): return T",
         {"module.T", "module.put", "module.one"}),
    ],
)  # fmt: skip
def test_names_are_followed_to_their_definitions(used_by, code, names):
    assert used_by(code) == names


def digest(code, tmp_path):
    file = tmp_path / "book" / "module.py"
    file.parent.mkdir(exist_ok=True)
    file.write_text(code)
    return hashes(definitions_used([(file, "run")], tmp_path), tmp_path)["book/module.py"]


CODE = """
from math import sqrt

SIZE = 3


def help(x):
    return x + SIZE


def run(x, y=2):
    if y < 0:
        raise ValueError(f"y must not be negative; got {y}")
    return {"x": help(x), "root": sqrt(x)}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\nSIZE", "\nOTHER = 4\nSIZE"),
        ("def run", "def other(): ...\ndef run"),
        ("must not be negative; got {y}", "is {y}, which is negative"),
        ("run(x, y=2)", "run(x: int, y: int = 2) -> dict"),
        ("    if y", '    """What."""\n    if y'),
        ("SIZE = 3", "SIZE = 3  # of a box"),
        ("from math", "from os import path\nfrom math"),
    ],
)
def test_what_is_not_used_and_words_do_not_change_the_hash(old, new, tmp_path):
    assert old in CODE
    assert digest(CODE.replace(old, new), tmp_path) == digest(CODE, tmp_path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SIZE = 3", "SIZE = 4"),
        ("x + SIZE", "x - SIZE"),
        ("y=2", "y=3"),
        ("ValueError", "TypeError"),
        ("y < 0", "y <= 0"),
        ("SIZE = 3", "SIZE = 3\nSIZE += 1"),
        ("SIZE = 3", "SIZE = 3\nprint(1)"),
        ("def help", "@cache\ndef help"),
        ("import sqrt", "import exp as sqrt"),
        ("from math", "from numpy"),
    ],
)
def test_what_is_used_changes_the_hash(old, new, tmp_path):
    assert old in CODE
    assert digest(CODE.replace(old, new), tmp_path) != digest(CODE, tmp_path)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_definition_whose_code_runs_is_found(name):
    """What names say, against what is called when the first unit of an experiment runs."""
    experiment = EXPERIMENTS[name]
    unit = experiment.units("smoke")[0]  # a result has its units: what declares them does not count
    called, importing = set(), []

    def note(frame, event, argument):
        code = frame.f_code
        if code.co_name == "<module>":  # a file that is read for the first time
            if event == "call":
                importing.append(code)
            elif event == "return":
                importing.pop()
        elif event == "call" and not importing:
            called.add((Path(code.co_filename), code.co_firstlineno))

    sys.setprofile(note)
    try:
        experiment.run_unit(unit)
    except (ImportError, FileNotFoundError):
        pytest.skip("the package or the data is not there")
    finally:
        sys.setprofile(None)
    used = code_used(experiment)
    houses = ROOT / "mlbook", ROOT / "book"
    ours = [(file, line) for file, line in called if any(map(file.is_relative_to, houses))]
    missed = {
        (file.name, line)
        for file, line in ours
        if not any(part.first <= line <= part.last for part in used.get(file, []))
        and file != ROOT / "mlbook" / "__init__.py"  # loads what is asked of it
    }
    assert len(ours) > 5 and not missed


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_what_only_shows_results_is_no_source_of_them(name):
    """A verdict, a note or the paper's number may be written anew without running anything."""
    shows = ("__init__", "verdicts", "runs", "items", "experiment", "age", "law2016", "law2017")
    shows += ("komodakis2011", "lajugie2014", "segmentation", "comparisons", "law2017_printed")
    found = sources_of(EXPERIMENTS[name]).keys()
    assert not found & {f"book/reproduction/{module}.py" for module in shows}
    assert not [path for path in found if path.startswith("book/figures/")]
