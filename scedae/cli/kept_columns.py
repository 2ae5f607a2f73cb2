"""Labels beside the columns of the table that they are about, as CSV or Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO

import numpy as np
import polars as pl

from scedae.cli.messages import InputError, printable
from scedae.cli.output import FORMULA, LABEL_COLUMNS, label_lines

PARQUET = ".parquet"
# In a file that may be replaced by another one of the kind.
_MARK = {b"scedae": b"labels"}


@dataclass(frozen=True)
class Labelled:
    """Some rows with their answer; ``kept`` are their columns, if asked for.

    ``more`` is what else the model says of them.
    """

    ids: np.ndarray
    labels: np.ndarray
    confidence: np.ndarray
    kept: pl.DataFrame | None = None
    more: pl.DataFrame | None = None

    def beside(self) -> pl.DataFrame | None:
        """What stands beside id, label and confidence; names that are taken change."""
        frames = [] if self.more is None else [self.more]
        if self.kept is not None:
            taken = [] if self.more is None else self.more.columns
            names = beside_labels(self.kept.columns, taken)
            columns = zip(self.kept.iter_columns(), names, strict=True)
            frames.append(
                pl.DataFrame([column.alias(name) for column, name in columns])
            )
        return pl.concat(frames, how="horizontal") if frames else None


def write_csv(file: IO[str], parts: Iterable[Labelled], *, verbatim: bool) -> None:
    """A line for each row: id, label, confidence, and the columns that are kept."""
    on_terminal = file.isatty()
    for number, part in enumerate(parts):
        beside = part.beside()
        names = [] if beside is None else beside.columns
        if number == 0:
            header = pl.DataFrame([[*LABEL_COLUMNS, *names]], orient="row")
            file.write(_lines(header, verbatim=verbatim)[0] + "\n")
        lines: Iterable[str] = label_lines(
            part.ids,
            part.labels,
            part.confidence,
            verbatim=verbatim,
            on_terminal=on_terminal,
        )
        if beside is not None:
            cells = _lines(beside, verbatim=verbatim)
            if on_terminal:
                cells = [printable(line) for line in cells]
            lines = map(",".join, zip(lines, cells, strict=True))
        file.writelines(f"{line}\n" for line in lines)


def write_parquet(path: Path, parts: Iterable[Labelled]) -> None:
    """The same as a Parquet file: columns keep their types."""
    from pyarrow import parquet

    tables = (_frame(part).to_arrow() for part in parts)
    first = next(tables)
    schema = first.schema.with_metadata(_MARK)
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for table in chain([first], tables):
            writer.write_table(table.replace_schema_metadata(_MARK))


def is_parquet_labels(path: Path) -> bool:
    """Whether ``write_parquet`` wrote a file."""
    from pyarrow import ArrowException, parquet

    try:
        found = parquet.read_schema(path).metadata or {}
    except (ArrowException, OSError):
        return False
    return _MARK.items() <= found.items()


def beside_labels(columns: list[str], more: Sequence[str] = ()) -> list[str]:
    """Names of kept columns: those of the labels, and ``more``, are taken."""
    ours = {*LABEL_COLUMNS, *more}
    taken, names = {*ours, *columns}, []
    for name in columns:
        new = name
        while new in ours or (new != name and new in taken):
            new += "_input"
        names.append(new)
        taken.add(new)
    return names


def _frame(part: Labelled) -> pl.DataFrame:
    ids = [str(each) for each in part.ids] if part.ids.dtype == object else part.ids
    answer = pl.DataFrame(
        {
            "id": ids,
            "label": part.labels.astype(np.int32),
            "confidence": part.confidence.astype(np.float32),
        }
    )
    beside = part.beside()
    if beside is None:
        return answer
    # Categories have another list of names in each part.
    plain = beside.with_columns(pl.col(pl.Categorical).cast(pl.String))
    return pl.concat([answer, plain], how="horizontal")


def _lines(frame: pl.DataFrame, *, verbatim: bool) -> list[str]:
    """Cells of each row as text, quoted where need be, in one string a row."""
    cells = []
    for name, kind in frame.schema.items():
        if kind.is_nested() or kind == pl.Object:
            raise InputError(
                f"column {name!r} holds {kind}, which no CSV file can: write to a "
                f"{PARQUET} file, or leave --keep-columns out."
            )
        text = pl.col(name).cast(pl.String).fill_null("")
        if kind == pl.String and not verbatim:
            marks = "".join(FORMULA).replace("-", r"\-")
            risky = text.str.contains(f"^[{marks}]")
            number = text.cast(pl.Float64, strict=False).is_not_null()
            text = pl.when(risky & ~number).then("'" + text).otherwise(text)
        quoted = '"' + text.str.replace_all('"', '""', literal=True) + '"'
        special = text.str.contains('[,"\r\n]')
        cells.append(pl.when(special).then(quoted).otherwise(text).alias(name))
    return frame.select(pl.concat_str(cells, separator=",").alias("line"))[
        "line"
    ].to_list()
