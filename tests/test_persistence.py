"""Save and load: one file, no pickle, and nothing believed before it is checked."""

import json
import pickle
import struct

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file, save_file

from scedae import SCEDAE, LandmarkSpectralClustering, MemberSpec
from scedae._members import ENSEMBLES
from scedae.exceptions import ModelFileError
from tests.helpers import ESTIMATORS


@pytest.fixture
def saved(blobs, tmp_path):
    path = tmp_path / "model.scedae"
    ESTIMATORS["SCEDAE"]().fit(blobs[0]).save(path)
    return path


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_loaded_model_is_the_saved_one(blobs, tmp_path, name):
    X, _ = blobs
    model = ESTIMATORS[name]().fit(pd.DataFrame(X, columns=list("abcdef")))
    model.save(tmp_path / "model")
    loaded = type(model).load(tmp_path / "model")
    frame = pd.DataFrame(X, columns=list("abcdef"))
    assert (loaded.predict(frame) == model.labels_).all()
    assert (loaded.transform(frame) == model.embedding_).all()
    assert (loaded.labels_ == model.labels_).all()
    assert (loaded.embedding_ == model.embedding_).all()
    assert loaded.members_ == model.members_
    assert loaded.seed_ == model.seed_
    assert list(loaded.feature_names_in_) == list("abcdef")
    assert loaded.get_params() | {"device": None} == model.get_params() | {
        "device": None
    }


def test_a_list_of_members_survives(blobs, tmp_path):
    members = [MemberSpec((12, 8), 5, 40), MemberSpec((), 0, 30)]
    model = SCEDAE(3, ensemble=members, encoding_dim=3, random_state=np.int64(4))
    model.fit(blobs[0]).save(tmp_path / "model")
    loaded = SCEDAE.load(tmp_path / "model")
    assert list(loaded.ensemble) == members
    assert (loaded.predict(blobs[0]) == model.labels_).all()
    # Its parameters repeat the fit.
    again = SCEDAE(**loaded.get_params()).fit(blobs[0])
    assert (again.embedding_ == model.embedding_).all()


@pytest.mark.parametrize("ensemble", ENSEMBLES)
def test_every_ensemble_can_be_saved(blobs, tmp_path, ensemble):
    model = ESTIMATORS["SCEDAE"](
        ensemble=ensemble,
        n_neighbors=np.int64(4),
        n_landmarks=np.int32(40),
        hidden_layers=np.array([12, 8]),
        learning_rate=np.float64(0.01),
    ).fit(blobs[0])
    model.save(tmp_path / "model")
    loaded = SCEDAE.load(tmp_path / "model")
    assert (loaded.predict(blobs[0]) == model.labels_).all()


def test_the_parameters_saved_are_those_of_the_fit(blobs, tmp_path):
    model = ESTIMATORS["SCEDAE"]().fit(blobs[0])
    model.set_params(n_neighbors=9).save(tmp_path / "model")
    assert SCEDAE.load(tmp_path / "model").n_neighbors == 3


def test_a_folder_that_is_not_there(blobs, tmp_path):
    model = ESTIMATORS["LandmarkSpectralClustering"]().fit(blobs[0])
    with pytest.raises(FileNotFoundError, match="no folder"):
        model.save(tmp_path / "nowhere" / "model")


def test_pickle_works_too(blobs):
    model = pickle.loads(pickle.dumps(ESTIMATORS["SCEDAE"]().fit(blobs[0])))
    assert (model.predict(blobs[0]) == model.labels_).all()


def test_a_loaded_model_can_be_saved_again(saved, blobs, tmp_path):
    SCEDAE.load(saved).save(tmp_path / "again")
    again = SCEDAE.load(tmp_path / "again")
    assert (again.predict(blobs[0]) == again.labels_).all()


def test_nothing_but_the_file_is_left(saved):
    assert [path.name for path in saved.parent.iterdir()] == ["model.scedae"]


def test_a_model_can_be_read_by_whom_other_files_can(saved):
    other = saved.with_name("other")
    other.touch()
    assert saved.stat().st_mode == other.stat().st_mode


def test_a_failed_save_keeps_the_old_file(saved, blobs, monkeypatch):
    before = saved.read_bytes()

    def disk_full(tensors, path, metadata):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("safetensors.torch.save_file", disk_full)
    with pytest.raises(OSError, match="No space left"):
        ESTIMATORS["SCEDAE"]().fit(blobs[0]).save(saved)
    assert saved.read_bytes() == before
    assert len(list(saved.parent.iterdir())) == 1


def test_another_estimator_is_refused(saved):
    with pytest.raises(ModelFileError, match="holds a SCEDAE, not a Landmark"):
        LandmarkSpectralClustering.load(saved)


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="no model file"):
        SCEDAE.load(tmp_path / "nowhere")


def rewrite(path, change):
    """The file again, after ``change`` had its way with description and tensors."""
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    info = json.loads(json.loads(raw[8 : 8 + length])["__metadata__"]["scedae"])
    tensors = load_file(path)
    change(info, tensors)
    save_file(tensors, path, metadata={"scedae": json.dumps(info)})


DAMAGES = {
    "other version": lambda info, t: info.update(version=99),
    "no parameters": lambda info, t: info.pop("parameters"),
    "unknown parameter": lambda info, t: info["parameters"].update(surprise=1),
    "wrong columns": lambda info, t: info.update(n_features_in=5),
    "lost tensor": lambda info, t: t.pop("member.2.landmarks"),
    "lost model": lambda info, t: info.update(model={}),
    "not finite": lambda info, t: t["centers"].fill_(float("nan")),
    "wrong shape": lambda info, t: t.update(centers=torch.ones(3, 99).double()),
    "lost metric": lambda info, t: t.pop("metric"),
    "a metric of another shape": lambda info, t: t.update(metric=torch.eye(9).double()),
    "a metric that is not finite": lambda info, t: t["metric"].fill_(float("inf")),
    "short labels": lambda info, t: t.update(labels=t["labels"][:9].clone()),
    "unknown scale": lambda info, t: info["model"]["pipeline"]["scaler"].update(
        kind="os.system"
    ),
    "no neighbours": lambda info, t: info["model"]["pipeline"].update(n_neighbors=0),
    "text for a number": lambda info, t: info.update(seed="x"),
    "labels that are no integers": lambda info, t: t.update(labels=t["labels"] * 1.0),
    "a centre too few": lambda info, t: t.update(centers=t["centers"][:2].clone()),
    "no bandwidth": lambda info, t: info["model"]["pipeline"]["members"][0].update(
        bandwidth=float("nan")
    ),
    "unknown embedding": lambda info, t: info["model"]["pipeline"].update(
        embedding="x"
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused_with_one_error(saved, damage):
    rewrite(saved, DAMAGES[damage])
    with pytest.raises(ModelFileError):
        SCEDAE.load(saved)


@pytest.mark.parametrize(
    "content",
    [b"", b"hello", b"\x80\x04K\x01.", b"\xff" * 500, b"PK\x03\x04" + b"0" * 100],
    ids=["empty", "text", "pickle", "noise", "zip"],
)
def test_a_foreign_file_is_refused(tmp_path, content):
    path = tmp_path / "model"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="not a scedae model"):
        SCEDAE.load(path)


def test_other_safetensors_are_refused(tmp_path):
    save_file({"weight": torch.zeros(2)}, tmp_path / "model")
    with pytest.raises(ModelFileError, match="was not written by scedae"):
        SCEDAE.load(tmp_path / "model")


def test_a_cut_file_is_refused(saved):
    raw = saved.read_bytes()
    for size in (4, 100, len(raw) // 2, len(raw) - 1):
        saved.write_bytes(raw[:size])
        with pytest.raises(ModelFileError):
            SCEDAE.load(saved)
