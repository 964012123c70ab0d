"""Numbers of notebooks/repro.ipynb: the study of the page, and the larger networks of the page above it."""

import numpy as np
import pandas as pd
from scipy.stats import gmean

import actlab
from actlab import holds
from actlab.book.checks import agrees

STUDIES = ["repro-lite", "repro-partial"]
ARM = ["model", "activation"]
ABLE = ["charlm", "minigpt", "nanotransformer", "convlm", "hybridlm"]
"""Without tinylstm, which has learned too little."""


def share_of_one_bit(study: str, kind: str) -> pd.DataFrame:
    """Geometric means of what one bit does, as a share of the difference between two seeds."""
    moved, seeds = actlab.load(study, kind)[1], actlab.load(study)[1]
    moved = moved[moved["second"].str.endswith("-nudge")]
    one = moved.groupby(ARM)["total_variation"].agg(gmean)
    return (one / seeds.groupby(ARM)["total_variation"].mean()).unstack().loc[ABLE]


def tables(which: int, metric: str) -> list[pd.DataFrame]:
    """Differences from ReLU in the loss (``which`` 0) or between seeds (1), a table a study."""
    loaded = [actlab.load(study)[which] for study in STUDIES]
    return [actlab.contrasts(table, metric).set_index(ARM) for table in loaded]


def check_counts() -> None:
    """Losses and disagreements at two scales."""
    loss, apart = tables(0, "val_loss"), tables(1, "total_variation")
    agrees([(table["p_holm"] < 0.05).sum().item() for table in loss], [21, 11], "losses that differ")
    agrees([(table["p_holm"] < 0.05).sum().item() for table in apart], [4, 0], "total variations that differ")
    agrees({len(table) for table in loss + apart}, {30}, "comparisons")
    able = [(table.loc[ABLE, "p_holm"] < 0.05).sum().item() for table in (loss[0], apart[0])]
    agrees(able, [20, 3], "of 25, without tinylstm")
    agrees(apart[0].loc[("charlm", "swish"), "p_holm"], 0.0496, "Swish in charlm, p", digits=4)
    agrees(100 * apart[0].loc[("charlm", "smelu_1"), "difference"], -1.6, "SmeLU-1 changes as much as Swish", digits=1)
    names = ["gelu", "swish", "smelu_05", "smelu_1"]
    smooth = pd.MultiIndex.from_product([ABLE[:3], names])
    both = [
        ((a["difference"] < 0) & (b["difference"] > 0))[smooth].sum().item() for a, b in zip(apart, loss, strict=True)
    ]
    agrees(both, [12, 12], "a lower total variation and a higher loss")


def check_the_results(study: str, results: pd.DataFrame) -> None:
    """Directions, in the table of the page."""
    if study == "repro-lite":
        found = results.groupby("of")[["higher", "lower"]].sum()
        agrees(found.loc["loss"].tolist(), [16, 5], "losses significantly higher and lower")
        agrees(found.loc["two seeds"].tolist(), [2, 2], "two seeds that agree significantly less and more")
        agrees(int(results.loc["two seeds", "compared"].sum()) - 4, 26, "disagreements that could not be told")


def check_the_example(study: str, trials: pd.DataFrame, found: pd.DataFrame) -> None:
    """GELU in charlm."""
    if study == "repro-lite":
        one = found.set_index(ARM).loc["charlm", "gelu"]
        agrees(one[["reference", "estimate"]], [11.9, 10.2], "two seeds, ReLU and GELU", digits=1)
        right = trials.groupby(ARM)["val_accuracy"].mean()["charlm"]
        agrees(right[["relu", "gelu"]], [32.5, 30.1], "characters right, percent", digits=1)


def check_the_studies() -> None:
    """Seeds, sizes, and how often two seeds predict another character."""
    loaded = [actlab.load(study) for study in STUDIES]
    seeds = [set(runs.groupby(ARM)["seed"].nunique()) for runs, _ in loaded]
    agrees(seeds, [{5}, {3}], "seeds")
    size = [runs.groupby("model")["parameters"].max() for runs, _ in loaded]
    holds((size[1] / size[0]).round().between(3, 4).all(), "three to four times the size")
    churn = 100 * loaded[0][1].groupby(ARM)["churn"].mean().loc[ABLE]
    agrees(churn.agg(["min", "max"]), [12, 24], "another next character, percent of the places", digits=0)
    places = loaded[0][1].groupby(ARM)["total_variation"].mean().unstack()
    between = places.drop("tinylstm").mean(axis=1).std()
    holds(between > places.std(axis=1).max(), "between networks it differs more than between activations")
    course = actlab.load_curves("repro-lite").groupby([*ARM, "iteration"])["val_loss"].mean().unstack()
    holds((course[500] < course[450]).all(), "the losses still fall when training stops")


def check_each_architecture() -> None:
    """The tabs."""
    loss, apart = tables(0, "val_loss")[0], tables(1, "total_variation")[0]
    sure = set(apart.index[apart["p_holm"] < 0.05])
    four = {("charlm", "gelu"), ("charlm", "swish"), ("convlm", "swiglu"), ("tinylstm", "swiglu")}
    agrees(sure, four, "total variations that differ significantly")
    moved = 100 * apart["difference"]
    agrees(moved["charlm"][["gelu", "swish"]], [-1.7, -1.6], "charlm, points", digits=1)
    side = np.sign(loss["difference"]).where(loss["p_holm"] < 0.05, 0).unstack()  # 0: could not be told
    smooth = ["gelu", "swish", "smelu_05", "smelu_1"]
    holds((side.loc[ABLE[:3], smooth] == 1).all(axis=None), "the four raise the loss in the three transformers")
    columns = [*smooth, "swiglu"]
    agrees(side.loc["charlm", columns].tolist(), [1, 1, 1, 1, -1], "charlm, directions of the loss")
    agrees(side.loc["convlm", columns].tolist(), [-1, -1, 0, 1, 0], "convlm, directions of the loss")
    agrees(side.loc["hybridlm", columns].tolist(), [0, 1, 1, 1, -1], "hybridlm, directions of the loss")
    agrees(side.loc["tinylstm", columns].tolist(), [0, 0, 0, 0, -1], "tinylstm, directions of the loss")
    nats = loss["estimate"].unstack().assign(relu=loss["reference"].groupby("model").first())
    agrees(nats.loc["charlm", ["relu", "swiglu"]], [2.31, 2.25], "charlm, nats", digits=2)
    for model, typed in (("minigpt", [2.38, 2.41, 2.43]), ("nanotransformer", [2.23, 2.26, 2.31])):
        raised = nats.loc[model, smooth]
        agrees([nats.loc[model, "relu"], raised.min(), raised.max()], typed, f"{model}, nats", digits=2)
    agrees(nats.loc["convlm", ["relu", "gelu"]], [1.95, 1.93], "convlm, nats", digits=2)
    agrees(nats.loc["hybridlm", ["relu", "swiglu"]], [2.14, 2.09], "hybridlm, nats", digits=2)
    holds(loss.loc["hybridlm", "difference"].max() < 0.02, "hybridlm: raised by less than 0.02")
    points = 100 * apart.loc[[("convlm", "swiglu"), ("tinylstm", "swiglu")], ["reference", "estimate"]]
    agrees(points, [[15.9, 17.4], [1.8, 5.1]], "convlm and tinylstm, points", digits=1)
    unigram = actlab.load_baselines("repro-lite").loc["unigram", "val_loss"]
    lstm = nats.loc["tinylstm"]
    agrees([lstm["relu"], unigram, lstm["swiglu"]], [3.351, 3.347, 3.018], "tinylstm, nats", digits=3)
    holds(lstm.drop("swiglu").min() > unigram - 0.01, "SwiGLU alone learns")


def check_the_rank_correlation(study: str, rho: pd.Series, x: pd.Series) -> None:
    """Of the page at lite scale."""
    if study == "repro-lite":
        agrees(rho, [-0.84, -0.94, -0.75], "rank correlation", digits=2)
        agrees(len(x), 25, "differences")


def check_within_a_network(study: str, within: pd.DataFrame) -> None:
    """The rank correlation without what lies between networks."""
    if study == "repro-lite":
        agrees(within["own means out"], [-0.70, -0.49], "own means out, and without SwiGLU", digits=2)
        agrees(within.loc["all", ABLE].agg(["min", "max"]), [-0.7, -0.3], "five activations", digits=1)
        four = within.loc["without SwiGLU", ABLE].astype(float)
        agrees([four.idxmin(), four.idxmax()], ["convlm", "nanotransformer"], "the lowest and the highest")
        agrees(four.agg(["min", "max"]), [-0.8, 0.2], "without SwiGLU", digits=1)


def check_one_bit(study: str) -> None:
    """Of another seed, here and at tuned rates."""
    if study != "repro-lite":
        return
    here, rate = share_of_one_bit("repro-lite", "floor"), actlab.load("one-bit")[0].groupby("model")["learning_rate"].first()
    agrees(100 * here["relu"].agg(["min", "max"]), [1, 22], "one bit under ReLU, % of a seed", digits=0)
    holds(here.drop(columns="relu").max(axis=None) < 1e-4, "under the others almost nothing")
    there = share_of_one_bit("one-bit", "all")["relu"]
    agrees(100 * there.agg(["min", "max"]), [40, 69], "at tuned rates", digits=0)
    agrees((rate[ABLE] / 0.0003).agg(["min", "max"]), [7, 27], "times the rate", digits=0)
    tuned = actlab.load("answer")
    curves, along = actlab.load_curves("answer"), actlab.load_pairs("answer", of="along")
    bigram = actlab.load_baselines("answer")["val_loss"].get("bigram")
    level = actlab.at_equal_loss(curves, along, exclude_above=bigram).query("left_out == ''").set_index(ARM)["value"]
    agrees(100 * level["charlm", "relu"], 19, "two seeds of charlm at a tuned rate, %", digits=0)
    size = [actlab.load("repro-lite")[0]["parameters"], tuned[0]["parameters"]]
    agrees([size[0].min(), size[0].max()], [size[1].min(), size[1].max()], "the same sizes")
    agrees([size[0].min(), size[0].max()], [280_000, 430_000], "parameters", digits=-4)
