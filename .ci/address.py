"""Carry the project's addresses, which `[tool.actlab]` of pyproject.toml holds, into every file that names them.

`python .ci/address.py REPOSITORY [SITE [DOI]]` sets them first: of the repository's page, of the book; the DOI.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SETTING = "pyproject.toml"
NAMES = ("repository", "site", "doi")
URLS = """[project.urls]
{site}Repository = "{repository}"
Changelog = "{repository}/blob/main/CHANGELOG.md"
Issues = "{repository}/issues"

"""
LIVE = """[![Binder](https://mybinder.org/badge_logo.svg)](https://mybinder.org/v2/gh/{place}/HEAD?labpath=notebooks/takehome.ipynb)
[![Colab](https://colab.research.google.com/assets/colab-badge.svg)](https://colab.research.google.com/github/{place}/blob/main/notebooks/takehome.ipynb)
In Colab run `%pip install git+{repository}` first.

"""


def addresses() -> dict[str, str]:
    """As they are set; empty where they are not known yet."""
    return tomllib.loads((ROOT / SETTING).read_text(encoding="utf-8"))["tool"]["actlab"]


def filled(name: str, text: str, known: dict[str, str]) -> str:
    """A file's text with the addresses that it names; without those that are not known."""
    return {"pyproject.toml": _pyproject, "README.md": _readme, "CITATION.cff": _citation}[name](text, known)


def _pyproject(text: str, known: dict[str, str]) -> str:
    text = re.sub(r"\[project\.urls\]\n(?:.+\n)*\n", "", text)
    site = f'Documentation = "{known["site"]}"\n' if known["site"] else ""
    urls = URLS.format(repository=known["repository"], site=site) if known["repository"] else ""
    return text.replace("[project.scripts]\n", f"{urls}[project.scripts]\n")


def _readme(text: str, known: dict[str, str]) -> str:
    repository = known["repository"]
    there = (
        f"git clone --depth 1 {repository} actlab\ncd actlab"
        if repository
        else "cd actlab  # your clone of this repository"
    )
    text = re.sub(r"(?m)^(git clone --depth 1 .*\n)?cd actlab.*$", lambda _: there, text)
    text = re.sub(r"(?m)^\[!\[Binder\].*\n.*\nIn Colab .*\n\n", "", text)
    if place := re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+)", repository):
        live = LIVE.format(place=place[1], repository=repository)
        text = text.replace("## Try it\n\n", f"## Try it\n\n{live}")
    return text


def _citation(text: str, known: dict[str, str]) -> str:
    text = re.sub(r"(?m)^(repository-code|url|doi): .*\n", "", text)
    fields = {"repository-code": known["repository"], "url": known["site"] or known["repository"], "doi": known["doi"]}
    lines = "".join(f"{name}: {value}\n" for name, value in fields.items() if value)
    return re.sub(r"(?m)^license: ", lambda found: lines + found[0], text)


def main(given: list[str]) -> None:
    """Set what is given, and fill the files."""
    setting = ROOT / SETTING
    for name, value in zip(NAMES, given, strict=False):
        text = setting.read_text(encoding="utf-8")
        setting.write_text(re.sub(rf'(?m)^{name} = ".*"', f'{name} = "{value.rstrip("/")}"', text), encoding="utf-8")
    for name in (SETTING, "README.md", "CITATION.cff"):
        file = ROOT / name
        file.write_text(filled(name, file.read_text(encoding="utf-8"), addresses()), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
