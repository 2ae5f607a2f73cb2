"""The version stands in several files: do they agree?

python tools/version.py                says it, or what disagrees
python tools/version.py --tag v0.1.0   the tag and the changelog, too: before a release
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent

PLACES = {
    "scedae/_version.py": r'__version__ = "(.+)"',
    "CITATION.cff": r"^version: (.+)$",
    "conda/meta.yaml": r'set version = "(.+)"',
}
# Of a release; X.Y.Z.dev0 between two.
FORM = re.compile(r"\d+\.\d+\.\d+(\.dev0|rc\d+)?")


def versions(root: Path = ROOT) -> dict[str, str]:
    """File → the version that it names."""
    found = {}
    for name, pattern in PLACES.items():
        text = (root / name).read_text("utf-8")
        match = re.search(pattern, text, re.MULTILINE)
        found[name] = match[1] if match else "none"
    return found


def problems(root: Path = ROOT, tag: str | None = None) -> list[str]:
    found = versions(root)
    version = found["scedae/_version.py"]
    wrong = [f"{name} says {v}, not {version}" for name, v in found.items()]
    wrong = [
        line for line, v in zip(wrong, found.values(), strict=True) if v != version
    ]
    if not FORM.fullmatch(version):
        wrong.append(f"{version} is no version")
    if tag is not None:
        if tag != f"v{version}":
            wrong.append(f"the tag is {tag}, the version {version}")
        changes = (root / "CHANGES.md").read_text("utf-8")
        if not re.search(
            rf"^## {re.escape(version)} · \d{{4}}-", changes, re.MULTILINE
        ):
            wrong.append(f"CHANGES.md has no heading '## {version} · YYYY-MM-DD'")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tag", help="the tag of a release, vX.Y.Z")
    wrong = problems(tag=parser.parse_args().tag)
    if wrong:
        sys.exit("\n".join(wrong))
    print(versions()["scedae/_version.py"])


if __name__ == "__main__":
    main()
