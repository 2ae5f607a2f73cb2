"""The wheel built from the tree works in an environment that has nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_the_wheel_installs_into_an_empty_environment_and_fits(tmp_path):
    def run(*command):
        subprocess.run(command, check=True, cwd=tmp_path)

    run(sys.executable, "-m", "build", "--wheel", "--outdir", tmp_path, ROOT)
    (wheel,) = tmp_path.glob("*.whl")
    run(sys.executable, "-m", "venv", tmp_path / "env")
    python = tmp_path / "env" / "bin" / "python"
    install = (python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt")
    run(*install, "torch")
    run(*install, f"{wheel}[report]")
    run(
        python,
        "-c",
        "from scedae import SCEDAE; from scedae.datasets import make_chainlink;"
        "X, y = make_chainlink(200, random_state=0);"
        "m = SCEDAE(2, epochs=5, random_state=0).fit(X);"
        "m.save('m.scedae'); loaded = SCEDAE.load('m.scedae');"
        "assert (loaded.predict(X) == m.labels_).all();"
        "from scedae.report import write_report; write_report(m, X, 'report.html')",
    )
