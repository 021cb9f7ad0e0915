"""Protocols of the experiments of Law 2017."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.io import savemat
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from book import reproduction as experiments
from book.reproduction import law2017
from book.reproduction import law2017_annotation as annotation
from book.reproduction import law2017_classifiers as classifiers
from book.reproduction import law2017_faces as faces
from book.reproduction import law2017_printed as printed
from mlbook.bags import Bags, average_precision, bag_distances, citation_knn_scores
from mlbook.datasets import (
    BAG_SIZE_COUNTS,
    BagData,
    WeakBags,
    load_letters,
    make_weak_bags,
)
from mlbook.mimlca import MIMLCA
from mlbook.mlca import MLCA

# Tiny data and few rounds, as the protocols say: these baselines need not converge.
pytestmark = [
    pytest.mark.filterwarnings("ignore:miml. the ratio still rises"),
    pytest.mark.filterwarnings("ignore:mildml. nearest instances still change"),
]

SMALL = tuple(sorted(faces.DATA["synthetic"].smoke.items()))


def a_unit(row="MIMLCA (b)", methods=faces.METHODS1, data="synthetic", seed=0, **changes):
    method, scenario = methods[row]
    unit = {"row": row, "seed": seed, "data": data, "method": method, "scenario": scenario}
    return unit | {"sizes": dict(faces.DATA[data].smoke), "n_pairs": 60} | changes


@pytest.fixture
def fold():
    return faces.draw_fold("synthetic", 0, SMALL)


# --- folds -----------------------------------------------------------------------------------


def test_every_bag_is_tested_in_one_fold():
    weak = make_weak_bags(**faces.DATA["synthetic"].smoke, random_state=0)
    seen = np.zeros(len(weak.offsets) - 1, dtype=int)
    for seed in range(classifiers.N_FOLDS):
        fold = faces.draw_fold("synthetic", seed, SMALL)
        rows = {tuple(x) for x in fold.bags.instances[:, :3]}
        train = [tuple(x) in rows for x in weak.instances[weak.offsets[:-1], :3]]
        seen += ~np.array(train)
        assert not rows & {tuple(x) for x in fold.X_test[:, :3]}
    assert np.all(seen == 1)


def test_test_instances_are_known_and_frequent(fold):
    counts = np.bincount(fold.y_test)
    assert fold.y_test.min() >= 0 and counts[counts > 0].min() >= 5
    weak = make_weak_bags(**faces.DATA["synthetic"].smoke, random_state=0)
    label = {tuple(x[:3]): c for x, c in zip(weak.instances, weak.labels, strict=True)}
    assert [label[tuple(x[:3])] for x in fold.X_test] == fold.y_test.tolist()
    assert [label[tuple(x[:3])] for x in fold.bags.instances] == fold.labels.tolist()


def test_scenario_a_has_the_known_instances_with_their_labels(fold):
    bags, Y = faces.known_instances(fold)
    known = fold.labels >= 0
    assert_array_equal(bags.instances, fold.bags.instances[known])
    assert_array_equal(Y.toarray().argmax(axis=1), fold.labels[known])
    assert np.all(bags.sizes == 1) and np.all(Y.sum(axis=1) == 1)
    model, _ = faces.fit_mimlca(fold, "a")
    plain = MLCA().fit(bags.instances, fold.labels[known])
    present = np.unique(fold.labels[known])
    assert_allclose(model.components_[present], plain.components_, atol=1e-8)


def test_faces_are_used_in_their_leading_singular_directions():
    rng = np.random.default_rng(0)
    bags = Bags(rng.normal(size=(40, 30)) * np.geomspace(1, 1e-3, 30), np.arange(0, 41, 2))
    Y = csr_array(rng.uniform(size=(20, 3)) < 0.6)
    test = rng.normal(size=(5, 30))
    whole = faces.Fold(bags, np.zeros(40, int), {"b": Y, "c": Y}, test, np.zeros(5, int), 6)
    low = faces.projected(whole)
    assert low.bags.instances.shape == (40, 6) and low.X_test.shape == (5, 6)
    s = np.linalg.svd(bags.instances, compute_uv=False)[:6]
    assert_allclose(np.linalg.svd(low.bags.instances, compute_uv=False), s)
    models = faces.fit_mimlca(whole, "b")[0], MIMLCA().fit(low.bags, Y)
    assert_array_equal(models[0].predict(test), models[1].predict(low.X_test))
    assert faces.projected(whole._replace(rank=None)).bags is bags


# --- Tables 1, 2, 3, 7 -----------------------------------------------------------------------


def test_euclidean_distance_to_the_means_of_the_true_categories(fold):
    known = fold.labels >= 0
    X, y = fold.bags.instances[known], fold.labels[known]
    means = {c: X[y == c].mean(axis=0) for c in set(y.tolist())}
    nearest = [min(means, key=lambda c: np.linalg.norm(x - means[c])) for x in fold.X_test]
    expected = faces.rates(fold.y_test, np.array(nearest))
    assert faces.run_table1(a_unit("Euclidean")) == pytest.approx(expected)
    assert 0 < expected["accuracy"] < 100


def test_euclidean_distance_to_the_nearest_instance(fold):
    known = fold.labels >= 0
    X, y = fold.bags.instances[known], fold.labels[known]
    nearest = [y[np.linalg.norm(X - x, axis=1).argmin()] for x in fold.X_test]
    values = faces.run_table2(a_unit("Euclidean", faces.METHODS2))
    assert values == pytest.approx(faces.rates(fold.y_test, np.array(nearest)))


@pytest.mark.parametrize("scenario", "bc")
def test_mimlca_gets_the_labels_of_its_scenario(fold, scenario):
    model = MIMLCA().fit(fold.bags, fold.Y[scenario])
    values = faces.run_table1(a_unit(f"MIMLCA ({scenario})"))
    expected = faces.rates(fold.y_test, model.predict(fold.X_test))
    assert {k: values[k] for k in expected} == pytest.approx(expected)
    wrong = np.isin(fold.labels, fold.y_test)
    share = np.mean(model.assignments_[wrong] != fold.labels[wrong])
    assert values["wrong"] == pytest.approx(100 * share)
    assert "time" not in values


def test_labels_of_the_scenarios_differ(fold):
    assert (fold.Y["b"] != fold.Y["c"]).nnz > 0


def test_miml_takes_the_number_of_components_that_does_best_on_the_test_data(fold, monkeypatch):
    unit = a_unit("MIML mended (b)")
    single = {}
    for r in (3, 15, 28):
        about = faces.DATA["synthetic"]._replace(miml=(r,))
        monkeypatch.setitem(faces.DATA, "synthetic", about)
        single[r] = faces.best_miml(fold, unit)[0]["accuracy"]
    monkeypatch.setitem(faces.DATA, "synthetic", about._replace(miml=(3, 15, 28)))
    assert faces.best_miml(fold, unit)[0]["accuracy"] == max(single.values())
    assert len(set(single.values())) > 1


def spy_on(name, monkeypatch):
    """Return a list to which every call of a function by the module adds its options."""
    calls, original = [], getattr(faces, name)

    def spy(*args, **options):
        calls.append(options)
        return original(*args, **options)

    monkeypatch.setattr(faces, name, spy)
    return calls


def test_appendix_and_mended_miml_are_told_apart(monkeypatch):
    calls = spy_on("miml", monkeypatch)
    for row in ("MIML (c)", "MIML mended (c)"):
        values = faces.run_table1(a_unit(row))
        assert values.keys() == {"accuracy", "precision", "time"}
    assert calls[0]["init"] == "random" and calls[0]["outside"] == "zero"
    assert "init" not in calls[-1]


def test_mildml_is_learned_once_for_both_tables(monkeypatch):
    faces.mildml_map.cache_clear()
    calls = spy_on("mildml", monkeypatch)
    monkeypatch.setattr(faces, "timed", lambda function: (function(), 1.0))
    first = faces.run_table1(a_unit("MildML (b)"))
    second = faces.run_table2(a_unit("MildML (b)", faces.METHODS2))
    assert len(calls) == 1 and calls[0]["n_pairs"] == 60
    assert first["time"] == 1.0 and second.keys() == {"accuracy", "precision"}


def test_table_3_is_equation_16_for_every_alpha(fold):
    values = faces.run_table3(a_unit("linear MIMLCA (c)", faces.METHODS3))
    model = MIMLCA().fit(fold.bags, fold.Y["c"])
    assert len(values) == 2 * len(faces.ALPHAS)
    for alpha in faces.ALPHAS:
        expected = faces.rates(fold.y_test, model.predict(fold.X_test, weight=alpha))
        assert values[f"accuracy{alpha:g}"] == pytest.approx(expected["accuracy"])
        assert values[f"precision{alpha:g}"] == pytest.approx(expected["precision"])


@pytest.mark.parametrize("scenario", "ab")
def test_the_kernel_model_gets_what_the_linear_one_assigned(scenario):
    row = "χ² MLCA (a)" if scenario == "a" else "χ² MIMLCA (b)"
    unit = a_unit(row, faces.METHODS3, data="digits")
    fold = faces.unit_fold(unit)
    labels = fold.labels
    if scenario == "b":
        labels = MIMLCA().fit(fold.bags, fold.Y["b"]).assignments_
        assert np.any(labels != fold.labels)
    some = labels >= 0
    Y = np.eye(8)[labels[some]]
    model = MIMLCA(kernel="chi2_rbf").fit(Bags(fold.bags.instances[some], range(some.sum() + 1)), Y)
    expected = faces.rates(fold.y_test, model.predict(fold.X_test, weight=0.5))
    assert faces.run_table3(unit)["accuracy0.5"] == pytest.approx(expected["accuracy"])


def test_bag_classifiers_classify_single_instances():
    """Digits are easy for most; the learned metrics of M-C2B collapse, which the page tells."""
    values = {
        row: faces.run_table7(a_unit(f"{row} (b)", faces.METHODS7, data="digits", n_pairs=500))
        for row in ("M-C2B", "C2B (Euclidean)", "MI-kernel", "MInD (minmin)", "Minimax MI-kernel")
    }
    assert min(values[row]["accuracy"] for row in ("C2B (Euclidean)", "MI-kernel")) > 70
    assert values["M-C2B"]["accuracy"] < 50
    assert all(found["time"] > 0 for found in values.values())


# --- Table 4 ---------------------------------------------------------------------------------


@pytest.fixture
def annotated(monkeypatch):
    """Forty bags of five features, one of them twice, one in other units; three labels."""
    rng = np.random.default_rng(0)
    Y = rng.uniform(size=(40, 3)) < 0.4
    Y[np.arange(40), np.arange(40) % 3] = True
    X = np.repeat(Y, 3, axis=0) * 2.0 + rng.normal(size=(120, 3))
    X = np.column_stack([X, X[:, 0], 1e6 + 1e5 * rng.normal(size=120)])
    data = BagData(X, np.arange(0, 121, 3), csr_array(Y), ("a", "b", "c"))
    for cached in (annotation._annotated, annotation.draw_split):
        cached.cache_clear()
    monkeypatch.setattr(annotation, "load_birds", lambda: data)
    monkeypatch.setattr(annotation, "load_corel5k", lambda subset: data)
    yield data
    for cached in (annotation._annotated, annotation.draw_split):
        cached.cache_clear()


def test_splits_are_standardised_on_the_training_bags(annotated):
    split = annotation.draw_split("birds", 0, 1)
    assert len(split.train) == 36 and len(split.test) == 4
    X = split.train.instances
    assert X.shape[1] == 4  # the feature that is there twice counts once
    assert_allclose(X.mean(axis=0), 0, atol=1e-8)
    assert_allclose(X.std(axis=0), 1)
    assert abs(split.test.instances).max() < 10
    whole = annotation.draw_split("corel5k", 0, 1)
    assert len(whole.train) == len(whole.test) == 40
    assert len(annotation.draw_split("corel5k-500", 0, 2).train) == 18


def test_labels_without_training_bag_are_left_out(annotated, monkeypatch):
    part = np.random.default_rng(0).permutation(40) % 10
    Y = annotated.Y.toarray()
    Y[:, 1] = part == 0
    Y[:, 0] |= ~Y.any(axis=1)
    monkeypatch.setattr(annotation, "load_birds", lambda: annotated._replace(Y=csr_array(Y)))
    split = annotation.draw_split("birds", 0, 1)
    assert split.Y.shape[1] == split.Y_test.shape[1] == 2
    assert_array_equal(split.Y_test.toarray(), Y[part == 0][:, [0, 2]])


def annotation_unit(row, data="birds"):
    method = annotation.ANNOTATION_ROWS[row]
    return {"row": row, "seed": 0, "data": data, "method": method, "every": 1, "n_pairs": 40}


@pytest.mark.parametrize("row", ["Citation-kNN (Euclidean)", "Citation-kNN (standardised)"])
def test_citation_knn_on_features_as_they_come_and_standardised(annotated, row):
    values = annotation.run_table4(annotation_unit(row))
    train, Y, test, Y_test = annotation.draw_split("birds", 0, 1)[:4]
    if row == "Citation-kNN (Euclidean)":
        part = np.random.default_rng(0).permutation(40) % 10
        whole = Bags(annotated.instances[:, [0, 1, 2, 4]], annotated.offsets)
        train, test = (whole[np.flatnonzero(chosen)] for chosen in (part != 0, part == 0))
    across, among = bag_distances(test, train), bag_distances(train, train)
    for r in annotation.VOTERS:
        scores = citation_knn_scores(across, among, Y, n_references=r, n_citers=r)
        assert values[f"ap{r}"] == pytest.approx(average_precision(Y_test, scores))
    assert "time" not in values


def test_citation_knn_under_a_learned_metric(annotated):
    values = annotation.run_table4(annotation_unit("MIMLCA"))
    train, Y, test, Y_test = annotation.draw_split("birds", 0, 1)[:4]
    M = MIMLCA().fit(train, Y).get_mahalanobis_matrix()
    across, among = bag_distances(test, train, metric=M), bag_distances(train, train, metric=M)
    scores = citation_knn_scores(across, among, Y)
    assert values["ap20"] == pytest.approx(average_precision(Y_test, scores))


@pytest.mark.parametrize("row", annotation.ANNOTATION_ROWS)
def test_every_row_of_table_4_runs_on_corel(annotated, row):
    values = annotation.run_table4(annotation_unit(row, "corel5k"))
    assert 0 < values["ap20"] <= 1 and 0 <= values["oe"] <= 1 and values["coverage"] >= 0
    if row == "MI-kernel":
        assert values["ap20"] > 0.8


# --- what is declared ------------------------------------------------------------------------


def test_letters_are_in_bags_of_the_papers_sizes_and_five_are_unknown():
    weak = faces.letters(every=4)
    sizes, letters = np.diff(weak.offsets), load_letters()[1][::4]
    assert len(weak.labels) == 5000 and weak.Y.shape[1] == 21
    assert np.sum(weak.labels < 0) == np.sum(letters > 20)
    assert_array_equal(np.bincount(weak.labels[weak.labels >= 0]), np.bincount(letters)[:21])
    expected = np.array(BAG_SIZE_COUNTS[:3]) / sum(BAG_SIZE_COUNTS)
    assert_allclose(np.bincount(sizes)[1:4] / len(sizes), expected, atol=0.02)


def test_labels_say_what_the_stand_ins_are():
    """The numbers of documents, categories and features in the labels are those of the data."""
    drawn = faces.DATA["synthetic"].load()
    occur = len(np.unique(drawn.labels[drawn.labels >= 0]))
    counts = (len(drawn.offsets) - 1, drawn.Y.shape[1], occur, drawn.instances.shape[1])
    label = "{} synthetic documents, {} categories of which {} occur, {} features".format(*counts)
    assert label in law2017.LABELS["synthetic"]
    digits = faces.DATA["digits"].load().instances
    assert f"scikit-learn's {len(digits)} digits" in law2017.LABELS["digits"]


def test_times_of_the_paper_are_multiples_of_mimlcas():
    numbers = printed.NUMBERS1
    assert numbers["MIML (b)"]["time"] == pytest.approx(17728 / 163)
    assert numbers["MildML (c)"]["time"] == pytest.approx(7520 / 180)
    assert numbers["MLCA (a)"]["time"] == pytest.approx(59 / 163)
    assert "time" not in numbers["MIMLCA (b)"] and "time" not in numbers["Euclidean"]
    assert printed.NUMBERS4["MIML"]["time"] == pytest.approx(884 / 24)
    assert printed.NUMBERS3["χ² MIMLCA (c)"]["precision1.2"] == "86.3 ± 2.4"


def test_full_runs_have_all_folds_but_where_the_note_says_so():
    few = {"MIML appendix": 1, "MIML": 3, "MildML": 3, "miSVM": 3, "EM-DD": 3, "MILBoost": 3}
    for name, experiment in experiments.EXPERIMENTS.items():
        if not name.startswith("law2017") or name.endswith(("corel5k", "nuisance", "features")):
            continue
        units = experiment.units("full")
        for row in {u["row"] for u in units}:
            folds = [u["seed"] for u in units if u["row"] == row]
            if len(folds) < 10:
                (method,) = {u["method"] for u in units if u["row"] == row}
                assert folds == list(range(few[method]))
                assert "folds only" in experiment.note
            else:
                assert folds == list(range(10))


def test_the_papers_faces_run_where_the_user_has_them(tmp_path, monkeypatch):
    """In files as the authors' programs read them, and with the folds of these files."""
    weak: WeakBags = make_weak_bags(300, 5, 12, n_identity=8, n_nuisance=2, random_state=1)
    sizes = np.diff(weak.offsets)
    names = np.zeros((len(weak.labels), 8), dtype=int)
    names[np.arange(len(names)), np.where(weak.labels < 0, 0, weak.labels + 3)] = 1
    content = {
        "face_desc": weak.instances.T + 20.0,
        "face_id": names,
        "face_idx": np.repeat(np.arange(300), sizes)[:, None] + 1,
        "doc_nameid": weak.Y_noisy.toarray(),
    }
    parts = np.arange(300) % 10
    (tmp_path / "yahoo_news").mkdir()
    savemat(tmp_path / "yahoo_news" / "lyn_train-test.mat", {"data": content})
    savemat(tmp_path / "yahoo_news" / "ten_fold_set.mat", {"fold_set_bags": parts + 1})
    monkeypatch.setenv("MLBOOK_DATA", str(tmp_path))
    for cached in (faces._load, faces.draw_fold, faces.mildml_map):
        cached.cache_clear()
    for table in (1, 2, 3):
        experiment = experiments.find(f"law2017-table{table}-yahoo")
        assert experiment.data == "same"
        result = experiments.run(experiment.id, "smoke")
        assert not result["skipped"]
        assert result["summary"].keys() == {u["row"] for u in experiment.units("smoke")}
    assert len(faces.draw_fold("yahoo", 3, ()).bags) == 270
    held_out = np.isin(np.repeat(np.arange(300), sizes), np.flatnonzero(parts == 3))
    train = faces.draw_fold("yahoo", 3, ()).bags.instances
    assert_allclose(train, weak.instances[~held_out] + 20.0)
    for cached in (faces._load, faces.draw_fold, faces.mildml_map):
        cached.cache_clear()


# --- Eq. 16 and the number of features -------------------------------------------------------


def test_features_are_those_of_mlca_by_both_rules():
    unit = faces.features_units("smoke")[0]
    values = faces.run_features(unit)
    fold = faces.unit_fold(unit)
    known = fold.labels >= 0
    model = MLCA().fit(fold.bags.instances[known], fold.labels[known])
    images, present = model.transform(fold.X_test), np.unique(fold.labels[known])
    means = np.array([fold.bags.instances[fold.labels == c].mean(axis=0) for c in present])
    means = model.transform(means)
    right = faces.rates(fold.y_test, present[cdist(images, means).argmin(axis=1)])
    assert values["centroid"] == pytest.approx(right["accuracy"])
    assert values["share"] == fold.bags.instances.shape[1] / known.sum() == 50 / known.sum()
    scores = images - 0.5 * np.sum(means**2, axis=1)
    right = faces.rates(fold.y_test, present[scores.argmax(axis=1)])
    assert values["accuracy0.5"] == pytest.approx(right["accuracy"])


# --- rules of voting, distances of bags, few images ------------------------------------------


def test_labels_by_frequency(annotated):
    values = annotation.run_table4(annotation_unit("Labels by frequency"))
    _, Y, _, Y_test = annotation.draw_split("birds", 0, 1)[:4]
    counts = np.asarray(Y.sum(axis=0)).ravel()
    assert values["ap20"] == pytest.approx(average_precision(Y_test, [counts] * Y_test.shape[0]))
    assert values.keys() == {"ap20", "oe", "coverage"}


def test_authors_votes_by_loops():
    """Each training bag cites its 20 nearest test bags; the more frequent of tied labels wins."""
    rng = np.random.default_rng(0)
    across = rng.uniform(size=(30, 50))
    Y = rng.uniform(size=(50, 6)) < [0.1, 0.5, 0.3, 0.3, 0.2, 0.6]
    scores = annotation.authors_scores(across, csr_array(Y))
    frequent = sorted(range(6), key=lambda c: -Y[:, c].sum())
    for i, row in enumerate(across):
        voters = list(np.argsort(row)[:20])
        voters += [j for j in range(50) if i in np.argsort(across[:, j])[:20]]
        votes = Y[voters].sum(axis=0)
        order = sorted(range(6), key=lambda c: (-votes[c], frequent.index(c)))
        assert np.argsort(-scores[i]).tolist() == order


@pytest.mark.parametrize("kind", ["minimal", "mean"])
def test_distances_of_bags_under_a_map(annotated, kind):
    split = annotation.draw_split("birds", 0, 1)
    components = np.random.default_rng(1).normal(size=(2, 4))
    across, among = annotation.metric_distances(split, components, kind)
    assert_allclose(among, among.T)
    E, F = (bags[3] @ components.T for bags in (split.test, split.train))
    D = cdist(E, F)
    expected = D.min()
    if kind == "mean":
        expected = np.mean(D.min(axis=1) ** 2) + np.mean(D.min(axis=0) ** 2)
    assert across[3, 3] == pytest.approx(expected)


def test_the_authors_metric_is_that_of_the_features_as_they_come(annotated, tmp_path, monkeypatch):
    """Distances are those of X L, with the feature that is there twice."""
    L = np.random.default_rng(2).normal(size=(5, 2))
    (tmp_path / "corel5k").mkdir()
    savemat(tmp_path / "corel5k" / "authors_metric.mat", {"L": L})
    monkeypatch.setenv("MLBOOK_DATA", str(tmp_path))
    split = annotation.draw_split("birds", 0, 1)
    components = annotation.annotation_metric("the authors' metric", split, {"seed": 0})
    part = np.random.default_rng(0).permutation(40) % 10
    raw = Bags(annotated.instances, annotated.offsets)[np.flatnonzero(part == 0)]
    ours = split.test.instances @ components.T
    assert_allclose(cdist(ours, ours), cdist(raw.instances @ L, raw.instances @ L), atol=1e-8)
    monkeypatch.setenv("MLBOOK_DATA", str(tmp_path / "corel5k"))
    with pytest.raises(FileNotFoundError, match="mimlca_metric_"):
        annotation.annotation_metric("the authors' metric", split, {"seed": 0})


def test_few_images_are_the_first_of_the_training_fold(annotated, monkeypatch):
    seen = []
    monkeypatch.setattr(annotation, "both_rules", lambda split, unit: seen.append(split) or {})
    annotation.run_curve({"seed": 0, "images": 10})
    whole = annotation.draw_split("corel5k-500", 0, 1)
    assert_array_equal(seen[0].train.instances, whole.train.instances[:30])
    assert_array_equal(seen[0].Y.toarray(), whole.Y.toarray()[:10])
    assert len(seen[0].test) == len(whole.test)


def test_both_rules_of_the_distances_are_those_of_table_4(annotated):
    unit = annotation.distance_units("book")[4]
    assert unit["row"] == "MIMLCA, minimal"
    values = annotation.run_distance(unit)
    table = annotation.run_table4(annotation_unit("MIMLCA", "corel5k-500"))
    assert values == pytest.approx({"ours": table["ap20"], "authors": table["authors"]})
