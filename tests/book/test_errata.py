"""The errata: what is printed fails, what is said to be right passes, and the page agrees."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("matplotlib")
from enumeration import all_partitions, all_segmentations

from book import errata
from mlbook.partitions import equivalence_matrix, hausdorff_distance, partition_loss

PAGE = Path(__file__).resolve().parents[2] / "book" / "errata.ipynb"


def headings(path: Path) -> list[str]:
    cells = json.loads(path.read_text())["cells"]
    text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    return re.findall(r"^#+ (.*)$", text, re.M)


def test_page_and_list_agree():
    """Every item has its heading, label and kind on the page, in the order of the list."""
    cells = json.loads(PAGE.read_text())["cells"]
    text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    found = re.findall(r"^\(err-([\w-]+)\)=\n### (.*)\n\n\*\*(.*?)\*\* · ", text, re.M)
    listed = [item for items in errata.FINDINGS.values() for item in items]
    assert found == [(item.label, item.what, item.kind) for item in listed]
    assert {item.kind for item in listed} == set(errata.KINDS)


def test_every_item_is_followed_by_a_checked_cell():
    cells = json.loads(PAGE.read_text())["cells"]
    for cell, following in zip(cells, [*cells[1:], None], strict=True):
        if "(err-" in "".join(cell["source"]) and cell["cell_type"] == "markdown":
            assert following is not None and following["cell_type"] == "code"
            assert "nbval-check-output" in following["metadata"]["tags"]


def test_items_that_state_a_result_have_a_claim():
    """All but four, whose statements are a size, a count or the library's own message."""
    cells = json.loads(PAGE.read_text())["cells"]
    label, without = "", set()
    for cell in cells:
        if found := re.findall(r"^\(err-([\w-]+)\)=", "".join(cell["source"]), re.M):
            label = found[-1]
            without.add(label)
        if "claim" in cell["metadata"].get("tags", []):
            without.discard(label)
    assert without == {"side", "linear", "sizes", "frontier"}


def test_sections_exist():
    """A heading that another page no longer has would break a link."""
    for items in errata.FINDINGS.values():
        for item in items:
            target = PAGE.parent / item.page
            assert target.is_file(), item
            if item.section:
                assert item.section in headings(target), item


@pytest.mark.book
def test_links_lead_to_sections_of_the_built_book():
    html = PAGE.parent.parent / "_build" / "html" / "book"
    if not (html / "errata.html").is_file():
        pytest.skip("the book is not built: run `make book` first")
    for item in sum(errata.FINDINGS.values(), ()):
        page, _, anchor = errata.address(item).partition("#")
        assert f'id="{anchor}"' in (html / page).read_text() if anchor else (html / page).is_file()


def test_summary_and_counts():
    header, rows = errata.summary()
    assert {len(row) for row in rows} == {len(header)}
    assert sum(map(sum, (row[1:] for row in errata.counts()[1]))) == len(rows) - 4
    assert ["[api/bags](api/bags.html)" in row[-1] for row in rows].count(True) == 1


def test_second_case_is_the_one_left_out_and_the_theorem_holds_there():
    found = errata.second_case(200, seed=1)
    assert found["rank(PCP)"] < found["k"] < found["rank(X)"] == found["rank as printed"]
    assert found["excess"] > -1e-9


def test_slaves():
    found = errata.slave_mistakes(100, seed=1)
    assert found["printed, infeasible"] > 0
    assert found["completed, infeasible"] == found["completed, wrong"] == 0


def test_stochastic_step_regularizes_k_times():
    for n_sets in (1, 4):
        assert_allclose(errata.stochastic_excess(n_sets, tau=0.3, seed=2), n_sets - 1)


def test_algorithm_1_of_law_2017_is_local():
    once, often = errata.best_found(12, seed=1), errata.best_found(12, n_starts=20, seed=1)
    assert once < often <= 12


def test_a_start_from_all_candidates_is_better_than_a_random_one():
    assert errata.best_found(60, seed=2) < errata.best_found(60, seed=2, init="weighted") < 60


def test_toy_data_of_law_2016():
    risks, weights = errata.optimal_metrics(3)
    assert_allclose(risks, 0, atol=1e-9)
    assert (weights > 0.1).all()
    same, ratios = errata.spectral_step(3)
    assert all(same) and max(ratios) < 1e-9
    alone, ones = errata.signs_right(3).T
    assert (alone < ones - 0.2).all()


def test_law_2017_on_draws():
    assert {(linear == n, chi2) for n, linear, chi2 in errata.kernel_values(3)} == {(True, 1)}
    plain, noisy, cut = errata.noise_errors(2).T
    assert (noisy > 2 * plain).all() and (cut < plain + 0.02).all()
    assert min(errata.singular_disagreement(3)) > 0.1
    changed = errata.copies(3)
    assert (changed[:, 1] == 0).all() and changed[:, 0].any()


def test_lajugie_2014_on_draws():
    printed, mended = errata.chi2_forms(4).T
    assert mended.max() < 1e-9 < printed.min()
    printed, mended = errata.flow_errors(4).T
    assert mended.max() < 1e-9 < printed.max()
    assert errata.own_segments(3) == [6, 6, 6]
    for predicted, worst, hinge, within in errata.violated(3):
        assert predicted == 2 and worst == 20 and hinge >= within - 1e-9


def test_sum_in_the_listing():
    rng = np.random.default_rng(3)
    Z, moved = rng.normal(size=(2, 3, 5))
    printed, mended, true = errata.kept_sum(Z, moved)
    assert_allclose(mended, true)
    assert_allclose(true, np.sum(moved.sum(axis=1) ** 2))
    assert_allclose(printed - true, np.sum(moved**2) - np.sum(Z**2))
    assert abs(printed - true) > 0.1


def test_dynamic_program():
    printed, ours = errata.program_mistakes(60, seed=1)
    assert printed > 30 and ours == 0


def test_normalized_cuts():
    printed, weighted = errata.cut_mistakes(25, n=5, seed=1)
    assert printed > 0 and weighted == 0


def test_flows_on_all_pairs_of_the_same_size():
    every = [p for p in all_partitions(5) if p.max() == 2]
    wrong = 0
    for P in every:
        for Q in every:
            true = partition_loss(P, Q)
            assert_allclose(errata.loss_from_flows(P, Q, -1), true, atol=1e-12)
            wrong += not np.isclose(errata.loss_from_flows(P, Q, 1), true)
    assert wrong > len(every)


def test_theorem_2_by_other_means():
    """The counts again, with the library's loss and distance instead of matrices."""
    n = 6
    found = errata.theorem_2(n)
    first = normalized = second = 0
    every = [labels for labels in all_segmentations(n) if labels.max()]
    for P in every:
        for Q in every:
            if np.array_equal(P, Q):
                continue
            second += 1
            eps, p = n * hausdorff_distance(P, Q), np.bincount(P)
            if P.max() == Q.max() and eps < p.min() / 2:
                first += 1
                normalized += partition_loss(P, Q) / n < eps / p.max()
    assert first == normalized > 0
    assert [*found.values()] == [first, 0, 0, normalized, second, 0]


def test_hermite_functions():
    assert_allclose(errata.hermite_overlap(2, 4, 2**0.5), 0, atol=1e-7)
    assert_allclose(errata.hermite_overlap(2, 2, 1.0), 1)
    x = np.linspace(-12, 12, 4001)
    f, g = x * np.exp(-(x**2) / 2), (x**3 - 3 * x) * np.exp(-(x**2) / 2)
    assert_allclose(
        errata.hermite_overlap(1, 3, 1.0), f @ g / np.sqrt((f @ f) * (g @ g)), rtol=1e-6
    )


def test_projectors_without_negative_entries():
    """The condition that the paper omits is all that is missing, on every partition of 4 points."""
    v = np.array([1.0, 2.0]) / np.sqrt(5)
    C = np.outer(v, v)
    assert_allclose(C @ C, C)
    assert C.min() > 0 and not np.allclose(C.sum(axis=1), 1)
    for labels in all_partitions(4):
        assert_allclose(equivalence_matrix(labels).sum(axis=1), 1)
