"""What the tests of the live figures share: Node, a page with one figure, comparing with the twin.

The test of a figure NAME, tests/book/test_live_NAME.py, needs `same_everywhere` on at least 200
random states, and its own comparisons of the twin with the library. All that every figure must do
(waking moves nothing, handles, colours, keys, touch) is tested by tests/book/test_live.py.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from book.live.figure import HERE, markup, script

AXE = Path(__file__).parent / "browser" / "node_modules" / "axe-core" / "axe.min.js"
PAGE = """<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>A live figure</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="{folder}/live.css">
<style>
  html {{ --pst-color-text-base: #222832; --pst-color-background: #fff; --pst-color-border: #c9c9c9;
          --pst-color-primary: #0f5ccc; background: #fff; color: #222832; }}
  html[data-theme=dark] {{ --pst-color-text-base: #ced6dd; --pst-color-background: #14181e;
          --pst-color-border: #48566b; --pst-color-primary: #7aabf0;
          background: #14181e; color: #ced6dd; }}
  body {{ font: 16px sans-serif; margin: 8px; }}
</style>{scripts}</head>
<body><main><h1>A live figure</h1>{figure}<p style="height: 150vh">Below.</p></main></body></html>
"""
# Prints [result, view, handles] of each state; runs in Node and, without its ends, in a browser.
EACH = """states.map((state) => {
  const figure = mlbookLive.figures[NAME], before = JSON.stringify(state);
  const result = figure.compute(state);
  const handles = figure.handles ? figure.handles(state, result) : {};
  const found = JSON.stringify([result, figure.view(state, result), handles]);
  if (JSON.stringify(state) !== before) throw new Error("the state was changed");
  return found;
})"""
NODE = """
const fs = require("fs"), vm = require("vm");
for (const file of FILES) vm.runInThisContext(fs.readFileSync(file, "utf8"), { filename: file });
const states = JSON.parse(fs.readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(EACH));
"""


def first_state(name: str) -> dict[str, Any]:
    """Return the state a figure begins in."""
    state: dict[str, Any] = json.loads(json.dumps(import_module(f"book.live.{name}").first_state()))
    return state


def write_page(folder: Path, name: str, state: dict[str, Any] | None = None, *, woken: bool) -> str:
    """Write a page with one live figure; return its address. Unwoken, it has no script."""
    files = [f"{HERE.as_uri()}/{each}.js" for each in ("core", name, "wake")]
    scripts = "".join(f'<script defer src="{file}"></script>' for file in files * woken)
    figure = markup(name, first_state(name) if state is None else state)
    path = folder / f"{name}-{'awake' if woken else 'asleep'}.html"
    path.write_text(PAGE.format(folder=HERE.as_uri(), scripts=scripts, figure=figure))
    return path.as_uri()


def in_node(name: str, states: list[Any]) -> list[str]:
    """Return [result, view, handles] of each state as Node writes it."""
    node = shutil.which("node")
    if node is None:
        reason = "node is not there"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    files = json.dumps([str(HERE / f"{each}.js") for each in ("core", name)])
    program = NODE.replace("FILES", files).replace("EACH", EACH).replace("NAME", json.dumps(name))
    done = subprocess.run(
        [node, "-e", program], input=json.dumps(states), capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def in_browser(browser: Any, name: str, states: list[Any]) -> list[str]:
    """Return the same as Chromium writes it."""
    browser.get("data:text/html,<title>numbers</title>")
    return browser.execute_script(  # type: ignore[no-any-return]
        f"(0, eval)(arguments[0]); const NAME = arguments[1], states = arguments[2]; return {EACH}",
        script("core", name),
        name,
        states,
    )


def differences(ours: Any, theirs: Any, tolerance: float, where: str = "") -> Iterable[str]:
    """Yield the places in which two results differ; numbers inside texts may be rounded apart."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        if ours.keys() != theirs.keys():
            yield f"{where}: keys {sorted(ours.keys() ^ theirs.keys())} on one side only"
        for key in ours.keys() & theirs.keys():
            yield from differences(ours[key], theirs[key], tolerance, f"{where}.{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            yield from differences(a, b, tolerance, f"{where}[{i}]")
    elif isinstance(ours, str) and isinstance(theirs, str):
        number = r"-?\d+(?:\.\d+)?"
        pairs = [[float(n) for n in re.findall(number, text)] for text in (ours, theirs)]
        texts = [re.sub(number, "#", text) for text in (ours, theirs)]
        steps = [10.0 ** -len(n.partition(".")[2]) for n in re.findall(number, ours)]
        if texts[0] != texts[1] or any(
            abs(a - b) > 1.5 * step for a, b, step in zip(*pairs, steps, strict=True)
        ):
            yield f"{where}: {ours!r} and {theirs!r}"
    elif type(ours) is bool or type(theirs) is bool or ours is None or theirs is None:
        if ours is not theirs:
            yield f"{where}: {ours!r} and {theirs!r}"
    elif not (
        isinstance(ours, int | float)
        and isinstance(theirs, int | float)
        and abs(ours - theirs) <= tolerance * max(1.0, abs(ours))
    ):
        yield f"{where}: {ours!r:.80} and {theirs!r:.80}"


def same_everywhere(
    browser: Any,
    name: str,
    random_state: Callable[[np.random.Generator], dict[str, Any]],
    *,
    n: int = 200,
    tolerance: float = 1e-9,
) -> None:
    """Compare JavaScript (in Node and Chromium) and the twin on n random states.

    `random_state` makes one from a generator. Both `compute` and `view` are compared.
    """
    module = import_module(f"book.live.{name}")
    states = [random_state(np.random.default_rng(seed)) for seed in range(n)]
    states = json.loads(json.dumps(states))
    node = in_node(name, states)
    chromium = in_browser(browser, name, states)
    for seed, (state, written, again) in enumerate(zip(states, node, chromium, strict=True)):
        found = list(differences(json.loads(written), json.loads(again), tolerance))
        assert not found, f"seed {seed}, Node and Chromium: {found[:3]}"
        result, view, _ = json.loads(written)
        twin = module.compute(state)
        ours = json.loads(json.dumps([twin, module.view(state, twin)]))
        found = list(differences(ours, [result, view], tolerance))
        assert not found, f"seed {seed}: {found[:3]}"
