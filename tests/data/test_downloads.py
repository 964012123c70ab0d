"""Downloads are https with a checksum, and no other address is asked for anywhere in the package (ruff's rules S and
TID251 in pyproject.toml refuse the rest of what is dangerous)."""

import re

from actlab import paths
from actlab.data.catalogue import DATASETS


def test_downloads_are_https_with_a_checksum():
    listed = [source for row in DATASETS.values() for source in row.files()]
    assert len(listed) > 100
    assert all(source.url.startswith("https://") and re.fullmatch("[0-9a-f]{64}", source.sha256) for source in listed)
    text = "".join(file.read_text(encoding="utf-8") for file in (paths.ROOT / "lib" / "actlab").rglob("*.py"))
    names = {"http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML"}
    assert set(re.findall(r"\bhttp://[^\s\"'`)]+", text)) <= names
