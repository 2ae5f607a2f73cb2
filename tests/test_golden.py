"""Model files of every format that was ever released load, and say what they said."""

import numpy as np
import pytest

from scedae import SCEDAE, LandmarkSpectralClustering, baselines
from scedae._storage.archive import FORMAT_VERSION
from tests.golden import make

FILES = sorted(make.HERE.glob("format-*/*.scedae"))


def load(path):
    name = path.stem.split("-")[0]
    known = {"SCEDAE": SCEDAE, "LandmarkSpectralClustering": LandmarkSpectralClustering}
    return (known.get(name) or getattr(baselines, name)).load(path)


@pytest.fixture(scope="module")
def expected():
    return {
        path.parent.name: dict(np.load(path))
        for path in make.HERE.glob("format-*/expected.npz")
    }


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_a_model_of_any_format_says_what_it_said(path, expected):
    known = expected[path.parent.name]
    model = load(path)
    X = make.rows_for(path.stem, known["rows"])
    np.testing.assert_array_equal(model.predict(X), known[f"{path.stem}.labels"])
    # Another processor rounds otherwise.
    np.testing.assert_allclose(
        model.transform(X), known[f"{path.stem}.embedding"], rtol=1e-4, atol=1e-5
    )
    if f"{path.stem}.confidence" in known:
        np.testing.assert_allclose(
            model.predict_confidence(X), known[f"{path.stem}.confidence"], atol=1e-4
        )
    if "streamed" not in path.stem:
        np.testing.assert_array_equal(model.labels_, known[f"{path.stem}.labels"])
    assert len(model.members_) >= 1


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_a_model_of_any_format_can_be_written_in_this_one(path, tmp_path, expected):
    model = load(path)
    model.save(tmp_path / path.name)
    again = load(tmp_path / path.name)
    X = make.rows_for(path.stem, expected[path.parent.name]["rows"])
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    assert again.members_ == model.members_
    assert again.get_params() == model.get_params()


def test_there_are_files_of_every_kind_in_the_present_format():
    names = {
        path.stem for path in FILES if path.parent.name.endswith(str(FORMAT_VERSION))
    }
    assert names == set(make.MODELS)
