"""Which files some code comes from, and a hash of each that words do not change.

Imports are read, not run: also those inside functions. A name that a package passes on leads to
the file that defines it, so that a result does not grow old when its neighbours change. A hash
sees code only: not comments, docstrings, layout, nor the version of Python.
"""

import ast
import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

HOUSES = ("mlbook", "book")
Read = Callable[[Path], bytes]


class Import(NamedTuple):
    """``from module import name``, with as many dots as `level`; no name: ``import module``."""

    level: int
    module: str
    name: str


class Place(NamedTuple):
    """A file, and the name of what is meant in it; no name: the file itself."""

    file: Path
    name: str


class Code(NamedTuple):
    """What is known of one file: its hash, what it imports, and the names it passes on."""

    digest: str
    imports: list[Import]
    passed_on: dict[str, Import]


def closure(module_file: Path, root: Path, read: Read = Path.read_bytes) -> list[Path]:
    """List the files of the repository whose code a module runs: its own, and what it imports.

    Parameters
    ----------
    module_file : Path
        The module.
    root : Path
        The repository: only `HOUSES` below it are followed.
    read : callable, default=Path.read_bytes
        From a path to the file's content.

    Returns
    -------
    list of Path
        Sorted, the module among them.

    Examples
    --------
    >>> root = Path(__file__).parents[1]
    >>> files = closure(root / "mlbook" / "kmeans.py", root)
    >>> root / "mlbook" / "partitions.py" in files, root / "mlbook" / "plots.py" in files
    (True, False)
    """
    found: set[Path] = set()
    todo = [module_file]
    while todo:
        file = todo.pop()
        if file not in found:
            found.add(file)
            for each in code_of(read(file)).imports:
                place = home(each, file, root, read)
                if place is not None:
                    todo.append(place.file)
    return sorted(found)


def fingerprint(files: Iterable[Path], root: Path, read: Read = Path.read_bytes) -> dict[str, str]:
    """Hash the code of files, by their paths below the root.

    Examples
    --------
    >>> root = Path(__file__).parents[1]
    >>> fingerprint([root / "mlbook" / "partitions.py"], root)  # doctest: +ELLIPSIS
    {'mlbook/partitions.py': '...'}
    """
    return {f.relative_to(root).as_posix(): code_of(read(f)).digest for f in sorted(files)}


@lru_cache(maxsize=1000)
def code_of(text: bytes) -> Code:
    r"""Read the code of a file.

    Examples
    --------
    >>> words, number = b"'''Words.'''\nx = 1  # one", b"x = 2"
    >>> [code_of(text).digest == code_of(b"x = 1").digest for text in (words, number)]
    [True, False]
    """
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    imports = [each for node in nodes for each, _ in imports_in(node)]
    modules = {bound: each.module for n in nodes for each, bound in imports_in(n) if not each.name}
    imports += [
        Import(0, modules[node.value.id], node.attr)  # mlbook.MLCA, after import mlbook
        for node in nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in modules
    ]
    passed_on = {bound: each for node in tree.body for each, bound in imports_in(node)}
    if any(getattr(node, "name", "") == "__getattr__" for node in tree.body):
        passed_on |= loaded_when_used(nodes)
    digest = hashlib.sha256(repr(form(tree)).encode()).hexdigest()[:16]
    return Code(digest, imports, passed_on)


def imports_in(node: ast.AST) -> Iterator[tuple[Import, str]]:
    """Yield the imports of one statement, and the names that they bind."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield Import(0, alias.name, ""), alias.asname or alias.name
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            each = Import(node.level, node.module or "", alias.name)
            yield each, alias.asname or alias.name


def loaded_when_used(nodes: Iterable[ast.AST]) -> dict[str, Import]:
    """Names of a package's ``__getattr__``, from its table ``{"module": ("Name", ...), ...}``."""
    return {
        name: Import(1, module, name)
        for table in nodes
        if isinstance(table, ast.Dict)
        for key, value in zip(table.keys, table.values, strict=True)
        for name in map(_text, getattr(value, "elts", []))
        if (module := _text(key)) is not None and name is not None
    }


def home(wanted: Import, file: Path, root: Path, read: Read) -> Place | None:
    """Return where what a file imports is defined; None if it is not of the houses."""
    module = _absolute(wanted, file, root)
    if module.split(".")[0] not in HOUSES:
        return None
    found = module_home(module, root)
    if found is None or not wanted.name:
        return None if found is None else Place(found, "")
    if found.name == "__init__.py":
        passed_on = code_of(read(found)).passed_on.get(wanted.name)
        if passed_on is not None:
            origin = _absolute(passed_on, found, root), passed_on.name
            if origin != (module, wanted.name):  # else the package imports a module of its own
                return home(passed_on, found, root, read)
        inner = module_home(f"{module}.{wanted.name}", root)
        if inner is not None:
            return Place(inner, "")
    return Place(found, wanted.name)


def _absolute(wanted: Import, file: Path, root: Path) -> str:
    """Return the module that a file imports from, its dots replaced by the file's packages."""
    if not wanted.level:
        return wanted.module
    packages = file.relative_to(root).parts[: -wanted.level]
    return ".".join([*packages, *filter(None, [wanted.module])])


def module_home(module: str, root: Path) -> Path | None:
    """Return the file of a module, None if there is none."""
    base = root.joinpath(*module.split("."))
    places = (base.with_name(base.name + ".py"), base / "__init__.py")
    return next((place for place in places if place.is_file()), None)


def form(node: object) -> object:
    """Write a tree without what is empty, which differs between versions, and without words."""
    if isinstance(node, ast.JoinedStr):  # Python 3.12 ends some with an empty string
        return "JoinedStr", [form(part) for part in node.values if _text(part) != ""]
    if isinstance(node, ast.AST):
        fields = [(name, form(value)) for name, value in ast.iter_fields(node)]
        return type(node).__name__, [field for field in fields if field[1] not in (None, [])]
    if isinstance(node, list):
        return [form(each) for each in node if not _is_words(each)]
    return node if node is None else repr(node)


def _is_words(node: object) -> bool:
    """Whether a statement is a string alone: a docstring, wherever it stands."""
    return isinstance(node, ast.Expr) and _text(node.value) is not None


def _text(node: object) -> str | None:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) else None
