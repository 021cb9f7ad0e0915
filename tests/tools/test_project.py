"""The project's own files agree with each other."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import environment
import pytest
import yaml
from code_lines import code_lines
from lock import pinned
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
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
    oldest, newest = environment.OLDEST, environment.NEWEST
    assert pyproject()["requires-python"] == f">=3.{oldest[1]}"
    assert python.specifier == SpecifierSet(f">=3.{oldest[1]},<3.{newest[1] + 1}")
    assert merged([Requirement(d) for d in listed]) == merged(declared())


def test_lock_file_satisfies_pyproject():
    locked = pinned((ROOT / "requirements.lock").read_text())
    assert all(len(r.specifier) == 1 and str(r.specifier).startswith("==") for r in locked)
    for wanted in declared():
        found = [r for r in locked if canonicalize_name(r.name) == canonicalize_name(wanted.name)]
        assert found, f"{wanted} is not in requirements.lock: run `make lock`"
        for r in found:
            version = str(r.specifier).removeprefix("==")
            assert wanted.specifier.contains(version), f"{r} does not satisfy {wanted}: `make lock`"


@pytest.mark.parametrize("path", ["requirements.lock", "data/packages.txt"])
def test_everything_locked_has_hashes(path):
    text = (ROOT / path).read_text()
    entries = re.findall(r"^(\w\S*)==.*\n((?: +--hash=sha256:[0-9a-f]{64}.*\n)*)", text, re.M)
    assert len(entries) == len(pinned(text)) > 0
    assert [name for name, hashes in entries if not hashes] == [], "run `make lock`"


def test_what_ci_runs_is_pinned():
    """Actions by their commit, containers by their digest; the comment is for people."""
    text = "".join(p.read_text() for p in sorted((ROOT / ".github" / "workflows").glob("*.yml")))
    actions = re.findall(r"uses: (\S+)(.*)", text)
    containers = re.findall(r"(?:container|image): (\S+)", text)
    assert actions and containers
    assert [a for a in actions if not re.fullmatch(r"\S+@[0-9a-f]{40} # v[\d.]+", "".join(a))] == []
    assert [c for c in containers if not re.search(r"@sha256:[0-9a-f]{64}$", c)] == []


def test_version_is_one():
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == mlbook.__version__
    assert json.loads((ROOT / "codemeta.json").read_text())["version"] == mlbook.__version__


def test_what_describes_the_project_elsewhere_agrees():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    zenodo = json.loads((ROOT / ".zenodo.json").read_text())
    codemeta = json.loads((ROOT / "codemeta.json").read_text())
    head = (ROOT / "book" / "paper" / "paper.md").read_text().split("---\n")[1]
    paper = yaml.safe_load(head)
    assert cited["title"] == zenodo["title"] == paper["title"]
    names = [author["name"] for author in cited["authors"]]
    for authors in (zenodo["creators"], codemeta["author"], paper["authors"]):
        assert [author["name"] for author in authors] == names
    wanted = {canonicalize_name(Requirement(r).name) for r in pyproject()["dependencies"]}
    assert set(codemeta["softwareRequirements"]) == wanted


def test_what_the_paper_cites_is_in_its_bibliography():
    folder = ROOT / "book" / "paper"
    cited = set(re.findall(r"@(\w+)", (folder / "paper.md").read_text().split("---\n", 2)[2]))
    listed = set(re.findall(r"^@\w+\{(\w+),", (folder / "paper.bib").read_text(), re.M))
    assert cited == listed


def test_other_machines_get_the_locked_packages():
    """Binder and the development container install what `make` installs."""
    binder = ROOT / ".binder"
    lines = (binder / "requirements.txt").read_text().splitlines()
    files = [binder / line.split()[1] for line in lines if line.startswith("-r")]
    assert [file.resolve() for file in files] == [ROOT / "requirements.lock"]
    assert "-r data/packages.txt" in (binder / "postBuild").read_text()
    version = re.fullmatch(r"python-3\.(\d+)\n", (binder / "runtime.txt").read_text())
    assert environment.OLDEST[1] <= int(version[1]) <= environment.NEWEST[1]
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert container["postCreateCommand"] == "python tools/run.py install"


def test_forms_for_issues_are_forms():
    forms = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"))
    assert len(forms) == 3
    for form in map(yaml.safe_load, (path.read_text() for path in forms)):
        assert {"name", "description", "body"} <= form.keys()
        names = [field["id"] for field in form["body"]]
        assert len(set(names)) == len(names)
        assert any(field.get("validations", {}).get("required") for field in form["body"])


# --- two houses ------------------------------------------------------------------------------

# What every room of the library may use, and the rooms that build on another.
SHARED = {"partitions", "price_paths"}
SHARED |= {"_arrays", "_blas", "_cutting_planes", "_memory", "_metric"}
SHARED |= {"_optional", "_progress", "_validation"}
ALSO = {
    "grid_crf": {"dual_decomposition"},
    "large_margin": {"changepoints", "kmeans"},
    "latent_crf": {"dual_decomposition", "exemplars"},
    "mimlca": {"mlca", "bags"},
}
GROUND = {name: set() for name in SHARED} | {  # no other room
    "_validation": {"_arrays"},
    "_cutting_planes": {"_arrays"},
    "_metric": {"partitions", "_arrays", "_validation"},
    "partitions": {"_validation"},
    "price_paths": {"_arrays", "_validation"},
}


def imports_of(path: Path) -> set[str]:
    """Return what the file imports of this repository: 'partitions', '_arrays', 'book', ..."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative imports hide the arrows"
            module = node.module or ""
            found |= {module} | {f"{module}.{alias.name}" for alias in node.names}
    rooms = {p.stem for p in PACKAGE.iterdir() if p.suffix == ".py" or p.is_dir()}
    inside = {name.split(".")[1] for name in found if name.startswith("mlbook.")} & rooms
    outside = {name.partition(".")[0] for name in found} & {"book", "tests", "tools", "benchmarks"}
    return inside | outside


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: p.stem)
def test_imports_go_one_way(path):
    """A method imports partitions and at most the method it ends in; nothing imports the book."""
    room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    allowed = {room} | GROUND.get(room, SHARED | ALSO.get(room, set()))
    seen = imports_of(path)
    assert seen <= allowed, f"{path.relative_to(ROOT)} may not import {sorted(seen - allowed)}"


def test_arrow_check_sees_forbidden_imports(tmp_path):
    source = tmp_path / "kmeans.py"
    source.write_text(
        "from mlbook.partitions import contingency\nfrom mlbook import kmeans\n"
        "def late():\n    import book.figures.kmeans\n"
    )
    assert imports_of(source) == {"partitions", "kmeans", "book"}


def test_the_library_is_small():
    lines = {path: code_lines(path.read_text()) for path in PACKAGE.rglob("*.py")}
    assert sum(lines.values()) <= 10000
    assert {path.name: count for path, count in lines.items() if count > 400} == {}


def test_lines_of_code_are_counted():
    source = '"""Words.\n\nMore."""\n\nx = [  # one\n    1,\n]\n'
    source += 'def f():\n    """Words."""\n\n    return x\n'
    assert code_lines(source) == 5


@pytest.mark.parametrize(
    "house, folder", [("mlbook", "library"), ("tools", "tools")], ids=lambda name: name
)
def test_every_module_has_a_test_of_its_name(house, folder):
    tests = {p.stem for p in (ROOT / "tests" / folder).glob("test_*.py")}
    missing = []
    for path in sorted((ROOT / house).rglob("*.py")):
        parts = [part.lstrip("_") for part in path.relative_to(ROOT / house).with_suffix("").parts]
        name = "test_" + "_".join(parts)
        if path.stem != "__init__" and name not in tests and path.name not in TESTED_ELSEWHERE:
            missing.append(path.relative_to(ROOT).as_posix())
    assert missing == []


TESTED_ELSEWHERE = {
    "mlbook_book.py": "test_build_book.py",
    "claims.py": "test_claims_written.py",
    "sitecustomize.py": "test_reads.py",
    "code_lines.py": "test_project.py",
    "licences.py": "test_release.py",
    "hatch_build.py": "test_release.py",
    "make_tables.py": "test_datasets_tables.py",
    "lessons.py": "test_book.py",
    "notebooks.py": "test_book.py",
    "repository.py": "test_repository_pages.py",
    "lock.py": "it calls uv",
    "wheels.py": "it calls uv",
}


def test_import_is_light():
    """`import mlbook` loads next to nothing; no room loads what draws or a notebook."""
    rooms = [p.stem for p in PACKAGE.glob("[!_]*") if p.suffix == ".py" or p.is_dir()]
    heavy = ["matplotlib", "IPython", "ipywidgets", "dask", "numba"]
    for code, kept_out in [
        ("import mlbook", ["numpy", "scipy", "sklearn", *heavy]),
        (";".join(f"import mlbook.{room}" for room in rooms), heavy),
    ]:
        code += f";import sys; print([m for m in {kept_out} if m in sys.modules])"
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert run.stdout.strip() == "[]", run.stdout + run.stderr


def test_the_librarys_tests_are_collected_without_the_books_packages():
    code = "import sys, pytest; pytest.main(['tests/library', '--collect-only', '-qq', *NO]); "
    code += "print('loaded', sorted(PACKAGES & {m.partition('.')[0] for m in sys.modules}))"
    plugins = ["-p", "no:nbval", "-p", "no:cacheprovider"]
    books = {"matplotlib", "IPython", "ipywidgets", "sphinx", "nbformat", "selenium", "book"}
    code = f"NO, PACKAGES = {plugins}, {books}; {code}"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.stdout.splitlines()[-1] == "loaded []", run.stdout[-300:] + run.stderr


def test_flat_names_are_public_names_of_their_rooms():
    for name in mlbook.__all__:
        thing = getattr(mlbook, name)
        room = import_module(f"mlbook.{thing.__module__.split('.')[1]}")
        assert name in room.__all__, name
    with pytest.raises(AttributeError, match="no attribute 'MCLA'"):
        mlbook.MCLA  # noqa: B018
    assert "MLCA" in dir(mlbook)


# --- words -----------------------------------------------------------------------------------

# Oxford English: -ize, but colour and centre. Names of other projects' options are theirs.
SPELLINGS = {
    r"\b\w*(?:minimi|maximi|optimi|normali|regulari|generali|speciali|organi|recogni)s(?=e|i)": "z",
    r"\b(?:un)?centered\b|\bcentering\b": "centred, centring",
    r"\blabeled\b|\blabeling\b|\bmodeled\b": "labelled, labelling, modelled",
    r"\bneighboring\b|\bbehavior\b|\bfavor\b": "neighbouring, behaviour, favour",
}


def prose() -> dict[str, str]:
    """The words a reader sees: pages, docstrings, comments, READMEs."""
    files = [*ROOT.glob("*.md"), *(ROOT / "book").rglob("*.md"), *(ROOT / "book").rglob("*.yml")]
    files += [p for house in ("mlbook", "book", "tools") for p in (ROOT / house).rglob("*.py")]
    found = {p.relative_to(ROOT).as_posix(): p.read_text() for p in files}
    for path in (ROOT / "book").rglob("[!.]*.ipynb"):
        cells = json.loads(path.read_text())["cells"]
        found[path.relative_to(ROOT).as_posix()] = "\n".join("".join(c["source"]) for c in cells)
    return found


@pytest.mark.parametrize("pattern", SPELLINGS)
def test_one_spelling(pattern):
    wrong = [
        f"{name}: {match[0]}"
        for name, text in prose().items()
        for match in re.finditer(pattern, text)
    ]
    assert wrong == [], f"write {SPELLINGS[pattern]}"
