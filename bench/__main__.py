"""`python -m bench [MODEL ...]`: seconds of whole commands, the reference as published beside ours in float32 and
bfloat16, in turns; prints a table and writes a record below results/performance. 20 minutes on an idle machine."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
import yaml
from bench import timing
from bench.records import save

from actlab import paths
from actlab.models import MODELS

ROUNDS = 3
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
    """Wall-clock seconds of a command that must succeed, its start included."""
    since = time.perf_counter()
    subprocess.run(command, cwd=paths.ROOT, env={**os.environ, **environment}, check=True, capture_output=True)
    return time.perf_counter() - since


def ours(model, workers, dtype, trials=TRIALS):
    """Seconds of ``actlab run`` with no cache and no record."""
    with tempfile.TemporaryDirectory() as folder:
        params = Path(folder, "timed.yaml")
        params.write_text(yaml.safe_dump({**trials, "study": "timed", "model": model, "dtype": dtype}))
        command = [sys.executable, "-m", "actlab", "run", str(params), "--workers", str(workers)]
        return seconds(command, ACTLAB_RESULTS=folder, ACTLAB_CACHE=folder)


def reference(model, threads, trials=TRIALS):
    """Seconds of the reference: one trial after the other, each on all cores, then the pair."""
    words = [model, str(trials["iterations"]), str(trials["evaluate_every"])]
    return seconds([sys.executable, "-m", "bench.reference", *words], OMP_NUM_THREADS=str(threads))


def measure(models, rounds=ROUNDS, trials=TRIALS):
    """Model -> way -> seconds, one a round; the ways take turns, for the reference varies by 15% between days."""
    cores = os.cpu_count() or 1
    ways = {"reference": lambda model: reference(model, cores, trials)}
    for dtype in ("float32", "bfloat16") if timing.bfloat16_arithmetic() else ("float32",):
        ways[dtype] = lambda model, dtype=dtype: ours(model, cores, dtype, trials)
    found = {model: {way: [] for way in ways} for model in models}
    for model in models:
        for _ in range(rounds):
            for way, run in ways.items():
                found[model][way].append(run(model))
    return found


def table(found):
    """A row a model: median seconds of each way, and the median of the rounds' ratios."""
    rows = {}
    for model, ways in found.items():
        times = pd.DataFrame(ways)
        ratios = times[["reference"]].to_numpy() / times.drop(columns="reference")
        rows[model] = pd.concat([times.median().round(1), ratios.median().round(2).add_prefix("reference / ")])
    return pd.DataFrame(rows).T


def main(models):
    """Measure, print and record."""
    if unknown := {*models} - {*MODELS}:
        sys.exit(f"{', '.join(sorted(unknown))}: expected some of {', '.join(MODELS)}")
    load = os.getloadavg()[0]
    print(f"load of the machine: {load:.1f} (timings are worth something below 0.3)")
    found = measure(models or [*MODELS])
    about = {name: TRIALS[name] for name in ("trials", "iterations", "evaluate_every")}
    about |= {"cores": os.cpu_count(), "load_before": load, "bfloat16": timing.bfloat16_arithmetic()}
    record = save("performance", "commands", name="commands", measured={**about, "models": found})
    print(table(found).to_string(), record["provenance"]["machine"]["processor"], sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
