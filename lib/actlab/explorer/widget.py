"""The explorer as a widget: live in a notebook, plain HTML and JavaScript on the published page. What it shows:
``catalogue.py``."""

import json
from base64 import b64encode
from gzip import compress
from pathlib import Path
from typing import Any

import anywidget
import traitlets

STYLE, FRAME, *PROGRAM = (
    Path(__file__).with_name(name).read_text(encoding="utf-8")
    for name in ("explorer.css", "explorer.html", "chart.js", "choice.js", "views.js", "program.js")
)
CODE = "".join([f"const FRAME = {json.dumps(FRAME)};\n", *PROGRAM])
"""The program, which is one in the page, and what it fills."""
PAGE = """<div id="explorer"><noscript>The explorer needs JavaScript; \
the same numbers are in the tables of each study's page.</noscript></div>
<style>{css}</style>
<script type="application/gzip" id="explorer-numbers">{numbers}</script>
<script type="module">
{code}
const text = atob(document.getElementById("explorer-numbers").textContent);
const packed = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
const catalogue = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
render({{ model: addressed(catalogue), el: document.getElementById("explorer") }});
</script>"""


class Explorer(anywidget.AnyWidget):
    """Menus, pictures and a table over some studies. ``choice`` holds what is chosen, as the page's address does."""

    _esm, _css = f"{CODE}\nexport default {{ render }};", STYLE
    catalogue = traitlets.Dict().tag(sync=True)
    choice = traitlets.Dict().tag(sync=True)

    def to_html(self) -> str:
        """The published page's explorer: program and numbers in one piece, nothing is loaded. The script is the same
        whatever the numbers are."""
        text = json.dumps(self.catalogue, separators=(",", ":"), allow_nan=False).encode()
        return PAGE.format(css=STYLE, code=CODE, numbers=b64encode(compress(text, mtime=0)).decode())

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The live widget, and HTML for a page without a kernel."""
        live: Any = super()._repr_mimebundle_(**kwargs)
        return {**live[0], "text/html": self.to_html()}, live[1]
