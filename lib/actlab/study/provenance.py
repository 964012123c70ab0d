"""Where a result comes from: commit, code, versions, machine."""

import ast
import hashlib
import os
import platform
import re
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from actlab import paths
from actlab.files import contents

TRIALS = ("trial", "characters", "twins", "tokens", "images")
CODE_OF_A_TRIAL = (
    *("activations.py", "models", "optimizers", "data", "trainers"),
    *(f"study/{name}.py" for name in TRIALS),
)
"""The part of the package that decides a trial's bits, from its specification to its weights: a cached trial of other
code is not used. A test runs a trial of each kind and names whatever else takes part."""

KERNELS = ("MKL_CBWR", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA")
"""Environment variables that choose the instructions of MKL and of oneDNN, and with them the order of their sums."""

TRAINING = 2
"""Version of the bits that training makes: raised with ``tests/study/golden.yaml``, which a test trains again."""


def code_sha256(*parts: str) -> str:
    """The hash of the named files and folders of the package: of their syntax trees without docstrings, comments and
    file names, statement by statement, so that words change no hash; checksums of data by their bytes."""
    roots = [paths.PACKAGE / part for part in parts]
    files = {f for root in roots for f in (root, *root.rglob("*"))}
    texts = [f.read_text() for f in files if f.suffix == ".sha256"]
    for module in (ast.parse(f.read_bytes()) for f in files if f.suffix == ".py"):
        for node in ast.walk(module):
            if isinstance(body := getattr(node, "body", None), list):
                node.body = [one for one in body if not is_text(one)]  # type: ignore[attr-defined]
        texts += map(ast.dump, module.body)
    return hashlib.sha256("\n".join(sorted(texts)).encode()).hexdigest()


def is_text(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring or another bare constant, which decides nothing."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def cpu(field: str) -> str:
    """A field of Linux's description of the CPU, such as ``model name``; empty elsewhere."""
    info = Path("/proc/cpuinfo")
    line = re.search(rf"(?m)^{field}\s*:(.*)", info.read_text()) if info.exists() else None
    return line[1].strip() if line else ""


def gpu() -> str | None:
    """The name of the GPU; None where there is none."""
    if torch.cuda.is_available():
        return torch.cuda.get_device_name()
    return f"{platform.processor()} MPS" if torch.backends.mps.is_available() else None


@cache
def machine() -> dict[str, object]:
    """What a bit-for-bit comparison has to share: processor, GPU and versions; of the variables that choose
    instructions those that are set. Generations of processors share a name."""
    chosen = {name: value for name in KERNELS if (value := os.environ.get(name))}
    capability = torch.backends.cpu.get_cpu_capability()
    if torch.cpu._is_amx_tile_supported():
        capability += " with AMX"
    return {
        "processor": cpu("model name") or platform.processor() or platform.machine(),
        "generation": f"{cpu('cpu family')}.{cpu('model')}",
        "gpu": gpu(),
        "capability": capability,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "system": platform.system(),
        **chosen,
    }


@cache
def code() -> dict[str, object]:
    """The commit of actlab's own checkout, whether its files differed from it, and the hashes of the code in use. Read
    once, when a process starts to work."""
    files = contents(sorted(paths.PACKAGE.rglob("*.py")), paths.PACKAGE)
    changes = paths.git("status", "--porcelain", "--", "lib")
    return {
        "git_commit": (paths.git("rev-parse", "HEAD") or "").strip() or None,
        "git_dirty": None if changes is None else bool(changes),
        "lib_sha256": hashlib.sha256("\n".join(files).encode()).hexdigest(),
        "trial_code_sha256": code_sha256(*CODE_OF_A_TRIAL),
        "training": TRAINING,
    }


def here() -> dict[str, Any]:
    """What decides a trial's bits beside its specification and data: the code that trains it and the machine."""
    return {"trial_code_sha256": code()["trial_code_sha256"], "machine": machine()}


def of_record(path: str, data: dict[str, Any]) -> dict[str, Any]:
    """What a record says of its origin: now, this code and machine, the path of its training, its data."""
    date = datetime.now(UTC).isoformat(timespec="seconds")
    floats = f"{torch.get_default_dtype()}, products in {torch.get_float32_matmul_precision()} precision"  # of plug-ins
    return {"date": date, **code(), "machine": machine(), "floats": floats, "threads": 1, "path": path, "data": data}
