"""Write what repeats the dependencies of pyproject.toml: the lists of environment.yml. A test compares the two."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("book", "data", "explore", "cluster", "lab", "test")
"""Of which conda's environment has the packages."""


def torch_for_cpu() -> str:
    """conda's PyTorch without CUDA, of the version of constraints.txt, so that pip finds it there and brings none."""
    pinned = re.search(r"^torch==(\S+)", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert pinned, "constraints.txt pins torch"
    return f"  - pytorch-cpu={pinned[1]}  # pytorch-gpu in its place brings CUDA\n"


def environment(before: str) -> str:
    """The file with its lists made anew; what stands above the lists stays."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = project["dependencies"] + [name for extra in EXTRAS for name in project["optional-dependencies"][extra]]
    head = re.sub(r"(?m)^  - pytorch-.*\n", "", before.partition("      - -c constraints.txt\n")[0])
    head = head.replace("  - pip\n", f"  - pip\n{torch_for_cpu()}")
    listed = "".join(f"      - {name}\n" for name in sorted({*names}, key=str.lower))
    return (
        f"{head}      - -c constraints.txt\n      - -e .[{','.join(EXTRAS)}]\n"
        f"      # what the line above installs, by name (.ci/dependencies.py)\n{listed}"
    )


if __name__ == "__main__":
    file = ROOT / "environment.yml"
    file.write_text(environment(file.read_text(encoding="utf-8")), encoding="utf-8")
