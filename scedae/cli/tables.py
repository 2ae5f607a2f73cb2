"""Read a whole table: rows to cluster, their ids, and what else is known of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from scedae._tables.encoder import TableEncoder
from scedae._tables.keeping import to_text
from scedae._tables.kinds import ID
from scedae._tables.table_files import whole_table
from scedae._tables.text_files import TextFormat
from scedae.cli.arrays import chosen_columns, load_array
from scedae.cli.checks import refuse_bad_numbers, require_columns
from scedae.cli.choice import Choice, Reading
from scedae.cli.h5ad import read_cells
from scedae.cli.messages import InputError, errors_of
from scedae.cli.sources import CELLS_SUFFIX, Source


@dataclass(frozen=True)
class Table:
    """Rows to cluster, with what belongs to them."""

    rows: pl.DataFrame | np.ndarray  # (n, d); a frame where columns have names
    ids: np.ndarray  # (n,) of the id column, else the numbers of the rows
    labels: np.ndarray | None = None  # (n,) known classes, for scoring
    columns: list[str] | None = None  # clustered; numbers where only some were chosen
    id_column: str | None = None
    encoder: TableEncoder | None = None  # how cells became numbers
    about: pl.DataFrame | None = None  # (n, …) all that describes rows, as it was read
    views: dict[str, Table] = field(default_factory=dict)  # whose rows stand beside

    @property
    def array(self) -> np.ndarray:
        rows = self.rows
        return rows.to_numpy() if isinstance(rows, pl.DataFrame) else rows

    @property
    def names(self) -> list[str] | None:
        """Of the columns of ``rows``."""
        rows = self.rows
        return rows.columns if isinstance(rows, pl.DataFrame) else self.columns

    @property
    def is_mixed(self) -> bool:
        """Whether the rows were brought to one scale when they were read."""
        return self.encoder is not None and bool(self.encoder.standardize)

    def learnt(self, reading: Reading) -> str:
        """What a model must know to read such a table again."""
        assert self.encoder is not None
        return to_text(
            {
                "encoder": self.encoder.to_json(),
                "id_column": self.id_column,
                "header": reading.header,
            }
        )


def load_table(source: Source, choice: Choice, reading: Reading) -> Table:
    """All rows of a file or a data set, checked, in memory (.npy: memory-mapped)."""
    if source.is_frame:
        return _from_frame(source, choice, reading)
    if not source.is_dataset and source.suffix == CELLS_SUFFIX:
        cells = read_cells(source, choice)
        refuse_bad_numbers(source, cells.rows)
        return Table(cells.rows, cells.ids, cells.labels, about=cells.about)
    X, labels = load_array(source, choice.labels)
    X, ids, columns = chosen_columns(source, X, choice)
    refuse_bad_numbers(source, X)
    return Table(X, ids, labels, columns, choice.id_column)


def _from_frame(source: Source, choice: Choice, reading: Reading) -> Table:
    with errors_of(source.given):
        form = TextFormat(reading.separator, reading.header)
        frame = whole_table(source.path, form, reading.sheet)
    features = choice.features(source, frame.columns)
    extra = [name for name in (choice.id_column, choice.labels) if name is not None]
    require_columns(source, extra, frame.columns)
    with errors_of(source.given):
        encoder = _encoder(frame.select(features), choice.told(features), reading)
        encoded = encoder.encode(frame)
    names = encoder.get_feature_names_out().tolist()
    id_column = choice.id_column or _found_id(frame, encoder)
    return Table(
        rows=pl.DataFrame(encoded.rows, schema=names, orient="row"),
        ids=ids_of(frame, id_column),
        labels=None if choice.labels is None else _labels(source, frame[choice.labels]),
        columns=[name for name in features if name != id_column],
        id_column=id_column,
        encoder=encoder,
        about=_about(frame, encoder, choice),
    )


def _encoder(
    frame: pl.DataFrame, told: dict[str, Any], reading: Reading
) -> TableEncoder:
    """One that brings columns to one scale, unless all of them are numbers.

    Then the model has a rule of its own, the one for arrays.
    """
    encoder = TableEncoder(
        **told,
        na_values=reading.na_values,
        decimal=reading.decimal,
        impute=reading.impute,
    ).fit(frame)
    if encoder.only_numbers_:
        encoder = encoder.set_params(standardize=False).fit(frame)
    return encoder


def _found_id(frame: pl.DataFrame, encoder: TableEncoder) -> str | None:
    """The first column that the rule takes for an id, if it names each row."""
    found = (each.name for each in encoder.left_out_ if each.kind == ID)
    return next((name for name in found if not frame[name].is_duplicated().any()), None)


def ids_of(frame: pl.DataFrame, id_column: str | None, first: int = 0) -> np.ndarray:
    if id_column is None:
        return np.arange(first, first + frame.height)
    return frame[id_column].cast(pl.String).fill_null("").to_numpy()


def _about(frame: pl.DataFrame, encoder: TableEncoder, choice: Choice) -> pl.DataFrame:
    """Every column that may describe clusters, with its cells read."""
    ids = {each.name for each in encoder.left_out_ if each.kind == ID}
    hidden = {
        choice.id_column,
        choice.labels,
        *(ids - {*choice.describe}),
        *choice.drop,
    }
    return encoder.read_cells(frame.select(c for c in frame.columns if c not in hidden))


def _labels(source: Source, column: pl.Series) -> np.ndarray:
    if column.null_count():
        row = column.is_null().arg_true()[0]
        raise InputError(
            f"{source.given}: row {row}, column {column.name!r} has no label to score "
            "with."
        )
    return column.cast(pl.String).to_numpy()
