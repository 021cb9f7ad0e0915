"""The limit on BLAS threads: taken back at the end, whoever overlaps, no trap after a fork."""

import os
import subprocess
import sys
import textwrap
from threading import Event, Thread

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from mlbook import LatentExemplarMetric
from mlbook._blas import one_blas_thread


def limits():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.fixture
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        assert set(limits()) == {2}
        yield


@pytest.mark.parametrize("first_out", [0, 1])
def test_overlapping_users_leave_the_limit_as_it_was(two_threads, first_out):
    entered, leave = [Event(), Event()], [Event(), Event()]

    def user(i):
        with one_blas_thread():
            entered[i].set()
            leave[i].wait(10)

    threads = [Thread(target=user, args=(i,)) for i in range(2)]
    for i, thread in enumerate(threads):
        thread.start()
        assert entered[i].wait(10)
    for i in (first_out, 1 - first_out):
        leave[i].set()
        threads[i].join(10)
    assert set(limits()) == {2}


def test_the_limit_holds_in_the_block(two_threads):
    with one_blas_thread():
        assert set(limits()) == {1}
        with one_blas_thread():
            assert set(limits()) == {1}
        assert set(limits()) == {1}


def test_an_error_takes_the_limit_back(two_threads):
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        raise ZeroDivisionError
    assert set(limits()) == {2}


def test_overlapping_learners_leave_blas_as_it_was(two_threads):
    rng = np.random.default_rng(0)
    sets = [rng.normal(size=(12, 2)) + 5 * (np.arange(12) % 2)[:, None] for _ in range(2)]
    labels = [np.arange(12) % 2] * 2

    def learn():
        LatentExemplarMetric(n_jobs=2, tol=0.5).fit(sets, labels)

    threads = [Thread(target=learn) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert set(limits()) == {2}


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_children_forked_during_a_fit_end():
    """Twenty children, while a thread of the parent is never out of `fit`."""
    program = """
        import multiprocessing, os, threading
        import numpy as np
        from mlbook import MLCA
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(3000, 40)), rng.integers(0, 3, 3000)
        done = threading.Event()
        def busy():
            while not done.is_set():
                MLCA(solver="qr").fit(X, y)
        def child():
            MLCA(solver="qr").fit(X[:400], y[:400])
        thread = threading.Thread(target=busy)
        thread.start()
        context = multiprocessing.get_context("fork")
        ended = 0
        for _ in range(20):
            process = context.Process(target=child)
            process.start()
            process.join(60)
            ended += process.exitcode == 0
            process.kill()
        done.set()
        thread.join()
        print(ended, "of 20 ended")
    """
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert found.stdout == "20 of 20 ended\n", found.stderr[-2000:]
