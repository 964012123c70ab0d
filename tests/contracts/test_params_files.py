"""Every file in params/ loads, and says what it asks, costs and how it is run."""

import yaml
from pydantic import BaseModel

from actlab import paths
from actlab.study.params.plan import Plan
from actlab.study.run import read_params

FILES = sorted((paths.ROOT / "params").glob("*.yaml"))


def test_every_file(subtests):
    """Known fields and allowed values of the kind that it names; a study named after the file; question, cost and
    command in its first comment."""
    assert FILES
    for file in FILES:
        with subtests.test(file=file.name):
            params, text = read_params(file), file.read_text()
            for field, value in yaml.safe_load(text).items():
                held = getattr(params, field, value)  # no parameter holds the kind
                if isinstance(held, BaseModel):
                    assert held == held.model_validate(
                        {**value, **({"sha256": held.sha256} if isinstance(held, Plan) else {})}
                    ), field
                    continue
                assert value == held or tuple(value if isinstance(value, list) else [value]) == held, field
            assert params.study == file.stem, "two files never write into one folder of results"
            comment = [line for line in text.splitlines() if line.startswith("#")]
            for word in ("Question:", "Cost:", "Command:", f"params/{file.name}"):
                assert any(word in line for line in comment), word
