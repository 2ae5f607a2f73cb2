"""Every example runs as it stands."""

import subprocess
import sys
from pathlib import Path

import pytest

# Those that take over ten seconds are run by `make test-slow`.
SLOW = ("beyond_labels", "digits", "ensembles", "views")
EXAMPLES = [
    pytest.param(path, marks=[pytest.mark.slow] if path.stem in SLOW else [])
    for path in sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, tmp_path):
    result = subprocess.run(
        [sys.executable, path], cwd=tmp_path, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout
    if path.stem == "digits":
        assert (tmp_path / "digits.png").stat().st_size > 20_000
