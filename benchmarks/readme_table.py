"""README's table against other methods, from the records.

    python benchmarks/readme_table.py            prints it
    python benchmarks/readme_table.py --write    puts it into README.md

The records are docs/results/default.jsonl and docs/results/quality.jsonl; a test
compares README with them.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path

from quality_table import Record, cells

ROOT = Path(__file__).parent.parent
RECORDS = [ROOT / "docs" / "results" / f"{n}.jsonl" for n in ("default", "quality")]
README = ROOT / "README.md"
BEGIN, END = "<!-- table: benchmarks/readme_table.py -->", "<!-- end of the table -->"

OURS = "default"
METHODS = {
    OURS: "**scedae**",
    "kmeans": "k-means",
    "spectral": "spectral",
    "umap-gmm": "UMAP + mixture",
    "evoc-nearest": "EVoC",
}
DATA = {
    "digits": "digits, 8 x 8 pixels",
    "usps": "USPS digits",
    "mnist": "MNIST digits",
    "pendigits": "PenDigits, strokes",
    "coil20": "COIL-20, objects",
    "letter": "letters, 26 classes",
    "segment": "image segments",
    "sc_worm_neuron": "worm neurons, single cells",
    "sc_mouse_bladder2100": "mouse bladder, single cells",
    "har_watch_exercises": "watch: exercises",
    "text_r8_tfidf2000": "Reuters R8, TF-IDF",
    "text_webkb_tfidf2000": "WebKB, TF-IDF",
    "text_banking77_use512": "77 intents, sentence embeddings",
}
SHAPES = {
    "atom",
    "chainlink",
    "engytime",
    "hepta",
    "lsun",
    "target",
    "tetra",
    "twodiamonds",
    "wingnut",
}
SCORE = "acc"
TIE = 0.5  # points: less is nobody's lead

Means = dict[tuple[str, str], float]


def read_records() -> list[Record]:
    return [
        json.loads(line) for path in RECORDS for line in path.read_text().splitlines()
    ]


def means(records: list[Record]) -> Means:
    """Data set and method → mean over seeds, as printed; shapes are one data set."""
    of_sets = {k: statistics.mean(v) for k, v in cells(records, SCORE).items()}
    found = {key: round(mean, 1) for key, mean in of_sets.items()}
    for method in METHODS:
        shapes = [of_sets[d, method] for d in SHAPES if (d, method) in of_sets]
        if len(shapes) == len(SHAPES):
            found["shapes", method] = round(statistics.mean(shapes), 1)
    return found


def line(found: Means, data: str, name: str, rows: str) -> str:
    values = {m: found[data, m] for m in METHODS if (data, m) in found}
    best = max(values.values())

    def cell(method: str) -> str:
        if method not in values:
            return "–"
        text = f"{values[method]:.1f}"
        return f"**{text}**" if values[method] > best - TIE else text

    return f"| {name} | {rows} | {' | '.join(map(cell, METHODS))} |"


def won_and_lost(found: Means, method: str) -> str:
    """Over single sets: by more than TIE points, of those that both were run on."""
    leads = [
        mean - found[data, method]
        for (data, ours), mean in found.items()
        if ours == OURS and data in {*DATA, *SHAPES} and (data, method) in found
    ]
    won, lost = sum(d > TIE for d in leads), sum(d < -TIE for d in leads)
    return f"{won} : {len(leads) - won - lost} : {lost}"


def table(records: list[Record]) -> str:
    found = means(records)
    rows = {record["data"]: f"{record['rows']:,}" for record in records}
    lines = [
        f"| accuracy, % | rows | {' | '.join(METHODS.values())} |",
        f"|---|--:|{'--:|' * len(METHODS)}",
        *(line(found, data, name, rows[data]) for data, name in DATA.items()),
        line(found, "shapes", "nine FCPS shapes, mean", ""),
    ]
    ends = [won_and_lost(found, method) for method in METHODS if method != OURS]
    lines.append(f"| *scedae won : tied : lost* |  |  | {' | '.join(ends)} |")
    return "\n".join(lines)


def with_table(text: str, new: str) -> str:
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{new}\n{END}{rest.split(END)[1]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="into README.md")
    new = table(read_records())
    if parser.parse_args().write:
        README.write_text(with_table(README.read_text("utf-8"), new), "utf-8")
    else:
        print(new)


if __name__ == "__main__":
    main()
