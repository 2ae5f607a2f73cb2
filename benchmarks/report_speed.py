"""A report of many rows: seconds by part, size of the page, and how fast it opens.

    python benchmarks/report_speed.py [--rows 70000] [--keep page.html]

Rows are those of MNIST where it is at hand, else generated pictures of 28 x 28. The
model is a quick one (two networks, one epoch): the report asks for its answer alone.
CPU seconds are those of all threads. The page is opened three times in Chromium, if
there is one (and playwright); told are the medians of its own clock, and the CPU time
of the thread that lays the page out, which other work on the machine does not stretch.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from measure import device_name

from scedae import SCEDAE
from scedae.datasets import load_by_name
from scedae.exceptions import DatasetNotFoundError
from scedae.report import places, write, write_report

# What the page waits for: the map is drawn in the first frame after the page is there.
_OPENED = """() => new Promise(done => requestAnimationFrame(() => {
    const page = performance.getEntriesByType("navigation")[0];
    done({ready: page.domContentLoadedEventEnd, loaded: page.loadEventEnd,
          frame: performance.now()});
}))"""
# Parts of a report that are timed by themselves, and where they are looked up.
_PARTS = {
    "map (t-SNE)": (places, "tsne"),
    "pictures": (write, "picture_sheet"),
    "findings": (write, "look_at"),
    "rows for the script": (write, "pack_points"),
    "template": (write, "render_page"),
}


def rows_and_classes(n_rows: int) -> tuple[np.ndarray, np.ndarray, str]:
    try:
        X, y = load_by_name("mnist")
        return X[:n_rows], y[:n_rows], "MNIST"
    except DatasetNotFoundError:
        rng = np.random.default_rng(0)
        y = rng.integers(0, 10, n_rows)
        kinds = np.kron(rng.uniform(0, 200, (10, 7, 7)), np.ones((4, 4)))
        noise = rng.integers(0, 56, (n_rows, 784))
        return (kinds.reshape(10, -1)[y] + noise).astype(np.uint8), y, "generated"


class Parts:
    """CPU seconds of each part, by a clock around it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def __enter__(self) -> Parts:
        self._own = {part: getattr(*place) for part, place in _PARTS.items()}
        for part, (module, name) in _PARTS.items():
            setattr(module, name, self._timed(part, self._own[part]))
        return self

    def __exit__(self, *error: object) -> None:
        for part, (module, name) in _PARTS.items():
            setattr(module, name, self._own[part])

    def _timed(self, part, work):
        def run(*given, **named):
            begun = time.process_time()
            found = work(*given, **named)
            self.seconds[part] = time.process_time() - begun
            return found

        return run


def open_in_chromium(path: Path, repeats: int = 3) -> dict[str, float] | None:
    """Milliseconds from the address to each moment; None without a browser."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if program is None:
        return None
    found = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"]
        )
        for _ in range(repeats):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            session = page.context.new_cdp_session(page)
            session.send("Performance.enable", {"timeDomain": "threadTicks"})
            page.goto(path.resolve().as_uri())
            moments = page.evaluate(_OPENED)
            metrics = session.send("Performance.getMetrics")["metrics"]
            cpu = next(
                each["value"] for each in metrics if each["name"] == "ThreadTime"
            )
            found.append({**moments, "CPU": 1000 * cpu})
            page.close()
        browser.close()
    return {name: statistics.median(each[name] for each in found) for name in found[0]}


def main(n_rows: int, keep: Path | None) -> None:
    X, y, name = rows_and_classes(n_rows)
    model = SCEDAE(10, n_members=2, epochs=1, random_state=0).fit(X)
    with tempfile.TemporaryDirectory() as folder:
        path = keep or Path(folder) / "report.html"
        wall, cpu = time.perf_counter(), time.process_time()
        with Parts() as parts:
            write_report(model, X, path, true_labels=y)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        megabytes = path.stat().st_size / 1e6
        opened = open_in_chromium(path)
    print(f"{device_name('cpu')}; {name}, {len(X):,} x {X.shape[1]}")
    print(f"report: {wall:.1f} s, {cpu:.1f} CPU seconds, {megabytes:.2f} MB")
    parts.seconds["the rest"] = cpu - sum(parts.seconds.values())
    for part, seconds in parts.seconds.items():
        print(f"  {part}: {seconds:.2f} CPU seconds")
    if opened is None:
        print("opening: no Chromium with playwright here")
    else:
        words = ", ".join(f"{moment} {ms:.0f} ms" for moment, ms in opened.items())
        print(f"opening: {words}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=70_000)
    parser.add_argument("--keep", type=Path, help="where to leave the page")
    given = parser.parse_args()
    main(given.rows, given.keep)
