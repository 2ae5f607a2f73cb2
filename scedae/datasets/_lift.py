"""The paper's three ways of lifting flat shapes into 100 dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.utils import check_array

from scedae._random import RandomState, child_seed, root_seed

LIFTS = ("sigmoid", "square", "tangent")

_LIFTED_COLUMNS = 100
_HIDDEN_COLUMNS = 10


def lift(
    H: Any, kind: str = "sigmoid", *, random_state: RandomState = None
) -> np.ndarray:
    """Lift rows into 100 dimensions by a random non-linear map (Eq. 10).

    With σ the logistic function and W, U matrices of standard normal numbers:
    ``"sigmoid"`` is σ(Uσ(Wh)) through 10 dimensions, ``"square"`` is σ(σ(Wh))²,
    ``"tangent"`` is tan(σ(Wh)).

    Parameters
    ----------
    H : array-like of shape (n_samples, n_features)
    kind : {"sigmoid", "square", "tangent"}, default="sigmoid"
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 100)

    Examples
    --------
    >>> from scedae.datasets import lift, make_lsun
    >>> H, y = make_lsun(50, random_state=0)
    >>> lift(H, "tangent", random_state=0).shape
    (50, 100)
    """
    if kind not in LIFTS:
        raise ValueError(f"kind={kind!r} must be one of {', '.join(LIFTS)}.")
    H = check_array(H, dtype=np.float64)
    generator = np.random.default_rng(child_seed(root_seed(random_state), "lift"))
    if kind == "sigmoid":
        W = generator.standard_normal((H.shape[1], _HIDDEN_COLUMNS))
        U = generator.standard_normal((_HIDDEN_COLUMNS, _LIFTED_COLUMNS))
        return expit(expit(H @ W) @ U)
    W = generator.standard_normal((H.shape[1], _LIFTED_COLUMNS))
    return expit(expit(H @ W)) ** 2 if kind == "square" else np.tan(expit(H @ W))
