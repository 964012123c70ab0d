"""Charts of Vega-Altair in a page that loads nothing, with the book's colours and with menus above them."""

import json
from collections.abc import Iterable
from typing import Any
from zlib import crc32

import altair
import vl_convert
from IPython.display import HTML

from actlab.figures.style import looks
from actlab.records.labels import words

LOOK = {
    "autosize": {"type": "fit", "contains": "padding"},
    "title": {"anchor": "start"},
    "legend": {"orient": "bottom", "columns": 3},
}
"""Settings that make a chart fit a phone."""
CHART = """<div class="chart"><form id="{name}-menus"></form>
<div id="{name}" style="width: 100%"></div></div>
<script>
(function draw() {{ window.vegaEmbed
  ? vegaEmbed("#{name}", {spec}, {{actions: false, renderer: "svg", bind: "#{name}-menus"}})
  : setTimeout(draw, 50); }})();
new ResizeObserver(() => dispatchEvent(new Event("resize"))).observe(document.getElementById("{name}-menus"));
</script>"""


def bundled() -> HTML:
    """Return Vega-Lite as one script, for a page to show once: charts of Altair are then drawn by it, without a
    network."""
    altair.renderers.register("bundled", chart_as_html)
    altair.renderers.enable("bundled")
    return HTML(f'<script type="module">{vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")}</script>')


def chart_as_html(spec: dict[str, Any], **_: Any) -> dict[str, str]:
    """Write a chart's specification as the HTML that ``bundled`` draws; its menus stand above it."""
    text = json.dumps(spec | {"config": spec.get("config", {}) | LOOK}).replace("</", "<\\/")
    return {"text/html": CHART.format(name=f"chart-{crc32(text.encode())}", spec=text)}


def colours(column: str, names: Iterable[str]) -> Any:
    """Return the book's colour of each of these activations, for a column that calls them as people do."""
    inks = {words(name): ink for name, (ink, *_) in looks(names).items()}
    return altair.Color(column, title=None, scale=altair.Scale(domain=[*inks], range=[*inks.values()]))


def menu(label: str, names: Iterable[str], first: str) -> Any:
    """Make a menu of names; a chart filters its rows by the parameter of this label."""
    bound = altair.binding_select(options=[*dict.fromkeys(names)], name=f"{label} ")
    return altair.param(name=label, value=first, bind=bound)
