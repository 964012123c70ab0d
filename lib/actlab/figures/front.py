"""The report's figure: what each activation changes against relu, in loss and in agreement at once."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from actlab.figures.style import canvas, colour, marker, styled
from actlab.records.repro import Grid


def trade(grid: Grid | None) -> Figure:
    """Change of total variation against change of validation loss, each arm less relu, a panel a model, with both 95%
    intervals (paired by seed)."""
    arms = grid.arms if grid else {}
    models = [model for model, activation in arms if activation == "relu"]
    with styled():
        figure, panels = canvas(
            max(1, -(-len(models) // 3)), 3, width=7.6, height=0.8 + 2.2 * max(1, -(-len(models) // 3))
        )
        for axes in panels[len(models) :]:
            axes.set_visible(False)
        for axes, model in zip(panels, models, strict=False):
            relu = arms[model, "relu"]
            for arm in arms.values():
                if arm.model == model and arm.activation != "relu":
                    x, y = arm.minus(relu, "val_loss"), arm.minus(relu, "total_variation")
                    look: Any = {
                        "color": colour(arm.activation),
                        "marker": marker(arm.activation),
                        "markersize": 5,
                        "linewidth": 1,
                    }
                    errors = [[[e.value - e.low], [e.high - e.value]] for e in (x, y)]
                    axes.errorbar(
                        x.value, y.value, xerr=errors[0], yerr=errors[1], linestyle="none", label=arm.activation, **look
                    )
            axes.axhline(0, color="#888888", linewidth=0.6)
            axes.axvline(0, color="#888888", linewidth=0.6)
            axes.locator_params(axis="x", nbins=4, steps=[1, 2, 5, 10])
            axes.annotate(model, (0, 1.02), xycoords="axes fraction", ha="left", va="bottom", fontsize=8)
        handles = {
            label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        if handles:
            figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=len(handles))
        else:
            figure.suptitle("no record yet", fontsize=10)
        figure.supxlabel("change of validation loss against relu (nats; left is better)", fontsize=10)
        figure.supylabel("change of total variation\n(down agrees more)", fontsize=10)
    return figure
