"""The project's addresses stand in one place, `[tool.actlab]` of pyproject.toml; what is made of them is in step."""

import runpy

import pytest

from actlab import paths

SCRIPT = runpy.run_path(str(paths.ROOT / ".ci" / "address.py"))
FILES = ("pyproject.toml", "README.md", "CITATION.cff")
KNOWN = {
    "repository": "https://github.com/someone/actlab",
    "site": "https://someone.example/actlab",
    "doi": "10.5281/zenodo.1",
}


@pytest.mark.parametrize("name", FILES)
def test_the_files_are_in_step(name):
    """`python .ci/address.py`; setting an address and taking it back leaves a file as it was."""
    text = (paths.ROOT / name).read_text(encoding="utf-8")
    assert SCRIPT["filled"](name, text, SCRIPT["addresses"]()) == text
    there = SCRIPT["filled"](name, text, KNOWN)
    assert there != text
    assert SCRIPT["filled"](name, there, KNOWN) == there
    assert SCRIPT["filled"](name, there, SCRIPT["addresses"]()) == text
