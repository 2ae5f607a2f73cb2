"""From the name of a device to a torch device, or an error that helps."""

from __future__ import annotations

import torch

from scedae.exceptions import DeviceError


def resolve_device(device: str | torch.device) -> torch.device:
    """The torch device for a name; "auto" takes a GPU where there is one."""
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        found = torch.device(device)
    except RuntimeError as error:
        raise DeviceError(
            f"device={device!r} is not a device; use 'auto', 'cpu' or 'cuda'."
        ) from error
    if found.type not in ("cpu", "cuda"):
        raise DeviceError(
            f"device={device!r} is not supported; use 'auto', 'cpu' or 'cuda'."
        )
    n_gpus = torch.cuda.device_count() if found.type == "cuda" else 0
    if found.type == "cuda" and (found.index or 0) >= n_gpus:
        raise DeviceError(
            f"device={device!r} was asked for, but torch sees {n_gpus} GPUs here. Use "
            "device='auto' or 'cpu', or install a CUDA build of torch."
        )
    if found.type == "cuda":
        # With its number, as tensors name it: "cuda" and "cuda:0" do not compare equal.
        return torch.device("cuda", found.index or 0)
    return torch.device("cpu")  # and without one: "cpu:0" is no other place
