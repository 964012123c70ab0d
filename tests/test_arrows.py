"""The arrows of the house: who may import whom, read from the source, so that none runs back."""

import ast
import io
import subprocess
import sys
import tokenize
from pathlib import Path

import yaml

from actlab import paths

PACKAGE = paths.ROOT / "lib" / "actlab"
MAY = yaml.safe_load(Path(__file__).with_name("arrows.yaml").read_text(encoding="utf-8"))
NAMES_TO_OBJECTS = {"get_activation", "find_activation", "build_model", "ACTIVATIONS", "MODELS"}


def imports(source, package):
    """Dotted names that a module imports, anywhere in it; ``package`` resolves relative imports."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*parents, *([node.module] if node.module else [])])
            found += [f"{base}.{alias.name}" for alias in node.names]
    return found


def wrong(room, names):
    """The imports that a room may not have."""
    rooms, outside = {*MAY[room]["rooms"], room}, MAY[room]["outside"]
    bad = []
    for name in names:
        head, *rest = name.split(".")
        if head == "actlab":
            fits = rest and rest[0] in rooms
        else:
            fits = head in sys.stdlib_module_names or outside == "any" or head in outside
        bad += [] if fits else [name]
    return bad


def files_of(room):
    """A room is a folder or a single file."""
    return sorted((PACKAGE / room).rglob("*.py")) or [path for path in [PACKAGE / f"{room}.py"] if path.exists()]


def test_no_arrow_runs_back(subtests):
    """Every import of every file of the room is one that the design allows; a renamed folder does not escape."""
    for room in MAY:
        with subtests.test(room=room):
            assert files_of(room)
            for file in files_of(room):
                package = ".".join(["actlab", *file.relative_to(PACKAGE).parts[:-1]])
                assert wrong(room, imports(file.read_text(encoding="utf-8"), package)) == [], file.relative_to(PACKAGE)


def test_a_wrong_import_is_caught_and_a_right_one_passes(subtests):
    """The check itself sees imports in functions, of submodules, relative ones and plain ones."""
    for room, source, found in [
        ("chapters", "import torch.nn", 1),
        ("statistics", "from actlab.metrics import churn", 1),
        ("trainers", "def f():\n    from actlab import study", 1),
        ("models", "from ..data import text", 1),
        ("study", "from actlab.cli import app", 1),
        ("metrics", "if True:\n    import actlab", 1),
        ("statistics", "import math\nfrom scipy import stats", 0),
        ("trainers", "from .streams import derive", 0),
        ("study", "import yaml\nfrom actlab import records, paths", 0),
    ]:
        with subtests.test(room=room, source=source):
            assert len(wrong(room, imports(source, f"actlab.{room}"))) == found


def test_names_become_objects_in_the_study_only():
    """Training never looks a model or an activation up by name."""
    for file in files_of("trainers"):
        found = {name.rsplit(".", 1)[-1] for name in imports(file.read_text(encoding="utf-8"), "actlab.trainers")}
        assert not found & NAMES_TO_OBJECTS, file.name


MOST_ENTRIES, LONGEST, TOKENS = 20, 300, 120_200
"""Of the package: entries at its root, lines of a file, tokens without comments, docstrings and layout. The last is
what is reached: lower it with every smaller house, never raise it without saying why."""
TOKENS_OF_TESTS = 104_800
"""Of ``tests/``, counted and kept in the same way."""
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
    said = {
        (node.lineno, node.col_offset)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }
    found = tokenize.generate_tokens(io.StringIO(source).readline)
    return sum(token.type not in LAYOUT and token.start not in said for token in found)


def test_the_house_is_small():
    """What a reader has to hold in the head: entries, lines of a file, tokens in all, also of the tests."""
    entries = [path.name for path in PACKAGE.iterdir() if path.name not in ("__pycache__", "py.typed")]
    assert len(entries) <= MOST_ENTRIES, sorted(entries)
    texts = {path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    assert {name for name, text in texts.items() if text.count("\n") > LONGEST} == set()
    assert sum(map(tokens, texts.values())) <= TOKENS
    tests = [path.read_text(encoding="utf-8") for path in (paths.ROOT / "tests").rglob("*.py")]
    assert sum(map(tokens, tests)) <= TOKENS_OF_TESTS


def test_reading_results_needs_no_torch():
    """The package, records, statistics and figures load without importing torch."""
    files = [file for room in ("statistics", "records", "figures") for file in files_of(room)]
    names = [".".join(file.relative_to(PACKAGE).with_suffix("").parts) for file in files]
    modules = ", ".join(f"actlab.{name.removesuffix('.__init__')}" for name in names)
    code = f"import sys, actlab, {modules}; actlab.load; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=False).returncode == 0
