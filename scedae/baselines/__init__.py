"""What the paper compares with, as estimators with the contract of SCEDAE."""

from scedae.baselines._autoencoder_kmeans import AutoencoderKMeans
from scedae.baselines._autoencoder_lsc import AutoencoderLSC

__all__ = ["AutoencoderKMeans", "AutoencoderLSC"]
