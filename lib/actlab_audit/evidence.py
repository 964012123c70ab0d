"""What claims on language models are judged by: the grids at each published scale, and runs with published defects, as
one table of runs and one of pairs of runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import actlab
from actlab.records import store
from actlab.records.defect_names import BOTH, DOUBLED, IGNORED, LAST, UNPAIRED
from actlab.records.settings import date_of, usual

STUDIES = ("repro-full", "repro-partial", "repro-lite")
SPLIT, SPLIT_SCALE = "autopsy-split", "lite, split 80/20"
"""The front page's split, read as the published code reads: only rows that name this scale ask for it."""
SHORT = "autopsy-short"
FLAWED = [f"autopsy{name}" for name in ("", "-tinylstm", "-convlm", "-models", "-swiglu")]
FLAWED += [SHORT, *(f"autopsy-{name}" for name in ("charlm", "pairing", "partial", "smelu"))]
"""The grids' settings, with published defects on; of two arms of one cell the later study's counts."""
MIXED, AVERAGED = "two metrics in one table", "runs of different size and length averaged"
READ = (UNPAIRED, LAST, MIXED, AVERAGED)
"""Flaws of reading: what they give depends on a network's size and length, so that only records of both decide."""
TRAINING = (IGNORED, BOTH, DOUBLED)
"""Defects that change what is trained, at least in some arms (``changed``)."""
GRID, ALIKE = "", "none while they trained"
"""Where a flaw is named: runs of a grid; runs with published defects that did not change their training."""
ARM = ["model", "activation"]
KEY = ["flaw", "scale", "iterations", *ARM]
Cell = tuple[str, str]
"""(model, activation)."""


class Arms(NamedTuple):
    """Recorded arms: a row a run, and a row a pair of runs, or of one run and itself where that was read; in both the
    columns of ``KEY``."""

    trials: pd.DataFrame
    pairs: pd.DataFrame

    def where(self, **values: Any) -> Arms:
        """The rows with these values."""
        return Arms(*(t[np.logical_and.reduce([t[name] == value for name, value in values.items()])] for t in self))

    def of(self, cells: Iterable[Cell]) -> Arms:
        """The arms of some cells, in this order."""
        return joined(self.where(model=m, activation=a) for m, a in cells)

    def assign(self, **values: Any) -> Arms:
        """With other columns."""
        return Arms(*(table.assign(**values) for table in self))

    @property
    def cells(self) -> list[Cell]:
        """Each once."""
        return [*self.trials[ARM].drop_duplicates().itertuples(index=False, name=None)]

    def table(self, metric: str) -> pd.DataFrame:
        """Of runs, or of pairs of two runs, whichever the metric is of."""
        return self.trials if metric in self.trials else self.pairs[self.pairs["first"] != self.pairs["second"]]

    def means(self, metric: str) -> pd.DataFrame:
        """A row an arm: ``n`` runs, ``estimate``, ``low``, ``high`` (95% over runs)."""
        return actlab.means(self.table(metric), metric, ARM).set_index(ARM).reindex(self.cells)

    def combined(self, metric: str, formula: Callable[[Any], float]) -> pd.Series:
        """A function of the (A,) means of these arms over the seeds that all have done, with a jackknife that leaves
        one seed at a time out of all of them."""
        done = self.trials.query("status == 'done'").groupby(ARM)["trial"].agg(set)
        shared = sorted(set.intersection(*done)) if len(done) == len(self.cells) else []
        table = self.table(metric)
        inside = table[[*{"trial", "first", "second"} & {*table}]].isin(shared).all(axis=1)
        found = actlab.without_each(table[inside], metric, ARM).pivot(index="left_out", columns=ARM, values="value")
        found = found.reindex(index=["", *shared], columns=pd.MultiIndex.from_tuples(self.cells))
        return actlab.jackknife([formula(means) for means in found.to_numpy()])

    def grid(self, scale: str, fuller: bool = False) -> Arms:
        """The arms without flaws at a scale. ``fuller``: one that has more runs among those with published defects,
        none of which changed its training, stands as these."""
        own, other = (self.where(flaw=flaw, scale=scale) for flaw in (GRID, ALIKE))
        same = [*ARM, "iterations", *SETTINGS]
        done, more = (arms.trials.query("status == 'done'").groupby(same).size() for arms in (own, other))
        larger = {cell[:2] for cell in more.index[more > done.reindex(more.index)]} if fuller else ()
        return joined((other if cell in larger else own).of([cell]) for cell in own.cells) if larger else own

    def having(self, cells: Sequence[Cell], groups: Iterable[Sequence[str]], fuller: bool) -> tuple[str, Arms] | None:
        """The first group of scales each of which has all of these recorded, and those arms; of several scales each
        model is named with its scale."""
        for scales in groups:
            every = [self.grid(scale, fuller) for scale in scales]
            if all({*cells} <= {*arms.cells} for arms in every):
                found = [arms.of(cells) for arms in every]
                if len(scales) > 1:
                    found = [arms.assign(model=lambda t: t["model"] + ", " + t["scale"]) for arms in found]
                return " and ".join(scales), joined(found)
        return None

    def with_flaw(self, flaw: str, cells: Sequence[Cell]) -> Iterator[tuple[str, Arms]]:
        """(scale, the arms with a flaw on, all trained for as many iterations), wherever all are recorded; the longest
        first.

        An arm that the flaw leaves as it is stands for itself.
        """
        on = self.where(flaw=flaw).trials[["scale", "iterations"]].drop_duplicates() if flaw else self.trials[:0]
        for scale, length in on.sort_values(["scale", "iterations"], ascending=[True, False]).itertuples(index=False):
            at = self.where(scale=scale, iterations=length)
            sources = [at.where(flaw=flaw)]
            for other in (at.where(flaw=ALIKE), at.where(flaw=GRID)) if flaw in TRAINING else ():
                sources.append(Arms(*(table[~changed(table, flaw)] for table in other)))
            found = [next((s.of([cell]) for s in sources if cell in s.cells), None) for cell in cells]
            if {*cells} & {*sources[0].cells} and all(found):
                yield scale, joined(arms for arms in found if arms)


def changed(table: pd.DataFrame, flaw: Any) -> pd.Series:
    """Whether a flaw, one or each row's own, changes the arm's training; one that it does not may stand beside these:
    relu, where activations are ignored, is what all got."""
    ignored = (table["activation"] != "relu") & (table["model"] != "charlm")
    return (flaw == IGNORED) & ignored | (flaw == BOTH) & (table["model"] == "convlm") | (flaw == DOUBLED)


SETTINGS = ["dataset", "batch_size", "learning_rate"]
"""With which the length makes two arms of one cell one configuration."""
NOTHING = Arms(*[pd.DataFrame(columns=[*KEY, *SETTINGS, "study", "record", "protocol", "trial", "status"])] * 2)


def joined(parts: Iterable[Arms]) -> Arms:
    """All rows."""
    return Arms(*map(pd.concat, zip(*parts, strict=True)))


def gather() -> Arms:
    """All that is recorded; arms that somebody added under other settings decide no claim."""
    grids = [arms.assign(flaw=GRID) for study in STUDIES for arms in _recorded(study, "trials")]
    grids += [read.assign(flaw=GRID, scale=SPLIT_SCALE) for arms in _recorded(SPLIT) for read in _read(SPLIT, arms)]
    flawed = [part for study in FLAWED for arms in _recorded(study) for part in _by_flaw(study, arms)]
    if not (every := [*grids, *flawed]):
        return NOTHING
    arms = joined(every)
    last = arms.trials.drop_duplicates(KEY, keep="last")[[*KEY, "study"]]
    return joined([arms := Arms(*(table.merge(last) for table in arms)), _averaged(arms)])


def _recorded(study: str, kind: str = "defective") -> Iterator[Arms]:
    """The arms of a study, none where it is not recorded, with what their records say of size, text and date."""
    records = store.load_study(study)
    about = {
        r["arm"]: r["config"].get("model_size", {}) | r["provenance"]["data"] | {"date": date_of(r)}
        for r in (usual(records) if kind == "trials" else records)
        if r["kind"] == "trials"
    }
    if about:
        trials, pairs = actlab.load(study, kind)
        facts = pd.DataFrame.from_dict(about, orient="index")
        pairs = pairs.reindex(columns=[*dict.fromkeys([*KEY[1:], "study", "record", "protocol", *pairs])])  # if empty
        yield Arms(trials.merge(facts, left_on="record", right_index=True), pairs[pairs["record"].isin(about)])


def _read(study: str, arms: Arms) -> Iterator[Arms]:
    """The same with the numbers of the published reading in place of their own, and with pairs of one network and
    itself; nothing where a study was not read so."""
    pairs = actlab.load_pairs(study, "published", "defective")
    if len(pairs):
        pairs = pairs[pairs["iteration"] == pairs["iterations"]]
        trials = arms.trials[arms.trials["record"].isin(pairs["record"])].set_index(["record", "trial"])
        trials.update(
            actlab.load_losses(study, "published").set_index(["record", "trial"])[["val_loss", "val_accuracy"]]
        )
        yield Arms(trials.reset_index(), pairs.assign(total_variation=pairs["coded_pd"]))


def _by_flaw(study: str, arms: Arms) -> Iterator[Arms]:
    """The arms with each flaw that was on, and those whose training none changed. In a table of two metrics swiglu has
    the coded one under the name of the other."""
    each = _exploded(arms)
    yield from (each.where(flaw=name) for name in TRAINING)
    other = each.trials[changed(each.trials, each.trials["flaw"])]["record"]
    yield Arms(*(table[~table["record"].isin(other)] for table in arms)).assign(flaw=ALIKE)
    for read in map(_exploded, _read(study, arms)):
        yield from (read.where(flaw=name) for name in (UNPAIRED, LAST))
        coded = read.pairs["relative_pd"].mask(read.pairs["activation"] == "swiglu", read.pairs["coded_pd"])
        yield Arms(read.trials, read.pairs.assign(relative_pd=coded)).where(flaw=UNPAIRED).assign(flaw=MIXED)


def _exploded(arms: Arms) -> Arms:
    """Each row once for every flaw that was on."""
    return Arms(*(table.assign(flaw=table["protocol"].str.split(" + ", regex=False)).explode("flaw") for table in arms))


def _averaged(arms: Arms) -> Arms:
    """The partial arms with the mean of their accuracies and those of the short runs, seed by seed."""
    short, long = arms.where(flaw=UNPAIRED, study=SHORT), arms.where(flaw=UNPAIRED, scale="partial")
    both = long.trials.merge(short.trials[[*ARM, "trial", "val_accuracy"]], on=[*ARM, "trial"], suffixes=("", "_short"))
    mean = both[["val_accuracy", "val_accuracy_short"]].mean(axis=1)
    return Arms(both.assign(val_accuracy=mean), long.pairs).assign(flaw=AVERAGED)


def since(dates: Iterable[str]) -> str:
    """The first of some dates (ISO); empty where there is none."""
    return min(filter(None, dates), default="")
