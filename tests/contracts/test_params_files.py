"""Every file in params/ loads, and says what it asks, costs and how it is run."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel

from actlab import paths
from actlab.study import kinds
from actlab.study.plan import Plan

FILES = sorted((paths.ROOT / "params").glob("*.yaml"))


def test_there_are_some() -> None:
    """The folder is where the tests look."""
    assert "repro-lite.yaml" in [file.name for file in FILES]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_it_loads(file: Path) -> None:
    """Every shipped file holds known fields and allowed values, of the kind that it names."""
    params = kinds.load(file)
    values = {key: value for key, value in yaml.safe_load(file.read_text()).items() if key != "kind"}
    for field, value in values.items():
        held = getattr(params, field)
        if isinstance(held, BaseModel):
            assert held == held.model_validate({**value, **({"sha256": held.sha256} if isinstance(held, Plan) else {})}), field
            continue
        assert value == held or tuple(value if isinstance(value, list) else [value]) == held, field


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_its_study_is_named_after_it(file: Path) -> None:
    """Two files never write into one folder of results."""
    assert kinds.load(file).study == file.stem


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_it_opens_with_question_cost_and_command(file: Path) -> None:
    """The first comment says what the study asks, what it costs and how it is run."""
    comment = [line for line in file.read_text().splitlines() if line.startswith("#")]
    for word in ("Question:", "Cost:", "Command:"):
        assert any(word in line for line in comment), word
    assert any(f"params/{file.name}" in line for line in comment)
