"""What was done, in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scedae.report.numerals import seconds
from scedae.report.run import Run
from scedae.report.source import NamedRows

_SCALING = {
    "none": "values taken as they are",
    "raw": "values taken as they are",
    "range": "all values brought into 0 … 1 by one common factor",
    "log": "log(1 + x), then divided by its maximum, as is usual for counts",
    "minmax": "each column brought into 0 … 1 by itself",
    "l2": "each row divided by its length",
    "standard": "each column centred and divided by its standard deviation",
    "power": "each column centred and divided by its standard deviation",
}
_MOST_NAMES = 6  # of columns, in a sentence
_ENSEMBLES = {
    "structure": "differ in the order of the hidden layers",
    "initialization": "differ in their random start",
    "epochs": "are stages of one training",
    "landmarks": "differ in their number of landmarks",
}
_METRIC = (
    "diffusion coordinates, rescaled such that clusters are round (within-class "
    "whitening, a Mahalanobis metric)"
)
# Stages that take less than this share of the time are not listed.
_WORTH_TELLING = 0.02
_NUMBERS = (
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
)

# More names than this make no line that anybody reads.
_NAMES_SHOWN = 12
_KINDS = {
    "number": "numbers",
    "date": "dates",
    "category": "categories",
    "text": "free text",
}


def story(model: Any, source: NamedRows) -> list[str]:
    """Two short paragraphs for someone who does not know the method."""
    networks = _networks(model)
    n_clusters = len(model.cluster_centers_)
    first = (
        f"The {source.n_rows:,} rows were sorted into {n_clusters:,} "
        f"{'cluster' if n_clusters == 1 else 'clusters'} by likeness alone. "
        "No one told the method which row belongs where"
        + (
            "; the known classes served only to score the result."
            if source.classes is not None
            else "."
        )
    )
    if not networks:
        second = (
            "Rows were compared as they are, through landmarks: typical rows that "
            "stand for the others. Rows tied to the same landmarks end up together."
        )
    else:
        second = (
            f"{_count(len(networks)).capitalize()} "
            + (
                "network (autoencoder)"
                if len(networks) == 1
                else "networks (autoencoders)"
            )
            + " learnt to squeeze each row into "
            f"{model.encoding_dim} numbers and to restore it from them, which keeps "
            "what matters and drops noise. Among these short codes many "
            "landmarks stand for all rows, and rows tied to the same landmarks"
            + (" " if len(networks) == 1 else ", in the eyes of most networks, ")
            + "end up together."
        )
    return [first, second]


def facts(model: Any, run: Run) -> list[tuple[str, str]]:
    """The settings that were used, after every "auto" was resolved."""
    lines = [("Columns", _columns(run.table))] if run.table else []
    if hasattr(model, "views_"):
        lines.append(("Views", _views(model)))
    lines.append(("Scaling", _scaling(model)))
    n_clusters = len(model.cluster_centers_)
    if model.n_clusters_ < n_clusters:
        empty = f"{n_clusters - model.n_clusters_:,} of {n_clusters:,}"
        lines.append(("Clusters", f"{empty} asked for stayed empty"))
    specs = [member.spec for member in model.members_]
    if _networks(model):
        epochs = [spec.epochs for spec in specs if spec.hidden_layers]
        lines.append(("Autoencoders", _autoencoders(model)))
        lines.append(("Training", _range("epoch", epochs)))
    elif (graph := _enough(model)) is not None:
        lines.append(("Autoencoders", _not_needed(graph)))
    landmarks = _range("landmark", [spec.n_landmarks for spec in specs])
    each = " for each member" if len(specs) > 1 else ""
    ties = f"; every row tied to the {model.pipeline_.n_neighbors} nearest"
    lines.append(("Landmarks", landmarks + each + ties))
    if len(getattr(model, "candidates_", ())) > 1:
        lines.append(("Graph", _graph(model)))
    if getattr(model, "embedding", None) == "diffusion":
        lines.append(("Metric", _METRIC))
    if getattr(model, "refinement_", None) is not None:
        lines.append(("Refinement", _refinement(model.refinement_)))
    lines.append(("Device", _device(run.device or str(model.device))))
    if run.seconds:
        lines.append(("Time", _time(run.seconds)))
    return lines


def _enough(model: Any) -> Any:
    """The graph of near rows alone, if it was enough; else None."""
    if not hasattr(model, "hidden_layers") or _networks(model):
        return None  # of those that know no networks, nobody asks
    return next(graph for graph in model.candidates_ if graph.chosen)


def _not_needed(graph: Any) -> str:
    return (
        "none: near rows fall into clear clusters by themselves. Of a cluster's ties "
        f"to near rows {graph.cut:.1%} lead out of it, and the largest cluster has "
        f"{graph.largest:.0%} of the rows"
    )


def _graph(model: Any) -> str:
    """Which graphs were tried, and why this one was kept."""
    tried = [
        f"{graph.n_landmarks:,} landmarks, {graph.n_neighbors} neighbours: "
        f"{graph.cut:.1%}, {graph.largest:.0%}{_remarks(graph)}"
        for graph in model.candidates_
    ]
    head = (
        f"{len(tried)} tried, with the share of a cluster's ties to near rows that "
        "lead out of it, and of the rows in the largest cluster (small is good):"
    )
    return "\n".join([head, *tried])


def _remarks(graph: Any) -> str:
    said = ["after a longer diffusion"] * graph.longer + ["kept"] * graph.chosen
    return f" ({', '.join(said)})" if said else ""


def _columns(table: Sequence[Mapping[str, Any]]) -> str:
    """What was done with each column of a table, a line for each kind."""
    used = [each for each in table if each["used"]]
    lines = [f"{len(used):,} of {len(table):,} clustered"]
    for kind in dict.fromkeys(each["kind"] for each in used):
        mine = [_with_gaps(each) for each in used if each["kind"] == kind]
        lines.append(f"{_KINDS.get(kind, kind)}: {_some(mine)}")
    if left_out := [f"{e['column']} ({e['kind']})" for e in table if not e["used"]]:
        lines.append(f"left out: {_some(left_out)}")
    return "\n".join(lines)


def _with_gaps(column: Mapping[str, Any]) -> str:
    gaps = int(column["gaps"])
    if not gaps:
        return str(column["column"])
    return f"{column['column']} ({gaps:,} gap{'' if gaps == 1 else 's'})"


def _some(names: Sequence[str]) -> str:
    more = len(names) - _NAMES_SHOWN
    return ", ".join(names[:_NAMES_SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def _refinement(refinement: Any) -> str:
    """What the last step did, and between which clusters rows went most."""
    text = "a network that learnt from the ensemble "
    if not refinement.kept:
        return f"{text}was asked and not followed: {refinement.reason}"
    text += f"moved {refinement.moved:.1%} of the rows"
    if refinement.flows:
        most = [f"{a} to {b} ({n:,})" for a, b, n in refinement.flows[:3]]
        text += f", most of them from cluster {', '.join(most)}"
    return f"{text}; {refinement.reason}"


def _views(model: Any) -> str:
    """A line for each view: how wide it is, and what its members agree to."""
    lines = [f"{len(model.views_)} matrices of the same rows"]
    for view in model.views_.values():
        text = f"{view.name}: {view.n_features_in:,} columns"
        if not view.trained:
            text += ", encoded elsewhere"
        if view.left_out:
            text += "; left out, since clusters are clearer without it"
        elif view.n_members:
            text += f"; its members agree to the clusters by {view.agreement:.0%}"
        lines.append(text)
    return "\n".join(lines)


def _scaling(model: Any) -> str:
    scaler = model.pipeline_.scaler
    if hasattr(scaler, "parts"):
        pairs = zip(scaler.names, scaler.parts, strict=True)
        return "\n".join(f"{name}: {_scaled(model, part)}" for name, part in pairs)
    return _scaled(model, scaler)


def _scaled(model: Any, scaler: Any) -> str:
    text = _SCALING[scaler.kind]
    mixed = hasattr(model, "table_") and not hasattr(model, "views_")
    if scaler.kind == "none" and mixed:
        text = "each column of the table has the weight of one standardised column"
    if scaler.marginals is not None:
        text += _mended(scaler.marginals, getattr(model, "feature_names_in_", None))
    if scaler.directions is not None:
        n = scaler.n_columns
        text += f"; then turned to {n:,} principal direction{'' if n == 1 else 's'}"
    return text


def _mended(marginals: Any, names: Any) -> str:
    """Which columns take a power, weigh less, or nothing; with their names."""
    weight = marginals.weight.numpy()
    found = {
        "skewed, and taken to a power (Yeo–Johnson)": marginals.power.numpy() != 1,
        "of few values, with less weight": (weight > 0) & (weight < 1),
        "left out: hardly a row differs, or no other column goes with it": weight == 0,
    }
    text = ""
    for words, which in found.items():
        if which.any():
            n = int(which.sum())
            text += f"; {n:,} column{'' if n == 1 else 's'} {words}"
            if names is not None and len(names) == len(which):
                some = [str(name) for name in np.asarray(names)[which][:_MOST_NAMES]]
                text += f" ({', '.join([*some, '…'] if n > len(some) else some)})"
    return text


def _networks(model: Any) -> list[tuple[int, ...]]:
    """Hidden widths of each network; members that share a training are one."""
    specs = [member.spec for member in model.members_ if member.spec.hidden_layers]
    return list({spec.training: spec.hidden_layers for spec in specs}.values())


def _autoencoders(model: Any) -> str:
    networks = _networks(model)
    widths = " – ".join(map(str, networks[0]))
    text = f"{len(networks)}, hidden layers {widths}, codes of {model.encoding_dim}"
    ensemble = getattr(model, "ensemble", None)
    n_members = sum(bool(member.spec.hidden_layers) for member in model.members_)
    if n_members > 1 and isinstance(ensemble, str):
        text += f"; {n_members} members, which {_ENSEMBLES[ensemble]}"
    n_others = len(model.members_) - n_members
    if n_others:
        text += f"; {n_others} more on the rows themselves"
    return text


def _range(what: str, counts: list[int]) -> str:
    low, high = min(counts), max(counts)
    if low == high == 1:
        return f"1 {what}"
    return f"{low:,} {what}s" if low == high else f"{low:,} to {high:,} {what}s"


def _device(name: str) -> str:
    """ "cpu", "auto", "cuda" or "cuda:0 (its name)" in words."""
    if name.startswith("cuda"):
        _, bracket, model = name.partition("(")
        return f"GPU {bracket}{model}".strip()
    return {"cpu": "CPU", "auto": "a GPU where there is one, else CPU"}.get(name, name)


def _time(taken: dict[str, float]) -> str:
    """Seconds in all, and by stage where a stage takes its share."""
    total = taken.get("total", sum(taken.values()))
    stages = [
        f"{stage} {seconds(part)}"
        for stage, part in taken.items()
        if stage != "total" and part >= _WORTH_TELLING * total
    ]
    return seconds(total) + (f" ({', '.join(stages)})" if stages else "")


def _count(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else f"{number:,}"
