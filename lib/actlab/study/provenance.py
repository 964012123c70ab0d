"""Where a result comes from: commit, code, versions, machine."""

import ast
import hashlib
import platform
import re
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from actlab import paths

TRIALS = ("trial", "characters", "twins", "tokens", "images")
CODE_OF_A_TRIAL = (
    *("activations.py", "models", "optimizers", "data", "trainers"),
    *(f"study/{name}.py" for name in TRIALS),
)
"""The part of the package that decides a trial's bits, from its specification to its weights: a cached trial of other
code is not used. A test runs a trial of each kind and names whatever else takes part."""

TRAINING = 2
"""Version of the bits that training makes: raised with ``tests/study/golden.yaml``, which a test trains again."""


class WithoutWords(ast.NodeTransformer):
    """Takes docstrings out of a syntax tree."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:  # as ast calls it
        """Leave out an expression that is a constant alone."""
        return None if isinstance(node.value, ast.Constant) else node


def code_sha256(*parts: str) -> str:
    """Return the hash of the named files and folders of the package: of their syntax trees without docstrings, comments
    and file names, statement by statement, so that words change no hash."""
    statements: list[str] = []
    for part in parts:
        place = paths.PACKAGE / part
        for file in place.rglob("*.py") if place.is_dir() else [place]:
            statements += map(ast.dump, WithoutWords().visit(ast.parse(file.read_bytes())).body)
    return hashlib.sha256("\n".join(sorted(statements)).encode()).hexdigest()


def cpu(field: str) -> str:
    """Read a field of Linux's description of the CPU, such as ``model name``; empty elsewhere."""
    info = Path("/proc/cpuinfo")
    line = re.search(rf"(?m)^{field}\s*:(.*)", info.read_text()) if info.exists() else None
    return line[1].strip() if line else ""


@cache
def machine() -> dict[str, object]:
    """Describe what a bit-for-bit comparison has to share: processor, GPU and versions. Generations of processors share
    a name."""
    capability = torch.backends.cpu.get_cpu_capability()
    if torch.cpu._is_amx_tile_supported():
        capability += " with AMX"
    return {
        "processor": cpu("model name") or platform.processor() or platform.machine(),
        "generation": f"{cpu('cpu family')}.{cpu('model')}",
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "capability": capability,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "system": platform.system(),
    }


@cache
def code() -> dict[str, object]:
    """Return the commit of actlab's own checkout, whether its files differed from it, and the hash of the code that
    trains. Read once, when a process starts to work."""
    changes = paths.git("status", "--porcelain", "--", "lib")
    return {
        "git_commit": (paths.git("rev-parse", "HEAD") or "").strip() or None,
        "git_dirty": None if changes is None else bool(changes),
        "trial_code_sha256": code_sha256(*CODE_OF_A_TRIAL),
        "training": TRAINING,
    }


def code_and_machine() -> dict[str, Any]:
    """Return what decides a trial's bits beside its specification and data: the code that trains it and the machine."""
    return {"trial_code_sha256": code()["trial_code_sha256"], "machine": machine()}


def of_record(data: dict[str, Any]) -> dict[str, Any]:
    """Return what a record says of its origin: now, this code and machine, its data."""
    date = datetime.now(UTC).isoformat(timespec="seconds")
    floats = f"{torch.get_default_dtype()}, products in {torch.get_float32_matmul_precision()} precision"  # of plug-ins
    return {"date": date, **code(), "machine": machine(), "floats": floats, "threads": 1, "data": data}
