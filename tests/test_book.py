"""The book's machinery: a page is executed when and only when one of its inputs changed; a failure is named and leaves
nothing behind."""

import json
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import nbformat
import pytest
import yaml
from docutils import nodes
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from actlab import __version__, paths
from actlab.book import extension, footer
from actlab.book.build import build_book
from actlab.book.execute import BookError, declared, execute_stale
from actlab.book.keys import changed, key_of
from actlab.book.mathml import to_mathml
from actlab.book.pages import load_pages
from actlab.errors import BadInput
from actlab.figures.data import keep
from actlab.figures.style import as_html, svg, words_alone
from actlab.files import write_text
from actlab.records import store

PAGES = """
- {page: studies/tiny-red, notebook: tiny, params: {model: red}, reads: [results/colours]}
- {page: studies/tiny-blue, notebook: tiny, params: {model: blue}, reads: [results/colours]}
- page: studies/alone
  notebook: tiny
  params: {model: green}
"""
CONFIG = {
    "title": "Tiny",
    "execute": {"execute_notebooks": "off"},
    "sphinx": {"extra_extensions": ["actlab.book.extension"], "config": {"html_math_renderer": "mathml"}},
}
INTRO = "# Intro\n\nA formula: $\\beta > 0$.\n"


def notebook(code):
    cells = [
        new_markdown_cell("# The model {{model}}\n\n(label-{{page}})="),
        new_code_cell('model = "none"  # which\nscale = 2', metadata={"tags": ["parameters"]}),
        new_code_cell(code),
    ]
    return new_notebook(
        cells=cells, metadata={"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}
    )


@pytest.fixture
def root(tmp_path):
    """A repository with one notebook, three pages and one record."""
    for folder in ("book", "notebooks", "results/colours"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "book/pages.yaml").write_text(PAGES)
    (tmp_path / "book/_config.yml").write_text(yaml.safe_dump(CONFIG))
    (tmp_path / "book/_toc.yml").write_text(
        "format: jb-book\nroot: intro\nchapters:\n" + "".join(f"- file: {p}\n" for p in NAMES)
    )
    (tmp_path / "book/intro.md").write_text(INTRO)
    (tmp_path / "results/colours/red.json").write_text("0.25")
    red = str(tmp_path / "results/colours/red.json")
    nbformat.write(notebook(f"import json\njson.load(open({red!r}))"), tmp_path / "notebooks/tiny.ipynb")
    return tmp_path


NAMES = ("studies/tiny-red", "studies/tiny-blue", "studies/alone")


def keys(root, code="code"):
    return {page.name: key_of(page, code) for page in load_pages(root)}


def differing(before, after):
    return {(name, part) for name in before for part in before[name] if before[name][part] != after[name][part]}


def test_key_changes_when_and_only_when_an_input_changes(root):
    """Notebook, parameters, records and code each reach the key of the pages that depend on them, and of no other
    page."""
    before = keys(root)
    (root / "notebooks/other.ipynb").write_text("{}")
    (root / "results/other.json").write_text("1")
    assert differing(before, keys(root)) == set()
    (root / "results/colours/blue.json").write_text("0.5")
    assert differing(before, keys(root)) == {("studies/tiny-red", "records"), ("studies/tiny-blue", "records")}
    (root / "results/colours/blue.json").unlink()
    nbformat.write(notebook("2"), root / "notebooks/tiny.ipynb")
    assert differing(before, keys(root)) == {(name, "notebook") for name in NAMES}
    assert differing(before, keys(root, "other code")) >= {(name, "code") for name in NAMES}
    before = keys(root)
    (root / "book/pages.yaml").write_text(PAGES.replace("green", "grey"))
    assert differing(before, keys(root)) == {("studies/alone", "parameters")}


@pytest.mark.slow
def test_only_what_is_stale_is_executed(root, monkeypatch):
    """From nothing to all pages; then none; then those that read the changed record; what no entry names goes."""
    monkeypatch.setattr("actlab.book.execute.code_key", lambda: "code")  # somebody may be editing the package
    assert {path.stem for path in execute_stale(2, root=root)} == {"tiny-red", "tiny-blue", "alone"}
    page = json.loads((root / "book/studies/tiny-red.ipynb").read_text())
    assert "".join(page["cells"][0]["source"]) == "# The model red\n\n(label-tiny-red)="
    assert [cell["metadata"].get("tags") for cell in page["cells"]].count(["injected-parameters", "remove-cell"]) == 1
    assert str(root) not in json.dumps(page["metadata"])
    assert execute_stale(2, root=root) == []
    (root / "results/colours/red.json").write_text("0.75")
    red = next(page for page in load_pages(root) if page.name == "studies/tiny-red")
    assert changed(red, key_of(red, "code")) == ["records"]
    (root / "book/pages.yaml").write_text("\n".join(line for line in PAGES.splitlines() if "blue" not in line))
    assert [path.stem for path in execute_stale(2, root=root)] == ["tiny-red"]
    assert sorted(path.name for path in (root / "book/studies").iterdir()) == ["alone.ipynb", "tiny-red.ipynb"]


@pytest.mark.slow
def test_a_failing_notebook_is_named_with_its_cell_and_error(root):
    """The other page is made all the same, and of the failed one there is nothing, not even a part."""
    (root / "book/pages.yaml").write_text(PAGES.split("- page: studies/alone")[0])
    nbformat.write(notebook("\nif model == 'blue': raise ValueError('no such colour')"), root / "notebooks/tiny.ipynb")
    with pytest.raises(
        BookError,
        match=r"studies/tiny-blue \(notebooks/tiny.ipynb\): cell 4 \(`if model == .*`\): ValueError: no such colour",
    ):
        execute_stale(2, root=root)
    assert [path.name for path in (root / "book/studies").iterdir()] == ["tiny-red.ipynb"]


@pytest.mark.slow
def test_a_page_that_reads_what_it_does_not_name_fails(root):
    """Else it would stay as it is when that study's records change."""
    (root / "book/pages.yaml").write_text(PAGES.split("- page: studies/alone")[0])
    code = "from actlab.records import store\nstore.path_of('colours', 'a')\n"
    code += "if model == 'blue': store.load_study('sounds')"
    nbformat.write(notebook(code), root / "notebooks/tiny.ipynb")
    with pytest.raises(
        BookError, match=r"studies/tiny-blue .*: RecordError: the page reads results/sounds, but .* names only: colours"
    ):
        execute_stale(1, root=root)
    assert [path.name for path in (root / "book/studies").iterdir()] == ["tiny-red.ipynb"]
    assert store.READS not in os.environ


def test_a_parameter_that_the_notebook_does_not_declare_is_refused(root):
    """Papermill alone would only log it."""
    (root / "book/pages.yaml").write_text("- {page: studies/tiny, notebook: tiny, params: {modle: red}}")
    with pytest.raises(BadInput, match=r"studies/tiny: tiny.ipynb declares no parameter modle: known are model, scale"):
        execute_stale(1, root=root)
    assert declared(root / "notebooks/tiny.ipynb") == {"model": "none", "scale": 2}


def jupyter_book(root, *arguments):
    code = "from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", code, "build", "book", *arguments]
    return subprocess.run(
        command, cwd=root, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONWARNINGS": "ignore"}
    )


@pytest.mark.slow
def test_the_plain_command_builds_and_never_shows_an_old_number(root):
    """`jupyter-book build book/` executes what is stale, writes that page anew, and forgets no fault."""
    one = "- {page: studies/tiny-red, notebook: tiny, params: {model: red}, reads: [results/colours]}\n"
    (root / "book/pages.yaml").write_text(one + "- {page: studies/alone, notebook: tiny}")
    (root / "book/_toc.yml").write_text(
        "format: jb-book\nroot: intro\nchapters:\n- file: studies/tiny-red\n- file: studies/alone\n"
    )
    (root / "book/redirects.yaml").write_text("old: studies/alone#part\nstudies/older: intro\n")
    first = jupyter_book(root, "-W", "--keep-going")
    assert first.returncode == 0, first.stdout + first.stderr
    page = root / "book/_build/html/intro.html"
    assert "<math" in page.read_text()
    assert "cdn." not in page.read_text()
    assert 'url=studies/alone.html#part">' in page.with_name("old.html").read_text()
    assert 'url=../intro.html">' in (page.parent / "studies/older.html").read_text()
    pages = [page, *(root / f"book/_build/html/studies/{name}.html" for name in ("tiny-red", "alone"))]
    assert "0.25" in pages[1].read_text()
    written = {path.stem: path.stat().st_mtime_ns for path in pages}
    (root / "results/colours/red.json").write_text("0.75")
    assert jupyter_book(root).returncode == 0
    assert "0.75" in pages[1].read_text()
    assert {path.stem for path in pages if path.stat().st_mtime_ns != written[path.stem]} == {"intro", "tiny-red"}
    (root / "book/intro.md").write_text(INTRO + "\n[nowhere](nowhere.md)\n")
    for _ in range(2):
        assert jupyter_book(root, "-W", "--keep-going").returncode != 0


def test_sphinx_is_asked_only_where_something_changed(root, monkeypatch):
    """Neither a written page nor a built one can change unnoticed, and a build with a fault does not count."""
    (root / "book/pages.yaml").write_text("[]")
    monkeypatch.setattr("actlab.book.keys.code_key", lambda: "code")  # somebody may be editing the package
    html, asked = root / "book/_build/html", []

    def sphinx(root):
        asked.append(root)
        write_text(html / "index.html", f"build {len(asked)}")
        if "broken" in (root / "book/intro.md").read_text():
            raise BookError("a broken link")

    monkeypatch.setattr("actlab.book.build._jupyter_book", sphinx)
    changes = [lambda: None, lambda: (root / "book/intro.md").write_text("# New"), (html / "index.html").unlink]
    for times, change in enumerate(changes, start=1):
        change()
        assert build_book(1, root) == build_book(1, root) == html / "index.html"
        assert len(asked) == times
    (root / "book/intro.md").write_text("# [broken](nowhere.md)")
    for times in (4, 5):
        with pytest.raises(BookError, match="a broken link"):
            build_book(1, root)
        assert len(asked) == times


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("page: studies/x", "must hold a list, found dict"),
        ("- {page: studies/x, notebok: tiny}", "entry 1: notebook: Field required; .*notebok: Extra inputs"),
        ("- {page: x, notebook: tiny}", "entry 1: page: String should match pattern"),
        ("- {page: studies/x, notebook: none}", "entry 1: there is no notebooks/none.ipynb"),
        ("- {page: studies/x, notebook: tiny, file: params/none.yaml}", "entry 1: there is no params/none.yaml"),
        ("- {page: studies/x, notebook: tiny, reads: [claims.csv]}", "entry 1: there is no claims.csv"),
        ("- {page: studies/x, notebook: tiny}\n" * 2, "names a page twice: studies/x"),
    ],
)
def test_a_wrong_entry_is_named(root, text, message):
    """Each fault of the declarative file is told with its place."""
    (root / "book/pages.yaml").write_text(text)
    with pytest.raises(BadInput, match=message):
        load_pages(root)


def test_formulas_are_mathml_or_an_error():
    """Known LaTeX becomes MathML that keeps its source; an unknown command is never shown raw."""
    markup = to_mathml(r"\begin{aligned} a &= \tfrac12 \\ b &< 1 \end{aligned}", "block")
    assert markup.count("<mtr>") == 2
    assert "application/x-tex" in markup
    with pytest.raises(BadInput, match="nosuchcommand"):
        to_mathml(r"\nosuchcommand{x}", "inline")


def test_the_repository_has_its_book_in_order():
    """The links lead to the real files at the root; every page of the table of contents has a source, and every page
    that once stood there leads to one."""
    for name in ("_config.yml", "_toc.yml"):
        link = paths.ROOT / "book" / name
        assert link.is_symlink()
        assert link.resolve() == paths.ROOT / name
    toc = yaml.safe_load((paths.ROOT / "_toc.yml").read_text())
    files = [toc["root"], *(chapter["file"] for part in toc["parts"] for chapter in part["chapters"])]
    made = {page.name for page in load_pages()}
    assert [file for file in files if file not in made and not (paths.ROOT / "book" / f"{file}.md").exists()] == []
    assert made <= set(files)
    moved = yaml.safe_load((paths.ROOT / "book" / "redirects.yaml").read_text())
    assert not set(moved) & set(files)
    assert {new.partition("#")[0] for new in moved.values()} <= set(files)
    history = ["git", "log", "--format=", "--patch", "--", "_toc.yml"]
    once = subprocess.run(history, cwd=paths.ROOT, capture_output=True, text=True, check=False).stdout
    assert set(re.findall(r"^-.*file: (\S+)", once, re.MULTILINE)) <= {*files, *moved}


def test_a_figure_becomes_files_that_its_caption_links(tmp_path):
    """SVG and CSV beside the page, and no picture inside it; what was drawn by hand has no CSV."""
    app = SimpleNamespace(outdir=tmp_path, builder=SimpleNamespace(name="html"))
    figures = [words_alone(), keep(words_alone(), [{"loss": 1}])]
    context = {"content_root": "../", "body": "".join(as_html(figure, "A claim, 2 > 1") for figure in figures)}
    extension.figure_files(app, "studies/tiny", "", context, None)
    assert "base64" not in context["body"]
    links = re.findall(r'(?:src|href)="\.\./(_images/tiny-\d\.\w+)"', context["body"])
    names = ["1.svg", "1.svg", "2.svg", "2.svg", "2.csv"]
    assert links == [f"_images/tiny-{name}" for name in names]
    assert (tmp_path / links[0]).read_bytes() == svg(figures[0])
    assert (tmp_path / links[-1]).read_text() == "loss\n1\n"


@pytest.mark.parametrize(
    ("base", "image"), [("", "../_static/card.png"), ("https://a.org/b/", "https://a.org/b/_static/card.png")]
)
def test_a_link_elsewhere_shows_description_and_picture(base, image):
    """The first real paragraph; an absolute address only where the configuration knows one. The citation has the
    package's version."""
    app = SimpleNamespace(config=SimpleNamespace(html_title="The book", html_baseurl=base))
    said = "Question. Does the choice of activation\nchange how far two <seeds> differ?"
    page = nodes.section("", nodes.paragraph(text="Short."), nodes.paragraph(text=said))
    tags = footer.card(app, {"title": "A finding", "content_root": "../"}, page)
    assert (
        'name="description" content="Question. Does the choice of activation change how far two &lt;seeds&gt;' in tags
    )
    assert f'property="og:image" content="{image}"' in tags
    assert 'content="The book"' in footer.card(app, {"content_root": ""}, None)
    assert f"Version {__version__} of " in footer.citation()
    assert "title = {actlab: " in footer.citation()


def test_a_page_opens_on_binder_where_its_origin_is_on_github(root):
    (page, *_) = load_pages(root)
    for origin in ("https://github.com/a-b/c.d.git", "git@github.com:a-b/c.d"):
        assert f'href="https://mybinder.org/v2/gh/a-b/c.d/HEAD?labpath=notebooks/{page.notebook}.ipynb"' in footer.live(
            [page], origin
        )
    assert footer.live([page], "/a/folder") == footer.live([], "https://github.com/a/b") == ""


def test_footer_names_the_days_of_the_records_that_a_page_reads(root):
    """Commit, versions and days; a file without a date is no record."""
    assert "no record" in footer.text(load_pages(root))
    for name, day in (("a", "2026-01-02"), ("b", "2026-01-04")):
        (root / f"results/colours/{name}.json").write_text(
            json.dumps({"provenance": {"date": f"{day}T10:00:00+00:00"}})
        )
    line = footer.text(load_pages(root))
    assert line.endswith("; 2 records of 2026-01-02 to 2026-01-04.")
    assert "record" not in footer.text(page for page in load_pages(root) if page.name == "studies/alone")
    assert "commit" in line
    assert "torch" in line
