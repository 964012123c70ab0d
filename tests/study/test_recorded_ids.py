"""Recorded ids stay: today's params files plan every arm that has a record in results/, under the same name and with
the same settings."""

import json

import pytest
from tiny import typed

from actlab import paths
from actlab.records import store
from actlab.study.after.load_model import load_model, trial_of
from actlab.study.params import read_params
from actlab.study.run import load, run

ROOT = paths.ROOT / "results"  # the committed records: a test's own folder of results is another one
WITHOUT_ARM = ("baseline", "performance", "reliability")
"""Kinds of records that no params file plans; a baseline is named after its text, the others after their date."""


@pytest.fixture(scope="module")
def records():
    """File -> record, as JSON, of every committed one."""
    files = [path for path in sorted(ROOT.glob("*/*.json")) if "-quick" not in path.parent.name]
    return {path: json.loads(path.read_text(encoding="utf-8")) for path in files}


def planned(records):
    """(study, id) -> the arm, of every study in params/ that has records (the arms of some depend on them: tuned
    rates)."""
    recorded = {}
    for path, record in records.items():
        recorded.setdefault(path.parent.name, set()).add(record.get("model_name", ""))
    studies = [read_params(path) for path in sorted((paths.ROOT / "params").glob("*.yaml")) if path.stem in recorded]
    begun = [
        params.replace(model=tuple(m for m in params.model if m in recorded[params.study]))
        if params.study == "answer"  # a model is planned once its rates are tuned
        else params
        for params in studies
    ]
    return {(arm.study, arm.id): arm for params in begun for arm in load(params)}


def test_every_recorded_arm_is_planned(records, committed):
    """A change of an arm's settings or of their hash would orphan results: lists every record that no params file plans
    any more, or whose trials are not read back as planned."""
    arms = planned(records)
    recorded = {
        path: (record["study"], record["arm"]) for path, record in records.items() if record["kind"] not in WITHOUT_ARM
    }
    assert len(recorded) >= 305
    assert [str(path.relative_to(ROOT)) for path, key in recorded.items() if key not in arms] == []
    changed = [
        path.stem
        for path, key in recorded.items()
        if store.canonical(dict(arms[key].config)) != store.canonical(records[path]["config"])
    ]
    assert changed == []
    trials = [
        (path, trial["label"], planned)
        for path, key in recorded.items()
        for trial, planned in zip(records[path]["trials"], arms[key].trials, strict=True)
    ]
    assert len(trials) >= 869
    assert [path.stem for path, label, planned in trials if trial_of(records[path], label).trial != planned] == []


@pytest.mark.slow
def test_what_is_recorded_loads_without_data(committed, data_folder, capsys):
    """Nothing is trained and nothing is asked for: `run` of every params file whose arms are all recorded, and a
    recorded network that writes, with its vocabulary."""
    whole = [
        study
        for path in sorted((paths.ROOT / "params").glob("*.yaml"))
        if (paths.ROOT / "results" / path.stem).exists() and not load(study := read_params(path)).missing
    ]
    assert {"repro-lite", "mnist", "ablation-novels", "answer", "one-bit"} <= {study.study for study in whole}
    for study in whole:
        assert run(study).missing == []
    assert typed("sample", "repro-lite/charlm-gelu", "--length", 5, "--prompt", "To ") == 0
    assert len(capsys.readouterr().out) > len("seed 42:\nTo .....")
    model = load_model("repro-lite/charlm-gelu")
    given = model.vocabulary.encode("To be, ")
    assert model.vocabulary.decode(given) == "To be, "
    assert model(given[None]).shape == (1, 7, 65)
    assert not data_folder.exists()
