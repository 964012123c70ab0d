"""Rules of image networks and of the ablation follow the records, and those of selection the published runs."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from tests.support.ablations import of_published_size, record, records
from tests.support.sweeps import LIFT, longer
from tests.support.sweeps import records as swept

from actlab_audit import ablation, ledger, mnist, numbers
from actlab_audit.evidence import NOTHING


def verdicts(evidence, *ids):
    """Of these claims."""
    return {claim.id: ledger.finding(claim, evidence).verdict for claim in ledger.claims().loc[[*ids]].itertuples()}


def lifted(width, parameters=-1.0):
    """A sweep whose GeGLU is better than ReLU by so many points, at equal width and at equal parameters."""
    return swept(lift=LIFT | {"geglu_equal_width": width, "geglu_equal_parameters": parameters})


def shrinking():
    """ReLU leads at 2, 4 and 8 units and trails at 16, in the study's own arms."""
    return [
        r for small in (True, False) for r in lifted(-3.0 if small else 1.0) if (r["config"]["hidden"] < 16) == small
    ]


LOWER = {name: lift - 5 for name, lift in LIFT.items()}
SMALLER = {"gelu": 0.3, "random_prelu": 0.1}


def with_slopes():
    """Of which even GELU has one a feature."""
    return [r | {"n_parameters": r["n_parameters"] + 512 * (r["activation"] == "gelu")} for r in records()]


ETA = {"lr": 1.0, "eta": 10.0, "F0": 2.0, "weight_decay": 0.0}
WORLDS = {
    "mnist": {
        "better at equal width only": {"mnist": lifted(3.0)},
        "better everywhere": {"mnist": lifted(3.0, 2.0)},
        "better nowhere": {"mnist": lifted(-3.0)},
        "better at large widths": {"mnist": shrinking()},
        "more epochs": {"mnist": swept(), "mnist_epochs": longer(3) + longer(10)},
        "more epochs lower the accuracy": {"mnist": swept(), "mnist_epochs": longer(3, lift=LOWER)},
        "as published": {"mnist": swept()},
        "other images": {"mnist": swept(dataset="digits")},
        "nothing": {},
    },
    "ablation": {
        "small": records(),
        "nothing": [],
        "published losses": of_published_size(0.0),
        "losses 0.3 higher": of_published_size(0.3),
        "published losses of one seed": of_published_size(0.0, seeds=1),
        "published size": of_published_size(),
        "published size, a smaller effect under PReLU": of_published_size(gain=SMALLER),
        "three arms": records(("ecd",))[:3],
        "another eta": [record("ecd", "symmetric", "gelu", optimizer_settings=ETA)],
        "slopes under GELU": with_slopes(),
    },
}
EXPECTED = yaml.safe_load(Path(__file__).with_name("made_up.yaml").read_text(encoding="utf-8"))
"""Small records settle settings and no loss; the published size and budget settle losses, effects and interaction."""


@pytest.mark.parametrize(("reads", "world"), [(reads, world) for reads in WORLDS for world in WORLDS[reads]])
def test_image_networks_and_ablation(saved, reads, world):
    made = WORLDS[reads][world]
    saved(**(made if reads == "mnist" else {"made_up": made}))
    evidence = mnist.read() if reads == "mnist" else ablation.read("made-up")
    expected = {id: verdict for verdict, ids in EXPECTED[reads][world].items() for id in ids.split()}
    assert verdicts(evidence, *expected) == expected


def test_an_artefact_of_selection_needs_the_best_checkpoint_to_say_otherwise(monkeypatch):
    """T08, T14: if the lowest losses said the same, there would be no artefact; T28b, T39, T54: nor if the runs of one
    kind did."""
    found = verdicts(NOTHING, "T08", "T14", "T28b", "T39", "T54")
    assert set(found.values()) == {"artefact"}
    trials = numbers.charlm_trials
    monkeypatch.setattr(numbers, "charlm_best", {a: float(np.mean(v)) for a, v in trials.items()})
    monkeypatch.setattr(numbers, "charlm_like_for_like_accuracy", numbers.charlm_partial_accuracy)
    assert set(verdicts(NOTHING, "T08", "T14", "T54").values()) == {"replicated"}
