import io
import logging
import re
import time

from scedae._progress import Progress, one_bar
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
    stages = [stage for stage in stages if stage != "refine"]  # on a GPU
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


def shown(text):
    """Percent and stage of every line that was drawn."""
    found = re.findall(r"(\d+)%  (\w*)", text)
    return [(int(percent), stage) for percent, stage in found]


def on_terminal(monkeypatch):
    """In the test itself: pytest takes standard error back after fixtures."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("scedae._progress._REDRAW_SECONDS", 0)
    return terminal


def test_counting_has_its_own_part_of_the_bar(blobs, monkeypatch):
    terminal = on_terminal(monkeypatch)
    ESTIMATORS["SCEDAE"]("auto", verbose=1).fit(blobs[0])
    lines = shown(terminal.getvalue())
    counting = [percent for percent, stage in lines if stage == "count"]
    assert len(counting) >= 5
    assert counting[0] < 60 and counting[-1] > counting[0] + 10
    assert [percent for percent, _ in lines] == sorted(p for p, _ in lines)


def test_every_estimator_fills_the_bar(blobs, monkeypatch):
    terminal = on_terminal(monkeypatch)
    for name, build in ESTIMATORS.items():
        terminal.seek(0)
        terminal.truncate()
        build(verbose=1).fit(blobs[0])
        percents = [percent for percent, _ in shown(terminal.getvalue())]
        assert percents == sorted(percents), name
        assert percents[-2] >= 80, name


def test_one_bar_for_a_fit_and_what_follows_it(blobs, monkeypatch):
    terminal = on_terminal(monkeypatch)
    with one_bar(1, {"read": 0.1, "report": 0.3}) as bar:
        bar.stage("read")
        ESTIMATORS["SCEDAE"](verbose=1).fit(blobs[0])
        bar.stage("report")
        bar.advance(0.5, "half of it")
    text = terminal.getvalue()
    assert text.count("\n") == 1 and text.count("done in") == 1
    lines = shown(text)
    assert max(percent for percent, stage in lines if stage == "assign") < 80
    assert (89, "report") in lines or (88, "report") in lines
    assert lines[-1][0] == 100
    # The bar is gone with the work that it was for.
    ESTIMATORS["SCEDAE"](verbose=1).fit(blobs[0])
    assert terminal.getvalue().count("done in") == 2


def test_a_bar_that_nobody_advances_shows_that_time_passes(monkeypatch):
    terminal = on_terminal(monkeypatch)
    monkeypatch.setattr("scedae._progress._PULSE_SECONDS", 0.01)
    with Progress(1) as progress:
        progress.stage("encode")
        drawn = terminal.getvalue().count("\r")
        until = time.monotonic() + 10
        while terminal.getvalue().count("\r") < drawn + 3:
            assert time.monotonic() < until
            time.sleep(0.01)
    end = terminal.getvalue()
    time.sleep(0.05)
    assert terminal.getvalue() == end
