"""A book of records that hold a script in every text with which they are read; ``tests/browser/test_payloads.py`` opens
its pages."""

import json
import re
import shutil
import subprocess
import sys
from functools import reduce
from operator import getitem

import nbformat
import papermill
from bench.mistakes import changed, places

from actlab import paths
from actlab.errors import RecordError
from actlab.explorer import catalogue as explore
from actlab.explorer.widget import Explorer
from actlab.files import read_yaml
from actlab.records import store

PAGE = """# Shown

````{{raw}} html
<div class="cell_output"><div class="output text_html">
{html}
</div></div>
````
"""
TAG = "x<img src=x onerror=alert(1)><script>alert(2)</script>"
REST = 'x" onmouseover="alert(3)" \'[y](javascript:alert(4)) {{raw}} $\\foo$ | *z*'
"""No HTML by itself: it would break out of an attribute, and be Markdown."""
STUDIES = {
    "repro": ("repro-lite", "charlm-*[ue]*", {"model": ["charlm"], "activation": ["relu", "gelu"]}),
    "mnist": ("mnist", "*-h[24]-*", {"network": ["relu", "geglu_equal_parameters"], "hidden": [2, 4], "k": [2]}),
    "ablation": ("ablation-novels", "adamw-*", {"optimizer": ["adamw"]}),
}
"""Notebook -> the recorded study, its records that are copied, and the part of it that the page shows."""
PLUGIN = {"mine.py": {"source": "x = 1", "sha256": "0", "formulas": {"relu": "x"}}}
OWN = {"metrics": {"mine": {"label": "mine", "note": "mine"}}}
FREE = {"source", "sha256", "relu", "label", "note", "prompt", "1000", "1001"}
"""Where a record may hold any text: parts of a user's own, what networks wrote."""


def poison(path):
    """Put a script into each text with which the record is read; where that may be HTML. Every text is tried alone,
    that of settings under the name that they ask for; the others are refused."""
    record, anywhere = json.loads(path.read_text()), set()
    del record["checksum"]
    found = record
    path.unlink()
    texts = [place for place in places(record, most=None) if isinstance(reduce(getitem, place, record), str)]
    for place in texts:
        for text in (TAG, REST):
            tried, file = changed(record, place, text), path
            if place[0] == "config":
                tried["arm"] = f"{path.stem.rpartition('-')[0]}-{store.digest(tried['config'])[:10]}"
                file = path.with_stem(tried["arm"])
            store.save(file, tried)
            try:
                store.load(file)
            except RecordError:
                continue
            finally:
                file.unlink()
            anywhere |= {place[-1]} if text == TAG else set()
            if place[0] != "config":  # with other settings it is another arm
                found = changed(found, place, text)
            break
    assert found != record
    store.save(path, found)
    return anywhere


def copied(study, name, files):
    """Records of a recorded study as those of one of this name; the first, poisoned."""
    every = sorted((paths.ROOT / "results" / study).glob(f"{files}.json"))
    for file in every:
        record = {**json.loads(file.read_text()), "study": name}
        own = record.get("reproducibility_metrics", []) if file == every[0] else ()
        for pair in own:
            pair["mine"] = 0.5
        record |= OWN if own else {}
        record["provenance"]["plugins"] = PLUGIN
        del record["checksum"]
        store.save(paths.results() / name / file.relative_to(paths.ROOT / "results" / study), record)
    return poison(paths.results() / name / every[0].relative_to(paths.ROOT / "results" / study))


def written():
    """The HTML of the cell of a notebook that shows what networks wrote."""
    cells, names = (
        nbformat.read(paths.ROOT / "notebooks/answer.ipynb", 4).cells,
        {"store": store, "study": "texts-copy"},
    )
    (source,) = (cell.source for cell in cells if "load_texts(" in cell.source)
    exec(source.replace("\nHTML(", "\nshown = HTML("), names)
    return names["shown"].data


STRANGE = """[...document.querySelectorAll('article *')].filter((node) => node.src?.endsWith('/x')
  || node.href?.startsWith?.('javascript') || node.onerror || node.onmouseover).map((node) => node.outerHTML)"""


def book_of(root, *pages, intro="# Intro\n"):
    """Lay out a book of these pages below a folder, with the real settings and style; its folder."""
    book = root / "book"
    shutil.copytree(paths.ROOT / "book/_static", book / "_static")
    shutil.copy(paths.ROOT / "book/references.bib", book)
    shutil.copy(paths.ROOT / "_config.yml", book / "_config.yml")
    toc = "".join(f"- file: {page}\n" for page in pages)
    (book / "_toc.yml").write_text(f"format: jb-book\nroot: intro\nchapters:\n{toc}")
    (book / "intro.md").write_text(intro)
    return book


def build(root):
    """Below a folder whose ``results`` are read: the page of each kind of study, the explorer, the networks' texts.
    Returns the folder of the pages."""
    (root / "results").mkdir()
    for folder in (paths.ROOT / "results").glob("*/"):  # pages quote the recorded studies
        (root / "results" / folder.name).symlink_to(folder)
    names = [*STUDIES, "explore", "texts"]
    pages, open_to = book_of(root, *(f"shown/{name}" for name in names)) / "shown", set()
    pages.mkdir()
    for name, (study, files, part) in STUDIES.items():
        open_to |= copied(study, f"{name}-copy", files)
        part = part | {"study": f"{name}-copy", "train_missing": False}
        values = read_yaml(paths.ROOT / "params" / f"{study}.yaml") | part
        made = papermill.execute_notebook(
            paths.ROOT / "notebooks" / f"{name}.ipynb", None, values, kernel_name="python3", progress_bar=False
        )
        text = re.sub(r"\[([\w ,]*)\]\(\w+\.ipynb[^)]*\)", r"\1", nbformat.writes(made))  # no other page is here
        (pages / f"{name}.ipynb").write_text(text)
    open_to |= copied("answer", "texts-copy", "texts/*relu*")
    assert open_to == FREE
    html = Explorer(catalogue=explore.studies([f"{name}-copy" for name in STUDIES])).to_html()
    (pages / "explore.md").write_text(PAGE.format(html=html))
    (pages / "texts.md").write_text(PAGE.format(html=written()))
    code = "from jupyter_book.cli.main import main; main()"
    subprocess.run([sys.executable, "-W", "ignore", "-c", code, "build", "book", "--quiet"], cwd=root, check=True)
    return root / "book/_build/html/shown"


def opened(browser, file):
    """(dialogs, what the policy refused, strange elements) of a page, everything open and pointed at."""
    page, dialogs, refused = browser.new_page(), [], []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.on("console", lambda said: refused.append(said.text) if "Content Security Policy" in said.text else None)
    page.goto(file.as_uri())
    if file.stem == "explore":
        page.locator('.actlab-explorer[data-ready="true"]').wait_for()
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    page.evaluate("for (const one of document.querySelectorAll('*')) one.dispatchEvent(new Event('mouseover'))")
    strange = page.evaluate(STRANGE)
    page.close()
    return dialogs, refused, strange
