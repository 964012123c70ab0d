"""`python -m bench.load [RECORDS ...]`: seconds of `status` and `report`, and bytes of the explorer, on a study
of so many records; nothing is recorded."""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from actlab.explorer import catalogue as explore
from actlab.explorer.widget import Explorer
from actlab.records import store
from actlab.study.kinds.images import MnistParams, Sweep

CELLS = 3 * 4 * 4 * 2
"""Records of one number of epochs: networks, widths, learning rates, batch sizes."""


NUMBERS = [f"{part}_{what}" for part in ("val", "test") for what in ("loss", "accuracy", "largest_class_share")]


def trial(seed):
    """As many numbers as a real one has."""
    about = {"label": str(seed), "seed": seed, "status": "done", "collapsed": False, "train_loss": random.random()}
    return about | {name: random.random() for name in NUMBERS} | {"seconds": random.random()}


def write(folder, size):
    """A complete sweep of ``size`` records below a folder, and its params file."""
    values = {"study": "load", "epochs": list(range(1, size // CELLS + 1))}
    for arm in Sweep().plan(MnistParams.parse(values)):
        own = {name: getattr(arm, name) for name in ("study", "network", "activation")}
        record = own | {"kind": "mnist", "arm": arm.id, "config": arm.config, "model_name": "ffn", "n_parameters": 100}
        record |= {"trials": [trial(seed) for seed in arm.seeds]}
        record["provenance"] = {"date": "2026-11-21T08:00:00+00:00", "data": {}}
        store.save(store.path_of("load", arm.id), record)
    file = Path(folder, "load.yaml")
    file.write_text(yaml.safe_dump({"kind": "mnist", **values}))
    return file


def seconds(*words, folder):
    """Of a command that must succeed, from the shell."""
    since = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "actlab", *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return time.perf_counter() - since


def measure(size):
    """What is to be said of a study of that size."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ACTLAB_RESULTS"] = os.environ["ACTLAB_CACHE"] = folder
        file = write(folder, size)
        page = len(Explorer(catalogue=explore.studies(["load"])).to_html())
        status = min(seconds("status", str(file), folder=folder) for _ in range(3))
        report = seconds("report", "load", "--no-plots", folder=folder)
    return {"records": size, "status": round(status, 2), "report": round(report, 2), "page": page}


if __name__ == "__main__":
    for size in map(int, sys.argv[1:] or ("768", "1536", "3072")):
        print(json.dumps(measure(size)), flush=True)
