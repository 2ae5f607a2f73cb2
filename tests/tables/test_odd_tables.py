"""Columns, frames and files of unusual makes; no model is fitted."""

import datetime
import gzip

import numpy as np
import pandas as pd
import polars as pl
import pytest

from scedae import read_table
from scedae._tables import kinds
from scedae._tables.frames import as_frame
from scedae._tables.keeping import from_text, to_text
from scedae._tables.kinds import look_at_column
from scedae._tables.values import number_style, to_numbers, without_gaps
from scedae.exceptions import ModelFileError

DAY = datetime.date(2024, 2, 29)


def kind_of(values, wanted=None, na_values=(), **more):
    column = pl.Series("c", values, **more)
    return look_at_column(column, na_values=na_values, decimal="auto", wanted=wanted)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([[1], [2, 3], []], kinds.OTHER),
        ([{"a": 1}, {"a": 2}, None], kinds.OTHER),
        ([b"x", b"y", None], kinds.OTHER),
        ([None, None], kinds.EMPTY),
        ([True, False, None], kinds.CATEGORY),
        ([DAY, datetime.date(2023, 1, 1), None], kinds.DATE),
        ([0.5, 0.25, None, 7.5], kinds.NUMBER),
        ([2.0, 2.0, None], kinds.CONSTANT),
    ],
)
def test_kinds_by_type(values, expected):
    assert kind_of(values).kind == expected


def test_categories_stay_categories_whatever_they_look_like():
    assert kind_of(["1", "2", "1"], dtype=pl.Categorical).kind == kinds.CATEGORY
    assert kind_of(["1", "2", "1"], dtype=pl.Enum(["1", "2"])).kind == kinds.CATEGORY


def test_what_the_user_says_a_column_is():
    assert kind_of([1, 2, 1], kinds.CATEGORY).kind == kinds.CATEGORY
    assert kind_of([DAY, DAY], kinds.NUMBER).kind == kinds.DATE
    assert kind_of([DAY, DAY], kinds.DATE).kind == kinds.DATE  # though it is constant
    assert kind_of(["1", "x", "2"], kinds.NUMBER).cells.to_list() == [1, None, 2]
    with pytest.raises(ValueError, match="holds no numbers"):
        kind_of(["x", "y"], kinds.NUMBER)


def test_numbers_of_other_types():
    hours = pl.Series([datetime.time(6), datetime.time(18, 30)])
    assert to_numbers(hours, ".").to_list() == [6, 18.5]
    days = pl.Series([datetime.timedelta(hours=36)])
    assert to_numbers(days, ".").to_list() == [1.5]
    prices = pl.Series(["1.25", "3.50"]).cast(pl.Decimal(10, 2))
    assert without_gaps(prices).to_list() == [1.25, 3.5]


def test_numbers_that_stand_for_gaps():
    found = without_gaps(pl.Series([1, -999, 3]), ("-999", "none"))
    assert found.to_list() == [1, None, 3]
    assert number_style(pl.Series(["1,5"]), ".") != number_style(pl.Series(["1"]), ",")


def test_frames_of_any_kind():
    lazy = as_frame(pl.LazyFrame({"a": [1]}))
    assert isinstance(lazy, pl.DataFrame)
    assert as_frame({"a": [1, 2]}).shape == (2, 1)
    with pytest.raises(TypeError, match="int is no table"):
        as_frame(3)
    with pytest.raises(ValueError, match="two columns are named 'a'"):
        as_frame(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_mixed_objects_become_text_and_gaps():
    mixed = np.array([[1, "x"], [None, float("nan")]], dtype=object)
    assert as_frame(mixed).rows() == [("1", "x"), (None, None)]
    odd = pd.DataFrame({"a": pd.Series([1, "x", None, {3}], dtype=object)})
    assert as_frame(odd)["a"].to_list() == ["1", "x", None, "{3}"]


@pytest.mark.parametrize("text", ["", "no base 64!", "aGVsbG8=", to_text({"a": 1})])
def test_what_a_model_says_of_its_table_may_be_damaged(text):
    with pytest.raises(ModelFileError, match="is damaged"):
        from_text(text)


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        ("a,b\n1,2\n", ["a", "b"]),
        ("3,9\n3,4\n5,6\n", ["column_0", "column_1"]),
        ("2019,2020\n1.5,2\n3,4\n", ["2019", "2020"]),  # years
        ("0,1,2\n5,6,7\n8,9,1\n", ["0", "1", "2"]),  # columns that are counted
        ("1.5,x\n2.5,y\n", ["column_0", "column_1"]),
        (",b\n1,2\n", ["column_0", "b"]),
        ("1,NA\n2,3\n", ["column_0", "column_1"]),
        ("a;b\n1;2\n", ["a", "b"]),
        ("a\n1\n", ["a"]),
    ],
)
def test_the_first_line_names_columns_or_does_not(tmp_path, content, columns):
    path = tmp_path / "table.csv"
    path.write_text(content)
    assert read_table(path).columns == columns


def test_text_of_other_encodings(tmp_path):
    path = tmp_path / "table.csv"
    for encoding in ("utf-8-sig", "utf-16", "cp1252"):
        path.write_bytes("größe,b\n1,2\n".encode(encoding))
        assert read_table(path).columns == ["größe", "b"]
    packed = tmp_path / "table.csv.gz"
    packed.write_bytes(gzip.compress("größe\tb\n1\t2\n".encode()))
    assert read_table(packed).columns == ["größe", "b"]


def test_files_that_are_no_tables(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n" * 99)[:-20])
    with pytest.raises(ValueError, match="cannot be unpacked"):
        read_table(tmp_path / "a.csv.gz")
    (tmp_path / "a.pdf").write_bytes(b"PDF")
    with pytest.raises(ValueError, match="none of the kinds"):
        read_table(tmp_path / "a.pdf")
    (tmp_path / "a.csv").write_text("a,b\n" + "x" * 200_000 + "\n")
    assert read_table(tmp_path / "a.csv").columns == ["a", "b"]


@pytest.mark.parametrize("name", ["rows.parquet", "rows.feather", "rows.xlsx"])
def test_a_damaged_file_is_named_and_told_once(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"PAR1 nothing that anybody wrote PAR1")
    with pytest.raises(ValueError, match="it cannot be read") as caught:
        read_table(path)
    assert str(caught.value).startswith(f"'{path}': ")
    assert str(caught.value).count("cannot be read") == 1
