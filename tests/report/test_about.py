"""Clusters described in real units, and two runs compared."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from scedae import SCEDAE
from scedae.report import write_report
from scedae.report.about import CategoryAbout, NumberAbout, about_columns
from scedae.report.comparison import compare_labels, write_comparison
from scedae.report.numerals import short
from scedae.report.profiles import Trait, heat_map, profile, traits_of
from tests.helpers import ESTIMATORS, QUICK
from tests.report.test_in_a_browser import ink, opened  # noqa: F401


@pytest.fixture(scope="session")
def customers(tmp_path_factory):
    """A page about 240 rows that a table describes."""
    rng = np.random.default_rng(0)
    group = np.arange(240) % 3
    X = rng.normal(6.0 * group[:, None], 1, (240, 4))
    about = {
        "income_in_euro": rng.normal(20_000 + 30_000 * group, 3_000),
        "plan": np.array(["free", "pro", None], dtype=object)[group],
        "since": np.datetime64("2020-01-01") + 100 * group.astype("timedelta64[D]"),
        "comment": np.array([f"text {i}" for i in range(240)]),
    }
    about["income_in_euro"][::10] = np.nan
    model = SCEDAE(3, **QUICK, random_state=0).fit(X)
    path = tmp_path_factory.mktemp("about") / "customers.html"
    write_report(
        model,
        X,
        path,
        ids=[f"C{i}" for i in range(240)],
        about=about,
        names={0: "Students"},
        info={"warnings": ["Halves of the ensemble find other clusters."]},
    )
    return path, model, about


def test_the_page_has_real_units_and_what_the_fit_warned_of(customers):
    text = customers[0].read_text(encoding="utf-8")
    assert "Halves of the ensemble find other clusters." in text
    assert "income_<wbr>in_<wbr>euro" in text
    assert "100% free" in text and "100% pro" in text
    assert 'value="Students"' in text
    assert "comment" not in text  # every cell differs: it describes nothing


def test_profiles_are_means_and_shares(customers):
    _, model, about = customers
    labels = np.asarray(model.labels_)
    columns = [
        NumberAbout("income", about["income_in_euro"]),
        CategoryAbout("plan", ["free", "pro"], np.tile([0, 1, -1], 80)),
    ]
    traits = traits_of(columns, labels, 3)
    rich = int(labels[2])
    lines = {line.column: line for line in profile(traits, labels, rich)}
    mean = np.nanmean(about["income_in_euro"][labels == rich])
    assert lines["income"].own.startswith(f"{mean:,.0f} ± ")
    assert lines["income"].gaps == "8 gaps"
    assert sum(lines["income"].histogram.own) > 0
    heat = heat_map(traits, [0, 1, 2])
    assert sorted(heat.columns) == ["income", "plan: free", "plan: pro"]
    income = dict(
        zip(heat.clusters, heat.cells[heat.columns.index("income")], strict=True)
    )
    assert max(income, key=income.get) == rich


def test_columns_that_cannot_describe(blobs, report):
    X, _ = blobs
    model = SCEDAE(3, **QUICK, random_state=0).fit(X)
    with pytest.raises(ValueError, match="column 'plan' where 240 are needed"):
        report(model, X, about={"plan": ["a"]})
    source = type("Rows", (), {"n_rows": 3})()
    found = about_columns(source, {"yes": np.array([True, False, True])})
    assert found[0].levels == ["True", "False"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (9040.3, "9,040"),
        (1234567.8, "1,234,568"),
        (2.5e10, "2.5e+10"),
        (0.03121, "0.0312"),
    ],
)
def test_large_numbers_are_written_out(value, text):
    assert short(value) == text


def test_the_map_is_coloured_searched_named_and_saved(customers, opened):  # noqa: F811
    page = opened(customers[0])
    for choice in ("confidence", "income_in_euro", "plan", "since"):
        page.select_option("#color", label=choice)
        page.wait_for_timeout(60)
        assert page.locator("#key").is_visible()
        assert ink(page) > 500
    page.select_option("#color", label="cluster")
    assert not page.locator("#key").is_visible()
    # A page that scrolls hides the tip: be there first.
    page.locator("#find").scroll_into_view_if_needed()
    page.wait_for_timeout(600)
    page.fill("#find", "c17")
    assert page.locator("#found").inner_text().startswith("Row C17: ")
    assert page.locator("#tip").is_visible()
    page.fill("#find", "nobody")
    assert "No row" in page.locator("#found").inner_text()
    page.fill('[data-name="1"]', "Families")
    assert "Families" in page.locator(".legend").inner_text()
    assert "Students" in page.locator(".legend").inner_text()
    page.click('.legend [data-cluster="1"]')
    with page.expect_download() as download:
        page.click("#export")
    lines = Path(download.value.path()).read_text().splitlines()
    assert lines[0] == "id,label,name,confidence"
    assert len(lines) == 81
    assert all(",1,Families," in line for line in lines[1:])


@pytest.mark.parametrize("width", [1100, 1280, 1600])
def test_no_table_is_cut_off_on_a_desk(customers, digits_page, opened, width):  # noqa: F811
    for path in (customers[0], digits_page):
        page = opened(path, width=width)
        cut = page.evaluate(
            "[...document.querySelectorAll('.scroll')]"
            ".filter(e => e.scrollWidth > e.clientWidth + 1)"
            ".map(e => e.getAttribute('aria-label'))"
        )
        assert cut == []


def test_a_phone_has_room_for_it(customers, opened):  # noqa: F811
    page = opened(customers[0], width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_every_control_has_a_name(customers, opened):  # noqa: F811
    page = opened(customers[0])
    unnamed = page.evaluate(
        "[...document.querySelectorAll('button, input, select')].filter(e => "
        "!e.getAttribute('aria-label') && !e.textContent.trim() && !e.closest('label'))"
        ".map(e => e.outerHTML)"
    )
    assert unnamed == []


def test_two_runs_are_compared(tmp_path, opened):  # noqa: F811
    first = np.repeat([0, 1, 2], 40)
    second = np.r_[np.repeat([2, 0], 40), np.repeat([1, 0], 20)]
    found = compare_labels(first, second)
    assert found.second == ["2", "0", "1"]  # matched pairs face each other
    assert found.moved == 20
    assert found.n_rows == 120
    assert compare_labels(first, (first + 1) % 3).ari == 1
    path = tmp_path / "page.html"
    write_comparison(found, path, ("<b>march", "april"))
    page = opened(path)
    assert page.locator(".flow path").count() == 4
    assert "<b>march" in page.locator("h1").inner_text()


TABLE = [
    {"column": "age", "kind": "number", "used": True, "gaps": 3, "features": 1},
    {"column": "plan", "kind": "category", "used": True, "gaps": 0, "features": 4},
    {"column": "who", "kind": "id", "used": False, "gaps": 0},
]


def test_a_table_is_told_of_by_its_own_columns(blobs, report):
    X, _ = blobs
    model = ESTIMATORS["SCEDAE"]().fit(X)
    model.table_ = "{}"
    command = "scedae fit people.csv -k 3 -o run --describe town"
    text = report(model, X, info={"table": TABLE, "command": command})
    assert "2 of 3 clustered\nnumbers: age (3 gaps)\ncategories: plan" in text
    assert "left out: who (id)" in text
    assert re.search(r"<dt>Columns</dt><dd>2</dd>", text)
    lines = ["scedae fit people.csv", "-k 3", "-o run", "--describe town"]
    told = " \\\n    ".join([*lines, f"--seed {model.seed_}"])
    assert told in text and text.count("people.csv") == 1
    assert "model = SCEDAE(" not in text


def test_pixels_of_pictures_do_not_describe_them(digits, report):
    model, X, _ = digits
    names = [f"p{j}" for j in range(64)]
    about = {name: X[:, j] for j, name in enumerate(names)}
    text = report(model, X, columns=names, about=about)
    assert "Described by" not in text
    text = report(model, X, columns=names, about={**about, "pen": X[:, 3]})
    assert "Described by" in text


def test_the_heat_map_leaves_out_what_tells_nothing():
    def trait(name, *differences):
        column = NumberAbout(name, np.arange(4.0), False)
        return Trait(column, None, name, np.array(differences))

    shown = heat_map(
        [trait("a", 1.0, -1.0), trait("b", 0.01, -0.04), trait("c", -0.5, 0.0)], [0, 1]
    )
    assert sorted(shown.columns) == ["a", "c"]
    zeros = [value for line in shown.cells for value in line if value == 0]
    assert all(math.copysign(1, zero) == 1 for zero in zeros)
