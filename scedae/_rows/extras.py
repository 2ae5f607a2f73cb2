"""Packages that only some rows need."""

from __future__ import annotations

import importlib
from typing import Any


def import_extra(module: str, what: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = module.split(".")[0]
        raise ImportError(
            f"{what} needs {name}: pip install 'scedae[files]'."
        ) from error
