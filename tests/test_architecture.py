"""The arrows of docs/design.md: who may import whom."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import scedae
import scedae.experiments

PACKAGE = Path(__file__).parent.parent / "scedae"

DRAWING = PACKAGE.parent / "docs" / "design.md"

# Names of the package that are not rooms, and where they live.
HOMES = {
    "SCEDAE": "_estimator",
    "View": "_views",
    "__version__": "_version",
}
# The edges see what a user sees, and how to write a file.
MAY_IMPORT = {
    "cli": {
        "_estimator",
        "_formats",
        "_progress",
        "_provenance",
        "_table_pipeline",
        "_tables",
        "_views",
        "anndata",
        "_version",
        "_whole_file",
        "datasets",
        "exceptions",
        "experiments",
        "metrics",
        "report",
    },
    "plot": {"_palette", "_tsne"},
    "report": {"metrics", "_palette", "_provenance", "_tsne", "_whole_file"},
    "datasets": {"_random", "_whole_file", "exceptions"},
    "metrics": set(),
}
# Nothing in the package needs the edges, which need packages of their own.
EDGES = {
    "anndata": {"cli"},
    "cli": {"__main__"},
    "experiments": {"cli"},
    "plot": {"experiments"},
    "report": {"cli"},
}


def imported(path):
    """Every module that a file imports, and every name it takes from one."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module, [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)


def imports_of(path):
    """Names of the package's own modules that a file imports, anywhere in it."""
    found = set()
    for module, names in imported(path):
        if module == "scedae":
            found.update(names)
        elif module.startswith("scedae."):
            found.add(module.split(".")[1])
    return found


def files():
    return sorted(PACKAGE.rglob("*.py"))


def rooms():
    """Every room with its files: a module or a package of its own."""
    found = {}
    for path in files():
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if room != "__init__":
            found.setdefault(room, []).append(path)
    return found


def floors():
    """The rooms of the drawing in docs/design.md, from the top to the ground."""
    drawing = DRAWING.read_text().split("## The house")[1].split("```")[1]
    lines = [line.split("   ")[0] for line in drawing.strip().splitlines()]
    return [line.split(" · ") for line in lines]


FLOORS = {room: floor for floor, line in enumerate(floors()) for room in line}


def seen_from(room):
    names = set().union(*(imports_of(path) for path in rooms()[room]))
    return {HOMES.get(name, name) for name in names} - {room}


def test_every_room_is_drawn_once():
    drawn = [room for line in floors() for room in line]
    assert sorted(drawn) == sorted(rooms())


@pytest.mark.parametrize("room", sorted(rooms()))
def test_a_room_imports_from_floors_below(room):
    wrong = {name for name in seen_from(room) if FLOORS[name] <= FLOORS[room]}
    assert not wrong, f"{room} may not import {wrong}"


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_rooms_that_see_little(room):
    assert seen_from(room) <= MAY_IMPORT[room]


@pytest.mark.parametrize("edge", EDGES)
def test_nobody_imports_the_edges(edge):
    for path in files():
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if room not in {edge, *EDGES[edge]}:
            assert edge not in imports_of(path), path


def modules():
    """Every file by the name it is imported by."""
    names = {".".join(p.relative_to(PACKAGE.parent).parts)[:-3]: p for p in files()}
    return {name.removesuffix(".__init__"): path for name, path in names.items()}


def seen_at_the_top(name, path, known):
    """Modules of the package that a file imports when it is imported.

    The door of a package shows its own rooms, and they may name it: neither counts.
    """
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                target = f"{node.module}.{alias.name}"
                seen = target if target in known else node.module
                inside = name.startswith(f"{seen}.") or seen.startswith(f"{name}.")
                if seen in known and not inside:
                    yield seen


def test_the_house_has_at_most_12_floors():
    """A module stands one floor above the highest one it imports."""
    known = modules()
    below = {n: set(seen_at_the_top(n, path, known)) for n, path in known.items()}
    floors = {}

    def floor(name, above=()):
        assert name not in above, f"a cycle: {above}"
        if name not in floors:
            path = (*above, name)
            floors[name] = max((floor(m, path) + 1 for m in below[name]), default=0)
        return floors[name]

    assert max(map(floor, known)) <= 12


def test_no_name_is_taken_twice():
    """Neither a module's nor that of a class or function that others may import."""
    homes = {}
    for path in files():
        if path.stem == "__main__":
            continue
        body = ast.parse(path.read_text()).body
        kinds = ast.ClassDef | ast.FunctionDef
        names = {node.name for node in body if isinstance(node, kinds)}
        names = {name for name in names if not name.startswith("_")}
        if path.stem != "__init__":
            homes.setdefault(("module", path.stem.strip("_")), []).append(path)
        for name in names:
            homes.setdefault(("name", name), []).append(path)
    assert not {name: paths for name, paths in homes.items() if len(paths) > 1}


def test_every_file_says_what_it_is():
    for path in files():
        assert ast.get_docstring(ast.parse(path.read_text())), f"{path}: no docstring"


# What the extra ``tables`` is for: it brings polars.
TABLES = ("TableEncoder", "make_table_pipeline", "read_table")


def test_the_core_needs_four_packages_only():
    """numpy, scipy, scikit-learn and torch: nothing else may be imported early."""
    code = (
        "import sys, numpy, scipy, sklearn.base, torch; before = set(sys.modules);"
        "import scedae, scedae.baselines, scedae.experiments;"
        f"[getattr(scedae, name) for name in dir(scedae) if name not in {TABLES}];"
        "print({m.split('.')[0] for m in set(sys.modules) - before})"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    # Not rich, which scikit-learn itself imports where it is installed.
    absent = (
        "matplotlib",
        "pandas",
        "safetensors",
        "dask",
        "pyarrow",
        "zarr",
        "polars",
        "typer",
        "jinja2",
    )
    for package in absent:
        assert package not in output


def imported_packages(path):
    return {module for module, _ in imported(path)}


def test_the_private_validation_of_scikit_learn_has_one_home():
    private = "sklearn.utils._param_validation"
    homes = [p.stem for p in files() if private in imported_packages(p)]
    assert homes == ["_constraints"]


def test_files_are_renamed_in_one_place():
    """Everybody else asks for a whole file; a folder is whole in one place, too."""
    words = ("os.replace(", "os.rename(", ".rename(", "mkstemp(")
    homes = {
        path.relative_to(PACKAGE).as_posix()
        for path in files()
        if any(word in path.read_text() for word in words)
    }
    assert homes == {"_whole_file.py", "cli/output.py"}


def test_nobody_asks_where_rows_live():
    """Memory, file and cluster answer the same questions."""
    for path in files():
        if path.parent != PACKAGE / "_rows":
            taken = {name for _, names in imported(path) for name in names}
            assert not taken & {"Stream", "StoredRows", "DaskRows", "DrawnEpochs"}, path
            assert "stream is None" not in path.read_text(), path


def test_dask_has_one_home():
    """Two files know Dask, and are imported for Dask collections alone."""
    for path in files():
        names = {name.split(".")[0] for name in imported_packages(path)}
        if names & {"dask", "distributed"}:
            assert path.parent == PACKAGE / "_rows"
            assert path.stem in {"dask_rows", "dask_crew"}


# What takes long to import; none of it is needed before something is computed.
HEAVY = ("torch", "sklearn", "scipy", "numpy", "polars", "pandas", "jinja2", "joblib")


def modules_after(code):
    """Packages that a process has imported when it has run ``code``."""
    ending = "; import sys; print(*{m.split('.')[0] for m in sys.modules})"
    output = subprocess.run(
        [sys.executable, "-c", code + ending],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return set(output.splitlines()[-1].split())


def test_importing_the_package_loads_nothing_heavy():
    assert not modules_after("import scedae; dir(scedae)").intersection(HEAVY)


RUN = "from typer.testing import CliRunner; from scedae.cli.app import app; "


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["fit", "--help"],
        ["predict", "--help"],
        ["report", "--help"],
        ["compare", "--help"],
        ["datasets", "--help"],
        ["reproduce", "--help"],
        ["fit", "rows.csv"],
        ["fit", "rows.csv", "-k", "few", "-o", "run"],
        ["no-such-command"],
        ["fit", "rows.csv", "-k", "3", "-o", "run", "--scale", "no-such-scale"],
    ],
    ids=" ".join,
)
def test_help_and_mistakes_load_nothing_heavy(arguments):
    code = f"{RUN} CliRunner().invoke(app, {arguments})"
    assert not modules_after(code).intersection(HEAVY)


def test_completion_loads_nothing_heavy(monkeypatch):
    monkeypatch.setenv("_SCEDAE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "scedae fi")
    monkeypatch.setenv("COMP_CWORD", "1")
    code = (
        "import atexit, sys; sys.argv = ['scedae'];"
        "atexit.register(lambda: print(*{m.split('.')[0] for m in sys.modules}));"
        "from scedae.cli import main; main()"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert output.splitlines()[0] == "fit"
    assert not set(output.splitlines()[-1].split()).intersection(HEAVY)


def test_names_that_do_not_exist_are_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'SCEADE'"):
        scedae.SCEADE  # noqa: B018
    assert {*scedae.__all__} <= {*dir(scedae)}
    assert {*scedae.experiments.__all__} <= {*dir(scedae.experiments)}


def test_importing_starts_nothing():
    code = (
        "import scedae, torch, threading; scedae.SCEDAE;"
        "assert not torch.cuda.is_initialized();"
        "assert threading.active_count() == 1"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
