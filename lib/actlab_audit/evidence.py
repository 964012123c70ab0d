"""What claims on language models are judged by: the grids at each published scale, and runs with published defects, as
one table of runs and of pairs of runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

import actlab
from actlab.records.defect_names import BOTH, DOUBLED, IGNORED, LAST, UNPAIRED
from actlab.records.store import Record, load_study

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
"""Defects that change what is trained, at least in some arms (``changed``)."""
GRID, ALIKE = "", "none while they trained"
"""Where a flaw is named: runs of a grid; runs with published defects that did not change their training."""
ARM = ["model", "activation"]
KEY = ["flaw", "scale", "iterations", *ARM]
SETTINGS = [*ARM, "iterations", "dataset", "batch_size", "learning_rate"]
"""What two sets of runs of one arm share."""
Cell = tuple[str, str]
"""(model, activation)."""
SCORES = ["val_loss", "val_accuracy"]
RUN, PAIR = ["seed", "trial", "status", *SCORES], ["first", "second", "total_variation", "relative_pd"]
NOTHING = pd.DataFrame(columns=[*KEY, "study", "record", "setting", "protocol", "date", *RUN, *PAIR])


def recorded(study: str, kind: str = "trials") -> pd.DataFrame:
    """The rows of ``actlab.load``: of each run, and of each pair of runs (``first``, ``second``), with what the records
    say of date, data, sizes and optimizer. Of several settings of the trials those that most arms share; no row where
    nothing is recorded."""
    facts = {r["arm"]: _facts(r) for r in load_study(study) if r["kind"] in ("trials", "mnist", "ablation")}
    trials, pairs = actlab.load(study, kind) if facts else (NOTHING, NOTHING)
    if trials.empty:
        return NOTHING
    rows = pd.concat([trials, pairs]).astype({"seed": "Int64"})
    about = pd.DataFrame.from_dict(facts, orient="index")
    rows = rows.join(about[about.columns.difference(rows.columns)], on="record")
    arms = rows.drop_duplicates("record").sort_values("date")
    usual = arms["setting"].value_counts().index[:1] if kind == "trials" else arms["setting"]
    return rows[rows["setting"].isin(usual)]


def _facts(record: Record) -> dict[str, Any]:
    """Of an arm; several values as one text."""
    config, provenance = record["config"], record.get("provenance", {})
    parts = config.get("recipe"), provenance.get("data"), config.get("model_size"), config.get("optimizer_settings")
    own = {name: value for part in parts if isinstance(part, dict) for name, value in part.items()}
    texts = {name: ", ".join(map(str, value)) if isinstance(value, list) else value for name, value in own.items()}
    return texts | {"date": str(provenance.get("date", ""))}


def gather() -> pd.DataFrame:
    """All that is recorded; arms that somebody added under other settings decide no claim."""
    grids = [recorded(study).assign(flaw=GRID) for study in STUDIES]
    flawed = [by_flaw(recorded(study, "defective")) for study in FLAWED]
    rows = joined([*grids, *flawed])
    rows = rows.merge(rows.drop_duplicates(KEY, keep="last")[[*KEY, "study"]])
    return joined([rows, _mixed(rows), _averaged(rows)])


def joined(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """All rows."""
    return pd.concat([table for table in tables if len(table)] or [NOTHING])


def read_as_published(rows: pd.DataFrame) -> pd.DataFrame:
    """Of a study's runs those that were read as published, with these numbers in place of their own, and with pairs of
    one network and itself."""
    study, run = rows["study"].min(), ["record", "trial"]
    if rows.empty or (pairs := actlab.load_pairs(study, "published", "defective")).empty:
        return rows[:0]
    pairs = pairs[pairs["iteration"] == pairs["iterations"]]
    runs = rows[rows["seed"].notna() & rows["record"].isin(pairs["record"])].set_index(run)
    runs.update(actlab.load_losses(study, "published").set_index(run)[SCORES])
    return pd.concat([runs.reset_index(), pairs.assign(total_variation=pairs["coded_pd"])])


def by_flaw(rows: pd.DataFrame) -> pd.DataFrame:
    """A study's rows under each flaw that was on, and those whose training none changed."""
    each, read = _exploded(rows), _exploded(read_as_published(rows))
    alike = rows[~rows["record"].isin(each["record"][changed(each, each["flaw"])])]
    reading, training = read[read["flaw"].isin(READ)], each[each["flaw"].isin(TRAINING)]
    return joined([training, alike.assign(flaw=ALIKE), reading])


def _exploded(rows: pd.DataFrame) -> pd.DataFrame:
    """Each row once for every flaw that was on."""
    return rows.assign(flaw=rows["protocol"].str.split(" + ", regex=False)).explode("flaw")


def changed(rows: pd.DataFrame, flaw: Any) -> pd.Series:
    """Whether a flaw, one or each row's own, changes the arm's training; one that it does not may stand beside these:
    relu, where activations are ignored, is what all got."""
    ignored = (rows["activation"] != "relu") & (rows["model"] != "charlm")
    return (flaw == IGNORED) & ignored | (flaw == BOTH) & (rows["model"] == "convlm") | (flaw == DOUBLED)


def _mixed(rows: pd.DataFrame) -> pd.DataFrame:
    """The small runs as the front page has them in one table: swiglu's are shorter, and its coded metric stands under
    the name of the other."""
    read = rows[(rows["flaw"] == UNPAIRED) & (rows["scale"] == "lite")]
    swiglu, last = read["activation"] == "swiglu", read["iterations"].max()
    mixed = read.assign(flaw=MIXED, iterations=last)
    mixed["relative_pd"] = mixed["relative_pd"].mask(swiglu, mixed["total_variation"])
    return mixed[swiglu == (read["iterations"] < last)]


def _averaged(rows: pd.DataFrame) -> pd.DataFrame:
    """The partial runs and pairs, each with the mean of its value and that of the short one of the same seeds; SmeLU's
    were not averaged."""
    read, same, means = rows[rows["flaw"] == UNPAIRED], [*ARM, "trial", *PAIR[:2]], ["val_accuracy", PAIR[2]]
    short, partial = read.loc[read["study"] == SHORT, [*same, *means]], read[read["scale"] == "partial"]
    alone = partial["activation"].str.startswith("smelu")
    both = pd.concat([partial[alone], partial[~alone].merge(short, on=same, suffixes=("", " short"))])
    return both.assign(flaw=AVERAGED, **{name: both[[name, f"{name} short"]].mean(axis=1) for name in means})


def arms_of(rows: pd.DataFrame, cells: Sequence[Cell]) -> pd.DataFrame | None:
    """The arms of some cells, in this order; None if one has no row."""
    arms = [rows[(rows["model"] == model) & (rows["activation"] == activation)] for model, activation in cells]
    return pd.concat(arms) if all(map(len, arms)) else None


def values(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Runs, or pairs of two different runs, whichever the metric is of."""
    runs = rows["seed"].notna()
    return rows[runs if metric in SCORES else ~runs & (rows["first"] != rows["second"])]


def cells_of(rows: pd.DataFrame) -> pd.MultiIndex:
    """Each once."""
    return pd.MultiIndex.from_frame(rows[ARM].drop_duplicates())


def means(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """(model, activation) -> ``n`` runs, ``estimate``, ``low``, ``high`` (95% over runs)."""
    return actlab.means(values(rows, metric), metric, ARM).set_index(ARM).reindex(cells_of(rows))


def combined(rows: pd.DataFrame, metric: str, formula: Callable[[Any], float]) -> pd.Series:
    """A function of the (A,) means of these arms over the seeds that all have done, with a jackknife that leaves one
    seed at a time out of all of them."""
    cells = cells_of(rows)
    done = rows[rows["status"] == "done"]["trial"].value_counts()
    shared, table = sorted(done.index[done == len(cells)]), values(rows, metric)
    inside = table[["trial", "first", "second"]].isin([*shared, np.nan]).all(axis=1)
    found = actlab.without_each(table[inside], metric, ARM).pivot(index="left_out", columns=ARM, values="value")
    found = found.reindex(index=["", *shared], columns=cells)
    return actlab.jackknife([formula(means) for means in found.to_numpy()])


def at_scale(evidence: pd.DataFrame, scale: str, fuller: bool = False) -> pd.DataFrame:
    """The arms without flaws at a scale. ``fuller``: one that has more runs among those with published defects, none of
    which changed its training, stands as these."""
    at = evidence[evidence["scale"] == scale]
    larger: set[Cell] = set()
    if fuller and len(at):
        runs = at[at["status"] == "done"].groupby([*SETTINGS, "flaw"]).size().unstack().reindex(columns=[GRID, ALIKE])
        larger = {cell[:2] for cell in runs.index[runs[ALIKE] > runs[GRID]]}
    stands = np.where(pd.MultiIndex.from_frame(at[ARM]).isin(larger), ALIKE, GRID)
    return at[at["flaw"] == stands]


def trained_again(evidence: pd.DataFrame, arms: pd.DataFrame) -> pd.DataFrame | None:
    """The same arms, trained a second time under the same settings: for runs of a grid those with published defects of
    which none changed their training, and the other way round. None if one arm has no such runs."""
    other = arms.assign(flaw=arms["flaw"].map({GRID: ALIKE, ALIKE: GRID}))
    wanted = other[["scale", "flaw", *SETTINGS]].drop_duplicates()
    return arms_of(evidence.merge(wanted), [*cells_of(arms)])


def with_flaw(evidence: pd.DataFrame, flaw: str, cells: Sequence[Cell]) -> list[pd.DataFrame]:
    """The arms with a flaw on, all trained for as many iterations, of each scale and length at which all are recorded;
    the longest of a scale first. An arm that the flaw leaves as it is stands for itself."""
    found = []
    for _, at in evidence.groupby(["scale", -evidence["iterations"]]) if flaw else ():
        own, others = at[at["flaw"] == flaw], at[:0]
        if flaw in TRAINING:  # those with other defects first
            others = at[at["flaw"].isin([ALIKE, GRID]) & ~changed(at, flaw)].sort_values(
                "flaw", ascending=False, kind="stable"
            )
        rows = pd.concat([own, others])
        rows = arms_of(rows[rows["flaw"] == rows.groupby(ARM)["flaw"].transform("first")], cells)
        if rows is not None and (rows["flaw"] == flaw).any():
            found.append(rows)
    return found
