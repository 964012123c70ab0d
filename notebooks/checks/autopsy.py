"""Numbers of notebooks/autopsy.ipynb: each anomaly with its bug and without, and what was published."""

import pandas as pd

import actlab
from actlab.checks import agrees, holds
from actlab_audit import ledger, numbers

SIDES = ["difference", "low", "high"]


def check_different_inputs(
    distance: pd.DataFrame, names: dict[bool, str], end: pd.DataFrame, own: pd.DataFrame
) -> None:
    """A network against itself, and two seeds on the same inputs."""
    charlm = distance.query("network == 'charlm, relu'").set_index("compared")[["estimate", "low", "high"]]
    agrees(100 * charlm.loc[names[True]], [59.7, 56.2, 63.2], "charlm against itself, points", digits=1)
    agrees(100 * charlm.loc[names[False], "estimate"], 60.4, "two seeds of charlm", digits=1)
    agrees(100 * charlm.loc["two seeds, same inputs"], [8.3, 6.0, 10.7], "on the same inputs", digits=1)
    agrees(100 * charlm["estimate"][list(names.values())], [60, 60], "both on other inputs", digits=0)
    holds(end["iterations"].eq(200).all() and distance["n"].eq(3).all(), "200 steps, three seeds")
    holds((own[names[True]] > 0.95 * own[names[False]]).all(), "a network against itself lies where two seeds lie")
    holds(
        (own[names[False]] > 4 * own["two seeds, same inputs"]).all(),
        "two seeds on the same inputs lie far to the left",
    )
    lstm = distance[(distance["model"] == "tinylstm") & (distance["compared"] == names[True])]["estimate"]
    holds((lstm < 0.001).all(), "tinylstm differs from itself by less than 0.001")


def check_partial_scale(beside: pd.DataFrame) -> None:
    """Read as published, beside what was published."""
    ours = beside["ours, read as published"]
    typed = {
        "convlm": 0.715,
        "minigpt": 0.710,
        "nanotransformer": 0.767,
        "hybridlm": 0.782,
        "charlm": 0.760,
        "tinylstm": 0.062,
    }
    agrees(ours.xs("relu", level="activation").to_dict(), typed, "two seeds under ReLU")
    apart = [("charlm", "relu"), ("charlm", "gelu"), ("tinylstm", "relu")]
    agrees(beside["published"][apart].tolist(), ["0.65-0.70", "0.655", 0.028], "published where we are not within 10%")
    published = beside["published"].drop(apart).astype(float)
    agrees(len(published), 7, "rows within 10%")
    holds(((ours / published).dropna() - 1).abs().max() < 0.1, "within 10% of the published")
    holds(ours["charlm", "relu"] / 0.65 > 1.1, "charlm under ReLU is not")
    said = ledger.claims()["reported"]
    agrees(said["T55"], "0.028-0.783", "published for tinylstm, and for hybridlm")
    holds(ours["charlm", "gelu"] / 0.655 > 1.1, "charlm under GELU is not")


def check_full_scale() -> None:
    """What was published, and the same configurations again."""
    published = pd.Series([cell["total_variation"] for cell in numbers.full.values()])
    agrees(published.agg(["min", "max"]), [0.8055, 0.9363], "published", digits=4)
    again = actlab.load("repro-full")[1].groupby(["model", "activation"])["total_variation"].mean()
    agrees(again.agg(["min", "max", "size"]), [0.166, 0.425, 7], "on the same inputs", digits=3)


def check_ignored_activation(equal: pd.Series, both: pd.DataFrame, arrived: pd.DataFrame, named: pd.DataFrame) -> None:
    """GELU's name, ReLU's losses."""
    agrees([int(equal.sum()), len(equal), both["model"].nunique()], [165, 165, 5], "equal evaluations")
    agrees(set(named["activation"]), {"gelu"}, "under the name of")
    most = arrived.loc[arrived["difference"].abs().idxmax()]
    agrees(most["model"], "nanotransformer", "differs most")
    agrees(most[[*SIDES, "n"]].astype(float), [0.048, 0.037, 0.060, 5], "by, seeds", digits=3)
    holds((arrived["p_holm"] < 0.05).sum() > 2, "the two activations differ in most models")


def check_leak(
    course: pd.DataFrame, at_last: pd.Series, leaked: pd.DataFrame, at_partial: dict[str, float], clean: pd.DataFrame
) -> None:
    """convlm with its future, and without."""
    leak, left = (course.loc[side].iloc[-1] for side in ("on both sides (as published)", "on the left"))
    agrees(leak["val_loss"], 0.046, "padded on both sides", digits=3)
    agrees(at_last["convlm", "relu"], 28.1, "right at last positions", digits=1)
    agrees(left["val_loss"], 2.143, "padded on the left", digits=3)
    agrees(left["val_accuracy"], 38.2, "right at all positions", digits=1)
    agrees(course.loc["on the left"].index.max(), 200, "steps")
    agrees(at_partial["padded on both sides"], 0.0097, "at partial scale", digits=4)
    agrees(at_partial["padded on the left"], 1.762, "causal at partial scale", digits=3)
    agrees(numbers.convlm_partial["val_loss"], 0.0097, "published at partial scale")
    agrees([len(leaked), *leaked["iterations"].unique()], [3, 500], "seeds and steps")
    agrees(leaked["parameters"].iloc[0] / 1e6, 1.2, "million parameters", digits=1)
    published = numbers.full["convlm"]
    agrees([published["val_loss"], published["val_accuracy"]], [0.0077, 41.97], "published at full scale")
    agrees((clean["parameters"] / 1e6).agg(["min", "max"]), [0.3, 0.4], "million parameters, lite", digits=1)


def check_trade_off(found: dict[str, pd.DataFrame], names: dict[bool, str]) -> None:
    """Rank correlations of loss and difference."""
    every, without = found["all"], found["without tinylstm"]
    agrees([every[names[False]], every[names[True]]], [-0.92, -0.92], "on different inputs", digits=2)
    same = [one["two seeds, same inputs"] for one in (every, without)]
    agrees(same, [-0.62, -0.13], "on the same inputs, and without tinylstm", digits=2)
    holds(without[names[True]] < -0.8, "it needs no second network")
    agrees(numbers.pd_against_loss, -0.96, "published")


def check_lstm(lstm: float, apart: float, frequencies: float, longer: str, clean: pd.DataFrame) -> None:
    """No better than character frequencies."""
    agrees([lstm, frequencies, apart], [3.351, 3.347, 0.018], "loss, frequencies' loss, two seeds", digits=3)
    agrees(clean["iterations"].max(), 500, "steps")
    run = actlab.load(longer)[0]
    agrees([len(run), *run["iterations"]], [1, 2500], "one run, steps")
    agrees(run["val_loss"], [2.309], "its loss", digits=3)
    agrees([numbers.tinylstm["total_variation"], numbers.tinylstm["val_loss"]], [0.028, 3.3252], "published")


def check_mixed_metrics(below: dict[str, float], mixed: pd.Series, fair: pd.DataFrame) -> None:
    """SwiGLU below ReLU, in percent."""
    share = 100 - 100 * pd.Series(below)
    agrees(share["coded_pd beside relative_pd"], 32, "metrics mixed, 200 steps", digits=0)
    agrees(share["coded_pd"], 0.8, "in one metric", digits=1)
    agrees(mixed, [36, 44], "after 500 steps, and after 200 beside 500", digits=0)
    agrees(100 * fair[SIDES].iloc[0].astype(float), [1.4, 0.8, 2.0], "without bugs, points", digits=1)
    two = [numbers.console_pd[name] for name in ("swiglu", "relu")]
    agrees(two, [0.5935, 1.0739], "published")
    agrees(100 - 100 * two[0] / two[1], 45, "published share", digits=0)


def check_accuracies(once: float, error: float, everywhere: pd.Series) -> None:
    """Read at 1,000 positions."""
    agrees([once, error], [27.6, 1.4], "at random last positions, standard error", digits=1)
    agrees(2 * 1.96 * error, 5.5, "the width of its 95% interval", digits=1)
    agrees(everywhere[["estimate", "low", "high"]].astype(float), [28.3, 28.1, 28.5], "everywhere", digits=1)
    agrees(everywhere["high"] - everywhere["low"], 0.4, "the width of that interval", digits=1)
    agrees(everywhere["n"], 3, "runs")
    rank = numbers.average_accuracy
    agrees([rank["gelu"], rank["relu"], numbers.accuracy_positions], [30.03, 30.02, 1000], "published")
    holds(error > 100 * (30.03 - 30.02), "a hundred times the difference that is ranked")


def check_last_step(order: pd.DataFrame, late: pd.DataFrame, at_full: pd.DataFrame) -> None:
    """Last step against lowest loss."""
    agrees([order[name].idxmin() for name in ("val_loss", "best_val_loss")], ["swish", "gelu"], "lowest mean loss")
    agrees([int((late["val_loss"] > late["best_val_loss"]).sum()), len(late)], [15, 15], "end above their lowest")
    agrees(1000 * 32 * 128 / (0.02 * 1_003_854), 204, "times that the text is read", digits=0)
    holds(late["iterations"].eq(1000).all(), "1,000 steps")
    swish = at_full[at_full["activation"] == "swish"].set_index("loss of")
    agrees(-swish["difference"], [0.080, 0.015], "Swish's lead at full scale", digits=3)
    agrees((swish["p_holm"] < 0.05).tolist(), [True, False], "significant at the end alone")
    lead = at_full.loc[at_full.groupby("loss of")["difference"].idxmin(), "activation"]
    agrees(set(lead), {"swish"}, "leads at both")
    agrees(set(at_full["n"]), {3}, "seeds")
    published = pd.DataFrame(numbers.charlm_trials).mean().idxmin(), pd.Series(numbers.charlm_best).idxmin()
    agrees(published, ("swish", "gelu"), "in the published runs")


def check_rules(outcomes: pd.Series) -> None:
    """What the plans said."""
    agrees(outcomes.index[outcomes != "held"].tolist(), ["a conclusion depends on the step"], "failed")
    agrees(outcomes.iloc[-1], "failed", "the last rule")
