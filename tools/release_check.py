"""Build sdist and wheel, look into both, install the wheel alone, and try it.

    python tools/release_check.py            a few minutes
    python tools/release_check.py --keep dist    what was built is left there

The wheel is built from the sdist, so that a file which the sdist lacks is missed here.
It goes into an empty environment with nothing but the core; torch is taken as
constraints.txt pins it.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = "scedae"

IN_SDIST = (
    "CHANGES.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "PKG-INFO",
    "README.md",
    "constraints.txt",
    "docs/design.md",
    "docs/results/default.jsonl",
    "pyproject.toml",
    "tests/conftest.py",
    "tests/golden/",
    "tools/smoke.py",
)
# Neither what tools leave behind nor what is large: the paper's records have 14 MB.
NEVER = (
    "__pycache__",
    ".pyc",
    ".venv",
    ".git/",
    "_build",
    "docs/paper/",
    ".ipynb_checkpoints",
)
IN_WHEEL = (
    f"{PACKAGE}/__init__.py",
    f"{PACKAGE}/py.typed",
    f"{PACKAGE}/report/templates/",
    f"{PACKAGE}/experiments/paper.toml",
    ".dist-info/METADATA",
    ".dist-info/entry_points.txt",
    "LICENSE",
)
MOST_BYTES = 3_000_000


def run(*command: object, cwd: Path) -> None:
    subprocess.run([str(part) for part in command], check=True, cwd=cwd)


def lacks(names: list[str], wanted: tuple[str, ...]) -> list[str]:
    return [part for part in wanted if not any(part in name for name in names)]


def unwanted(names: list[str], never: tuple[str, ...]) -> list[str]:
    return [name for name in names if any(part in name for part in never)]


def check_contents(sdist: Path, wheel: Path) -> None:
    with tarfile.open(sdist) as archive:
        source = [f"{name}" for name in archive.getnames()]
    with zipfile.ZipFile(wheel) as archive:
        built = archive.namelist()
    modules = {p.relative_to(ROOT).as_posix() for p in (ROOT / PACKAGE).rglob("*.py")}
    problems = {
        "the sdist lacks": lacks(source, IN_SDIST),
        "the sdist holds": unwanted(source, NEVER),
        "the wheel lacks": [*lacks(built, IN_WHEEL), *sorted(modules - set(built))],
        "the wheel holds": [
            name
            for name in built
            if not name.startswith((f"{PACKAGE}/", f"{PACKAGE}-")) or ".pyc" in name
        ],
        "too large": [f.name for f in (sdist, wheel) if f.stat().st_size > MOST_BYTES],
    }
    found = [f"{what}: {', '.join(names)}" for what, names in problems.items() if names]
    if found:
        sys.exit("\n".join(found))
    for file, names in ((sdist, source), (wheel, built)):
        print(f"{file.name}: {len(names)} files, {file.stat().st_size / 1e6:.2f} MB")


def try_in_an_empty_environment(wheel: Path, folder: Path) -> None:
    run(sys.executable, "-m", "venv", folder / "env", cwd=folder)
    scripts = "Scripts" if sys.platform == "win32" else "bin"
    python = folder / "env" / scripts / "python"
    pip = (python, "-m", "pip", "install", "--quiet")
    run(*pip, "--constraint", ROOT / "constraints.txt", "torch", cwd=folder)
    run(*pip, wheel, cwd=folder)
    run(python, "-m", "pip", "check", cwd=folder)
    # From elsewhere, so that the tree is not what is imported; warnings are errors.
    run(python, "-W", "error", ROOT / "tools" / "smoke.py", cwd=folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", type=Path, help="folder for what was built")
    keep = parser.parse_args().keep
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
        (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
        check_contents(sdist, wheel)
        try_in_an_empty_environment(wheel, folder)
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            for file in (sdist, wheel):
                shutil.copy(file, keep)


if __name__ == "__main__":
    main()
