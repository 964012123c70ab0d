"""Checkpoints: weights, optimizer, random streams, progress in one safetensors file; atomic, with a checksum and its
own name inside."""

import json
import zlib
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from actlab.errors import DamagedFile, DataError
from actlab.files import replacing

WHOLE = "global"
"""Key of what an optimizer's state holds beside that of single parameters (ECD's number of dimensions, its random
stream)."""


def write_tensors(path: Path, tensors: dict[str, Tensor], about: dict[str, Any]) -> None:
    """A safetensors file with JSON metadata, a checksum and its name, written atomically. The name of a cached trial
    ends in the digest of its specification: a file that lies under another's name shows."""
    held = {name: t.detach().cpu().contiguous() for name, t in tensors.items()}
    words = json.dumps(about)
    with replacing(path, sum(t.nbytes for t in held.values()) + len(words)) as work:
        try:
            save_file(held, work, metadata={"name": path.name, "about": words, "crc32": _crc32(held, words)})
        except SafetensorError as error:  # of its Rust part, where the system refuses to write
            raise OSError(str(error)) from error


def _crc32(tensors: dict[str, Tensor], words: str) -> str:
    """Of names, types, shapes, bits and the metadata: bits that flip on a disk show, and a checkpoint of gigabytes
    costs a second."""
    found = zlib.crc32(words.encode())
    for name, tensor in sorted(tensors.items()):
        found = zlib.crc32(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode(), found)
        found = zlib.crc32(tensor.reshape(-1).view(torch.uint8).numpy().data, found)
    return f"{found:08x}"


def read_tensors(path: Path, nameless: bool = False) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """What ``write_tensors`` wrote. ``nameless``: also a file of the time before names were kept inside; whoever asks
    holds its weights to a recorded hash.

    Raises:
        DataError: there is no such file.
        DamagedFile: its content is not what was written under this name.
    """
    try:
        if path.exists() and not path.is_file():
            raise OSError("it is not a regular file")  # a pipe would be waited for
        with safe_open(path, framework="pt") as file:
            tensors, said = {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118
            about, expected, own = json.loads(said["about"]), said["crc32"], said.get("name", nameless and path.name)
    except FileNotFoundError as error:
        raise DataError(
            f"{path} is not there: its trial was trained elsewhere, by other code, or not at all; run its study"
        ) from error
    except (SafetensorError, OSError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise DamagedFile(path, error) from error
    if (found := _crc32(tensors, said["about"])) != expected:
        raise DamagedFile(path, f"expected crc32 {expected}, found {found}")
    if own != path.name:
        raise DamagedFile(path, f"it was written as {own or 'no file with a name'}: another trial's")
    return tensors, about


def save(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, progress: dict[str, Any]) -> None:
    """Write the state of a trial."""
    tensors = {f"model/{name}": value for name, value in model.state_dict().items()}
    saved = optimizer.state_dict()
    for index, state in [*saved["state"].items(), (WHOLE, saved.get(WHOLE, {}))]:
        tensors |= {f"optimizer/{index}/{name}": value for name, value in state.items()}
    tensors["random/cpu"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["random/cuda"] = torch.cuda.get_rng_state()
    if torch.backends.mps.is_available():
        tensors["random/mps"] = torch.mps.get_rng_state()
    write_tensors(path, tensors, progress)


def load(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """Bring model, optimizer and the global random streams to the saved state; return the saved progress.

    Raises:
        DamagedFile: the file is damaged, or of another model; the model may then be changed in part.
    """
    tensors, progress = read_tensors(path)
    try:
        _restore(tensors, model, optimizer)
    except (RuntimeError, ValueError, KeyError, TypeError, IndexError) as error:
        raise DamagedFile(path, f"it does not fit the trial: {error}") from error
    return progress


def _restore(tensors: dict[str, Tensor], model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    model.load_state_dict({name.removeprefix("model/"): t for name, t in tensors.items() if name.startswith("model/")})
    state = optimizer.state_dict()
    for name, value in tensors.items():
        if name.startswith("optimizer/"):
            _, index, key = name.split("/")
            place = state[WHOLE] if index == WHOLE else state["state"].setdefault(int(index), {})
            place[key] = value.clone()  # in the file it begins anywhere, and MKL's dot rounds by alignment
    optimizer.load_state_dict(state)
    torch.set_rng_state(tensors["random/cpu"])
    if "random/cuda" in tensors and torch.cuda.is_available():
        torch.cuda.set_rng_state(tensors["random/cuda"])
    if "random/mps" in tensors and torch.backends.mps.is_available():
        torch.mps.set_rng_state(tensors["random/mps"])
