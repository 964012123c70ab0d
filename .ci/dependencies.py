"""Write what repeats the dependencies of pyproject.toml: the list of environment.yml. A test compares the two."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("book", "data", "explore", "cluster", "lab", "test")
"""Of which conda's environment has the packages."""


def environment(before: str) -> str:
    """The file with its list made anew; what stands above the list stays."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = project["dependencies"] + [name for extra in EXTRAS for name in project["optional-dependencies"][extra]]
    head = before.partition("      - -c constraints.txt\n")[0]
    listed = "".join(f"      - {name}\n" for name in sorted({*names}, key=str.lower))
    return (
        f"{head}      - -c constraints.txt\n      - -e .[{','.join(EXTRAS)}]\n"
        f"      # what the line above installs, by name (.ci/dependencies.py)\n{listed}"
    )


if __name__ == "__main__":
    file = ROOT / "environment.yml"
    file.write_text(environment(file.read_text(encoding="utf-8")), encoding="utf-8")
