"""Checkpoints: weights, optimizer, random streams and progress in one safetensors file, atomic, with a checksum."""

import json
import zlib
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as as_bytes
from torch import Tensor, nn

from actlab.errors import DamagedFile, DataError
from actlab.files import write_bytes

WHOLE = "global"
"""Key of what an optimizer's state holds beside that of single parameters (ECD's number of dimensions, its random
stream)."""


def write_tensors(path: Path, tensors: dict[str, Tensor], about: dict[str, Any]) -> None:
    """Write a safetensors file with JSON metadata and a checksum, atomically."""
    plain = torch.contiguous_format
    copies = {name: t.detach().cpu().clone(memory_format=plain) for name, t in tensors.items()}  # tied ones apart
    words = json.dumps(about)
    write_bytes(path, as_bytes(copies, {"about": words, "crc32": _crc32(copies, words)}))


def _crc32(tensors: dict[str, Tensor], words: str) -> str:
    """Checksum of names, types, shapes, bits and metadata: a checkpoint of gigabytes costs a second."""
    found = zlib.crc32(words.encode())
    for name, tensor in sorted(tensors.items()):
        found = zlib.crc32(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode(), found)
        found = zlib.crc32(tensor.reshape(-1).view(torch.uint8).numpy().data, found)
    return f"{found:08x}"


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what ``write_tensors`` wrote.

    Raises:
        DataError: there is no such file.
        DamagedFile: its content does not fit its checksum.
    """
    try:
        with safe_open(path, framework="pt") as file:
            tensors, metadata = {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118
        about, expected = json.loads(metadata["about"]), metadata["crc32"]
    except FileNotFoundError as error:
        raise DataError(
            f"{path} is not there: its trial was trained elsewhere, by other code, or not at all; run its study"
        ) from error
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise DamagedFile(path, str(error)) from error
    if (found := _crc32(tensors, metadata["about"])) != expected:
        raise DamagedFile(path, f"expected crc32 {expected}, found {found}")
    return tensors, about


def random_streams() -> dict[str, Any]:
    """Find PyTorch's modules whose global stream this machine has, by device."""
    modules = {"cpu": torch, "cuda": torch.cuda, "mps": torch.mps}
    return {device: module for device, module in modules.items() if getattr(torch, device).is_available()}


def save(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, progress: dict[str, Any]) -> None:
    """Write the state of a trial."""
    tensors = {f"model/{name}": value for name, value in model.state_dict().items()}
    saved = optimizer.state_dict()
    for index, state in [*saved["state"].items(), (WHOLE, saved.get(WHOLE, {}))]:
        tensors |= {f"optimizer/{index}/{name}": value for name, value in state.items()}
    tensors |= {f"random/{device}": module.get_rng_state() for device, module in random_streams().items()}
    write_tensors(path, tensors, progress)


def load(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """Bring model, optimizer and the global random streams to the saved state; return the saved progress.

    Raises:
        DamagedFile: the file is damaged.
    """
    tensors, progress = read_tensors(path)
    model.load_state_dict({name.removeprefix("model/"): t for name, t in tensors.items() if name.startswith("model/")})
    state = optimizer.state_dict()
    for name, value in tensors.items():
        if name.startswith("optimizer/"):
            _, index, key = name.split("/")
            place = state[WHOLE] if index == WHOLE else state["state"].setdefault(int(index), {})
            place[key] = value.clone()  # in the file it begins anywhere, and MKL's dot rounds by alignment
    optimizer.load_state_dict(state)
    for device, module in random_streams().items():
        module.set_rng_state(tensors[f"random/{device}"])
    return progress
