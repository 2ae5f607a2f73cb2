"""``python -m scedae.experiments``: the runner alone, with nothing but the core."""

from __future__ import annotations

import argparse
import sys

from scedae.exceptions import ScedaeError
from scedae.experiments.runner import run
from scedae.experiments.specification import NAMES


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scedae.experiments")
    parser.add_argument("names", nargs="+", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--data", nargs="+")
    parser.add_argument("--replicates", type=int)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--workers", type=int)
    parser.add_argument("-o", "--folder", required=True)
    try:
        run(**vars(parser.parse_args()))
    except (ScedaeError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.stderr.write("stopped; the same command goes on where it was.\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
