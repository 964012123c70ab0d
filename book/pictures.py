"""The pictures of README and front page, drawn from the findings' tables: `python book/pictures.py` writes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import actlab
import findings
from actlab import paths
from actlab.figures import plots
from actlab.figures.style import canvas, image, keep, look, styled
from actlab.files import write_text
from actlab.records.labels import words
from findings import ARM, TV, effects, losses

PICTURE = "book/_static/front-{}.svg"
TITLES = {
    "agreement": "Averaging brings two seeds together, activations hardly do",
    "bit": "One bit: 40% or more under ReLU, mostly less under GELU",
    "losses": "At constant rates SwiGLU leads in transformers",
    "predictions": "46 of 85 predictions held",
}
ACTIVATIONS = {"gelu": "GELU", "swish": "Swish", "swiglu": "SwiGLU", "smelu_05": "SmeLU-0.5", "smelu_1": "SmeLU-1"}
REMEDIES = {
    "averaging": "averaged weights",
    "learning-rate-decay": "a rate that falls to 0",
    "both": "both at once",
}


def agreement() -> Figure:
    """What changes the disagreement between two seeds: activations at the lowest common loss (grey), then averaging and
    a falling rate at the end of training. Light dots are the six networks, whose signs a mean can hide."""
    quoted = {one.name: one.found for one in findings.every()}
    of_activations = 100 * effects().pivot(index="model", columns="activation", values="difference")
    networks = {f"activation-{name}": of_activations[name] for name in ACTIVATIONS}
    networks |= {name: findings.remedies()[name].loc[""] for name in REMEDIES}
    rows = {f"activation-{name}": f"{said} for ReLU" for name, said in ACTIVATIONS.items()} | REMEDIES
    drawn: list[dict[str, Any]] = []
    with styled():
        figure, (axes,) = canvas(1, 1, *SIZE)
        for at, (name, said) in enumerate(rows.items()):
            estimate, low, high = quoted[name]
            colour = "grey" if name not in REMEDIES else look("relu")[0]
            axes.plot(networks[name], [at] * len(networks[name]), "o", color=colour, alpha=0.3, markersize=4)
            axes.plot([low, high], [at, at], color=colour)
            axes.plot(estimate, at, "o", color=colour)
            drawn.append({"change": said, "estimate": estimate, "low": low, "high": high, **networks[name].round(2)})
        axes.axvline(0, color="black", linewidth=0.8)
        axes.axhline(len(ACTIVATIONS) - 0.5, color="grey", linewidth=0.8, linestyle=":")
        axes.set_yticks(range(len(drawn)), [row["change"] for row in drawn])
        axes.invert_yaxis()
        axes.set_xlabel("change of the 20 points (left: agree more)")
    return keep(figure, drawn)


def single_pairs() -> pd.DataFrame:
    """Each pair after one bit, as a percentage of the geometric mean between two seeds: at ReLU's tuned rate, and in
    nanotransformer under the ordinary recipe (``network``)."""
    found = []
    for study in ("one-bit", "recipe"):
        seeds, changed = (actlab.load(study, kind)[1] for kind in ("trials", "perturbed"))
        seeds = seeds[seeds[TV] > 0].groupby(ARM)[TV].apply(lambda apart: 10 ** np.log10(apart).mean())
        bits = changed[(changed["variant"] == "nudge") & (changed[TV] > 0)].join(seeds.rename("seeds"), on=ARM)
        network = bits["model"] if study == "one-bit" else RECIPE
        found.append(bits.assign(network=network, share=100 * bits[TV] / bits["seeds"]))
    return pd.concat(found)


def one_bit_beside_a_seed() -> Figure:
    """One bit's effect as a share of another seed's: light dots are pairs, filled marks geometric means, hollow ones
    those of nanotransformer under the ordinary recipe."""
    pairs, places = single_pairs(), {"relu": 0, "gelu": 1}
    drawn: list[dict[str, Any]] = []
    with styled():
        figure, (axes,) = canvas(1, 1, *SIZE)
        for activation, at in places.items():
            colour, mark, _ = look(activation)
            rows = pairs[pairs["activation"] == activation].groupby("network")["share"].apply(list)
            means = rows.map(lambda shares: 10 ** np.log10(shares).mean()).sort_values()
            for number, network in enumerate([*means.index.drop(RECIPE), RECIPE]):
                height, face = at - 0.35 + 0.12 * number, "white" if network == RECIPE else colour
                axes.plot(rows[network], [height] * len(rows[network]), mark, color=colour, alpha=0.25, markersize=3)
                axes.plot(means[network], height, mark, color=colour, markerfacecolor=face)
                left = means[network] > 1  # where there is room for its name
                end, said = min(rows[network]) if left else max(rows[network]), NETWORKS.get(network, network)
                offset, side = (-7 if left else 7, -3), "right" if left else "left"
                axes.annotate(said, (end, height), offset, textcoords="offset points", fontsize=8, ha=side)
                drawn.append({"activation": activation, "network": network, "estimate": means[network]})
        axes.set_xscale("log")
        axes.set_xticks([*PERCENTS], [*PERCENTS.values()], fontsize=8)
        axes.set_xlim(1e-4, 200)
        axes.set_yticks([*places.values()], [words(name) for name in places])
        axes.set_ylim(1.55, -0.5)
        axes.set_xlabel("effect of one bit, as a share of another seed's")
    return keep(figure, drawn)


RECIPE = "ordinary recipe"
NETWORKS = {"tinylstm": "LSTM"}
PERCENTS = {1e-4: "0.0001%", 1e-3: "0.001%", 1e-2: "0.01%", 0.1: "0.1%", 1: "1%", 10: "10%", 100: "100%"}
SIZE = (5.2, 3.4)
"""Inches of a picture, so that a phone shows its letters in a size that can be read."""


OUTCOMES = {"held": "#0072B2", "failed": "#D55E00", "undecided": "#BDBDBD"}


def predicted() -> pd.DataFrame:
    """The list of all predictions on the evidence page: a row a prediction, columns about, plan, predicted, outcome."""
    text = (paths.ROOT / "book/evidence.md").read_text(encoding="utf-8")
    lines = text.partition("| about | plan |")[2].partition("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")][:4] for line in lines]
    return pd.DataFrame(rows, columns=["about", "plan", "predicted", "outcome"])


def predictions() -> Figure:
    """A square a prediction, a row a subject: what held, what failed, what could not be told."""
    counts = pd.crosstab(predicted()["about"], predicted()["outcome"])[[*OUTCOMES]]
    with styled():
        figure, (axes,) = canvas(1, 1, *SIZE)
        for row, about in enumerate(predicted()["about"].unique()):
            outcomes = [name for name in OUTCOMES for _ in range(counts.loc[about, name])]
            colours = [OUTCOMES[name] for name in outcomes]
            axes.scatter(range(1, len(outcomes) + 1), [row] * len(outcomes), s=34, marker="s", color=colours)
            counted = ", ".join(str(counts.loc[about, name]) for name in OUTCOMES)
            axes.text(len(outcomes) + 0.8, row, counted, va="center")
        for name, colour in OUTCOMES.items():
            axes.scatter([], [], s=34, marker="s", color=colour, label=f"{counts[name].sum()} {name}")
        axes.set_yticks(range(len(counts)), predicted()["about"].unique())
        axes.set_ylim(len(counts) - 0.4, -0.6)
        axes.set_xlim(right=counts.sum(axis=1).max() + 6)
        axes.set_xlabel("predictions (numbers: held, failed, undecided)")
        axes.grid(visible=False)
        axes.legend(loc="upper right", fontsize=9)
    return keep(figure, counts.reset_index().to_dict("records"))


def behind_the_best() -> Figure:
    """Losses by architecture and activation; in brackets where not significantly behind the best."""
    behind, said = losses()
    numbers = behind.map("{:.3f}".format)
    figure = plots.heat(
        behind, "nats behind the best", numbers.mask(said == "=", "(" + numbers + ")").mask(said == "best", "best")
    )
    axes, colours = figure.axes
    colours.remove()  # the words say it
    axes.tick_params(axis="x", labelsize=8)
    axes.set_xlabel("nats behind the best")
    return figure


def figures() -> dict[str, Figure]:
    """Name -> figure of README, front page and the page of evidence."""
    found = {
        "agreement": agreement(),
        "bit": one_bit_beside_a_seed(),
        "predictions": predictions(),
        "losses": behind_the_best(),
    }
    for name, figure in found.items():
        figure.set_size_inches(*SIZE)
        figure.suptitle(TITLES[name], x=0.01, ha="left", fontsize=10)
    return found


if __name__ == "__main__":
    for name, figure in figures().items():
        write_text(paths.ROOT / PICTURE.format(name), image(figure).decode() + "\n")
