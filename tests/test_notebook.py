"""In a notebook: one live bar, compact pictures, and the report inline."""

import os
import sys
from pathlib import Path

import pytest

from scedae import SCEDAE, ClusterSuggestion
from scedae._spectral import Candidate
from scedae.report import show
from tests.helpers import QUICK

NOTEBOOK = Path(__file__).parent.parent / "examples" / "table.ipynb"


@pytest.mark.filterwarnings("ignore")  # of the packages that run notebooks
def test_the_notebook_runs(tmp_path, monkeypatch):
    nbformat = pytest.importorskip("nbformat", reason="no nbformat")
    nbclient = pytest.importorskip("nbclient", reason="no nbclient")
    pytest.importorskip("ipykernel", reason="no ipykernel")
    # This interpreter, whatever kernels are installed.
    kernel = tmp_path / "kernels" / "python3"
    kernel.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    text = str(argv).replace("'", '"')
    (kernel / "kernel.json").write_text(f'{{"argv": {text}, "display_name": "Python"}}')
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    root = str(NOTEBOOK.parent.parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([root, *sys.path]))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    outputs = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    # One line for the whole fit, written again and again, and nothing in red.
    bars = [o for o in outputs[1] if o.output_type == "display_data"]
    assert len(bars) == 1
    assert "100%" in bars[0]["data"]["text/plain"]
    assert not [o for out in outputs for o in out if o.get("name") == "stderr"]
    assert "240 rows in 3 clusters" in outputs[2][0]["data"]["text/html"]
    assert "<table>" in outputs[3][0]["data"]["text/html"]
    assert "<iframe srcdoc=" in outputs[4][0]["data"]["text/html"]


def test_models_show_their_clusters(blobs):
    model = SCEDAE(3, **QUICK, random_state=0)
    assert "rows in" not in model._repr_html_()
    shown = model.fit(blobs[0])._repr_html_()
    assert "240 rows in 3 clusters" in shown
    assert shown.count("<td>80</td>") == 3


def test_a_suggestion_has_bars():
    evidence = ClusterSuggestion(
        (Candidate(3, 0.5, 0.9, 0.4), Candidate(2, 0.1, 1, 0.1))
    )
    shown = evidence._repr_html_()
    assert shown.startswith("<b>3 clusters</b>")
    assert "width:100%" in shown and "width:25%" in shown


def test_the_report_inline_is_the_page(blobs):
    X, _ = blobs
    model = SCEDAE(3, **QUICK, random_state=0).fit(X)
    inline = show(model, X, height=500, names={0: "<b>nasty"})
    assert inline.page.startswith("<!doctype html>") or "<!doctype html>" in inline.page
    frame = inline._repr_html_()
    assert 'height="500"' in frame and frame.count("<iframe") == 1
    assert "<script" not in frame  # all of it is inside the quoted page
