"""The book's machinery: a page is executed when and only when one of its inputs changed; a failure is named and leaves
nothing behind."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urljoin

import nbformat
import pytest
import yaml
from docutils.core import publish_doctree, publish_from_doctree
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from _ext import build, extension, footer, pages
from _ext.execute import BookError, execute_stale, few_folds, not_held, picture_first
from _ext.mathml import to_mathml
from _ext.pages import load_pages
from actlab import __version__, paths
from actlab.figures.style import as_html, image, keep, words_alone

PAGES = """
- {page: studies/tiny-red, notebook: tiny, params: {model: red}, reads: [colours]}
- {page: studies/tiny-blue, notebook: tiny, params: {model: blue}, reads: [colours]}
- page: studies/alone
  notebook: tiny
  params: {model: green}
"""
NAMES = ("studies/tiny-red", "studies/tiny-blue", "studies/alone")


def write(root, code):
    """The notebook with this code."""
    cells = [
        new_markdown_cell("# The model"),
        new_code_cell('model = "none"  # which\nscale = 2', metadata={"tags": ["parameters"]}),
        new_code_cell(code),
    ]
    kernel = {"name": "python3", "language": "python", "display_name": "Python 3"}
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), root / "notebooks/tiny.ipynb")


@pytest.fixture
def root(tmp_path):
    """A repository with one notebook, three pages and one record."""
    for folder in ("book", "notebooks", "results/colours"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "book/pages.yaml").write_text(PAGES)
    (tmp_path / "results/colours/red.json").write_text("0.25")
    write(tmp_path, f"import json\njson.load(open({str(tmp_path / 'results/colours/red.json')!r}))")
    return tmp_path


def test_a_page_changes_when_and_only_when_what_it_depends_on_does(root, monkeypatch):
    """Notebook, checks, parameters, records and code, each of the pages that depend on them, and of no other page."""
    known = {}

    def changed():
        found = {page.page: page.made_from() for page in load_pages(root)}
        new = {name for name in found if found[name] != known.get(name)}
        known.update(found)
        return new

    assert changed() == {*NAMES}
    (root / "notebooks/other.ipynb").write_text("{}")
    (root / "results/other.json").write_text("1")
    assert changed() == set()
    (root / "results/colours/blue.json").write_text("0.5")
    assert changed() == {"studies/tiny-red", "studies/tiny-blue"}
    write(root, "2")
    assert changed() == {*NAMES}
    (root / "notebooks/checks").mkdir()
    (root / "notebooks/checks/tiny.py").touch()
    assert changed() == {*NAMES}
    (root / "book/pages.yaml").write_text(PAGES.replace("green", "grey"))
    assert changed() == {"studies/alone"}
    (root / "actlab_own").mkdir()
    (root / "actlab_own" / "module.py").write_text("")
    monkeypatch.setattr(pages, "LIBRARY", root)
    pages.software.cache_clear()
    assert changed() == {*NAMES}
    pages.software.cache_clear()


@pytest.mark.slow
def test_only_what_is_stale_is_executed_and_a_failure_is_named(root):
    """With its cell and error, and nothing of it is left; the other pages are made. Then none is stale; then what reads
    the changed record; what no entry names goes."""
    code = "if model == 'blue': raise ValueError('no such colour')"
    write(root, code)
    with pytest.raises(BookError) as failed:
        execute_stale(root)
    lines = str(failed.value).splitlines()
    assert lines[:2] == ["studies/tiny-blue (notebooks/tiny.ipynb)", f"  cell 4: {code}"]
    assert lines[2] == "  ValueError: no such colour"
    assert Path(lines[3].rpartition(": ")[2]).exists()
    made, other = sorted((root / "book/studies").iterdir(), reverse=True)
    page = json.loads(made.read_text())
    tags = [cell["metadata"].get("tags") for cell in page["cells"][1:3]]
    assert tags == [["parameters", "hide-input"], ["injected-parameters", "hide-input"]]
    assert str(root) not in json.dumps(page["metadata"])
    (root / "book/pages.yaml").write_text(PAGES.splitlines()[1])
    assert execute_stale(root) == []
    assert not other.exists()
    (root / "results/colours/red.json").write_text("0.75")
    assert execute_stale(root) == [made]
    assert execute_stale(root) == []


@pytest.mark.slow
def test_a_changed_record_is_a_warning_of_the_page_that_quotes_it(root, monkeypatch):
    """A reader's build ends with a book and says the page, what it says and what was found, again each time; an
    author's stops. A check that holds leaves no trace on the page."""
    (root / "book/pages.yaml").write_text(PAGES.splitlines()[1])
    record = root / "results/colours/red.json"
    write(root, f"import json\nred = json.load(open({str(record)!r}))")
    (root / "notebooks/checks").mkdir()
    checks = "from actlab.checks import agrees\ndef check_red(red): agrees(red, 0.25, 'red takes off 0.25', 2)"
    (root / "notebooks/checks/tiny.py").write_text(checks)
    asked = []
    monkeypatch.setattr(build, "jupyter_book", lambda root, strict: asked.append(strict))
    build.build_book(1, strict=True, root=root)
    assert not not_held(root)
    assert "checks" not in (root / "book/studies/tiny-red.ipynb").read_text()
    record.write_text("0.75")
    build.build_book(1, root=root)
    said = "studies/tiny-red: 'red takes off 0.25': the page says 0.25, the records say 0.75"
    assert not_held(root) == [f"{said}; the page may be out of date"]
    with pytest.raises(BookError, match=said):
        build.build_book(1, strict=True, root=root)
    assert asked == [True, False]


def test_the_picture_comes_below_the_answer():
    """Without its code, which keeps its place, in one fold with the code above; the set-up comes below the text."""
    folded, lead = {"tags": ["hide-input"]}, {"tags": ["hide-input", "lead"]}
    cells = [new_markdown_cell("# Title"), new_code_cell("load", metadata=folded), new_markdown_cell("how")]
    cells += [new_code_cell("a"), new_code_cell("prepare", metadata=folded), new_code_cell("draw", metadata=lead)]
    page = few_folds(picture_first(cells))
    assert [cell.source for cell in page] == ["# Title", "draw", "how", "load", "a", "prepare\n\ndraw"]
    assert "remove-input" in page[1].metadata["tags"]


def test_formulas_are_mathml_or_an_error():
    """An unknown command is never shown raw."""
    assert "<mfrac>" in to_mathml(r"\tfrac12 x", "block")
    with pytest.raises(ValueError, match="nosuchcommand"):
        to_mathml(r"\nosuchcommand{x}", "inline")


def test_the_repository_has_its_book_in_order():
    """The links lead to the real files at the root; every page of the table of contents has a source, and every old
    address leads to one."""
    for name in ("_config.yml", "_toc.yml"):
        link = paths.ROOT / "book" / name
        assert link.is_symlink()
        assert link.resolve() == paths.ROOT / name
    toc = yaml.safe_load((paths.ROOT / "_toc.yml").read_text())
    chapters = [chapter for part in toc["parts"] for chapter in part["chapters"]]
    files = {toc["root"], *(page["file"] for chapter in chapters for page in [chapter, *chapter.get("sections", [])])}
    made = {page.page for page in load_pages()}
    assert made < files
    assert all((paths.ROOT / "book" / f"{file}.md").exists() for file in files - made)
    moved = yaml.safe_load((paths.ROOT / "_config.yml").read_text())["sphinx"]["config"]["redirects"]
    assert not set(moved) & files
    assert {urljoin(old, new.partition("#")[0]) for old, new in moved.items()} <= {f"{file}.html" for file in files}


def test_a_figure_becomes_files_that_its_caption_links(tmp_path):
    """SVG and CSV beside the page, and no picture inside it; what was drawn by hand has no CSV."""
    figures = [words_alone(), keep(words_alone(), [{"loss": 1}])]
    body = "".join(as_html(figure, "A claim, 2 > 1") for figure in figures)
    body = extension.with_files(body, "studies/tiny", "../", tmp_path)
    assert "base64" not in body
    links = re.findall(r'(?:src|href)="\.\./(_images/tiny-\d\.\w+)"', body)
    names = ["1.svg", "1.svg", "2.svg", "2.svg", "2.csv"]
    assert links == [f"_images/tiny-{name}" for name in names]
    assert (tmp_path / links[0]).read_bytes() == image(figures[0])
    assert (tmp_path / links[-1]).read_text() == "loss\n1\n"


def test_a_folded_section_is_closed_until_a_link_leads_into_it():
    """Its heading stays in sight, what is below it lies where its name leads; the next section is not touched."""
    marked = "A\n-\n\n.. raw:: html\n\n   <!-- folded -->\n\nHidden.\n\nB\n-\n\nSeen.\n\nC\n-\n\nSeen."
    tree = publish_doctree(marked)
    extension.fold(SimpleNamespace(builder=SimpleNamespace(name="html")), tree, "page")
    html = re.sub(r"\s+<|>\s+", lambda edge: edge[0].strip(), publish_from_doctree(tree, writer_name="html5").decode())
    inside = r'<div [^>]*id="a"><p>Hidden.</p></div></details></section>'
    assert re.search(rf'id="closed-a"><details class="folded"><summary><h\d>A</h\d></summary>{inside}', html)
    assert html.count("<details") == 1
    assert re.search(r'<section id="b"><h\d>B', html)


def test_footer_and_citation(root):
    """Commit, versions and how many records a page reads; the citation has the package's version."""
    red, _, alone = load_pages(root)
    assert footer.text(red).endswith("; records: 1.")
    assert re.search(r"from (an unknown )?commit.*torch", footer.text(alone))
    assert "record" not in footer.text(alone)
    assert f"Version {__version__} of " in footer.citation()
