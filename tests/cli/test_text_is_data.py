"""Text out of files moves no cursor, turns no line around and computes nothing."""

import csv
import io

import numpy as np
import polars as pl
import pytest

from scedae.cli.messages import one_line, printable
from scedae.cli.output import write_labels

NAMES = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "-5",
    "+1.5e3",
    "plain",
    "a=b",
    'ä, "quoted"\nand broken',
    "",
]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def written(names, file=None, **how):
    file = file or io.StringIO(newline="")
    ids = np.array(names, dtype=object)
    labels = np.zeros(len(names), int)
    write_labels(file, [(ids, labels, np.ones(len(names)))], **how)
    file.seek(0)
    return [line[0] for line in csv.reader(file)][1:]


def test_no_id_is_a_formula():
    found = written(NAMES)
    assert found[:6] == [f"'{name}" for name in NAMES[:6]]
    assert found[6:] == NAMES[6:]  # numbers are numbers


def test_ids_can_be_written_as_they_are():
    assert written(NAMES, verbatim=True) == NAMES


def test_numbers_as_ids_stay_numbers():
    assert written([-1, 2.5]) == ["-1", "2.5"]


def test_nothing_moves_the_cursor_of_a_terminal():
    found = written(["\x1b[2J", "\u202egnp.exe"], Terminal())
    assert found == ["\\x1b[2J", "\\u202egnp.exe"]


@pytest.mark.parametrize(
    "text", ["\x1b]0;title\x07", "a\u202eb", "\x9b31m", "\u2066x", "\x00", "a\x7fb"]
)
def test_messages_hold_nothing_but_what_is_printed(text):
    assert printable(text).isprintable()
    assert one_line(f"x\n{text}\ty").isprintable()


def test_plain_words_of_any_language_stay(text="größe 数 κ 🙂"):
    assert printable(text) == text


def test_a_header_with_escapes(fit, command, refused, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("\x1b[31mred,b\ninf,1\n2,2\n")
    code, _, err = fit(path)
    assert code == 2 and "\x1b" not in err and "\\x1b[31mred" in err


def test_formulas_as_ids_through_the_command(fit, command, frame, tmp_path):
    frame = frame.with_columns(name=pl.lit("=") + pl.col("name")).drop("group")
    frame.write_csv(tmp_path / "a.csv")
    assert fit("a.csv", "--id-column", "name")[0] == 0
    lines = (tmp_path / "run" / "labels.csv").read_text().splitlines()
    assert lines[1].startswith("'=row-0,")
    arguments = ("predict", "run", "a.csv", "--id-column", "name", "-q")
    assert command(*arguments)[1].splitlines()[1].startswith("'=row-0,")
    verbatim = command(*arguments, "--verbatim-ids")[1]
    assert verbatim.splitlines()[1].startswith("=row-0,")
