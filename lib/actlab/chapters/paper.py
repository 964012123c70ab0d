"""What the paper quotes: numbers, figures and tables from the records. Its prose (`paper/paper.typ`) words them and
holds no result of its own."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from actlab.chapters import arms, companions, intro, processors, report, sources
from actlab.chapters.answer import at_equal_seeds, detectable, means, needed, primary, tests
from actlab.figures import answer as drawn
from actlab.records import families, repro, store
from actlab.records.companions import FURTHER
from actlab.records.preregistration import params_of
from actlab.records.settings import MAIN, kind_of
from actlab.records.sources import METRIC, ensemble_gain, ensembles
from actlab.records.tables import load
from actlab.statistics.contrasts import contrasts
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
    extreme, twins = repro.read_study("extreme"), processors.read(["repro-lite"])
    streams, sizes = (
        sources.read(["sources", "sources-small"]),
        report.read(store.load_study("scale"), families.primary("scale")),
    )
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
        "amplification": [found for study in streams.values() for found in study.amplifications()],
        "perturbed": sum(len({model for model, _ in study.perturbed}) for study in streams.values()),
        "tuned-twins": front.repeating,
        "twins": twins.drop(columns=["run", "versions"]).to_dict("records"),
        "streams": {
            model: {arm.varies: arm.shown(METRIC) for arm in grid.arms.values() if arm.activation == "relu"}
            for model, grid in streams["sources"].grids.items()
        },
        "ensembles": {
            arm.record["model_name"]: {"gain": ensemble_gain(arm, 2)}
            | {f"of {n}": e for n, e in ensembles(arm).items()}
            for arm in streams["sources"].arms()
            if arm.activation == "relu"
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
        "processors": processors.figure(twins),
        "streams": sources.figure_streams(streams),
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
