"""What pyproject.toml cannot say: a wheel has the params files of the recorded studies inside the package, and the
record that `actlab replay --quick` repeats."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent


class WithParams(build_py):
    """An editable installation reads them from the checkout."""

    def run(self) -> None:
        """Write them beside the modules."""
        super().run()
        if not self.editable_mode:
            for folder in ("params", "results/bits"):
                shutil.copytree(ROOT / folder, Path(self.build_lib) / "actlab" / folder, dirs_exist_ok=True)


setup(cmdclass={"build_py": WithParams})
