"""Every notebook is analysis that a reader can follow: nothing removed, short visible cells, typed prose, and every
number of the prose repeated by a check."""

import ast
import re
import shutil

import nbformat
import papermill
import pytest
from prose import numbers, statements

from actlab import paths
from actlab.files import read_yaml
from actlab.records import store

NOTEBOOKS = sorted((paths.ROOT / "notebooks").glob("*.ipynb"))
LINES = 15
"""Visible ones of a cell."""
FOLDED = {"hide-input", "hide-cell"}
TAGS = {*FOLDED, "hide-output", "parameters"}
ASIDE = re.compile(
    r"```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$|\{[a-z:]+\}`[^`]*`|\]\([^)]*\)|<[^>]+>"  # code, formulas, links, tags
    r"|^#[^\n]*|^\([\w-]+\)=$|^\s*\d+\.\s|^\|[^\n]*"  # titles, labels, numbers of a list, tables
    r"|\b(?:95|5)%|\bn = |\bPython 3\.\d+(?: to 3\.\d+)?",
    re.DOTALL | re.MULTILINE,
)
"""What of a Markdown cell is no finding."""


def cells_of(path, kind="code"):
    """(tags, source) of every cell of a kind."""
    cells = nbformat.read(path, 4).cells
    return [({*cell.metadata.get("tags", [])}, cell.source) for cell in cells if cell.cell_type == kind]


def python(source):
    """The tree of a cell without IPython's own lines."""
    return ast.parse("\n".join(line for line in source.splitlines() if not line.lstrip().startswith(("%", "!"))))


def loose(prose, code):
    """Numbers of the prose that no check repeats, with their lines."""
    held = set().union(*(numbers(ast.unparse(said)) for source in code for said in statements(python(source))))
    lines = [line for text in prose for line in ASIDE.sub(" ", text).splitlines()]
    return [f"{', '.join(sorted(free))}: {line.strip()}" for line in lines if (free := numbers(line) - held)]


def faults(path):
    """What is not as it should be, one sentence each."""
    code, prose = cells_of(path), [source for _, source in cells_of(path, "markdown")]
    title = prose[0].partition("\n")[0]
    found = [f"a title that is not typed: {title}"] if "{{" in title or not title.startswith("# ") else []
    found += ["outputs are saved in it"] if '"output_type"' in path.read_text(encoding="utf-8") else []
    for tags, source in code:
        first = source.partition("\n")[0]
        tree = python(source)
        found += [f"tag {tag}: {first}" for tag in sorted(tags - TAGS)]
        if any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in ast.walk(tree)):
            found.append(f"a def: {first}")
        if "parameters" in tags and tags & FOLDED:
            found.append("the parameters are folded")
        if not tags & {*FOLDED, "parameters"} and (lines := source.count("\n") + 1) > LINES:
            found.append(f"{lines} visible lines: {first}")
    return found + [f"no check holds {each}" for each in loose(prose, [source for _, source in code])]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_analysis_with_typed_and_held_prose(path):
    """No removed cell, no long one, no def, no output, visible parameters, a typed title, no loose number."""
    found = faults(path)
    assert not found, "\n".join(found)


def test_a_number_without_a_check_is_found():
    """Also one that only looks like a checked one; not in code, formulas, links, titles."""
    prose = ["# 7 things\nIt falls by 1,234 of 0.064 nats [0.06, 0.07] in `x = 8`, $y = 9$ ([a](b-4.ipynb)), 95% sure."]
    check = "import actlab\nactlab.holds(x == 1234, 'by 1,234')\nholds(y, f'0.06 nats [0.06, {z}]')"
    assert loose(prose, [check]) == ["0.064, 0.07: " + ASIDE.sub(" ", prose[0]).strip()]
    assert loose(prose, [check + "\nholds(y, 'of 0.064 nats [0.06, 0.07]')"]) == []


@pytest.mark.slow
def test_a_changed_record_stops_the_notebook_with_sentence_and_fact(tmp_path, monkeypatch):
    """The chain from a record to the typed prose: one loss of one run that is otherwise ends the notebook at the
    sentence that rests on it, with the check that failed. Unchanged it runs through whenever the book is built."""
    for study in ("ablation-novels", "ablation-tuning", "ablation-tuned"):
        shutil.copytree(paths.ROOT / "results" / study, tmp_path / study)
    path = next((tmp_path / "ablation-novels").glob("sgdm-bQbV-gelu-*.json"))
    record = store.load(path)
    record["trials"][0]["final"]["val_loss"] += 0.1
    path.unlink()
    store.save(path, record)
    monkeypatch.setenv("ACTLAB_RESULTS", str(tmp_path))
    values = read_yaml(paths.ROOT / "params" / "ablation-novels.yaml") | {"train_missing": False}
    source, out = paths.ROOT / "notebooks" / "ablation.ipynb", tmp_path / "out.ipynb"
    with pytest.raises(papermill.PapermillExecutionError) as stopped:
        papermill.execute_notebook(source, out, values, kernel_name="python3", progress_bar=False)
    assert stopped.value.ename == "NotHeld"
    said = "the records do not hold 'significantly in 5 of 8 comparisons and lowers it in none' (found False): holds("
    assert stopped.value.evalue.startswith(said)
