"""What is asked of rows anywhere; files: drawing, reading, failing, and results."""

import operator
import sys
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from scedae._rows import (
    Result,
    files,
    fit_scaler,
    gather_statistics,
    memory,
    open_rows,
    stored,
    stream,
)
from scedae._rows.memory import MemoryRows, TensorRows
from scedae._rows.scaled_rows import DrawnEpochs
from scedae._rows.stream import scattered_runs
from scedae._threads import helpers
from scedae.exceptions import BlockReadError
from tests.helpers import in_formats

FORMATS = ("npy", "memmap", "zarr", "parquet", "dask")


@pytest.fixture
def X(rng):
    """Rows that tell their number: the first column counts."""
    X = rng.standard_normal((1000, 5)).astype(np.float32)
    X[:, 0] = np.arange(1000)
    return X


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(stream, "_BLOCK_ROWS", 64)
    monkeypatch.setattr(memory, "_BLOCK_ROWS", 64)
    monkeypatch.setattr(stream, "DRAWN_ROWS", 128)


@pytest.fixture(params=FORMATS)
def stored_rows(request, X, tmp_path, small_blocks):
    """The same rows in every format, in blocks of 64."""
    return open_rows(in_formats(X, tmp_path)[request.param], "cpu")


@pytest.fixture(params=["array", "tensor", "sparse", *FORMATS])
def rows(request, X, tmp_path, small_blocks):
    """The same, and in memory too."""
    if request.param == "array":
        return MemoryRows(X)
    if request.param == "sparse":
        return MemoryRows(sp.csr_matrix(X))
    if request.param == "tensor":
        return TensorRows(torch.from_numpy(X), torch.float32)
    return open_rows(in_formats(X, tmp_path)[request.param], "cpu")


def test_a_total_sees_every_row_once(rows, X):
    sums = rows.total(lambda block: block.double().sum(0), operator.add)
    np.testing.assert_allclose(sums, X.astype(np.float64).sum(0))


def test_a_total_of_runs_sees_their_rows_once(rows, X):
    runs = [slice(10, 50), slice(60, 100), slice(900, 940), slice(960, 1000)]
    sums = rows.total(lambda block: block.double().sum(0), operator.add, runs=runs)
    wanted = np.concatenate([X[run] for run in runs]).sum(0, dtype=float)
    np.testing.assert_allclose(sums, wanted, rtol=1e-6)


def test_sums_over_many_rows_are_taken_over_enough(stored_rows, monkeypatch):
    assert stored_rows.runs_to_sum(0) is None
    monkeypatch.setattr(stream, "SUMMED_ROWS", 500)
    monkeypatch.setattr(stream, "SAMPLE_PLACES", 50)
    runs = stored_rows.runs_to_sum(0)
    assert sum(run.stop - run.start for run in runs) == 500
    assert runs == stored_rows.runs_to_sum(0) != stored_rows.runs_to_sum(1)


def test_threads_take_whole_blocks_and_change_no_bit(X, tmp_path, small_blocks):
    rows = open_rows(in_formats(X, tmp_path)["npy"], "cpu")
    workers = set()

    def kernel(block):
        workers.add(threading.get_ident())
        time.sleep(0.002)
        return block.sum(0)

    alone = rows.total(kernel, operator.add)
    assert len(workers) == 1
    with helpers(3):
        assert torch.equal(rows.total(kernel, operator.add), alone)
        (lines,) = rows.each(lambda block: (block[:, 0],), [Result(np.float32)])
    assert len(workers) == 3
    np.testing.assert_array_equal(lines, X[:, 0])


def test_results_of_rows_are_in_their_order(rows, X):
    kernel = lambda block: (block[:, 0].long(), 2 * block.double())  # noqa: E731
    first, second = rows.each(kernel, [Result(np.int64), Result(np.float64, 5)])
    np.testing.assert_array_equal(np.asarray(first), np.arange(1000))
    np.testing.assert_array_equal(np.asarray(second), 2 * X.astype(np.float64))
    assert rows.n_distinct(first) == 1000


def test_statistics_are_those_of_memory(rows, X):
    found, expected = gather_statistics(rows), gather_statistics(MemoryRows(X))
    assert found.zero_share == expected.zero_share
    for name in ("minimum", "maximum", "mean", "variance"):
        torch.testing.assert_close(getattr(found, name), getattr(expected, name))


def test_runs_are_read_one_after_the_other(rows, X):
    runs = [slice(3, 9), slice(60, 70), slice(999, 1000)]
    wanted = np.concatenate([X[run] for run in runs])
    np.testing.assert_array_equal(rows.read(runs), wanted)


def test_memory_is_the_case_in_which_the_sample_is_everything(rows, X):
    sample = rows.sample(seed=0)
    seen = torch.cat(list(sample.blocks()))
    assert sample.n_rows == len(seen) == (1000 if rows.all_at_hand else 128)
    np.testing.assert_array_equal(seen, X[seen[:, 0].long()])
    assert rows.crew() is None


def test_the_sample_is_read_once_and_does_not_travel(stored_rows, monkeypatch):
    sample = stored_rows.sample(seed=0)
    monkeypatch.setattr(type(stored_rows), "read", None)
    assert stored_rows.sample(seed=0) is sample
    assert not stored_rows.__getstate__()["_samples"]


def test_what_is_drawn_does_not_depend_on_the_format(stored_rows):
    rows, generator = stored_rows, torch.Generator().manual_seed(3)
    drawn = rows.draw(16, generator)[:, 0].long()
    runs = scattered_runs(1000, 128, 16, torch.Generator().manual_seed(3))
    expected = np.concatenate([np.arange(run.start, run.stop) for run in runs])
    np.testing.assert_array_equal(drawn, expected)
    assert rows.rows_per_epoch == 128


@pytest.mark.parametrize("n_rows", [10, 99, 100, 101, 5000])
@pytest.mark.parametrize("n_places", [1, 7, 32, 1000])
def test_runs_are_distinct_rows_in_order(n_rows, n_places):
    generator = torch.Generator().manual_seed(0)
    runs = scattered_runs(n_rows, 100, n_places, generator)
    numbers = np.concatenate([np.arange(run.start, run.stop) for run in runs])
    assert (np.diff(numbers) > 0).all()
    assert 0 <= numbers[0] <= numbers[-1] < n_rows
    assert min(n_rows, 90) <= len(numbers) <= 100


def test_every_row_is_drawn_some_time():
    """Also the last ones, which fill no run."""
    generator = torch.Generator().manual_seed(0)
    seen = set()
    for _ in range(300):
        for run in scattered_runs(103, 20, 2, generator):
            seen |= set(range(run.start, run.stop))
    assert seen == set(range(103))


def test_epochs_draw_anew_and_are_repeatable(X, tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "DRAWN_ROWS", 128)
    rows = open_rows(in_formats(X, tmp_path)["npy"], "cpu")
    scaler = fit_scaler(gather_statistics(rows), "standard")
    source, again = (DrawnEpochs(rows, scaler, seed=0) for _ in range(2))
    everything = torch.arange(128)
    first, second = (source.epoch(number).take(everything) for number in (1, 2))
    assert source.n_rows == len(first) == 128
    assert not torch.equal(first, second)
    assert torch.equal(again.epoch(2).take(everything), second)
    other = DrawnEpochs(rows, scaler, seed=1)
    assert not torch.equal(other.epoch(1).take(everything), first)


def test_numbers_that_are_not_finite_are_named_with_their_row(X, tmp_path):
    X[777, 3] = np.nan
    for name, container in in_formats(X, tmp_path).items():
        rows = open_rows(container, "cpu")
        column = "'c3'" if name == "parquet" else "3"
        with pytest.raises(ValueError, match=rf"NaN .* row 777, column {column}"):
            gather_statistics(rows)


@pytest.fixture
def flaky(X, tmp_path, monkeypatch):
    """An .npy file of which reading fails as often as told."""
    monkeypatch.setattr(stored, "_PAUSES", (0, 0))
    monkeypatch.setattr(stream, "_BLOCK_ROWS", 100)
    read, failures = files.NpyTable.read, []

    def failing(self, start, stop):
        if start == 300 and failures:
            failures.pop()
            raise OSError("the disk is away")
        return read(self, start, stop)

    monkeypatch.setattr(files.NpyTable, "read", failing)
    return open_rows(in_formats(X, tmp_path)["npy"], "cpu"), failures


def test_a_block_is_read_again(flaky, X):
    rows, failures = flaky
    failures += [1, 2]
    total = rows.total(lambda block: block.double().sum(), operator.add)
    assert float(total) == pytest.approx(X.astype(np.float64).sum())
    assert not failures


def test_a_block_that_stays_away_is_named(flaky):
    rows, failures = flaky
    failures += [1, 2, 3]
    message = r"rows 300 to 399 of .*rows.npy.* 3 attempts: the disk is away"
    with pytest.raises(BlockReadError, match=message):
        rows.total(lambda block: block.sum(), operator.add)


def test_a_file_that_was_cut_is_named(X, tmp_path, monkeypatch):
    monkeypatch.setattr(stored, "_PAUSES", (0, 0))
    path = in_formats(X, tmp_path)["npy"]
    rows = open_rows(path, "cpu")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(BlockReadError, match="the file ends after"):
        gather_statistics(rows)


def test_an_output_file_is_complete_or_not_there(X, tmp_path):
    rows = open_rows(in_formats(X, tmp_path)["npy"], "cpu")
    path, results = tmp_path / "doubled.npy", [Result(np.float64, 5)]
    (array,) = rows.each(lambda block: (2 * block.double(),), results, out=path)
    assert isinstance(array, np.memmap)
    np.testing.assert_array_equal(np.load(path), 2 * X.astype(np.float64))
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ZeroDivisionError):
        rows.each(lambda block: 1 / 0, results, out=tmp_path / "other.npy")
    assert sorted(tmp_path.iterdir()) == before
    with pytest.raises(FileNotFoundError, match="no folder"):
        rows.each(None, results, out=tmp_path / "nowhere" / "other.npy")


def test_numbers_of_many_types(tmp_path, rng):
    numbers = rng.integers(0, 200, (50, 3))
    for dtype in (bool, np.uint8, np.int16, np.uint32, np.float16, np.float64, ">f4"):
        np.save(tmp_path / "rows.npy", numbers.astype(dtype))
        rows = open_rows(tmp_path / "rows.npy", "cpu")
        expected = MemoryRows(np.ascontiguousarray(numbers.astype(dtype))).dtype
        assert rows.dtype == expected
        taken = rows.read([slice(3, 9), slice(40, 50)]).numpy()
        wanted = numbers.astype(dtype)[[*range(3, 9), *range(40, 50)]]
        np.testing.assert_array_equal(taken, wanted)


def test_what_is_no_table_gets_one_error(tmp_path):
    np.save(tmp_path / "flat.npy", np.zeros(3))
    np.save(tmp_path / "text.npy", np.array([["a"]]))
    np.save(tmp_path / "empty.npy", np.zeros((0, 3)))
    np.save(tmp_path / "columns.npy", np.asfortranarray(np.zeros((4, 3))))
    (tmp_path / "folder").mkdir()
    (tmp_path / "rows.csv").write_text("1,2")
    for name, message in {
        "flat.npy": "two dimensions",
        "text.npy": "not numbers",
        "empty.npy": "nothing in it",
        "columns.npy": "Fortran order",
        "folder": "is not an .npy file",
        "rows.csv": "is not an .npy file",
    }.items():
        with pytest.raises(ValueError, match=message):
            open_rows(tmp_path / name, "cpu")
    with pytest.raises(FileNotFoundError, match="no file or folder"):
        open_rows(tmp_path / "missing.npy", "cpu")


def test_parquet_with_text_and_with_gaps(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": [1, 2], "b": ["x", "y"]}), path)
    with pytest.raises(ValueError, match="not numeric: b"):
        open_rows(path, "cpu")
    pq.write_table(pa.table({"a": [1, 2], "b": [3, None]}), path)
    with pytest.raises(ValueError, match=r"NaN .* row 1, column 'b'"):
        gather_statistics(open_rows(path, "cpu"))


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [("zarr", "zarr", "files"), ("parquet", "pyarrow.parquet", "files")],
)
def test_a_missing_package_is_named_with_its_extra(
    X, tmp_path, monkeypatch, name, package, extra
):
    container = in_formats(X, tmp_path)[name]
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"scedae\[{extra}\]"):
        open_rows(container, "cpu")


def test_missing_dask_is_named_with_its_extra(X, tmp_path, monkeypatch):
    container = in_formats(X, tmp_path)["dask"]
    monkeypatch.setitem(sys.modules, "scedae._rows.dask_rows", None)
    with pytest.raises(ImportError, match=r"scedae\[dask\]"):
        open_rows(container, "cpu")
