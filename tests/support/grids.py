"""Records of a made-up grid, for tests of what reads records. Not a test."""

import copy
from itertools import combinations
from pathlib import Path

import numpy as np
import yaml

from actlab import paths
from actlab.records import store
from actlab.records.labels import PAIR_METRICS

TEMPLATES = yaml.safe_load(Path(__file__).with_name("records.yaml").read_text(encoding="utf-8"))


def template(kind):
    """What records of a kind have in common, to be added to."""
    return copy.deepcopy(TEMPLATES[kind])


def record(model="charlm", activation="relu", losses=(2.0, 2.1, 2.2), pd=0.1, status=None, first=42, **config):
    """A main record: seeds ``first``, ...; trial i has ``losses[i]``; pair (i, j) has PD ``pd`` + 0.01 (i + j), or
    where ``pd`` is a matrix its (i, j); ``config`` is added to its settings."""
    labels = [str(first + i) for i in range(len(losses))]
    apart = pd if isinstance(pd, np.ndarray) else pd + 0.01 * np.add.outer(range(len(losses)), range(len(losses)))
    ended = [(status or {}).get(i, "done") for i in range(len(losses))]
    trials = []
    for label, loss, word in zip(labels, losses, ended, strict=True):
        final = {"iteration": 10, "train_loss": loss, "val_loss": loss, "val_accuracy": 50 - loss}
        history = [final | {"iteration": step, "val_accuracy": 50.0} for step in (0, 5, 10)]
        best = final | {"iteration": 5, "val_loss": loss - 0.05}
        about = {"label": label, "seed": int(label), "status": word}
        trials.append(template("trial") | about | {"final": final, "best": best, "history": history})
    pairs = [
        {"between": [labels[i], labels[j]], **dict.fromkeys(PAIR_METRICS, float(apart[i, j]))}
        for i, j in combinations(range(len(losses)), 2)
        if ended[i] == ended[j] == "done"
    ]
    made = template("trials") | {"model_name": model, "activation": activation, "arm": f"{model}-{activation}"}
    made["config"] |= {"trials": labels, **config}
    return made | {"trials": trials, "reproducibility_metrics": pairs}


def read_as_published(made, two, one, trials=()):
    """The record with a published reading: ``two`` between networks, a little more in each further pair, ``one`` of a
    network with itself."""
    other = {"relative_pd": 0.9, "churn": 0.5}
    pairs = [pair | other | {"coded_pd": two + 0.001 * i} for i, pair in enumerate(made["reproducibility_metrics"])]
    itself = [other | {"between": [trial["label"]] * 2, "coded_pd": one} for trial in made["trials"]]
    return made | {"as_published": {"pairs": pairs, "itself": itself, "trials": [*trials]}}


def identified(record, study="made-up"):
    """The record as one of a study, an arm's with the name that its settings ask for."""
    ended = f"-{store.digest(record['config'])[:10]}" if "config" in record else ""
    return record | {"study": study} | ({"arm": f"{record['arm']}{ended}"} if ended else {})


def save(*records, study="made-up"):
    """Write them as the records of a study."""
    for one in records:
        saved(one, study)


def saved(record, study):
    """The file of a record of a study."""
    made = identified(record, study)
    return store.save(store.path_of(study, made.get("arm", made["kind"])), made)


def committed(study):
    """The records of a study that the repository holds."""
    return [store.load(path) for path in sorted((paths.ROOT / "results" / study).glob("*.json"))]


def floor(nudge=1e-6):
    """A noise-floor record: the repeat is exact, the nudge moves every metric by ``nudge``."""
    labels = ["42", "42-repeat", "42-nudge"]
    moved = zip(labels[1:], (0.0, nudge), strict=True)
    pairs = [{"between": ["42", label], **dict.fromkeys(PAIR_METRICS, by)} for label, by in moved]
    made = record(kind="floor") | {"kind": "floor", "reproducibility_metrics": pairs}
    made["config"]["trials"] = labels
    for trial, label in zip(made["trials"], labels, strict=True):
        trial |= {"label": label, "seed": 42, "variant": label[3:]}
    return made


def baseline():
    """Character tables at 3.3 and 2.05 nats."""
    return template("baseline")
