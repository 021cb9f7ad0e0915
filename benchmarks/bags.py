"""Weakly labelled bags, by features and by kernels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import eigsh
from sklearn.metrics.pairwise import rbf_kernel

from benchmarks.case import Bar, Benchmark, Size
from mlbook.bags import Bags
from mlbook.datasets import make_weak_bags
from mlbook.mimlca import MIMLCA

FACES = (27_856, 1000)  # as many as in the training documents of Law 2017, and fewer features
N_BAGS, N_NAMES = 18_064, 5873
RANK = 100


@dataclass(frozen=True)
class Documents:
    """Bags and their candidate labels."""

    bags: Bags
    Y: csr_array

    @property
    def nbytes(self) -> int:
        """Size of the instances."""
        return self.bags.instances.nbytes


def make_documents(n: int, d: int) -> Documents:
    """Draw about n faces in documents; of the size of the paper, exactly as many."""
    n_bags, n_names = (round(n * count / FACES[0]) for count in (N_BAGS, N_NAMES))
    data = make_weak_bags(n_bags, n_names, d, random_state=0)
    return Documents(Bags(data.instances, data.offsets), data.Y)


def thin_svd(data: Documents) -> Any:
    """Decompose the instances, and nothing else."""
    return np.linalg.svd(data.bags.instances, full_matrices=False)


def make_kernel_documents(n: int, d: int) -> Documents:
    """Draw documents, with the Gaussian kernel of all pairs of faces in place of features."""
    made = make_documents(n, d)
    K = rbf_kernel(made.bags.instances, gamma=1 / (d * made.bags.instances.var()))
    return Documents(Bags(K, made.bags.offsets), made.Y)


def learn(data: Documents, **setting: Any) -> MIMLCA:
    """Assign all faces and learn a metric."""
    return MIMLCA(**setting).fit(data.bags, data.Y)


def learn_from_kernel(data: Documents) -> MIMLCA:
    """Do the same with the leading directions of a kernel."""
    return learn(data, kernel="precomputed", rank=min(RANK, data.bags.instances.shape[0] // 10))


def leading_eigenvectors(data: Documents) -> Any:
    """Compute the leading eigenvectors of the kernel, and nothing else."""
    K = data.bags.instances
    return eigsh(K, min(RANK, len(K) // 10))


def rounds(data: Documents, model: MIMLCA, other: Any) -> dict[str, float]:
    """Count the rounds of assignments."""
    return {"rounds": model.n_iter_}


def bag_benchmarks() -> Iterator[Benchmark]:
    """List the benchmarks."""
    yield Benchmark(
        "mimlca",
        code="mimlca/estimator",
        subject=learn,
        make=make_documents,
        sizes=((6964, 1000), (13_928, 1000), FACES),
        versus="thin SVD",
        reference=thin_svd,
        grows={"n": 1},
        tiny=(300, 80),
        compare=rounds,
        bars=(Bar("CPU time of MIMLCA / thin SVD", "cpu_ratio", 0.55, FACES),),
    )
    kernels: tuple[Size, ...] = ((1000, 200), (2000, 200), (4000, 200))
    yield Benchmark(
        "mimlca-kernel",
        code="mimlca/estimator",
        subject=learn_from_kernel,
        make=make_kernel_documents,
        sizes=kernels,
        versus=f"eigsh({RANK})",
        reference=leading_eigenvectors,
        grows={"n": 2},
        tiny=(300, 80),
        compare=rounds,
        bars=(Bar("CPU time of kernel MIMLCA / eigsh", "cpu_ratio", 1.5, kernels[-1]),),
    )
