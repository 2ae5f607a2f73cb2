"""Files that are damaged, and names that look like patterns: one line, exit code 2."""

import gzip
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from scedae.cli.arrays import load_array
from scedae.cli.messages import InputError
from scedae.cli.sources import Source


@pytest.fixture
def fitted(fit, npy):
    assert fit(npy)[0] == 0


def damage(path, place=-30):
    raw = bytearray(Path(path).read_bytes())
    raw[place] ^= 0xFF
    Path(path).write_bytes(raw)


def test_an_npz_of_objects(fit, refused, blobs):
    np.savez("a.npz", X=blobs[0], y=np.array([{}, None], dtype=object))
    refused(fit("a.npz"), "a.npz: it cannot be read")


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_an_npz_with_a_flipped_bit(fit, refused, blobs, save):
    save("a.npz", X=blobs[0])
    damage("a.npz", 3000)
    refused(fit("a.npz"), "a.npz: it cannot be read")


def test_a_column_that_is_named_twice(fit, refused, csv):
    refused(fit(csv, "--columns", "x0,x0"), "'x0' is in --columns twice")


def test_whole_numbers_over_64_bits(fit, refused, command):
    lines = [f"{10**25 + i * 10**22},{i}" for i in range(60)]
    with open("a.csv", "w") as file:
        file.write("\n".join(["a,b", *lines]))
    code, _, err = fit("a.csv")
    assert code == 0 or (code == 2 and err.count("\n") == 1)


def test_a_long_line_in_predict(fitted, command, refused):
    with open("a.csv", "w") as file:
        file.write("0,1,2,3,4,5\n" + "1,2,3,4,5,6\n" * 5000 + "1,2,3,4,5,6,7\n")
    result = command("predict", "run", "a.csv", "-q", "-o", "out")
    refused(result, "a.csv", left=["run"])


def test_a_parquet_file_that_is_damaged_in_predict(fitted, command, blobs):
    pl.DataFrame(np.tile(blobs[0], (50, 1))).write_parquet("a.parquet")
    damage("a.parquet", 2000)
    code, _, err = command("predict", "run", "a.parquet", "-q", "-o", "out")
    assert code in (0, 2) and "Traceback" not in err
    assert code == 0 or err.count("\n") == 1


def test_a_wrong_bit_in_the_header_of_an_array(tmp_path, blobs):
    """numpy reads it as Python, and has that language's errors too."""
    path = tmp_path / "a.npy"
    np.save(path, blobs[0])
    raw = path.read_bytes()
    for place in range(8 * 80):
        damaged = bytearray(raw)
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        with suppress(InputError):
            load_array(Source(str(path)), None)


def test_a_wrong_byte_anywhere_in_a_compressed_table(fit, frame):
    raw = gzip.compress(frame.write_csv().encode())
    for place in range(2, len(raw), len(raw) // 12):
        Path("a.csv.gz").write_bytes(raw)
        damage("a.csv.gz", place)
        code, _, err = fit("a.csv.gz")
        assert code == 0 or (code == 2 and err.count("\n") == 1)


@pytest.mark.parametrize("name", ["[a].csv", "g*.csv", "a?.csv", "new\nline.csv"])
def test_names_are_no_patterns(fit, command, frame, name, tmp_path):
    frame.select("x0", "x1", "x2").write_csv(tmp_path / name)
    frame.select("x0").write_csv(tmp_path / "good.csv")
    frame.select("x0").write_csv(tmp_path / "a1.csv")
    assert fit(name)[0] == 0
    code, out, _ = command("predict", "run", name, "-q")
    assert code == 0 and len(out.splitlines()) == frame.height + 1
