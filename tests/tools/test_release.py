"""What a user installs: the source distribution, the wheel, its dependencies, its examples."""

import ast
import importlib
import pkgutil
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import licences
import numpy as np
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from sklearn.metrics import adjusted_rand_score
from test_project import declared, pyproject

import mlbook

ROOT = Path(__file__).resolve().parents[2]

SMOKE = """
import sys

class OnlyTheLibrary:
    "Stand for an environment that has nothing but the library's own dependencies."
    allowed = {"mlbook", *sys.stdlib_module_names, *sys.argv[2:]}

    def find_spec(self, name, path=None, target=None):
        root = name.partition(".")[0]
        if root not in self.allowed and not root.startswith("_"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, OnlyTheLibrary())
sys.path.insert(0, sys.argv[1])
import numpy as np
import mlbook
from mlbook.changepoints import segment
from mlbook.exemplars import ExemplarClustering
from mlbook.kmeans import SpectralKMeans
from mlbook.large_margin import LargeMarginMetric
from mlbook.mimlca import MIMLCA
from mlbook.mlca import MLCA

assert mlbook.__file__.startswith(sys.argv[1]), mlbook.__file__
rng = np.random.default_rng(0)
y = np.repeat([0, 1], 10)
X = np.column_stack([4.0 * y, rng.normal(size=20)]) + 0.1 * rng.normal(size=(20, 2))
assert MLCA().fit(X, y).transform(X).shape[0] == 20
assert set(SpectralKMeans(n_clusters=2, random_state=0).fit(X).labels_) == {0, 1}
assert ExemplarClustering(random_state=0).fit(X).gap_ >= 0
assert segment(X, n_segments=2).tolist() == y.tolist()
assert LargeMarginMetric().fit([X], [y]).components_.shape[1] == 2
assert MIMLCA(rank=2).fit([X[:1], X[1:10], X[10:]], [[1, 0], [1, 0], [0, 1]]).predict(X).any()
import mlbook.explore, mlbook.plots
try:
    mlbook.plots.subplots()
except ImportError as error:
    print("without the book:", error.__cause__.name)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The source distribution, unpacked, and the wheel made from it."""
    folder = tmp_path_factory.mktemp("release")
    skip = shutil.ignore_patterns("_build", ".venv*", ".git", "__pycache__", "*.egg-info", "node_*")
    shutil.copytree(ROOT, folder / "tree", ignore=skip)
    build(folder / "tree", "sdist", folder)
    (sdist,) = folder.glob("mlbook-*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    build(unpacked, "wheel", folder)
    (wheel,) = folder.glob("mlbook-*.whl")
    return unpacked, wheel


def build(tree: Path, kind: str, output: Path) -> None:
    code = f"from hatchling import build as b; b.build_{kind}({str(output)!r})"
    run = subprocess.run([sys.executable, "-c", code], cwd=tree, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_source_distribution_is_the_whole_project(built):
    """Whoever has it can build the book and run the tests."""
    git = ["git", "-c", f"safe.directory={ROOT}", "ls-files"]
    tracked = subprocess.run(git, cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode:
        pytest.skip("no git repository to compare with")
    names = tracked.stdout.splitlines()
    assert len(names) > 100
    assert [name for name in names if not (built[0] / name).exists()] == []


def test_wheel_works_without_the_book(built, tmp_path):
    """The installed wheel fits, clusters and segments with the library's dependencies alone."""
    with zipfile.ZipFile(built[1]) as wheel:
        names = wheel.namelist()
        wheel.extractall(tmp_path)
    assert {re.split("[/-]", name)[0] for name in names} == {"mlbook"}
    assert "mlbook/py.typed" in names
    core = licences.closure(pyproject()["dependencies"])
    modules = [m for m, (d, *_) in packages_distributions().items() if canonicalize_name(d) in core]
    assert "numpy" in modules and "matplotlib" not in modules
    command = [sys.executable, "-I", "-c", SMOKE, str(tmp_path), *modules]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout == "without the book: matplotlib\n"


# --- dependencies --------------------------------------------------------------------------


def imported(path: Path) -> set[str]:
    """Distributions behind the modules that a file imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    modules = {name.partition(".")[0] for name in names} - sys.stdlib_module_names
    modules -= {"mlbook", "book", "benchmarks", *(p.stem for p in ROOT.glob("t*/**/*.py"))}
    known = packages_distributions()
    return {canonicalize_name(known.get(module, [module])[0]) for module in modules}


@pytest.mark.book
@pytest.mark.parametrize("folder", ["mlbook", "book", "tools", "tests", "benchmarks"])
def test_everything_imported_is_declared(folder):
    """Sphinx and docutils are jupyter-book's; packaging is pytest's."""
    names = {canonicalize_name(r.name) for r in declared()} | {"packaging", "sphinx", "docutils"}
    for path in (ROOT / folder).rglob("*.py"):
        assert imported(path) <= names, path.name


def test_the_list_of_licences_is_that_of_the_lock_file():
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    requirements = [Requirement(line) for line in lines if line[:1].isalnum()]
    locked = {(canonicalize_name(r.name), str(r.specifier)[2:]): r.marker for r in requirements}
    text = (ROOT / "book" / "dependencies.md").read_text()
    rows = re.findall(r"^\| ([a-z][^ ]*) \| (\d\S*) \| (.+) \|$", text, re.M)
    listed = {(name, version) for name, version, _ in rows}
    everywhere = {key for key, marker in locked.items() if marker is None}
    assert everywhere <= listed <= locked.keys(), "run `make lock`"
    assert not [name for name, _, licence in rows if licence == "not said"]


# --- examples ------------------------------------------------------------------------------


@pytest.mark.book
def test_every_public_name_has_an_example():
    without = []
    for module in pkgutil.walk_packages(mlbook.__path__, "mlbook."):
        if re.search(r"\._|\.compiled$", module.name):
            continue
        room = importlib.import_module(module.name)
        for name in getattr(room, "__all__", []):
            thing = getattr(room, name)
            if callable(thing) and ">>> " not in (thing.__doc__ or ""):
                without.append(f"{module.name}.{name}")
    assert without == []


@pytest.mark.parametrize("page", ["README.md", "book/intro.md"])
def test_the_first_examples_a_user_sees_run(page, tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas")
    y = np.repeat(["red", "blue"], 10)
    noise = np.random.default_rng(0).normal(size=20)
    table = pandas.DataFrame({"a": 9.0 * (y == "red") + noise, "b": 50 * noise[::-1], "label": y})
    table.to_csv(tmp_path / "grouped.csv", index=False)
    table.drop(columns="label").to_csv(tmp_path / "new.csv", index=False)
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)
    *steps, last = ast.parse(code).body
    assert isinstance(last, ast.Expr)
    names: dict = {}
    exec(compile(ast.Module(steps, []), page, "exec"), names)
    found = eval(compile(ast.Expression(last.value), page, "eval"), names)
    truth = y if page == "book/intro.md" else names["y"][1::2]
    assert adjusted_rand_score(truth, found) > 0.8
