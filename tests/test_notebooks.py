"""Every notebook is analysis that a reader can follow: nothing removed, short visible cells, a typed title, checks
beside it and not in it."""

import ast

import nbformat
import pytest

from _ext.pages import load_pages
from actlab import paths

NOTEBOOKS = sorted((paths.ROOT / "notebooks").glob("*.ipynb"))
CHECKS = paths.ROOT / "notebooks" / "checks"
LINES = 15
"""Visible ones of a cell."""
FOLDED = {"hide-input", "hide-cell"}
TAGS = {*FOLDED, "hide-output", "parameters", "lead"}
ESTIMATORS = {
    "contrasts",
    "means",
    "jackknife",
    "bound",
    "equal_loss",
    "at_equal_loss",
    "at_loss",
    "beside_training",
    "share",
}


def cells_of(path, kind="code"):
    """(tags, source) of every cell of a kind."""
    cells = nbformat.read(path, 4).cells
    return [({*cell.metadata.get("tags", [])}, cell.source) for cell in cells if cell.cell_type == kind]


def python(source):
    """The tree of a cell without IPython's own lines."""
    return ast.parse("\n".join(line for line in source.splitlines() if not line.lstrip().startswith(("%", "!"))))


def called(tree):
    """Names of the functions that code calls."""
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {ast.unparse(function).rpartition(".")[2] for function in calls}


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
        if not tags & {*FOLDED, "parameters"} and (lines := source.count("\n") + 1) > LINES:
            found.append(f"{lines} visible lines: {first}")
    return found


def faults_of_a_page(path):
    """What is not as it should be on a page: a check in a cell, estimates that are folded."""
    found = []
    for tags, source in cells_of(path):
        first, calls = source.partition("\n")[0], called(python(source))
        if calls & {"holds", "agrees"}:
            found.append(f"a check in a cell: {first}")
        if tags & FOLDED and calls & ESTIMATORS:
            found.append(f"a folded cell estimates ({', '.join(sorted(calls & ESTIMATORS))}): {first}")
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_analysis_with_typed_prose(path):
    """No removed cell, no long one, no def, no output, a typed title."""
    found = faults(path) + faults_of_a_page(path)
    assert not found, "\n".join(found)


COMPUTED = {"build_model", "fresh", "flow", "run", "bring", "train_afresh"}


def faults_of_checks(text):
    """What a file of checks may not do: it reads records, since what a reader's machine computes, or its Python's own
    text, is not what the author's was."""
    tree = ast.parse(text)
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules = {name.partition(".")[0] for name in imported} & {"torch", "sklearn", "time", "datetime", "sys", "os"}
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    return sorted(modules | called(tree) & COMPUTED) + ["no check"] * (not any(n.startswith("check_") for n in names))


def test_checks_are_of_a_page_and_read_records(subtests):
    """A file whose page is gone would never run; one that computes fails on another machine. The page whose every
    number is computed where it is read has none."""
    assert {page.notebook for page in load_pages()} == {path.stem for path in CHECKS.glob("*.py")} | {"takehome"}
    assert faults_of_checks("import torch\ndef check_a(): flow(trial)") == ["flow", "torch"]
    assert faults_of_checks("from actlab import holds") == ["no check"]
    for path in CHECKS.glob("*.py"):
        with subtests.test(path.stem):
            assert not faults_of_checks(path.read_text(encoding="utf-8"))
