"""Which share of lines and branches the tests reach, beside what is asked for.

    python -m pytest --cov ... ; python benchmarks/covered.py

Reads what ``make coverage`` has measured. pyproject.toml names what is left out, with
its reason. Ends with 1 if a share is too small.
"""

from __future__ import annotations

import json
import subprocess
import sys

LEAST = {"statements": 95.0, "branches": 90.0}


def main() -> None:
    command = [sys.executable, "-m", "coverage", "json", "-q", "-o", "-"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    totals = json.loads(found)["totals"]
    shares = {kind: totals[f"percent_{kind}_covered"] for kind in LEAST}
    for kind, share in shares.items():
        print(f"{kind}: {share:.1f} % (at least {LEAST[kind]:.0f} %)")
    sys.exit(int(any(shares[kind] < LEAST[kind] for kind in LEAST)))


if __name__ == "__main__":
    main()
