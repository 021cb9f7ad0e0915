"""Relabel by clicking: the twins agree, and the losses are those of the library."""

from __future__ import annotations

import json
import subprocess
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from live_harness import HERE, same_everywhere, write_page

from mlbook.partitions import f_measure, hausdorff_distance, partition_loss, rand_loss

twin = import_module("book.live.relabel")


def random_state(rng: np.random.Generator) -> dict[str, Any]:
    """Draw runs or any groups, so that the Hausdorff distance is defined for half of them."""
    n = int(rng.integers(4, 31))
    groups = rng.integers([2, 1], [4, 6])
    truth, found = (
        np.append(np.arange(min(k, n)), rng.integers(k, size=n))[:n].astype(int) for k in groups
    )
    if rng.random() < 0.7:
        truth.sort()
    if rng.random() < 0.7:
        found.sort()
    state: dict[str, Any] = twin.first_state(truth, found)
    return state


@pytest.mark.browser
def test_parity(browser: Any) -> None:
    same_everywhere(browser, "relabel", random_state, n=300)


def test_the_losses_are_those_of_the_library() -> None:
    defined = []
    for seed in range(300):
        state = random_state(np.random.default_rng(seed))
        both = state["truth"], state["found"]
        result = twin.compute(state)
        assert result["delta"] == pytest.approx(partition_loss(*both), abs=1e-12)
        assert result["rand"] == rand_loss(*both)
        assert result["f"] == f_measure(*both)
        try:
            theirs = hausdorff_distance(*both)
        except ValueError:
            theirs = None
        assert result["hausdorff"] == theirs
        defined.append(theirs is not None)
    assert 60 < sum(defined) < 240


def test_the_line_under_the_points_is_the_distance() -> None:
    """What is drawn dashed goes from a frontier of one grouping to the nearest of the other."""
    for seed in range(100):
        state = random_state(np.random.default_rng(seed))
        gap = twin.compute(state)["gap"]
        if gap is None or gap["off"] == 0:
            continue
        cuts = [set(np.flatnonzero(np.diff(state[name])) + 1) for name in ("truth", "found")]
        here, there = cuts if gap["from"] in cuts[0] and gap["to"] in cuts[1] else cuts[::-1]
        assert gap["from"] in here and gap["to"] in there
        assert min(abs(gap["from"] - cut) for cut in there) == gap["off"]


def test_what_the_buttons_show() -> None:
    """Each case is what its button says, and some loss is blind to it."""
    state = twin.first_state()
    assert state["cases"].keys() == twin.CASES.keys()
    results = {
        name: twin.compute(state | {"found": found}) for name, found in state["cases"].items()
    }
    swapped = results["swapped"]
    assert (swapped["delta"], swapped["rand"], swapped["f"], swapped["hausdorff"]) == (0, 0, 1, 0)
    for one in ("small", "large", "last"):
        assert results[one]["delta"] == pytest.approx(1)
        assert results[one]["groups"] == [3, 4]
    assert results["small"]["differ"] == 1
    assert results["large"]["differ"] == 16
    assert results["both"]["delta"] > 1.5
    assert results["both"]["hausdorff"] == results["last"]["hausdorff"] == 7 / 15


def test_clicks_go_round_all_groups_and_one_more() -> None:
    program = """
const fs = require("fs"), vm = require("vm"), [core, file] = JSON.parse(fs.readFileSync(0));
for (const each of [core, file]) vm.runInThisContext(fs.readFileSync(each, "utf8"));
let state = { truth: [0, 0, 1, 1], found: [0, 0, 1, 1] };
const seen = [0, 1, 2, 3, 4].map(() => {
  state = mlbookLive.figures.relabel.press(state, "points", 1);
  return state.found;
});
process.stdout.write(JSON.stringify(seen));
"""
    files = json.dumps([str(HERE / f"{name}.js") for name in ("core", "relabel")])
    done = subprocess.run(
        ["node", "-e", program], input=files, capture_output=True, text=True, check=True
    )
    assert [found[1] for found in json.loads(done.stdout)] == [1, 2, 0, 1, 2]


@pytest.mark.browser
@pytest.mark.parametrize("tremble", [0, 6])
def test_a_finger_that_trembles_relabels(browser: Any, tmp_path: Path, tremble: int) -> None:
    browser.get(write_page(tmp_path, "relabel", woken=True))
    where = "const box = document.querySelector('[data-part=point-3]').getBoundingClientRect();"
    x, y = browser.execute_script(f"{where} return [box.x + box.width / 2, box.y + box.height / 2]")
    for kind, points in (
        ("touchStart", [{"x": x, "y": y}]),
        ("touchMove", [{"x": x, "y": y + tremble}]),
        ("touchEnd", []),
    ):
        event = {"type": kind, "touchPoints": points}
        browser.execute_cdp_cmd("Input.dispatchTouchEvent", event)
    state = "return document.querySelector('figure.mlbook-live').mlbookLive.state.found"
    assert browser.execute_script(state) == [0, 0, 1, 2, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]


@pytest.mark.browser
def test_arrows_choose_a_point_and_enter_relabels_it(browser: Any, tmp_path: Path) -> None:
    browser.get(write_page(tmp_path, "relabel", woken=True))
    row = browser.find_element("css selector", "[data-group=points]")
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "Enter"):
        browser.execute_script("arguments[0].focus()", row)
        for kind in ("keyDown", "keyUp"):
            browser.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": kind, "key": key})
    assert row.get_attribute("aria-valuetext").startswith("point 2, true group 1, found in group 2")
    state = "return document.querySelector('figure.mlbook-live').mlbookLive.state.found"
    assert browser.execute_script(state)[:3] == [0, 1, 1]


def test_own_labels() -> None:
    state = twin.first_state([5, 5, 7, 7, 7], [1, 2, 2, 2, 2])
    assert (state["truth"], state["found"]) == ([0, 0, 1, 1, 1], [0, 1, 1, 1, 1])
    with pytest.raises(ValueError, match="2 or 3 groups; got 5 in 1"):
        twin.relabel([0] * 5)
    with pytest.raises(ValueError, match="15 points in at most 5 groups; got 3 in 2"):
        twin.relabel(found=[0, 0, 1])
