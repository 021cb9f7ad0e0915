"""Which definitions some functions use, and a hash of them that words do not change.

A definition is a statement at the top of a file of this repository: a function, a class, an
assignment. It uses what the names in it mean there: other definitions of the file, and what is
imported, which leads to the file that defines it. A table into which a decorator enters
definitions uses all of them. So a result does not grow old when a function that it never calls is
written, changed or moved. Statements that only act, such as a loop at the top of a file, are part
of whatever is used of the file.

The hash sees neither comments, docstrings, layout, annotations nor the messages of errors.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from book.sources import HOUSES, Import, Read, form, home, imports_in, loaded_when_used, module_home

Start = tuple[Path, str]  # a file, and a name defined in it; "" for all of the file


class Definition(NamedTuple):
    """A statement at the top of a file: its lines, its hash, and the names that it uses.

    A name comes with the attribute that is asked of it, "" for the thing itself.
    """

    first: int
    last: int
    digest: str
    uses: frozenset[tuple[str, str]]


class Module(NamedTuple):
    """What is known of one file."""

    definitions: list[Definition]
    places: dict[str, list[int]]  # of each name among the definitions
    acts: list[int]  # definitions without a name
    imports: dict[str, list[Import]]  # by the name that they bind, wherever they stand
    passed_on: dict[str, Import]  # names of other files that this one has at its top


def definitions_used(
    starts: Iterable[Start], root: Path, read: Read = Path.read_bytes
) -> dict[Path, list[Definition]]:
    """List the definitions that some names need, by file and in the order of the file.

    Parameters
    ----------
    starts : iterable of (Path, str)
        Files and names; the empty name is the whole file.
    root : Path
        The repository.
    read : callable, default=Path.read_bytes
        From a path to the file's content.

    Returns
    -------
    dict of Path to list of Definition
        By path.

    Examples
    --------
    >>> root = Path(__file__).parents[1]
    >>> used = definitions_used([(root / "mlbook" / "kmeans.py", "distortion")], root)
    >>> sorted(path.name for path in used)[:3]
    ['_validation.py', 'kmeans.py', 'partitions.py']
    """
    found: dict[Path, set[int]] = {}
    seen: set[Start] = set()
    todo = list(starts)
    while todo:
        start = todo.pop()
        if start in seen:
            continue
        seen.add(start)
        file, name = start
        module = module_of(read(file))
        if name and name not in module.places:
            todo += _passed_on(module, file, name, root, read)
            continue
        mine = found.setdefault(file, set())
        numbers = module.places[name] if name else range(len(module.definitions))
        for number in {*numbers, *module.acts} - mine:
            mine.add(number)
            for use in module.definitions[number].uses:
                todo += _meaning(module, file, use, root, read)
    return {
        file: [module_of(read(file)).definitions[number] for number in sorted(found[file])]
        for file in sorted(found)
        if found[file]
    }


def hashes(used: Mapping[Path, list[Definition]], root: Path) -> dict[str, str]:
    """Hash what is used of each file, by the files' paths below the root."""
    return {
        file.relative_to(root).as_posix(): _hash("".join(part.digest for part in parts))
        for file, parts in used.items()
    }


@lru_cache(maxsize=1000)
def module_of(text: bytes) -> Module:
    """Read a file."""
    tree = ast.parse(text)
    _drop_words(tree)
    module = Module([], {}, [], {}, {})
    fills = {node.name: _filled(node) for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(tree):
        for each, bound in imports_in(node):
            module.imports.setdefault(bound, []).append(each)
    for node in tree.body:
        for each, bound in imports_in(node):
            module.passed_on[bound] = each
        if getattr(node, "name", "") == "__getattr__":
            module.passed_on.update(loaded_when_used(list(ast.walk(tree))))
        if isinstance(node, ast.Import | ast.ImportFrom) or _only_speaks(node):
            continue
        number = len(module.definitions)
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        uses = frozenset(_uses(node))
        outside = sorted(each for name, _ in uses for each in module.imports.get(name, [])
                         if not each.level and each.module.split(".")[0] not in HOUSES)  # fmt: skip
        digest = _hash(repr((form(node), outside)))
        module.definitions.append(Definition(first, node.end_lineno or first, digest, uses))
        names = [*_bound(node), *_entered(node, fills)]
        for name in names:
            module.places.setdefault(name, []).append(number)
        if not names:
            module.acts.append(number)
    return module


def _passed_on(module: Module, file: Path, name: str, root: Path, read: Read) -> list[Start]:
    """Return where a name leads that a file has from others; a package has its modules too."""
    if name in module.passed_on:
        return _origin(module.passed_on[name], "", file, root, read)
    if file.name == "__init__.py":
        package = ".".join(file.relative_to(root).parts[:-1])
        inner = module_home(f"{package}.{name}", root)
        return [(inner, "")] if inner else []
    return []


def _meaning(
    module: Module, file: Path, use: tuple[str, str], root: Path, read: Read
) -> list[Start]:
    """Return what a name stands for in a file; in a module it is the attribute."""
    name, attribute = use
    found: list[Start] = [(file, name)] if name in module.places else []
    for each in module.imports.get(name, []):
        found += _origin(each, attribute, file, root, read)
    return found


def _origin(each: Import, attribute: str, file: Path, root: Path, read: Read) -> list[Start]:
    place = home(each, file, root, read)
    if place is None:
        return []
    return [(place.file, place.name or attribute)]


def _uses(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the names that are read in a statement, each with the attribute that is asked of it."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        yield node.value.id, node.attr
    elif isinstance(node, ast.Name):
        yield node.id, ""
    else:
        for child in ast.iter_child_nodes(node):
            yield from _uses(child)


def _drop_words(tree: ast.Module) -> None:
    """Take away annotations and the messages of errors and assertions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            node.exc = node.exc.func
        elif isinstance(node, ast.Assert):
            node.msg = None


def _bound(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement defines or changes."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:  # of x.a[0] = ..., x
            yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))


def _filled(function: ast.FunctionDef) -> list[str]:
    """Return the tables into which a function enters something: of ``TABLE[x] = y``, the table."""
    return [
        target.value.id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name)
    ]


def _entered(node: ast.stmt, fills: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield the tables into which the decorators of a definition enter it."""
    for decorator in getattr(node, "decorator_list", []):
        for part in ast.walk(decorator):
            if isinstance(part, ast.Name):
                yield from fills.get(part.id, [])


def _only_speaks(node: ast.stmt) -> bool:
    """Whether a statement is a string, a list of public names, or for type checkers."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    return list(_bound(node)) == ["__all__"] if isinstance(node, ast.Assign) else False


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
