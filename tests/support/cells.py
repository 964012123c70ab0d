"""A notebook's cells, run in this process as papermill would run them, without a kernel. Not a test."""

import ast

import matplotlib as mpl
import nbformat

from actlab import paths


def executed(notebook, **given):
    """The variables of ``notebooks/NOTEBOOK.ipynb`` after its last cell; ``given``: its parameters."""
    mpl.use("agg")
    page = {"In": [], "display": shown, "get_ipython": lambda: None, "__name__": "__main__"}
    for cell in nbformat.read(paths.ROOT / "notebooks" / f"{notebook}.ipynb", 4).cells:
        if cell.cell_type == "code":
            _run(cell.source, page)
            if given and "parameters" in cell.metadata.get("tags", []):
                _run("\n".join(["# Parameters", *(f"{name} = {value!r}" for name, value in given.items())]), page)
    return page


def shown(*values):
    """What a notebook shows of values is asked for, and dropped."""
    for value in values:
        for how in ("_repr_html_", "_repr_markdown_"):
            getattr(value, how, lambda: None)()


def _run(source, page):
    page["In"].append(source)
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, source.partition("\n")[0], "exec"), page)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), source.partition("\n")[0], "eval"), page)
        shown(*([] if source.rstrip().endswith(";") else [value]))
