"""What the package never does: it unpickles nothing, evaluates no text, loads YAML and weights only in their safe ways, and downloads by https."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from actlab import paths
from actlab.data import sources
from actlab.data.fetch import DATASETS

FILES = sorted((paths.ROOT / "lib" / "actlab").rglob("*.py"))
FORBIDDEN = {
    "eval": "evaluates text",
    "exec": "runs text",
    "pickle": "unpickles",
    "cPickle": "unpickles",
    "dill": "unpickles",
    "joblib": "unpickles",
    "marshal": "unpickles",
    "shelve": "unpickles",
    "yaml.load": "YAML that makes objects",
    "yaml.unsafe_load": "YAML that makes objects",
    "yaml.full_load": "YAML that makes objects",
    "os.system": "a shell",
    "os.popen": "a shell",
    "tarfile.open": "unpacks paths that lead elsewhere",
    "zipfile.ZipFile": "unpacks paths that lead elsewhere",
    "shutil.unpack_archive": "unpacks paths that lead elsewhere",
    "tempfile.mktemp": "a name that another may take",
}


def dotted(node: ast.expr) -> str:
    return f"{dotted(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def wrong(source: str) -> list[str]:
    """Calls and imports that the package may not have."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
            found += [f"import of {name}" for name in names if name.split(".")[0] in FORBIDDEN]
        elif isinstance(node, ast.Call):
            name, keywords = dotted(node.func), {k.arg: k.value for k in node.keywords}
            if name in FORBIDDEN:
                found.append(f"{name}: {FORBIDDEN[name]}")
            if name in ("torch.load", "np.load", "numpy.load"):
                safe = {"torch.load": ("weights_only", True)}.get(name, ("allow_pickle", False))
                value = keywords.get(safe[0])
                if not (isinstance(value, ast.Constant) and value.value is safe[1]):
                    found.append(f"{name} without {safe[0]}={safe[1]}")
            if isinstance(keywords.get("shell"), ast.Constant) and keywords["shell"].value:  # type: ignore[attr-defined]
                found.append(f"{name} with a shell")
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(paths.ROOT / "lib")))
def test_nothing_dangerous(file: Path) -> None:
    assert wrong(file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "source",
    ["import pickle", "from pickle import loads", "yaml.load(x)", "torch.load(p)", "np.load(p)", "eval('1')", "run(x, shell=True)"],
)
def test_the_check_sees_it(source: str) -> None:
    assert len(wrong(source)) >= 1


def test_the_check_lets_the_safe_ways_pass() -> None:
    assert wrong("yaml.safe_load(x)\ntorch.load(p, weights_only=True)\nmodel.eval()\nrun(['a'])\njson.loads(x)") == []


def test_downloads_are_https_with_a_checksum() -> None:
    """Every file of every data set, and no other address is asked for anywhere in the package."""
    listed = [source for name in DATASETS for source in sources.sources_of(name)]
    assert len(listed) > 100
    assert all(source.url.startswith("https://") and re.fullmatch("[0-9a-f]{64}", source.sha256) for source in listed)
    text = "".join(file.read_text(encoding="utf-8") for file in FILES)
    assert set(re.findall(r"\bhttp://[^\s\"'`)]+", text)) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML"}
    assert not re.search(r"urlopen|urlretrieve|requests\.get", text)
