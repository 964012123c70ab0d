"""Torch's optimizers without its compiler, which their methods load for the sake of ``torch.compile``: 2 s a
process."""

import inspect

import torch


class Optimizer(torch.optim.Optimizer):
    """What ours are made from."""


class AdamW(torch.optim.AdamW):
    """Torch's own."""


class SGD(torch.optim.SGD):
    """Torch's own."""


for kind in (Optimizer, AdamW, SGD):
    for name in ("step", "zero_grad", "add_param_group", "state_dict", "load_state_dict"):
        # as torch wrote it, before it wrapped it; without gradients, which the wrapping saw to
        setattr(kind, name, torch.no_grad()(inspect.unwrap(getattr(kind, name))))
