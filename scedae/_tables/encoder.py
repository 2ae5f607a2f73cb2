"""TableEncoder: a table of mixed columns in, standardised numbers out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from scedae._constraints import Interval, StrOptions
from scedae._tables.columns import (
    CategoryColumn,
    NumberColumn,
    learn_categories,
    learn_numbers,
)
from scedae._tables.frames import as_frame
from scedae._tables.kinds import (
    ASKED,
    CATEGORY,
    CONSTANT,
    DATE,
    ENCODED,
    NUMBER,
    TEXT,
    look_at_column,
)
from scedae._tables.summary import LeftOut, lines_of
from scedae._tables.text import TextColumn, learn_text
from scedae._tables.values import as_moments, plain_numbers
from scedae.exceptions import DegenerateDataWarning, ModelFileError, warn_user

Column = NumberColumn | CategoryColumn | TextColumn

_TYPES: dict[str, type[Column]] = {
    NUMBER: NumberColumn,
    DATE: NumberColumn,
    CATEGORY: CategoryColumn,
    TEXT: TextColumn,
}


@dataclass(frozen=True)
class Encoded:
    """Rows as numbers, and cells unlike all that the fit saw, by column."""

    rows: np.ndarray  # (n, n_features) float32
    unknown: dict[str, int]


class TableEncoder(TransformerMixin, BaseEstimator):
    """Make the columns of a table into numbers that can be compared.

    Each column is taken for numbers, dates, categories, free text or ids by a rule that
    is written down in ``docs/tables.md``. Every column that is used has the weight of
    one standardised column, however many features it becomes. Gaps are filled; values
    that the fit did not see count as gaps.

    Parameters
    ----------
    numeric, categorical, text, ignore : sequence of str, default=()
        Columns that are to be taken for numbers, categories or free text, or left out,
        whatever the rule says.
    na_values : sequence of str, default=()
        Words or numbers that stand for a gap, beside those that always do ("", "NA",
        "n/a", "?", "null" and their like).
    decimal : {"auto", ".", ","}, default="auto"
        What stands before the decimals of numbers that are text.
    impute : {"median", "mean", "zero", "flag"}, default="median"
        What a gap among numbers becomes; a gap among categories becomes the average of
        its block. "flag" fills with the median and marks gaps by a feature or a
        category of their own: for tables in which a gap means something.
    max_categories : int, default=30
        The most frequent categories of a column get a feature each, the rest share one.
    standardize : bool, default=True
        False leaves numbers in their units, for a clusterer that scales by itself.

    Attributes
    ----------
    columns_ : list
        What was learnt of each column that is used.
    left_out_ : list
        Name, kind and gaps of those that are not.
    feature_names_in_ : ndarray of shape (n_features,)
    n_rows_ : int

    Examples
    --------
    >>> from scedae import TableEncoder
    >>> table = {"age": [31, None, 45, 52], "plan": ["free", "pro", "free", "pro"]}
    >>> encoder = TableEncoder().fit(table)
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'plan=pro']
    >>> print(encoder.summary())
    4 rows, 2 of 2 columns used, as 2 features
      numbers     age (1 gap)
      categories  plan (2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "numeric": ["array-like"],
        "categorical": ["array-like"],
        "text": ["array-like"],
        "ignore": ["array-like"],
        "na_values": ["array-like"],
        "decimal": [StrOptions({"auto", ".", ","})],
        "impute": [StrOptions({"median", "mean", "zero", "flag"})],
        "max_categories": [Interval(Integral, 2, None, closed="left")],
        "standardize": ["boolean"],
    }

    def __init__(
        self,
        *,
        numeric: Iterable[str] = (),
        categorical: Iterable[str] = (),
        text: Iterable[str] = (),
        ignore: Iterable[str] = (),
        na_values: Iterable[str] = (),
        decimal: str = "auto",
        impute: str = "median",
        max_categories: int = 30,
        standardize: bool = True,
    ) -> None:
        self.numeric = numeric
        self.categorical = categorical
        self.text = text
        self.ignore = ignore
        self.na_values = na_values
        self.decimal = decimal
        self.impute = impute
        self.max_categories = max_categories
        self.standardize = standardize

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what each column is.

        Parameters
        ----------
        X : DataFrame of pandas or polars, Arrow table, dict of columns or array
        y : ignored
        """
        self._validate_params()
        frame = as_frame(X)
        wanted = self._wanted(frame)
        if frame.height == 0:
            raise ValueError("the table has column names, but no rows.")
        columns: list[Column] = []
        left_out = []
        for column in plain_numbers(frame, self.decimal, wanted).iter_columns():
            found = self._learn(column, wanted.get(column.name))
            if isinstance(found, LeftOut):
                left_out.append(found)
            else:
                columns.append(found)
        if not columns:
            reasons = ", ".join(f"{each.name!r} ({each.kind})" for each in left_out)
            raise ValueError(f"no column is left to cluster: {reasons}.")
        self.columns_ = columns
        self.left_out_ = left_out
        self.n_rows_ = frame.height
        self.feature_names_in_ = np.asarray(frame.columns, dtype=object)
        self.n_features_in_ = frame.width
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The rows as numbers, of shape (n_samples, n_features_out).

        Columns are found by their names, in any order and among others. A warning
        names the columns with values that the fit did not see.
        """
        encoded = self.encode(X)
        for name, count in encoded.unknown.items():
            warn_user(
                f"column {name!r}: {count:,} cells are unlike all that the fit saw; "
                "they count as gaps.",
                DegenerateDataWarning,
            )
        return encoded.rows

    def encode(self, X: Any) -> Encoded:
        """As ``transform``, with counts instead of warnings."""
        check_is_fitted(self, "columns_")
        frame = as_frame(X)
        used = [column.name for column in self.columns_]
        if missing := [repr(name) for name in used if name not in frame.columns]:
            raise ValueError(
                f"the table has no column {', '.join(missing)}, which the fit had."
            )
        na_values = _words(self.na_values)
        # Numbers in their own units keep their digits.
        dtype = np.float32 if self.standardize else np.float64
        rows = np.empty((frame.height, self._n_features_out), dtype=dtype)
        unknown, place = {}, 0
        for column in self.columns_:
            cells = column.apply(frame[column.name], na_values)
            width = cells.block.shape[1]
            rows[:, place : place + width] = cells.block
            place += width
            if cells.unknown:
                unknown[column.name] = cells.unknown
        return Encoded(rows, unknown)

    def read_cells(self, X: Any) -> pl.DataFrame:
        """The columns of X as they are read: numbers, moments, and text.

        For descriptions: nothing is filled or scaled. Columns that the fit did not see
        are read by the same rule.
        """
        check_is_fitted(self, "columns_")
        na_values = _words(self.na_values)
        known = {column.name: column.kind for column in self.columns_}
        told = [name for name, kind in known.items() if kind != NUMBER]
        read = []
        for column in plain_numbers(as_frame(X), self.decimal, told).iter_columns():
            kind = look_at_column(
                column,
                na_values=na_values,
                decimal=self.decimal,
                wanted=known.get(column.name),
            )
            read.append(as_moments(kind.cells) if kind.kind == DATE else kind.cells)
        return pl.DataFrame(read)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the features: "age", "plan=pro", "comment (1)"."""
        check_is_fitted(self, "columns_")
        names = [name for column in self.columns_ for name in column.feature_names]
        return np.asarray(names, dtype=object)

    def summary(self) -> str:
        """What was done with each column, in a few lines."""
        check_is_fitted(self, "columns_")
        return lines_of(
            self.columns_, self.left_out_, self.n_rows_, self._n_features_out
        )

    def to_json(self) -> dict[str, Any]:
        """What was learnt, as JSON has it."""
        check_is_fitted(self, "columns_")
        parameters = {
            name: _words(value) if isinstance(value, Iterable) else value
            for name, value in self.get_params().items()
            if not isinstance(value, str)
        }
        parameters |= {"decimal": self.decimal, "impute": self.impute}
        return {
            "parameters": parameters,
            "n_rows": self.n_rows_,
            "feature_names_in": self.feature_names_in_.tolist(),
            "columns": [asdict(column) for column in self.columns_],
            "left_out": [asdict(each) for each in self.left_out_],
        }

    @classmethod
    def from_json(cls, learnt: dict[str, Any]) -> Self:
        """An encoder that does what the one of ``to_json`` did."""
        try:
            encoder = cls(**learnt["parameters"])
            encoder._validate_params()
            encoder.columns_ = [_TYPES[c["kind"]](**c) for c in learnt["columns"]]
            encoder.left_out_ = [LeftOut(**each) for each in learnt["left_out"]]
            encoder.n_rows_ = int(learnt["n_rows"])
            names = np.asarray(learnt["feature_names_in"], dtype=object)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(
                f"what was learnt of the table is incomplete ({error!r})."
            ) from error
        encoder.feature_names_in_ = names
        encoder.n_features_in_ = len(names)
        return encoder

    def _wanted(self, frame: pl.DataFrame) -> dict[str, str]:
        """What the user says that columns are, by name."""
        wanted: dict[str, str] = {}
        kinds = {
            "numeric": NUMBER,
            "categorical": CATEGORY,
            "text": TEXT,
            "ignore": ASKED,
        }
        for parameter, kind in kinds.items():
            for name in _words(getattr(self, parameter)):
                if name not in frame.columns:
                    present = ", ".join(repr(c) for c in frame.columns[:8])
                    raise ValueError(
                        f"{parameter} names {name!r}, and the table has no such "
                        f"column; it has {present}."
                    )
                if name in wanted:
                    raise ValueError(f"column {name!r} is named twice: say one thing.")
                wanted[name] = kind
        return wanted

    def _learn(self, column: pl.Series, wanted: str | None) -> Column | LeftOut:
        name, na_values = column.name, _words(self.na_values)
        if wanted == ASKED:
            return LeftOut(name, ASKED, 0)
        kind = look_at_column(
            column, na_values=na_values, decimal=self.decimal, wanted=wanted
        )
        gaps = kind.cells.null_count()
        if kind.kind == CONSTANT and not self.standardize:
            # A clusterer that scales by itself knows what to do with it.
            kind = replace(kind, kind=NUMBER)
        if kind.kind not in ENCODED:
            return LeftOut(name, kind.kind, gaps)
        if kind.kind == CATEGORY:
            return learn_categories(
                name,
                kind,
                gaps,
                impute=self.impute,
                max_categories=self.max_categories,
            )
        if kind.kind == TEXT:
            return learn_text(name, kind, gaps)
        return learn_numbers(
            name, kind, gaps, impute=self.impute, standardize=self.standardize
        )

    @property
    def only_numbers_(self) -> bool:
        """Whether every column that says anything is a plain number."""
        check_is_fitted(self, "columns_")
        return all(column.kind == NUMBER for column in self.columns_)

    @property
    def _n_features_out(self) -> int:
        return sum(len(column.feature_names) for column in self.columns_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _words(given: Any) -> tuple[str, ...]:
    return tuple(str(word) for word in given)
