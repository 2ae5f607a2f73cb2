"""The members of the ensemble: how they trained, and whether they agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scedae.plot._canvas import axes_for, colors, entitle, member_names, plain, require

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def agreement(model: Any, *, ax: Axes | None = None) -> Axes:
    """How much each member says what the ensemble says, as bars.

    Parameters
    ----------
    model : fitted SCEDAE, LandmarkSpectralClustering or AutoencoderLSC
    ax : Axes, default=None
        Where to draw; new Axes if not given.

    Returns
    -------
    ax : Axes

    Examples
    --------
    >>> from scedae import LandmarkSpectralClustering, plot
    >>> from scedae.datasets import make_lsun
    >>> X, y = make_lsun(300, random_state=0)
    >>> model = LandmarkSpectralClustering(3, random_state=0).fit(X)
    >>> ax = plot.agreement(model)
    >>> ax.get_title(loc="left")
    'Agreement of the members'
    """
    require(model, "member_agreement_")
    names, shares = member_names(model), model.member_agreement_
    ax = axes_for(ax, 6, 0.9 + 0.32 * len(names))
    lost = np.isnan(shares)
    bars = ax.barh(names, np.where(lost, 0, shares), color=colors(1)[0], height=0.7)
    texts = [
        _fate(member) if is_lost else f"{share:.2f}"
        for member, share, is_lost in zip(model.members_, shares, lost, strict=True)
    ]
    ax.bar_label(bars, texts, padding=4)
    ax.invert_yaxis()
    # Room for the numbers behind bars of full length.
    ax.set(xlim=(0, 1.12), xlabel="agreement with the ensemble", ylabel="member")
    ax.set_xticks(np.linspace(0, 1, 6))
    entitle(ax, "Agreement of the members")
    plain(ax)
    return ax


def training_curves(model: Any, *, ax: Axes | None = None) -> Axes:
    """Loss of each member after each epoch.

    Parameters
    ----------
    model : fitted estimator with autoencoders
    ax : Axes, default=None
        Where to draw; new Axes if not given.

    Returns
    -------
    ax : Axes

    Examples
    --------
    >>> from scedae import SCEDAE, plot
    >>> from scedae.datasets import make_tetra
    >>> X, y = make_tetra(200, random_state=0)
    >>> model = SCEDAE(4, n_members=2, n_row_members=0, epochs=5, random_state=0).fit(X)
    >>> len(plot.training_curves(model).lines)
    2
    """
    require(model, "members_")
    trained = [
        (name, [epoch["loss"] for epoch in report.history])
        for name, report in zip(member_names(model), model.members_, strict=True)
        if report.history
    ]
    if not trained:
        raise ValueError(f"no member of this {type(model).__name__} was trained.")
    ax = axes_for(ax, 6, 3.5)
    for (name, losses), color in zip(trained, colors(len(trained)), strict=True):
        # A single epoch would be a line without length.
        marker = "o" if len(losses) == 1 else None
        epochs = np.arange(1, len(losses) + 1)
        ax.plot(epochs, losses, label=name, color=color, marker=marker, linewidth=1.2)
    ax.set(xlabel="epoch", ylabel="reconstruction loss")
    entitle(ax, "Loss by epoch")
    ax.legend(title="member", frameon=False, fontsize="small")
    plain(ax)
    return ax


def _fate(member: Any) -> str:
    return "collapsed" if member.collapsed else "left out with its view"
