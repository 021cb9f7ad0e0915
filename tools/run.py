"""The project's commands, for every platform: python tools/run.py COMMAND.

`make COMMAND` calls this. Each command first makes the environment .venv, if needed.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import environment

ROOT = Path(__file__).resolve().parent.parent
JOBS = os.environ.get("JOBS", "2")
NODE = ROOT / "tests" / "book" / "browser"
PARALLEL = ("-n", JOBS, "--dist", "loadfile", "-p", "no:nbval")  # nbval loads Jupyter
BUILT = ("_build", "build", "dist", ".venv", ".venv-newest", f"{NODE}/node_modules")
CACHES = (".pytest_cache", ".ruff_cache", ".mypy_cache", ".hypothesis", "__pycache__")
COMMANDS: dict[str, Callable[[list[str]], None]] = {}


class Failed(Exception):
    """A step failed; its output says why."""


def command(function: Callable[[list[str]], None]) -> Callable[[list[str]], None]:
    """Add a function to the commands under its name."""
    COMMANDS[function.__name__.replace("_", "-")] = function
    return function


def step(title: str, *arguments: str, venv: str = ".venv", **settings: str) -> None:
    """Run Python in an environment, with these environment variables."""
    if title:
        print(f"== {title}", flush=True)
    python = environment.ensure(ROOT / venv, newest=venv != ".venv")
    if subprocess.run([str(python), *arguments], cwd=ROOT, env=os.environ | settings).returncode:
        raise Failed(title or " ".join(arguments))


def pytest(title: str, *arguments: str, venv: str = ".venv") -> None:
    """Run some of the tests, JOBS at once, each on one thread."""
    step(title, "-m", "pytest", "-q", *PARALLEL, *arguments, venv=venv, OMP_NUM_THREADS="1")


@command
def book(arguments: list[str]) -> None:
    """Build the book into _build/html and say where to open it."""
    step("", "tools/build_book.py", *arguments)


@command
def check(arguments: list[str]) -> None:
    """Style, types and quick tests of the library: a minute, for every change."""
    lint([])
    pytest(
        "quick tests of the library", "tests/library", "-m", "not slow and not browser", *arguments
    )


@command
def test(arguments: list[str]) -> None:
    """Run every check: style, types, library, book, pages in a browser, notebooks."""
    lint([])
    print("== the book", flush=True)
    book([])
    install_axe()
    gate = ("--cov=mlbook", "--cov-fail-under=95", "--doctest-modules")
    pytest("the library; its own tests cover 95% of it", "tests/library", "mlbook", *gate)
    pytest("the book, its pages and the tools", "tests/book", "tests/tools")
    step("every notebook, outside the repository, by nbval", "tools/notebooks.py", "alone")


@command
def test_newest(arguments: list[str]) -> None:
    """Run the library's tests on the newest numpy and scikit-learn."""
    title = "the library on the newest numpy and scikit-learn"
    pytest(title, "tests/library", *arguments, venv=".venv-newest")


@command
def lint(arguments: list[str]) -> None:
    """Check style and types only."""
    step("style", "-m", "ruff", "check", "--quiet", ".")
    step("", "-m", "ruff", "format", "--quiet", "--check", ".")
    step("", "-m", "ruff", "check", "--quiet", "--config", "tools/notebooks.toml", ".")
    step("", "-m", "ruff", "format", "--quiet", "--check", "--config", "tools/notebooks.toml", ".")
    step("types", "-m", "mypy")


@command
def format(arguments: list[str]) -> None:
    """Rewrite code and notebooks in the project's style."""
    for config in ((), ("--config", "tools/notebooks.toml")):
        step("", "-m", "ruff", "check", "--quiet", "--fix", *config, ".")
        step("", "-m", "ruff", "format", "--quiet", *config, ".")


@command
def install(arguments: list[str]) -> None:
    """Only make the environment .venv, which every other command does by itself."""
    print(f"{environment.ensure(ROOT / '.venv')} is ready")


@command
def lab(arguments: list[str]) -> None:
    """Open JupyterLab on the notebooks."""
    step("", "-m", "jupyter", "lab", "--notebook-dir=book", *arguments)


@command
def serve(arguments: list[str]) -> None:
    """Build the book and serve it on http://localhost:8000 (PORT=...)."""
    book([])
    port = int(os.environ.get("PORT", "8000"))
    pages = functools.partial(
        http.server.SimpleHTTPRequestHandler, directory=str(ROOT / "_build" / "html")
    )
    print(f"Open http://localhost:{port} (Ctrl-C to stop)", flush=True)
    http.server.ThreadingHTTPServer(("127.0.0.1", port), pages).serve_forever()


@command
def kit(arguments: list[str]) -> None:
    """Make the lecturer's kit: sheets without solutions, slides and PDFs in _build/kit."""
    book([])
    step("", "tools/kit.py", *arguments)


@command
def bench(arguments: list[str]) -> None:
    """Run the benchmarks: ratios against a bare NumPy call in the same run."""
    step("", "-m", "benchmarks", *arguments)


@command
def reproduce(arguments: list[str]) -> None:
    """Rerun the papers' tables and figures: all, or those named."""
    step("", "book/reproduction", "run", *arguments)


@command
def mutants(arguments: list[str]) -> None:
    """Alter what the equation index names, where it changed: its tests have to notice."""
    step("", "tools/mutants.py", *arguments, OMP_NUM_THREADS="1")


@command
def lock(arguments: list[str]) -> None:
    """Bring requirements.lock and the list of licences up to date."""
    step("", "tools/lock.py", *arguments)
    step("", "tools/licences.py")


@command
def wheels(arguments: list[str]) -> None:
    """Check that every platform and Python version finds a wheel of every package."""
    step("", "tools/wheels.py")


@command
def release(arguments: list[str]) -> None:
    """Build and check the packages of a release into dist/ (ARGS=v0.2.0); publish nothing."""
    step("", "tools/release.py", *arguments)
    pytest("the packages", "tests/tools/test_release.py")


@command
def clean(arguments: list[str]) -> None:
    """Remove everything that was built, installed or cached."""
    for name in BUILT:
        shutil.rmtree(ROOT / name, ignore_errors=True)
    for path in [p for name in CACHES for p in ROOT.rglob(name)]:
        shutil.rmtree(path, ignore_errors=True)
    for path in ROOT.glob(".coverage*"):
        path.unlink()


def install_axe() -> None:
    """Get axe-core, for the accessibility tests; they are skipped (in CI: fail) without it."""
    ready = NODE / "node_modules" / ".package-lock.json"
    if ready.exists():
        return
    npm = shutil.which("npm")
    if npm is None:
        print("npm is not installed: the accessibility of the pages is not tested", flush=True)
    elif subprocess.run([npm, "ci", "--silent", "--prefix", str(NODE)]).returncode:
        raise Failed("npm ci")


def main(arguments: list[str] | None = None) -> int:
    """Run one command; return its exit code."""
    names = "\n".join(
        f"  {name:12} {(function.__doc__ or '').splitlines()[0]}"
        for name, function in COMMANDS.items()
    )
    parser = argparse.ArgumentParser(
        prog="python tools/run.py",
        usage="%(prog)s COMMAND [arguments]   or: make COMMAND",
        description=f"mlbook: learning to cluster. Commands:\n{names}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", nargs="?", choices=COMMANDS, help=argparse.SUPPRESS)
    options, rest = parser.parse_known_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    try:
        COMMANDS[options.command](rest)
    except environment.EnvironmentFailure as failure:
        print(failure, file=sys.stderr)
        return 1
    except Failed as failed:
        print(f"Failed: {failed}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
