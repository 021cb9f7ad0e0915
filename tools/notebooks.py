"""Keep the notebooks' stored outputs honest, and their solutions folded.

A stored output is either compared by nbval or not there at all: code cells tagged
`nbval-check-output` carry a short text output, all others carry none. In JupyterLab the cells of
a solution are folded, code and output.

    python tools/notebooks.py check              say what is wrong, exit 1 if anything is
    python tools/notebooks.py update [NAME ...]  store the outputs of the checked cells; executes
                                                 what changed since the last build or update
    python tools/notebooks.py alone [NAME ...]   run them where the book is not installed, and
                                                 compare the outputs of the checked cells
    python tools/notebooks.py fold [NAME ...]    fold the cells of solutions in JupyterLab
    python tools/notebooks.py address            write the repository's address into the notebooks
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import alone
import nbformat
import setup_cell
from kit_notebooks import solution_cells
from repository import repository_url

BOOK = Path(__file__).resolve().parent.parent / "book"
TAG = "nbval-check-output"
FOLDED = {"source_hidden": True, "outputs_hidden": True}  # JupyterLab's words
JOBS = int(os.environ.get("JOBS", "2"))


def chapters() -> list[Path]:
    """Return every notebook of the book."""
    return [p for p in sorted(BOOK.rglob("*.ipynb")) if ".ipynb_checkpoints" not in p.parts]


def problems(path: Path) -> list[str]:
    """Return what is wrong with the stored outputs and the folds of the notebook at `path`."""
    notebook = nbformat.read(path, as_version=4)
    found = [
        f"{path.name}, cell {cell.id}: of a solution, not folded: python tools/notebooks.py fold"
        for cell in solution_cells(notebook)
        if not is_folded(cell)
    ]
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type != "code":
            continue
        checked = TAG in cell.metadata.get("tags", [])
        where = f"{path.name}, cell {number} ({cell.id})"
        if checked and not cell.outputs:
            found.append(f"{where}: tagged {TAG} but stores no output to compare with")
        if not checked and (cell.outputs or cell.execution_count):
            found.append(f"{where}: stores an output that nothing checks")
    return found


def update(paths: list[Path]) -> list[str]:
    """Execute notebooks whose execution is not up to date; store the outputs of tagged cells only.

    Returns what went wrong; then nothing is stored.
    """
    from executed_pages import refresh, with_outputs
    from publish import only_build

    root = BOOK.parent
    pages = {path.relative_to(root).with_suffix("").as_posix(): path for path in paths}
    with only_build(root / "_build"):
        failed = refresh(root, list(pages), JOBS)
        for page, path in [] if failed else pages.items():
            notebook = nbformat.read(path, as_version=4)
            kernel = notebook.metadata.kernelspec
            with_outputs(root, page, notebook)
            for cell in notebook.cells:
                if cell.cell_type == "code" and TAG not in cell.metadata.get("tags", []):
                    cell.outputs, cell.execution_count = [], None
            notebook.metadata = {"kernelspec": kernel}
            nbformat.write(notebook, path)
    return failed


def is_folded(cell: nbformat.NotebookNode) -> bool:
    """Say whether JupyterLab shows neither the code nor the output of a cell at first."""
    stored = cell.metadata.get("jupyter", {})
    return all(stored.get(name) == value for name, value in FOLDED.items())


def fold(path: Path) -> None:
    """Fold the cells of solutions in a notebook."""
    notebook = nbformat.read(path, as_version=4)
    loose = [cell for cell in solution_cells(notebook) if not is_folded(cell)]
    for cell in loose:
        cell.metadata["jupyter"] = {**cell.metadata.get("jupyter", {}), **FOLDED}
    if loose:
        nbformat.write(notebook, path)


def write_address(path: Path, address: str) -> None:
    """Write the repository's address into the setup cell, which then works on Colab."""
    notebook = nbformat.read(path, as_version=4)
    if setup_cell.fill(notebook, address):
        nbformat.write(notebook, path)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=["check", "update", "alone", "fold", "address"])
    parser.add_argument("names", nargs="*", help="notebooks; all of book/ if none is named")
    arguments = parser.parse_args()
    paths = [Path(name).resolve() for name in arguments.names] or chapters()
    if arguments.action == "update" and (failed := update(paths)):
        print("\n\n".join(failed))
        return 1
    if arguments.action == "alone":
        return alone.run(paths, BOOK.parent, JOBS)
    for path in paths if arguments.action == "fold" else ():
        fold(path)
    if arguments.action == "address":
        address = repository_url(BOOK)
        if address is None:
            print("this copy has no address: git remote add origin https://github.com/...")
            return 1
        for path in paths:
            write_address(path, address)
    found = [problem for path in paths for problem in problems(path)]
    print(
        "\n".join(found)
        if found
        else f"{len(paths)} notebooks: stored outputs and folds are in order"
    )
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
