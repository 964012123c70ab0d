"""Determinism: seeded global streams and deterministic kernels, the hash of weights, and the changes of a single
weight."""

import hashlib
import math
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import nn

from actlab.trainers.seeds import generator


def seed_globals(seed: int) -> None:
    """Seed the global streams of Python, NumPy and PyTorch, from which a user's own part may draw."""
    random.seed(seed)
    np.random.seed(seed % 2**32)  # the global stream is what is meant
    torch.manual_seed(seed)


@contextmanager
def reproducible(seed: int) -> Iterator[None]:
    """Global streams seeded (dropout reads them), deterministic algorithms on; both are as before at the end."""
    was = torch.get_deterministic_debug_mode()
    devices = [torch.cuda.current_device()] if torch.cuda.is_available() else []
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it cuBLAS refuses to be deterministic
    with torch.random.fork_rng(devices):
        torch.manual_seed(seed)
        torch.set_deterministic_debug_mode("error")  # use_deterministic_algorithms would load the compiler: 2 s
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]  # changes no result
        try:
            yield
        finally:
            torch.set_deterministic_debug_mode(was)


def weights_sha256(model: nn.Module) -> str:
    """Of every parameter's and buffer's name and bytes: equal if and only if two models are equal bit for bit."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def nudge_one_weight(model: nn.Module, place: int = 0, size: float = 0.0) -> None:
    """Move the first weight of the last matrix, or the one at ``place`` there, to its next float (by one unit in the
    last place), or by ``size``."""
    matrix = [p for p in model.parameters() if p.dim() > 1][-1]
    with torch.no_grad():
        weight = matrix.view(-1)[place]
        if size:
            weight.add_(size)
        else:
            weight.nextafter_(torch.tensor(math.inf))


def shift_one_weight(model: nn.Module, size: float, seed: int) -> None:
    """Move one weight of one matrix, both drawn by the seed, by ``size`` times the L2 norm of its matrix: up under an
    even seed, down under an odd one."""
    draw = generator(seed, "shift")
    matrices = [p for p in model.parameters() if p.dim() > 1]
    weights = matrices[int(torch.randint(len(matrices), (), generator=draw))]
    place = int(torch.randint(weights.numel(), (), generator=draw))
    with torch.no_grad():
        weights.view(-1)[place] += (1 if seed % 2 == 0 else -1) * size * weights.norm()
