"""What claims on language models are judged by: the grids at each published scale, and runs with published defects, as
one table of runs and of pairs of runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

import actlab
from actlab.records.defect_names import BOTH, DOUBLED, IGNORED, LAST, UNPAIRED
from actlab.records.store import load_study

STUDIES = ("repro-full", "repro-partial", "repro-lite")
SHORT = "autopsy-short"
FLAWED = ["autopsy", "autopsy-tinylstm", "autopsy-convlm", "autopsy-models", "autopsy-swiglu", SHORT]
FLAWED += ["autopsy-charlm", "autopsy-pairing", "autopsy-partial", "autopsy-smelu"]
"""The grids' settings, with published defects on; of two arms of one cell the later study's counts."""
MIXED, AVERAGED = "different inputs, two metrics, SwiGLU's shorter runs", "read as published, shorter runs averaged in"
LENGTHS = {
    MIXED: "500 iterations; SwiGLU: total variation after 200, at 561,920 parameters",
    AVERAGED: "500 and 200 iterations",
}
"""Of what these two are read, in words."""
READ = (UNPAIRED, LAST, MIXED, AVERAGED)
"""Flaws of reading: what they give depends on a network's size and length, so that only records of both decide."""
TRAINING = (IGNORED, BOTH, DOUBLED)
"""Defects that change what is trained, but for the arms that they spare (``spares``)."""
GRID, ALIKE = "", "none while they trained"
"""Where a flaw is named: runs of a grid; runs with published defects that did not change their training."""
ARM = ["model", "activation"]
KEY = ["flaw", "scale", "iterations", *ARM]
SETTINGS = [*ARM, "iterations", "dataset", "batch_size", "learning_rate"]
"""What two sets of runs of one arm share."""
Cell = tuple[str, str]
"""(model, activation)."""
SCORES = ["val_loss", "val_accuracy"]
"""Metrics of runs; all others are of pairs."""
PAIR = ["trial", "first", "second"]
FACTS = r"^config\.(recipe|model_size|optimizer_settings)\.\w+$|^provenance\.(data\.\w+|date)$"
"""Of the entries of a record, flattened."""
NOTHING = pd.DataFrame(
    columns=[*KEY, *SETTINGS[3:], "study", "record", "setting", "protocol", "date", "seed", "status", *PAIR]
)


def recorded(study: str, kind: str = "trials") -> pd.DataFrame:
    """The rows of ``actlab.load``: of each run, and of each pair of runs (``first``, ``second``), ``_with_facts``. Of
    several settings of the trials those that most arms share; no row where nothing is recorded."""
    rows = _with_facts(study, *actlab.load(study, kind)) if load_study(study) else NOTHING
    if rows.empty or kind != "trials":
        return rows
    arms = rows.drop_duplicates("record")
    return rows[rows["setting"] == arms["setting"].value_counts().index[0]]


def read_as_published(study: str) -> pd.DataFrame:
    """The runs of a study that were read as published, and their pairs, those of one network and itself too."""
    if (pairs := actlab.load_pairs(study, "published", "defective")).empty:
        return NOTHING
    last = pairs[pairs["iteration"] == pairs["iterations"]]
    runs = actlab.load_losses(study, "published").assign(status="done")
    return _with_facts(study, runs, last.assign(total_variation=last["coded_pd"]))


def _with_facts(study: str, *tables: pd.DataFrame) -> pd.DataFrame:
    """All rows, with what the records say of date, data, sizes and optimizer; several values as one text."""
    facts = pd.json_normalize(load_study(study)).set_index("arm").filter(regex=FACTS)
    facts = facts.rename(columns=lambda name: name.rpartition(".")[2])
    facts = facts.map(lambda value: ", ".join(map(str, value)) if isinstance(value, list) else value)
    rows = pd.concat(tables)
    return rows.join(facts[facts.columns.difference(rows.columns)], on="record").astype({"seed": "Int64"})


def joined(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """All rows."""
    return pd.concat([table for table in tables if len(table)] or [NOTHING], ignore_index=True)


def gather() -> pd.DataFrame:
    """All that is recorded; arms that somebody added under other settings decide no claim."""
    grids = [recorded(study).assign(flaw=GRID) for study in STUDIES]
    rows = joined([*grids, *map(by_flaw, FLAWED)])
    rows = rows.merge(rows.drop_duplicates(KEY, keep="last")[[*KEY, "study"]])
    every = joined([rows, _mixed(rows), _averaged(rows)])
    texts = [name for name in every if every[name].dtype == "str"]
    return every.astype(dict.fromkeys(texts, object)).copy()  # in few blocks, which rules filter faster


def by_flaw(study: str) -> pd.DataFrame:
    """A study's rows under each flaw that was on, and those whose training none changed."""
    if (rows := recorded(study, "defective")).empty:
        return rows
    training, reading = under(rows, TRAINING), under(read_as_published(study), READ)
    changed = training["record"][~spares(training["flaw"], training)]
    return joined([training, rows[~rows["record"].isin(changed)].assign(flaw=ALIKE), reading])


def under(rows: pd.DataFrame, flaws: Sequence[str]) -> pd.DataFrame:
    """Each row once for every one of these flaws that was on."""
    each = rows.assign(flaw=rows["protocol"].str.split(" + ", regex=False)).explode("flaw")
    return each[each["flaw"].isin(flaws)]


def spares(flaw: Any, rows: pd.DataFrame) -> Any:
    """Whether a flaw, one or each row's own, leaves the arm as it is, which may then stand beside those that it
    changes: relu, where activations are ignored, is what all got."""
    plain = (rows["activation"] == "relu") | (rows["model"] == "charlm")
    return (flaw == IGNORED) & plain | (flaw == BOTH) & (rows["model"] != "convlm")


def _mixed(rows: pd.DataFrame) -> pd.DataFrame:
    """The small runs as the front page has them in one table: swiglu's are shorter, and its coded metric stands under
    the name of the other."""
    read = rows[(rows["flaw"] == UNPAIRED) & (rows["scale"] == "lite")]
    swiglu, last = read["activation"] == "swiglu", read["iterations"].max()
    coded = read["relative_pd"].mask(swiglu, read["total_variation"])
    mixed = read.assign(flaw=MIXED, iterations=last, relative_pd=coded)
    return mixed[swiglu == (read["iterations"] < last)]


def _averaged(rows: pd.DataFrame) -> pd.DataFrame:
    """The partial pairs, each with the mean of its total variation and that of the short one of the same seeds; SmeLU's
    were not averaged."""
    read, same = rows[rows["flaw"] == UNPAIRED], [*ARM, "first", "second"]
    short = read[read["study"] == SHORT].set_index(same)["total_variation"].rename("short")
    pairs = read[(read["scale"] == "partial") & read["seed"].isna()].join(short, on=same)
    mean = (pairs["total_variation"] + pairs["short"]) / 2
    alone = pairs["activation"].str.startswith("smelu")
    pairs["total_variation"] = pairs["total_variation"].where(alone, mean)
    return pairs.dropna(subset="total_variation").assign(flaw=AVERAGED)


def arms_of(rows: pd.DataFrame, cells: Sequence[Cell]) -> pd.DataFrame:
    """The arms of some cells, in this order; nothing if one has no row."""
    arms = [rows[(rows["model"] == model) & (rows["activation"] == activation)] for model, activation in cells]
    return pd.concat(arms) if all(map(len, arms)) else rows[:0]


def trained(evidence: pd.DataFrame, scale: str, cells: Sequence[Cell], flaws: Sequence[str]) -> list[pd.DataFrame]:
    """The arms at a scale, of a grid and, where ``flaws`` has ``ALIKE``, of those trained a second time under the same
    settings: first the larger set of runs of each arm, then the other sets, if every arm has two."""
    at = evidence[(evidence["scale"] == scale) & evidence["flaw"].isin(flaws)]
    at = at.merge(at.loc[at["flaw"] == GRID, SETTINGS].drop_duplicates())
    runs = at.assign(done=at["status"] == "done").groupby([*ARM, "flaw"])["done"].transform("sum")
    at = at.assign(size=runs - (at["flaw"] == ALIKE) / 2)  # the grid's where both have as many
    larger = at["size"] == at.groupby(ARM)["size"].transform("max")
    return [arms for arms in (arms_of(at[larger], cells), arms_of(at[~larger], cells)) if len(arms)]


def with_flaw(evidence: pd.DataFrame, flaw: str, cells: Sequence[Cell]) -> list[pd.DataFrame]:
    """The arms with a flaw on, all trained for as many iterations, of each scale and length at which all are recorded;
    the longest of a scale first. An arm that the flaw leaves as it is stands for itself, before all with other
    defects."""
    order = [flaw, ALIKE, GRID]
    rows = evidence[(evidence["flaw"] == flaw) | evidence["flaw"].isin(order) & spares(flaw, evidence)]
    rows = rows.assign(rank=rows["flaw"].map(order.index))
    rows = rows[rows["rank"] == rows.groupby(KEY[1:])["rank"].transform("min")]
    found = [arms_of(at, cells) for _, at in rows.groupby(["scale", -rows["iterations"]])]
    return [arms for arms in found if (arms["flaw"] == flaw).any()]


def values(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Runs, or pairs of two different runs, whichever the metric is of."""
    runs = rows["seed"].notna()
    return rows[runs if metric in SCORES else ~runs & (rows["first"] != rows["second"])]


def combined(rows: pd.DataFrame, metric: str, formula: Callable[[Any], float]) -> pd.Series:
    """A function of the (A,) means of these arms over the seeds that all have done, with a jackknife that leaves one
    seed at a time out of all of them."""
    cells = pd.MultiIndex.from_frame(rows[ARM].drop_duplicates())
    done = rows.loc[rows["status"] == "done", "trial"].value_counts()
    shared, table, found = sorted(done.index[done == len(cells)]), values(rows, metric), []
    for left_out in ("", *shared):
        inside = table[table[PAIR].isin([*{*shared} - {left_out}, np.nan]).all(axis=1)]
        found.append(formula(inside.groupby(ARM)[metric].mean().reindex(cells).to_numpy()))
    return actlab.jackknife(found)
