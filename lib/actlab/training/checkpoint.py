"""One file that holds everything a trial needs to go on: weights, optimizer, random streams, progress. Written atomically; no pickle."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from actlab.errors import DataError

WHOLE = "global"
"""Key of what an optimizer's state holds beside that of single parameters (ECD's number of dimensions, its random stream)."""


def write_tensors(path: Path, tensors: dict[str, Tensor], about: dict[str, Any]) -> None:
    """A safetensors file with JSON metadata, in place all at once or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    work = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        save_file({name: t.detach().cpu().contiguous() for name, t in tensors.items()}, work, metadata={"about": json.dumps(about)})
        os.replace(work, path)
    finally:
        work.unlink(missing_ok=True)


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """What ``write_tensors`` wrote; ``DataError`` names a missing or damaged file."""
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, json.loads(file.metadata()["about"])  # noqa: SIM118
    except FileNotFoundError as error:
        raise DataError(f"{path} is not there: its trial was trained elsewhere, by other code, or not at all; run its study") from error
    except (SafetensorError, OSError, KeyError, TypeError, json.JSONDecodeError) as error:
        raise DataError(f"{path} is damaged ({error}); delete it and run again") from error


def save(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, progress: dict[str, Any]) -> None:
    """Write the state of a trial."""
    tensors = {f"model/{name}": value for name, value in model.state_dict().items()}
    saved = optimizer.state_dict()
    for index, state in [*saved["state"].items(), (WHOLE, saved.get(WHOLE, {}))]:
        tensors |= {f"optimizer/{index}/{name}": value for name, value in state.items()}
    tensors["random/cpu"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["random/cuda"] = torch.cuda.get_rng_state()
    write_tensors(path, tensors, progress)


def load(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """Bring model, optimizer and the global random streams to the saved state; return the saved progress."""
    tensors, progress = read_tensors(path)
    model.load_state_dict({name.removeprefix("model/"): t for name, t in tensors.items() if name.startswith("model/")})
    state = optimizer.state_dict()
    for name, value in tensors.items():
        if name.startswith("optimizer/"):
            _, index, key = name.split("/")
            place = state[WHOLE] if index == WHOLE else state["state"].setdefault(int(index), {})
            place[key] = value
    optimizer.load_state_dict(state)
    torch.set_rng_state(tensors["random/cpu"])
    if "random/cuda" in tensors and torch.cuda.is_available():
        torch.cuda.set_rng_state(tensors["random/cuda"])
    return progress
