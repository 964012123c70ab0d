"""Numbers of notebooks/repro.ipynb: the study of the page, and the larger networks of the page above it."""

import pandas as pd

import actlab
from actlab import holds
from actlab.book.checks import agrees

STUDIES = ["repro-lite", "repro-partial"]
ARM = ["model", "activation"]
ABLE = ["charlm", "minigpt", "nanotransformer", "convlm", "hybridlm"]
"""Without tinylstm, which has learned too little."""


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
    names = ["gelu", "swish", "smelu_05", "smelu_1"]
    smooth = pd.MultiIndex.from_product([ABLE[:3], names])
    both = [
        ((a["difference"] < 0) & (b["difference"] > 0))[smooth].sum().item() for a, b in zip(apart, loss, strict=True)
    ]
    agrees(both, [12, 12], "a lower total variation and a higher loss")


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
    agrees(loss.loc["charlm", "difference"][["gelu", "swish"]], [0.08, 0.10], "charlm, loss", digits=2)
    higher = ((loss["p_holm"] < 0.05) & (loss["difference"] > 0)).groupby("model").sum()
    agrees(higher[["minigpt", "nanotransformer"]].tolist(), [4, 4], "losses higher than ReLU's")
    agrees(moved["convlm", "swiglu"], 1.5, "convlm, points", digits=1)
    agrees(moved["tinylstm", "swiglu"], 3.4, "tinylstm, points", digits=1)
    holds(loss.loc[("convlm", "swiglu"), "p_holm"] > 0.05, "convlm: SwiGLU's loss could not be told from ReLU's")
    agrees(loss.loc[("convlm", "gelu"), "difference"], -0.024, "convlm, loss", digits=3)
    agrees(loss.loc[("hybridlm", "swiglu"), "difference"], -0.050, "hybridlm, loss", digits=3)
    lstm = actlab.load("repro-lite")[0].groupby(ARM)["val_loss"].mean()["tinylstm"]
    unigram = actlab.load_baselines("repro-lite").loc["unigram", "val_loss"]
    agrees([lstm["relu"], unigram, lstm["swiglu"]], [3.351, 3.347, 3.018], "tinylstm, nats", digits=3)
    holds(lstm.drop("swiglu").min() > unigram - 0.01, "SwiGLU alone learns")


def check_the_rank_correlation(study: str, rho: pd.Series, x: pd.Series) -> None:
    """Of the page at lite scale."""
    if study == "repro-lite":
        agrees(rho, [-0.84, -0.94, -0.75], "rank correlation", digits=2)
        agrees(len(x), 25, "differences")
