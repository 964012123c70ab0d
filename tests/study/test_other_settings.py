"""A study that is run again after an edit: a line before training says which settings differ from the recorded ones."""

from unittest.mock import Mock

import pytest
import tiny
import yaml

from actlab import paths
from actlab.study import other_settings
from actlab.study.character_study import CharacterStudy
from actlab.study.images import ImageStudy
from actlab.study.run import bring, load, run
from actlab.study.tokens import TokenStudy

pytestmark = pytest.mark.usefixtures("toy")
BASE = CharacterStudy.parse(tiny.STUDY | {"study": "mine", "activation": ["relu", "gelu"], "noise_floor": True})
GROWS = {
    "more seeds": {"trials": 3},
    "another activation": {"activation": ["relu", "gelu", "swish"]},
    "another one alone": {"activation": "swish"},
    "another model": {"model": ["charlm", "tinylstm"]},
    "another level": {"learning_rate": [0.001, 0.002]},
    "changed runs too": {"perturbations": ["order"]},
    "again": {},
    "a part": {"activation": "gelu"},
}
DIFFERS = {
    "learning_rate 0.001, now 0.002": {"learning_rate": 0.002},
    "iterations 4, now 6": {"iterations": 6},
    "seed 42, now 7": {"seed": 7},
    "iterations 4, now 6; learning_rate 0.001, now 0.002 | 0.004": {"iterations": 6, "learning_rate": [0.002, 0.004]},
}


def test_a_study_that_grows_says_nothing(caplog):
    run(BASE)
    for change in GROWS.values():
        run(BASE.replace(**change))
    assert caplog.messages == []


def test_a_tuning_that_tries_other_rates_says_nothing(caplog):
    """Its arms differ in nothing else."""
    grid = {"rates": [0.001, 0.004], "seeds": [900, 901], "least": 0.0005, "most": 0.008}
    one = BASE.replace(activation="relu", noise_floor=False, tuning=grid)
    run(one)
    run(one.replace(tuning=grid | {"rates": [0.003, 0.006]}))
    assert caplog.messages == []
    run(one.replace(iterations=6))
    assert "(iterations 4, now 6)" in caplog.text


@pytest.mark.parametrize("said", DIFFERS)
def test_what_differs_from_the_recorded_arms_is_said_once(said, caplog):
    """Before anything is trained, in a line of all arms; never again once both are recorded."""
    run(BASE)
    heard = []
    run(BASE.replace(**DIFFERS[said]), watch=lambda event: heard.append(len(caplog.messages)))
    assert heard[0] == len(caplog.messages) == 1
    assert f"mine has 2 arms of other settings ({said}), and tables will show old and new ones" in caplog.text
    assert "`actlab mv mine NAME`" in caplog.text
    run(BASE.replace(**DIFFERS[said]))
    assert len(caplog.messages) == 1


def test_other_kinds_and_a_dry_run_say_it(cats, caplog, tmp_path):
    """An image sweep, an ablation with other betas, and before anybody decides to train."""
    images, tokens = ImageStudy.parse(tiny.SWEEP), TokenStudy.parse(tiny.ABLATION)
    tokens = tokens.replace(optimizer="adamw", symmetry="symmetric", activation="gelu")
    for study in (images, tokens):
        run(study)
    run(images.replace(hidden=[4]))
    run(tokens.replace(rate_factor=[1.0, 2.0]))
    assert caplog.messages == []
    run(images.replace(epochs=2))
    run(tokens.replace(betas=[0.8, 0.9]))
    told = ["(epochs 1, now 2)", "(betas usual, now 0.8 + 0.9)"]
    assert all(line in said for line, said in zip(told, caplog.messages, strict=True))
    run(BASE)
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(BASE.model_dump(mode="json", exclude={"plan", "tuning", "rates"})))
    assert tiny.typed("status", file, "--max-iters", 6) == 0
    assert "iterations 4, now 6" in caplog.messages[-1]
    assert len(load(BASE).present) == 4


def test_nothing_joins_what_actlab_has_recorded(caplog, monkeypatch, tmp_path):
    """A project that has no record of a study reads actlab's; its own arms would stand alone."""
    run(BASE)
    shipped = paths.results()
    monkeypatch.setattr(paths, "recorded", lambda: shipped)
    monkeypatch.setattr(paths, "results", lambda: tmp_path / "own")
    other = BASE.replace(iterations=6)
    other_settings.warn(other.study, other.arms())
    assert (len(load(BASE).present), caplog.messages) == (4, [])


def test_a_dry_run_plans_a_study_once(monkeypatch, tmp_path):
    """One that chooses learning rates reads all of its records for it."""
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(BASE.model_dump(mode="json", exclude={"plan", "tuning", "rates"})))
    planned = Mock(wraps=CharacterStudy.arms)
    monkeypatch.setattr(CharacterStudy, "arms", lambda study: planned(study))
    assert tiny.typed("status", file) == 0
    assert planned.call_count == 1


def test_in_a_notebook_it_is_no_warning(caplog, capsys):
    """Which would end a book that is built again after an edit."""
    run(BASE)
    assert len(bring(BASE.replace(iterations=6), train_missing=True, workers=1)) == 4
    said, warned = capsys.readouterr()
    assert "mine has 2 arms of other settings (iterations 4, now 6)" in said
    assert (warned, caplog.messages) == ("", [])
