"""The front page: its prose is typed in README.md and book/intro.md, held here to the records when the book is built.
`python book/front.py` draws its two figures."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import actlab
from actlab import paths
from actlab.book.prose import holds
from actlab.figures import plots
from actlab.figures.style import canvas, keep, look, styled, svg
from actlab.files import write_text

PICTURE = "book/_static/front-{}.svg"
TV = "total_variation"


@cache
def remedies() -> pd.DataFrame:
    """A row a remedy: what it takes off the total variation of two ReLU networks at the end of training (mean over
    architectures, jackknife over seeds); and the largest effect of an activation at equal loss, of one architecture."""
    ours = (actlab.load_curves("answer"), actlab.load_pairs("answer", of="along"))
    made = {}
    for name, kind, column, level in (
        ("averaged weights", "average", "decay", 0.99),
        ("two half-trained networks", "equal_compute", "size", 2),
    ):
        two = (load("answer", of=kind) for load in (actlab.load_pairs, actlab.load_losses))
        one, other = (table[(table[column] == level) & (table["activation"] == "relu")] for table in two)
        curves, along = (table[table["activation"] == "relu"] for table in ours)
        found = actlab.beside_training(curves, along, one, other, metric=TV)
        means = found.pivot(index="left_out", columns="model", values="end").mean(axis=1)
        made[name] = actlab.jackknife(means)[["estimate", "low", "high"]]
    largest = effects().loc[effects()["difference"].idxmin(), ["difference", "low", "high"]]
    made["best activation, at equal loss"] = largest.rename({"difference": "estimate"})
    return pd.DataFrame(made).T.astype(float)


@cache
def effects() -> pd.DataFrame:
    """Differences from ReLU at equal loss, of ``params/answer.yaml``."""
    curves, along = actlab.load_curves("answer"), actlab.load_pairs("answer", of="along")
    bigram = actlab.load_baselines("answer")["val_loss"].get("bigram", np.inf)
    return actlab.equal_loss(curves, along, TV, exclude_above=bigram)


@cache
def corner() -> pd.DataFrame:
    """Half-width of SmeLU's rounded corner in convlm (0: ReLU) -> geometric mean, least and largest total variation
    after one ULP, that of two seeds, and the mean loss."""
    (runs, seeds), (_, ulp) = actlab.load("corner"), actlab.load("corner", "perturbed")
    for table in (runs, seeds, ulp):
        table["beta"] = pd.to_numeric(table["activation"].str.partition("smelu_")[2]).fillna(0)
    ulp, runs, seeds = (table[table["model"] == "convlm"].groupby("beta") for table in (ulp, runs, seeds))
    log = np.log10(ulp[TV].agg(["min", "max"])).assign(mean=ulp[TV].agg(lambda found: np.log10(found).mean()))
    return (10**log).assign(seeds=seeds[TV].mean(), loss=runs["val_loss"].mean(), n=ulp.size())


def check() -> None:
    """Stops where the records do not say what the two pages do."""
    runs, pairs = actlab.load("answer")
    relu = pairs[pairs["activation"] == "relu"].groupby("model")[[TV, "churn"]].mean().mean()
    holds(0.19 < relu[TV] < 0.21, "about 20% of its next-character probability moves")
    holds(0.225 < relu["churn"] < 0.275, "its top character changes at one place in four")
    bound = effects().groupby("model").apply(actlab.bound, include_groups=False)
    holds(bound.drop("tinylstm").max() < 0.03, "changes these 20% by less than 3 points")
    holds(0.06 < bound["tinylstm"] < 0.07, "(7 in the LSTM)")
    took = remedies()["estimate"]
    holds(round(100 * took["averaged weights"]) == -6, "takes off 6 points")
    at = ["model", "activation"]
    losses = actlab.load_losses("answer", of="average").query("decay == 0.99").groupby(at).mean(numeric_only=True)
    holds((losses["val_loss"] < losses["single_loss"]).mean() > 0.75, "usually lowers the loss")
    bit = actlab.load("rounding-tuned", "perturbed")[1]
    along = actlab.load_pairs("answer", of="along")
    seed = along[along["iteration"] == bit["iterations"].max()].groupby(at)[TV].mean()
    share = (bit.groupby(at)[TV].mean() / seed).unstack()
    holds(share["relu"].min() > 0.33, "at least a third as far apart")
    holds(share["gelu"].drop("tinylstm").max() < 0.025, "at most 2%")
    holds(share.loc["tinylstm", "gelu"] > 0.5, "except in the LSTM")
    near = corner()
    holds(near.loc[0, "mean"] / near.loc[0.3, "mean"] > 5000, "thousands of times closer, at the same loss")
    holds(abs(near.loc[0.3, "loss"] - near.loc[0, "loss"]) < 0.005, "at the same loss")
    holds((near["n"] == 5).all(), "five seeds of convlm")
    holds(runs.groupby(at)["trial"].nunique().eq(10).all() and runs["model"].nunique() == 6, "six architectures")
    holds(runs["activation"].nunique() == 6, "six activations, ten seeds")
    sizes = (runs["parameters"] / 1e6).round(1)
    holds((sizes.min(), sizes.max()) == (0.3, 0.4), "Networks of 0.3 to 0.4 million parameters")
    averaged = actlab.load_pairs("remedies", of="average").query("decay == 0.99").assign(weights="averaged")
    weights = pd.concat([actlab.load("remedies")[1].assign(weights="raw"), averaged])
    less = actlab.contrasts(weights, TV, at, "weights", "raw", planned=12)
    agrees = (less["p_holm"] < 0.05).all() and (less["difference"] < 0).all() and less["model"].nunique() == 2
    holds(agrees, "agrees in the two architectures of six that are recorded so far")
    holds(actlab.load("corner")[0]["model"].nunique() == 1, "The left figure rests on one architecture")


def figures() -> dict[str, Figure]:
    """Name -> figure of both pages."""
    near, (colour, mark, _) = corner(), look("smelu_1")
    with styled():
        figure, (axes,) = canvas(1, 1, 4.3, 3.0)
        axes.fill_between(range(len(near)), near["min"], near["max"], color=colour, alpha=0.2, linewidth=0)
        axes.plot(range(len(near)), near["mean"], marker=mark, color=colour)
        axes.plot(range(len(near)), near["seeds"], color="grey", linestyle="--")
        axes.annotate(
            "another seed", (7, near["seeds"].iloc[-1]), xytext=(0, 4), textcoords="offset points", ha="right"
        )
        axes.set_yscale("log")
        axes.set_xticks(range(len(near)), ["0 (ReLU)", *map("{:g}".format, near.index[1:])], rotation=45)
        axes.set_xlabel("half-width of the rounded corner")
        axes.set_ylabel("total variation after one ULP")
    drawn = remedies().rename_axis("remedy").reset_index()
    label = "change of total variation between two seeds"
    return {
        "corner": keep(figure, near.reset_index().to_dict("records")),
        "remedies": plots.forest(
            drawn, label, value="estimate", panel="", row="remedy", zero=True, columns=1, height=2.4
        ),
    }


def main() -> None:
    """Check the prose, then draw."""
    check()
    for name, figure in figures().items():
        write_text(paths.ROOT / PICTURE.format(name), svg(figure).decode() + "\n")


if __name__ == "__main__":
    main()
