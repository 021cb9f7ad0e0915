"""Altered copies of a function: one sign, factor, comparison, index or result is wrong in each.

What only refuses bad input, warns or shows progress is left alone, and so are words, defaults,
tolerances and comparisons with them. A class stands for its method `fit`, or for all
its methods if it has none of this name; a method takes along the private methods that it calls on
its own object. A function with fewer than `THIN`
places beside its result hands its work on: then the functions of the library that it calls by
name, and the methods that it calls on its own object, are altered too.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

KINDS = ("sign", "factor", "comparison", "exchange", "index", "result")
COPIES = 6
SMALL = (ast.Constant, ast.Attribute, ast.Name, ast.Slice, ast.Tuple)  # too small to be read
THIN = 3
TINY = 0.05  # constants below it, times anything, are tolerances
WRONG = {"grown": "__grown__", "turned": "__turned__"}
RAN = "__ran__"  # called where the code was altered, whenever that place is run

OPERATORS: dict[type[ast.operator], tuple[str, ast.operator]] = {
    ast.Add: ("sign", ast.Sub()),
    ast.Sub: ("sign", ast.Add()),
    ast.Mult: ("factor", ast.Div()),
    ast.Div: ("factor", ast.Mult()),
    ast.Pow: ("factor", ast.Mult()),
    ast.BitAnd: ("comparison", ast.BitOr()),
    ast.BitOr: ("comparison", ast.BitAnd()),
}
COMPARISONS: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Lt: ast.Gt(),
    ast.Gt: ast.Lt(),
    ast.LtE: ast.GtE(),
    ast.GtE: ast.LtE(),
    ast.Eq: ast.NotEq(),
    ast.NotEq: ast.Eq(),
}
PAIRS = "min max, argmin argmax, minimum maximum, any all, zeros ones, combinations permutations"
EXCHANGES = {
    a: b for pair in PAIRS.split(", ") for a, b in (pair.split(), reversed(pair.split()))
} | {"sum": "mean", "sqrt": "square", "diagonal": "ravel"}
ASIDE = (
    "check_", "_check", "_require", "_refuse", "_warn", "warn", "progress", "show", "isinstance",
    "callable", "finfo", "threadpool", "validate_data",
)  # fmt: skip
COUNTS = ("self.n_", "self.rank_", "self.best_iter_", "self.converged_", "self.settled_")


class Module(NamedTuple):
    """The code of a file of the library."""

    path: Path
    tree: ast.Module


class Mutant(NamedTuple):
    """One altered copy: what is changed, in which function, and how to change it."""

    kind: str
    inside: str
    before: str
    after: str
    module: Module
    change: Callable[[], None]

    @property
    def words(self) -> str:
        """Name the change, as "a + b → a - b"; where a delegate is changed, its name first."""
        return f"{self.inside}{self.before} → {self.after}"


def mutants(name: str, root: Path, most: int = COPIES) -> dict[str, Mutant]:
    """Return altered copies of the module that holds `name`, by words that name the change.

    They are spread over the kinds and over the lines, and always the same for the same code.

    Parameters
    ----------
    name : str
        Full name of a function, class or method, as "mlbook.kmeans.distortion".
    root : Path
        The repository.
    most : int, default=COPIES
        Largest number of copies.
    """
    found = [
        each
        for module, body, inside in _bodies(name, root)
        for each in _alterations(module, body, inside)
    ]
    return {each.words: each for each in _spread(_distinct(found), most)}


def altered_code(name: str, root: Path) -> list[ast.FunctionDef]:
    """List the functions that are altered for `name`: its own, and those it hands its work to."""
    return [body for _, body, _ in _bodies(name, root)]


def _bodies(name: str, root: Path) -> list[tuple[Module, ast.FunctionDef, str]]:
    """List the functions to alter, each with its module and, unless it is named, its own name."""
    module, node = find(name, root)
    owner, start = _start(node, module.tree)
    own = _own_calls(owner, start)
    inner = [body for body in own if body.name.startswith("_")]
    if start.name == "__init__" and owner is not None:
        inner = [each for each in owner.body if isinstance(each, ast.FunctionDef)][1:]
    found = [(module, start, ""), *((module, body, f"{body.name}: ") for body in inner)]
    places = (each for body in found for each in _alterations(*body))
    if sum(each.kind != "result" for each in places) < THIN:
        outer = [(module, body) for body in own if body not in inner]
        outer += _delegates([start, *inner], module, root)
        found += [(home, body, f"{body.name}: ") for home, body in outer]
    return found


def find(name: str, root: Path) -> tuple[Module, ast.FunctionDef | ast.ClassDef]:
    """Return the module that defines a full name, freshly read, and its definition."""
    parts = name.split(".")
    for depth in range(len(parts) - 1, 0, -1):
        path = root.joinpath(*parts[:depth]).with_suffix(".py")
        if not path.is_file():
            continue
        tree = ast.parse(path.read_text())
        node: Any = tree
        for part in parts[depth:]:
            node = _definition(node, part)
        if node is not None:
            return Module(path, tree), node
    raise LookupError(f"{name} is not in {root}")


def _definition(node: Any, name: str) -> Any:
    kinds = (ast.FunctionDef, ast.ClassDef)
    body = getattr(node, "body", [])
    return next((each for each in body if isinstance(each, kinds) and each.name == name), None)


def _start(
    node: ast.FunctionDef | ast.ClassDef, tree: ast.Module
) -> tuple[ast.ClassDef | None, ast.FunctionDef]:
    """Return a function and the class that it is a method of; of a class, its main method."""
    if isinstance(node, ast.ClassDef):
        return node, _definition(node, "fit") or _definition(node, "__init__")
    classes = (each for each in tree.body if isinstance(each, ast.ClassDef))
    return next((each for each in classes if node in each.body), None), node


def _own_calls(owner: ast.ClassDef | None, start: ast.FunctionDef) -> list[ast.FunctionDef]:
    """List the methods that a method calls on its own object, and those that they call."""
    found: list[ast.FunctionDef] = []
    todo = [start] if owner else []
    while todo:
        for call in ast.walk(todo.pop(0)):
            if isinstance(call, ast.Attribute) and ast.unparse(call.value) == "self":
                method = _definition(owner, call.attr)
                if method not in (None, start, *found) and not call.attr.startswith(ASIDE):
                    found.append(method)
                    todo.append(method)
    return found


def _delegates(
    bodies: list[ast.FunctionDef], module: Module, root: Path
) -> Iterator[tuple[Module, ast.FunctionDef]]:
    """Yield the library's functions that some bodies call by name, each once."""
    origins = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in module.tree.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    names = [
        call.func.id
        for body in bodies
        for call in ast.walk(body)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
    ]
    for name in dict.fromkeys(names):
        if name.startswith(ASIDE):
            continue
        node = _definition(module.tree, name)
        home = module
        if node is None and origins.get(name, "").startswith("mlbook."):
            try:
                home, node = find(origins[name], root)
            except LookupError:  # a package passes it on
                continue
        if isinstance(node, ast.FunctionDef):
            yield home, node


def _distinct(found: list[Mutant]) -> list[Mutant]:
    """Keep the first of copies whose changes read the same."""
    return list({each.words: each for each in reversed(found)}.values())[::-1]


def _spread(found: list[Mutant], most: int) -> list[Mutant]:
    """Choose as many of each kind as there is room for, evenly over their places."""
    groups = {kind: [each for each in found if each.kind == kind] for kind in KINDS}
    room = dict.fromkeys(KINDS, 0)
    while sum(room.values()) < min(most, len(found)):
        for kind, group in groups.items():
            if room[kind] < len(group) and sum(room.values()) < most:
                room[kind] += 1
    return [
        group[int((place + 0.5) * len(group) / room[kind])]
        for kind, group in groups.items()
        for place in range(room[kind])
    ]


# --- the places of a function, and what is put there -------------------------------------------


def _alterations(module: Module, body: ast.FunctionDef, inside: str) -> Iterator[Mutant]:
    """Yield every altered copy of a function; of one that is called by another, not the result."""
    idle = _idle_names(body)
    for parents, field, place, node in _places(body, (body,)):
        statement = next((each for each in parents[1:] if isinstance(each, ast.stmt)), node)
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) in idle:
            continue
        for kind, new in _replacements(node, parents[-1], field):
            if kind == "result" and inside:
                continue
            change = _setter(parents[-1], field, place, _noted(new))
            back = _setter(parents[-1], field, place, node)
            whole = node
            if isinstance(node, SMALL):
                whole = next((each for each in reversed(parents) if _is_readable(each)), node)
            before = _shown(whole)
            _setter(parents[-1], field, place, new)()
            after = _shown(new if whole is node else whole)
            back()
            if kind == "result":
                after = next(name for name, hidden in WRONG.items() if f"{hidden}(" in after)
            yield Mutant(kind, inside, before, after, module, change)


def _noted(new: Any) -> Any:
    """Return code that says that it is run, and is else the same."""
    if isinstance(new, ast.Return | ast.Assign | ast.AugAssign | ast.Expr | ast.Yield):
        return _like(new, value=_noted(new.value))
    return ast.BoolOp(ast.Or(), [ast.Call(ast.Name(RAN, ast.Load()), [], []), new])


def _is_readable(node: ast.AST) -> bool:
    simple = isinstance(node, ast.Assign | ast.AugAssign | ast.Return)
    return simple or (isinstance(node, ast.expr) and not isinstance(node, (*SMALL, ast.UnaryOp)))


def _idle_names(body: ast.FunctionDef) -> set[str]:
    """Return names that only serve what is left alone, such as the refusal of bad input."""
    used = {
        node.id
        for _, _, _, node in _places(body, (body,))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    every = {node.id for node in ast.walk(body) if isinstance(node, ast.Name)}
    return every - used


def _setter(parent: ast.AST, field: str, place: int | None, new: ast.AST) -> Callable[[], None]:
    def change() -> None:
        if place is None:
            setattr(parent, field, new)
        else:
            getattr(parent, field)[place] = new

    return change


def _places(
    node: ast.AST, parents: tuple[ast.AST, ...]
) -> Iterator[tuple[tuple[ast.AST, ...], str, int | None, Any]]:
    """Yield (parents, field, position, node) for what may be altered, in the order of the text."""
    for field, value in ast.iter_fields(node):
        if field in ("decorator_list", "args", "returns", "annotation") and isinstance(
            node, ast.FunctionDef | ast.AnnAssign
        ):
            continue
        children = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
        for place, child in children:
            if isinstance(child, ast.AST) and not _is_aside(child):
                yield parents, field, place, child
                yield from _places(child, (*parents, child))


def _is_aside(node: ast.AST) -> bool:
    """Whether a node refuses bad input, warns, shows progress, counts, allows for rounding."""
    if isinstance(node, ast.If) and all(_is_aside(each) for each in node.body):
        return not node.orelse
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _is_tiny(node.left) or _is_tiny(node.right)
    if isinstance(node, ast.Compare):
        return any(isinstance(each, ast.BinOp) and _is_aside(each) for each in node.comparators)
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0]).startswith(COUNTS)
    if isinstance(node, ast.UnaryOp):
        return _is_aside(node.operand)
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).split(".")[-1].startswith(ASIDE)
    if isinstance(node, ast.Expr):
        return _is_aside(node.value)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    return isinstance(node, ast.Raise | ast.JoinedStr | ast.Pass | ast.ExceptHandler)


def _replacements(node: Any, parent: Any, field: str) -> Iterator[tuple[str, Any]]:
    """Yield (kind, new node) for every way to alter a node."""
    if isinstance(node, ast.BinOp):
        if _is_list(node.left) or _is_list(node.right):
            return
        kind, operator = OPERATORS.get(type(node.op), ("", None))
        if operator is not None:
            yield kind, _like(node, op=operator)
        elif isinstance(node.op, ast.MatMult) and not isinstance(
            getattr(parent, "op", None), ast.MatMult
        ):
            yield "factor", ast.BinOp(ast.Constant(2), ast.Mult(), copy.deepcopy(node))
    elif isinstance(node, ast.AugAssign) and type(node.op) in OPERATORS:
        kind, operator = OPERATORS[type(node.op)]
        yield kind, _like(node, op=operator)
    elif isinstance(node, ast.UnaryOp):
        if isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
            yield "sign", node.operand
        elif isinstance(node.op, ast.Not):
            yield "comparison", node.operand
    elif isinstance(node, ast.Compare):
        if len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
            yield "comparison", _like(node, ops=[COMPARISONS[type(node.ops[0])]])
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "comparison", _like(node, op=other)
    elif isinstance(node, ast.Constant):
        yield from _constants(node, parent)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        if field == "func" and node.id in EXCHANGES and node.id != "sum":
            yield "exchange", _like(node, id=EXCHANGES[node.id])
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        if node.attr == "T":
            yield "index", node.value
        elif node.attr in EXCHANGES and not _is_tiny(parent):
            yield "exchange", _like(node, attr=EXCHANGES[node.attr])
    elif isinstance(node, ast.Return | ast.Assign) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield)
    ):
        yield from _results(node)


def _constants(node: ast.Constant, parent: Any) -> Iterator[tuple[str, Any]]:
    value = node.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Pow):
        return
    if isinstance(value, int):
        if not isinstance(parent, ast.keyword):  # how often, how many: not what
            yield "index", ast.Constant(value + 1)
        elif parent.arg == "axis":
            yield "index", ast.Constant(1 - value)
    elif not 0 < abs(value) < TINY:
        yield "factor", ast.Constant(2 * value or 1.0)


def _results(node: Any) -> Iterator[tuple[str, Any]]:
    value = getattr(node.value, "value", None) if isinstance(node, ast.Expr) else node.value
    if value is None or isinstance(value, ast.Constant) or ast.unparse(value) == "self":
        return
    if isinstance(node, ast.Assign):
        own = ast.unparse(node.targets[0]).startswith("self.")
        if not own or isinstance(value, ast.Tuple | ast.Name):
            return
    for name in WRONG.values():
        call = ast.Call(ast.Name(name, ast.Load()), [value], [])
        yield "result", _like(node, value=ast.Yield(call) if isinstance(node, ast.Expr) else call)


def _like(node: Any, **changes: Any) -> Any:
    new = copy.copy(node)
    for field, value in changes.items():
        setattr(new, field, value)
    return new


def _is_tiny(node: ast.AST) -> bool:
    """Whether a factor makes a tolerance: a small constant, or one of the names for it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, float):
        return 0 < abs(node.value) < TINY
    words = ast.unparse(node)
    return words.endswith("TIE") or "eps" in words or "tol" in words


def _is_list(node: ast.AST) -> bool:
    return isinstance(node, ast.List) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _shown(node: ast.AST) -> str:
    return " ".join(ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).split())


# --- wrong results -----------------------------------------------------------------------------


def grown(value: Any) -> Any:
    """Return a wrong value of the same kind: numbers grow, others are taken from a neighbour.

    Of several values the first that can be wrong is. Raises TypeError where there is none.
    """
    if isinstance(value, bool | np.bool_):
        return not value
    if isinstance(value, int | np.integer):
        return value + 1
    if isinstance(value, float | np.floating):
        return value * 1.5 + 0.5
    if hasattr(value, "tocsr"):
        return value * 1.5
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return (value * 1.5).astype(value.dtype)
    if isinstance(value, np.ndarray) and value.size:
        return _moved(np.roll(value, 1, axis=0), value)
    return _first(grown, value)


def turned(value: Any) -> Any:
    """Return another wrong value: numbers change their sign, arrays of others their order."""
    if isinstance(value, bool | np.bool_):
        return not value
    if isinstance(value, int | np.integer):
        return value - 1
    if isinstance(value, float | np.floating):
        return -value
    if hasattr(value, "tocsr"):
        return -value
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return -value
    if isinstance(value, np.ndarray) and value.size:
        return _moved(value[::-1], value)
    return _first(turned, value)


def _moved(moved: Any, value: Any) -> Any:
    if not np.array_equal(moved, value):
        return moved
    return ~value if value.dtype.kind == "b" else value + 1


def _first(wrong: Callable[[Any], Any], value: Any) -> Any:
    """Make the first of several values wrong that can be."""
    if isinstance(value, tuple | list):
        make = type(value)._make if hasattr(value, "_make") else type(value)
        return make(_first_of(wrong, list(value)))
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value) if field.init]
        changed = _first_of(wrong, [getattr(value, name) for name in names])
        return replace(value, **dict(zip(names, changed, strict=True)))
    raise TypeError(f"{type(value).__name__} has no wrong value")


def _first_of(wrong: Callable[[Any], Any], values: list[Any]) -> list[Any]:
    for place, value in enumerate(values):
        try:
            return [*values[:place], wrong(value), *values[place + 1 :]]
        except TypeError:
            continue
    raise TypeError("none of the values can be wrong")
