"""Text from the data never becomes markup or code."""

import json
import re
from html.parser import HTMLParser

from tests.helpers import ESTIMATORS

NASTY = "<script>alert(1)</script>"
QUOTED = """"><img src=x onerror='alert(2)'>`${alert(3)}`</style></script>{{ 7 * 6 }}"""


class Tags(HTMLParser):
    """Counts tags, and remembers attributes that start a script."""

    def __init__(self):
        super().__init__()
        self.count = {}
        self.handlers = []

    def handle_starttag(self, tag, attributes):
        self.count[tag] = self.count.get(tag, 0) + 1
        self.handlers += [name for name, _ in attributes if name.startswith("on")]


def parsed(text):
    tags = Tags()
    tags.feed(text)
    return tags


def test_names_are_only_names(blobs, report):
    X, y = blobs
    model = ESTIMATORS["SCEDAE"]().fit(X)
    nasty = {
        "ids": [f"{i} {QUOTED}" for i in range(len(X))],
        "columns": [f"{NASTY} {j}" for j in range(X.shape[1])],
        "true_labels": [f"{NASTY}{label}" for label in y],
        "info": {"data": f"/tmp/{QUOTED}.csv", NASTY: QUOTED, "device": NASTY},
    }
    plain = {
        "ids": [f"a long name {i}" for i in range(len(X))],
        "columns": [str(j) for j in range(X.shape[1])],
        "true_labels": y,
        "info": {"data": "/tmp/a.csv", "a": "b", "device": "c"},
    }
    text = report(model, X, **nasty)
    tags, expected = parsed(text), parsed(report(model, X, **plain))
    tags.count.pop("wbr")  # names may break after their marks
    assert tags.count == expected.count
    assert tags.handlers == []
    assert "<script>alert" not in text and "<img src=x" not in text


def test_names_arrive_in_the_script_unchanged(blobs, report):
    X, _ = blobs
    model = ESTIMATORS["LandmarkSpectralClustering"]().fit(X)
    ids = [f"{i} {NASTY} \u2028 & 'quoted'" for i in range(len(X))]
    text = report(model, X, ids=ids)
    data = re.search(r'id="points">(.*?)</script>', text, re.DOTALL)[1]
    assert json.loads(data)["ids"] == ids


def test_no_name_turns_the_text_beside_it_around(blobs, report):
    X, y = blobs
    model = ESTIMATORS["SCEDAE"]().fit(X)
    turned = "\u202egnp.exe\u2066 \\u202e \\\\u202e"
    page = report(
        model,
        X,
        ids=[f"{turned}{i}" for i in range(len(X))],
        columns=[f"{turned}{j}" for j in range(X.shape[1])],
        true_labels=[f"{turned}{label}" for label in y],
        info={"data": f"/tmp/{turned}.csv"},
    )
    assert not re.search("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]", page)
    assert not re.search(r"(?<!\\)(?:\\\\)*\\u202e", page)
