"""How to repeat the fit: code with the seed and every parameter that is no default."""

from __future__ import annotations

import inspect
import shlex
from typing import Any

import numpy as np
import torch


def code(model: Any, command: str | None = None) -> str:
    """A snippet that fits the same model to the same rows.

    For a table it is the command that read it, if there was one.
    """
    if command is not None and hasattr(model, "table_"):
        words = shlex.split(command)
        if not any(word.startswith("--seed") for word in words):
            words += ["--seed", str(model.seed_)]
        return _one_option_a_line(words)
    name = type(model).__name__
    module = "scedae.baselines" if ".baselines." in type(model).__module__ else "scedae"
    parameters = {**model.get_params(deep=False), "random_state": model.seed_}
    # A folder of one machine, which does not change what comes out.
    parameters.pop("checkpoint_dir", None)
    parameters.pop("verbose", None)
    defaults = inspect.signature(type(model)).parameters
    parameters = {
        name: value
        for name, value in parameters.items()
        if name == "n_clusters" or repr(value) != repr(defaults[name].default)
    }
    arguments = [f"    {key}={_literal(value)}," for key, value in parameters.items()]
    imports = [f"from {module} import {name}"]
    if any("MemberSpec(" in line for line in arguments):
        imports.append("from scedae import MemberSpec")
    lines = [*imports, "", f"model = {name}(", *arguments, ")"]
    return "\n".join([*lines, "labels = model.fit_predict(X)"])


def _one_option_a_line(words: list[str]) -> str:
    """A command as a shell takes it, with no line that is too long for the page."""
    lines = [""]
    for word in words:
        if word.startswith("-") and not word.lstrip("-")[:1].isdigit() and word != "-":
            lines.append("   ")
        lines[-1] += f" {shlex.quote(word)}"
    return " \\\n".join(lines).strip()


def _literal(value: Any) -> str:
    """A value as Python writes it."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, torch.device):
        value = str(value)
    return repr(value)
