"""The pictures of README and front page, drawn from the findings' tables: `python book/pictures.py` writes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import findings
from actlab import paths
from actlab.figures import plots
from actlab.figures.style import canvas, image, keep, look, styled
from actlab.files import write_text
from actlab.records.labels import words
from findings import RUNGS, SIDES, TV, corner, corners, ladder, losses

PICTURE = "book/_static/front-{}.svg"
TITLES = {
    "agreement": "Averaging and a falling rate bring two seeds together; activations hardly do",
    "corner": "A rounder corner shrinks one bit's effect, from 0.001 to 0.3",
    "ladder": "One bit sets activations apart, a new seed does not",
    "losses": "At constant rates SwiGLU leads in transformers",
    "predictions": "31 of 69 predictions held",
}
ACTIVATIONS = {"gelu": "GELU", "swish": "Swish", "swiglu": "SwiGLU", "smelu_05": "SmeLU-0.5", "smelu_1": "SmeLU-1"}
REMEDIES = {
    "learning-rate-decay": "a rate that falls to 0",
    "averaging": "averaged weights",
    "both": "both of these",
}
PERCENTS = {1e-6: "0.0001%", 1e-5: "0.001%", 1e-4: "0.01%", 1e-3: "0.1%", 1e-2: "1%", 1e-1: "10%", 1: "100%"}
"""Total variation -> as an axis says it."""


def agreement() -> Figure:
    """What changes the disagreement between two seeds, on one axis: activations at equal loss, a falling rate,
    averaging, both at the end of training; each group by its effect."""
    quoted = {one.name: one.found for one in findings.every()}
    rows = {f"activation-{name}": f"{said} instead of ReLU" for name, said in ACTIVATIONS.items()} | REMEDIES
    order = sorted(rows, key=lambda name: (not name.startswith("activation"), -quoted[name][0]))
    drawn: list[dict[str, Any]] = [{"change": rows[name], **dict(zip(SIDES, quoted[name], strict=True))} for name in order]
    with styled():
        figure, (axes,) = canvas(1, 1, 7.5, 3.0)
        for at, (name, row) in enumerate(zip(order, drawn, strict=True)):
            colour = "grey" if name.startswith("activation") else look("relu")[0]
            axes.plot([row["low"], row["high"]], [at, at], color=colour)
            axes.plot(row["estimate"], at, "o", color=colour)
        axes.axvline(0, color="black", linewidth=0.8)
        axes.axhline(len(ACTIVATIONS) - 0.5, color="grey", linewidth=0.8, linestyle=":")
        axes.text(-7, 0, "at equal loss", va="center", color="grey", fontsize=10)
        axes.text(2.2, len(ACTIVATIONS), "at the end\nof training", va="top", ha="right", fontsize=10)
        axes.set_yticks(range(len(order)), [rows[name] for name in order])
        axes.set_xlim(-7.2, 2.4)
        axes.invert_yaxis()
        axes.set_xlabel("change of the 20 points between two seeds (left: they agree more)")
    return keep(figure, drawn)


def in_percent(axes: Axes) -> None:
    """The axis of a total variation, up to 100%."""
    axes.set_yscale("log")
    axes.set_yticks([*PERCENTS], [*PERCENTS.values()])
    axes.set_ylim(top=1)


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
        figure, (axes,) = canvas(1, 1, 7.5, 2.4)
        for row, about in enumerate(predicted()["about"].unique()):
            outcomes = [name for name in OUTCOMES for _ in range(counts.loc[about, name])]
            colours = [OUTCOMES[name] for name in outcomes]
            axes.scatter(range(1, len(outcomes) + 1), [row] * len(outcomes), s=110, marker="s", color=colours)
            counted = ", ".join(str(counts.loc[about, name]) for name in OUTCOMES)
            axes.text(len(outcomes) + 0.8, row, counted, va="center")
        for name, colour in OUTCOMES.items():
            axes.scatter([], [], s=85, marker="s", color=colour, label=f"{counts[name].sum()} {name}")
        axes.set_yticks(range(len(counts)), predicted()["about"].unique())
        axes.set_ylim(len(counts) - 0.4, -0.6)
        axes.set_xlim(right=counts.sum(axis=1).max() + 6)
        axes.set_xlabel("predictions")
        axes.grid(visible=False)
        axes.legend(loc="upper right", fontsize=10)
    return keep(figure, counts.reset_index().to_dict("records"))


def rounded() -> Figure:
    """What one bit does where ReLU's corner is rounded, a line an architecture; ReLU itself stands apart."""
    near, bits = corner(), corners()[-1]
    with styled():
        figure, (axes,) = canvas(1, 1, 7.5, 3.0)
        for (model, part), mark in zip(near.groupby("model"), "so^", strict=True):
            part, each = part.droplevel("model"), bits[bits["model"] == model]
            at = np.arange(len(part)) + 0.7 * (part.index > 0)
            (line,) = axes.plot(at[1:], part["mean"].iloc[1:], marker=mark)
            axes.plot(at[0], part["mean"].iloc[0], mark, color=line.get_color())
            places = at[part.index.get_indexer(each["beta"])]
            axes.plot(places, each[TV], mark, color=line.get_color(), markersize=3, alpha=0.5)
            end = (at[-1], part["mean"].iloc[-1])
            axes.annotate(model, end, xytext=(8, -3), textcoords="offset points", color=line.get_color())
        axes.plot(at, near["seeds"].groupby("beta").mean(), color="grey", linestyle=":")
        axes.annotate("another seed", (at[1], 0.25), xytext=(0, 4), textcoords="offset points", color="#555555")
        in_percent(axes)
        axes.set_xlim(right=at[-1] + 1.5)
        axes.set_xticks(at, ["ReLU", *map("{:g}".format, part.index[1:])])
        axes.set_xlabel("half-width of the rounded corner")
        axes.set_ylabel("total variation after one bit")
    return keep(figure, near.reset_index().to_dict("records"))


def changes() -> Figure:
    """How far apart two runs end that differ in one thing: every architecture, and their geometric mean."""
    rungs = ladder()
    with styled():
        figure, (axes,) = canvas(1, 1, 7.5, 3.2)
        for at, name in enumerate(("relu", "gelu", "smelu_1", "swiglu")):
            colour, mark, _ = look(name)
            each = rungs[name].unstack("model").reindex([*RUNGS.values()])
            beside = np.arange(len(each)) + 0.18 * (at - 1.5)
            axes.plot(beside, 10**each, mark, color=colour, markersize=3.5, alpha=0.5)
            axes.plot(beside, 10 ** each.mean(axis=1), mark, color=colour, markersize=9, label=words(name))
            for model, said in NAMED.get(name, {}).items():
                where = (beside[0], 10 ** each.loc["one bit", model])
                axes.annotate(said, where, xytext=(5, -3), textcoords="offset points", color=colour, fontsize=8)
        in_percent(axes)
        axes.set_xticks(range(len(RUNGS)), RUNGS.values())
        axes.set_xlabel("what differs between the two networks")
        axes.legend(loc="lower right", ncols=2, fontsize=10)
        axes.set_ylabel("total variation")
    return keep(figure, rungs.reset_index().to_dict("records"))


NAMED = {
    "gelu": {"tinylstm": "LSTM", "nanotransformer": "nanotransformer"},
    "smelu_1": {"minigpt": "minigpt, LSTM"},
}
"""Activation -> the networks that stand out after one bit, and what they are called beside their marks."""


def behind_the_best() -> Figure:
    """Losses by architecture and activation; in brackets where not significantly behind the best."""
    behind, said = losses()
    numbers = behind.map("{:.2f}".format)
    figure = plots.heat(behind, "nats behind the best", said.where(said != "=", "(" + numbers + ")"))
    axes, colours = figure.axes
    colours.remove()  # the words say it
    axes.set_xlabel("nats behind the best")
    return figure


def figures() -> dict[str, Figure]:
    """Name -> figure of README, front page and the page of evidence."""
    found = {
        "agreement": agreement(),
        "corner": rounded(),
        "ladder": changes(),
        "predictions": predictions(),
        "losses": behind_the_best(),
    }
    for name, figure in found.items():
        figure.set_size_inches(7.5, 3.0)
        figure.suptitle(TITLES[name], x=0.01, ha="left", fontsize=10)
    return found


if __name__ == "__main__":
    for name, figure in figures().items():
        write_text(paths.ROOT / PICTURE.format(name), image(figure).decode() + "\n")
