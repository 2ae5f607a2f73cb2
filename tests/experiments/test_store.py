"""A record is whole, or it is not there."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

import pytest

from scedae.experiments.plan import PaperRun
from scedae.experiments.store import Store


def record(replicate):
    run = PaperRun("ensembles", "usps", "ens-struct", replicate)
    return {**asdict(run), "scores": {"acc": 0.5}, "note": "ä"}


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path)
    for replicate in range(3):
        store.append(record(replicate))
    return store


@pytest.fixture
def file(store, tmp_path):
    return tmp_path / "records" / "ensembles-usps.jsonl"


def replicates(folder):
    return [r["replicate"] for r in Store(folder).records()]


def test_records_come_back_as_they_were(store, tmp_path):
    assert list(Store(tmp_path).records()) == [record(i) for i in range(3)]


@pytest.mark.parametrize("cut", [1, 2, 20, 100])
def test_a_half_written_record_is_not_read_and_is_replaced(store, file, tmp_path, cut):
    whole = file.read_bytes()
    file.write_bytes(whole[:-cut])
    assert replicates(tmp_path) == [0, 1]
    Store(tmp_path).append(record(2))
    assert replicates(tmp_path) == [0, 1, 2]
    assert file.read_bytes() == whole


def test_a_changed_number_is_not_read(store, file, tmp_path):
    text = file.read_text().replace('"acc":0.5', '"acc":0.9', 1)
    file.write_text(text)
    assert replicates(tmp_path) == [1, 2]


@pytest.mark.parametrize("line", ["null", "[]", "{}", "12", '{"check":"00"}', "{"])
def test_foreign_lines_are_skipped(store, file, tmp_path, line):
    with file.open("a") as target:
        target.write(f"{line}\n")
    assert replicates(tmp_path) == [0, 1, 2]


def test_records_of_several_threads_do_not_mix(tmp_path):
    store = Store(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: store.append(record(i)), range(200)))
    assert sorted(replicates(tmp_path)) == list(range(200))
