"""One convention of spread for all pages: standard error, divisor n − 1, number of runs."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from book import reproduction as experiments
from book.reproduction.runs import summarize
from book.spread import Mean, mean_and_spread, mean_of, stored_mean

BOOK = Path(__file__).resolve().parents[2] / "book"
# A spread of runs made by hand. A column of data may be scaled by its `.std(...)`.
STRAY = re.compile(r"\bddof\b|\bstdev\(|\bnp\.std\(|\bsem\(|std\(.*±|±.*std\(")
HERE = {  # where one is made on purpose
    "spread.py": "the one convention",
    "reproduction/runs.py": "stored results keep the standard deviation and the number of runs",
    "reproduction/segmentation_cuts.py": "σ over images, which the paper's Table 3 prints",
    "recipes/judging.ipynb": "what readers type, who have no book.spread",
}


def test_standard_error_has_divisor_n_minus_1():
    values = np.random.default_rng(0).normal(size=7)
    mean, error, n = mean_of(values)
    assert mean == pytest.approx(values.mean()) and n == 7
    assert error == pytest.approx(math.sqrt(((values - mean) ** 2).sum() / 6 / 7))
    assert mean_and_spread(values, 3) == f"{mean:.3f} ± {error:.3f} (7)"


def test_a_single_run_has_no_spread():
    assert math.isnan(mean_of([2.0]).error) and mean_and_spread([2.0], 1) == "2.0 (1)"
    assert stored_mean({"mean": 2.0, "sd": 0.0, "n": 1}).show(1) == "2.0 (1)"


def test_stored_results_and_values_agree():
    values = [0.1, 0.4, 0.25, 0.3]
    lines = [{"unit": {"row": "a", "seed": i}, "values": {"x": v}} for i, v in enumerate(values)]
    assert stored_mean(summarize(lines)["a"]["x"]) == pytest.approx(mean_of(values))


def test_every_stored_cell_is_that_of_its_runs():
    """The sd of all committed results has divisor n − 1, and n is the number of runs."""
    for name in experiments.EXPERIMENTS:
        result = experiments.load(name)
        if result:
            for row, cells in summarize(result["units"]).items():
                for key, cell in cells.items():
                    stored = result["summary"][row][key]
                    assert Mean(*stored_mean(stored)) == pytest.approx(
                        stored_mean(cell), nan_ok=True
                    ), (name, row, key)


def code_of(path: Path) -> str:
    if path.suffix == ".py":
        return path.read_text(encoding="utf-8")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")


@pytest.mark.parametrize(
    "line",
    ["np.std(x)", "x.std(ddof=0)", "stdev(x)", 'f"{x.mean():.1f} ± {x.std():.1f}"', "sem(x)"],
)
def test_a_spread_made_by_hand_is_found(line):
    assert STRAY.search(line) and not STRAY.search("X / X.std(axis=0)")


def test_no_page_makes_a_spread_of_its_own():
    stray = {
        f"{path.relative_to(BOOK)}: {line.strip()}"
        for path in (*BOOK.rglob("*.py"), *BOOK.rglob("*.ipynb"))
        if path.relative_to(BOOK).as_posix() not in HERE
        for line in code_of(path).splitlines()
        if STRAY.search(line)
    }
    assert not stray, "use book.spread: " + "; ".join(sorted(stray))
