"""The project's addresses stand in one place, `[tool.actlab]` of pyproject.toml; what is made of them is in step."""

import re
import runpy
import tomllib
from types import SimpleNamespace

import pytest
import yaml

from actlab import paths
from actlab.book import address, footer

SCRIPT = runpy.run_path(str(paths.ROOT / ".ci" / "address.py"))
FILES = ("pyproject.toml", "README.md", "CITATION.cff")
KNOWN = {
    "repository": "https://github.com/someone/actlab",
    "site": "https://someone.example/actlab",
    "doi": "10.5281/zenodo.1",
}
NONE = dict.fromkeys(KNOWN, "")


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


def test_the_book_says_its_address_where_it_has_one(tmp_path, monkeypatch):
    """Canonical links and Open Graph by Sphinx's own settings, a sitemap of its pages; else none of them."""
    for known, base in ((NONE, ""), (KNOWN, "https://someone.example/actlab/")):
        monkeypatch.setattr(address, "addresses", lambda known=known: known)
        config = SimpleNamespace(html_baseurl="", ogp_site_url="")
        address.say_site(None, config)
        assert (config.html_baseurl, config.ogp_site_url) == (base, base)
        env = SimpleNamespace(found_docs={"intro", "studies/one-bit"})
        address.write_sitemap(SimpleNamespace(config=config, env=env, outdir=tmp_path))
        assert (tmp_path / "sitemap.xml").exists() == bool(base)
    assert "<loc>https://someone.example/actlab/studies/one-bit.html</loc>" in (tmp_path / "sitemap.xml").read_text()


def test_a_page_opens_on_binder_and_colab_where_the_project_has_an_address(monkeypatch):
    monkeypatch.setattr(footer, "addresses", lambda: KNOWN)
    links = footer.live(SimpleNamespace(notebook="repro"), "/a/folder")
    assert "https://mybinder.org/v2/gh/someone/actlab/HEAD?labpath=notebooks/repro.ipynb" in links
    assert "https://colab.research.google.com/github/someone/actlab/blob/main/notebooks/repro.ipynb" in links
    monkeypatch.setattr(footer, "addresses", lambda: NONE)
    assert footer.live(SimpleNamespace(notebook="repro"), "/a/folder") == ""
