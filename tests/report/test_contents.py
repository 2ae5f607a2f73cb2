"""What a report says, read from its HTML."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.datasets import make_blobs

from scedae import SCEDAE, LandmarkSpectralClustering
from scedae.baselines import AutoencoderLSC
from scedae.exceptions import DegenerateDataWarning
from scedae.metrics import evaluate
from scedae.report import points as points_module
from scedae.report import write_report
from tests.helpers import ESTIMATORS, QUICK
from tests.report.conftest import smooth_pictures

NETWORK = re.compile(r"""(?:src|href)=["']?(?:https?:)?//|url\(["']?(?:https?:)?//""")


def test_digits(digits, digits_page):
    model, _, y = digits
    text = digits_page.read_text(encoding="utf-8")
    assert "<h1>300 rows in 10 clusters</h1>" in text
    assert "<title>digits" in text
    assert text.count('<article class="card"') == 10
    assert 'class="picture"' in text and "data:image/png;base64," in text
    scores = evaluate(y, model.labels_)
    assert f"{100 * scores['acc']:.1f}%" in text
    assert f"{scores['nmi']:.3f}" in text
    assert 'class="confusion"' in text
    n_trained = sum(bool(member.history) for member in model.members_)
    assert text.count('<polyline class="curve"') == n_trained
    assert "random_state=0" in text and "hidden_layers=(12, 8, 10)" in text


def test_the_page_asks_for_nothing(digits_page):
    assert not NETWORK.search(digits_page.read_text(encoding="utf-8"))


def test_the_code_in_the_page_repeats_the_fit(digits, digits_page):
    model, X, _ = digits
    text = digits_page.read_text(encoding="utf-8")
    code = re.search(r'<code id="code">(.*?)</code>', text, re.DOTALL)[1]
    scope = {"X": X}
    exec(code.replace("&#39;", "'"), scope)
    assert (scope["labels"] == model.labels_).all()


def test_a_table_with_names(blobs, report):
    X, y = blobs
    columns = ["height", "width", "mass", "age", "speed", "charge"]
    frame = pd.DataFrame(X, columns=columns, index=[f"cell {i}" for i in range(len(X))])
    text = report(ESTIMATORS["SCEDAE"]().fit(frame), frame, true_labels=y)
    assert all(name in text for name in columns)
    assert "cell 17" in text
    assert 'class="picture"' not in text
    assert text.count('<table class="rows') == 3


def test_known_classes_are_optional(blobs, report):
    X, _ = blobs
    text = report(ESTIMATORS["SCEDAE"]().fit(X), X)
    assert 'class="confusion"' not in text and "Accuracy" not in text


def test_classes_of_any_kind(blobs, report):
    X, y = blobs
    names = np.array(["a", "b", None], dtype=object)[y]
    model = ESTIMATORS["LandmarkSpectralClustering"]().fit(X)
    assert ">None</th>" in report(model, X, true_labels=names)


@pytest.mark.parametrize("name", ["LandmarkSpectralClustering", "AutoencoderLSC"])
def test_other_estimators(name, blobs, report):
    X, _ = blobs
    text = report(ESTIMATORS[name]().fit(X), X)
    trained = name == "AutoencoderLSC"
    assert ('id="curves"' in text) == trained
    assert f"model = {name}(" in text
    assert ("from scedae.baselines import" in text) == trained


def test_a_loaded_model(blobs, report, tmp_path):
    X, _ = blobs
    model = ESTIMATORS["SCEDAE"]().fit(X)
    model.save(tmp_path / "model")
    assert report(model, X) == report(SCEDAE.load(tmp_path / "model"), X)


def test_sparse_rows_give_the_same_page(blobs, report):
    X = np.where(np.abs(blobs[0]) > 2, blobs[0], 0)
    model = ESTIMATORS["LandmarkSpectralClustering"]().fit(X)
    assert report(model, X) == report(model, scipy.sparse.csr_array(X))


def test_one_cluster(blobs, report):
    X, _ = blobs
    with pytest.warns(DegenerateDataWarning):
        model = ESTIMATORS["SCEDAE"](1).fit(X)
    text = report(model, X)
    assert "240 rows in 1 cluster</h1>" in text
    assert text.count('<article class="card"') == 1


def test_thirty_clusters(report):
    X, y = make_blobs(900, 8, centers=30, cluster_std=0.5, random_state=0)
    model = LandmarkSpectralClustering(30, random_state=0).fit(X)
    text = report(model, X, true_labels=y)
    looks = set(
        re.findall(r'<i class="mark (\w+)" style="background: var\((.*?)\)', text)
    )
    assert len(looks) == 30


def test_few_rows(report):
    X = np.arange(12.0).reshape(6, 2)
    model = LandmarkSpectralClustering(2, n_landmarks=3, random_state=0).fit(X)
    assert "6 rows in 2 clusters" in report(model, X)


def test_ten_thousand_pictures_stay_small(report):
    X, kinds = smooth_pictures(10_000, 8)
    model = LandmarkSpectralClustering(5, n_landmarks=100, random_state=0).fit(X)
    text = report(model, X, true_labels=kinds)
    assert 'class="picture"' in text
    assert 'id="sampled"' not in text
    assert len(text.encode()) < 2_000_000


def test_no_property_of_the_style_holds_a_picture(digits_page):
    """A browser reads a property again wherever it is used: that took seconds."""
    text = digits_page.read_text()
    assert "background-image: url(data:image/png" in text
    assert not re.search(r"--[\w-]+:\s*url\(", text)


def test_more_rows_are_sampled_and_the_page_says_so(report, monkeypatch):
    monkeypatch.setattr(points_module, "MOST_POINTS", 100)
    X, _ = make_blobs(240, 6, centers=3, random_state=0)
    model = ESTIMATORS["LandmarkSpectralClustering"]().fit(X)
    assert "sample of 100 of the 240 rows" in report(model, X)


def test_agreement_of_members(blobs, report):
    X, _ = blobs
    model = ESTIMATORS["SCEDAE"]().set_params(n_row_members=0).fit(X)
    model.member_agreement_ = np.array([0.97, 0.5, np.nan, 0.9, 0.8, 0.7])
    text = report(model, X)
    assert 'id="agreement"' in text and "97%" in text


def test_members_of_one_training_share_a_curve(blobs, report):
    X, _ = blobs
    model = SCEDAE(3, ensemble="epochs", **QUICK, random_state=0).fit(X)
    text = report(model, X)
    assert text.count('<polyline class="curve"') == 1
    assert "member 1, 2, 3, 4, 5" in text
    assert "One network (autoencoder)" in text
    assert "5 members, which are stages of one training; 3 more on the rows" in text


def test_what_is_known_of_the_run_is_told(blobs, report):
    X, _ = blobs
    info = {
        "data": "cells.csv",
        "sha256": "ab" * 32,
        "seconds": {"training": 75.0, "clustering": 0.5},
        "versions": {"scedae": "9.9.9"},
        "device": "cuda",
        "command": "scedae fit cells.csv -k 3",
    }
    text = report(AutoencoderLSC(3, **QUICK, random_state=0).fit(X), X, info=info)
    for told in ("ab" * 32, "1 min 15 s", "scedae 9.9.9", "GPU", "scedae fit cells"):
        assert told in text


def test_a_record_of_a_run_is_read_as_it_is(blobs, report):
    """Records inside it, which the page has from the model, are not printed."""
    X, _ = blobs
    info = {
        "data": {"path": "a/cells.csv", "sha256": "cd" * 32, "columns": ["x"]},
        "parameters": {"n_clusters": 3},
        "seconds": {"read": 0.01, "encode": 9.0, "total": 10.0},
        "device": "cuda:0 (NVIDIA H200)",
        "created": "2030-01-01",
        "warnings": [],
    }
    model = ESTIMATORS["LandmarkSpectralClustering"]().fit(X)
    text = report(model, X, info=info)
    for told in ("<title>cells", "cd" * 32, "GPU (NVIDIA H200)", "2030-01-01"):
        assert told in text
    assert "10 s (encode 9.0 s)" in text
    assert "<dt>Parameters</dt>" not in text and "<dt>Warnings</dt>" not in text
    empty = {"data": None, "seconds": None, "versions": None, "device": None}
    assert report(model, X, info=empty) == report(model, X)


def test_the_same_model_gives_the_same_page(blobs, report):
    X, _ = blobs
    model = ESTIMATORS["SCEDAE"]().fit(X)
    assert report(model, X) == report(model, X)


@pytest.mark.parametrize(
    "wrong",
    [
        {"ids": ["a"]},
        {"columns": ["a"]},
        {"true_labels": [1, 2]},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_names_of_the_wrong_length(wrong, blobs, tmp_path):
    X, _ = blobs
    model = ESTIMATORS["LandmarkSpectralClustering"]().fit(X)
    with pytest.raises(ValueError, match=next(iter(wrong))):
        write_report(model, X, tmp_path / "report.html", **wrong)
    assert not list(tmp_path.iterdir())


def test_other_rows_than_those_of_the_fit(blobs, tmp_path):
    X, _ = blobs
    model = ESTIMATORS["LandmarkSpectralClustering"]().fit(X)
    with pytest.raises(ValueError, match="the rows of the fit"):
        write_report(model, X[:10], tmp_path / "report.html")


def test_a_model_without_a_spectrum(blobs, tmp_path):
    X, _ = blobs
    model = ESTIMATORS["AutoencoderKMeans"]().fit(X)
    with pytest.raises(TypeError, match="no report for AutoencoderKMeans"):
        write_report(model, X, tmp_path / "report.html")


def test_rows_that_are_all_equal(report):
    X = np.ones((30, 4))
    with pytest.warns(DegenerateDataWarning):
        model = ESTIMATORS["LandmarkSpectralClustering"](2).fit(X)
    assert "30 rows in" in report(model, X)


def test_a_folder_that_does_not_exist_leaves_nothing(blobs, tmp_path):
    X, _ = blobs
    model = ESTIMATORS["LandmarkSpectralClustering"]().fit(X)
    with pytest.raises(FileNotFoundError):
        write_report(model, X, tmp_path / "nowhere" / "report.html")
    assert not list(tmp_path.iterdir())
