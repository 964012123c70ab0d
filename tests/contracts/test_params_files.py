"""Every file in params/ loads, and says what it asks, costs and how it is run."""

from actlab import paths
from actlab.study.params import read_params

FILES = sorted((paths.ROOT / "params").glob("*.yaml"))


def test_every_file(subtests):
    """Known fields and allowed values of the kind that it names (which arms they make: ``study/test_recorded_ids``); a
    study named after the file; question, cost and command in its first comment."""
    assert FILES
    for file in FILES:
        with subtests.test(file=file.name):
            params, text = read_params(file), file.read_text()
            assert params.study == file.stem, "two files never write into one folder of results"
            comment = [line for line in text.splitlines() if line.startswith("#")]
            for word in ("Question:", "Cost:", "Command:", f"params/{file.name}"):
                assert any(word in line for line in comment), word
