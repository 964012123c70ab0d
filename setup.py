"""What pyproject.toml cannot say: a wheel has the params files of the recorded studies, and the hash of their records,
inside the package; the source archive has that hash in place of the records."""

import runpy
import shutil
import subprocess
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parent
HASH = "records.sha256"


def hash_of_records() -> str:
    """Of the records that are committed; as the source archive has it, where they are not here."""
    if (ROOT / HASH).exists():
        return (ROOT / HASH).read_text(encoding="utf-8")
    listed = subprocess.run(["git", "ls-files", "results"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = [name.removeprefix("results/") for name in listed.stdout.splitlines()]
    return runpy.run_path(str(ROOT / "lib/actlab/data/tree.py"))["sha256_of_files"](ROOT / "results", names) + "\n"


class WithParams(build_py):
    """An editable installation reads them from the checkout."""

    def run(self) -> None:
        """Write them beside the modules."""
        super().run()
        if not self.editable_mode:
            package = Path(self.build_lib) / "actlab"
            (package / "params").mkdir(parents=True, exist_ok=True)
            for file in sorted((ROOT / "params").glob("*.yaml")):
                shutil.copy(file, package / "params")
            (package / HASH).write_text(hash_of_records(), encoding="utf-8")


class WithHash(sdist):
    """The records themselves are too large for it."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        """Write the hash beside them."""
        super().make_release_tree(base_dir, files)
        (Path(base_dir) / HASH).write_text(hash_of_records(), encoding="utf-8")


setup(cmdclass={"build_py": WithParams, "sdist": WithHash})
