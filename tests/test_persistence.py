"""Save and load: one file, no pickle, and nothing believed before it is checked."""

import json
import os
import pickle
import struct
import threading
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file, save_file

from scedae import SCEDAE, LandmarkSpectralClustering, MemberSpec
from scedae._members import ENSEMBLES
from scedae._storage.archive import read_archive, unpack_archive
from scedae._storage.container import pack_container
from scedae._storage.records import Record
from scedae.exceptions import ModelFileError
from tests.golden.make import HERE as GOLDEN
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
    assert SCEDAE.load(tmp_path / "model").n_neighbors == "auto"


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

    def disk_full(path, raw):
        with path.open("wb") as file:
            file.write(raw[: len(raw) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", disk_full)
    with pytest.raises(OSError, match="No space left"):
        ESTIMATORS["SCEDAE"]().fit(blobs[0]).save(saved)
    monkeypatch.undo()
    assert saved.read_bytes() == before
    assert len(list(saved.parent.iterdir())) == 1


def test_another_estimator_is_refused(saved):
    with pytest.raises(ModelFileError, match="holds a SCEDAE, not a Landmark"):
        LandmarkSpectralClustering.load(saved)


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="no model file"):
        SCEDAE.load(tmp_path / "nowhere")


def rewrite(path, change):
    """The file again, after ``change`` had its way with description and tensors.

    Its checksum is right: what is wrong must be seen in what it says.
    """
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    info = json.loads(json.loads(raw[8 : 8 + length])["__metadata__"]["scedae"])
    tensors = load_file(path)
    change(info, tensors)
    path.write_bytes(pack_container(tensors, {"scedae": json.dumps(info)}))


def member(info, number=0):
    return info["model"]["pipeline"]["members"][number]


DAMAGES = {
    "other version": lambda info, t: info.update(version=99),
    "a version that is no number": lambda info, t: info.update(version="5"),
    "no parameters": lambda info, t: info.pop("parameters"),
    "unknown parameter": lambda info, t: info["parameters"].update(surprise=1),
    "a place to write": lambda info, t: info["parameters"].update(checkpoint_dir="/"),
    "an object as parameter": lambda info, t: info["parameters"].update(epochs={}),
    "a list of text": lambda info, t: info["parameters"].update(hidden_layers=["x"]),
    "wrong columns": lambda info, t: info.update(n_features_in=5),
    "names of other columns": lambda info, t: info.update(feature_names_in=["a"]),
    "lost tensor": lambda info, t: t.pop("member.2.landmarks"),
    "a tensor too many": lambda info, t: t.update(surprise=torch.ones(3)),
    "an unknown field": lambda info, t: info.update(surprise=1),
    "an unknown field of a member": lambda info, t: member(info).update(surprise=1),
    "lost model": lambda info, t: info.update(model={}),
    "model is a list": lambda info, t: info.update(model=[]),
    "not finite": lambda info, t: t["centers"].fill_(float("nan")),
    "wrong shape": lambda info, t: t.update(centers=torch.ones(3, 99).double()),
    "single precision": lambda info, t: t.update(centers=t["centers"].float()),
    "integers for weights": lambda info, t: t.update(
        {"encoder.0.0.weight": t["encoder.0.0.weight"].long()}
    ),
    "lost metric": lambda info, t: t.pop("metric"),
    "a metric of another shape": lambda info, t: t.update(metric=torch.eye(9).double()),
    "a metric that is not finite": lambda info, t: t["metric"].fill_(float("inf")),
    "numbers too large": lambda info, t: t["metric"].fill_(1e308),
    "short labels": lambda info, t: t.update(labels=t["labels"][:9].clone()),
    "labels of no cluster": lambda info, t: t["labels"].fill_(3),
    "negative labels": lambda info, t: t["labels"].fill_(-1),
    "confidence over one": lambda info, t: t["confidence"].fill_(1.1),
    "negative votes": lambda info, t: t["member.0.votes"].fill_(-0.1),
    "no landmarks": lambda info, t: t.update(
        {"member.0.landmarks": t["member.0.landmarks"][:0].clone()}
    ),
    "unknown scale": lambda info, t: info["model"]["pipeline"]["scaler"].update(
        kind="os.system"
    ),
    "no neighbours": lambda info, t: info["model"]["pipeline"].update(n_neighbors=0),
    "no members": lambda info, t: info["model"]["pipeline"].update(members=[]),
    "a report too few": lambda info, t: info["model"]["reports"].pop(),
    "text for a number": lambda info, t: info.update(seed="x"),
    "a negative seed": lambda info, t: info.update(seed=-1),
    "true for a number": lambda info, t: info.update(seed=True),
    "labels that are no integers": lambda info, t: t.update(labels=t["labels"] * 1.0),
    "a centre too few": lambda info, t: t.update(centers=t["centers"][:2].clone()),
    "no bandwidth": lambda info, t: member(info).update(bandwidth=float("nan")),
    "a bandwidth too small": lambda info, t: member(info).update(bandwidth=1e-320),
    "a negative bandwidth": lambda info, t: member(info).update(bandwidth=-1.0),
    "an encoder of other widths": lambda info, t: member(info)["spec"].update(
        hidden_layers=[12, 8]
    ),
    "unknown embedding": lambda info, t: info["model"]["pipeline"].update(
        embedding="x"
    ),
    "epochs that do not count": lambda info, t: t["report.0.history"].fill_(7),
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


def test_a_flipped_bit_is_refused_wherever_it_is(rng):
    raw = bytearray((GOLDEN / "format-5" / "DCN.scedae").read_bytes())
    for place in range(len(raw)):
        bit = 1 << int(rng.integers(8))
        raw[place] ^= bit
        with pytest.raises(ModelFileError):
            unpack_archive(raw)
        raw[place] ^= bit
    unpack_archive(raw)


def test_any_reader_of_safetensors_can_read_a_model(saved):
    ours = read_archive(saved).tensors
    theirs = load_file(saved)
    assert ours.keys() == theirs.keys()
    for name in ours:
        assert ours[name].numpy().tobytes() == theirs[name].numpy().tobytes()


def test_a_newer_format_names_the_version_that_reads_it(saved):
    rewrite(saved, lambda info, t: info.update(version=6, written_by="7.1.0"))
    with pytest.raises(ModelFileError, match=r"format version 6.* scedae 7\.1\.0 or"):
        SCEDAE.load(saved)


def test_a_field_of_a_newer_version_is_refused_with_that_version(saved):
    rewrite(saved, lambda info, t: info.update(extra=1, written_by="7.1.0"))
    with pytest.raises(ModelFileError, match=r"of scedae 7\.1\.0.*'extra'"):
        SCEDAE.load(saved)


def test_a_text_in_a_file_cannot_write_to_the_terminal(saved):
    rewrite(
        saved,
        lambda info, t: info.update(
            version=6, written_by="\x1b[2J", estimator="\u202e\x1b[31m"
        ),
    )
    with pytest.raises(ModelFileError) as caught:
        SCEDAE.load(saved)
    assert str(caught.value).isascii() and str(caught.value).isprintable()


def safetensors_of(header, data=b""):
    text = json.dumps(header).encode() if isinstance(header, dict) else header
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


HOSTILE = {
    "brackets": b'{"a":' + b"[" * 3_000_000 + b"]" * 3_000_000 + b"}",
    "lists": b'{"a":[' + b"[]," * 3_000_000 + b"[]]}",
    "objects": b'{"a":[' + b"{}," * 3_000_000 + b"{}]}",
    "numbers": b'{"a":[' + b"1.5," * 3_000_000 + b"1]}",
    "texts": b'{"a":[' + b'"ab",' * 3_000_000 + b'""]}',
    "tensors": b"{"
    + b",".join(
        b'"%d":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}' % i
        for i in range(150_000)
    )
    + b"}",
    "description": json.dumps(
        {"__metadata__": {"scedae": "[" + "[]," * 3_000_000 + "[]]"}}
    ).encode(),
    "escaped description": b'{"__metadata__":{"scedae":"{\\"a\\":['
    + b"[]\\u002c" * 1_000_000
    + b'[]]}"}}',
    "one large number": b'{"a":' + b"9" * 9_000_000 + b"}",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_file_costs_more_than_four_times_its_size(tmp_path, kind):
    path = tmp_path / "model"
    path.write_bytes(safetensors_of(HOSTILE[kind]))
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError):
            read_archive(path)
        assert tracemalloc.get_traced_memory()[1] <= 4 * path.stat().st_size
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "length", [0, 7, 2**31, 2**63, 2**64 - 1], ids=lambda n: f"header of {n}"
)
def test_a_header_that_lies_about_its_length(tmp_path, length):
    path = tmp_path / "model"
    path.write_bytes(struct.pack("<Q", length) + b"{}      ")
    with pytest.raises(ModelFileError):
        SCEDAE.load(path)


def entry(dtype="F32", shape=(1,), offsets=(0, 4)):
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


@pytest.mark.parametrize(
    "header",
    [
        {"a": entry(shape=(2**62, 2**62))},
        {"a": entry(shape=(-1,))},
        {"a": entry(shape=(True,))},
        {"a": entry(offsets=(0, 8))},
        {"a": entry(offsets=(4, 0))},
        {"a": entry(offsets=(0,))},
        {"a": entry(dtype="F8")},
        {"a": entry(), "b": entry()},
        {"a": entry(shape=(0,) * 5, offsets=(0, 0))},
        {"a": entry(shape=(0, 2**62), offsets=(0, 0))},
        {"a": {**entry(), "code": "print()"}},
        {"a": []},
        {"__metadata__": []},
        {"__metadata__": {"scedae": 1}},
    ],
    ids=str,
)
def test_a_header_that_lies_about_its_tensors(tmp_path, header):
    path = tmp_path / "model"
    path.write_bytes(safetensors_of(header, b"\0" * 4))
    with pytest.raises(ModelFileError):
        SCEDAE.load(path)


def test_no_name_may_occur_twice(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(safetensors_of(b'{"__metadata__":{},"__metadata__":{}}'))
    with pytest.raises(ModelFileError):
        SCEDAE.load(path)


def test_what_is_no_plain_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="no plain file"):
        SCEDAE.load(tmp_path / "pipe")
    with pytest.raises(IsADirectoryError):
        SCEDAE.load(tmp_path)


def test_loads_beside_saves_see_one_model_or_the_other(blobs, tmp_path):
    """Two models of different shapes: a mixture of them could not be loaded."""
    path = tmp_path / "model"
    models = [
        LandmarkSpectralClustering(k, n_landmarks=10 * k, random_state=0).fit(blobs[0])
        for k in (2, 3)
    ]
    models[0].save(path)
    stop = threading.Event()

    def save():
        while not stop.is_set():
            for model in models:
                model.save(path)

    writer = threading.Thread(target=save)
    writer.start()
    try:
        seen = {LandmarkSpectralClustering.load(path).n_clusters for _ in range(100)}
    finally:
        stop.set()
        writer.join()
    assert seen <= {2, 3}


def test_an_optional_field_may_be_missing_and_nothing_else():
    """How the format grows: what is new has a default."""
    record = Record({"a": 1}, "it")
    assert record.integer("a") == 1
    assert record.number("verdict", default=0.5) == 0.5
    assert record.records("kinds", default=[]) == []
    record.finish()
    with pytest.raises(ModelFileError, match="it lacks 'b'"):
        record.integer("b")


def test_a_model_that_was_tampered_with_gives_no_infinite_answer(saved, blobs):
    """Numbers that are legal one by one, and too large together."""

    def enlarge(info, tensors):
        tensors["scaler.directions"].fill_(3e38)
        tensors["scaler.center"].fill_(0)

    rewrite(saved, enlarge)
    try:
        model = SCEDAE.load(saved)
    except ModelFileError:
        return
    for ask in (model.transform, model.predict_confidence):
        with pytest.raises(ValueError, match="X cannot be placed"):
            ask(blobs[0] + 10)


@pytest.mark.parametrize(
    ("take", "wrong"),
    [
        ("integer", [-1, 1.5, True, None, 2**63]),
        ("integers", [1, [1.5], [-1]]),
        ("number", ["1", True, float("nan"), float("inf")]),
        ("flag", [1, "true", None]),
        ("text", [1, None]),
        ("items", [1, "ab", {}]),
        ("texts", [["a", 1], "a"]),
        ("record", [[], 1]),
    ],
)
def test_a_field_of_another_type_is_refused(take, wrong):
    for value in wrong:
        with pytest.raises(ModelFileError, match=r"the file|is no object"):
            getattr(Record({"a": value}, "the file"), take)("a")
    with pytest.raises(ModelFileError, match="lacks 'a'"):
        getattr(Record({}, "the file"), take)("a")
