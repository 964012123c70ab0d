"""The arrows of the house: who may import whom, so that none runs back; and how large it may be."""

import ast
import io
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
NAMES_TO_OBJECTS = {"get_activation", "find_activation", "build_model", "ACTIVATIONS", "MODELS"}


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


MOST_ENTRIES, LONGEST, TOKENS = 20, 300, 100_773
"""Of the package: entries at its root, lines of a file, tokens without
comments, docstrings and layout. The last is what is reached: lower it with every smaller house, never raise it without
saying why (12 more: `status` asks once for a device that is not here, 75 s and more before, 27 s after)."""
TOKENS_OF_TESTS = 94_203
"""Of ``tests/``, counted and kept in the same way; 99,000 before every command of every page was typed and
three pictures of the explorer were tested."""
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def tokens(source):
    """Of Python source, without comments, docstrings and layout: line length does not change it, nor the Python that
    counts. Code inside an f-string counts beside the string."""
    nodes = list(ast.walk(ast.parse(source)))
    texts = [node.value for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    inside = [ast.unparse(node.value) for node in nodes if isinstance(node, ast.FormattedValue)]
    return sum(map(plain, [source, *inside])) - sum(isinstance(text.value, str) for text in texts)


def plain(source):
    """The same with docstrings, and an f-string as one."""
    found, depth = 0, 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        name = tokenize.tok_name[token.type]
        found += depth == 0 and token.type not in LAYOUT
        depth += (name == "FSTRING_START") - (name == "FSTRING_END")
    return found


def test_the_house_is_small():
    """What a reader has to hold in the head: entries, lines of a file, tokens in all, also of the tests."""
    entries = [path.name for path in PACKAGE.iterdir() if path.name not in ("__pycache__", "py.typed")]
    assert len(entries) <= MOST_ENTRIES, sorted(entries)
    texts = {path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    assert {name for name, text in texts.items() if text.count("\n") > LONGEST} == set()
    assert sum(map(tokens, texts.values())) <= TOKENS
    tests = [path.read_text(encoding="utf-8") for path in (paths.ROOT / "tests").rglob("*.py")]
    assert sum(map(tokens, tests)) <= TOKENS_OF_TESTS


ASIDE = re.compile(r"(Error|BadInput|UnknownName|DamagedRecord|add_note|print|confirm|warn|warning|holds)$")
"""Calls whose arguments are errors, messages of the command line, or statements that a page repeats."""
SENTENCES = 33
"""In ``lib/``, the audit's among them; kept as ``TOKENS``."""


def sentences(source):
    """(line, text) of each string of eight words or more that is no docstring, error or help: prose is a page's."""
    nodes, found = list(ast.walk(ast.parse(source))), []
    raised = {n.id for r in nodes if isinstance(r, ast.Raise) for n in ast.walk(r) if isinstance(n, ast.Name)}

    def is_aside(node):
        match node:
            case ast.Raise() | ast.Expr(value=ast.Constant()) | ast.keyword(arg="help" | "description"):
                return True
            case ast.Assign(targets=[ast.Name(id=name)]):
                return name in raised
            case ast.Call():
                return ASIDE.search(ast.unparse(node.func))

    aside = {inner for node in nodes if is_aside(node) for inner in ast.walk(node)}
    for node in nodes:  # an f-string comes before its parts
        if node not in aside and isinstance(node, ast.JoinedStr | ast.Constant):
            parts = getattr(node, "values", [node])
            aside.update(parts)
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "0" for part in parts)
            words = [word for word in text.split() if re.fullmatch(r"\W*[A-Za-z][A-Za-z'-]*\W*", word)]
            found.extend([(node.lineno, text)] if len(words) >= 8 else [])
    return found


def test_no_prose_is_made_in_lib():
    """A sentence is seen, also with numbers in it; one that is raised, a docstring and help are none."""
    told = 'def f(x):\n    """One two three four five six seven."""\n    s = f"a b c d {x} e f g h"\n    return s\n'
    assert sentences(told) == [(3, "a b c d 0 e f g h")]
    assert sentences(told.replace("return s", "raise ValueError(s)")) == []
    files = (paths.ROOT / "lib").rglob("*.py")
    found = [f"{path.name}:{line}: {text}" for path in files for line, text in sentences(path.read_text("utf-8"))]
    assert len(found) <= SENTENCES, "\n".join(found)


def test_the_way_to_change_a_study_is_short():
    """What CONTRIBUTING.md gives to read, row by row, within a quarter of what it says, and 30,000 tokens in all."""
    text = (paths.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[^|]*`) \| ([\d,]+) \|", text, re.MULTILINE)
    counted = [sum(tokens((PACKAGE / name).read_text()) for name in re.findall("[^` ]+", names)) for names, _ in rows]
    assert counted == [pytest.approx(int(said.replace(",", "")), rel=0.25) for _, said in rows]
    assert 20_000 < sum(counted) <= 30_000


def test_reading_results_needs_no_torch():
    """The package, records, statistics and figures load without importing torch."""
    modules = ", ".join(sorted(set().union(*map(modules_of, ("statistics", "records", "figures")))))
    code = f"import sys, actlab, {modules}; actlab.load; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=False).returncode == 0
