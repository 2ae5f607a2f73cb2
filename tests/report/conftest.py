"""Models that fit in a second, and a browser where there is one."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from scedae import SCEDAE
from scedae.datasets import load_digits
from scedae.report import write_report
from tests.helpers import QUICK


@pytest.fixture(scope="session")
def digits():
    """300 digits, their classes, and a model of them."""
    X, y = load_digits()
    X, y = X[:300], y[:300]
    return SCEDAE(10, **QUICK, random_state=0).fit(X), X, y


@pytest.fixture(scope="session")
def digits_page(digits, tmp_path_factory):
    model, X, y = digits
    path = tmp_path_factory.mktemp("report") / "digits.html"
    write_report(model, X, path, true_labels=y, info={"data": "folder/digits.npz"})
    return path


@pytest.fixture
def report(tmp_path):
    """Writes a report and returns its text."""

    def write(model, X, **arguments):
        path = tmp_path / "report.html"
        write_report(model, X, path, **arguments)
        return path.read_text(encoding="utf-8")

    return write


def smooth_pictures(n_rows, side):
    """Blurred spots on square pictures, values 0 … 255, five kinds of them."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 5, n_rows)
    y, x = np.mgrid[:side, :side]
    centers = np.array([[1, 1], [1, 6], [6, 1], [6, 6], [4, 4]])[kinds] * side / 8
    centers = centers + rng.normal(0, 0.4, centers.shape)
    squared = (x - centers[:, :1, None]) ** 2 + (y - centers[:, 1:, None]) ** 2
    pictures = 255 * np.exp(-squared / 6) + rng.uniform(0, 25, squared.shape)
    return pictures.clip(0, 255).round().reshape(n_rows, -1), kinds


@pytest.fixture(scope="session")
def browser():
    """Chromium, driven by Playwright; tests are skipped without either."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright")
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no chromium on this machine")
    with playwright.sync_playwright() as driver:
        instance = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield instance
        instance.close()
