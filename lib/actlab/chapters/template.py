"""What every page has: full tables folded at its end, and what its study rests on (trials, rule, families)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

import pandas as pd
from IPython.display import HTML

from actlab import paths
from actlab.figures.style import NO_RECORD
from actlab.records import store
from actlab.records.families import FAMILIES, PRIMARY, extent
from actlab.records.labels import words
from actlab.records.preregistration import of_rule
from actlab.records.repro import ArmResults
from actlab.records.wording import capital, listing, paragraph, span

pd.set_option("display.max_colwidth", None)  # a page shows the whole text of a cell


def folded(parts: Mapping[str, pd.DataFrame | HTML | Iterable[str]]) -> Any:
    """Tables, figures and lists of sentences, each behind its title."""
    found = [f"<details><summary>{escape(title)}</summary>{_inside(part)}</details>" for title, part in parts.items()]
    return HTML("\n".join(found))


def _inside(part: pd.DataFrame | HTML | Iterable[str]) -> str:
    if isinstance(part, HTML):
        return str(part.data)
    if isinstance(part, pd.DataFrame):
        return part.to_html(border=0, escape=True)
    return f"<ul>{''.join(f'<li>{escape(capital(text))}.</li>' for text in part if text)}</ul>"


def setup(*studies: Iterable[ArmResults]) -> Any:
    """What was trained, a line for each study: architectures, sizes, text, steps, learning rates, seeds."""
    return paragraph("Setup", *(_setup(list(arms)) for arms in studies))


def _setup(arms: list[ArmResults]) -> str:
    if not arms:
        return NO_RECORD
    models = list(dict.fromkeys(arm.record["model_name"] for arm in arms))
    recipes = [arm.recipe for arm in arms]
    text = arms[0].record["config"]["dataset"]
    rates = {recipe["learning_rate"] for recipe in recipes}
    named = listing(models) if len(models) < 4 else f"{len(models)} architectures"
    return (
        f"networks ({named}) of {span(arm.n_parameters / 1000 for arm in arms)} thousand parameters; "
        f"{words(text)}; {span(recipe['iterations'] for recipe in recipes)} steps; "
        f"{'one learning rate' if len(rates) == 1 else 'learning rates'} of {span(rates, 'g')}; "
        f"{span(len(arm.done) for arm in arms)} seeds a configuration"
    )


def standing(*studies: str) -> list[str]:
    """What studies rest on (``_standing``), each sentence after its study's name where there are several."""
    return [f"study {name}: {text}" if studies[1:] else text for name in studies for text in _standing(name) if text]


def _standing(study: str) -> list[str]:
    """How many different trials, when its rule was written, and the questions whose primary family of comparisons is
    this study's."""
    records = store.load_study(study)
    others = store.load_study(PRIMARY) if study != PRIMARY and (paths.results() / PRIMARY).exists() else []
    path = paths.ROOT / "params" / f"{study}.yaml"
    ruled = path.exists() and "ecision rule" in path.read_text(encoding="utf-8")
    rule = of_rule(f"params/{study}.yaml", records) if ruled else ""
    asked = [f"{question} Primary family: Holm over {over}" for question, over in FAMILIES.get(study, {}).items()]
    return [extent(records, others), rule, *asked]
