"""What stands around every call of a user's own code: it raises one sentence or nothing, and leaves the settings of the
whole process, which it would change for all other parts, as they were."""

import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

import torch
from torch.nn.modules import module

from actlab import paths
from actlab.errors import ActlabError, BadInput

FILES = set[str]()
"""Names of the plug-in files that have been run."""
KERNELS = ("MKL_CBWR", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA")
"""Environment variables that choose the instructions of MKL and of oneDNN, and with them the order of their sums."""


def _variables() -> dict[str, str]:
    """What the environment says of the project's folders and of instructions; empty is as none."""
    return {name: os.environ.get(name, "") for name in (*paths.VARIABLES, *KERNELS)}


def _set_streams(streams: tuple[TextIO, TextIO]) -> None:
    sys.stdout, sys.stderr = streams


ONEDNN: Any = torch.backends.mkldnn  # its types lack what it has
PRECISIONS: tuple[Any, ...] = (torch.backends, ONEDNN, ONEDNN.matmul)
"""What has an ``fp32_precision``: that of the last is of the one before where it says none."""


def _precisions() -> list[str]:
    found = [each.fp32_precision for each in PRECISIONS]
    with suppress(RuntimeError):  # it cannot be read where the newer names say something else
        found.append(torch.get_float32_matmul_precision())
    return found


def _set_precisions(before: list[str]) -> None:
    for older in before[len(PRECISIONS) :]:
        torch.set_float32_matmul_precision(older)
    for each, precision in zip(PRECISIONS, before, strict=False):
        each.fp32_precision = precision


def _autocasts() -> tuple[bool, torch.dtype]:
    return torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")


def _set_autocast(now: tuple[bool, torch.dtype]) -> None:
    torch.set_autocast_enabled("cpu", now[0])
    torch.set_autocast_dtype("cpu", now[1])


def _nesting() -> int:
    torch.autocast_increment_nesting()
    return torch.autocast_decrement_nesting()


def _set_nesting(before: int) -> None:
    """Weights that were cast in a context are kept until the outermost is left, however stale."""
    while _nesting() > before:
        torch.autocast_decrement_nesting()
    torch.clear_autocast_cache()


HOOKS = tuple(value for name, value in vars(module).items() if name.endswith("_hooks") and isinstance(value, dict))
"""What torch calls around every module of the process."""


def _hooks() -> list[dict[int, object]]:
    return [{**each} for each in HOOKS]


def _set_hooks(before: list[dict[int, object]]) -> None:
    for each, was in zip(HOOKS, before, strict=True):
        each.clear()
        each.update(was)


def _flushes_denormal() -> bool:
    return not (torch.tensor(1e-40, dtype=torch.float32, device="cpu") * 1).item()


SETTINGS: dict[str, tuple[Callable[[], object], Callable[[Any], object]]] = {
    "torch.set_default_dtype": (torch.get_default_dtype, torch.set_default_dtype),
    "torch.set_default_device": (
        torch.get_default_device,
        lambda device: torch.set_default_device(None if device.type == "cpu" else device),
    ),
    "torch.set_autocast_enabled": (_autocasts, _set_autocast),
    "an open torch.autocast": (_nesting, _set_nesting),
    "torch.nn.modules.module.register_module_forward_hook": (_hooks, _set_hooks),
    "torch.set_float32_matmul_precision": (_precisions, _set_precisions),
    "torch.backends.mkldnn.enabled": (torch._C._get_mkldnn_enabled, torch._C._set_mkldnn_enabled),
    "torch.backends.cuda.enable_flash_sdp": (  # it decides on a CPU too
        torch.backends.cuda.flash_sdp_enabled,
        torch.backends.cuda.enable_flash_sdp,
    ),
    "torch.set_flush_denormal": (_flushes_denormal, torch.set_flush_denormal),
    "torch.set_grad_enabled": (torch.is_grad_enabled, torch.set_grad_enabled),
    "os.chdir": (os.getcwd, os.chdir),
    "os.environ": (_variables, os.environ.update),
    "sys.stdout or sys.stderr": (lambda: (sys.stdout, sys.stderr), _set_streams),
}
"""What sets it -> how it is read, how it is set. Threads, TF32 and determinism are set by each trial itself."""


def settings() -> dict[str, object]:
    """Those of this process."""
    return {name: read() for name, (read, _) in SETTINGS.items()}


AT_START = {name: value for name, value in settings().items() if name.startswith("torch.")}
"""PyTorch's, before any plug-in ran."""


def set_back(before: dict[str, object] = AT_START) -> list[str]:
    """Give settings their values of before; the names of those that had others."""
    now = settings()
    changed = [name for name, value in before.items() if now[name] != value]
    for name in changed:
        SETTINGS[name][1](before[name])
    return changed


@contextmanager
def unchanged(what: str) -> Iterator[None]:
    """Around what runs a user's own code, named ``what``: ``BadInput`` where it changes a setting of the whole process,
    which is set back."""
    before = settings()
    try:
        yield
    finally:
        changed = set_back(before)
    if changed:
        raise BadInput(
            f"{what} changes {', '.join(changed)} for the whole process, and with it every other part's numbers: give "
            "the tensors of your part their own dtype and device, and name files by their whole paths"
        )


@contextmanager
def guarded(what: str) -> Iterator[None]:
    """As ``unchanged``; and whatever the code raises, also to end the program, is a ``BadInput`` of one sentence."""
    try:
        with unchanged(what):
            yield
    except (ActlabError, KeyboardInterrupt):
        raise
    except BaseException as error:
        line = line_in_plugin(error)
        place = f" ({line})" if line else ""
        raise BadInput(f"{what} raises {said(error)}{place}") from error


def said(error: BaseException) -> str:
    """Class and message of an exception of a user's, whose message may itself raise."""
    kind = type(error).__name__
    try:
        return f"{kind}: {error}"
    except BaseException as other:
        return f"{kind}: its message cannot be read ({type(other).__name__})"


def line_in_plugin(error: BaseException) -> str:
    """``plug-in mine.py, line 3``: the last line of a plug-in that an exception passed through; empty: none."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in FILES]
    return f"plug-in {frames[-1].filename}, line {frames[-1].lineno}" if frames else ""
