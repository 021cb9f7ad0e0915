"""MLCA on Dask arrays, on a cluster of two worker processes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mlbook.mlca import MLCA, BinaryMLCA
from mlbook.partitions import partition_loss

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def rows(n=900, d=6, k=3, dtype=np.float64):
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, k, n))  # in order: most blocks lack a class
    return (rng.normal(size=(k, d))[y] * 2 + rng.normal(size=(n, d))).astype(dtype), y


@pytest.mark.slow
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_two_workers_give_the_result_of_one_array(client, dtype, fit_intercept):
    X, y = rows(dtype=dtype)
    expected = MLCA(fit_intercept=fit_intercept).fit(X, y)
    tolerance = 1e-12 if dtype == np.float64 else 1e-6
    # one block, many, a short one, some smaller than n_features, split columns
    for chunks in (900, (100, -1), (250, -1), ((4, 296, 600), -1), (100, 2)):
        found = MLCA(fit_intercept=fit_intercept).fit(da.from_array(X, chunks=chunks), y)
        assert found.components_.dtype == dtype
        assert_array_equal(found.class_count_, expected.class_count_)
        assert_allclose(found.components_, expected.components_, atol=tolerance)
        assert_allclose(found.intercept_, expected.intercept_, atol=tolerance)


def test_the_work_is_done_on_both_workers(client):
    X, y = rows()
    blocks = da.from_array(X, chunks=(30, -1)).map_blocks(count_block, meta=X[:0])
    MLCA().fit(blocks, y)
    counts = client.run(lambda dask_worker: getattr(dask_worker, "blocks_seen", 0))
    assert sorted(count > 0 for count in counts.values()) == [True, True]
    assert sum(counts.values()) == 30


def count_block(block):
    worker = distributed.get_worker()
    worker.blocks_seen = getattr(worker, "blocks_seen", 0) + 1
    return block


def test_labels_as_a_dask_array_in_other_chunks(client):
    X, y = rows()
    found = MLCA().fit(da.from_array(X, chunks=(200, -1)), da.from_array(y, chunks=170))
    assert_allclose(found.components_, MLCA().fit(X, y).components_, atol=1e-12)


def test_blocks_of_unknown_length(client):
    X, y = rows()
    Xd, yd = da.from_array(X, chunks=(200, -1)), da.from_array(y, chunks=200)
    keep = yd > 0  # leaves the first blocks empty
    found = MLCA().fit(Xd[keep], yd[keep])
    assert_allclose(found.components_, MLCA().fit(X[y > 0], y[y > 0]).components_, atol=1e-12)
    for labels in (y[y > 0], da.from_array(y[y > 0], chunks=100)):  # lengths are counted first
        other = MLCA().fit(Xd[keep], labels)
        assert_allclose(other.components_, found.components_, atol=1e-12)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        MLCA().fit(Xd[keep], y)


def test_ill_conditioned_rows_keep_their_accuracy(client):
    X, y = rows()
    X[:, 5] = X[:, 0] + 1e-6 * X[:, 5]
    reference = np.linalg.lstsq(X, np.eye(3)[y] / np.sqrt(np.bincount(y)), rcond=None)[0].T
    found = MLCA().fit(da.from_array(X, chunks=(100, -1)), y).components_
    assert np.linalg.norm(found - reference) < 1e-8 * np.linalg.norm(reference)


def test_streams_of_dask_arrays_and_two_classes(client):
    X, y = rows()
    stream = MLCA()
    for half in (slice(0, 500), slice(500, 900)):
        stream.partial_fit(da.from_array(X[half], chunks=(120, -1)), y[half], classes=[0, 1, 2])
    assert_allclose(stream.components_, MLCA().fit(X, y).components_, atol=1e-12)
    Xd = da.from_array(X, chunks=(120, -1))
    binary = BinaryMLCA(fit_intercept=True).fit(Xd, y > 0)
    plain = BinaryMLCA(fit_intercept=True).fit(X, y > 0)
    assert_allclose(binary.decision_function(Xd).compute(), plain.decision_function(X), atol=1e-12)
    assert_array_equal(binary.cluster(Xd), plain.cluster(X))


def test_transform_is_lazy_and_cluster_is_not(client):
    X, y = rows()
    mlca = MLCA(random_state=0).fit(X, y)
    Xd = da.from_array(X, chunks=(100, -1))
    lazy = mlca.transform(Xd)
    assert isinstance(lazy, da.Array)
    assert lazy.chunks[0] == Xd.chunks[0]
    assert_allclose(lazy.compute(), mlca.transform(X), atol=1e-12)
    assert_array_equal(mlca.cluster(Xd), mlca.cluster(X))


def test_refusals(client):
    X, y = rows()
    Xd = da.from_array(X, chunks=(100, -1))
    for labels in (y[:-1], da.from_array(y[:-1], chunks=100)):
        with pytest.raises(ValueError, match="inconsistent"):
            MLCA().fit(Xd, labels)
    with pytest.raises(ValueError, match="two-dimensional"):
        MLCA().fit(Xd[:, 0], y)
    with pytest.raises(ValueError, match="NaN"):
        MLCA().fit(da.where(Xd > 2, np.nan, Xd), y)
    with pytest.raises(ValueError, match="features"):
        MLCA().fit(X, y).transform(Xd[:, :3])


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A Parquet file of several row groups, as a Dask frame."""
    pd = pytest.importorskip("pandas")
    frames = pytest.importorskip("dask.dataframe")
    X, y = rows(n=4000)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(
        kind=np.array(["x", "y", "z"])[y], when=1
    )
    folder = tmp_path_factory.mktemp("parquet")
    for i in range(4):
        frame[1000 * i : 1000 * (i + 1)].to_parquet(folder / f"part{i}.parquet", row_group_size=300)
    return frame, frames.read_parquet(folder)


FEATURES = list("abcdef")


def test_frames_stay_lazy_and_keep_their_names(client, table, monkeypatch):
    frame, lazy = table
    expected = MLCA(fit_intercept=True).fit(frame[FEATURES], frame["kind"])
    monkeypatch.setattr(type(lazy), "compute", None)  # the frame as a whole is never computed
    found = MLCA(fit_intercept=True).fit(lazy[FEATURES], lazy["kind"])
    assert_allclose(found.components_, expected.components_, atol=1e-12)
    assert found.feature_names_in_.tolist() == FEATURES
    assert found.classes_.tolist() == ["x", "y", "z"]
    images = found.transform(lazy[FEATURES])
    assert isinstance(images, da.Array)
    assert_allclose(images.compute(), expected.transform(frame[FEATURES]), atol=1e-12)
    with pytest.raises(ValueError, match="feature names"):
        found.transform(lazy[FEATURES[::-1]])


@pytest.mark.filterwarnings("ignore:Dask currently has limited support")
def test_values_of_frames_and_labels_in_other_pieces(client, table):
    frame, lazy = table
    expected = MLCA().fit(frame[FEATURES].values, frame["kind"])
    codes = frame["kind"].to_numpy()
    whole = lazy[FEATURES].values
    for X, y in [
        (whole, lazy["kind"].values),
        (lazy[FEATURES].repartition(npartitions=2).values, lazy["kind"].values),
        (lazy[FEATURES], codes),
    ]:
        assert_allclose(MLCA().fit(X, y).components_, expected.components_, atol=1e-12)


def test_chunks_of_a_frame_and_balanced_classes(client, table):
    frame, lazy = table
    expected = MLCA(class_weight="balanced", fit_intercept=True).fit(frame[FEATURES], frame["kind"])
    found = MLCA(class_weight="balanced", fit_intercept=True).fit(lazy[FEATURES], lazy["kind"])
    assert_allclose(found.components_, expected.components_, atol=1e-12)
    stream = MLCA(shrinkage=0.2, fit_intercept=True)
    stream.partial_fit(lazy[FEATURES].partitions[:2], lazy["kind"].partitions[:2])
    stream.partial_fit(lazy[FEATURES].partitions[2:], lazy["kind"].partitions[2:])
    whole = MLCA(shrinkage=0.2, fit_intercept=True).fit(frame[FEATURES], frame["kind"])
    assert_allclose(stream.get_mahalanobis_matrix(), whole.get_mahalanobis_matrix(), rtol=1e-9)


@pytest.mark.equation("Law 2016, Eq. 18")
def test_classes_and_clusters_without_pulling_the_rows(client, table):
    frame, lazy = table
    model = MLCA(fit_intercept=True, random_state=0).fit(frame[FEATURES], frame["kind"])
    predicted = model.predict(lazy[FEATURES])
    assert isinstance(predicted, da.Array)
    assert (predicted.compute() == model.predict(frame[FEATURES])).all()
    clusters = model.cluster(lazy[FEATURES], named=True)
    assert isinstance(clusters, da.Array)
    assert (clusters.compute() == model.cluster(frame[FEATURES], named=True)).mean() > 0.99
    assert set(model.cluster(lazy[FEATURES], 2).compute()) == {0, 1}
    with pytest.raises(ValueError, match="n_clusters must be an integer"):
        model.cluster(lazy[FEATURES], 0)


def test_centres_are_found_on_rows_spread_over_the_blocks(client, monkeypatch):
    monkeypatch.setattr("mlbook.mlca.estimators.DASK_SAMPLE", 90)
    X, y = rows()
    model = MLCA(fit_intercept=True, random_state=0).fit(X, y)
    found = model.cluster(da.from_array(X, chunks=((50, 400, 450), -1))).compute()
    assert partition_loss(found, model.cluster(X)) < 0.5


def test_nan_in_a_block_is_refused_when_it_is_met(client):
    X, y = rows()
    model = MLCA().fit(X, y)
    X[700, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.transform(da.from_array(X, chunks=(200, -1))).compute()
