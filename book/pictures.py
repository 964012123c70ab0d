"""The pictures of README and front page, drawn from the findings' tables: `python book/pictures.py` writes them."""

from __future__ import annotations

import findings
import numpy as np
import pandas as pd
from findings import RUNGS, SIDES, TV, corner, corners, ladder, losses
from matplotlib.figure import Figure

from actlab import paths
from actlab.figures import plots
from actlab.figures.style import canvas, image, keep, look, styled
from actlab.files import write_text
from actlab.records.labels import words

PICTURE = "book/_static/front-{}.svg"
TITLES = {
    "agreement": "Averaging and decay bring two seeds together; activations hardly do",
    "corner": "A rounder corner shrinks one bit's effect, up to 0.3",
    "ladder": "One bit sets activations apart, a new seed does not",
    "losses": "At constant rates SwiGLU leads in transformers",
    "predictions": "31 of 69 predictions held",
}
ACTIVATIONS = {"gelu": "GELU", "swish": "Swish", "swiglu": "SwiGLU", "smelu_05": "SmeLU-0.5", "smelu_1": "SmeLU-1"}
REMEDIES = {
    "learning-rate-decay": "learning-rate decay",
    "averaging": "averaged weights",
    "both": "decay and averaging",
}


def agreement() -> Figure:
    """What changes the disagreement between two seeds, on one axis: activations at equal loss, decay, averaging, both."""
    quoted = {one.name: one.found for one in findings.every()}
    rows = {f"activation-{name}": f"{said} instead of ReLU" for name, said in ACTIVATIONS.items()} | REMEDIES
    drawn = [{"change": rows[name], **dict(zip(SIDES, quoted[name], strict=True))} for name in rows]
    with styled():
        figure, (axes,) = canvas(1, 1, 7.5, 3.0)
        for at, (name, row) in enumerate(zip(rows, drawn, strict=True)):
            colour = "grey" if name.startswith("activation") else look("relu")[0]
            axes.plot([row["low"], row["high"]], [at, at], color=colour)
            axes.plot(row["estimate"], at, "o", color=colour)
        axes.axvline(0, color="black", linewidth=0.8)
        axes.set_yticks(range(len(rows)), rows.values())
        axes.invert_yaxis()
        axes.set_xlabel(
            "change of the 20 points between two seeds (left: they agree more)\nactivations: at equal loss; the others: at the end of training"
        )
    return keep(figure, drawn)


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


def figures() -> dict[str, Figure]:
    """Name -> figure of README, front page and the page of evidence."""
    near = corner()
    with styled():
        figure, (axes,) = canvas(1, 1, 4.3, 3.0)
        bits = corners()[-1]
        for (model, part), mark in zip(near.groupby("model"), "so^", strict=True):
            part, each = part.droplevel("model"), bits[bits["model"] == model]
            at = range(len(part))
            (line,) = axes.plot(at, part["mean"], marker=mark)
            places = part.index.get_indexer(each["beta"])
            axes.plot(places, each[TV], mark, color=line.get_color(), markersize=2, alpha=0.5)
            end = (at[-1], part["mean"].iloc[-1])
            axes.annotate(model, end, xytext=(6, -3), textcoords="offset points", color=line.get_color())
        axes.plot(at, near["seeds"].groupby("beta").mean(), color="grey", linestyle=":")
        axes.annotate("another seed's effect", (0, 0.25), xytext=(0, 3), textcoords="offset points")
        axes.set_yscale("log")
        axes.set_ylim(top=1)
        axes.set_xlim(right=at[-1] + 3)
        axes.set_xticks(at, ["0 (ReLU)", *map("{:g}".format, part.index[1:])], rotation=45)
        axes.set_xlabel("half-width of the rounded corner")
        axes.set_ylabel("total variation after one bit")
    rungs = ladder()
    with styled():
        steps, (axes,) = canvas(1, 1, 4.3, 3.0)
        for at, name in enumerate(("relu", "gelu", "smelu_1", "swiglu")):
            colour, mark, dashes = look(name)
            each = rungs[name].unstack("model").reindex([*RUNGS.values()])
            axes.plot(range(len(each)), 10 ** each.mean(axis=1), color=colour, dashes=dashes, label=words(name))
            beside = np.arange(len(each)) + 0.12 * (at - 1.5)
            axes.plot(beside, 10**each, mark, color=colour, markersize=3, alpha=0.6)
        axes.set_yscale("log")
        axes.set_ylim(top=1)
        axes.set_xticks(range(len(RUNGS)), RUNGS.values(), rotation=45)
        axes.legend(loc="lower right", fontsize=9)
        axes.set_ylabel("total variation")
    found = {
        "agreement": agreement(),
        "corner": keep(figure, near.reset_index().to_dict("records")),
        "ladder": keep(steps, rungs.reset_index().to_dict("records")),
        "predictions": predictions(),
        "losses": plots.heat(losses()[0], "nats behind the best", losses()[1]),
    }
    axes, colours = found["losses"].axes
    colours.remove()  # the words say it
    axes.tick_params("x", rotation=45)
    axes.set_xlabel("nats behind the best")
    for name, figure in found.items():  # side by side
        figure.set_size_inches(7.5 if name in ("agreement", "predictions") else 4.3, 3.0)
        figure.suptitle(TITLES[name], x=0.01, ha="left", fontsize=10)
    return found


if __name__ == "__main__":
    for name, figure in figures().items():
        write_text(paths.ROOT / PICTURE.format(name), image(figure).decode() + "\n")
