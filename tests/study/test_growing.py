"""A study that grows: done trials keep their bits, readers take the larger record, and trials that come out differently
are refused."""

from __future__ import annotations

import shutil

import pytest

import actlab
from actlab import paths
from actlab.errors import RecordError
from actlab.records import store
from actlab.study import run, status, trial_ablation
from actlab.study.ablation import AblationParams
from actlab.study.finish import bits_of
from actlab.study.mnist import MnistParams
from actlab.study.params import Params, StudyParams

pytestmark = pytest.mark.usefixtures("toy")
TINY = {
    "model": "nanotransformer",
    "activations": "relu",
    "iterations": 4,
    "evaluate_every": 2,
    "batch_size": 2,
    "prediction_windows": 8,
}
STUDIES: tuple[StudyParams, ...] = (
    Params.parse({"study": "grown", "trials": 2, "noise_floor": False, **TINY}),
    MnistParams.parse(
        {
            "study": "grown-mnist",
            "arms": ["relu"],
            "hidden": [2],
            "learning_rates": [0.01],
            "batch_sizes": [64],
            "trials": 2,
        }
    ),
    AblationParams.parse(
        {
            "study": "grown-ablation",
            "optimizers": ["sgdm"],
            "symmetry": ["symmetric"],
            "activations": ["gelu"],
            "trials": 2,
        }
        | {"iterations": 1, "batch_size": 2, "vocab_size": 257, "validation_windows": 2}
    ),
)


def grown(params: StudyParams, trials: int) -> store.Record:
    return run.run(params.replace(trials=trials)).records[0]


def afresh(params: StudyParams, large: store.Record) -> store.Record:
    """The larger record once more, with the cache gone."""
    shutil.rmtree(paths.cache())
    trial_ablation._text_shards.cache_clear()
    store.path_of(params.study, large["arm"]).unlink()
    return grown(params, 3)


@pytest.mark.parametrize("params", STUDIES, ids=lambda params: params.study)
def test_done_trials_keep_their_bits_in_every_kind_of_study(params: StudyParams) -> None:
    """From two trials to three, with the cache and without it: the first two are what they were, and only the larger
    record is read."""
    small, large = grown(params, 2), grown(params, 3)
    for again in (large, afresh(params, large)):
        assert [bits_of(t) for t in again["trials"][:2]] == [bits_of(t) for t in small["trials"]], params.study
    trials, pairs = actlab.load(params.study)
    assert trials["seed"].tolist() == [42, 43, 44], params.study
    assert len(pairs) in (0, 3)
    assert len(list((paths.results() / params.study).glob("*-*.json"))) >= 2  # the smaller record is kept as it was


def test_trials_that_come_out_differently_are_refused() -> None:
    """Other bits than recorded (another machine, say): the first such trial ends the run, and the message says the ways
    out."""
    for params in STUDIES[:2]:
        small = grown(params, 2)
        path = store.path_of(params.study, small["arm"])
        changed = {key: value for key, value in small.items() if key != "checksum"}
        changed["trials"][0] |= (
            {"weights_sha256": "0" * 64} if "weights_sha256" in changed["trials"][0] else {"val_loss": 1.0}
        )
        path.unlink()
        store.save(path, changed)
        with pytest.raises(RecordError, match=r"trial 42 comes out differently .* --set study=NAME"):
            grown(params, 3)
        assert store.load_study(params.study)[-1]["arm"] == small["arm"] or params.study == "grown"


def test_status_counts_what_is_done_and_what_is_left() -> None:
    """Recorded, ended, missing; the time that is left follows from the seconds of recorded trials; nothing is
    trained."""
    for params in STUDIES:
        before = status.of(params)
        assert (before["missing"].tolist(), before["recorded"].tolist()) == ([2], [0]), params.study
        assert before["seconds"].isna().all() or params.study != "grown"  # nothing is recorded yet
        small = grown(params, 2)
        found = status.of(params.replace(trials=4))
        assert found[["trials", "recorded", "ended", "running", "missing"]].to_numpy().tolist() == [[4, 0, 2, 0, 2]], (
            params.study
        )
        spent = [
            t["seconds"] if isinstance(t["seconds"], float) else sum(t["seconds"].values()) for t in small["trials"]
        ]
        assert found["seconds"].tolist() == pytest.approx([sum(spent)]), params.study
        assert "2 missing; about" in status.in_words(found, 1)
        assert status.of(params)["recorded"].tolist() == [2]
