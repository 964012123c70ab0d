"""A user's own tuning: found beside the file that names it, in the project or by its records alone; its report."""

import grids
import pandas as pd
import pytest
import tiny
import yaml

from actlab.errors import BadInput, UnknownName
from actlab.records import store
from actlab.records.rates import Choice, choices
from actlab.study.characters.study import CharacterStudy
from actlab.study.params import read_params
from actlab.study.run import run
from actlab.study.tokens import TokenStudy

pytestmark = pytest.mark.usefixtures("toy", "no_own_parts")
MINE = "import actlab, torch\nactlab.register_activation('mine', torch.nn.Softplus)\n"
GRID = {"rates": [0.001, 0.004], "seeds": [900, 901], "least": 0.0005, "most": 0.008}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Of a user's files, somewhere else than the current one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "elsewhere").mkdir()
    return tmp_path / "elsewhere"


def written(folder, name, **more):
    """A params file of a small study of an own activation."""
    settings = tiny.STUDY | {"study": name, "plugins": ["mine.py"], "activation": ["mine"], "model": "charlm"}
    (folder / f"{name}.yaml").write_text(yaml.safe_dump(settings | more))
    return folder / f"{name}.yaml"


def rate_of(file, *sets):
    (arm,) = {arm.trials[0].learning_rate for arm in read_params(file, sets=sets).arms()}
    return arm


def test_the_tuned_rate_of_an_own_activation(folder, capsys):
    """Tuned, reported and taken; before that the message says what to run."""
    tuning = written(folder, "mine-tuning", tuning=GRID)
    main = written(folder, "main", rates={"study": "mine-tuning"})
    with pytest.raises(UnknownName, match=r"unknown study 'mine-tuning' in rates \(known once it has records\)"):
        read_params(main).arms()
    run(read_params(tuning))
    (choice,) = choices("mine-tuning")
    assert choice.rate in GRID["rates"] + [0.0005, 0.002, 0.008]
    assert rate_of(main) == choice.rate
    assert tiny.typed("report", "mine-tuning", "--no-plots") == 0
    chosen = pd.read_csv(folder.parent / "out" / "mine-tuning" / "rates.csv")
    assert chosen[["model", "activation", "learning_rate"]].to_numpy().tolist() == [["charlm", "mine", choice.rate]]
    assert f"{choice.loss:.4g}" in capsys.readouterr().out
    tried = pd.read_csv(folder.parent / "out" / "mine-tuning" / "trials.csv")
    assert tried.set_index(["learning_rate", "seed"])["val_loss"].to_dict() == choice.losses


def test_every_setting_takes_the_rate_that_was_chosen_for_it(monkeypatch):
    """Two lengths of training in one study, tuned apart."""
    tuned, cell = [], {"model": "charlm", "activation": "relu"}
    for iterations, rate in ((4, 0.1), (8, 0.2)):
        record = grids.record()
        record["config"]["recipe"]["iterations"] = iterations
        tuned.append(Choice(cell, record, "learning_rate", {}, rate, 2.0))
    monkeypatch.setattr("actlab.study.study.choices", lambda study: tuned)
    study = CharacterStudy.parse(tiny.STUDY | cell | {"iterations": [8, 4], "rates": {"study": "made-up"}})
    rates = {(arm.trials[0].iterations, arm.trials[0].learning_rate) for arm in study.arms()}
    assert rates == {(4, 0.1), (8, 0.2)}


def test_a_tuning_without_a_file_is_known_by_its_records(folder):
    """``--set study=NAME`` leaves no file of that name: the rule stands in the records. ``rates.study=`` names it."""
    other, main = written(folder, "other", tuning=GRID), written(folder, "main")
    run(read_params(other, sets=["study=mine-tuning"]))
    record = next(each for each in store.load_study("mine-tuning") if each["kind"] == "trials")
    assert record["provenance"]["tuning"] == GRID | {"keep": 2, "factor": 2.0}
    assert rate_of(main, "rates.study=mine-tuning") == choices("mine-tuning")[0].rate
    with pytest.raises(BadInput, match="has chosen no learning rate for charlm relu: run it"):
        rate_of(main, "rates.study=mine-tuning", "activation=relu")


def test_rates_of_other_settings_are_told_before_training(folder, caplog):
    """In one line, by their names; the same settings and a recorded study say nothing."""
    run(read_params(written(folder, "mine-tuning", tuning=GRID)))
    main = written(folder, "main", rates={"study": "mine-tuning"})
    run(read_params(main))
    assert caplog.messages == []
    other = written(folder, "other", rates={"study": "mine-tuning"}, optimizer="sgd", iterations=6, batch_size=3)
    run(read_params(other))
    (message,) = caplog.messages
    assert message.endswith("may not suit: it tuned with other values of optimizer, iterations, batch_size")
    run(read_params(other))
    assert len(caplog.messages) == 1


def test_factors_of_own_tokens(folder, cats):
    """The same for the ablation: by its records, too."""
    settings = tiny.ABLATION | {"optimizer": "adamw", "symmetry": "bQ", "activation": "gelu"}
    grid = GRID | {"rates": [1.0, 2.0], "seeds": [900], "least": 0.9, "most": 2.1}
    run(TokenStudy.parse(settings | {"study": "my-factors", "tuning": grid}))
    (choice,) = choices("my-factors")
    assert (choice.field, choice.rate) == ("rate_factor", choice.rate)
    (arm,) = TokenStudy.parse(settings | {"study": "tuned", "rates": {"study": "my-factors"}}).arms()
    assert arm.trials[0].rate_factor == choice.rate
