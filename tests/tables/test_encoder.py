"""TableEncoder: the written rule, equal weights, and the same again for new rows."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from scedae import TableEncoder, make_table_pipeline
from scedae._tables import encoder
from scedae.exceptions import DegenerateDataWarning, ModelFileError

N = 300


@pytest.fixture
def table():
    """One column of every kind, as a pandas frame, with three clusters in it."""
    rng = np.random.default_rng(0)
    cluster = np.arange(N) % 3
    days = pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, N), "D")
    frame = pd.DataFrame(
        {
            "customer_id": [f"C{i:05d}" for i in range(N)],
            "row": np.arange(N),
            "age": rng.normal(np.array([30, 45, 60])[cluster], 4),
            "income": np.exp(rng.normal(10, 1, N)),
            "score": [f"{v:.2f}".replace(".", ",") for v in rng.normal(0, 1, N)],
            "plan": np.array(["free", "pro", "team"])[cluster],
            "active": rng.random(N) > 0.5,
            "since": days,
            "birthday": [
                f"{d:02d}.{1 + d % 12:02d}.1980" for d in rng.integers(1, 28, N)
            ],
            "comment": [
                f"the {thing} service was {word} in week number {i}"
                for i, (thing, word) in enumerate(
                    zip(
                        rng.choice(["phone", "web"], N),
                        rng.choice(["good", "bad", "slow"], N),
                        strict=True,
                    )
                )
            ],
            "zip": [f"0{z}" for z in rng.integers(1000, 1009, N)],
            "one": 1,
            "empty": None,
        }
    )
    frame.loc[::7, "score"] = "NA"
    frame.loc[3, "age"] = np.nan
    return frame, cluster


def test_each_column_is_what_the_rule_says(table):
    encoder = TableEncoder().fit(table[0])
    kinds = {c.name: c.kind for c in (*encoder.columns_, *encoder.left_out_)}
    assert kinds == {
        "customer_id": "id",
        "row": "id",
        "age": "number",
        "income": "number",
        "score": "number",
        "plan": "category",
        "active": "category",
        "since": "date",
        "birthday": "date",
        "comment": "text",
        "zip": "category",
        "one": "constant",
        "empty": "empty",
    }
    gaps = {c.name: c.gaps for c in encoder.columns_}
    assert (gaps["age"], gaps["score"], gaps["plan"]) == (1, 43, 0)
    assert encoder.summary().splitlines() == [
        "300 rows, 9 of 13 columns used, as 26 features",
        "  numbers     age (1 gap), income (log), score (43 gaps)",
        "  dates       since, birthday",
        "  categories  plan (3), active (2), zip (9)",
        "  free text   comment",
        "  left out    customer_id (id), row (id), one (constant), empty (empty)",
    ]


def test_every_column_has_the_weight_of_one(table):
    encoder = TableEncoder().fit(table[0])
    rows = encoder.transform(table[0]).astype(np.float64)
    assert np.isfinite(rows).all()
    variances, place = {}, 0
    for column in encoder.columns_:
        width = len(column.feature_names)
        variances[column.name] = rows[:, place : place + width].var(axis=0).sum()
        place += width
    without_gaps = {k: v for k, v in variances.items() if k not in ("score", "age")}
    assert np.allclose(list(without_gaps.values()), 1, atol=0.02), variances
    # Gaps have the median: they add nothing to the spread.
    assert 0.7 < variances["score"] < 1


def test_frames_of_all_makers_give_the_same(table):
    pandas_frame = table[0]
    expected = TableEncoder().fit_transform(pandas_frame)
    for frame in (pl.from_pandas(pandas_frame), pa.Table.from_pandas(pandas_frame)):
        assert (TableEncoder().fit(frame).transform(frame) == expected).all()
    named = TableEncoder().set_output(transform="pandas").fit_transform(pandas_frame)
    assert list(named.columns[:3]) == ["age", "income", "score"]
    assert "plan=pro" in named.columns


def test_rows_do_not_depend_on_their_company(table):
    frame = table[0]
    encoder = TableEncoder().fit(frame)
    whole = encoder.transform(frame)
    parts = [encoder.transform(frame.iloc[i : i + 37]) for i in range(0, N, 37)]
    assert (np.vstack(parts) == whole).all()
    shuffled = frame.sample(frac=1, random_state=0)[frame.columns[::-1]]
    shuffled["more"] = "text"
    assert (encoder.transform(shuffled) == whole[shuffled.index]).all()


def test_what_was_learnt_is_json(table):
    encoder = TableEncoder(na_values=["-999"], impute="flag").fit(table[0])
    again = TableEncoder.from_json(json.loads(json.dumps(encoder.to_json())))
    assert (again.transform(table[0]) == encoder.transform(table[0])).all()
    assert again.summary() == encoder.summary()
    damaged = encoder.to_json()
    del damaged["columns"][0]["kind"]
    with pytest.raises(ModelFileError, match="incomplete"):
        TableEncoder.from_json(damaged)


def test_unknown_categories_count_as_gaps_and_are_named():
    encoder = TableEncoder().fit({"plan": ["a", "b", "c"] * 5})
    with pytest.warns(DegenerateDataWarning, match="column 'plan': 1 cells"):
        strange = encoder.transform({"plan": ["z", "a"]})
    assert (strange[0] == encoder.transform({"plan": [None]})[0]).all()
    # Equally far from all, as categories were equally frequent.
    known = encoder.transform({"plan": ["a", "b", "c"]})
    distances = np.linalg.norm(known - strange[0], axis=1)
    assert np.allclose(distances, distances[0])


def test_rare_categories_share_one_feature():
    cities = ["x"] * 50 + ["y"] * 30 + [f"c{i}" for i in range(10)]
    encoder = TableEncoder(max_categories=2).fit({"city": cities})
    assert encoder.get_feature_names_out().tolist() == [
        "city=x",
        "city=y",
        "city=(other)",
    ]
    rare, new = encoder.encode({"city": ["c3"]}), encoder.encode({"city": ["new"]})
    assert (rare.rows == new.rows).all()
    assert not new.unknown


def test_gaps_are_filled_as_asked():
    values = [1.0, 2.0, 9.0, None]
    for impute, expected in (("median", 2), ("mean", 4), ("zero", 0)):
        encoder = TableEncoder(impute=impute, standardize=False).fit({"a": values})
        assert encoder.transform({"a": [None]})[0, 0] == expected
    flag = TableEncoder(impute="flag").fit(
        {"a": values * 2, "b": ["u", "v", "u", None] * 2}
    )
    names = flag.get_feature_names_out().tolist()
    assert names == ["a", "a=(gap)", "b=u", "b=(gap)", "b=v"]


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1.5", "2", "-3e2"], [1.5, 2, -300]),
        (["1,5", "2,25", "-0,125"], [1.5, 2.25, -0.125]),
        (["1.234,5", "2,5", "3"], [1234.5, 2.5, 3]),
        (["1,234", "22,345.5", "3"], [1234, 22345.5, 3]),
        (["€ 12", "13 %", "$1,000"], [12, 13, 1000]),
        (["1", "unknown", "2", "none"], [1, None, 2, None]),
    ],
)
def test_numbers_are_read_as_people_write_them(texts, numbers):
    encoder = TableEncoder(standardize=False).fit({"a": texts})
    assert encoder.columns_[0].kind == "number"
    filled = [encoder.columns_[0].fill if v is None else v for v in numbers]
    assert encoder.transform({"a": texts})[:, 0].tolist() == filled


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["2020-01-02", "2021-12-31", "NA"], "date"),
        (["31/12/2020", "01/02/2021", "03/04/2021"], "date"),
        (["12/31/2020", "01/02/2021", "03/04/2021"], "date"),
        (["2020-01-02 10:00:00", "2021-01-02 11:30:00.5"], "date"),
        (["yes", "no", "yes", "no"], "category"),
        (["none", "mild", "none", "mild"], "category"),
        (["010", "020", "010", "020"], "category"),
    ],
)
def test_text_that_is_something_else(texts, kind):
    encoder = TableEncoder().fit({"a": texts, "b": range(0, 3 * len(texts), 3)})
    found = {c.name: c.kind for c in (*encoder.columns_, *encoder.left_out_)}
    assert found["a"] == kind


def test_users_overrule_the_rule():
    table = {"code": [1, 2, 1, 2], "size": ["1", "2", "3", "x"], "b": [1.0, 2, 3, 9]}
    encoder = TableEncoder(categorical=["code"], numeric=["size"], ignore=["b"])
    encoder.fit(table)
    assert [c.kind for c in encoder.columns_] == ["category", "number"]
    assert encoder.columns_[1].odd == "x"
    assert [(e.name, e.kind) for e in encoder.left_out_] == [("b", "asked")]


@pytest.mark.parametrize(
    ("parameters", "table", "words"),
    [
        ({"ignore": ["no"]}, {"a": [1, 2]}, "no such column; it has 'a'"),
        ({"numeric": ["a"]}, {"a": ["x", "y"]}, "holds no numbers"),
        ({"numeric": ["a"], "ignore": ["a"]}, {"a": [1, 2]}, "named twice"),
        ({}, {"a": [1.0, np.inf]}, "1 infinite values"),
        ({}, {"id": ["u", "v"]}, "no column is left to cluster: 'id'"),
        ({}, {"a": []}, "no rows"),
        ({"impute": "guess"}, {"a": [1, 2]}, "impute"),
    ],
)
def test_what_cannot_be_used_is_named(parameters, table, words):
    with pytest.raises(ValueError, match=words):
        TableEncoder(**parameters).fit(table)


def test_other_mistakes():
    encoder = TableEncoder().fit({"a": [1.0, 2, 4], "b": [3.0, 1, 2]})
    with pytest.raises(ValueError, match="no column 'b', which the fit had"):
        encoder.transform({"a": [1.0]})
    with pytest.raises(TypeError, match="int is no table"):
        encoder.transform(3)
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(ValueError, match="two columns are named 'a'"):
        encoder.transform(twice)
    with pytest.raises(ValueError, match="two dimensions"):
        encoder.transform(np.zeros(3))


def test_a_pipeline_clusters_and_predicts(table):
    frame, cluster = table
    pipeline = make_table_pipeline(
        3, encoder=TableEncoder(ignore=["comment"]), epochs=5, random_state=0
    )
    labels = clone(pipeline).fit_predict(frame)
    assert adjusted_rand_score(cluster, labels) > 0.9
    pipeline.fit(frame)
    assert (pipeline.predict(frame) == labels).all()
    assert pipeline["cluster"].n_features_in_ == len(
        pipeline["encode"].get_feature_names_out()
    )


def test_plain_numbers_are_read_alike_together_and_one_by_one(monkeypatch):
    """Casting all columns at once is a short cut, and changes nothing."""
    frame = pl.DataFrame(
        {
            "plain": ["1", "2.5", None, "-3e2"],
            "gaps": ["1", "NA", "3", "5"],
            "code": ["01099", "10115", "20095", "80331"],
            "comma": ["1,5", "2,5", "3,5", "4,75"],
            "word": ["a", "b", "a", "b"],
        }
    )
    together = TableEncoder().fit(frame)
    monkeypatch.setattr(encoder, "plain_numbers", lambda frame, *_: frame)
    alone = TableEncoder().fit(frame)
    assert together.to_json() == alone.to_json()
    assert together.read_cells(frame).equals(alone.read_cells(frame))


def test_numbers_that_are_told_to_be_categories_stay_so():
    frame = pl.DataFrame({"size": ["1", "2", "1", "2"], "x": [0.1, 0.2, 0.5, 0.7]})
    found = TableEncoder(categorical=["size"]).fit(frame)
    names = list(found.get_feature_names_out())
    assert not any("1.0" in name or "2.0" in name for name in names)
