"""How to repeat the fit: code with every parameter and the seed."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import torch

from scedae._version import __version__

_NAMES = {"sha256": "SHA-256"}
_PACKAGES = ("numpy", "scipy", "scikit-learn", "torch")


def code(model: Any) -> str:
    """A snippet that fits the same model to the same rows."""
    name = type(model).__name__
    module = "scedae.baselines" if ".baselines." in type(model).__module__ else "scedae"
    parameters = {**model.get_params(deep=False), "random_state": model.seed_}
    arguments = [f"    {key}={_literal(value)}," for key, value in parameters.items()]
    imports = [f"from {module} import {name}"]
    if any("MemberSpec(" in line for line in arguments):
        imports.append("from scedae import MemberSpec")
    lines = [*imports, "", f"model = {name}(", *arguments, ")"]
    return "\n".join([*lines, "labels = model.fit_predict(X)"])


def versions(info: Mapping[str, Any]) -> dict[str, str]:
    """Those of the run, if it noted them, else those of this machine."""
    noted = info.get("versions")
    if isinstance(noted, Mapping):
        return {str(name): str(value) for name, value in noted.items()}
    found = {"scedae": __version__, "Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def origin(info: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What else is known of the run: data, checksum, command, and so on."""
    shown_elsewhere = {"versions", "seconds", "device"}
    return [
        (_NAMES.get(key, str(key).replace("_", " ").capitalize()), str(value))
        for key, value in info.items()
        if key not in shown_elsewhere and value is not None
    ]


def _literal(value: Any) -> str:
    """A value as Python writes it."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, torch.device):
        value = str(value)
    return repr(value)
