"""SCEDAE: spectral clustering of an ensemble of deep autoencoders."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from inspect import signature
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Self

import torch

from scedae._constraints import Interval, StrOptions
from scedae._defaults import (
    EFFORTS,
    MOST_DIRECTIONS,
    Effort,
    Refining,
    Scale,
    resolve_effort,
    resolve_landmarks,
    resolve_members,
    resolve_refining,
    resolve_row_members,
    resolve_rows_first,
    resolve_scales,
)
from scedae._members import (
    ENSEMBLES,
    MOST_MEMBERS,
    MemberSpec,
    plan_members,
    row_members,
)
from scedae._prepared import Prepared
from scedae._progress import Progress
from scedae._random import RandomState, root_seed
from scedae._rows import (
    AnyScaler,
    Rows,
    Scaler,
    draw,
    find_directions,
    gather_statistics,
    learn_scaler,
    rows_to_learn,
    side_by_side,
)
from scedae._shell.base import SPECTRAL_CONSTRAINTS
from scedae._shell.networks import (
    AUTOENCODER_CONSTRAINTS,
    hidden_widths,
    n_epochs,
    training_options,
)
from scedae._shell.spectral import SpectralClusterer
from scedae._shell.view_members import deal_specs, specs_of_all, specs_of_view
from scedae._spectral import EMBEDDINGS
from scedae._storage import (
    Checkpoint,
    digest_of_rows,
    open_folder,
    remembered_seed,
    together,
)

# What may say something of the members, of their training, or of their graph.
_OF_MEMBERS = (
    "ensemble",
    "n_members",
    "n_row_members",
    "hidden_layers",
    "encoding_dim",
    "epochs",
    "batch_size",
    "learning_rate",
    "schedule",
    "precision",
    "n_landmarks",
    "n_neighbors",
    "embedding",
)


class SCEDAE(SpectralClusterer):
    """Spectral clustering via ensemble deep autoencoder learning.

    Several autoencoders encode the rows; each encoding is tied to landmarks, some
    thousands at most, by a sparse affinity; the affinities are fused into one matrix
    whose leading singular vectors, weighted, are clustered by k-means, and rows go to
    the nearest centre once clusters are made round. New rows take the same road, so
    ``predict`` agrees with ``labels_`` on the training rows.

    The defaults are one recipe for all data, chosen without the labels of the data
    at hand. :meth:`paper` gives the settings of the publication instead.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters. ``"auto"`` finds it by the spectrum and by the stability of
        the clusters; see :func:`scedae.suggest_clusters`.
    ensemble : {"structure", "initialization", "epochs", "landmarks"} \
or list of MemberSpec, default="structure"
        What differs between the members: the order of the hidden widths, the random
        start, the number of epochs (snapshots of one training), or the number of
        landmarks on one encoding. A list says all of that itself: ``n_members``,
        ``n_row_members``, ``hidden_layers``, ``epochs`` and ``n_landmarks`` are not
        read then.
    effort : {"fast", "default", "best"}, default="default"
        How much work every ``"auto"`` and None below asks for. ``"fast"`` is for a
        first look or many rows on a CPU, ``"best"`` for a GPU or patience. The numbers
        are in :data:`scedae._defaults.EFFORTS`; ``docs/guide/parameters.md`` shows
        what each means. ``"fast"`` and ``"default"`` look at near rows first where rows
        are 5,000 to 100,000: if they fall into clear clusters by themselves,
        no autoencoder is trained. ``members_`` tells. Whoever says anything of members,
        of their training or of the graph gets what was said.
    n_members : int, default=None
        Autoencoders of the ensemble. None: those of the effort, or every order of the
        widths where ``hidden_layers`` are given; 5 if ``ensemble`` has one structure.
    n_row_members : int, default=None
        Members beside the autoencoders that work on the rows themselves, each with
        landmarks of its own: they steady the answer where networks learn little. None:
        those of the effort, or none where a landmark would stand for many rows.
    hidden_layers : "auto" or sequence of int, default="auto"
        Widths of the encoder's hidden layers, mirrored by the decoder. ``"auto"``
        goes by the number of rows and columns, and by the effort where both are large.
    encoding_dim : int, default=10
        Width of the code.
    epochs : "auto" or int, default="auto"
        Passes over the rows. ``"auto"``: as many as the gradient steps of the effort
        need. Of rows that do not lie in memory an epoch is a draw, so the steps do not
        grow with the rows (``docs/scaling.md``).
    batch_size : int, default=256
        Rows of one gradient step; an eighth of the rows, if that is less.
    learning_rate : float, default=2e-3
        Rate of Adam; the peak, when ``schedule="one-cycle"``.
    schedule : {"one-cycle", "constant"}, default="one-cycle"
        One cycle rises over the first quarter of the steps and falls to zero along a
        cosine. Members that are snapshots of one training (the ``"epochs"`` ensemble)
        always have a constant rate: half a cycle is not a training.
    precision : {"auto", "float32", "tf32", "bfloat16"}, default="auto"
        Precision of the products while training; weights, moments and losses are
        float32 in any case. ``"auto"`` takes TF32 on a GPU and float32 on a CPU,
        which knows no other. bfloat16 is the fastest; what each costs in quality is
        within the spread of seeds (``docs/appendix/lab-notes.md``).
    scale : {"auto", "none", "raw", "range", "log", "minmax", "l2", "standard", \
"power"}, default="auto"
        How columns are brought into a range the networks can learn; see
        :mod:`scedae._rows.scaling` for the rule behind ``"auto"``. ``"none"`` centres
        columns that are not within [0, 1], ``"raw"`` leaves every value alone,
        ``"power"`` standardises columns, takes the skew out of them (Yeo and Johnson)
        and gives columns of few values less weight.
    n_directions : "auto", int or None, default="auto"
        Scaled rows are centred, turned to their principal directions and brought to
        one common scale, which networks learn in a tenth of the steps; of more
        directions than this, those of least variance are left out. None leaves the
        rows as ``scale`` makes them.
    n_landmarks : "auto" or int, default="auto"
        Landmarks of each member. ``"auto"``: a share of the rows, up to what the
        effort allows; fewer where columns are few or rows very many.
    n_neighbors : "auto" or int, default="auto"
        Nearest landmarks each row is tied to. Where this or ``n_landmarks`` is
        ``"auto"``, graphs of several scales are tried on the same encodings and one is
        kept, by a judge that sees no labels; ``candidates_`` has what it said. With
        both given there is one graph.
    embedding : {"diffusion", "lsc"}, default="diffusion"
        ``"lsc"``: singular vectors 2 … k+1, unweighted. ``"diffusion"``: vectors
        2 … 2k, each weighted by a power of its singular value (such that the
        (k-1)-th keeps 0.75 of its weight, or 0.25 where the judge finds the clusters
        before a gap far better cut off), which finds small clusters beside large
        ones. Of more than 100 clusters there are 100 more vectors than they need. Rows
        are normalised in both; for ``"diffusion"`` coordinates are then rescaled such
        that clusters are round, and rows go to the nearest centre there.
    refine : "auto" or bool, default="auto"
        Whether a network that learns from the ensemble has the last word on labels: it
        is taught what the ensemble is surest of, and that small changes of a row change
        nothing (virtual adversarial training), and decides about the other rows. Its
        answer is refused if a judge finds it clearly worse, or if it moves more than a
        tenth of the rows; ``refinement_`` says what it did. ``"auto"``: yes, from 600
        rows on, unless the effort is ``"fast"``.
    device : str or torch.device, default="auto"
        ``"auto"`` takes a GPU where there is one.
    checkpoint_dir : path, default=None
        A folder for finished trainings, and for those under way every half minute. A
        fit that was killed goes on from there when it is made again, and ends with the
        labels it would have had. The folder is made if need be and may serve several
        fits; it can be deleted after each. With ``random_state=None`` the seed of the
        first fit on the same rows is taken again.
    random_state : int, RandomState, Generator or None, default=None
        Fixes everything. After a fit with None, ``seed_`` repeats it.
    verbose : int, default=0
        1 shows one progress bar for the whole fit.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training row. After a fit on a large file a memory-mapped
        array, after one on a Dask collection a Dask array; so is ``confidence_``.
    confidence_ : ndarray of shape (n_samples,)
        How sure the cluster of each training row is, from 0 to 1; see
        :meth:`predict_confidence`.
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training rows (clusters are round in them, unless
        ``embedding="lsc"``); only if they lay in memory. For others,
        :meth:`transform` gives them.
    cluster_centers_ : ndarray of shape (n_clusters, n_components)
        Centres in the embedding.
    singular_values_ : ndarray of shape (n_components,)
        Singular values of the fused affinity after the trivial one.
    members_ : tuple of MemberReport
        Specification, loss after each epoch, and fate of each member.
    member_agreement_ : ndarray of shape (n_members,)
        Mean over the training rows (or a sample of them, if they did not lie in
        memory) of what each member gives to the ensemble's label; not a number for a
        member that collapsed.
    candidates_ : tuple of GraphCandidate
        The graphs that were tried, the finest first: landmarks, neighbours, what the
        judge said (``score``, the smaller the better), and which one was ``chosen``.
    refinement_ : Refinement or None
        What the last step did: whether it was kept, why, and which rows it moved from
        which cluster to which. None where the answer was not refined.
    probabilities_ : ndarray of shape (n_samples, n_clusters)
        Chances of all clusters for each training row; see :meth:`predict_proba`. Only
        if the rows lay in memory.
    linkage_ : ndarray of shape (n_pieces - 1, 4)
        How pieces of clusters, and clusters, are merged, in SciPy's form; see
        :meth:`labels_at`.
    layers_ : tuple of Layer
        Other numbers of clusters that are stable, and that of the fit: ``n_clusters``
        and ``stability``, coarsest first.
    stability_ : float
        How much two halves of the ensemble, which share neither a member nor a row,
        agree with k-means' labels and with each other: from 0 (by chance) to 1. A fit
        whose clusters are hardly more than noise warns.
    suggestion_ : ClusterSuggestion
        The evidence for each number of clusters; only with ``n_clusters="auto"``.
    pipeline_ : FittedPipeline
        Everything that was learnt.
    n_clusters_ : int
        Clusters that have rows.
    seed_ : int
        The number that repeats this fit.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only when X was a DataFrame with text column names.

    References
    ----------
    Affeldt, Labiod, Nadif. Spectral Clustering via Ensemble Deep Autoencoder
    Learning (SC-EDAE). Pattern Recognition 108, 2020.
    https://doi.org/10.1016/j.patcog.2020.107522

    Examples
    --------
    >>> from scedae import SCEDAE
    >>> from scedae.datasets import make_tetra
    >>> X, y = make_tetra(400, random_state=0)
    >>> model = SCEDAE(n_clusters=4, epochs=60, random_state=0).fit(X)
    >>> sorted(int((model.labels_ == c).sum()) for c in range(4))
    [100, 100, 100, 100]
    >>> bool((model.predict(X) == model.labels_).all())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **AUTOENCODER_CONSTRAINTS,
        **SPECTRAL_CONSTRAINTS,
        "ensemble": [StrOptions(set(ENSEMBLES)), list, tuple],
        "effort": [StrOptions(set(EFFORTS))],
        "n_members": [Interval(Integral, 1, MOST_MEMBERS, closed="both"), None],
        "n_row_members": [Interval(Integral, 0, MOST_MEMBERS, closed="both"), None],
        "n_directions": [
            StrOptions({"auto"}),
            Interval(Integral, 1, None, closed="left"),
            None,
        ],
        "n_neighbors": [StrOptions({"auto"}), *SPECTRAL_CONSTRAINTS["n_neighbors"]],
        "checkpoint_dir": [str, os.PathLike, None],
        "embedding": [StrOptions(set(EMBEDDINGS))],
        "refine": [StrOptions({"auto"}), "boolean"],
    }

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        ensemble: str | Sequence[MemberSpec] = "structure",
        effort: str = "default",
        n_members: int | None = None,
        n_row_members: int | None = None,
        hidden_layers: str | Sequence[int] = "auto",
        encoding_dim: int = 10,
        epochs: str | int = "auto",
        batch_size: int = 256,
        learning_rate: float = 2e-3,
        schedule: str = "one-cycle",
        precision: str = "auto",
        scale: str = "auto",
        n_directions: str | int | None = "auto",
        n_landmarks: str | int = "auto",
        n_neighbors: str | int = "auto",
        embedding: str = "diffusion",
        refine: str | bool = "auto",
        device: str | torch.device = "auto",
        checkpoint_dir: str | os.PathLike[str] | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.ensemble = ensemble
        self.effort = effort
        self.n_members = n_members
        self.n_row_members = n_row_members
        self.hidden_layers = hidden_layers
        self.encoding_dim = encoding_dim
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.precision = precision
        self.scale = scale
        self.n_directions = n_directions
        self.n_landmarks = n_landmarks
        self.n_neighbors = n_neighbors
        self.embedding = embedding
        self.refine = refine
        self.device = device
        self.checkpoint_dir = checkpoint_dir
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def paper(
        cls,
        n_clusters: int | str = 8,
        ensemble: str | Sequence[MemberSpec] = "structure",
        **overrides: Any,
    ) -> Self:
        """The settings of the publication, as far as it tells them.

        L2-normalised rows, no members but the autoencoders, orders of
        (500, 750, 1000), 250 epochs of Adam at a constant 0.001, the LSC embedding.
        For its synthetic shapes the paper takes
        ``hidden_layers=(50, 75, 100), epochs=200``. What it leaves open is listed in
        ``docs/design.md``: code width 10, batches of 32, 500 landmarks, 5 nearest.

        Batches of 32 are the default of the paper's library, and explain more of its
        ensembles: 44 of 99 published cells, where those of 256 have 36; the gain is
        USPS's (``docs/paper``). They do not cluster better: ``batch_size=256`` has
        accuracies 1.2 (MNIST), 2.2 (PenDigits) and 13.5 points (USPS) higher, for
        an eighth of the steps.

        Parameters
        ----------
        n_clusters : int, default=8
        ensemble : str or list of MemberSpec, default="structure"
        **overrides
            Any other parameter of the constructor.

        Returns
        -------
        SCEDAE, not yet fitted
        """
        settings: dict[str, Any] = {
            "hidden_layers": (500, 750, 1000),
            "epochs": 250,
            "batch_size": 32,
            "learning_rate": 1e-3,
            "schedule": "constant",
            "scale": "l2",
            "n_directions": None,
            "n_row_members": 0,
            "n_landmarks": 500,
            "n_neighbors": 5,
            "embedding": "lsc",
            "refine": False,
        }
        return cls(n_clusters, ensemble=ensemble, **{**settings, **overrides})

    def _prepare(self, rows: Rows, progress: Progress) -> Prepared:
        folder = None
        if self.checkpoint_dir is not None:
            folder = open_folder(self.checkpoint_dir)
        *specs, of_all = self._specs_of_views(rows)
        parts = [view.rows for view in rows.views] or [rows]
        statistics = [gather_statistics(part) for part in parts]
        seed, names = root_seed(self.random_state), [""] * len(parts)
        if folder is not None:
            names = [*map(digest_of_rows, parts, statistics)]
            if self.random_state is None:
                seed = remembered_seed(folder, together(names), seed)
        scalers = [
            self._turned(learn_scaler(part, known, self.scale, seed), part, seed)
            for part, known in zip(parts, statistics, strict=True)
        ]
        whole = side_by_side(rows, scalers)
        equal = [known.constant for known in statistics]
        start = partial(self._start, seed=seed, progress=progress, folder=folder)
        views = map(start, parts, scalers, equal, names, specs)  # none of one matrix
        every = start(rows, whole, all(equal), together(names), of_all)
        return replace(every, views=tuple(views), first=self._first(rows))

    def _first(self, rows: Rows) -> list[MemberSpec]:
        """Members on the rows that are tried before any network is trained."""
        if self.n_clusters == "auto" or rows.views or not self._as_usual:
            return []
        effort = resolve_effort(self.effort, rows.rows_per_epoch, self._refining(rows))
        shape = rows.n_rows, rows.n_columns, int(self.n_clusters)
        count = resolve_rows_first(*shape, effort)
        return row_members(count, self._n_landmarks(rows, effort))

    @property
    def _as_usual(self) -> bool:
        """Whether nobody said anything of members, their training or their graph."""
        usual = signature(SCEDAE).parameters
        return all(
            isinstance(value := getattr(self, name), str | Real | None)
            and value == usual[name].default
            for name in _OF_MEMBERS
        )

    def _start(
        self,
        rows: Rows,
        scaler: AnyScaler,
        rows_are_equal: bool,
        name: str,
        specs: list[MemberSpec],
        *,
        seed: int,
        progress: Progress,
        folder: Path | None,
    ) -> Prepared:
        """What some members start from: those of a view, or those that see all."""
        training = training_options(self, rows, scaler)
        checkpoint = None
        if folder is not None:
            checkpoint = Checkpoint(folder, name, scaler, training, rows.device)
        return Prepared(
            rows, scaler, specs, training, seed, rows_are_equal, progress, checkpoint
        )

    def _specs_of_views(self, rows: Rows) -> list[list[MemberSpec]]:
        """Members of each view, and last those that see all there is."""
        if isinstance(self.ensemble, str):
            own = [specs_of_view(self._specs(v.rows), v) for v in rows.views]
            return [*own, specs_of_all(self._specs(rows), rows.views)]
        wrong = [s for s in self.ensemble if not isinstance(s, MemberSpec)]
        if wrong or not self.ensemble:
            raise ValueError(
                f"ensemble must be one of {', '.join(ENSEMBLES)}, or a list of at "
                f"least one scedae.MemberSpec; got {self.ensemble!r}."
            )
        return deal_specs(self.ensemble, rows.views)

    def _specs(self, rows: Rows) -> list[MemberSpec]:
        assert isinstance(self.ensemble, str)
        n_rows, n_columns = rows.n_rows, rows.n_columns
        effort = resolve_effort(self.effort, rows.rows_per_epoch, self._refining(rows))
        n_landmarks = self._n_landmarks(rows, effort)
        n_members = resolve_members(
            self.n_members, self.ensemble, self.hidden_layers, effort
        )
        widths, epochs = hidden_widths(self, rows, effort), n_epochs(self, rows, effort)
        n_row_members = resolve_row_members(
            self.n_row_members, n_landmarks, n_rows, n_columns, effort
        )
        return [
            *plan_members(self.ensemble, n_members, widths, epochs, n_landmarks),
            *row_members(n_row_members, n_landmarks),
        ]

    def _n_landmarks(self, rows: Rows, effort: Effort) -> int:
        return resolve_landmarks(self.n_landmarks, rows.n_rows, effort, rows.n_columns)

    @property
    def _keeps_views(self) -> bool:
        return not isinstance(self.ensemble, str)  # a list says all of that itself

    def _scales(self) -> tuple[Scale, ...]:
        given = not isinstance(self.n_landmarks, str)
        listed = not isinstance(self.ensemble, str)
        return resolve_scales(self.n_neighbors, landmarks_given=given or listed)

    def _refining(self, rows: Rows) -> Refining | None:
        effort, kind = EFFORTS[self.effort], rows.home.type
        return resolve_refining(
            self.refine, self.embedding, self.precision, kind, effort, rows.n_rows
        )

    def _turned(self, scaler: Scaler, rows: Rows, seed: int) -> Scaler:
        """Scaled columns, turned to the directions of some of the rows."""
        if self.n_directions is None:
            return scaler
        at_most = self.n_directions
        if isinstance(at_most, str):
            at_most = MOST_DIRECTIONS
        sample = draw(rows, scaler, rows_to_learn(rows.n_columns), seed)
        return replace(scaler, directions=find_directions(sample, at_most, seed))
