"""It changes when records arrive: made records of the studies that the open rows wait for, in a folder of results of
their own, change the verdict of every row that the study's params file names."""

import copy
import shutil

import pytest

from actlab import paths
from actlab.records import store
from actlab.records.defects import BOTH, IGNORED, LAST, UNPAIRED
from actlab_audit import ledger

SIX = ("charlm", "minigpt", "nanotransformer", "convlm", "hybridlm", "tinylstm")
FIVE = ("relu", "gelu", "swish", "smelu_1", "swiglu")
OTHERS = {"R47", "T33", "T43"}
"""Open rows that wait for more trials of an arm, or for more architectures: no study of the batch is theirs."""


def saved(record, study):
    """A record under its own name in a study."""
    factors = ("optimizer", "symmetry", "activation") if "optimizer" in record else ("model_name", "activation")
    name = "-".join(record[factor] for factor in factors)
    arm = f"{name}-{store.digest(record['config'])[:10]}"
    store.save(store.path_of(study, arm), record | {"study": study, "arm": arm})


def arms(study, models, activations, like="repro-lite", steps=500, protocol=(), trials=3, shift=0.0, **config):
    """Arms of a study, made from the recorded ones of ReLU: as many steps, and where ``protocol`` has a defect of
    reading a published one beside the own; accuracies are ``shift`` points lower."""
    recorded = {
        r["model_name"]: r for r in store.load_study(like) if r["kind"] == "trials" and r["activation"] == "relu"
    }
    for model in models:
        for place, activation in enumerate(activations):
            record = copy.deepcopy(recorded[model]) | {"activation": activation}
            first = record["trials"][0]
            found = [copy.deepcopy(first) | {"label": str(42 + i), "seed": 42 + i} for i in range(trials)]
            for i, trial in enumerate(found):
                own = record["trials"][i % len(record["trials"])]["final"]
                trial["final"] = own | {"iteration": steps, "val_accuracy": own["val_accuracy"] - shift}
            labels = [trial["label"] for trial in found]
            pair = record["reproducibility_metrics"][0]
            apart = 0.1 + 0.05 * SIX.index(model) + 0.01 * place + 0.1 * (steps == 5000)
            two = [(a, b) for i, a in enumerate(labels) for b in labels[i + 1 :]]
            pairs = [pair | {"between": [a, b], "total_variation": apart + 0.001 * k} for k, (a, b) in enumerate(two)]
            record["config"] |= {"activation": activation, "protocol": [*protocol], "trials": labels, **config}
            record["config"]["recipe"] |= {"iterations": steps}
            record |= {"trials": found, "reproducibility_metrics": pairs, "trajectory": []}
            if UNPAIRED in protocol:
                coded = {"coded_pd": 0.3 + 0.07 * place, "relative_pd": 0.5, "churn": 0.5}
                accuracies = [{"label": label, "val_accuracy": 20.0 + i + place} for i, label in enumerate(labels)]
                record["as_published"] = {
                    "pairs": [coded | {"between": [a, b]} for a, b in two],
                    "itself": [coded | {"between": [label, label]} for label in labels],
                    "trials": accuracies,
                }
            saved(record, study)


def ablation_of_published_size():
    """Its sixteen arms, with three seeds."""
    for record in store.load_study("ablation-novels"):
        if record["kind"] == "ablation":
            made = copy.deepcopy(record)
            made["config"] |= {"scale": "124m", "batch_size": 8}
            made["config"]["recipe"] |= {"iterations": 122_071, "batch_size": 8}
            made["config"]["model_size"] |= {"block_size": 512}
            for trial in made["trials"]:
                trial["final"] |= {"val_loss": trial["final"]["val_loss"] - (record["activation"] == "gelu") * 0.01}
                if (record["activation"], record["symmetry"]) == ("gelu", "bQbV"):
                    trial["final"]["val_loss"] += 1
            saved(made, "ablation-124m")


READ = (UNPAIRED, LAST)
FIVE_OF_CHARLM = ["relu", "gelu", "swish", "smelu_05", "smelu_1"]


def batch():
    """The studies that the open rows wait for, each as its params file plans it, but with made numbers."""
    arms("autopsy-charlm", ["charlm"], FIVE, protocol=READ)
    for model in SIX:
        own = [IGNORED] * (model != "charlm") + [BOTH] * (model == "convlm")
        trials = 10 if model in ("hybridlm", "tinylstm") else 3
        arms("autopsy-partial", [model], ["relu"], "repro-partial", protocol=[*own, *READ], trials=trials)
    arms("autopsy-pairing", ["charlm"], FIVE_OF_CHARLM[1:], "repro-partial", protocol=READ)
    arms("autopsy-short", ["charlm"], FIVE_OF_CHARLM, steps=200, protocol=READ)
    arms("autopsy-smelu", SIX[1:], ["smelu_1"], protocol=[IGNORED], shift=0.42)
    arms("autopsy-split", ["charlm"], ["swiglu"], protocol=READ)
    arms("repro-full", SIX, FIVE, "repro-partial", steps=5000, scale="full")
    ablation_of_published_size()


@pytest.mark.slow
def test_a_verdict_changes_when_its_records_arrive(tmp_path, monkeypatch):
    """Every row that says what would decide it is another thing with it: no rule reads past its records."""
    for folder in (paths.ROOT / "results").iterdir():
        if folder.name.startswith(("repro-", "autopsy", "mnist", "ablation-novels")):
            shutil.copytree(folder, tmp_path / folder.name, ignore=shutil.ignore_patterns("replays", "texts"))
    monkeypatch.setenv("ACTLAB_RESULTS", str(tmp_path))
    before = ledger.judge()
    batch()
    after = ledger.judge()
    waiting = before.index[before["lacks"] != ""].difference(OTHERS)
    same = [id for id in waiting if before.loc[id, "verdict"] == after.loc[id, "verdict"]]
    assert len(waiting) > 50
    assert not same, after.loc[same, ["verdict", "ours"]].to_dict("index")
    assert (after.loc[before["verdict"] != "not run", "verdict"] != "not run").all(), "what was judged stays judged"
