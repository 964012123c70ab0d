"""The project's addresses stand in one place, `[tool.actlab]` of pyproject.toml; what is made of them is in step."""

import re
import runpy
import tomllib

import pytest
import yaml

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


def test_an_address_is_carried_everywhere():
    """Into the package's metadata, the command that clones, the buttons and the citation."""
    texts = {name: (paths.ROOT / name).read_text(encoding="utf-8") for name in FILES}
    made = {name: SCRIPT["filled"](name, text, KNOWN) for name, text in texts.items()}
    urls = tomllib.loads(made["pyproject.toml"])["project"]["urls"]
    assert (urls["Repository"], urls["Documentation"]) == (KNOWN["repository"], KNOWN["site"])
    assert "git clone --depth 1 https://github.com/someone/actlab actlab\n" in made["README.md"]
    assert "mybinder.org/v2/gh/someone/actlab/" in made["README.md"]
    cited = yaml.safe_load(made["CITATION.cff"])
    assert [cited[key] for key in ("repository-code", "url", "doi")] == [*KNOWN.values()]
    version = tomllib.loads(texts["pyproject.toml"])["project"]["version"]
    released = re.search(r"(?m)^## (\S+)", (paths.ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert released
    assert cited["version"] == version == released[1]
