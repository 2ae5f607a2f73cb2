"""The lowest versions that pyproject.toml names, as constraints for pip.

    python tools/lowest.py > constraints.txt
    python tools/lowest.py --torch 2.13.0     another torch than the lowest

Extras that users install are pinned as the core is; tools of development are not.
``make test-lowest`` runs the tests with them.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"
# anndata is tested by itself (`make test-anndata`): it and zarr exclude each other's
# lowest versions. What only benchmarks, the site and the tests need has no floor.
LEFT_OUT = ("anndata", "bench", "dev", "docs", "test")
_FLOOR = re.compile(
    r"(?P<name>[\w.-]+)(\[[\w,]+\])?>=(?P<version>[\w.]+)(;\s*(?P<marker>.+))?"
)


def requirements(project: dict) -> list[str]:
    """Of the core, and of each extra that users install."""
    extras = project["optional-dependencies"]
    named = [line for name in extras if name not in LEFT_OUT for line in extras[name]]
    own = f"{project['name']}["
    return [
        line for line in (*project["dependencies"], *named) if not line.startswith(own)
    ]


def applies(marker: str | None) -> bool:
    """Whether a requirement is meant for this system; one kind of marker is known."""
    if marker is None:
        return True
    known = re.fullmatch(r"sys_platform == '(\w+)'", marker)
    if known is None:
        raise ValueError(f"{marker!r} is not understood.")
    return sys.platform == known[1]


def lowest(project: dict) -> dict[str, str]:
    """Name → version; of several floors of one package, the last."""
    floors = {}
    for line in requirements(project):
        floor = _FLOOR.fullmatch(line)
        if floor is None:
            raise ValueError(f"{line!r} has no lowest version.")
        if applies(floor["marker"]):
            floors[floor["name"]] = floor["version"]
    return floors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--torch", help="a version to take instead of the lowest")
    chosen = parser.parse_args().torch
    project = tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]
    floors = lowest(project) | ({"torch": chosen} if chosen else {})
    print("\n".join(f"{name}=={version}" for name, version in sorted(floors.items())))


if __name__ == "__main__":
    main()
