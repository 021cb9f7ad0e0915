"""What a user installs: the source distribution, and the wheel in a fresh environment."""

import ast
import importlib
import pkgutil
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from functools import cache
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import licences
import numpy as np
import pytest
import release
from lock import pinned
from packaging.utils import canonicalize_name
from sklearn.metrics import adjusted_rand_score
from test_project import declared, pyproject

import mlbook

ROOT = Path(__file__).resolve().parents[2]
# Packages that come with jupyter-book and pytest, which are declared.
WITH_JUPYTER_BOOK = {
    "packaging",
    "sphinx",
    "docutils",
    "myst-nb",
    "myst-parser",
    "markdown-it-py",
    "beautifulsoup4",
    "sphinx-external-toc",
}
BUILT = ("_build", ".venv*", "__pycache__", "node_*", ".*_cache", ".coverage*", ".hypothesis")
ALONE = """
import doctest, importlib, pkgutil, sys
from pathlib import Path
import mlbook
loaded = {"sklearn", "scipy", "matplotlib", "IPython", "pandas"} & set(sys.modules)
assert not loaded, f"import mlbook loads {loaded}"
from mlbook import (
    MLCA, LargeMarginMetric, MIMLCA, LatentExemplarMetric, ExemplarClustering, SpectralKMeans,
    segment,
)
assert "site-packages" in mlbook.__file__, mlbook.__file__
assert all(hasattr(mlbook, name) for name in mlbook.__all__)
ran = needed = 0
for found in pkgutil.walk_packages(mlbook.__path__, "mlbook."):
    module = importlib.import_module(found.name)
    for test in doctest.DocTestFinder().find(module):
        said = []
        failed, tried = doctest.DocTestRunner().run(test, out=said.append)
        ran += tried
        text = "".join(said)
        if failed and ('pip install "mlbook[' in text or "pip install --no-deps" in text):
            needed += 1
        else:
            assert not failed, text
print(ran, needed)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The source distribution, unpacked, and the wheel made from it."""
    folder = tmp_path_factory.mktemp("release")
    shutil.copytree(ROOT, folder / "tree", ignore=shutil.ignore_patterns(*BUILT))
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
    git = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-co", "--exclude-standard"]
    tracked = subprocess.run(git, cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode:
        pytest.skip("no git repository to compare with")
    names = [name for name in tracked.stdout.splitlines() if (ROOT / name).exists()]
    assert len(names) > 100
    assert [name for name in names if not (built[0] / name).exists()] == []


# --- the wheel, alone ------------------------------------------------------------------------


def fresh(folder: Path, wheel: Path, packages: set[str]) -> Path:
    """Make an environment that has these packages, linked, and the wheel; return its Python."""
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    show = "import sysconfig; print(sysconfig.get_path('purelib'))"
    run = subprocess.run([python, "-c", show], capture_output=True, text=True, check=True)
    site = Path(run.stdout.strip())
    for package in packages:
        for file in distribution(package).files or []:
            top, source = file.parts[0], Path(str(distribution(package).locate_file("")))
            if top not in ("..", "__pycache__") and not (site / top).exists():
                (site / top).symlink_to(source / top)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return python


def run_alone(python: Path, folder: Path) -> tuple[int, int]:
    """Import every module and run every example; how many ran, how many needed an extra."""
    folder.mkdir()
    command = [python, "-W", "error", "-c", ALONE]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    ran, needed = run.stdout.split()[-2:]
    return int(ran), int(needed)


def test_the_wheel_works_in_a_fresh_environment(built, tmp_path):
    """With the library's dependencies alone, examples run or say which extra they need."""
    core = licences.closure(pyproject()["dependencies"]) - {"mlbook"}
    assert "numpy" in core and "matplotlib" not in core
    ran, needed = run_alone(fresh(tmp_path / "env", built[1], core), tmp_path / "empty")
    assert ran > 300 and 0 < needed < 40


@pytest.mark.book
def test_every_example_of_the_wheel_runs_with_the_extras(built, tmp_path):
    carriers = {r.name for r in pinned((ROOT / "data" / "packages.txt").read_text())}
    everything = licences.closure(map(str, declared())) & licences.locked().keys()
    ran, needed = run_alone(
        fresh(tmp_path / "env", built[1], everything | carriers), tmp_path / "empty"
    )
    assert ran > 300 and needed == 0


def test_the_wheel_is_the_library_and_its_tables(built):
    with zipfile.ZipFile(built[1]) as wheel:
        names = wheel.namelist()
    code = [n for n in names if not n.startswith(f"mlbook-{mlbook.__version__}.dist-info/")]
    assert "mlbook/py.typed" in names and "mlbook/datasets/_tables/letters.csv.gz" in names
    odd = [n for n in code if not re.fullmatch(r"mlbook/[\w/]+\.(py|typed|csv\.gz|js|css)", n)]
    assert odd == []
    ours = ("*.py", "*.js", "*.css")
    here = {p.relative_to(ROOT).as_posix() for end in ours for p in (ROOT / "mlbook").rglob(end)}
    assert {n for n in code if n.endswith((".py", ".js", ".css"))} == here


def test_addresses_are_those_of_the_repository(tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_REPOSITORY", "who/what")
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.com")
    shutil.copytree(ROOT, tmp_path / "tree", ignore=shutil.ignore_patterns(*BUILT, ".git"))
    build(tmp_path / "tree", "wheel", tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [n for n in archive.namelist() if n.endswith("METADATA")]
        text = archive.read(name).decode()
    assert "Project-URL: Source, https://github.com/who/what\n" in text


@pytest.mark.parametrize(
    "tag, said",
    [("v9.9", "the version is"), (f"v{mlbook.__version__}", "has no section")],
)
def test_a_release_needs_its_version_and_its_notes(tag, said):
    with pytest.raises(SystemExit, match=said):
        release.notes(tag, "## Unreleased\n\n- new\n")
    text = f"## Unreleased\n\n## {mlbook.__version__}\n\n- new\n\n## 0.0.1\n"
    assert release.notes(f"v{mlbook.__version__}", text) == "- new\n"


# --- dependencies --------------------------------------------------------------------------


distributions = cache(packages_distributions)


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
    return {canonicalize_name(distributions().get(module, [module])[0]) for module in modules}


@pytest.mark.book
@pytest.mark.parametrize("folder", ["mlbook", "book", "tools", "tests", "benchmarks"])
def test_everything_imported_is_declared(folder):
    names = {canonicalize_name(r.name) for r in declared()} | WITH_JUPYTER_BOOK
    for path in (ROOT / folder).rglob("*.py"):
        assert imported(path) <= names, path.name


def test_the_list_of_licences_is_that_of_the_lock_file():
    requirements = pinned((ROOT / "requirements.lock").read_text())
    locked = {(canonicalize_name(r.name), str(r.specifier)[2:]): r.marker for r in requirements}
    text = (ROOT / "book" / "dependencies.md").read_text()
    rows = re.findall(r"^\| ([a-z][^ ]*) \| (\d\S*) \| (.+) \|$", text, re.M)
    listed = {(name, version) for name, version, _ in rows}
    everywhere = {key for key, marker in locked.items() if marker is None}
    assert everywhere <= listed <= locked.keys(), "run `make lock`"
    assert not [name for name, _, licence in rows if licence == "UNKNOWN"]


# --- examples ------------------------------------------------------------------------------


@pytest.mark.book
def test_every_public_name_has_an_example():
    without = []
    for module in pkgutil.walk_packages(mlbook.__path__, "mlbook."):
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
