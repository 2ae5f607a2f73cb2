"""A Dask cluster: the labels of other routes, whatever happens to its workers."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from scedae import SCEDAE, _member_training
from scedae._rows import dask_crew, stream
from scedae.exceptions import BlockReadError, ClusterLostError

# Sockets of workers that are killed or closed are no news here.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module", autouse=True)
def sockets():
    """Those left behind go while their warnings are ignored, not later."""
    yield
    gc.collect()


@pytest.fixture(scope="module")
def cluster():
    """Two workers, each a process of its own with one thread."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    """Found by the address of its scheduler, as any cluster is."""
    from distributed import Client

    with Client(cluster.scheduler_address) as client:
        client.wait_for_workers(2)
        yield client


@pytest.fixture
def lazy(tmp_path, monkeypatch):
    """3,000 rows in blocks of 400, of which 512 are drawn at a time."""
    import dask.array as da
    import zarr

    monkeypatch.setattr(stream, "DRAWN_ROWS", 512)
    X = np.random.default_rng(0).standard_normal((3000, 5)).astype(np.float32)
    X[:1000] += 2
    X[1000:2000] -= 2
    path = tmp_path / "rows.zarr"
    array = zarr.create_array(path, shape=X.shape, chunks=(400, 5), dtype="f4")
    array[:] = X
    return da.from_zarr(path)


def model(epochs=10, **settings):
    return SCEDAE(
        3,
        n_members=3,
        ensemble="initialization",
        hidden_layers=(24, 16),
        encoding_dim=3,
        epochs=epochs,
        n_landmarks=40,
        random_state=0,
        **settings,
    )


@pytest.fixture
def expected(lazy):
    """The fit without a cluster, by threads of this process."""
    return model().fit(lazy)


def test_a_cluster_gives_the_labels_of_threads(expected, client, lazy, monkeypatch):
    def not_here(*arguments):
        raise AssertionError("this process has no business to train")

    monkeypatch.setattr(_member_training, "train_runs", not_here)
    fitted = model().fit(lazy)
    labels = fitted.labels_
    np.testing.assert_array_equal(np.asarray(labels), np.asarray(expected.labels_))
    assert fitted.members_ == expected.members_
    np.testing.assert_array_equal(fitted.predict(lazy).compute(), labels.compute())
    assert labels.chunks[0] == lazy.chunks[0]


def test_finished_shares_are_kept(expected, client, lazy, tmp_path, monkeypatch):
    model(checkpoint_dir=tmp_path / "there").fit(lazy)
    assert len(list((tmp_path / "there").glob("trained-*"))) == 3

    def nobody(*arguments):
        assert not arguments[2], "all trainings are finished"

    monkeypatch.setattr(_member_training, "_train_by_crew", nobody)
    again = model(checkpoint_dir=tmp_path / "there").fit(lazy)
    np.testing.assert_array_equal(
        np.asarray(again.labels_), np.asarray(expected.labels_)
    )


def test_a_block_that_fails_once_is_read_again(expected, client, lazy, tmp_path):
    marker = tmp_path / "failed"

    def read(block, block_info):
        if block_info[0]["chunk-location"][0] == 2 and not marker.exists():
            marker.touch()
            raise OSError("the disk is away")
        return block

    fitted = model().fit(lazy.map_blocks(read, dtype=lazy.dtype))
    assert marker.exists()
    np.testing.assert_array_equal(
        np.asarray(fitted.labels_), np.asarray(expected.labels_)
    )


def test_a_block_that_stays_away_is_named(client, lazy):
    def read(block, block_info):
        if block_info[0]["chunk-location"][0] == 2:
            raise OSError("the disk is away")
        return block

    message = r"rows 800 to 1199 of X \(block 2 .*the disk is away"
    with pytest.raises(BlockReadError, match=message):
        model().fit(lazy.map_blocks(read, dtype=lazy.dtype))


def linger(block):
    time.sleep(1)
    return block


@pytest.mark.parametrize("moment", ["reading", "training"])
def test_a_lost_scheduler_is_one_error_and_no_fault_of_a_block(
    client, lazy, monkeypatch, moment
):
    """The connection breaks as that to a scheduler does that was killed."""
    begun = []

    def lose():
        begun.append(time.monotonic())
        client.loop.add_callback(client.scheduler_comm.comm.abort)

    if moment == "reading":
        monkeypatch.setattr(stream, "DRAWN_ROWS", 5000)
        lazy = lazy.map_blocks(linger, dtype=lazy.dtype)
        threading.Timer(0.5, lose).start()
    else:
        train = dask_crew.DaskCrew.call

        def call(*arguments):
            threading.Timer(0.3, lose).start()
            return train(*arguments)

        monkeypatch.setattr(dask_crew.DaskCrew, "call", call)
    with pytest.raises(ClusterLostError, match=r"scheduler was lost.*checkpoint_dir"):
        model(epochs=500).fit(lazy)
    assert time.monotonic() - begun[0] < 20


def test_a_number_that_is_not_finite_is_named(client, lazy):
    import dask.array as da

    rows = da.arange(3000, chunks=400)[:, None]
    with pytest.raises(ValueError, match=r"NaN .* row 1234, column 0"):
        model().fit(da.where(rows == 1234, np.nan, lazy))


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.2, 0.4, 0.6, 0.8])
def test_a_worker_killed_in_the_middle_changes_nothing(client, lazy, share):
    """Real signals, at several moments: training, passes, results."""
    start = time.perf_counter()
    undisturbed = model(epochs=60).fit(lazy)
    seconds = time.perf_counter() - start
    victim = next(iter(client.run(os.getpid).values()))
    killer = threading.Timer(share * seconds, os.kill, (victim, signal.SIGKILL))
    killer.start()
    disturbed = model(epochs=60).fit(lazy)
    labels = np.asarray(disturbed.labels_)
    killer.join()
    np.testing.assert_array_equal(labels, np.asarray(undisturbed.labels_))
    assert disturbed.members_ == undisturbed.members_
    client.wait_for_workers(2)
    assert victim not in client.run(os.getpid).values()


FIT = """
import sys
import dask.array as da
import numpy as np
from scedae import SCEDAE
from scedae._rows import stream

stream.DRAWN_ROWS = 512

def main():
    path, where = sys.argv[1:]
    X = path
    model = SCEDAE(
        3, hidden_layers=(300, 200), epochs=100_000, n_landmarks=40, verbose=1
    )
    if where == "cluster":
        from distributed import Client, LocalCluster
        with LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster, Client(cluster):
            print("ready", flush=True)
            model.fit(da.from_zarr(path))
    else:
        print("ready", flush=True)
        model.fit(path)

if __name__ == "__main__":
    main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("where", ["file", "cluster"])
def test_control_c_leaves_no_process_behind(lazy, tmp_path, where):
    import psutil

    script = tmp_path / "fit.py"
    script.write_text(FIT)
    process = subprocess.Popen(
        [sys.executable, script, tmp_path / "rows.zarr", where],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(4)  # into the training
    family = psutil.Process(process.pid).children(recursive=True)
    assert where == "file" or len(family) >= 2
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    _, alive = psutil.wait_procs(family, timeout=10)
    assert not alive


def _read_by_a_thread(number, should_stop):
    """As a GPU's rows are loaded: while the call waits, and not by its thread."""
    from concurrent.futures import ThreadPoolExecutor

    from distributed import get_client

    def read():
        try:
            return get_client().submit(pow, number, 2).result(timeout=10)
        except TimeoutError:
            return "nobody read it"

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(read).result()


def test_calls_that_fill_the_cluster_can_still_read(client):
    found = {}
    dask_crew.DaskCrew(client).call(_read_by_a_thread, [2, 3, 4], found.__setitem__)
    assert found == {0: 4, 1: 9, 2: 16}


@pytest.mark.gpu
def test_a_worker_that_has_a_gpu(monkeypatch):
    """It trains and labels there, and agrees with a GPU in this process."""
    import dask.array as da
    from distributed import Client, LocalCluster

    monkeypatch.setattr(stream, "DRAWN_ROWS", 512)
    X = np.random.default_rng(0).standard_normal((3000, 5)).astype(np.float32)
    X[:1000] += 2
    X[1000:2000] -= 2
    lazy = da.from_array(X, chunks=(400, 5))
    expected = model(device="cuda").fit(lazy)
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster.scheduler_address) as client,
    ):
        client.wait_for_workers(1)
        found = np.asarray(model(device="cuda").fit(lazy).labels_)
        used = client.run(_bytes_on_the_gpu)
    assert min(used.values()) > 0
    np.testing.assert_array_equal(found, np.asarray(expected.labels_))


def _bytes_on_the_gpu():
    import torch

    return torch.cuda.max_memory_allocated()
