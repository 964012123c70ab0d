"""The explorer as a widget: live in a notebook, plain HTML and JavaScript on the published page. What it shows:
``explore.py``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anywidget
import pandas as pd
import traitlets
from numpy.typing import ArrayLike

from actlab.chapters import explore
from actlab.chapters.explore import Choice, Study
from actlab.figures.style import colour, dashes, marker

FOLDER = Path(__file__).with_name("explorer")
MODULES = ("dom", "choice", "marks", "axes", "charts", "table", "explorer")
"""The program's modules, each after those that it imports."""
IMPORT = re.compile(
    r'^import (?:\* as (?P<space>\w+)|\{(?P<names>[^}]*)\}) from "\./(?P<module>\w+)\.js";$', re.MULTILINE
)
EXPORTED = re.compile(r"^export function (\w+)", re.MULTILINE)
PAGE = """<div id="explorer"><noscript>The explorer needs JavaScript; the same numbers are in the tables of each study's page.</noscript></div>
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
        explorer = cls(catalogue=explore.catalogue(studies, functions, styles), choice=choice)
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
            catalogue=explore.as_json(self.catalogue),
            code=program(),
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The live widget, and HTML for a page without a kernel."""
        live: Any = super()._repr_mimebundle_(**kwargs)
        return {**live[0], "text/html": self.to_html()}, live[1]
