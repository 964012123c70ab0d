"""One step of any torch optimizer without ``torch._dynamo``, which torch's own methods load for the sake of
``torch.compile``: 2 s a process."""

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch.optim import Optimizer

MARK = "__dynamo_disable"
"""Where ``torch._disable_dynamo`` looks for what it calls; it loads ``torch._dynamo`` where this is missing."""


def step(optimizer: Optimizer, closure: Callable[[], Any] | None = None) -> Any:
    """``optimizer.step(closure)``: the same bits; hooks on steps are not called."""
    with torch.no_grad():
        return inspect.unwrap(type(optimizer).step)(optimizer, closure)


def _spare_dynamo() -> None:
    for name in ("add_param_group", "zero_grad", "state_dict", "load_state_dict"):
        plain = inspect.unwrap(getattr(Optimizer, name))
        if not hasattr(plain, MARK):
            setattr(plain, MARK, plain)


_spare_dynamo()
