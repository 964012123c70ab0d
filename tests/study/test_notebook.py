"""Notebook parameters, through papermill as a user calls it: a mistake ends the run, and the message says what is
allowed."""

import ast
import re
import sys

import nbformat
import numpy as np
import pandas as pd
import pytest
from papermill import inspect_notebook
from tiny import ran

from actlab import paths
from actlab.checks import checked, given, injected, readable
from actlab.errors import BadInput, UnknownName
from actlab.study.characters.study import CharacterStudy
from actlab.study.images import ImageStudy
from actlab.study.params import read_params
from actlab.study.tokens import TokenStudy


def globals_after(cell, **values):
    return {"In": ["", "trials = 3", f"# Parameters\n{cell}", "checked(globals())"], "_": 1, **values}


@pytest.mark.slow
def test_a_mistake_ends_a_run_of_papermill(tmp_path):
    """Exit code not zero, and the message names the parameter, where it stands and what is allowed. (That what is right
    is injected, the runs of the pages show.)"""
    page = paths.ROOT / "notebooks" / "repro.ipynb"
    words = ["papermill", page, tmp_path / "out.ipynb", "--no-progress-bar", "-p", "trails", "3"]
    wrong = ran([sys.executable, "-m", *words], fails=True, timeout=120).stderr
    assert "unknown parameter 'trails' in the notebook's parameters: did you mean 'trials'? known are activ" in wrong


def test_every_name_of_the_injected_cell_is_seen():
    """Only the last cell that papermill injected counts; names of later cells in a live session do not."""
    assert injected(globals_after("model = 'convlm'\ntrails = 3\nlist_ = [1]")) == ["model", "trails", "list_"]
    assert injected({"In": ["", "trails = 3"]}) == []
    assert injected({}) == []


def test_extra_parameters_are_checked():
    """A parameter of one notebook only is held to its type; absent ones have the study's defaults."""
    assert checked({"trials": 7, "figure": object()}, CharacterStudy) == CharacterStudy(trials=7)
    assert checked({"reach": 3}, CharacterStudy, reach=float) == CharacterStudy()
    for value, wanted in ((1.0, int), (True, int), (None, str)):
        with pytest.raises(BadInput, match=rf"show={value!r}: expected {wanted.__name__}"):
            checked({"show": value}, CharacterStudy, show=wanted)


def test_a_whole_params_file_may_be_given():
    """`papermill -f params/X.yaml` brings the file's kind along; a field that the notebook's kind lacks is refused."""
    assert checked(globals_after("kind = 'repro'", kind="repro", trials=2), CharacterStudy).trials == 2
    with pytest.raises(UnknownName, match="trails"):
        checked(globals_after("trails = 3", trails=3), CharacterStudy)


def test_every_notebook_checks_its_parameters_and_says_their_types():
    """A misspelt parameter is refused by the check that the notebook itself makes, and `papermill --help-notebook` has
    a type for each."""
    wrong = []
    for path in sorted((paths.ROOT / "notebooks").glob("*.ipynb")):
        cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        (declared,) = [cell.source for cell in cells if "parameters" in cell.metadata.get("tags", [])]
        lines = [line for cell in cells for line in cell.source.splitlines()]
        check = [line for line in lines if re.search(r"^own = {|^texts = |\b(given|checked)\(globals\(\)", line)]
        needed = [line for line in lines if line.startswith(("from actlab.study", "from actlab.checks"))]
        space = {}
        exec("\n".join([declared, *needed]), space)
        space["In"] = ["", declared, "# Parameters\ntitel = 'x'"]
        seen = inspect_notebook(path)
        for name in ast.parse(declared).body:
            if not isinstance(name, ast.AnnAssign) or name.target.id not in seen:
                wrong.append(f"{path.name}: {ast.unparse(name)} has no type")
        with pytest.raises(UnknownName, match="unknown parameter 'titel'"):
            exec("\n".join(check), space)
        space["In"] = []
        exec("\n".join(check), space)  # as it stands it is right
    assert wrong == []


def test_a_metric_is_one_that_is_measured():
    """Before anything is trained: of pairs, or the study's own; no other column of the tables."""
    cells = nbformat.read(paths.ROOT / "notebooks" / "repro.ipynb", as_version=4).cells
    declared, check = [cell.source for cell in cells if cell.cell_type == "code"][:2]
    space = {}
    exec(declared, space)
    with pytest.raises(UnknownName, match=r"unknown metric 'learning_rate' .* known are churn, "):
        exec(check, space | {"metric": "learning_rate"})


@pytest.mark.parametrize(("name", "kind"), [("repro", CharacterStudy), ("mnist", ImageStudy), ("ablation", TokenStudy)])
def test_papermill_knows_every_field(name, kind):
    """A field of a params file is a parameter of its notebook, so that papermill does not call it unknown, and as it
    stands there the notebook asks for what its quick file plans."""
    known = inspect_notebook(paths.ROOT / "notebooks" / f"{name}.ipynb")
    given = {field: ast.literal_eval(about["default"]) for field, about in known.items()}
    assert checked(given, kind) == read_params(paths.ROOT / "params" / f"{name}-quick.yaml")
    assert {*kind.model_fields, "kind"} - set(known) == set()
    assert checked(dict.fromkeys([*kind.model_fields, "kind"]), kind) == kind()


def test_a_list_may_be_given_in_words():
    """papermill's -p gives text: a list in it becomes one, a single name a list of one."""
    for value, wanted in (('["a", "b"]', ["a", "b"]), ("a", ["a"]), (["a"], ["a"])):
        space = {"studies": value}
        given(space, studies=list)
        assert space["studies"] == wanted


def test_a_table_is_shown_as_people_read_it():
    """Names of the labels table for identifiers in every place of a table, whole numbers without decimals, a dash for
    what is missing; the table itself is as it was."""
    table = pd.DataFrame(
        {"activation": ["relu", "gelu"], "n": [10.0, np.nan], "p_holm": [0.25, 0.5]},
        index=pd.MultiIndex.from_tuples([("val_loss", 2.0), ("smelu_1", 4.0)], names=["of", "at_rate"]),
    )
    told = re.findall(r">([^<>\s][^<>]*)<", readable(table).partition("</style>")[2])
    heads = ["activation", "n", "p (Holm)", "of", "at rate"]
    assert told == [*heads, "validation loss", "2", "ReLU", "10", "0.25", "SmeLU-1", "4", "GELU", "–", "0.50"]
    assert table["activation"].tolist() == ["relu", "gelu"]
