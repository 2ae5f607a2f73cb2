"""The report: collect what is known of a model, and render it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from scedae import _palette as palette
from scedae._provenance import versions
from scedae._whole_file import whole_file
from scedae.report import method, recipe
from scedae.report.cards import Card, choose_rows, describe_cluster
from scedae.report.findings import Findings, look_at
from scedae.report.member_lines import draw_curves, member_lines
from scedae.report.nested import other_numbers, pack_layers
from scedae.report.pictures import picture_sheet
from scedae.report.places import all_places
from scedae.report.points import pack_points, sample_rows
from scedae.report.profiles import heat_map
from scedae.report.render import render_page
from scedae.report.run import Run, read_run
from scedae.report.scores import Scores, score
from scedae.report.source import check_source
from scedae.report.spectrum import draw_spectrum
from scedae.report.stability import expected_to_hold, second_opinion


def write_report(
    model: Any,
    X: Any,
    path: str | os.PathLike[str],
    *,
    ids: Any = None,
    columns: Any = None,
    true_labels: Any = None,
    about: Any = None,
    names: Mapping[int, str] | None = None,
    info: Mapping[str, Any] | None = None,
) -> None:
    """Write one HTML file that shows what a model found.

    The file needs nothing else: no network, no server. It holds at most 10,000 rows on
    its map, and says so when there are more.

    Parameters
    ----------
    model : SCEDAE, LandmarkSpectralClustering or AutoencoderLSC
        Fitted.
    X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
        The rows of the fit.
    path : str or path
        Written to a temporary file first, then moved here.
    ids : sequence of str, default=None
        One name for each row; None takes the index of a DataFrame, else numbers.
    columns : sequence of str, default=None
        One name for each column; None takes those of a DataFrame, else numbers.
    true_labels : array-like of shape (n_samples,), default=None
        Known classes, used to score and for nothing else.
    about : DataFrame or dict of columns, default=None
        What else is known of the rows, in real units: numbers, moments and categories,
        clustered or not. They describe clusters and colour the map. None takes the
        columns of X, unless there are very many.
    names : dict, default=None
        Names of clusters by their number; they can be changed on the page.
    info : dict, default=None
        What is known of the run. ``data`` (a path, whose name becomes the title, or a
        dict with ``path`` and ``sha256``), ``device``, ``seconds`` (a number, or a dict
        by stage), ``versions`` (a dict) and ``warnings`` (a list of texts, shown at the
        top) have their own place; any other text or number, such as ``command``, is
        listed under its name.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from scedae import LandmarkSpectralClustering
    >>> from scedae.datasets import make_lsun
    >>> X, y = make_lsun(300, random_state=0)
    >>> model = LandmarkSpectralClustering(3, random_state=0).fit(X)
    >>> from scedae.report import write_report
    >>> path = Path(tempfile.mkdtemp()) / "report.html"
    >>> write_report(model, X, path)
    >>> path.read_text(encoding="utf-8").startswith("<!doctype html>")
    True
    """
    page = render_report(
        model,
        X,
        ids=ids,
        columns=columns,
        true_labels=true_labels,
        about=about,
        names=names,
        info=info,
    )
    with whole_file(path) as file:
        file.write_text(page, encoding="utf-8")


def render_report(
    model: Any,
    X: Any,
    *,
    ids: Any = None,
    columns: Any = None,
    true_labels: Any = None,
    about: Any = None,
    names: Mapping[int, str] | None = None,
    info: Mapping[str, Any] | None = None,
) -> str:
    """The page of ``write_report`` as a text."""
    source = check_source(model, X, ids, columns, true_labels)
    findings = look_at(model, source, about)
    return render_page(_collect(model, findings, names or {}, read_run(info or {})))


def _collect(
    model: Any, findings: Findings, names: Mapping[int, str], run: Run
) -> dict[str, Any]:
    """What the templates show."""
    source, is_table = findings.source, hasattr(model, "table_")
    labels, side = findings.labels, findings.side
    chosen = {int(c): choose_rows(findings, int(c)) for c in np.unique(labels)}
    cards = [
        describe_cluster(findings, c, rows, names.get(c)) for c, rows in chosen.items()
    ]
    on_cards = [np.r_[rows.typical, rows.doubtful] for rows in chosen.values()]
    sample = sample_rows(source.n_rows, np.concatenate(on_cards))
    sheet = None if side is None else picture_sheet(source.take(sample), side)
    maps = all_places(model.embedding_[sample], labels[sample])
    scores = None if source.classes is None else score(source.classes, labels)
    return {
        "title": run.name or "Cluster report",
        "estimator": type(model).__name__,
        "n_rows": source.n_rows,
        "n_clusters": len(cards),
        "n_points": len(sample),
        "story": method.story(model, source),
        "facts": method.facts(model, run),
        "numbers": _key_numbers(model, findings, cards, scores, run),
        "themes": {"light": palette.LIGHT, "dark": palette.DARK},
        "cards": cards,
        "widest_bar": max(
            (abs(feature.difference) for card in cards for feature in card.features),
            default=1.0,
        ),
        "largest": max(card.size for card in cards),
        "maps": maps,
        "sheet": sheet,
        "place_on_sheet": {int(row): i for i, row in enumerate(sample)},
        "points": {
            **pack_points(findings, sample, cards, maps, sheet),
            "layers": pack_layers(model, sample),
        },
        "spectrum": draw_spectrum(model.singular_values_, len(model.cluster_centers_)),
        "heat": heat_map(findings.traits, [card.label for card in cards]),
        "warnings": run.warnings,
        # What the number of clusters rests on: a paragraph each.
        "evidence": [text for text in _evidence(model) if text],
        "members": member_lines(model),
        "curves": draw_curves(model.members_),
        "scores": scores,
        "code": recipe.code(model, run.command),
        "versions": run.versions or versions(),
        # The command is told once.
        "notes": [note for note in run.notes if note[1] != run.command or not is_table],
    }


def _evidence(model: Any) -> tuple[str | None, ...]:
    return second_opinion(model), expected_to_hold(model), other_numbers(model)


def _key_numbers(
    model: Any,
    findings: Findings,
    cards: list[Card],
    scores: Scores | None,
    run: Run,
) -> list[tuple[str, str]]:
    """The line of large numbers at the top."""
    # Of a table, not of the features that its columns became.
    used = sum(bool(each["used"]) for each in run.table)
    numbers = [
        ("Columns", f"{used or findings.source.n_columns:,}"),
        ("Smallest cluster", f"{min(card.size for card in cards):,}"),
        ("Largest cluster", f"{max(card.size for card in cards):,}"),
        ("Mean confidence", f"{findings.confidence.mean():.2f}"),
        ("Stability", f"{model.stability_:.2f}"),
    ]
    if scores is not None:
        numbers.append(("Accuracy", f"{100 * scores.acc:.1f}%"))
    return numbers
