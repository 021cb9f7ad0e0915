"""The project's own files agree with each other."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import mlbook

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "mlbook"


def pyproject() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def declared() -> list[Requirement]:
    extras = pyproject()["optional-dependencies"].values()
    return [Requirement(r) for r in sum(extras, pyproject()["dependencies"])]


def merged(requirements: list[Requirement]) -> dict[str, tuple[set[str], set[str]]]:
    """Name -> (version bounds, extras), several lines of one package taken together."""
    result: dict[str, tuple[set[str], set[str]]] = {}
    for requirement in requirements:
        bounds, extras = result.setdefault(canonicalize_name(requirement.name), (set(), set()))
        bounds |= {str(s) for s in requirement.specifier}
        extras |= requirement.extras
    return result


def test_environment_yml_lists_what_pyproject_lists():
    dependencies = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    pip = next(d["pip"] for d in dependencies if isinstance(d, dict))
    conda = [d for d in dependencies if isinstance(d, str) and d != "pip"]
    python = Requirement(next(d for d in conda if d.startswith("python>")))
    listed = [d for d in conda + pip if d != "-e ." and not d.startswith("python>")]
    assert str(python.specifier) == pyproject()["requires-python"]
    assert merged([Requirement(d) for d in listed]) == merged(declared())


def test_lock_file_satisfies_pyproject():
    lines = [x for x in (ROOT / "requirements.lock").read_text().splitlines() if x[:1].isalnum()]
    locked = [Requirement(line) for line in lines]
    assert all(len(r.specifier) == 1 and str(r.specifier).startswith("==") for r in locked)
    for wanted in declared():
        found = [r for r in locked if canonicalize_name(r.name) == canonicalize_name(wanted.name)]
        assert found, f"{wanted} is not in requirements.lock: run `make lock`"
        for r in found:
            version = str(r.specifier).removeprefix("==")
            assert wanted.specifier.contains(version), f"{r} does not satisfy {wanted}: `make lock`"


def test_version_is_one():
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == mlbook.__version__


def imports_of(path: Path) -> set[str]:
    """Return the modules of mlbook that the file imports, as 'partitions', 'demos', ..."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative imports hide the arrows"
            module = node.module or ""
            found |= {module} | {f"{module}.{alias.name}" for alias in node.names}
    parts = [name.split(".") for name in found if name.startswith("mlbook.")]
    rooms = {p.stem for p in PACKAGE.glob("[!_]*") if p.suffix == ".py" or p.is_dir()}
    return {p[1] for p in parts} & rooms


# Rooms every method may use, and the methods that build on another.
SHARED = {"partitions"}
TOPMOST = {"demos", "experiments"}
LEAVES = {"explore", "plots", "quiz", "datasets"}
ALSO = {
    "grid_crf": {"dual_decomposition"},
    "large_margin": {"changepoints", "kmeans"},
    "latent_crf": {"dual_decomposition", "exemplars"},
    "mimlca": {"mlca", "bags"},
    "bag_baselines": {"bags"},
}


def test_imports_go_one_way():
    """datasets -> fit -> partitions -> plots / explore; nothing imports demos or experiments."""
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if room in TOPMOST:
            continue
        allowed = {room} | ALSO.get(room, set())
        if room != "partitions" and room not in LEAVES:
            allowed |= SHARED
        seen = imports_of(path)
        assert seen <= allowed, f"mlbook/{path.name} may not import {sorted(seen - allowed)}"


def test_arrow_check_sees_forbidden_imports(tmp_path):
    source = tmp_path / "kmeans.py"
    source.write_text("from mlbook.partitions import contingency\nfrom mlbook import kmeans\n")
    assert imports_of(source) == {"partitions", "kmeans"}


def test_plain_make_lists_every_public_command():
    shown = subprocess.run(["make", "-s"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in ["book", "test", "lab", "serve", "bench", "reproduce", "clean", "help", "lock"]:
        assert re.search(rf"^  make {name} ", shown.stdout, re.M), f"make {name} is not listed"


@pytest.mark.parametrize("python", ["no-such-python", "false"])
def test_setup_refuses_an_unfit_python(python, tmp_path):
    """'false' stands for an interpreter that fails the version check."""
    command = ["sh", "tools/venv.sh", str(tmp_path / "venv")]
    run = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env={"PYTHON": python, "PATH": "/bin"}
    )
    assert run.returncode == 1
    assert "needs Python 3.11 or newer" in run.stderr and "make PYTHON=" in run.stderr
    assert not (tmp_path / "venv").exists()


def test_import_needs_no_book_extra():
    """The estimators import without matplotlib, IPython or dask."""
    heavy = ["matplotlib", "IPython", "ipywidgets", "dask"]
    without = {"explore", "plots"}
    modules = [p.stem for p in PACKAGE.glob("[!_]*.py") if p.stem not in without] + ["datasets"]
    code = ";".join(f"import mlbook.{m}" for m in modules)
    code += f";import sys; print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
