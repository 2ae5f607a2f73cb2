"""The door of the command: what it needs, and that the manual knows all of it."""

import sys
from pathlib import Path
from typing import get_args

import pytest
from typer.main import get_command

from scedae import SCEDAE
from scedae.cli import fit as options
from scedae.cli import main
from scedae.cli.app import app

MANUAL = Path(__file__).parent.parent.parent / "docs" / "cli.md"


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.delitem(sys.modules, "scedae.cli.app")
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(
        SystemExit, match=r"typer is missing; pip install 'scedae\[cli]"
    ):
        main()


def test_the_manual_has_every_command_and_option():
    manual = MANUAL.read_text()
    for name, command in get_command(app).commands.items():
        assert f"## `scedae {name}" in manual
        for parameter in command.params:
            for option in parameter.opts:
                if option.startswith("--"):
                    assert f"`{option}" in manual, f"{name}: {option}"


@pytest.mark.parametrize("name", ["ensemble", "scale", "precision", "effort"])
def test_choices_are_those_of_the_estimator(name):
    """They are written twice, since the estimator's are dear to import."""
    choices = get_args(getattr(options, f"{name.title()}Name"))
    allowed = {
        option
        for constraint in SCEDAE._parameter_constraints[name]
        for option in getattr(constraint, "options", ())
    }
    assert set(choices) == allowed
