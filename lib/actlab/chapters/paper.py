"""What the paper quotes: numbers, figures and tables from the records. Its prose (`paper/paper.typ`) words them and
holds no result of its own."""

from __future__ import annotations

from itertools import combinations
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from actlab.chapters import arms, companions, intro, report
from actlab.chapters.answer import at_equal_seeds, detectable, means, needed, primary, tests
from actlab.figures import answer as drawn
from actlab.figures.plots import forest
from actlab.figures.primitives import points
from actlab.records import families, repro, store
from actlab.records.answer import METRIC
from actlab.records.companions import FURTHER
from actlab.records.preregistration import params_of
from actlab.records.replays import load_twins
from actlab.records.settings import MAIN, kind_of
from actlab.records.tables import load, load_pairs
from actlab.statistics import contrasts as estimates
from actlab.statistics.contrasts import contrasts
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import mean_interval
from actlab.statistics.significance import Cells
from actlab_audit import autopsy, ledger, readings
from actlab_audit.autopsy import pictures

STUDIES = ("repro-lite", "answer", "sources", "sources-small", "extreme", "scale", "mnist", "ablation-tuned")
"""That the paper counts, in the order of its first table."""
Values = dict[str, Any]


def made() -> tuple[Values, dict[str, Figure], dict[str, pd.DataFrame]]:
    """Numbers by section, and figures and tables by name, in the order of the paper."""
    front, lite = intro.read(), families.quoting(repro.read_study("repro-lite"))
    extreme, twins = repro.read_study("extreme"), load_twins(["repro-lite"])
    streams, amplified, gains = _streams(), _amplified(), _gains()
    sizes = report.read(store.load_study("scale"), families.primary("scale"))
    evidence = readings.gather()
    answer, judged = front.answer, ledger.judge()
    also = companions.read(answer)
    same = also[companions.SAME].own
    values = {
        "arms": [
            {"model": arm.model, "parameters": arm.n_parameters, "n": len(arm.done), METRIC: arm.estimate(METRIC).value}
            for arm in lite.arms.values()
        ],
        "baseline": {"unigram": lite.baseline["unigram"]["val_loss"]},
        "steps": {metric: _cells(arms.cells(lite, metric)) for metric in (METRIC, "val_loss")},
        "equal": {
            "planned": answer.planned,
            "margin": answer.margin,
            "comparisons": _cells(primary(answer)),
            "outcomes": [found.outcome for found in answer.comparisons().values()],
            "detectable": detectable(answer),
            "hypotheses": answer.hypotheses() if answer.arms() else [],
            "apart": answer.seeds_apart(),
            "means": {name: mean for name, (mean, *_) in means(answer).items()},
            "needed": needed(answer),
            "left": at_equal_seeds(answer),
            "again": _cells(tests(also[companions.FRESH].again())),
            "one_rate": _cells(tests(also[companions.HALF].at_one_rate())),
            "rate": _cells(tests(also[companions.HALF].of_the_rate())),
            "more": _cells(tests(same.comparisons())),
            "further": _cells(tests(same.comparisons(earlier=FURTHER))),
            "mean_alone": answer.only(answer.reference, companions.MEAN).pooled(companions.MEAN),
            "mean_at_one_rate": also[companions.DOUBLE].main.pooled(companions.MEAN),
        },
        "floors": front.floors,
        "growing": front.growing,
        "repeats": [value for grid in (lite, extreme) for value in grid.floors("repeat").values()],
        "amplification": amplified.to_dict("records"),
        "perturbed": len(amplified.groupby(["scale", "model"])),
        "tuned-twins": front.repeating,
        "twins": twins.drop(columns=["run", "versions"]).to_dict("records"),
        "streams": {
            model: found.set_index("varies").to_dict("index")
            for model, found in streams.query("scale == 'lite' and activation == 'relu'").groupby("model", sort=False)
        },
        "ensembles": {
            row["model"]: {"gain": row, "of 1": {"value": row["reference"]}, "of 2": {"value": row["estimate"]}}
            for row in gains.to_dict("records")
        },
        "sizes": {
            "shares": [*report.shares(sizes).items()],
            "growth": report.growth(sizes),
            "verdict": report.verdict(sizes),
        },
        "images": _images(load("mnist")[0]),
        "gpt": _gpt(load("ablation-tuned")[0]),
        "params": {study: params_of(study) for study in STUDIES},
        "text": next(iter(lite.arms.values())).record["provenance"]["data"],
    }
    label = "total variation minus relu's at equal loss (left: more reproducible)"
    figures = {
        "lead": drawn.lead(*front.lead, front.floors),
        "seeds": arms.figure_differences(lite),
        "equal": drawn.differences(primary(answer), label, answer.margin),
        "processors": _twins(twins),
        "streams": forest(streams, "mean total variation (0 to 1)", "value", "network", "varies", "activation"),
        "size": report.figure(sizes),
        "itself": pictures.figure_itself(evidence),
    }
    tables = {
        "studies": pd.DataFrame.from_dict({study: _extent(study) for study in STUDIES}, orient="index"),
        "anomalies": pd.DataFrame.from_dict(autopsy.anomalies(evidence), orient="index"),
        "verdicts": ledger.table(judged).drop(columns="meaning"),
        "ledger": judged,
    }
    return values, figures, tables


def _streams() -> pd.DataFrame:
    """A row an arm of the studies in which one random stream varies, or all: mean total variation between its runs; a
    stream that a network does not have, such as dropout masks at a rate of 0, is left out."""
    pairs = pd.concat(load(study)[1] for study in ("sources", "sources-small"))
    found = estimates.means(pairs, METRIC, ["scale", "model", "varies", "activation"]).query("estimate > 0")
    network = found["model"] + ", " + found["scale"]
    return found.rename(columns={"estimate": "value"}).assign(network=network)


def _amplified() -> pd.DataFrame:
    """relu minus each smooth activation in log10 total variation after one ULP, paired by seed."""
    pairs = pd.concat(load(study, "perturbed")[1] for study in ("sources", "sources-small"))
    bit = pairs[pairs["variant"] == "nudge"]
    bit = bit.assign(log10=np.log10(bit[METRIC].where(bit[METRIC] > 0)))
    return _reversed(contrasts(bit, "log10", ["scale", "model"], correction=None))


def _gains() -> pd.DataFrame:
    """What an ensemble of two takes off the total variation of two relu runs, an architecture a row."""
    relu = "varies == 'all' and activation == 'relu'"
    one, two = load("sources")[1].assign(size=1), load_pairs("sources", "ensembles").query("size == 2")
    return _reversed(contrasts(pd.concat([one, two]).query(relu), METRIC, "model", "size", 1, correction=None))


def _reversed(found: pd.DataFrame) -> pd.DataFrame:
    """Reference minus level."""
    return found.assign(value=-found["difference"], low=-found["high"], high=-found["low"])


def _twins(found: pd.DataFrame) -> Figure:
    """A panel a model, on a logarithmic axis: how far every run's losses lie apart between two processors (small
    marks), and those of two seeds."""
    arms = {(m, a, a): arm for (m, a), arm in found.groupby(["model", "activation"], sort=False)}
    singles = {key: arm["apart"].clip(lower=1e-10) for key, arm in arms.items()}
    seeds = {key: Estimate(arm["between_seeds"].iloc[0], nan, nan, len(arm), "") for key, arm in arms.items()}
    return points(seeds, "losses apart (nats); 1e-10 stands for 0", singles=singles, log=True)


def _cells(found: Cells) -> list[Values]:
    """Comparisons as rows."""
    return [{"model": m, "activation": a, **vars(e), "p": p} for (m, a), (e, p) in found.items()]


def _images(trials: pd.DataFrame) -> dict[str, list[tuple[Values, float]]]:
    """Network -> for each setting its validation accuracy minus relu's (percentage points), and Holm's p-value over all
    settings of the network."""
    settings = ["hidden", "learning_rate", "batch_size"]
    found = contrasts(trials, "val_accuracy", settings, "network", family="network").rename(
        columns={"difference": "value"}
    )
    shown = found[["value", "low", "high", "n"]].to_dict("records")
    return {
        network: [(shown[row], float(found["p_holm"][row])) for row in rows]
        for network, rows in found.groupby("network", sort=False).groups.items()
    }


def _gpt(trials: pd.DataFrame) -> Values:
    """The effect of bQ+bV on the loss (nats; below 0 it helps), what random PReLU adds to it, and every two optimizers,
    the one with the lower loss first."""
    wide = trials.pivot(index="seed", columns=["symmetry", "activation", "optimizer"], values="val_loss")
    effect = wide["bQbV"] - wide["symmetric"]
    order = trials.groupby("optimizer")["val_loss"].mean().sort_values().index
    return {
        "symmetry": mean_interval(effect.mean(axis=1, skipna=False)),
        "interaction": mean_interval((effect["random_prelu"] - effect["gelu"]).mean(axis=1, skipna=False)),
        "parameters": int(trials["parameters"].max()),
        "ranking": [*combinations(order, 2)],
    }


def _extent(study: str) -> dict[str, int]:
    """Configurations, runs and seeds of a study; zeros where it has no record yet."""
    runs = [len(record["trials"]) for record in store.load_study(study) if kind_of(record) in MAIN]
    return {"configurations": len(runs), "runs": sum(runs), "seeds": max(runs, default=0)}
