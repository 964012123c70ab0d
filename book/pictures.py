"""The pictures of README and front page, drawn from the findings' tables: `python book/pictures.py` writes them."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

import findings
from actlab import paths
from actlab.figures import plots
from actlab.figures.style import canvas, image, keep, look, styled
from actlab.files import write_text
from actlab.records.labels import words
from findings import SIDES, jitter, losses, one_bit, recipe

PICTURE = "book/_static/front-{}.svg"
TITLES = {
    "agreement": "Averaging brings two seeds together, activations hardly do",
    "bit": "One bit matters under ReLU, rarely under GELU",
    "losses": "At constant rates SwiGLU leads in transformers",
    "predictions": "43 of 82 predictions held",
}
ACTIVATIONS = {"gelu": "GELU", "swish": "Swish", "swiglu": "SwiGLU", "smelu_05": "SmeLU-0.5", "smelu_1": "SmeLU-1"}
REMEDIES = {
    "learning-rate-decay": "a rate that falls to 0",
    "averaging": "averaged weights",
    "both": "both of these",
}


def agreement() -> Figure:
    """What changes the disagreement between two seeds, on one axis: activations at the lowest common loss, a falling
    rate, averaging, both at the end of training; and how much nearer a run is to itself ten steps earlier."""
    quoted = {one.name: one.found for one in findings.every()}
    rows = {f"activation-{name}": f"{said} for ReLU" for name, said in ACTIVATIONS.items()} | REMEDIES
    order = sorted(rows, key=lambda name: (not name.startswith("activation"), -quoted[name][0]))
    drawn: list[dict[str, Any]] = [{"change": rows[name], **dict(zip(SIDES, quoted[name], strict=True))} for name in order]
    itself = jitter().xs("relu", level="activation")["change"]
    ends = (itself.mean(), itself.min(), itself.max())
    drawn.append({"change": "same run, 10 steps ago", **dict(zip(SIDES, ends, strict=True))})
    with styled():
        figure, (axes,) = canvas(1, 1, *SIZE)
        for at, row in enumerate(drawn):
            colour = "grey" if at < len(ACTIVATIONS) else look("relu")[0]
            axes.plot([row["low"], row["high"]], [at, at], color=colour)
            axes.plot(row["estimate"], at, "o" if at < len(drawn) - 1 else "D", color=colour)
        axes.axvline(0, color="black", linewidth=0.8)
        axes.axhline(len(ACTIVATIONS) - 0.5, color="grey", linewidth=0.8, linestyle=":")
        axes.set_yticks(range(len(drawn)), [row["change"] for row in drawn])
        axes.invert_yaxis()
        axes.set_xlabel("change of the 20 points (left: agree more)")
    return keep(figure, drawn)


def one_bit_beside_a_seed() -> Figure:
    """One bit's effect as a share of another seed's, at ReLU's tuned rate: a mark an architecture with its 95%
    interval; hollow: nanotransformer under the ordinary recipe."""
    shares, places = one_bit(), {"relu": 0, "gelu": 1}
    drawn = shares[shares["activation"].isin(places)]
    with styled():
        figure, (axes,) = canvas(1, 1, *SIZE)
        for activation, at in places.items():
            colour, mark, _ = look(activation)
            rows = drawn[drawn["activation"] == activation].sort_values("estimate")
            for number, (_, row) in enumerate(rows.iterrows()):
                height = at - 0.3 + 0.11 * number
                axes.plot(row["estimate"], height, mark, color=colour)
                said = NETWORKS.get(row["model"], row["model"])
                axes.annotate(said, (row["estimate"], height), (7, -3), textcoords="offset points", fontsize=8)
            axes.plot(recipe()[activation], at + 0.38, "D", markerfacecolor="white", color=colour)
            where = (recipe()[activation], at + 0.38)
            axes.annotate("ordinary recipe", where, (-7, -3), textcoords="offset points", fontsize=8, ha="right")
        axes.set_xscale("log")
        axes.set_xticks([*PERCENTS], [*PERCENTS.values()])
        axes.set_xlim(1e-4, 20000)
        axes.set_yticks([*places.values()], [words(name) for name in places])
        axes.set_ylim(1.6, -0.5)
        axes.set_xlabel("effect of one bit, as a share of another seed's")
    return keep(figure, drawn.to_dict("records"))


NETWORKS = {"tinylstm": "LSTM"}
PERCENTS = {1e-4: "0.0001%", 1e-2: "0.01%", 1: "1%", 10: "10%", 100: "100%"}
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
        axes.set_xlabel("predictions")
        axes.grid(visible=False)
        axes.legend(loc="upper right", fontsize=9)
    return keep(figure, counts.reset_index().to_dict("records"))


def behind_the_best() -> Figure:
    """Losses by architecture and activation; in brackets where not significantly behind the best."""
    behind, said = losses()
    numbers = behind.map("{:.2f}".format)
    figure = plots.heat(behind, "nats behind the best", said.where(said != "=", "(" + numbers + ")"))
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
