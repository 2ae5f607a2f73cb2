"""run.json: read once, checked whole, refused in one line when it was changed."""

import json

import numpy as np
import pytest

from scedae.cli.messages import InputError
from scedae.cli.output import unsealed, write_record
from scedae.cli.record import read_record

RUN = {
    "estimator": "SCEDAE",
    "versions": {"scedae": "0.1.0"},
    "seconds": {"total": 0.125},
    "data": {
        "path": "/tmp/größe.csv",
        "sha256": "0" * 64,
        "columns": ["a", "b"],
        "id_column": None,
        "labels": None,
    },
}


@pytest.fixture
def folder(tmp_path):
    write_record(tmp_path / "run.json", RUN)
    return tmp_path


def test_a_record_is_read_as_it_was_written(folder):
    assert read_record(folder) == RUN
    assert unsealed((folder / "run.json").read_bytes()) == RUN


def test_a_changed_bit_is_refused_or_says_the_same(folder):
    path, rng = folder / "run.json", np.random.default_rng(0)
    raw = bytearray(path.read_bytes())
    for place in range(len(raw)):
        raw[place] ^= (bit := 1 << int(rng.integers(8)))
        path.write_bytes(raw)
        try:
            assert read_record(folder) == RUN  # a space more or less
        except InputError as error:
            assert "run.json is not as scedae fit wrote it" in str(error)
        raw[place] ^= bit


@pytest.mark.parametrize(
    "content", ["", "{}", "[]", "null", '"x"', "[" * 100_000, json.dumps(RUN), "\x00"]
)
def test_what_is_no_record_is_refused(folder, content):
    (folder / "run.json").write_text(content)
    with pytest.raises(InputError, match="fit again"):
        read_record(folder)
