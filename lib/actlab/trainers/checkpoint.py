"""Checkpoints: weights, optimizer, random streams and progress in one safetensors file, written atomically, with a
checksum. The training loop of language models goes on from one (``loop``); a finished trial leaves its weights in the
same format."""

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


def write_tensors(path: Path, tensors: dict[str, Tensor], about: dict[str, Any]) -> None:
    """Write a safetensors file with JSON metadata and a checksum, atomically."""
    plain = torch.contiguous_format
    copies = {name: t.detach().cpu().clone(memory_format=plain) for name, t in tensors.items()}  # tied ones apart
    words = json.dumps(about)
    write_bytes(path, as_bytes(copies, {"about": words, "crc32": checksum(copies, words)}))


def checksum(tensors: dict[str, Tensor], words: str) -> str:
    """Sum up names, types, shapes, bytes and metadata: one flipped bit would train on, and nobody would see it."""
    crc = zlib.crc32(words.encode())
    for name, tensor in sorted(tensors.items()):
        crc = zlib.crc32(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode(), crc)
        crc = zlib.crc32(tensor.reshape(-1).view(torch.uint8).numpy().data, crc)
    return f"{crc:08x}"


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what ``write_tensors`` wrote.

    Raises:
        DataError: there is no such file.
        DamagedFile: it is cut, changed or no safetensors file.
    """
    try:
        with safe_open(path, framework="pt") as file:
            tensors, metadata = {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118
        about, expected = metadata["about"], metadata["crc32"]
    except FileNotFoundError as error:
        raise DataError(f"{path} is not there: its trial was trained elsewhere or not at all; run its study") from error
    except (SafetensorError, KeyError, TypeError) as error:
        raise DamagedFile(path, str(error)) from error
    if checksum(tensors, about) != expected:
        raise DamagedFile(path, "its checksum is not that of its content")
    return tensors, json.loads(about)


def random_streams() -> dict[str, Any]:
    """Find PyTorch's modules whose global stream this machine has: of the processor, and of its GPU."""
    return {"cpu": torch} | ({"gpu": torch.get_device_module()} if torch.accelerator.is_available() else {})


def save(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, progress: dict[str, Any]) -> None:
    """Write the state of a trial."""
    tensors = {f"model/{name}": value for name, value in model.state_dict().items()}
    for owner, state in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer/{owner}/{name}": value for name, value in state.items()}
    tensors |= {f"random/{device}": module.get_rng_state() for device, module in random_streams().items()}
    write_tensors(path, tensors, progress)


def load(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """Bring model, optimizer and the global random streams to the saved state; return the saved progress."""
    tensors, progress = read_tensors(path)
    model.load_state_dict({name.removeprefix("model/"): t for name, t in tensors.items() if name.startswith("model/")})
    state = optimizer.state_dict()
    for name, value in tensors.items():
        if name.startswith("optimizer/"):
            _, owner, key = name.split("/")  # a parameter's number, or a name (of ECD's whole system)
            place = state["state"].setdefault(int(owner) if owner.isdigit() else owner, {})
            place[key] = value.clone()  # in the file it begins anywhere, and MKL's dot rounds by alignment
    optimizer.load_state_dict(state)
    for device, module in random_streams().items():
        module.set_rng_state(tensors[f"random/{device}"])
    return progress
