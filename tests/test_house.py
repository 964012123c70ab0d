"""The house's own rules: no machine's paths, one list of dependencies."""

import re
import tomllib

import yaml

from actlab import paths

WRITTEN = ("*.md", "*.toml", "*.yml", "*.yaml", "*.py", "*.ipynb", "*.txt", "*.cff", "*.css", "*.js", "Makefile")
MACHINE = re.compile(
    "|".join(["/" + "work/", "/" + "home/" + r"\w", "/" + "Users/" + r"\w", "/" + "root/", r"\b[A-Z]:" + r"\\\\"])
)


def texts():
    """Every text that people write: at the root and in the folders of the layout, not what is built or downloaded."""
    root = paths.ROOT
    folders = [root / name for name in ("lib", "tests", "params", "notebooks", "book", "results", ".ci", ".github")]
    built = {"_build", "_generated", "studies", "__pycache__"}
    found = [path for pattern in WRITTEN for path in root.glob(pattern)]
    found += [path for folder in folders for pattern in (*WRITTEN, "*.json", "run") for path in folder.rglob(pattern)]
    return [path for path in found if path.is_file() and not built & set(path.parts) and "egg-info" not in str(path)]


def test_no_path_of_a_machine():
    """No committed text names a folder that exists on one machine only."""
    assert len(texts()) > 50
    found = [
        f"{path.relative_to(paths.ROOT)}: {m.group()}"
        for path in texts()
        if (m := MACHINE.search(path.read_text(encoding="utf-8")))
    ]
    assert found == []


def bare(requirement):
    """A requirement's package name, normalised."""
    return re.split(r"[<>=!~\[; ]", requirement.strip(), maxsplit=1)[0].lower().replace("_", "-")


def test_environment_yml_and_constraints_name_the_packages_of_pyproject():
    """conda's list and pip's list cannot drift apart: dependencies and the extra ``test``, no more and no less; and
    constraints.txt pins each of them."""
    entries = yaml.safe_load((paths.ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    conda = [entry for entry in entries if isinstance(entry, str)]
    pip = [entry for group in entries if isinstance(group, dict) for entry in group["pip"] if not entry.startswith("-")]
    project = tomllib.loads((paths.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {bare(name) for name in project["dependencies"] + project["optional-dependencies"]["test"]}
    assert {bare(name) for name in conda + pip} - {"python", "pip"} == declared
    assert any(re.fullmatch(r"python=3\.1[1-3]", entry) for entry in conda), (
        "repo2docker (Binder) takes a Python of its own for a range"
    )
    lines = (paths.ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert declared <= {bare(line) for line in lines if "==" in line}
