"""anchor: rows that are landmarks of each other, where members know a part of them.

What is near a row is found once, among all rows. Each member then takes the nearest of
those that it knows, which are the ones that a search among its own would have found,
since the cells are the same: new rows, which every member searches for by itself, go
the same way.
"""

from __future__ import annotations

import torch

from scedae._spectral.affinity import Neighbors
from scedae._spectral.distances import squared_distances
from scedae._spectral.landmarks import Encoding, first_appearances
from scedae._spectral.search import Search, are_many, centers_of_cells


class NearRows:
    """The rows around each row of an encoding.

    Parameters
    ----------
    encoding : Encoding
    most : int
        As many will be asked for. Twice as many are found: of those a member with most
        of the rows lacks too many once in a million times.
    """

    def __init__(self, encoding: Encoding, most: int) -> None:
        # A search likes many at a time.
        self._rows = torch.cat(list(encoding.blocks()))
        # Landmarks on one spot would be each other's neighbours.
        self._spots = self._rows[first_appearances(self._rows)]
        self.centers: torch.Tensor | None = None  # of cells, where spots are many
        if are_many(self._spots):
            self.centers = centers_of_cells(self._spots)
            search = Search(self._spots, self.centers)
            found, self._sure = search.nearest_by_cells(self._rows, 2 * most)
            self._found = found.int()  # half the memory of long numbers

    def some(
        self, part: float, n_neighbors: int, generator: torch.Generator
    ) -> tuple[torch.Tensor, Neighbors]:
        """This part of all spots as landmarks, and the nearest of these to each row."""
        count = round(part * len(self._spots))
        chosen = torch.arange(len(self._spots))
        if part < 1:
            order = torch.randperm(len(self._spots), generator=generator)
            chosen = order[:count].sort().values
        chosen = chosen.to(self._rows.device)
        landmarks = self._spots[chosen]
        columns = self._nearest(chosen, landmarks, min(n_neighbors, len(landmarks)))
        squared = squared_distances(self._rows, landmarks, columns)
        return landmarks, Neighbors(columns.int(), squared)

    def _nearest(
        self, chosen: torch.Tensor, landmarks: torch.Tensor, r: int
    ) -> torch.Tensor:
        search = Search(landmarks, self.centers)
        if self.centers is None:
            return search.nearest(self._rows, r)
        numbers = self._found.new_full((len(self._spots),), -1)
        numbers[chosen] = torch.arange(len(chosen)).to(numbers)
        own = numbers[self._found]
        known = own >= 0
        ranks = known.cumsum(1, dtype=torch.int32)
        # As in a search, the last one tells.
        enough = (known & (ranks == r) & self._sure).any(1)
        taken = known & (ranks <= r) & enough[:, None]
        columns = own.new_empty(len(own), r)
        columns[enough] = own[taken].view(-1, r)
        if not bool(enough.all()):
            columns[~enough] = search.nearest(self._rows[~enough], r).int()
        return columns
