"""The parts of a report against naive references."""

import io
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from matplotlib.image import imread

from scedae import SCEDAE, MemberSpec
from scedae import _palette as palette
from scedae.datasets import load_digits
from scedae.report import numerals, recipe
from scedae.report.features import contrast
from scedae.report.pictures import picture_sheet, picture_side
from scedae.report.places import all_places
from scedae.report.png import encode_png
from scedae.report.points import sample_rows
from scedae.report.scores import score
from scedae.report.source import NamedRows
from scedae.report.spectrum import draw_spectrum
from scedae.report.stability import second_opinion
from tests.report.conftest import smooth_pictures


def source_of(X, columns=None):
    names = columns or [f"column {j}" for j in range(X.shape[1])]
    ids = [str(i) for i in range(len(X))]
    return NamedRows(X, ids, names, columns is not None, None)


def test_contrast_against_plain_numpy(rng):
    X = rng.normal(1e6, 3, (5000, 4))
    X[:, 3] = 7
    labels = rng.integers(0, 3, 5000)
    found = contrast(source_of(X), labels, 4)
    for c in range(3):
        difference = X[labels == c].mean(0) - X[labels != c].mean(0)
        expected = difference[:3] / X[:, :3].std(0)
        assert found.differences[c, :3] == pytest.approx(expected, rel=1e-5)
        assert found.means[c] == pytest.approx(X[labels == c].mean(0))
    assert (found.differences[:, 3] == 0).all()
    assert (found.differences[3] == 0).all()


def test_pictures_are_told_from_tables(rng):
    assert picture_side(source_of(load_digits()[0])) == 8
    assert picture_side(source_of(smooth_pictures(100, 9)[0])) == 9
    assert picture_side(source_of(rng.uniform(0, 255, (500, 64)))) is None
    assert picture_side(source_of(load_digits()[0][:, :60])) is None
    assert picture_side(source_of(-load_digits()[0])) is None
    pixels = [f"pixel_{i}_{j}" for i in range(8) for j in range(8)]
    assert picture_side(source_of(load_digits()[0], pixels)) == 8
    genes = [f"gene {j}" for j in range(64)]
    assert picture_side(source_of(load_digits()[0], genes)) is None


@pytest.mark.data
def test_tables_of_sixteen_columns_are_no_pictures(data_folder):
    X = np.load(data_folder / "pendigits.npz")["X"]
    assert picture_side(source_of(X)) is None


def test_png_is_read_by_others(rng):
    for shape in ((3, 5), (4, 2, 4)):
        pixels = rng.integers(0, 256, shape, dtype=np.uint8)
        read = imread(io.BytesIO(encode_png(pixels)), format="png")
        assert ((255 * read).round() == pixels).all()


def test_noise_is_shrunk_until_the_sheet_is_small(rng):
    sheet = picture_sheet(rng.uniform(size=(10_000, 1024)), 32)
    assert sheet.side == 16
    assert len(sheet.uri) < 4_000_000


def test_a_sample_has_the_rows_of_the_cards():
    always = np.array([19_999, 3, 3, 77])
    sample = sample_rows(20_000, always)
    assert len(sample) == len(np.unique(sample)) == 10_000
    assert np.isin(always, sample).all()
    assert (np.diff(sample) > 0).all()


def test_a_cluster_on_one_spot_is_spread():
    points = np.repeat(np.eye(3), 50, axis=0)
    labels = np.repeat(np.arange(3), 50)
    (components,) = all_places(points, labels)
    assert len(np.unique(components.xy.round(6), axis=0)) == 150
    assert "one spot" in components.note
    middles = [components.xy[labels == c].mean(0) for c in range(3)]
    assert np.abs(np.array(middles) - np.eye(3)[:, :2]).max() < 0.02


def test_confusion_has_matches_on_its_diagonal():
    classes = np.array([10, 10, 10, 9, 9, 9, 2, 2])
    labels = np.array([0, 0, 1, 1, 1, 1, 3, 0])
    found = score(classes, labels).confusion
    assert found.classes == ["2", "9", "10"]
    assert found.clusters == [3, 1, 0]
    assert found.counts == [[1, 0, 1], [0, 3, 0], [0, 1, 2]]


@pytest.mark.parametrize(
    ("stability", "words"),
    [(0.93, "nearly the same"), (0.6, "some of these"), (0.1, "do not lean on these")],
)
def test_the_second_opinion_says_what_it_means(stability, words):
    text = second_opinion(SimpleNamespace(stability_=stability))
    assert f"by {stability:.2f}" in text
    assert words in text
    assert "found, not given" not in text


def test_the_second_opinion_tells_how_the_number_was_found():
    candidates = [SimpleNamespace(n_clusters=k, score=1 / k) for k in (4, 5, 8, 9, 10)]
    model = SimpleNamespace(
        stability_=1.0, suggestion_=SimpleNamespace(candidates=candidates)
    )
    told = "4 scores 0.25, the next best are 5 (0.20), 8 (0.12), 9 (0.11)."
    assert told in second_opinion(model)
    model.suggestion_.candidates = candidates[:1]
    assert second_opinion(model).endswith("4 scores 0.25.")


def test_the_spectrum_names_the_largest_drop():
    values = np.array([0.99, 0.98, 0.7, 0.69, 0.68])
    assert "right after value 3" in draw_spectrum(values, 3).reading
    assert "k = 3 as well" in draw_spectrum(values, 4).reading
    even = np.linspace(0.99, 0.9, 7)
    assert "neither for nor against k = 3" in draw_spectrum(even, 3).reading
    assert "say little" in draw_spectrum(np.ones(3), 3).reading


def test_numbers_as_people_read_them():
    assert numerals.short(1797) == "1,797"
    assert numerals.short(-0.03123) == "−0.0312"
    assert numerals.aligned(-0.0004, 0.5) == "0.00"
    assert numerals.aligned(12.3456, 30.0) == "12"
    assert numerals.percent(0.0004) == "<0.1%"
    assert numerals.percent(0.061) == "6.1%"
    assert numerals.seconds(200) == "3 min 20 s"


# Linear RGB as eyes see it that lack one kind of cone (Machado et al., 2009).
SIGHT = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("colors", [palette.LIGHT, palette.DARK], ids=["light", "dark"])
def test_colors_stay_apart(sight, colors):
    """At least as far as the eight colours of Okabe and Ito: 0.076 in OKLab."""
    rgb = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in colors]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    cones = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    to_lab = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    seen = (linear @ np.transpose(SIGHT[sight])).clip(0, 1)
    lab = np.cbrt(seen @ np.transpose(cones)) @ np.transpose(to_lab)
    distance = np.linalg.norm(lab[:, None] - lab, axis=2) + np.eye(10)
    assert distance.min() > 0.076


def test_the_code_repeats_a_fit_of_any_parameters():
    members = [MemberSpec((8,), 5, 20), MemberSpec((), 0, 20)]
    model = SCEDAE(np.int64(3), ensemble=members, device=torch.device("cpu"))
    model.seed_ = 7
    found = recipe.code(model)
    assert "from scedae import MemberSpec" in found
    names = {}
    exec(found.rsplit("\n", 1)[0], names)
    assert names["model"].ensemble == members
    assert names["model"].n_clusters == 3
    assert (names["model"].device, names["model"].random_state) == ("cpu", 7)
