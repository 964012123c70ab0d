"""The explorer as a widget: live in a notebook, plain HTML and JavaScript on the published page. What it shows:
``explore.py``."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import pandas as pd
import traitlets
from numpy.typing import ArrayLike

from actlab.chapters.explore import LABELS, Arm, Choice, Study, in_order
from actlab.figures.style import colour, dashes, marker
from actlab.records.schema import PAIR_METRICS

FOLDER = Path(__file__).with_name("explorer")
MODULES = ("dom", "choice", "marks", "axes", "charts", "table", "explorer")
"""The program's modules, each after those that it imports."""
IMPORT = re.compile(
    r'^import (?:\* as (?P<space>\w+)|\{(?P<names>[^}]*)\}) from "\./(?P<module>\w+)\.js";$', re.MULTILINE
)
EXPORTED = re.compile(r"^export function (\w+)", re.MULTILINE)
PAGE = """<div id="explorer"><noscript>The explorer needs JavaScript; \
the same numbers are in the tables of each study's page.</noscript></div>
<style>{css}</style>
<script type="application/json" id="explorer-catalogue">{catalogue}</script>
<script type="module">
{code}
const catalogue = JSON.parse(document.getElementById("explorer-catalogue").textContent);
const model = {{ get: (name) => ({{ catalogue, choice: {{}} }})[name], set() {{}}, save_changes() {{}}, on() {{}} }};
render({{ model, el: document.getElementById("explorer"), address: true }});
</script>"""


def program() -> str:
    """The modules as one script without imports: pages opened from a folder may load no others, and a widget has one
    file."""
    parts = [_without_imports((FOLDER / f"{name}.js").read_text(encoding="utf-8")) for name in MODULES]
    return "\n".join(parts).replace("\nexport function", "\nfunction")


def _without_imports(source: str) -> str:
    def space(found: re.Match[str]) -> str:
        if not found["space"]:
            return ""
        names = EXPORTED.findall((FOLDER / f"{found['module']}.js").read_text(encoding="utf-8"))
        return f"const {found['space']} = {{ {', '.join(names)} }};"

    return IMPORT.sub(space, source)


class Explorer(anywidget.AnyWidget):
    """Menus, pictures and a table over some studies. ``choice`` holds what is chosen, as the page's address does."""

    _esm = program() + "\nexport default { render };"
    _css = FOLDER / "explorer.css"
    catalogue = traitlets.Dict().tag(sync=True)
    choice = traitlets.Dict().tag(sync=True)

    @classmethod
    def of(cls, studies: Iterable[Study], functions: Mapping[str, Sequence[ArrayLike]], **choice: Any) -> Explorer:
        """An explorer of ``studies``; ``functions`` as ``study.explore.curves`` gives them, ``choice`` what is to be
        shown first."""
        studies = list(studies)
        styles = {
            name: {"colour": colour(name), "marker": marker(name), "dashes": dashes(name)}
            for study in studies
            for name in study.functions
        }
        explorer = cls(catalogue=catalogue(studies, functions, styles), choice=choice)
        explorer.studies = {study.name: study for study in studies}
        return explorer

    def table(self) -> pd.DataFrame:
        """The numbers of what is chosen, in a live notebook."""
        wanted = dict(self.choice)
        study = self.studies[wanted.pop("study", next(iter(self.studies)))]
        chosen: Choice = study.choose(wanted)
        return study.table(chosen)

    def to_html(self) -> str:
        """The published page's explorer: program and numbers in one piece, nothing is loaded."""
        return PAGE.format(
            css=(FOLDER / "explorer.css").read_text(encoding="utf-8"),
            catalogue=as_json(self.catalogue),
            code=program(),
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The live widget, and HTML for a page without a kernel."""
        live: Any = super()._repr_mimebundle_(**kwargs)
        return {**live[0], "text/html": self.to_html()}, live[1]


def catalogue(
    found: Iterable[Study], functions: Mapping[str, Sequence[ArrayLike]], styles: Mapping[str, Any]
) -> dict[str, Any]:
    """Everything that the page needs as plain values, NaN as ``None``, six significant digits.

    Args:
        found: the studies.
        functions: name of an activation -> x, f(x), f'(x).
        styles: level of a series -> how it is drawn.
    """
    found = list(found)
    used = {name for study in found for name in study.functions.values()}
    shown = {level for study in found for level in study.functions}
    curves = {
        name: dict(zip(("x", "value", "slope"), map(_plain, map(np.asarray, c)), strict=True))
        for name, c in functions.items()
        if name in used
    }
    return {
        "studies": {study.name: _study(study) for study in found},
        "functions": curves,
        "styles": {level: styles[level] for level in in_order(shown)},
    }


def _study(study: Study) -> dict[str, Any]:
    return {
        "title": study.title,
        "series": study.series,
        "factors": {
            name: {"label": LABELS.get(name, name), "levels": levels} for name, levels in study.factors.items()
        },
        "metrics": {
            m.name: {"label": m.label, "note": m.note, "pairs": m.name in PAIR_METRICS} for m in study.metrics.values()
        },
        "functions": study.functions,
        "tables": _plain(study.tables),
        "settings": study.settings,
        "arms": [_plain(_arm(arm)) for arm in study.arms],
    }


def _arm(arm: Arm) -> dict[str, Any]:
    estimates = {name: [e.value, e.low, e.high, e.n] for name, e in arm.estimates.items()}
    return {**vars(arm), "estimates": estimates}


def _plain(value: Any) -> Any:
    """Plain values for JSON: arrays as lists, NaN as ``None``, floats short."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value


def as_json(catalogue: Mapping[str, Any]) -> str:
    """The compact JSON text of a catalogue, safe inside a ``script`` element."""
    return json.dumps(catalogue, separators=(",", ":"), allow_nan=False).replace("</", "<\\/")
