"""The explorer as a widget and as a page: one program, the same numbers."""

from __future__ import annotations

import re

import numpy as np
from tests.support.explored import grid_study

from actlab.widgets.explorer import FOLDER, MODULES, Explorer, program


def explorer(**choice: object) -> Explorer:
    x = np.linspace(-3, 3, 5)
    return Explorer.of([grid_study()], {name: (x, x, np.sign(x)) for name in ("relu", "swiglu")}, **choice)


def test_every_module_is_in_the_program_after_what_it_imports() -> None:
    """The order of the modules is a topological one, every imported name is exported, and the program itself imports
    nothing."""
    assert {path.stem for path in FOLDER.glob("*.js")} == set(MODULES)
    exported: dict[str, set[str]] = {}
    for name in MODULES:
        source = (FOLDER / f"{name}.js").read_text()
        for names, module in re.findall(r'import \{([^}]*)\} from "\./(\w+)\.js"', source):
            assert {one.strip() for one in names.split(",")} <= exported[module]
        exported[name] = set(re.findall(r"^export function (\w+)", source, re.MULTILINE))
    assert not re.search(r"^(import|export)\b", program(), re.MULTILINE)


def test_no_two_modules_share_a_name() -> None:
    """They become one script, where a second definition would replace the first."""
    names = re.findall(r"^(?:function|const|let) (\w+)", program(), re.MULTILINE)
    assert len(names) == len(set(names))


def test_page_is_whole() -> None:
    """Program, style and numbers in one piece: no address of anything else."""
    page = explorer().to_html()
    assert "catalogue" in page
    assert set(re.findall(r"https?://[^\"')\s]+", page)) == {"http://www.w3.org/2000/svg"}
    assert "text/html" in explorer()._repr_mimebundle_()[0]


def test_table_follows_the_choice() -> None:
    """What is chosen on the screen is what Python gives."""
    made = explorer(metric="churn")
    assert set(made.table()["metric"]) == {"churn"}
    made.choice = {**made.choice, "study": "repro", "scale": "quick", "activation": ["relu"]}
    (arm,) = grid_study().select(grid_study().choose({"scale": "quick", "activation": ["relu"]}))
    assert list(made.table()["value"]) == [arm.estimates["churn"].value]
