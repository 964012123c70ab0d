"""Bibliography, glossary and the page of names are complete."""

import re

import nbformat

import actlab
from actlab import metrics, paths
from actlab.models import SCALES
from actlab.models.gpt2 import GPT2_SCALES
from actlab.study import provenance

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
    assert len(named) > 20
    assert {number for number in named if f"url = {{https://arxiv.org/abs/{number}}}" not in listed} == set()


def test_the_glossary_names_every_scale():
    """As the code has them."""
    text = "\n".join(cell.source for cell in nbformat.read(paths.ROOT / "notebooks" / "methods.ipynb", 4).cells)
    entry = text.split("\nscale\n")[1].split("\n\n")[0]
    assert set(re.findall(r"`(.+?)`", entry)) == {*SCALES, *GPT2_SCALES}


def test_the_page_of_names_has_every_public_name():
    """Of the package, of the metrics, and what the guides import beside them."""
    page = (paths.ROOT / "book" / "api.md").read_text(encoding="utf-8")
    named = {name.rpartition(".")[2] for name in re.findall(r"^\.\. auto\w+:: (\S+)", page, re.MULTILINE)}
    assert {*actlab.__all__} <= named
    assert {*metrics.ROWS.built_in, "compare", "churn_split", "label_pd"} <= named
    assert {"get_activation", "ACTIVATIONS", "build_model", "ModelConfig", "SCALES", "ECD", "SOAP"} <= named
    assert {"BadInput", "UnknownName"} <= named


def test_every_environment_variable_has_its_row():
    """What lib/ or the book's extensions read, set or remove, and nothing else, stands in the table of the guide."""
    files = [*(paths.ROOT / "lib").rglob("*.py"), *(paths.ROOT / "book" / "_ext").rglob("*.py")]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    used = {*re.findall(r"\bACTLAB_[A-Z_]+\b", text), *re.findall(r'"([A-Z]+_NUM_THREADS)"', text)}
    used |= {
        *re.findall(r'environ(?:\.\w+\(|\[)"([A-Z_]+)"', text),
        *re.findall(r"environ\.update\(.*?\b([A-Z_]+)=", text),
    }
    used |= {*re.findall(r'getenv\("([A-Z_]+)"', text)}
    used |= {*provenance.KERNELS}
    guide = nbformat.read(paths.ROOT / "notebooks" / "running.ipynb", 4)
    told = "\n".join(cell.source for cell in guide.cells).split("\n### Environment variables\n")[1].split("\n### ")[0]
    rows = re.findall(r"^\| (`[^|]*`) \|", told, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == used
    assert {*paths.VARIABLES} < used
