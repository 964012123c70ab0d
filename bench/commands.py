"""A whole command: `actlab run` of two trials against the reference as published; wall-clock seconds from the shell,
start-up included."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from actlab import paths
from actlab.models import MODELS
from actlab.trainers import setup

TRIALS = {
    "activation": ["gelu"],
    "trials": 2,
    "seed": 42,
    "dataset": "shakespeare",
    "scale": "lite",
    "batch_size": 32,
    "noise_floor": False,
    "iterations": 200,
    "evaluate_every": 50,
    "learning_rate": 3e-4,
}


def seconds(command, **environment):
    """Of a command that must succeed."""
    since = time.perf_counter()
    subprocess.run(command, cwd=paths.ROOT, env={**os.environ, **environment}, check=True, capture_output=True)
    return time.perf_counter() - since


def ours(model, workers, dtype):
    """``actlab run`` with no cache and no record."""
    with tempfile.TemporaryDirectory() as folder:
        params = Path(folder, "timed.yaml")
        params.write_text(yaml.safe_dump({**TRIALS, "study": "timed", "model": model, "dtype": dtype}))
        command = [sys.executable, "-m", "actlab", "run", str(params), "--workers", str(workers)]
        return seconds(command, ACTLAB_RESULTS=folder, ACTLAB_CACHE=folder)


def published(model, threads):
    """The reference: one trial after the other, each on all cores, 50 batches of both splits an evaluation, then the
    pair."""
    words = ["-m", "bench.reference", model, str(TRIALS["iterations"]), str(TRIALS["evaluate_every"])]
    return seconds([sys.executable, *words], OMP_NUM_THREADS=str(threads))


def measure_all():
    """Model -> way -> seconds, a list of one; ours in bfloat16 too where this processor has its arithmetic."""
    cores, fast, load = os.cpu_count() or 1, setup.bfloat16_arithmetic(), os.getloadavg()[0]
    found = {}
    for model in MODELS:
        found[model] = {"reference": [published(model, cores)]}
        for dtype in ("float32", "bfloat16") if fast else ("float32",):
            found[model][dtype] = [ours(model, cores, dtype)]
    about = {name: TRIALS[name] for name in ("trials", "iterations", "evaluate_every")}
    return {**about, "cores": cores, "load_before": load, "bfloat16": fast, "models": found}
