"""The one path of a trial of any kind: cache, lock, checkpoint, training. What a trial leaves lies in one file, known
by the trial's settings, its data, the hash of the code that trains and the machine; its snapshots lie beside it."""

import ast
import hashlib
import platform
import re
import traceback
from functools import cache
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np
import torch
from filelock import FileLock
from torch import Tensor

from actlab import paths
from actlab.data.text import short_name
from actlab.errors import ActlabError
from actlab.records import store
from actlab.study.trial import Outcome, Report, Results, Task, Trial
from actlab.trainers import checkpoint, setup
from actlab.trainers.determinism import seed_globals
from actlab.trainers.seeds import derive

CODE_OF_A_TRIAL = (
    *("activations.py", "models", "optimizers", "data", "trainers", "study/trial.py", "study/tokens.py"),
    *("study/images.py", "study/characters/trial.py", "study/characters/twins.py"),
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


ONE_TRIAL = RLock()
"""A process trains one trial at a time: its threads share the number of threads and the global random streams."""


def place_of(trial: Trial) -> Path:
    """Return the file in which a trial ends. A user's own text is known by its content, whatever its file is called."""
    settings = trial.model_dump()
    settings["dataset"] = "" if "dataset" in dict(trial.parts) else short_name(settings["dataset"])
    identity = settings | {"kind": trial.kind, "data": trial.content, **code_and_machine()}
    return paths.cache() / "trials" / f"{trial.name}-{store.digest(identity)[:16]}.safetensors"


def snapshot_of(place: Path, iteration: int) -> Path:
    """Return where a trial's state at a step lies, beside its end."""
    return place.with_suffix(f".{iteration}.safetensors")


def tensors_of(trial: Trial, iteration: int | None = None) -> dict[str, Tensor]:
    """Read the weights of a finished trial, at its end or at a snapshot."""
    place = place_of(trial)
    if iteration is not None:
        place = snapshot_of(place, iteration)
    return checkpoint.read_tensors(place)[0]


def cached(task: Task) -> list[Results] | None:
    """Read the results of a task's trials, if all of them have ended here, with every snapshot that is asked for."""
    trials = []
    for trial in task.trials:
        if not (place := place_of(trial)).exists():
            return None
        results = checkpoint.read_tensors(place)[1]
        snapshots = [snapshot_of(place, iteration) for iteration in task.snapshots]
        if results["status"] != "diverged" and not all(map(Path.exists, snapshots)):
            return None
        trials.append(results)
    return trials


def run_task(task: Task, report: Report | None = None) -> list[Results]:
    """Train what is not in the cache; a started training goes on from its checkpoint. A failure is a status with its
    traceback, never raised.

    The process works on one thread: the bits of a result then depend on no core count.
    """
    place = place_of(task.first)
    place.parent.mkdir(parents=True, exist_ok=True)

    with ONE_TRIAL, FileLock(place.with_suffix(".lock")):
        if (results_in_cache := cached(task)) is not None:
            return results_in_cache
        outcomes = train_afresh(task, report, place)
        for trial, (results, tensors) in zip(task.trials, outcomes, strict=True):
            if results["status"] != "failed":
                checkpoint.write_tensors(place_of(trial), tensors, results)
                checkpoint_of(place).unlink(missing_ok=True)
        return [results for results, _ in outcomes]


def checkpoint_of(place: Path) -> Path:
    """Return where the checkpoint of a training lies that has begun."""
    return place.with_suffix(".checkpoint")


def train_afresh(task: Task, report: Report | None = None, place: Path | None = None) -> list[Outcome]:
    """Train a task without looking at the cache: an outcome a trial. ``place``: the file in which its first trial ends;
    checkpoint and snapshots go beside it, nothing is left where there is none."""
    first = task.first
    with ONE_TRIAL:
        setup.prepare()
        seed_globals(derive(first.seed_of("init"), "global"))
        try:
            return first.train(task, place, report)
        except ActlabError:
            raise
        except Exception as error:  # recorded, so that the other trials of a study go on
            words = f"{type(error).__name__}: {error}".partition("\n")[0]
            failure = {"status": "failed", "error": words, "traceback": traceback.format_exc()}
            return [({"label": trial.label, "seed": trial.seed, **failure}, {}) for trial in task.trials]
