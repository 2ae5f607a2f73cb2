"""Several DATA: views of the same rows, each with a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from scedae import SCEDAE
from scedae._tables.keeping import from_text, to_text
from scedae.cli.choice import Choice, Reading
from scedae.cli.messages import InputError
from scedae.cli.parts import Wanted, read_parts
from scedae.cli.sources import STDIN, Source
from scedae.cli.tables import Table, load_table
from scedae.exceptions import ModelFileError


def name_sources(data: Sequence[str]) -> dict[str, Source]:
    """What each DATA names, by the name before its "=", or that of its file."""
    found: dict[str, Source] = {}
    for given in data:
        name, equals, place = given.partition("=")
        if not equals or Path(given).exists():
            name, place = Path(given).name.partition(".")[0], given
        if len(data) > 1 and place == STDIN:
            raise InputError("standard input can be one DATA, not one of several.")
        if not name or name in found:
            raise InputError(
                f"two DATA are called {name!r}: give names, as {name or 'text'}="
                f"{place}."
            )
        found[name] = Source(place)
    return found


def load_views(
    sources: Mapping[str, Source], choice: Choice, reading: Reading
) -> Table:
    """All views as one table; ids, labels and descriptions are those of the first.

    What is said of columns is said of the first one, too.
    """
    plain = Choice()
    views = {
        name: load_table(source, plain if i else choice, reading)
        for i, (name, source) in enumerate(sources.items())
    }
    first, *_ = views.values()
    for name, table in views.items():
        if len(table.ids) != len(first.ids):
            raise InputError(
                f"{sources[name].given} has {len(table.ids):,} rows, and the first "
                f"DATA {len(first.ids):,}: views must be of the same rows."
            )
    arrays = [pl.DataFrame(t.array, _names(n, t)) for n, t in views.items()]
    return replace(
        first,
        rows=pl.concat(arrays, how="horizontal"),
        columns=None,
        encoder=None,
        views=views,
    )


def _names(view: str, table: Table) -> list[str]:
    names = table.names or [str(i) for i in range(table.array.shape[1])]
    return [f"{view}.{name}" for name in names]


def learnt_views(views: Mapping[str, Table], reading: Reading) -> str:
    """What a model must know to read such files again, by view."""
    known = {
        name: None if table.encoder is None else from_text(table.learnt(reading))
        for name, table in views.items()
    }
    return to_text({"views": known})


def sources_of_model(data: Sequence[str], model: SCEDAE) -> dict[str, Source]:
    """The files of a model's views: by name, or all of them in their order."""
    known = list(model.views_)
    if len(data) == len(known) and not any("=" in given for given in data):
        data = [f"{name}={given}" for name, given in zip(known, data, strict=True)]
    sources = name_sources(data)
    if unknown := [name for name in sources if name not in known]:
        raise InputError(
            f"the model has no view {unknown[0]!r}, but {', '.join(map(repr, known))}: "
            f"say which DATA is which, as {known[0]}=FILE."
        )
    return sources


def _learnt(model: SCEDAE) -> dict[str, Any]:
    """How tables became views, by name; nothing of those that were arrays."""
    if not hasattr(model, "table_"):
        return {}
    views = from_text(model.table_, "views")["views"]
    tables = views.values() if isinstance(views, dict) else [views]
    if not all(table is None or "encoder" in table for table in tables):
        raise ModelFileError("what the model says of its views is damaged.")
    return views


def read_views(
    sources: Mapping[str, Source],
    model: SCEDAE,
    id_column: str | None,
    reading: Reading,
) -> tuple[np.ndarray, dict[str, Any]]:
    """Ids by the first file, and the rows of each view, all in memory."""
    learnt = _learnt(model)
    ids = np.empty(0)
    rows: dict[str, Any] = {}
    for name, source in sources.items():
        view = model.views_[name]
        names = view.feature_names_in
        wanted = Wanted(
            view.n_features_in,
            None if names is None else list(names),
            learnt.get(name),
        )
        parts = list(read_parts(source, wanted, None if rows else id_column, reading))
        joined = np.concatenate([part.rows for part in parts])
        if not rows:
            ids = np.concatenate([part.ids for part in parts])
        elif len(joined) != len(ids):
            raise InputError(
                f"{source.given} has {len(joined):,} rows, and the first DATA "
                f"{len(ids):,}: views must be of the same rows."
            )
        rows[name] = joined if names is None else pl.DataFrame(joined, list(names))
    return ids, rows
