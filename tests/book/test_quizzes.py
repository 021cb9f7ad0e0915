"""The quizzes of the chapters: their numbers, and the claims behind their answers.

Every number in an answer, right or wrong, is computed again, by the library where it can be; a
number that nothing here computes fails a test.
"""

import itertools
import re
from math import comb, factorial, log10, sqrt

import numpy as np
import pytest
from scipy.optimize import brentq, linear_sum_assignment

pytest.importorskip("matplotlib")

from book.figures.comparison import population_ratios
from book.figures.scale import state_bytes
from book.quizzes import HERE
from book.quizzes.form import LETTERS
from book.quizzes.reader import Hint, Number, Question, read, read_numbers
from mlbook.exemplars import exemplar_bound, exemplar_energy, solve_exemplars_exact
from mlbook.kmeans import distortion, spectral_bound, trace_objective
from mlbook.large_margin import structured_hinge
from mlbook.mimlca import chi2_rbf_kernel, feasible_assignments, weak_kmeans
from mlbook.mlca import MLCA, worst_case_risk
from mlbook.ncuts import normalized_cut_value
from mlbook.partitions import normalized_assignment, partition_loss, rand_loss

pytestmark = pytest.mark.book

CHAPTERS = {path.stem: read(path) for path in sorted(HERE.glob("*.yml"))}
NUMBERS = {path.stem: read_numbers(path) for path in sorted(HERE.glob("*.yml"))}
NUMBER = r"−?\d+(?:\.\d+)?"


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_quiz_is_short_and_its_answers_cannot_be_guessed(name):
    questions = CHAPTERS[name]
    assert 4 <= len(questions) <= 6
    places = {[answer.right for answer in question.answers].index(True) for question in questions}
    assert len(places) > 1, "the same letter is always right"
    reasons = [answer.why for question in questions for answer in question.answers]
    assert len(set(reasons)) == len(reasons)


# --- numbers ---------------------------------------------------------------------------------

# For each answer that readers type in, by the label of the exercise, a function that computes its
# value or, if it has hints, the value and those of the hints in their order. The functions of a
# chapter stand below that of its quiz.
TYPED = {}


def answer(label):
    """Note the function that computes the answer of an exercise."""

    def note(function):
        assert label not in TYPED
        TYPED[label] = function
        return function

    return note


# For each chapter, by the first words of a question, the numbers of its answers by their letters.


def kmeans():
    x, labels = np.array([[0.0], [2.0], [7.0]]), [0, 0, 1]
    means = [np.mean([0, 2]), 7]
    yield (
        "The points 0, 2, 7",
        {
            "a": distortion(x, labels),
            "b": np.sum(np.square(means)),
            "c": trace_objective(x, labels),
            "d": np.sum(x**2),
        },
    )
    factor = distortion(x, labels, 4 * np.eye(1)) / distortion(x, labels)
    yield "The metric M is multiplied", {"b": sqrt(factor), "c": factor, "d": factor**2}
    found, bound = 100, 80
    yield "k-means ends", {"a": bound, "c": 1 - bound / found, "d": bound}
    X = np.random.default_rng(0).normal(size=(30, 2))
    yield "With 2 features", {"a": (X.shape[1], 1, np.linalg.matrix_rank(X - X.mean(axis=0)))}
    truth = np.repeat([0, 1, 2, 3], [1, 2, 3, 6])
    far = partition_loss(np.repeat(range(4), 4), np.tile(range(4), 4))
    yield (
        "There are four true clusters",
        {"b": partition_loss(truth, 0 * truth), "c": 4 + 1, "d": far},
    )


@answer("ex-hand")
def kmeans_trace():
    x, labels = np.array([[0.0], [2.0], [4.0], [9.0]]), [0, 0, 1, 1]
    means = [np.mean([0, 2]), np.mean([4, 9])]
    wrong = distortion(x, labels), np.sum(np.square(means)), trace_objective(x, [0, 0, 0, 1])
    return trace_objective(x, labels), *wrong


@answer("ex-largest")
def kmeans_largest():
    row, column = np.divmod(np.arange(12), 4)
    overlap = np.sum(normalized_assignment(row).T.dot(normalized_assignment(column)).toarray() ** 2)
    return partition_loss(row, column), 3 + 4, 3 + 4 - overlap


def mlca():
    y, rng = np.array([0, 0, 1, 1]), np.random.default_rng(0)
    blind = worst_case_risk(rng.normal(size=(4, 3)), np.zeros((3, 3)), y)
    yield "Four points, two classes", {"a": partition_loss(y, y), "b": 2 * 2 - 2, "c": blind}
    X, labels = rng.normal(size=(40, 5)), np.arange(40) % 3
    model = MLCA().fit(X, labels)
    residual = np.sum((model.transform(X) - normalized_assignment(labels).toarray()) ** 2)
    risk = worst_case_risk(X, model.get_mahalanobis_matrix(), labels)
    yield "After training", {"a": 0.3, "b": 0.3 * risk / residual, "c": 0}
    sizes = np.repeat([0, 1], [4, 100])
    J = normalized_assignment(sizes).toarray()
    yield (
        "A perfect fit",
        {
            "a": np.sum((np.eye(2)[0] - np.eye(2)[1]) ** 2),
            "b": len(sizes),
            "c": np.sum((J[0] - J[-1]) ** 2),
            "d": (J[0].max() - J[-1].max()) ** 2,
        },
    )
    centred = rng.normal(size=(30, 5))
    centred -= centred.mean(axis=0)
    rank = np.linalg.matrix_rank(MLCA().fit(centred, np.arange(30) % 3).components_)
    yield "You centre the data", {"a": 3, "b": rank}
    yield "In training and test data", {"a": 1}


@answer("mlca-ex-hand")
def mlca_by_hand():
    X = np.array([[1.0, -3, 5], [1, -1, -5], [1, 1, -5], [1, 3, 5]])
    J = normalized_assignment([0, 1, 1, 0]).toarray()
    scatter = np.sum((X.T @ J)[2] ** 2)
    M = MLCA().fit(X, [0, 1, 1, 0]).get_mahalanobis_matrix()
    plain = np.linalg.pinv(X) @ (J > 0)
    return M[2, 2], scatter, scatter / 100, (plain @ plain.T)[2, 2]


@answer("mlca-ex-noise")
def mlca_of_noise():
    n, d, k = 200, 100, 3
    C = np.eye(n)[:, :k] @ np.eye(n)[:k]  # any projector of rank k
    P = d / n * np.eye(n)  # the mean projector onto a random space of dimension d
    risk = 2 * k - 2 * np.trace(P @ C)
    far = partition_loss(np.repeat(range(k), k), np.tile(range(k), k))
    return risk, risk / 2, far


def latent_crf():
    D, v = np.array([[0.0, 1.0], [1.0, 0.0]]), [3.0, 3.0]
    yield "Somebody hands you", {"b": 90}
    best = solve_exemplars_exact(D, 3.0, random_state=0).energy
    yield "Two points at distance 1", {"a": exemplar_bound(D, 3.0, v), "b": best, "c": sum(v)}
    yield "Slave p goes", {"a": (0, 0.2), "c": 1}
    yield "Training ends", {"a": 40, "c": 2 * 20 * (1 - 1 / 12)}


@answer("crf-ex-certificate")
def highest_price():
    x = np.array([0.0, 1.0, 2.0, 9.0])
    D = (x[:, None] - x) ** 2
    single = D.sum(axis=0)
    two = exemplar_energy(D, [1, 3], 0.0)
    assert solve_exemplars_exact(D, 51.99, random_state=0).exemplars.tolist() == [1, 3]
    assert len(solve_exemplars_exact(D, 52.01, random_state=0).exemplars) == 1
    return single.min() - two, single[1] - two, single.min()


@answer("crf-ex-nearest")
def ways_in_a_cluster():
    x = np.array([0.0, 4.0, 5.0])
    costs = np.abs(x[:, None] - x).sum(axis=0)
    nearest = min(abs(0 - -1), abs(0 - 4)) + abs(5 - 4)
    return costs.min(), costs[2], nearest


def mimlca():
    ways = len(list(feasible_assignments([0, 3], np.array([[1, 1]]))))
    yield "A photograph shows", {"a": comb(3, 2), "b": ways, "c": 2**3, "d": 3**2}
    costs = np.array([[1.0, 2.0], [2.0, 6.0]])
    paid = costs[linear_sum_assignment(costs)].sum()
    greedy = costs[0, 0] + costs[1, 1]
    yield "Two instances", {"a": costs.min(axis=1).sum(), "b": paid, "c": greedy}
    alpha, ratio = 0.5, 100_000 / 1000
    yield (
        "A colleague",
        {
            "a": alpha / sqrt(ratio),
            "b": alpha,
            "c": alpha * sqrt(ratio),
            "d": alpha * ratio,
        },
    )


@answer("mi-ex-count")
def photographs():
    sizes, names = [3, 3, 2, 2], [[0, 1], [0, 2, 3], [1, 4], [3, 5]]
    Y = np.array([np.isin(range(6), own) for own in names]).astype(int)
    offsets = np.append(0, np.cumsum(sizes))
    alone = [len(list(feasible_assignments([0, n], Y[[i]]))) for i, n in enumerate(sizes)]
    chosen = np.prod([comb(n, min(n, len(own))) for n, own in zip(sizes, names, strict=True)])
    matched = np.prod([factorial(min(n, len(own))) for n, own in zip(sizes, names, strict=True)])
    return len(list(feasible_assignments(offsets, Y))), sum(alone), chosen, matched


@answer("mi-ex-alpha")
def nine_times():
    return 0.5 * sqrt(9), 0.5 * 9, 0.5, 0.5 / sqrt(9)


def change_points():
    x, cut = np.repeat([0.0, 2.0], [3, 6])[:, None], np.repeat([0, 1], [3, 6])
    gain = distortion(x, 0 * cut) - distortion(x, cut)
    yield "Two stretches", {"a": 2**2, "b": gain, "c": 9 * 2**2}
    first, second = -np.diff([10, 9, 1])
    yield "The least distortions", {"a": (first, second), "b": first}


def counted(n, allowed):
    """How many segmentations of n points are allowed."""
    cuts = itertools.product((0, 1), repeat=n - 1)
    return sum(map(allowed, (np.cumsum((0, *c)) for c in cuts)))


@answer("cp-ex-hand")
def _():
    x = np.array([[0.0], [4.0], [4.0]])
    one = distortion(x, [0, 0, 0])
    return one, distortion(x[:2], [0, 0]), 3 * one, one / 3


@answer("cp-ex-partial")
def _():
    def obeys(a):
        return a[0] == a[2] and a[2] != a[5]

    return (
        counted(7, obeys),
        counted(7, lambda a: a[0] == a[2]),
        counted(7, lambda a: obeys(a) and a[5] == a[6]),
        counted(7, lambda a: True),
    )


@answer("cp-ex-zero")
def _():
    y = np.repeat(range(5), [3, 1, 4, 2, 2])
    hinge = structured_hinge(np.ones((12, 1)), y, [0.0])
    return hinge, 2 * 5, 5 - 1, partition_loss(np.arange(12), y)


@answer("cp-ex-fibonacci")
def _():
    ways = [counted(n, lambda a: np.bincount(a).min() > 1) for n in (10, 11, 9)]
    return *ways, counted(10, lambda a: True)


@answer("cp-ex-bump")
def _():
    t = np.linspace(-12, 12, 20001)

    def mean(values, s):
        density = np.exp(-(t**2) / (2 * s**2)) / (s * np.sqrt(2 * np.pi))
        return np.sum(values * density) * (t[1] - t[0])

    bump = np.exp(-(t**2) / 2)
    jump = mean(bump, 1) - mean(bump, 3)
    variance = mean(bump**2, 1) - mean(bump, 1) ** 2
    ratio = jump / np.sqrt(variance)
    return ratio, jump, jump / variance, jump * np.pi**-0.25


def segmentation():
    rng, share, explained = np.random.default_rng(0), 0.05, 0.3
    scores = np.where(np.arange(1000) < share * 1000, 1.0, -1.0)
    fitted = least_squares_with(scores, explained, rng)
    yield "An object has 5%", {"a": fitted[scores > 0].mean(), "b": explained, "c": 1}
    mask = np.repeat([0, 1], [97, 3])
    rand, delta = rand_loss(mask, 0 * mask), partition_loss(mask, 0 * mask)
    yield "Three pixels", {"a": (3 / 100, 3 / 100), "b": (rand, delta), "c": (1 / 2, delta)}


@answer("seg-ex-eight")
def _():
    colours, fur = np.array([0.0, 0, 1, 3] * 2), [0, 0, 0, 1] * 2
    lit = np.repeat([1.0, 0], 4)

    def gap(light):
        X = np.column_stack([light * lit, colours])
        return distortion(X, fur) - distortion(X, lit.astype(int))

    light = brentq(gap, 0.1, 10)
    by_light = distortion(colours[:, None], lit.astype(int))
    by_fur = distortion(colours[:, None], fur)
    four_pixels = sqrt((by_light - by_fur) / (4 / 4))
    return light, light**2, four_pixels, sqrt(by_light / 2)


@answer("seg-ex-rocket")
def _():
    def of_the_object(share, explained=0.3):
        s = np.where(np.arange(10_000) < share * 10_000, 1.0, -1.0)
        return least_squares_with(s, explained, np.random.default_rng(0))[s > 0].mean()

    shares = np.arange(0.25, 0.32, 0.0005)
    share = shares[np.argmin([abs(of_the_object(share)) for share in shares])]
    exact = (1 - 2 * 0.3) / (2 - 2 * 0.3)
    assert abs(share - exact) < 0.001
    return exact, 1 - exact, 1 - 2 * 0.3


def normalized_cuts():
    W = np.diag([2.0, 1.0, 2.0], k=1)
    W, labels = W + W.T, [0, 0, 1, 1]
    ncut = normalized_cut_value(W, labels)
    cut, inside = W[:2, 2:].sum(), W[:2, :2].sum()
    yield "A path of four", {"a": ncut / 2, "b": ncut, "c": 2 * cut / inside, "d": cut}


@answer("seg-ex-hand")
def _():
    W = np.diag([1.0, 4, 2], k=1)
    first, second, third = (
        normalized_cut_value(W + W.T, np.arange(4) > place) for place in range(3)
    )
    assert min(second, third) > first and np.isclose(second, third)
    return first, 1 / 1, second


@answer("seg-ex-zero")
def _():
    W = np.ones((4, 4)) - np.eye(4)
    one, two = (normalized_cut_value(W, labels) for labels in ([0, 1, 1, 1], [0, 0, 1, 1]))
    assert np.isclose(one, two)
    return min(one, two), 2 * W[:2, 2:].sum() / W[:2, :2].sum(), 3 / 3, 4 / 6


def least_squares_with(target, explained, rng):
    """Fit `target` by a constant and a feature of which it explains just so much."""
    centred = target - target.mean()
    noise = rng.normal(size=len(target))
    basis = np.column_stack([np.ones_like(target), centred])
    noise -= basis @ np.linalg.lstsq(basis, noise, rcond=None)[0]
    noise *= np.linalg.norm(centred) / np.linalg.norm(noise)
    X = np.column_stack([np.ones_like(target), centred + noise * sqrt(1 / explained - 1)])
    return X @ np.linalg.lstsq(X, target, rcond=None)[0]


def comparison():
    ratio = {name: value for name, value, _ in population_ratios()}
    names = "RCA", "standardised", "LDA, KISSME, MLCA"
    yield (
        "In the worked example",
        {letter: ratio[n] for letter, n in zip("abc", names, strict=True)},
    )


def scale():
    d, k, n = 100, 10, 1_000_000
    yield (
        "A machine has digested",
        {
            "a": MLCA().fit(np.eye(d), np.arange(d) % k).components_.nbytes / 1e3,
            "b": state_bytes(d, k) / 1e3,
            "c": 8 * n * k / 1e6,
            "d": 8 * n * d / 1e6,
        },
    )
    digits, lost = 16, log10(1e6)
    squared, plain = digits - 2 * lost, digits - lost
    yield (
        "X has the condition number",
        {
            "a": (plain, plain),
            "b": (squared, plain),
            "c": (squared, digits),
        },
    )
    times = np.repeat([1.0, 5.0], [95, 5])
    yield "100 workers", {"a": 1 + 5 / 100, "b": times.mean(), "c": times.max() / times.min()}


COMPUTED = {
    chapter.__name__: dict(chapter())
    for chapter in (
        kmeans, mlca, latent_crf, mimlca, change_points, segmentation, normalized_cuts,
        comparison, scale,
    )
}  # fmt: skip


def numbers_of(question: Question, computed: dict[str, dict]) -> dict[str, list[float]]:
    """Return the computed numbers of a question by the letters of its answers."""
    (found,) = [
        values for start, values in computed.items() if question.text.startswith(start)
    ] or [{}]
    return {letter: list(np.atleast_1d(values)) for letter, values in found.items()}


def wrong_numbers(question: Question, computed: dict[str, list[float]]) -> list[str]:
    """Return the answers whose numbers are not the computed ones, as far as they are written."""
    faults = []
    for letter, answer in zip(LETTERS, question.answers, strict=False):
        shown = re.findall(NUMBER, answer.text)
        expected = computed.get(letter, [])
        if len(shown) != len(expected):
            faults.append(f"{letter}) {answer.text!r}: not every number is computed")
            continue
        for text, value in zip(shown, expected, strict=True):
            decimals = len(text.partition(".")[2])
            if f"{value:.{decimals}f}".replace("-", "−") != text:
                faults.append(f"{letter}) {answer.text!r}: {value} was computed")
    return faults


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_number_in_an_answer_is_computed_again(name):
    for question in CHAPTERS[name]:
        assert wrong_numbers(question, numbers_of(question, COMPUTED[name])) == []


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_computed_number_belongs_to_a_question(name):
    texts = [question.text for question in CHAPTERS[name]]
    assert all(any(text.startswith(start) for text in texts) for start in COMPUTED[name])


def test_wrong_and_unchecked_numbers_are_seen():
    question = CHAPTERS["kmeans"][0]
    computed = numbers_of(question, COMPUTED["kmeans"])
    assert "51.4 was" not in str(wrong_numbers(question, computed))
    assert "52.4 was computed" in wrong_numbers(question, computed | {"c": [52.4]})[0]
    assert "not every number" in wrong_numbers(question, computed | {"c": []})[0]


@pytest.mark.parametrize("name", NUMBERS)
def test_every_answer_that_readers_type_in_is_computed_again(name):
    for label, number in NUMBERS[name].items():
        assert label in TYPED, "write a function with @answer(label) that computes it"
        assert wrong_values(number, TYPED[label]()) == []


def wrong_values(number, computed):
    """Return the values, of an answer or of its hints, that are not the computed ones."""
    found = list(np.atleast_1d(computed))
    stored = [number.value, *(hint.value for hint in number.hints)]
    if len(found) != len(stored):
        return [f"{number.label}: {len(stored)} values, {len(found)} are computed"]
    return [
        f"{number.label}: {value} is stored, {true} was computed"
        for value, true in zip(stored, found, strict=True)
        if not number.accepts(value, true)
    ]


def test_every_computed_answer_is_asked_for_on_its_page():
    labels = [label for numbers in NUMBERS.values() for label in numbers]
    assert sorted(labels) == sorted(TYPED)
    for name, numbers in NUMBERS.items():
        text = (HERE.parent / f"{name}.ipynb").read_text()
        assert sorted(re.findall(r"```\{answer\} ([\w-]+)", text)) == sorted(numbers)
        assert [label for label in numbers if f":label: {label}\\n" not in text] == []


def test_wrong_and_unchecked_values_are_seen():
    number = Number("ex-two", "1 + 1?", 2.0, 0.1, "", (Hint(11.0, "You glued them."),))
    assert wrong_values(number, (2.05, 11)) == []
    assert wrong_values(number, (2.2, 11)) == ["ex-two: 2.0 is stored, 2.2 was computed"]
    assert wrong_values(number, (2, 12)) == ["ex-two: 11.0 is stored, 12 was computed"]
    assert wrong_values(number, 2) == ["ex-two: 2 values, 1 are computed"]


def right(name: str, start: str) -> str:
    """The right answer to the question that begins so."""
    (question,) = [q for q in CHAPTERS[name] if q.text.startswith(start)]
    (answer,) = [answer for answer in question.answers if answer.right]
    return answer.text


@pytest.mark.parametrize(
    "name, start, number",
    [
        ("kmeans", "The points 0, 2, 7", 2 * 1**2 + 1 * 7**2),
        ("kmeans", "The metric M is multiplied", 4),
        ("kmeans", "There are four true clusters", 4 + 1 - 2),
        ("mlca", "Four points, two classes", 2 * 2),
        ("mlca", "After training", 2 * 0.3),
        ("mlca", "A perfect fit", 1 / 4 + 1 / 100),
        ("mlca", "You centre the data", 3 - 1),
        ("latent_crf", "Two points at distance 1", 6 - 2 - 2),
        ("latent_crf", "Training ends", 36.7),
        ("mimlca", "A photograph shows", 3 * 2),
        ("mimlca", "Two instances", 2 + 2),
        ("mimlca", "A colleague", 5),
        ("change_points", "Two stretches", 3 * 6 / 9 * 2**2),
        ("normalized_cuts", "A path of four", 1 / 5 + 1 / 5),
        ("segmentation", "An object has 5%", -0.33),
        ("segmentation", "Three pixels", 0.06),
        ("comparison", "In the worked example", round(24 / 18, 2)),
        ("scale", "A machine has digested", 88),
    ],
)
def test_numbers_are_those_found_by_hand(name, start, number):
    shown = re.search(NUMBER, right(name, start))
    assert float(shown[0].replace("−", "-")) == pytest.approx(number)


# --- claims that the answers make ------------------------------------------------------------


def test_a_shift_changes_the_trace_and_not_the_distortion():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(9, 2)), np.arange(9) % 3
    assert distortion(X + 5, labels) == pytest.approx(distortion(X, labels))
    assert trace_objective(X + 5, labels) > trace_objective(X, labels) + 1
    assert right("kmeans", "All points are moved").startswith("only the trace")


def test_the_bound_says_nothing_for_two_features_and_three_clusters():
    assert spectral_bound(np.random.default_rng(0).normal(size=(30, 2)), 3) == 0


def test_units_do_not_move_the_points_of_mlca():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.arange(30) % 3
    grams = X * [1000, 1, 1, 1]
    assert np.allclose(MLCA().fit(X, y).transform(X), MLCA().fit(grams, y).transform(grams))


def test_a_higher_price_never_means_more_exemplars():
    rng = np.random.default_rng(0)
    sets = [Q for k in range(1, 6) for Q in itertools.combinations(range(5), k)]
    for D in rng.uniform(size=(20, 5, 5)):
        numbers = [
            len(min(sets, key=lambda Q, f=f, D=D: exemplar_energy(D, list(Q), f)))
            for f in np.linspace(0, 2, 15)
        ]
        assert numbers == sorted(numbers, reverse=True) and len(set(numbers)) > 1


def test_an_invertible_kernel_stops_every_start_at_the_same_objective():
    rng = np.random.default_rng(0)
    U = np.linalg.eigh(chi2_rbf_kernel(*[rng.random((12, 3))] * 2))[1]
    offsets, Y = [0, 3, 6, 9, 12], np.ones((4, 3), dtype=int)
    found = [weak_kmeans(U, offsets, Y, init="random", random_state=s) for s in range(5)]
    assert {round(f.objective_path[-1], 9) for f in found} == {12 - 3}
    assert len({tuple(f.assignments) for f in found}) > 1


def test_no_price_gives_two_segments():
    path = np.array([10, 9, 1])
    prices = np.linspace(0, 20, 2001)[:, None]
    assert set(np.argmin(path + prices * [1, 2, 3], axis=1) + 1) == {1, 3}
    assert right("change_points", "The least distortions") == "none"


def test_answers_merge_by_luck_only():
    """Equal Gram matrices and class sizes are such luck; equal class sizes alone are not."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), np.arange(12) % 2

    def multiple(first, second):
        mean = (MLCA().fit(first, y).components_ + MLCA().fit(second, y).components_) / 2
        whole = MLCA().fit(np.vstack([first, second]), np.tile(y, 2)).components_
        return np.allclose(mean / np.linalg.norm(mean), whole / np.linalg.norm(whole))

    turned = np.linalg.qr(rng.normal(size=(12, 12)))[0] @ X
    assert multiple(X, turned) and not multiple(X, rng.normal(size=(12, 3)))
    assert right("scale", "Two machines") == "only by luck"
