"""Clusters of cells in place, as scanpy's tools do it."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse

with warnings.catch_warnings():
    # Between anndata and what it imports.
    warnings.simplefilter("ignore")
    anndata = pytest.importorskip("anndata", reason="no anndata", exc_type=ImportError)
    import pandas as pd

    if int(pd.__version__.split(".")[0]) > 2 and anndata.__version__ < "0.13":
        pytest.skip(
            "this anndata cannot write frames of pandas 3", allow_module_level=True
        )
    from scedae.anndata import cluster, read_rows
    from tests.helpers import QUICK

pytestmark = pytest.mark.filterwarnings("ignore")  # of packages between each other


@pytest.fixture
def cells(blobs):
    X, y = blobs
    obs = pd.DataFrame({"batch": pd.Categorical(np.array(["a", "b", "c"])[y])})
    obs.index = [f"cell-{i}" for i in range(len(X))]
    adata = anndata.AnnData(X.astype(np.float32), obs=obs)
    adata.obsm["X_pca"] = X[:, :4].astype(np.float32)
    return adata


def test_everything_is_where_scanpy_looks_for_it(cells):
    before = cells.obs["batch"].copy()
    assert cluster(cells, 3, **QUICK, random_state=0) is None
    assert isinstance(cells.obs["scedae"].dtype, pd.CategoricalDtype)
    assert cells.obs["scedae"].cat.categories.tolist() == ["0", "1", "2"]
    assert cells.obs["scedae_confidence"].between(0, 1).all()
    assert cells.obsm["X_scedae"].shape[0] == 240
    assert cells.uns["scedae"]["params"]["use_rep"] == "X_pca"
    assert cells.uns["scedae"]["params"]["random_state"] == 0
    pd.testing.assert_series_equal(cells.obs["batch"], before)
    assert (pd.crosstab(cells.obs["scedae"], before) > 0).sum().sum() == 3


def test_another_key_another_representation_and_a_copy(cells):
    other = cluster(cells, 3, use_rep="X", key_added="mine", copy=True, **QUICK)
    assert "mine" in other.obs and "mine" not in cells.obs
    with pytest.raises(
        ValueError, match="'X_umap' is not there; there is 'X_pca', 'X'"
    ):
        cluster(cells, 3, use_rep="X_umap")


def test_files_are_read_and_written(cells, tmp_path):
    path = tmp_path / "cells.h5ad"
    cells.write_h5ad(path)
    rows, obs = read_rows(path)
    np.testing.assert_array_equal(rows, cells.obsm["X_pca"])
    assert obs.index.tolist() == cells.obs.index.tolist()
    found = cluster(path, 3, use_rep="X", **QUICK, random_state=0)
    cluster(cells, 3, use_rep="X", **QUICK, random_state=0)
    assert (found.obs["scedae"] == cells.obs["scedae"]).all()
    cells.write_h5ad(tmp_path / "again.h5ad")
    again = anndata.read_h5ad(tmp_path / "again.h5ad")
    assert (again.obs["scedae"] == cells.obs["scedae"]).all()


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_matrix_larger_than_memory_gives_the_same(cells, tmp_path, monkeypatch, kind):
    cells.X = scipy.sparse.csr_matrix(cells.X) if kind == "sparse" else cells.X
    cells.write_h5ad(tmp_path / "cells.h5ad")
    monkeypatch.setattr("scedae.anndata._MOST_IN_MEMORY", 100)
    monkeypatch.setattr("scedae.anndata._BLOCK_NUMBERS", 600)
    large = cluster(tmp_path / "cells.h5ad", 3, use_rep="X", **QUICK, random_state=0)
    cluster(cells, 3, use_rep="X", **QUICK, random_state=0)
    assert (large.obs["scedae"] == cells.obs["scedae"]).all()


def test_the_command_takes_cells(cells, tmp_path):
    cells.write_h5ad(tmp_path / "cells.h5ad")
    quick = ["--epochs", "5", "--members", "2", "--seed", "0", "-q"]
    arguments = ["fit", "cells.h5ad", "-k", "3", "-o", "run", "--labels", "batch"]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "scedae", *arguments, *quick],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "ACC 100.0" in done.stdout
    assert (
        (tmp_path / "run" / "labels.csv")
        .read_text()
        .startswith("id,label,confidence\ncell-0,")
    )


def test_plots_of_scanpy_know_the_result(cells, tmp_path):
    scanpy = pytest.importorskip("scanpy", reason="no scanpy", exc_type=ImportError)
    import matplotlib

    matplotlib.use("Agg")
    cluster(cells, 3, **QUICK, random_state=0)
    axes = scanpy.pl.embedding(cells, "scedae", color="scedae", show=False)
    assert axes.get_title() == "scedae"
    scanpy.pl.embedding(cells, "X_pca", color="scedae_confidence", show=False)
    scanpy.tl.rank_genes_groups(cells, "scedae")
    assert cells.uns["rank_genes_groups"]["names"].dtype.names == ("0", "1", "2")
