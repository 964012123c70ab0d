"""Take-home's code for Hugging Face's Trainer and for Lightning, as it is printed; skipped where they are not there."""

import importlib.util
import re
import sys

import nbformat
import pytest
from tiny import ran

from actlab import paths

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize("package", ["transformers", "lightning"])
def test_the_code_for_a_framework_runs(package, tmp_path):
    """Two seeds, trained and measured; the extra of that name brings what it imports."""
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    cells = nbformat.read(paths.ROOT / "notebooks" / "takehome.ipynb", 4).cells
    blocks = [block for cell in cells if cell.cell_type == "markdown" for block in BLOCK.findall(cell.source)]
    (block,) = (block for block in blocks if re.search(rf"^(import|from) {package}\b", block, re.MULTILINE))
    said = ran([sys.executable, "-c", block], cwd=tmp_path).stdout
    assert re.search(r"^total variation 0\.\d\d, churn 0\.\d\d$", said, re.MULTILINE)
