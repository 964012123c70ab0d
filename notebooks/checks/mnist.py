"""Numbers of notebooks/mnist.ipynb, over the tables that it shows of the recorded study."""

import numpy as np
import pandas as pd

import actlab
from actlab.checks import agrees, holds

WIDE, FAIR = "geglu_equal_width", "geglu_equal_parameters"


def check_published_setting(results: pd.DataFrame, sweep: pd.DataFrame) -> None:
    """At the published rate and batch size."""
    difference = results.set_index(["network", "hidden"])["difference"].round(1)
    agrees(difference[WIDE].to_dict()[2], 20.5, "GeGLU ahead at equal width, two hidden units")
    agrees([round(difference[WIDE].to_dict()[units]) for units in (8, 16)], [2, 2], "ahead with eight and sixteen")
    agrees(difference[FAIR].to_list()[:3], [-14.4, -21.6, -5.6], "GeGLU behind at equal parameters, 2, 4, 8 units")
    p = results.set_index(["network", "hidden"])["p_holm"]
    holds((p[WIDE] < 0.05).all(), "every difference at equal width is significant")
    holds((p[FAIR].drop(16) < 0.05).all(), "and at equal parameters below sixteen units")
    holds(p[FAIR][16] > 0.05, "at sixteen units we could not tell")
    size = sweep.pivot(index="hidden", columns="network", values="parameters")
    holds((size[WIDE] / size["relu"]).between(1.985, 1.995).all(), "twice as many parameters at equal width")
    holds(((size[FAIR] / size["relu"] - 1).abs() < 0.01).all(), "the same number of parameters")


def check_all_settings(gains: pd.DataFrame, runs: pd.DataFrame, by_rate: pd.DataFrame, batch: int) -> None:
    """Over width, rate and batch."""
    counts = gains.groupby("network")["outcome"].value_counts()
    holds(gains.groupby("network").size().eq(32).all(), "32 settings of each network")
    low = gains[gains["learning_rate"] <= 0.001]
    holds((low.loc[low["network"] == WIDE, "outcome"] == "higher").all(), "equal width wins at both low rates")
    agrees(counts[WIDE]["higher"], 16, "settings in which equal width wins")
    agrees(counts[FAIR]["lower"], 16, "settings in which equal parameters lose")
    fair = gains[(gains["network"] == FAIR) & (gains["learning_rate"] != 0.1)]
    agrees([(fair["outcome"] == "lower").sum(), len(fair)], [13, 24], "without the rate 0.1")
    most = runs[runs["learning_rate"] == 0.1].groupby("network")["collapsed"].mean()
    holds((most[[WIDE, FAIR]] > 0.75).all(), "most GeGLU networks give one class at the rate 0.1")
    agrees(counts[FAIR]["higher"], 2, "settings in which equal parameters win")
    agrees(counts[FAIR]["not significant"], 14, "settings in which we could not tell")
    won = gains[(gains["network"] == FAIR) & (gains["outcome"] == "higher")]
    holds((won["hidden"] == 16).all() and (won["learning_rate"] == 0.0001).all(), "sixteen units, lowest rate")
    relu = by_rate[(by_rate["network"] == "relu") & (by_rate["batch_size"] == batch)].set_index("learning_rate")
    agrees(round(relu["estimate"][0.001]), 89, "ReLU at 0.001 (%)")
    agrees(round(relu["estimate"][0.1]), 26, "ReLU at 0.1 (%)")
    holds((runs["status"] == "done").all(), "all networks finished")
    agrees(len(runs), 960, "networks")
    agrees(int(runs["collapsed"].sum()), 164, "networks that give one class to every image")
    agrees(int(runs.loc[runs["learning_rate"] == 0.1, "collapsed"].sum()), 163, "of them at the rate 0.1")
    half = runs[(runs["network"] == FAIR) & (runs["hidden"] == 16)]
    same = runs[(runs["network"] == WIDE) & (runs["hidden"] == 8)]
    order = ["learning_rate", "batch_size", "seed"]
    losses = [table.sort_values(order)["val_loss"].to_numpy() for table in (half, same)]
    holds(np.array_equal(*losses), "sixteen units at equal parameters are eight at equal width, bit for bit")


def check_random_search(maxima: pd.DataFrame, coverage: pd.DataFrame) -> None:
    """The expected best of k, and how often a bootstrapped interval covers it."""
    expected = maxima[maxima["k"] == 8].set_index("network")["expected"].round(1)
    agrees(expected["relu"], 90.4, "expected best of eight, ReLU (%)")
    agrees(expected[WIDE], 91.9, "expected best of eight, GeGLU at equal width (%)")
    agrees(expected[FAIR], 86.0, "expected best of eight, GeGLU at equal parameters (%)")
    holds(coverage.iloc[:, -1].between(0.45, 0.77).all(), "covered in about half to three quarters")


def check_ten_epochs(both: pd.DataFrame, test: pd.DataFrame, results: pd.DataFrame) -> None:
    """At eight units; and the test images."""
    ends = both[both["epochs"].isin([1, 10])]
    rises = actlab.contrasts(ends, "val_accuracy", "network", "epochs", 1).set_index("network")
    agrees(rises["difference"]["relu"].round(1), 2.7, "ReLU's gain by ten epochs (points)")
    last = actlab.contrasts(both[both["epochs"] == 10], "val_accuracy", [], "network", "relu").set_index("network")
    agrees(last["difference"][WIDE].round(1), 2.1, "equal width ahead after ten epochs")
    agrees(last["difference"][FAIR].round(1), -2.7, "equal parameters behind after ten epochs")
    holds((last["p_holm"] < 0.05).all(), "both significantly")
    apart = (test["difference"] - results["difference"]).abs().max()
    holds(apart < 0.7, "test images agree within 0.7 points")
