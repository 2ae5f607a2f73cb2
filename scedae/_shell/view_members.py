"""Which members each view gets, and which see all views side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scedae._members import MemberSpec, row_members
from scedae._rows import ViewRows


def specs_of_view(planned: Sequence[MemberSpec], view: ViewRows) -> list[MemberSpec]:
    """The members that the view would have alone.

    Where nothing is trained there are as many on the rows themselves, each with
    landmarks of its own: so every view has the same weight in the mean (Eq. 6).
    """
    if not view.trained:
        n_landmarks = max(spec.n_landmarks for spec in planned)
        planned = row_members(len(planned), n_landmarks)
    return [replace(spec, view=view.name) for spec in planned]


def specs_of_all(
    planned: Sequence[MemberSpec], views: Sequence[ViewRows]
) -> list[MemberSpec]:
    """Members that see all views side by side, as many as of one view.

    They see what no view shows alone, and a view of noise is one among others to them.
    Where a view was encoded elsewhere they have no network.
    """
    if len(views) == 1:
        return []  # it shows all there is
    if any(not view.trained for view in views):
        n_landmarks = max(spec.n_landmarks for spec in planned)
        return row_members(len(planned), n_landmarks)
    return list(planned)


def deal_specs(
    listed: Sequence[MemberSpec], views: Sequence[ViewRows]
) -> list[list[MemberSpec]]:
    """A list of members as those of each view, then those that see all of them."""
    names = [view.name for view in views]
    for spec in listed:
        if spec.view is not None and spec.view not in names:
            known = f"the views are {', '.join(map(repr, names))}"
            raise ValueError(
                f"a member of ensemble is for the view {spec.view!r}, but "
                f"{known if names else 'X is one matrix, without views'}."
            )
    of_all = [spec for spec in listed if spec.view is None]
    return [*(_own(listed, view) for view in views), of_all]


def _own(listed: Sequence[MemberSpec], view: ViewRows) -> list[MemberSpec]:
    own = [spec for spec in listed if spec.view == view.name]
    seeing = [spec for spec in listed if spec.view in (None, view.name)]
    if not seeing:
        raise ValueError(
            f"no member of ensemble is for the view {view.name!r}: add one, or leave "
            "the view out of X."
        )
    if not view.trained and any(spec.hidden_layers for spec in seeing):
        raise ValueError(
            f"view {view.name!r} is not to be trained on (train=False), but ensemble "
            "has a network for it: give it members with hidden_layers=()."
        )
    return own
