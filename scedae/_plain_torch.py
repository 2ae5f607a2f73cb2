"""Torch as it is when nobody has changed its settings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch


@contextmanager
def plain_torch() -> Iterator[None]:
    """Inside, nothing the user has set for other work changes a result.

    That is autocast, inference mode, a default device, and the precision of products.
    What was set is set again afterwards. A default number type is no concern: every
    tensor of this package names its own.
    """
    with ExitStack() as stack:
        if torch.is_inference_mode_enabled():
            # Else what is learnt could not be changed in place outside.
            stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.no_grad())
        for kind in ("cpu", "cuda"):
            if torch.is_autocast_enabled(kind):
                stack.enter_context(torch.autocast(kind, enabled=False))
        if _default_device() != "cpu":
            stack.enter_context(torch.device("cpu"))
        stack.enter_context(matmul_precision("highest"))
        yield


def _default_device() -> str:
    try:
        return torch.get_default_device().type
    except AttributeError:  # torch 2.4, after set_default_device(None)
        return "cpu"


@contextmanager
def matmul_precision(precision: str) -> Iterator[None]:
    """How float32 products may be rounded for as long as this lasts; it is global."""
    before = torch.get_float32_matmul_precision()
    if before == precision:
        yield
        return
    torch.set_float32_matmul_precision(precision)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
