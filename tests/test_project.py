"""A project of a user's own: found from its folders, beside actlab's checkout and without one."""

import textwrap

import pytest
from tiny import typed

from actlab import paths
from actlab.errors import BadInput
from actlab.records import tables
from actlab.study import cache

QUICK = ("run", "params/first.yaml", "--workers", 1, "--max-iters", 2, "--activation", "relu,gelu")


@pytest.fixture
def own(tmp_path, monkeypatch, toy):
    """A new project, the current folder; nothing in the environment moves what is in it."""
    for variable in ("ACTLAB_DATA", "ACTLAB_RESULTS", "ACTLAB_CACHE"):
        monkeypatch.delenv(variable, raising=False)
    cache.code.cache_clear()
    monkeypatch.chdir(tmp_path)
    assert typed("init", "own") == 0
    monkeypatch.chdir(tmp_path / "own")
    yield tmp_path / "own"
    cache.code.cache_clear()


@pytest.fixture
def no_checkout(monkeypatch):
    """As a wheel has it."""
    monkeypatch.setattr(paths, "CHECKOUT", None)


def test_the_nearest_project_counts_and_a_checkout_is_its_own(own, monkeypatch):
    """From a folder below it too; from anywhere else the checkout."""
    monkeypatch.chdir(own / "params")
    assert (paths.results(), paths.cache(), paths.data()) == (own / "results", own / ".cache", own / "data")
    monkeypatch.chdir(own.parent)
    assert paths.results() == paths.ROOT / "results"


def test_a_command_outside_of_any_project_says_so(own, no_checkout, monkeypatch, capsys):
    """What needs no folder works there: the names; what does names `actlab init`, and nothing is written."""
    monkeypatch.chdir(own.parent)
    assert typed("list", "activations") == 0
    assert typed("list", "studies") == 0
    capsys.readouterr()
    assert typed("run", "params/repro-quick.yaml") == 2
    assert "is in no project of actlab: `actlab init` makes it one" in capsys.readouterr().err
    assert typed("book") == 2
    assert "works in actlab's own checkout: run it in a clone" in capsys.readouterr().err
    assert [*own.parent.iterdir()] == [own]
    with pytest.raises(paths.NoProject, match="ACTLAB_RESULTS names a folder outside of any"):
        tables.load("repro-lite")


def test_a_new_project_runs_reports_and_compares(own, capsys):
    """As its README says; printed paths lead there from where the user stands; what is there is left as it is."""
    assert typed(*QUICK) == 0
    assert typed(*QUICK, "--set", "study=second", "--set", "learning_rate=0.1") == 0
    assert typed("report", "first", "--no-plots") == 0
    assert typed("compare", "first", "second") == 0
    said = capsys.readouterr().out
    assert "results/first: 2 of 2 records" in said
    assert "out/first/summary.txt" in said
    (own / "README.md").write_text("mine")
    assert typed("init") == 0
    assert (own / "README.md").read_text() == "mine"
    assert typed("init", paths.ROOT) == 2


@pytest.mark.usefixtures("no_own_parts")
def test_the_parts_that_its_readme_shows_train(own, capsys):
    """An activation and an optimizer of one's own, as they are printed there."""
    part = (own / "README.md").read_text().split("here `my_parts.py`:\n")[1].partition("    actlab run")[0]
    (own / "my_parts.py").write_text(textwrap.dedent(part))
    parts = ("--plugin", "my_parts.py", "-p", "activation=[relu,squareplus]", "-p", "optimizer=signs")
    assert typed("run", "params/first.yaml", *parts, "--workers", 1, "--max-iters", 2, "--trials", 1) == 0
    assert "2 of 2 records" in capsys.readouterr().out


def test_the_notebook_of_a_new_project_shows_its_study(own, monkeypatch):
    """Its cells as they stand."""
    import nbformat

    assert typed(*QUICK) == 0
    variables = {}
    for cell in nbformat.read(own / "first.ipynb", 4).cells:
        if cell.cell_type == "code":
            exec(cell.source, variables)
    assert list(variables["found"]["activation"]) == ["gelu"]
    with pytest.raises(BadInput, match="unknown study"):
        tables.load("frist")
