"""The project's addresses stand in one place, `[tool.actlab]` of pyproject.toml; what is made of them is in step."""

import runpy

import pytest

from actlab import paths

SCRIPT = runpy.run_path(str(paths.ROOT / ".ci" / "address.py"))


@pytest.mark.parametrize("name", ["pyproject.toml", "README.md", "CITATION.cff"])
def test_the_files_are_in_step(name):
    """`python .ci/address.py` would leave the file as it is."""
    text = (paths.ROOT / name).read_text(encoding="utf-8")
    assert SCRIPT["filled"](name, text, SCRIPT["addresses"]()) == text
