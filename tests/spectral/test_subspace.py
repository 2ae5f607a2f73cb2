from dataclasses import replace

import numpy as np
import pytest
import torch

from scedae._spectral import subspace
from scedae._spectral.subspace import NotConvergedError, leading_subspace


def matrix_of(values, rng):
    """A symmetric matrix with given eigenvalues, and its eigenvectors."""
    vectors = np.linalg.qr(rng.standard_normal((len(values), len(values))))[0]
    return torch.from_numpy(vectors * values @ vectors.T), torch.from_numpy(vectors)


SPECTRA = {
    "falls slowly": 1 - np.arange(300) / 300,
    "falls fast": 0.9 ** np.arange(300),
    "repeated": np.repeat([1, 0.9, 0.5], 100)[[0, 1, 2, *range(100, 397 - 100)]],
    "of low rank": np.where(np.arange(300) < 5, 0.7, 0),
}


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_the_pairs_are_those_of_lapack(rng, spectrum):
    values = np.sort(SPECTRA[spectrum])[::-1]
    matrix, vectors = matrix_of(values, rng)
    known = vectors[:, :1]
    found, block = leading_subspace(lambda v: matrix @ v, known, 4)
    np.testing.assert_allclose(found, values[1:5], atol=1e-9)
    np.testing.assert_allclose(matrix @ block, block * found, atol=1e-8)
    np.testing.assert_allclose(block.T @ block, np.eye(4), atol=1e-9)
    np.testing.assert_allclose(known.T @ block, 0, atol=1e-9)


def test_single_precision_gets_as_far_as_it_can(rng):
    matrix, vectors = matrix_of(SPECTRA["falls fast"], rng)
    matrix, known = matrix.float(), vectors[:, :1].float()
    found, block = leading_subspace(lambda v: matrix @ v, known, 4)
    assert block.dtype == torch.float32
    np.testing.assert_allclose(found, SPECTRA["falls fast"][1:5], atol=1e-6)
    np.testing.assert_allclose(matrix @ block, block * found, atol=1e-4)


def test_it_is_the_same_in_every_run(rng):
    matrix, vectors = matrix_of(SPECTRA["falls fast"], rng)
    runs = [leading_subspace(lambda v: matrix @ v, vectors[:, :1], 3) for _ in range(2)]
    assert torch.equal(runs[0][1], runs[1][1])


def test_what_does_not_converge_is_said(rng, monkeypatch):
    aim = replace(subspace._AIMS[torch.float64], most_filters=1)
    monkeypatch.setitem(subspace._AIMS, torch.float64, aim)
    matrix, vectors = matrix_of(SPECTRA["falls slowly"], rng)
    with pytest.raises(NotConvergedError, match="residual"):
        leading_subspace(lambda v: matrix @ v, vectors[:, :1], 4)
