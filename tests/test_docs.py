"""The site: its reference is whole, its numbers are those of the records."""

from __future__ import annotations

import importlib
import inspect
import json
import re
import statistics
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"

MODULES = ("", ".baselines", ".datasets", ".exceptions", ".metrics", ".plot", ".report")
# Lists of names, and modules that have their own entries.
NOT_APART = {"FCPS_NAMES", "LIFTS", "NAMES", "__version__", "datasets", "exceptions"}
NOT_APART |= {"metrics"}


def public_names() -> list[tuple[str, str]]:
    found = []
    for suffix in MODULES:
        module = importlib.import_module(f"scedae{suffix}")
        names = getattr(module, "__all__", None) or [
            name
            for name, value in vars(module).items()
            if inspect.isclass(value) and value.__module__ == module.__name__
        ]
        found += [(module.__name__, name) for name in names if name not in NOT_APART]
    return found


@pytest.mark.parametrize(("module", "name"), public_names())
def test_every_public_name_is_in_the_reference_with_an_example(module, name):
    page = (DOCS / "api" / "index.rst").read_text()
    listed = page.split(f".. currentmodule:: {module}\n", 1)[1]
    listed = listed.split(".. currentmodule::")[0]
    assert re.search(rf"^   {name}$", listed, re.MULTILINE), "not in docs/api/index.rst"
    assert ">>> " in getattr(importlib.import_module(module), name).__doc__


COLUMNS = ("default", "lsc", "kmeans", "spectral", "umap-gmm", "evoc-nearest")


def recorded() -> dict[tuple[str, str], list[float]]:
    """ARI by data and recipe; of a run that both files have, the first counts."""
    runs: dict[tuple[str, str, int], float] = {}
    for name in ("default", "quality"):
        for line in (DOCS / "results" / f"{name}.jsonl").read_text().splitlines():
            run = json.loads(line)
            runs.setdefault((run["data"], run["recipe"], run["seed"]), run["ari"])
    scores: dict[tuple[str, str], list[float]] = {}
    for (data, recipe, _), ari in runs.items():
        scores.setdefault((data, recipe), []).append(ari)
    return scores


def test_the_table_of_the_performance_page_is_that_of_the_records():
    scores = recorded()
    page = (DOCS / "performance.md").read_text()
    page = page[page.index("| data | rows |") : page.index("**Where it wins**")]
    lines = re.findall(r"^\| (\w+) \| [\d,]+ \|(.+)\|$", page, re.MULTILINE)
    assert {name for name, _ in lines} == {data for data, _ in scores}
    for data, cells in lines:
        shown = [cell.strip(" *").split(" ")[0] for cell in cells.split("|")]
        for recipe, cell in zip(COLUMNS, shown, strict=True):
            runs = scores.get((data, recipe))
            if runs is None:
                assert cell == ""
            else:
                assert float(cell) == pytest.approx(statistics.mean(runs), abs=0.051)


def scripts() -> list[Path]:
    return sorted((ROOT / "examples" / "gallery").rglob("plot_*.py"))


def test_every_example_of_the_gallery_has_its_picture():
    made = {path.name.rsplit("-", 1)[0] for path in (DOCS / "images/made").iterdir()}
    assert {path.stem.removeprefix("plot_") for path in scripts()} == made
    assert len(made) >= 15


def test_kept_pictures_are_small():
    sizes = [path.stat().st_size for path in (DOCS / "images/made").iterdir()]
    assert sum(sizes) < 700_000


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    sys.path.insert(0, str(DOCS / "_ext"))
    try:
        from check_links import broken
    finally:
        sys.path.pop(0)
    (tmp_path / "a.html").write_text(
        '<p id="here"><a href="b.html#there">1</a><a href="b.html#nowhere">2</a>'
        '<a href="#here">3</a><img src="gone.png"><a href="https://x.org/y">4</a>'
    )
    (tmp_path / "b.html").write_text('<p id="there">')
    found = {link for _, link in broken(tmp_path)}
    assert found == {"b.html#nowhere", "gone.png"}
