"""The arrows of the house: who may import whom, so that none runs back; and how large it may be."""

import ast
import io
import os
import re
import subprocess
import sys
import tokenize
from functools import cache
from pathlib import Path

import grimp
import pytest
import yaml

from actlab import paths

PACKAGE = paths.ROOT / "lib" / "actlab"
MAY = yaml.safe_load(Path(__file__).with_name("arrows.yaml").read_text(encoding="utf-8"))
NAMES_TO_OBJECTS = {"get_activation", "build_model", "ACTIVATIONS", "MODELS"}


@cache
def graph():
    """Who imports whom, anywhere in a file; other packages by their first name."""
    return grimp.build_graph("actlab", "actlab_audit", include_external_packages=True, cache_dir=None)


def modules_of(room):
    """A room is a package or a single module; a renamed one is an error."""
    name = room if room == "actlab_audit" else f"actlab.{room}"
    return {name, *graph().find_descendants(name)}


def room_of(module):
    """``records`` of ``actlab.records.store``; the audit is one room."""
    return module.removeprefix("actlab.").split(".")[0]


def test_no_arrow_runs_back(subtests):
    """Every import of every module of the room is one that the design allows."""
    assert "actlab.records.store" in graph().find_modules_directly_imported_by("actlab.cli.training")  # in functions
    for room, may in MAY.items():
        with subtests.test(room=room):
            found = set().union(*map(graph().find_modules_directly_imported_by, modules_of(room)))
            ours = {name for name in found if name.startswith(("actlab.", "actlab_audit"))}
            assert {room_of(name) for name in ours} <= {room, *may["rooms"]}
            outside = found - ours - sys.stdlib_module_names
            assert may["outside"] == "any" or outside <= {*may["outside"]}


def test_names_become_objects_in_the_study_only():
    """Training never looks a model or an activation up by name."""
    for file in (PACKAGE / "trainers").rglob("*.py"):
        assert not NAMES_TO_OBJECTS & set(re.findall(r"\w+", file.read_text(encoding="utf-8"))), file.name


MOST_ENTRIES, LONGEST = 21, 300
"""Of the package: entries at its root, lines of a file but for these flat catalogues."""
LONG = {"records/schema.py", "plugins.py"}
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def tokens(source):
    """Of Python source, without comments, docstrings and layout: line length does not change it."""
    docstrings = sum(
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in ast.walk(ast.parse(source))
    )
    count = depth = 0  # of f-strings, which are one token up to Python 3.11
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        name = tokenize.tok_name[token.type]
        depth -= name == "FSTRING_END"
        count += token.type not in LAYOUT and depth == 0 and name != "FSTRING_END"
        depth += name == "FSTRING_START"
    return count - docstrings


def test_the_house_is_small():
    """What a reader has to hold in the head: entries at the root, lines of a file."""
    entries = [path.name for path in PACKAGE.iterdir() if path.name not in ("__pycache__", "py.typed")]
    assert len(entries) <= MOST_ENTRIES, sorted(entries)
    texts = {path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    assert {name for name, text in texts.items() if text.count("\n") > LONGEST} == LONG


def test_the_way_to_change_a_study_is_short():
    """What CONTRIBUTING.md gives to read, row by row, within a quarter of what it says, and 20,000 tokens in all."""
    text = (paths.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[^|]*`) \| ([\d,]+) \|", text, re.MULTILINE)
    counted = [sum(tokens((PACKAGE / name).read_text()) for name in re.findall("[^` ]+", names)) for names, _ in rows]
    assert counted == [pytest.approx(int(said.replace(",", "")), rel=0.25) for _, said in rows]
    assert 15_000 < sum(counted) <= 20_000


def test_reading_results_needs_no_torch():
    """The package, records, statistics and figures load without importing torch."""
    modules = ", ".join(sorted(set().union(*map(modules_of, ("statistics", "records", "figures")))))
    code = f"import sys, actlab, {modules}; actlab.load; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=False).returncode == 0


TRAINING = """
import sys
from actlab.study.cache import train_afresh
from actlab.study.params import study_of
from actlab.study.run import tasks_of
gelu = {"activation": "gelu"}
settings = {"repro": {"noise_floor": False, **gelu}, "ablation": {"symmetry": "bQbV", **gelu}}
for kind in ("repro", "ablation", "twins"):
    study = study_of(kind).parse({"study": "some", "iterations": 1, **settings.get(kind, {})})
    for arm in study.arms()[:4]:
        ((results, _), *_) = train_afresh(tasks_of([arm])[0])
        assert results["status"] == "done", results
        assert "torch._dynamo" not in sys.modules, arm.name
"""


@pytest.mark.slow
def test_training_loads_no_compiler(tmp_path):
    """Neither optimizers nor GPT-2 nor determinism load what ``torch.compile`` needs, which takes 2 s."""
    environment = {**os.environ, "ACTLAB_CACHE": str(tmp_path)}
    subprocess.run([sys.executable, "-c", TRAINING], env=environment, check=True, capture_output=True)
