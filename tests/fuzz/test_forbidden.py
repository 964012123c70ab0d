"""What the package never does: ruff's rules S and TID251 refuse it (pyproject.toml); downloads are https, with a
checksum."""

from __future__ import annotations

import re
import subprocess
import sys

from actlab import paths
from actlab.data.sources import DATASETS

DANGEROUS = """eval("1")
exec("1")
import pickle
import marshal
import dill
import joblib
import shelve
yaml.load(x)
yaml.unsafe_load(x)
yaml.full_load(x)
torch.load(p)
np.load(p)
os.system("ls")
os.popen("ls")
subprocess.run(x, shell=True)
tarfile.open(p)
zipfile.ZipFile(p)
shutil.unpack_archive(p)
tempfile.mktemp()
urllib.request.urlopen(x)
requests.get(x)
"""
SAFE = "yaml.safe_load(x)\nmodel.eval()\nsubprocess.run(['a'])\njson.loads(x)\n"


def refused(source: str) -> set[str]:
    """The lines that ruff refuses in a file of the package."""
    modules = [
        "os",
        "json",
        "yaml",
        "torch",
        "subprocess",
        "tarfile",
        "zipfile",
        "shutil",
        "tempfile",
        "urllib.request",
        "requests",
    ]
    text = "".join(f"import {name}\n" for name in modules) + "import numpy as np\n" + source
    command = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--select=S,TID251",
        "--ignore=S603,S607",
        "--output-format=concise",
        "--stdin-filename=lib/actlab/x.py",
        "-",
    ]
    said = subprocess.run(command, cwd=paths.ROOT, input=text, capture_output=True, text=True, check=False).stdout
    lines = text.splitlines()
    return {lines[int(number) - 1] for number in re.findall(r"x\.py:(\d+):", said)}


def test_what_is_dangerous_is_refused() -> None:
    assert set(DANGEROUS.splitlines()) - refused(DANGEROUS) == set()
    assert refused(SAFE) & set(SAFE.splitlines()) == set()


def test_downloads_are_https_with_a_checksum() -> None:
    """Every file of every data set, and no other address is asked for anywhere in the package."""
    listed = [source for row in DATASETS.values() for source in row.files()]
    assert len(listed) > 100
    assert all(source.url.startswith("https://") and re.fullmatch("[0-9a-f]{64}", source.sha256) for source in listed)
    text = "".join(file.read_text(encoding="utf-8") for file in (paths.ROOT / "lib" / "actlab").rglob("*.py"))
    assert set(re.findall(r"\bhttp://[^\s\"'`)]+", text)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1998/Math/MathML",
    }
