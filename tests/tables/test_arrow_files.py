"""Parquet and Arrow files: their types, their batches, and every bit that is wrong."""

import datetime

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from scedae._tables.arrow_files import arrow_table
from scedae._tables.table_files import read_table

WRITE = {".parquet": "write_parquet", ".arrow": "write_ipc"}


@pytest.fixture
def table():
    days = [datetime.date(2020, 1, 1 + i) for i in range(20)]
    return pl.DataFrame(
        {
            "x": np.arange(20) / 7,
            "n": pl.Series([None, *range(19)], dtype=pl.Int32),
            "text": [f"t{i % 3}" for i in range(20)],
            "kind": pl.Series([f"k{i % 2}" for i in range(20)], dtype=pl.Categorical),
            "day": days,
            "yes": [True, None] * 10,
        }
    )


@pytest.fixture(params=WRITE)
def path(request, table, tmp_path):
    path = tmp_path / f"[a]*{request.param}"
    getattr(table, WRITE[request.param])(path)
    return path


def test_what_is_read_is_what_polars_wrote(path, table):
    assert_frame_equal(read_table(path), table)


def test_batches_are_the_columns_that_were_asked_for(path, table):
    with arrow_table(path) as found:
        assert found.names == table.columns
        batches = list(found.batches(["text", "x"], 7))
    assert max(batch.height for batch in batches) <= 7
    assert_frame_equal(pl.concat(batches), table.select("text", "x"))


def test_a_wrong_bit_is_an_answer_or_one_error(path):
    """polars panics at some, and ends the whole process at others."""
    raw, rng, n_errors = path.read_bytes(), np.random.default_rng(0), 0
    for place in range(0, len(raw), 3):
        damaged = bytearray(raw)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            assert read_table(path).width > 0
        except ValueError as error:
            assert str(error)
            n_errors += 1
    assert n_errors > len(raw) // 12


def test_a_file_that_cannot_be_opened_is_not_called_damaged(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "a.parquet")
