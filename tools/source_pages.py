"""Pages of source code: one for each module under book/figures, linked from its figures.

Other pages may ask for the source of further modules, as the equation index does for its tests.
A figure is drawn by the first function of book.figures that the last statements of its cell
name, called as ``demo.two_metrics()`` or handed over as in ``explore(demo.two_metrics, ...)``.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from sphinx.application import Sphinx

PACKAGE = "book.figures"
TEMPLATE = "source.html"  # in book/_templates


class Function(NamedTuple):
    """A function or class of a module, and its lines, counted from 1."""

    module: str
    name: str
    first: int
    last: int


class Figures(NamedTuple):
    """What a notebook takes from book.figures: by cell, the function drawing it; all modules."""

    drawn: dict[int, Function]
    modules: set[str]


@lru_cache
def functions(root: Path, module: str) -> dict[str, Function]:
    """Return the functions and classes of a module, empty if there is no such module.

    Those of a package are what it passes on from its modules.
    """
    path = source_file(root, module)
    if not path.is_file():
        return _passed_on(root, path.with_suffix("") / "__init__.py")
    found = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            last = node.end_lineno or first
            found[node.name] = Function(module, node.name, first, last)
    return found


def _passed_on(root: Path, package: Path) -> dict[str, Function]:
    """Return the functions and classes that a package imports from book.figures."""
    found: dict[str, Function] = {}
    for node in ast.parse(package.read_text(encoding="utf-8")).body if package.is_file() else ():
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith(f"{PACKAGE}."):
            own = functions(root, f"{node.module}")
            found |= {a.asname or a.name: own[a.name] for a in node.names if a.name in own}
    return found


def source_file(root: Path, module: str) -> Path:
    return root.joinpath(*module.split(".")).with_suffix(".py")


@lru_cache
def figures(root: Path, notebook: Path) -> Figures:
    """Find what a notebook takes from book.figures."""
    bound: dict[str, str] = {}
    drawn: dict[int, Function] = {}
    for number, cell in enumerate(json.loads(notebook.read_text(encoding="utf-8"))["cells"]):
        try:
            tree = ast.parse("".join(cell["source"]) if cell["cell_type"] == "code" else "")
        except SyntaxError:  # a cell with a magic
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith(f"{PACKAGE}."):
                bound |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
        for statement in reversed(tree.body):
            if not isinstance(statement, ast.ImportFrom):
                named = list(_named(root, statement, bound))
                if named:
                    drawn[number] = named[0]
                    break
    modules = {name for name in bound.values() if functions(root, name)}
    modules |= {name.rpartition(".")[0] for name in bound.values()} - {PACKAGE}
    files = {module for module in modules if source_file(root, module).is_file()}
    return Figures(drawn, {module for module in files if functions(root, module)})


def _named(root: Path, statement: ast.stmt, bound: dict[str, str]) -> Iterator[Function]:
    """Yield the functions of book.figures that a statement names, the outermost first."""
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name) if name in bound:
                module, _, own = bound[name].rpartition(".")
            case ast.Attribute(value=ast.Name(id=name), attr=own) if name in bound:
                module = bound[name]
            case _:
                continue
        if own in functions(root, module):
            yield functions(root, module)[own]


def page_name(module: str) -> str:
    """Return where the source of a module stands, beside the pages of Sphinx's own viewcode."""
    return "_modules/" + module.replace(".", "/")


def source_page(app: Sphinx, module: str, docname: str) -> str:
    """Return the page of a module's source, which will be written because `docname` wants it."""
    users: dict[str, set[str]] = vars(app).setdefault("mlbook_sources", {})
    users.setdefault(module, set()).add(docname)
    return page_name(module)


def link_sources(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put a link under every figure and explorer of a notebook."""
    root, notebook = Path(app.srcdir), Path(app.env.doc2path(docname))
    if notebook.suffix != ".ipynb":
        return
    drawn = figures(root, notebook).drawn
    for cell in list(doctree.findall(nodes.container)):
        if cell.get("nb_element") != "cell_code" or cell["cell_index"] not in drawn:
            continue
        for output in cell.children:
            if output.get("nb_element") == "cell_code_output" and shows_figure(output):
                output += source_link(app, docname, drawn[cell["cell_index"]])


def shows_figure(output: nodes.Element) -> bool:
    """Say if the output of a cell is a picture or an explorer."""
    raws = (node.astext() for node in output.findall(nodes.raw))
    return bool(list(output.findall(nodes.image))) or any("mlbook-explore" in raw for raw in raws)


def source_link(app: Sphinx, docname: str, function: Function) -> nodes.raw:
    """Return the link, named for those who hear the page."""
    page = app.builder.get_relative_uri(docname, page_name(function.module))
    path = function.module.replace(".", "/") + ".py"
    label = escape(f"Source of this figure: {function.name} in {path}")
    link = f'<a href="{page}#{function.name}" aria-label="{label}">source</a>'
    return nodes.raw("", f'<p class="mlbook-source">{link}</p>', format="html")


def collect_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield a page for each module under book/figures, and for those that a page asked for."""
    root = Path(app.srcdir)
    for docname in app.env.found_docs:
        notebook = Path(app.env.doc2path(docname))
        if notebook.suffix == ".ipynb":
            for module in figures(root, notebook).modules:
                source_page(app, module, docname)
    used = {module: sorted(users) for module, users in vars(app).get("mlbook_sources", {}).items()}
    for path in root.joinpath(*PACKAGE.split(".")).rglob("[!_]*.py"):
        used.setdefault(".".join(path.relative_to(root).with_suffix("").parts), [])
    for module, users in sorted(used.items()):
        yield page_name(module), page_context(app, root, module, users), TEMPLATE


def page_context(app: Sphinx, root: Path, module: str, users: list[str]) -> dict[str, Any]:
    """Return what the template needs: a title, the pages that use the module, the code."""
    path = source_file(root, module)
    address = app.builder.get_relative_uri
    return {
        "title": path.relative_to(root).as_posix(),
        "users": [
            {"title": app.env.titles[user].astext(), "link": address(page_name(module), user)}
            for user in users
        ],
        "code": highlight(app, path.read_text(encoding="utf-8"), functions(root, module)),
    }


def highlight(app: Sphinx, code: str, found: dict[str, Function]) -> str:
    """Return the code with numbered lines; each function is one element, of its own name."""
    bridge = app.builder.highlighter  # type: ignore[attr-defined]
    lines = bridge.highlight_block(code, "python", linenos="inline").splitlines(keepends=True)
    before, lines[0] = lines[0].split("<pre>")
    for function in found.values():
        opened = f'<span class="mlbook-function" id="{function.name}">'
        lines[function.first - 1] = opened + lines[function.first - 1]
        lines[function.last - 1] += "</span>"
    return f"{before}<pre>{''.join(lines)}"


def flat_list(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """List the modules of Sphinx's own pages of sources in one list.

    Sphinx puts lists between the items of a list, where a list may not be.
    """
    if page == "_modules/index":
        head, opened, items = context["body"].partition("<ul>")
        context["body"] = f"{head}{opened}{re.sub('</?ul>', '', items)}</ul>"


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the links and the pages."""
    app.connect("doctree-resolved", link_sources)
    app.connect("html-collect-pages", collect_pages)
    app.connect("html-page-context", flat_list)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
