"""The rule by which a recorded study has chosen its rates, where its records do not tell it."""

import grids
import pytest

from actlab import paths
from actlab.records.rates import choices, rule_of
from actlab.statistics.tuning import Rule


@pytest.fixture
def params(tmp_path, monkeypatch):
    """The params file of a study that has one record."""
    monkeypatch.setattr(paths, "params_file", lambda study: tmp_path / f"{study}.yaml")
    grids.save(grids.record())
    return tmp_path / "made-up.yaml"


def test_the_params_file_tells_it(params):
    """A file without a rule is none."""
    params.write_text("tuning: {rates: [0.001, 0.002], seeds: [42], keep: 1}")
    assert rule_of("made-up", []) == Rule([1e-3, 2e-3], [42], keep=1)
    params.write_text("study: made-up")
    assert choices("made-up") == []
