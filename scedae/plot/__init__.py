"""Pictures of a fitted model, with matplotlib (``pip install 'scedae[plot]'``).

Each function reads public attributes of a model and returns the Axes or the Figure it
drew on. Importing this module needs no matplotlib; drawing does.
"""

from scedae.plot._dendrogram_picture import dendrogram
from scedae.plot._embedding_picture import embedding
from scedae.plot._exemplars import exemplars
from scedae.plot._member_pictures import agreement, training_curves
from scedae.plot._spectrum_picture import spectrum
from scedae.plot._suggestion_picture import suggestion

__all__ = [
    "agreement",
    "dendrogram",
    "embedding",
    "exemplars",
    "spectrum",
    "suggestion",
    "training_curves",
]
