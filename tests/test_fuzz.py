"""A small share of ``make fuzz``, with another seed."""

import logging

import pytest

from benchmarks import fuzz

COUNTS = {
    "arguments": 60,
    "dask": 5,
    "model-files": 400,
    "checkpoints": 150,
    "records": 200,
    "command-lines": 40,
}


@pytest.mark.parametrize("kind", COUNTS)
def test_hostile_input_ends_in_an_answer_or_a_documented_error(kind, tmp_path):
    logging.disable()
    try:
        tally = fuzz.fuzz(kind, COUNTS[kind], seed=1, folder=tmp_path)
    finally:
        logging.disable(logging.NOTSET)
    assert not tally.wrong
    assert tally.outcomes.total() == COUNTS[kind]


def test_loads_beside_saves_are_never_a_mixture(tmp_path):
    assert not fuzz.beside(100, tmp_path).wrong
