import io
import logging
import re

from scedae._progress import Progress
from tests.helpers import ESTIMATORS


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_silent_by_default(blobs, capfd):
    ESTIMATORS["SCEDAE"]().fit(blobs[0])
    assert capfd.readouterr() == ("", "")


def test_a_log_gets_a_line_for_each_tenth(blobs, capfd):
    ESTIMATORS["SCEDAE"](verbose=1).fit(blobs[0])
    out, err = capfd.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert 5 <= len(lines) <= 12
    assert "\r" not in err
    assert re.search(r"encode  training .* epoch \d+, loss \d", lines[0])
    assert "left" in lines[0]
    assert lines[-1].startswith("█" * 24 + " 100%")
    assert "done in" in lines[-1]


def test_a_terminal_gets_one_line_drawn_again(blobs, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("scedae._progress._REDRAW_SECONDS", 0)
    ESTIMATORS["SCEDAE"](verbose=1).fit(blobs[0])
    text = terminal.getvalue()
    assert text.count("\n") == 1
    assert text.endswith("\n")
    assert text.count("\r") > 20
    for stage in ("encode", "anchor", "fuse", "embed", "assign"):
        assert stage in text


def test_stages_are_logged(blobs, caplog):
    with caplog.at_level(logging.INFO, logger="scedae"):
        ESTIMATORS["SCEDAE"]().fit(blobs[0])
    stages = [record.message.split()[0] for record in caplog.records]
    assert stages == ["encode", "anchor", "fuse", "embed", "assign"]


def test_an_error_ends_the_line(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    try:
        with Progress(1) as progress:
            progress.stage("encode")
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert terminal.getvalue().endswith("\n")
    assert "100%" not in terminal.getvalue()
