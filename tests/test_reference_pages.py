"""Bibliography and the page of names are complete."""

import re

import actlab
from actlab import metrics, paths

NAMED = re.compile(r"(?:arXiv[\s:]+|arxiv\.org/abs/)(\d{4}\.\d{5}|\d{4}\.\d{4})\b")


def test_every_paper_that_is_named_is_in_the_bibliography():
    """Whether code, a notebook or a page gives its arXiv number; and an entry that has a number is a link."""
    book = paths.ROOT / "book"
    files = [
        *(paths.ROOT / "lib").rglob("*.py"),
        *(paths.ROOT / "notebooks").glob("*.ipynb"),
        *book.glob("*.md"),
    ]
    named = {number for file in files for number in NAMED.findall(file.read_text(encoding="utf-8"))}
    listed = (book / "references.bib").read_text(encoding="utf-8")
    assert len(named) >= 20
    assert {number for number in named if f"url = {{https://arxiv.org/abs/{number}}}" not in listed} == set()


def test_the_page_of_names_has_every_public_name():
    """Of the package, of the metrics, and what the guides import beside them."""
    page = (paths.ROOT / "book" / "api.md").read_text(encoding="utf-8")
    named = {name.rpartition(".")[2] for name in re.findall(r"^\.\. auto\w+:: (\S+)", page, re.MULTILINE)}
    assert {*actlab.__all__} <= named
    assert {*metrics.ROWS.built_in, "compare", "churn_split", "label_pd"} <= named
    assert {"get_activation", "ACTIVATIONS", "build_model", "ModelConfig", "SCALES", "ECD", "SOAP"} <= named
    assert {"BadInput", "UnknownName"} <= named
