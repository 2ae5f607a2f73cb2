"""The methods SC-EDAE is compared with, on the same autoencoder and contract."""

from scedae.baselines._autoencoder_kmeans import AutoencoderKMeans
from scedae.baselines._autoencoder_lsc import AutoencoderLSC
from scedae.baselines._dcn import DCN
from scedae.baselines._dkm import DKM
from scedae.baselines._idec import IDEC
from scedae.baselines._joint import fit_seeds

__all__ = ["DCN", "DKM", "IDEC", "AutoencoderKMeans", "AutoencoderLSC", "fit_seeds"]
