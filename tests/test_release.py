"""What a release is made of says the same everywhere: versions, floors, links."""

import importlib.util
import json
import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml

import scedae
from scedae import LandmarkSpectralClustering

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
README = (ROOT / "README.md").read_text("utf-8")
SYSTEMS = {"ubuntu-latest", "macos-latest", "windows-latest"}


def tool(path, monkeypatch):
    """A script of ``tools`` or ``benchmarks`` as a module."""
    monkeypatch.syspath_prepend(ROOT / Path(path).parent)
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_yaml(path):
    return yaml.safe_load((ROOT / path).read_text("utf-8"))


def pythons():
    """Versions of Python that the classifiers name."""
    found = (re.fullmatch(r".*:: (3\.\d+)", line) for line in PROJECT["classifiers"])
    return [match[1] for match in found if match]


def jobs():
    for path in WORKFLOWS:
        for name, job in read_yaml(path)["jobs"].items():
            yield f"{path.name}: {name}", job


def steps():
    for name, job in jobs():
        for step in job["steps"]:
            yield name, step


# -- the version ----------------------------------------------------------------------


def test_the_version_is_the_same_everywhere(monkeypatch):
    version = tool("tools/version.py", monkeypatch)
    assert version.problems() == []
    assert version.versions()["CITATION.cff"] == scedae.__version__


def test_a_tag_of_another_version_is_refused(monkeypatch, tmp_path):
    version = tool("tools/version.py", monkeypatch)
    assert len(version.problems(tag="v99.0.0")) == 2
    for name in (*version.PLACES, "CHANGES.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        text = (ROOT / name).read_text("utf-8")
        dated = text.replace("## Unreleased", f"## {scedae.__version__} · 2030-01-01")
        (tmp_path / name).write_text(dated, "utf-8")
    assert version.problems(tmp_path, tag=f"v{scedae.__version__}") == []
    (tmp_path / "CITATION.cff").write_text("version: 9.9.9\n", "utf-8")
    assert version.problems(tmp_path) == [
        f"CITATION.cff says 9.9.9, not {scedae.__version__}"
    ]


# -- lowest versions ------------------------------------------------------------------


def test_lowest_versions_are_read(monkeypatch):
    lowest = tool("tools/lowest.py", monkeypatch)
    found = lowest.lowest(PROJECT)
    assert {"numpy", "torch", "polars", "zarr"} <= set(found)
    assert "anndata" not in found and "pytest" not in found
    assert all(
        f"{name}>={version}" in str(PROJECT)
        for name, version in found.items()
        if name != "dask"
    )


@pytest.mark.parametrize("line", ["numpy", "numpy==2", "numpy>=2; os_name == 'nt'"])
def test_a_requirement_without_a_floor_is_refused(monkeypatch, line):
    lowest = tool("tools/lowest.py", monkeypatch)
    project = {"name": "a", "dependencies": [line], "optional-dependencies": {}}
    with pytest.raises(ValueError, match=r"lowest|understood"):
        lowest.lowest(project)


def test_a_floor_of_another_system_does_not_count(monkeypatch):
    lowest = tool("tools/lowest.py", monkeypatch)
    lines = ["a>=1", "a>=2; sys_platform == 'win32'"]
    project = {"name": "b", "dependencies": lines, "optional-dependencies": {}}
    for system, version in (("linux", "1"), ("win32", "2")):
        monkeypatch.setattr(sys, "platform", system)
        assert lowest.lowest(project) == {"a": version}


def test_names_of_columns_are_seen_by_every_version_of_scikit_learn(rng):
    """Also by those to which polars no longer speaks: `make test-lowest`."""
    frame = pl.DataFrame(rng.random((60, 2)), schema=["a", "b"])
    model = LandmarkSpectralClustering(2, random_state=0).fit(frame)
    assert list(model.feature_names_in_) == ["a", "b"]
    assert np.array_equal(model.predict(frame), model.labels_)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename({"a": "z"}))


# -- workflows ------------------------------------------------------------------------


def test_tests_run_on_three_systems_with_every_python():
    matrix = read_yaml(".github/workflows/tests.yml")["jobs"]["tests"]["strategy"][
        "matrix"
    ]
    assert set(matrix["os"]) == SYSTEMS
    assert matrix["python"] == pythons() == ["3.11", "3.12", "3.13", "3.14"]
    assert PROJECT["requires-python"] == f">={pythons()[0]}"


def test_there_is_a_workflow_for_each_purpose():
    assert {path.stem for path in WORKFLOWS} == {"docs", "lint", "release", "tests"}
    names = {name for name, _ in jobs()}
    assert {"tests.yml: lowest", "release.yml: wheels", "release.yml: publish"} <= names


def test_workflows_call_what_exists():
    targets = set(re.findall(r"^([\w -]+):", (ROOT / "Makefile").read_text(), re.M))
    targets = {name for line in targets for name in line.split()}
    for where, step in steps():
        command = step.get("run", "")
        for name in re.findall(r"make ([\w-]+)", command):
            assert name in targets, where
        for path in re.findall(r"(tools/\w+\.py)", command):
            assert (ROOT / path).is_file(), where
        for extra in re.findall(r"\.\[([\w,]+)\]", command):
            assert set(extra.split(",")) <= set(PROJECT["optional-dependencies"])


def test_workflows_may_do_as_little_as_they_need():
    for path in WORKFLOWS:
        assert read_yaml(path)["permissions"] == {"contents": "read"}, path
    more = {name: job["permissions"] for name, job in jobs() if "permissions" in job}
    assert more == {"release.yml: publish": {"id-token": "write"}}
    publish = dict(jobs())["release.yml: publish"]
    assert publish["environment"] == "pypi" and "tag" in publish["if"]
    for where, job in jobs():
        assert "timeout-minutes" in job, where
    for where, step in steps():
        if "checkout" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] is False, where


def test_hooks_have_the_versions_that_are_pinned():
    hooks = {
        repo["repo"].rpartition("/")[2]: repo.get("rev", "")
        for repo in read_yaml(".pre-commit-config.yaml")["repos"]
    }
    pins = (ROOT / "constraints.txt").read_text().splitlines()
    assert f"ruff=={hooks['ruff-pre-commit'].removeprefix('v')}" in pins
    makefile = (ROOT / "Makefile").read_text()
    assert f"check-jsonschema=={hooks['check-jsonschema']}" in makefile


def test_issue_forms_ask_for_something():
    for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"):
        form = read_yaml(path)
        asked = [part for part in form["body"] if part["type"] != "markdown"]
        assert form["name"] and form["description"] and asked
        assert len({part["id"] for part in asked}) == len(asked)


# -- conda, citation, llms.txt --------------------------------------------------------


def recipe():
    text = (ROOT / "conda" / "meta.yaml").read_text("utf-8")
    values = dict(re.findall(r'set (\w+) = "(.+)"', text))
    text = re.sub(r"{%.*%}", "", text)
    return yaml.safe_load(
        re.sub(r"{{ (\w+)[^}]*}}", lambda m: values.get(m[1], m[1]), text)
    )


def floors(lines):
    found = {}
    for line in lines:
        name, _, version = line.partition(";")[0].partition(">=")
        found[re.sub(r"\[.*\]", "", name).strip()] = version.strip()
    return found


def test_the_conda_recipe_asks_for_what_pyproject_asks_for(monkeypatch):
    found = recipe()
    run = floors(found["requirements"]["run"])
    assert run.pop("python") == PROJECT["requires-python"].removeprefix(">=")
    extras = PROJECT["optional-dependencies"]
    wanted = floors(PROJECT["dependencies"])
    for name in ("cli", "report", "tables"):
        wanted |= floors(line for line in extras[name] if "scedae[" not in line)
    wanted["pytorch"] = wanted.pop("torch")
    assert run == wanted
    assert found["package"] == {"name": "scedae", "version": scedae.__version__}
    assert found["about"]["license"] == PROJECT["license"]
    assert found["about"]["home"] == PROJECT["urls"]["Homepage"]
    assert found["about"]["summary"] == PROJECT["description"]
    (name, target), *_ = PROJECT["scripts"].items()
    assert found["build"]["entry_points"] == [f"{name} = {target}"]
    host = floors(found["requirements"]["host"])
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert f"setuptools>={host['setuptools']}" in pyproject["build-system"]["requires"]


def test_the_citation_is_that_of_the_project():
    citation = read_yaml("CITATION.cff")
    assert citation["license"] == PROJECT["license"]
    assert citation["repository-code"] == PROJECT["urls"]["Source"]
    assert citation["preferred-citation"]["doi"] == "10.1016/j.patcog.2020.107522"


def links(text):
    found = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text)
    return [link for link in found if "://" not in link]


@pytest.mark.parametrize("name", ["README.md", "llms.txt", "CODE_OF_CONDUCT.md"])
def test_links_lead_somewhere(name):
    text = (ROOT / name).read_text("utf-8")
    assert [link for link in links(text) if not (ROOT / link).exists()] == []


@pytest.mark.parametrize("name", ["README.md", "llms.txt"])
def test_names_that_are_told_exist(name):
    text = (ROOT / name).read_text("utf-8")
    model = scedae.SCEDAE()
    for call in re.findall(r"`(?:SCEDAE\()?(\w+)=[\"\d]", text):
        assert call in model.get_params(), call
    for extra in re.findall(r"\[([a-z,]+)\][\"']", text):
        assert set(extra.split(",")) <= set(PROJECT["optional-dependencies"]), extra


# -- README ---------------------------------------------------------------------------


def test_the_table_of_readme_is_that_of_the_records(monkeypatch):
    made = tool("benchmarks/readme_table.py", monkeypatch)
    table = made.table(made.read_records())
    assert made.with_table(README, table) == README, (
        "python benchmarks/readme_table.py --write"
    )


def test_the_table_tells_losses(monkeypatch):
    made = tool("benchmarks/readme_table.py", monkeypatch)
    records = [
        {"data": data, "recipe": recipe, "seed": seed, "rows": 7, "acc": acc}
        for data, recipe, seed, acc in [
            ("digits", "default", 0, 80.0),
            ("digits", "default", 1, 90.0),
            ("digits", "kmeans", 0, 95.0),
            ("usps", "default", 0, 70.0),
            ("usps", "kmeans", 0, 69.8),
        ]
    ]
    found = made.means(records)
    assert made.line(found, "digits", "digits", "7") == (
        "| digits | 7 | 85.0 | **95.0** | – | – | – |"
    )
    assert made.line(found, "usps", "usps", "7") == (
        "| usps | 7 | **70.0** | **69.8** | – | – | – |"
    )
    assert made.won_and_lost(found, "kmeans") == "0 : 1 : 1"
    assert made.won_and_lost(found, "umap-gmm") == "0 : 0 : 0"


def test_every_set_of_the_records_is_in_the_table(monkeypatch):
    made = tool("benchmarks/readme_table.py", monkeypatch)
    sets = {record["data"] for record in made.read_records()}
    assert sets == {*made.DATA, *made.SHAPES}


def test_badges_are_true():
    assert f"licence-{PROJECT['license'].replace('-', '--')}-" in README
    assert f"Python-{pythons()[0]}_to_{pythons()[-1]}-" in README
    (status,) = (c for c in PROJECT["classifiers"] if c.startswith("Development"))
    assert f"status-{status.rpartition(' - ')[2].lower()}-" in README
    mypy = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mypy"]
    assert ("types-mypy%2C_strict" in README) is mypy["strict"]


def test_the_example_of_readme_runs(monkeypatch, tmp_path):
    """Word for word, with less effort."""
    monkeypatch.chdir(tmp_path)
    code = re.findall(r"```python\n(.+?)```", README, re.DOTALL)[0]
    assert "random_state=0)" in code
    exec(
        code.replace("random_state=0)", 'random_state=0, effort="fast", epochs=2)'), {}
    )
    assert (tmp_path / "digits.scedae").is_file()


# -- what is built --------------------------------------------------------------------


def test_what_a_build_lacks_or_holds_is_named(monkeypatch):
    check = tool("tools/release_check.py", monkeypatch)
    names = ["a-1/README.md", "a-1/scedae/__pycache__/x.pyc"]
    assert check.lacks(names, ("README.md", "LICENSE")) == ["LICENSE"]
    assert check.unwanted(names, check.NEVER) == names[1:]


def test_what_a_build_must_hold_is_there(monkeypatch):
    check = tool("tools/release_check.py", monkeypatch)
    made = {"PKG-INFO"}
    assert [
        n for n in check.IN_SDIST if n not in made and not (ROOT / n).exists()
    ] == []


def test_json_of_the_records_is_plain():
    for path in (ROOT / "docs" / "results").glob("*.jsonl"):
        for line in path.read_text("utf-8").splitlines():
            assert {"data", "recipe", "seed", "acc"} <= set(json.loads(line))
