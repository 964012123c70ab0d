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
    """The record with a published reading: ``two`` between networks, ``one`` of a network with itself."""
    other = {"relative_pd": 0.9, "churn": 0.5}
    pairs = [pair | other | {"coded_pd": two} for pair in made["reproducibility_metrics"]]
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


def pairs_of(seed, nudge):
    """A seed's trial and itself: the repeat is exact, the nudge moves every metric by ``nudge``."""
    moved = {"repeat": 0.0, "nudge": nudge}
    return [{"between": [seed, f"{seed}-{way}"], **dict.fromkeys(PAIR_METRICS, by)} for way, by in moved.items()]


def floor(nudge=1e-6):
    """A noise-floor record."""
    made = record(kind="floor") | {"kind": "floor", "reproducibility_metrics": pairs_of("42", nudge)}
    made["config"]["trials"] = ["42", "42-repeat", "42-nudge"]
    for trial, label in zip(made["trials"], made["config"]["trials"], strict=True):
        trial |= {"label": label, "seed": 42, "variant": label[3:]}
    return made


def noisy():
    """gelu is 0.5 worse than relu in every trial, swish more or less."""
    losses = {"gelu": (2.5, 2.6, 2.7), "swish": (2.0, 2.3, 2.1)}
    return [record(), *(record(activation=name, losses=values) for name, values in losses.items())]


def rising():
    """relu, gelu and swish, each with more PD than the one before; five trials of one loss."""
    pds = {"relu": 0.1, "gelu": 0.3, "swish": 0.5}
    return [record(activation=name, pd=pd, losses=(2.0,) * 5) for name, pd in pds.items()]


def baseline():
    """Character tables at 3.3 and 2.05 nats."""
    return template("baseline")


def grid():
    """Two models x three activations, one arm missing, one trial diverged, floors for one arm."""
    noise = np.random.default_rng(0).normal(0, 0.01, (2, 3, 4))
    cells = [
        (m, a) for m in ("charlm", "tinylstm") for a in ("relu", "gelu", "swiglu") if (m, a) != ("tinylstm", "swiglu")
    ]
    records = [
        record(m, a, tuple(2.0 + i * 0.1 + noise[i % 2, i % 3]), 0.1 + 0.02 * i, {3: "diverged"} if i == 4 else None)
        for i, (m, a) in enumerate(cells)
    ]
    return [*records, floor(), baseline()]
