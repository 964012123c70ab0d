"""The rule by which a recorded study has chosen its rates, where its records do not tell it."""

import grids
import pytest

from actlab import paths
from actlab.errors import ActlabError
from actlab.records import store
from actlab.records.rates import choices, rule_of
from actlab.statistics.tuning import Rule


@pytest.fixture
def params(tmp_path, monkeypatch):
    """The params file of a study that has one record."""
    monkeypatch.setattr(paths, "params_file", lambda study: tmp_path / f"{study}.yaml")
    grids.save(grids.record())
    return tmp_path / "made-up.yaml"


def test_the_params_file_tells_it(params):
    """1e-3 is a number, as it is in a params file that is run; a file without a rule is none."""
    params.write_text("tuning: {rates: [1e-3, 2e-3], seeds: [42], keep: 1}")
    assert rule_of("made-up", []) == Rule([1e-3, 2e-3], [42], keep=1)
    params.write_text("study: made-up")
    assert choices("made-up") == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("tuning: [", "is not YAML"),
        ("tuning: 3", "tuning, : Input should be a dictionary"),
        ("tuning: {rates: [0.1]}", "tuning, seeds: Field required, found"),
        ("- tuning", ""),
        ("tuning: {rates: [.nan], seeds: [1]}", "tuning, rates.0: Input should be"),
    ],
)
def test_one_that_tells_none_is_refused(text, why, params):
    """In one sentence, by the name of the file, for whoever reads the study."""
    params.write_text(text)
    if not why:
        assert choices("made-up") == []
        return
    with pytest.raises(ActlabError, match=f"made-up.yaml.*{why}"):
        choices("made-up")


def test_a_tuned_record_without_its_rate_is_refused(params):
    """In one sentence, whatever else it tells."""
    params.write_text("tuning: {rates: [0.1], seeds: [42]}")
    with pytest.raises(ActlabError, match="tells no learning_rate, of which its study chooses one"):
        choices("made-up")


def test_a_seed_is_read_from_the_name_of_its_trial(params):
    """Every trial has one; its seed may be missing in a record."""
    made = grids.record(recipe={"learning_rate": 0.1, "device": "cpu"})
    made["trials"][0].pop("seed")
    paths_of = store.folder_of("made-up").glob("*.json")
    for path in paths_of:
        path.unlink()
    grids.save(made)
    params.write_text("tuning: {rates: [0.1], seeds: [42]}")
    (choice,) = choices("made-up")
    assert {seed for _, seed in choice.losses} == {42, 43, 44}
