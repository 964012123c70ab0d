"""The explorer as a widget and as a page: one program, the same numbers."""

import re

from explored import catalogue

from actlab.explorer.widget import Explorer


def test_page_is_whole():
    """Program, style and numbers in one piece: no address of anything else, and the same bytes each time."""
    made = Explorer(catalogue=catalogue())
    page = made.to_html()
    assert set(re.findall(r"https?://[^\"')\s]+", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"^(import|export)\b", page, re.MULTILINE)
    assert made._repr_mimebundle_()[0]["text/html"] == page
