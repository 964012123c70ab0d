"""Rules of image networks and of the ablation follow the records, and those of selection the published runs."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from tests.support.ablations import made_up, of_published_size, record, records
from tests.support.sweeps import LIFT, longer
from tests.support.sweeps import made_up as swept

from actlab_audit import ablation, ledger, mnist, numbers
from actlab_audit.evidence import NOTHING


def verdicts(reads, evidence, *ids):
    """Of these claims, or of all that are read so."""
    chosen = [claim for claim in ledger.claims() if claim.reads == reads and (not ids or claim.id in ids)]
    return {claim.id: ledger.finding(claim, evidence).verdict for claim in chosen}


def lifted(width, parameters=-1.0):
    """A sweep whose GeGLU is better than ReLU by so many points, at equal width and at equal parameters."""
    return swept(lift=LIFT | {"geglu_equal_width": width, "geglu_equal_parameters": parameters})


def shrinking():
    """ReLU leads at 2, 4 and 8 units and trails at 16, in the study's own arms."""
    sizes = {h: lifted(-3.0 if h < 16 else 1.0).trials for h in (2, 4, 8, 16)}
    trials = pd.concat([table[table["hidden"] == h] for h, table in sizes.items()])
    return mnist.Sweep(trials, trials)


def trained_on(more):
    """With records of more epochs."""
    return swept(longer=more)


LOWER = {name: lift - 5 for name, lift in LIFT.items()}
SMALLER = {"gelu": 0.3, "random_prelu": 0.1}


def published(*shift, **more):
    return ablation.read(of_published_size(*shift, **more))


def with_slopes():
    """Of which even GELU has one a feature."""
    return ablation.read(
        [r | {"n_parameters": r["n_parameters"] + 512 * (r["activation"] == "gelu")} for r in records()]
    )


def another_eta():
    eta = {"lr": 1.0, "eta": 10.0, "F0": 2.0, "weight_decay": 0.0}
    return ablation.read([record("ecd", "symmetric", "gelu", optimizer_settings=eta)])


WORLDS = {
    "mnist": {
        "better at equal width only": lambda: lifted(3.0),
        "better everywhere": lambda: lifted(3.0, 2.0),
        "better nowhere": lambda: lifted(-3.0),
        "better at large widths": shrinking,
        "more epochs": lambda: trained_on(longer(3) + longer(10)),
        "some arms of more epochs": lambda: trained_on(longer(3)[:-5]),
        "more epochs lower the accuracy": lambda: trained_on(longer(3, lift=LOWER)),
        "as published": swept,
        "other images": lambda: swept(dataset="digits"),
        "nothing": lambda: mnist.read([]),
    },
    "ablation": {
        "small": made_up,
        "nothing": lambda: ablation.read([]),
        "published losses": lambda: published(0.0),
        "losses 0.3 higher": lambda: published(0.3),
        "published losses of one seed": lambda: published(0.0, seeds=1),
        "published size": lambda: published(),
        "published size, a smaller effect under PReLU": lambda: published(gain=SMALLER),
        "small, a smaller effect under PReLU": lambda: made_up(gain=SMALLER),
        "small, one seed": lambda: made_up(seeds=1),
        "three arms": lambda: ablation.read(records(("ecd",))[:3]),
        "another eta": another_eta,
        "slopes under GELU": with_slopes,
    },
}
EXPECTED = yaml.safe_load(Path(__file__).with_name("made_up.yaml").read_text(encoding="utf-8"))
"""Small records settle settings and no loss; the published size and budget settle losses, effects and interaction."""


@pytest.mark.parametrize(("reads", "world"), [(reads, world) for reads in WORLDS for world in WORLDS[reads]])
def test_image_networks_and_ablation(reads, world):
    expected = {id: verdict for verdict, ids in EXPECTED[reads][world].items() for id in ids.split()}
    assert verdicts(reads, WORLDS[reads][world](), *expected) == expected


def test_an_artefact_of_selection_needs_the_best_checkpoint_to_say_otherwise(monkeypatch):
    """T08, T14, T39, T66, T74: if the lowest losses said the same, there would be no artefact."""
    found = verdicts("models", NOTHING, "T08", "T14", "T39", "T66", "T74")
    assert set(found.values()) == {"artefact"}
    trials = numbers.charlm_trials
    monkeypatch.setattr(numbers, "charlm_best", {a: float(np.mean(v)) for a, v in trials.items()})
    assert set(verdicts("models", NOTHING, "T08", "T14", "T74").values()) == {"replicated"}
