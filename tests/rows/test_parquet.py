"""Parquet folders whose files differ, and files that are damaged."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr

from scedae import LandmarkSpectralClustering
from scedae._rows import open_rows


def write(folder, **files):
    for name, columns in files.items():
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")


def read(path):
    rows = open_rows(path, "cpu")
    return rows.read([slice(0, rows.n_rows)]).numpy()


def test_columns_are_found_by_name_in_any_order(tmp_path):
    write(tmp_path, a={"x": [1.0, 2.0], "y": [3.0, 4.0]}, b={"y": [6.0], "x": [5.0]})
    np.testing.assert_array_equal(read(tmp_path), [[1, 3], [2, 4], [5, 6]])


@pytest.mark.parametrize("first", [{"x": [1.0], "y": [2.0]}, {"x": [1.0]}])
def test_a_missing_column_is_refused_by_name(tmp_path, first):
    second = {"x": [1.0]} if "y" in first else {"x": [1.0], "y": [2.0]}
    write(tmp_path, a=first, b=second)
    with pytest.raises(ValueError, match=r"b\.parquet.*columns that the first.*y"):
        open_rows(tmp_path, "cpu")


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        (np.int8, np.int64, np.int64),
        (np.int64, np.float32, np.float64),
        (np.float32, np.float64, np.float64),
        (np.uint8, np.int8, np.int16),
        (np.bool_, np.int32, np.int32),
    ],
    ids=str,
)
def test_numbers_of_different_types_meet_in_one_that_holds_both(
    tmp_path, first, second, together
):
    large = np.array([0, 1], second)
    if np.dtype(second).kind in "if":
        info = np.iinfo(second) if np.dtype(second).kind == "i" else np.finfo(second)
        large = np.array([info.max, info.min], second)
    write(
        tmp_path,
        a={"x": np.array([0, 1], first), "y": np.array([1, 0], first)},
        b={"x": large, "y": large},
    )
    found = read(tmp_path)
    assert found.dtype == np.dtype(together)
    np.testing.assert_array_equal(found[2:, 0], large.astype(together))


def test_a_text_column_of_a_later_file_is_named(tmp_path):
    write(tmp_path, a={"x": [1.0]}, b={"x": ["one"]})
    with pytest.raises(ValueError, match=r"b\.parquet.*not numeric: x"):
        open_rows(tmp_path, "cpu")


def test_a_column_that_occurs_twice_is_named(tmp_path):
    column = pa.array([1.0])
    table = pa.Table.from_arrays([column, column], names=["x", "x"])
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="columns twice: x"):
        open_rows(tmp_path, "cpu")


def test_a_missing_boolean_is_named_with_its_row(tmp_path):
    write(tmp_path, a={"x": [True, None, False], "y": [1, 2, 3]})
    with pytest.raises(ValueError, match=r"NaN.*row 1, column 'x'"):
        read(tmp_path)


def test_a_fit_sees_the_numbers_of_all_files(tmp_path, blobs):
    X = blobs[0].astype(np.float32)
    halves = np.array_split(X, 2)
    write(tmp_path, a={f"c{i}": c for i, c in enumerate(halves[0].T)})
    backwards = {f"c{i}": halves[1][:, i].astype(float) for i in range(5, -1, -1)}
    write(tmp_path, b=backwards)
    model = LandmarkSpectralClustering(3, random_state=0)
    expected = model.fit(X.astype(np.float64)).labels_.copy()
    np.testing.assert_array_equal(model.fit(tmp_path).labels_, expected)


@pytest.mark.parametrize("size", [0, 4, 50])
def test_a_cut_parquet_file_is_named(tmp_path, size):
    write(tmp_path, a={"x": [1.0]})
    path = tmp_path / "a.parquet"
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ValueError, match=r"a\.parquet': it cannot be read"):
        open_rows(path, "cpu")


@pytest.mark.parametrize("size", [0, 20, 200])
def test_a_cut_npy_file_is_named(tmp_path, size):
    path = tmp_path / "rows.npy"
    np.save(path, np.ones((10, 3)))
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ValueError, match=r"rows\.npy': it cannot be read"):
        open_rows(path, "cpu")


def test_a_damaged_zarr_array_is_named(tmp_path):
    path = tmp_path / "rows.zarr"
    zarr.create_array(path, shape=(3, 3), dtype="f4")[:] = 1
    (path / "zarr.json").write_text("{")
    with pytest.raises(ValueError, match=r"rows\.zarr': it cannot be read"):
        open_rows(path, "cpu")
