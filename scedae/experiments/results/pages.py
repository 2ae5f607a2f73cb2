"""Tables, figures and the summary of a folder, from its records alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from scedae.experiments.folder import kind_of
from scedae.experiments.results.both_nmi import (
    both_means_csv,
    both_means_markdown,
    find_both_means,
)
from scedae.experiments.results.boxplots import draw_boxplots
from scedae.experiments.results.cells import Cell, Measurements, find_cells
from scedae.experiments.results.choices import (
    effects_csv,
    effects_markdown,
    find_effects,
)
from scedae.experiments.results.claims import check_claims, claims_csv, claims_markdown
from scedae.experiments.results.curves import draw_accuracy_curves
from scedae.experiments.results.map_pictures import draw_maps
from scedae.experiments.results.overview import SMALL, summary
from scedae.experiments.results.paper_tables import cells_csv, cells_markdown
from scedae.experiments.results.readings import (
    find_explained,
    readings_csv,
    readings_markdown,
)
from scedae.experiments.results.scheme import draw_scheme
from scedae.experiments.results.shape_pictures import draw_shapes
from scedae.experiments.specification import Specification, load_specification
from scedae.experiments.store import Record, Store
from scedae.plot._canvas import pyplot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TITLES = {
    "fcps": "Shapes: accuracy",
    "baselines": "Baselines",
    "ensembles": "Ensembles",
    "landmarks": "Ensemble on landmarks",
    "comparison": "Comparison to deep k-means variants",
    "choices": "What the paper leaves open",
    "claims": "What the text claims",
    "readings": "Readings of the paper",
    "nmi": "NMI in two ways",
}

Link = tuple[str, str]


def render(folder: str | os.PathLike[str]) -> Path:
    """Write ``tables/``, ``figures/`` and ``summary.md`` into a folder of records.

    Reads records and points alone; nothing is computed. Without matplotlib there
    are no figures, and an ImportError says so after everything else was written.

    Returns
    -------
    path : Path
        Of ``summary.md``.
    """
    folder = Path(folder)
    specification = load_specification(quick=kind_of(folder) == "quick")
    records = list(Store(folder).records())
    found = Measurements(records)
    cells = find_cells(found, specification)
    links = [*_tables(folder, cells, specification)]
    links += _claims(folder, found, specification)
    links += _choices(folder, found, specification)
    links += _readings(folder, found, specification)
    links += _both_means(folder, records, specification)
    page = folder / "summary.md"
    missing: ImportError | None = None
    try:
        links += _figures(folder, records, found, specification)
    except ImportError as error:
        missing = error
    page.write_text(summary(cells, records, links, specification), "utf-8")
    if missing is not None:
        raise missing
    return page


def _tables(
    folder: Path, cells: list[Cell], specification: Specification
) -> Iterator[Link]:
    """A table appears as soon as one of its cells was run."""
    for name in dict.fromkeys(cell.published.name for cell in cells):
        own = [cell for cell in cells if cell.published.name == name]
        run = {cell.data for cell in own if cell.ours is not None}
        shown = [cell for cell in own if cell.data in run]
        if shown:
            text = cells_markdown(shown, specification)
            yield _write(folder, name, text, cells_csv(shown), specification)


def _claims(
    folder: Path, found: Measurements, specification: Specification
) -> Iterator[Link]:
    checked = check_claims(found, specification)
    if checked:
        text = claims_markdown(checked, specification)
        yield _write(folder, "claims", text, claims_csv(checked), specification)


def _choices(
    folder: Path, found: Measurements, specification: Specification
) -> Iterator[Link]:
    effects = find_effects(found, specification)
    if effects:
        text = effects_markdown(effects, specification)
        yield _write(folder, "choices", text, effects_csv(effects), specification)


def _readings(
    folder: Path, found: Measurements, specification: Specification
) -> Iterator[Link]:
    explained = find_explained(found, specification)
    if explained:
        text = readings_markdown(explained, found, specification)
        yield _write(folder, "readings", text, readings_csv(explained), specification)


def _both_means(
    folder: Path, records: list[Record], specification: Specification
) -> Iterator[Link]:
    found = find_both_means(records)
    if found:
        text, lines = both_means_markdown(found), both_means_csv(found)
        yield _write(folder, "nmi", text, lines, specification)


def _write(
    folder: Path, name: str, text: str, lines: str, specification: Specification
) -> Link:
    tables = folder / "tables"
    tables.mkdir(exist_ok=True)
    small = ""
    if specification.is_quick:
        rows, epochs = specification.max_rows, specification.ensemble_epochs
        small = SMALL.format(rows=rows, epochs=epochs) + "\n\n"
    page = f"# {_TITLES[name]}\n\n{small}{text}\n"
    (tables / f"{name}.md").write_text(page, "utf-8")
    (tables / f"{name}.csv").write_text(lines, "utf-8")
    return _TITLES[name], f"tables/{name}.md"


def _figures(
    folder: Path,
    records: list[Record],
    found: Measurements,
    specification: Specification,
) -> Iterator[Link]:
    drawings: dict[str, tuple[str, Callable[[], Figure | None]]] = {
        "scheme": ("Figure: scheme of the method", draw_scheme)
    }
    drawings |= {
        f"fcps-{variant}": (
            f"Figure: shapes ({variant}) and the first two components of B, "
            "coloured by the clusters found",
            partial(draw_shapes, folder, variant, specification),
        )
        for variant in specification.shapes.variants
    }
    drawings["boxplots"] = (
        "Figure: ARI and NMI over runs",
        partial(draw_boxplots, found, specification),
    )
    drawings["curves"] = (
        "Figure: accuracy against networks, landmarks and epochs",
        partial(draw_accuracy_curves, records, specification),
    )
    drawings["tsne"] = (
        "Figure: t-SNE of B, coloured by class",
        partial(draw_maps, folder, specification),
    )
    for name, (title, draw) in drawings.items():
        figure = draw()
        if figure is not None:
            yield title, _save(figure, folder, name)


def _save(figure: Figure, folder: Path, name: str) -> str:
    target = folder / "figures"
    target.mkdir(exist_ok=True)
    figure.savefig(target / f"{name}.png", dpi=150)
    # No date and no chance inside: the same records give the same file.
    with pyplot().rc_context({"svg.hashsalt": name}):
        figure.savefig(target / f"{name}.svg", dpi=150, metadata={"Date": None})
    pyplot().close(figure)
    return f"figures/{name}.png"
