"""Spreadsheets and standard input through the command, and what goes wrong with them.

Text files of every make are in ``test_tables.py``.
"""

import gzip
import io
import zipfile
from xml.sax.saxutils import escape

import polars as pl
import pytest
from typer.testing import CliRunner

from scedae import read_table
from scedae.cli.app import app
from tests.cli.conftest import QUICK

LOUD = [option for option in QUICK if option != "--quiet"]
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def cell(value):
    if value is None:
        return "<c/>"
    if isinstance(value, int | float):
        return f"<c><v>{value}</v></c>"
    return f'<c t="inlineStr"><is><t>{escape(str(value))}</t></is></c>'


def write_xlsx(path, **sheets):
    """The least that a spreadsheet is: no package here writes any."""
    with zipfile.ZipFile(path, "w") as book:
        listed, related = "", ""
        for number, (name, frame) in enumerate(sheets.items(), start=1):
            listed += f'<sheet name="{name}" sheetId="{number}" r:id="r{number}"/>'
            related += (
                f'<Relationship Id="r{number}" Type="{_OFFICE}/worksheet" '
                f'Target="worksheets/sheet{number}.xml"/>'
            )
            lines = [frame.columns, *frame.rows()]
            rows = "".join(f"<row>{''.join(map(cell, line))}</row>" for line in lines)
            book.writestr(
                f"xl/worksheets/sheet{number}.xml",
                f'<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData></worksheet>',
            )
        book.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets>'
            "</workbook>",
        )
        book.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{_PACKAGE}">{related}</Relationships>',
        )
        book.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{_PACKAGE}"><Relationship Id="r1" '
            f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
            "</Relationships>",
        )
        book.writestr(
            "[Content_Types].xml",
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"'
            '><Default Extension="xml" ContentType="application/xml"/></Types>',
        )


@pytest.fixture
def people(rng):
    """Two groups that numbers and categories tell apart, with gaps."""
    group = [i % 2 for i in range(60)]
    return pl.DataFrame(
        {
            "name": [f"N{i:03d}" for i in range(60)],
            "age": [None if i % 9 == 0 else 30 + 30 * g for i, g in enumerate(group)],
            "size": [round(float(rng.normal(150 + 30 * g, 2)), 1) for g in group],
            "team": ["red" if g else "blue" for g in group],
        }
    )


@pytest.fixture
def piped(tmp_path, monkeypatch):
    """Runs the command with bytes at its standard input."""
    monkeypatch.chdir(tmp_path)

    def run(content, *arguments):
        result = CliRunner().invoke(app, [str(a) for a in arguments], input=content)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.stdout, result.stderr

    return run


def fit(run, data, *more, out="run"):
    return run("fit", data, "-k", 2, "-o", out, *LOUD, *more)


def labels(folder):
    return pl.read_csv(f"{folder}/labels.csv")


def test_a_spreadsheet_gives_what_its_csv_gives(command, people):
    write_xlsx("people.xlsx", People=people)
    people.write_csv("people.csv")
    for kind in ("xlsx", "csv"):
        code, out, err = fit(command, f"people.{kind}", "-q", out=kind)
        assert (code, err) == (0, ""), err
        assert "60 rows" in out
    assert labels("xlsx").equals(labels("csv"))
    code, out, _ = command("predict", "xlsx", "people.xlsx", "-q")
    assert code == 0
    assert pl.read_csv(io.BytesIO(out.encode())).equals(labels("xlsx"))


def test_of_several_sheets_the_first_is_read_and_a_note_says_so(command, people):
    write_xlsx("book.xlsx", Notes=pl.DataFrame({"a": [1, 2]}), People=people)
    code, _, err = fit(command, "book.xlsx", "--sheet", "People", out="second")
    assert code == 0 and "sheets" not in err
    assert len(labels("second")) == 60
    # The page of a run is made of the same sheet again.
    assert command("report", "second")[0] == 0
    write_xlsx("other.xlsx", People=people, Notes=pl.DataFrame({"a": [1, 2]}))
    code, _, err = fit(command, "other.xlsx", out="first")
    assert code == 0
    assert "other.xlsx has sheets 'People', 'Notes': 'People' is read." in err
    assert labels("first").equals(labels("second"))


def test_a_sheet_that_is_not_there(command, refused, people):
    write_xlsx("book.xlsx", People=people, Notes=people)
    result = fit(command, "book.xlsx", "--sheet", "Peple")
    refused(result, "no sheet 'Peple'", "'People', 'Notes'")


def test_sheets_in_python(tmp_path, people):
    write_xlsx(tmp_path / "book.xlsx", One=people.head(5), Two=people)
    assert read_table(tmp_path / "book.xlsx", sheet="Two").height == 60
    with pytest.warns(UserWarning, match="'One', 'Two': 'One' is read"):
        assert read_table(tmp_path / "book.xlsx").height == 5


def test_an_empty_sheet(command, refused, people):
    write_xlsx("book.xlsx", Empty=people.clear())
    refused(fit(command, "book.xlsx"), "book.xlsx: it", "no rows")


def written(people, kind):
    text = people.write_csv().encode()
    if kind == "gz":
        return gzip.compress(text)
    if kind == "utf-16":
        return people.write_csv().encode("utf-16")
    if kind == "german":
        return people.write_csv(separator=";").replace(".", ",").encode()
    if kind == "csv":
        return text
    buffer = io.BytesIO()
    if kind == "xlsx":
        write_xlsx(buffer, People=people)
    elif kind == "parquet":
        people.write_parquet(buffer)
    else:
        people.write_ipc(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "kind", ["csv", "gz", "utf-16", "german", "xlsx", "parquet", "feather"]
)
def test_standard_input_of_every_kind(piped, people, kind):
    content = written(people, kind)
    code, out, err = fit(lambda *given: piped(content, *given), "-", "-q")
    assert (code, err) == (0, "")
    assert "60 rows" in out
    assert labels("run")["id"].to_list() == people["name"].to_list()
    found = labels("run")["label"].to_list()
    assert len({*zip(found, people["team"].to_list(), strict=True)}) == 2
    code, out, err = piped(content, "predict", "run", "-", "-q", "--keep-columns")
    assert (code, err) == (0, "")
    assert out.startswith("id,label,confidence,age,size,team\nN000,")


@pytest.mark.parametrize("content", [b"", b"\n\n"])
def test_nothing_at_standard_input(piped, refused, content):
    result = fit(lambda *given: piped(content, *given), "-")
    refused(result, "standard input" if not content else "-: it")


def test_names_and_no_rows_at_standard_input(piped, refused):
    result = fit(lambda *given: piped(b"a,b\n", *given), "-")
    refused(result, "no rows")
