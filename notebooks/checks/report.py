"""Numbers of notebooks/report.ipynb: partial scale, full scale, and the published report's questions."""

import numpy as np
import pandas as pd

import actlab
from actlab import paths
from actlab.book.checks import agrees, holds
from actlab.files import read_yaml
from actlab.records.tables import load_records
from actlab.statistics.significance import detectable_paired
from actlab_audit import ledger, numbers

ARM = ["model", "activation"]
SIDES = ["difference", "low", "high"]
INTERVAL = ["estimate", "low", "high"]


def check_swaps(swaps: pd.DataFrame, changes: pd.DataFrame, other: str) -> None:
    """One choice changed, the rest the same: points of accuracy."""
    agrees(swaps["estimate"].tolist(), [12.0, 2.7, 0.4], "network, activation, seed", digits=1)
    agrees([*swaps.index], ["network", "activation", "seed"], "the three choices")
    holds((swaps["low"].iloc[:2].to_numpy() > swaps["high"].iloc[1:].to_numpy()).all(), "their intervals lie apart")
    agrees([*changes.index], ["all networks", "without tinylstm", other], "the sets of runs")
    agrees(changes.loc["without tinylstm"], [6.7, 2.2, 0.4], "without the LSTM", digits=1)
    holds((changes.diff(axis=1).iloc[:, 1:] < 0).all(axis=None), "the same order each time")


def check_answers(networks: pd.DataFrame, right: pd.DataFrame, trials: pd.DataFrame, study: str) -> None:
    """Accuracy of the six networks under their best and worst activations."""
    agrees([right.min(axis=None), right.max(axis=None)], [15, 51], "the worst and the best combination", digits=0)
    agrees(networks["best activation", ""].tolist(), ["SwiGLU"] * 6, "guesses best in all six")
    worst = networks["worst activation", ""]
    agrees(worst.value_counts().to_dict(), {"SmeLU-1": 5, "GELU": 1}, "guesses worst")
    agrees(worst["tinylstm"], "GELU", "worst in the LSTM")
    more = networks["best activation", "more (points)"]
    agrees(more.drop("tinylstm").agg(["min", "max"]), [3, 7], "points from worst to best", digits=0)
    agrees(more["tinylstm"], 11, "points in the LSTM", digits=0)
    agrees(right.loc["tinylstm", ["gelu", "swish"]], [15, 15], "right guesses of character frequencies", digits=0)
    agrees(actlab.load_baselines(study).loc["unigram", "val_accuracy"], 15, "of a table of them", digits=0)
    apart = networks["two seeds: total variation (points)"]
    agrees(apart["mean"].agg(["min", "max"]), [5, 18], "points between two seeds", digits=0)
    moved = apart["range"].drop("tinylstm")
    agrees(moved.agg(["min", "max"]), [1, 3], "points that the activation moves", digits=0)
    holds(trials["parameters"].between(1.05e6, 1.75e6).all(), "1.1 to 1.7 million parameters")
    settings = trials["seed"].nunique(), {*trials["iterations"]}, {*trials["learning_rate"]}
    agrees(settings, (3, {500}, {0.0003}), "seeds, steps, rate")
    agrees({*(trials["iterations"] * trials["batch_size"] * 256 / 1_003_854).round()}, {8}, "passes over the text")


def check_published() -> None:
    """What the report answers, and its result for every activation."""
    said = ledger.claims()
    rows = {"T12": "80%", "T25": "93.6%", "T27": "0.028", "T33": "trade-off", "T16": "p = 0.019"}
    agrees(said.loc[[*rows], "reported"].to_dict(), rows, "the published answers")
    agrees(said.loc["T87", "claim"], "Sensitivity to the activation falls steadily with scale", "on size")
    ranked = pd.Series(numbers.average_accuracy).sort_values(ascending=False).head(2)
    agrees(ranked.to_dict(), {"gelu": 30.03, "relu": 30.02}, "its ranking")


def check_results(
    results: pd.DataFrame,
    right_apart: pd.DataFrame,
    average: pd.DataFrame,
    significant: pd.DataFrame,
    loss: pd.DataFrame,
    seeds_apart: pd.DataFrame,
    sensitivity: pd.DataFrame,
) -> None:
    """Differences from ReLU at partial scale."""
    agrees(results.index.get_level_values("activation").tolist(), ["swiglu"] * 6, "lowest mean loss in all six")
    found = results["p_holm"] < 0.05
    agrees(set(results.index.get_level_values("model")[found]), {"hybridlm", "tinylstm"}, "significant in two")
    more = right_apart[(right_apart["activation"] == "swiglu") & (right_apart["p_holm"] < 0.05)]
    agrees({*more["model"]}, {"hybridlm", "tinylstm", "convlm", "minigpt"}, "in accuracy in four")
    holds((results["difference"] < 0).all(), "below ReLU's")
    swiglu = average.xs("swiglu", level="activation")
    agrees(swiglu.loc["all networks", SIDES].astype(float), [-0.164, -0.187, -0.140], "over the networks", digits=3)
    agrees(swiglu.loc["without tinylstm", "difference"], -0.066, "without the LSTM", digits=3)
    agrees([len(loss), len(seeds_apart), len(right_apart)], [30, 30, 30], "differences")
    agrees(significant.loc["all"].tolist(), [11, 11, 0], "significant ones")
    agrees(significant.loc["nanotransformer"].tolist(), [0, 0, 0], "in nanotransformer")
    agrees(int(100 * sensitivity["low"].min()), 59, "at least this share of the variance")


def check_networks(
    by_network: pd.DataFrame, between_networks: pd.Series, learned: pd.Index, pairs: pd.DataFrame
) -> None:
    """Architectures beside activations; two seeds in points."""
    agrees({*by_network.index} - {*learned}, {"tinylstm"}, "the one that does not learn under every activation")
    agrees(between_networks["loss"], 0.52, "between networks", digits=2)
    five = by_network.loc[learned]
    moves = five["loss", "range over activations"].agg(["min", "max"])
    agrees(moves, [0.11, 0.25], "between activations", digits=2)
    agrees(five["two seeds", "mean"].agg(["min", "max"]), [10, 18], "points between two seeds", digits=0)
    moves = five["two seeds", "range over activations"].agg(["min", "max"])
    agrees(moves, [1, 3], "points that the activation moves", digits=0)
    of_lstm = actlab.load("repro-partial")[0].query("model == 'tinylstm'").groupby("activation")["val_loss"].mean()
    frequencies = actlab.load_baselines("repro-partial").loc["unigram", "val_loss"]
    agrees({*of_lstm.index[of_lstm > frequencies]}, {"gelu", "swish"}, "no better than character frequencies")
    agrees(pairs["study"].unique().tolist(), ["repro-partial"], "the study")


def check_the_smaller_networks(other: str) -> None:
    """Five seeds."""
    runs, couples = actlab.load(other)
    agrees(runs["seed"].nunique(), 5, "seeds")
    holds(runs["parameters"].between(2.5e5, 4.5e5).all(), "0.3 to 0.4 million parameters")
    tests = actlab.contrasts(runs, "val_loss"), actlab.contrasts(couples, "total_variation")
    agrees([int((each["p_holm"] < 0.05).sum()) for each in tests], [21, 4], "significant differences")
    agrees([len(each) for each in tests], [30, 30], "differences")


def check_full_scale_is_recorded(ends: pd.DataFrame, measured: pd.DataFrame) -> None:
    """Seven configurations of thirty."""
    plan = read_yaml(paths.ROOT / "params" / "repro-full.yaml")
    planned = len(plan["model"]) * len(plan["activation"])
    agrees([planned, len(measured), *set(ends.groupby(ARM)["seed"].nunique())], [30, 7, 3], "planned, recorded, seeds")
    missing = [planned * plan["trials"] - len(ends), 2 * planned * plan["noise_floor"]]
    agrees(missing, [69, 60], "runs and noise floors that are not recorded")
    made = [record for record in load_records("repro-full") if "trials" in record]
    cards = {record["activation"]: record["provenance"]["machine"]["gpu"][:11] for record in made}
    agrees({name for name, card in cards.items() if card == "NVIDIA H200"}, {"smelu_1", "swiglu"}, "on an H200")
    agrees({*cards.values()}, {"NVIDIA H100", "NVIDIA H200"}, "cards")
    agrees({record["config"]["recipe"]["dtype"] for record in made}, {"bfloat16"}, "dtype")
    took = ends.groupby(ARM, sort=False)["seconds"].agg(["min", "max"]).round()
    agrees(took.loc[("charlm", "relu")].tolist(), [472, 473], "seconds of charlm with ReLU")
    others = took.drop(("charlm", "relu"))
    agrees([others["min"].min(), others["max"].max()], [180, 260], "seconds of the others")
    agrees({*(ends["parameters"] / 1e6).round(1)}, {10.8}, "million parameters")
    agrees({*ends["iterations"]}, {5000}, "steps")
    agrees({*(ends["iterations"] * ends["batch_size"] * 256 / 1_003_854).round()}, {82}, "passes over the text")
    losses = [
        trial["training"]["val_loss"]
        for record in made
        for trial in record["trials"]
        if record["model_name"] == "nanotransformer"
    ]
    agrees(np.mean(losses), 0.197, "nanotransformer on the training text", digits=3)
    holds("0.1868" in ledger.claims().loc["T61", "claim"], "0.1868 was published")


def check_the_cost_of_the_rest(left: pd.DataFrame, ends: pd.DataFrame) -> None:
    """Of the runs that full scale lacks, by the cards of those that it has."""
    agrees({*left["missing"]}, {69 + 60}, "runs and noise floors that are not recorded")
    agrees([name[:11] for name in left.index], ["NVIDIA H100", "NVIDIA H200"], "cards")
    agrees(left["recorded"].sum(), len(ends), "recorded runs")
    holds(np.allclose(left["seconds"] @ left["recorded"], ends["seconds"].sum()), "their seconds")


def check_overfitting(
    ends: pd.DataFrame, along: pd.DataFrame, measured: pd.DataFrame, published: pd.DataFrame, of_charlm: pd.DataFrame
) -> None:
    """The rise of the loss, and the published ends."""
    lows = along.loc[along.groupby([*ARM, "seed"])["val_loss"].idxmin()].set_index("model").loc["nanotransformer"]
    nano = measured.loc[("nanotransformer", "relu")]
    agrees({*lows["iteration"]}, {1000}, "nanotransformer is lowest at")
    agrees(nano["best_val_loss"], 1.577, "its lowest loss", digits=3)
    at_end = actlab.means(ends, "val_loss").set_index(ARM)[INTERVAL].astype(float)
    agrees(at_end.loc[("nanotransformer", "relu")], [3.647, 3.484, 3.810], "ends at", digits=3)
    agrees(lows["val_accuracy"].mean() - nano["val_accuracy"], 2.7, "its accuracy falls by", digits=1)
    off = (measured[["val_loss", "val_accuracy"]] - published[["val_loss", "val_accuracy"]]).astype(float)
    agrees(off["val_loss"].abs().agg(["min", "max"]), [0.009, 0.060], "from the published losses", digits=3)
    agrees({*off.drop("charlm")["val_accuracy"].round(1)}, {0.4}, "above the published accuracy")
    agrees(-off.loc["charlm", "val_accuracy"].agg(["max", "min"]), [1.2, 2.6], "below it in charlm", digits=1)
    agrees([int((ends["rise"] > 0).sum()), len(ends)], [20, 21], "runs whose loss rises again")
    rises = ends.groupby(ARM)["rise"].mean()
    agrees(rises.idxmin(), ("charlm", "swish"), "rises least")
    agrees(measured["total_variation"].corr(rises, method="spearman"), 0.96, "rank correlation", digits=2)
    for name in ("val_loss", "best_val_loss"):
        first = of_charlm.pivot(index="seed", columns="activation", values=name).idxmin(axis=1)
        holds((first == "swish").all(), f"Swish has the lowest {name} in each of the three seeds")
    of_published = published["val_loss"]["charlm"].astype(float).idxmin(), pd.Series(numbers.charlm_best).idxmin()
    agrees(of_published, ("swish", "gelu"), "lowest in the published runs, at the end and at the lowest")


def check_agreement_at_full_scale(between: pd.DataFrame, measured: pd.DataFrame, published: pd.DataFrame) -> None:
    """Two seeds on the same inputs."""
    votes = actlab.means(between, "churn").set_index("model").loc["nanotransformer", INTERVAL].astype(float)
    agrees(votes, [43.7, 42.9, 44.5], "nanotransformer's churn", digits=1)
    said = ledger.claims()["arguments"].str["published"]["T25"]["churn"]
    agrees(said, 0.936, "published churn")
    apart = measured["total_variation"]
    agrees(apart["nanotransformer", "relu"], 42.5, "total variation, points", digits=1)
    agrees(apart.agg(["min", "max"]), [17, 42], "points between two seeds, all seven", digits=0)
    others = apart.drop(("nanotransformer", "relu"))
    agrees(others.agg(["min", "max"]), [16.6, 24.8], "of the others", digits=1)
    agrees(published["total_variation"].astype(float).agg(["min", "max"]), [89.65, 93.63], "published", digits=2)
    partial = 100 * actlab.load("repro-partial")[1].groupby(ARM)["total_variation"].mean()
    agrees(partial["nanotransformer", "relu"], 18.9, "at partial scale", digits=1)
    holds((apart / published["total_variation"]).max() < 0.5, "less than half of the published")
    holds(votes["estimate"] < 100 * said / 2, "of churn too")


def check_swish(beside_relu: pd.DataFrame, measured: pd.DataFrame) -> None:
    """charlm at full scale, four comparisons with ReLU."""
    names = ("swish", "gelu", "smelu_1", "swiglu")
    swish, gelu, smelu, gated = (beside_relu.xs(name, level="activation") for name in names)
    lead = -swish[SIDES].astype(float)
    agrees(lead.loc["val_loss", ["difference", "high", "low"]], [0.080, 0.055, 0.104], "at the end", digits=3)
    agrees(lead.loc["best_val_loss", ["difference", "high", "low"]], [0.015, -0.009, 0.040], "at the lowest", digits=3)
    p = swish["p_holm"].astype(float)
    agrees(
        [p["val_loss"] < 0.05, p["best_val_loss"] < 0.05, p["val_accuracy"] < 0.05], [True, False, True], "significant"
    )
    holds(
        lead.loc["rise", "difference"] / lead.loc["val_loss", "difference"] > 0.75, "most comes after the lowest loss"
    )
    agrees(swish.loc["rise", ["estimate", "reference"]].astype(float), [0.013, 0.077], "rises", digits=3)
    agrees(p["rise"], 0.082, "p of the rises", digits=3)
    agrees(swish.loc["train_loss", ["estimate", "reference"]].astype(float), [1.146, 1.036], "training text", digits=3)
    slowest = measured.index.get_level_values("model") == "charlm"
    holds(slowest.sum() == 5, "five activations of charlm")
    agrees(swish.loc["val_accuracy", "difference"], 0.15, "accuracy, points", digits=2)
    below = -smelu[SIDES].astype(float)
    agrees(below.loc["val_loss", ["difference", "high", "low"]], [0.029, 0.025, 0.032], "SmeLU-1 at the end", digits=3)
    agrees(-below.loc["best_val_loss"], [0.002, -0.023, 0.027], "SmeLU-1 at the lowest", digits=3)
    holds(smelu.loc["val_loss", "p_holm"] < 0.05, "SmeLU-1 ends significantly below")
    above = gated[SIDES].astype(float)
    agrees(above.loc["val_loss"], [0.227, 0.134, 0.321], "SwiGLU at the end", digits=3)
    agrees(above.loc["best_val_loss"], [0.012, -0.003, 0.027], "SwiGLU at the lowest", digits=3)
    agrees(above.loc["total_variation"], [5.8, 4.0, 7.6], "SwiGLU's seeds, points", digits=1)
    agrees(float(gated.loc["rise", "estimate"]), 0.292, "SwiGLU rises", digits=3)
    holds((gated.loc[["val_loss", "total_variation"], "p_holm"] < 0.05).all(), "both significantly")
    apart = beside_relu.loc["total_variation", "p_holm"].drop("swiglu")
    untold = [*gelu.loc[["val_loss", "best_val_loss"], "p_holm"], *apart]
    holds(min(untold) > 0.05, "we could not tell: GELU's loss, agreement under three")


def check_power() -> None:
    """In standard deviations of the paired differences; and the larger plan."""
    agrees(detectable_paired(3, 0.05 / 4), 6.5, "four comparisons, three seeds", digits=1)
    agrees(detectable_paired(3, 0.05 / 30), 18, "thirty comparisons, three seeds", digits=0)
    agrees(detectable_paired(10, 0.05 / 30), 1.7, "thirty comparisons, ten seeds", digits=1)
    larger = read_yaml(paths.ROOT / "params" / "scale-gpu.yaml")
    agrees([len(larger["scale"]), *larger["scale"][2:]], [4, "39m", "101m"], "sizes")
    agrees(larger["dataset"], "novels", "text")


def check_advice(advice: pd.DataFrame, results: pd.DataFrame, trials: pd.DataFrame, study: str) -> None:
    """What to choose at this rate."""
    hybrid = results.xs("hybridlm", level="model")[SIDES].astype(float).iloc[0]
    agrees(hybrid, [-0.075, -0.080, -0.071], "SwiGLU in hybridlm", digits=3)
    agreement = advice.loc["agreement"]
    agrees(agreement["estimate"].idxmin(), "tinylstm", "agrees best")
    agrees(agreement.loc["tinylstm", "activation"], "swish", "under")
    agrees(agreement["estimate"].min(), 1.2, "by, in points", digits=1)
    holds(not (agreement["p_holm"] < 0.05).any(), "no gain over ReLU is significant")
    own = actlab.means(trials, "val_loss").set_index(ARM)
    frequencies = actlab.load_baselines(study).loc["unigram", "val_loss"]
    holds(own.loc[("tinylstm", "swish"), "high"] > frequencies, "no more than character frequencies")
    agrees([len(own), own["estimate"].idxmin()], [36, ("convlm", "swiglu")], "lowest loss of all")
    agrees(own.loc[("convlm", "swiglu"), INTERVAL].astype(float), [1.679, 1.666, 1.692], "convlm, SwiGLU", digits=3)
    first = advice.loc["cheapest"]
    agrees(first["activation"].tolist(), ["swiglu"] * 6, "reaches ReLU's loss first")
    ends = [first["estimate"].idxmin(), first["estimate"].idxmax()]
    agrees(ends, ["tinylstm", "minigpt"], "earliest and latest")
    agrees(first["estimate"].agg(["min", "max"]), [182, 468], "after steps", digits=0)
    agrees({*first.index[first["p_holm"] < 0.05]}, {"convlm", "hybridlm"}, "significant")


def check_tuned(again: pd.DataFrame, tuned: str) -> None:
    """At tuned rates, in smaller networks."""
    rated = actlab.load(tuned)[0]
    agrees(rated["seed"].nunique(), 10, "seeds")
    holds(rated["parameters"].between(2.5e5, 4.5e5).all(), "0.3 to 0.4 million parameters")
    by_model = again["difference"].unstack()
    chosen = {
        "charlm": "swiglu",
        "minigpt": "swiglu",
        "nanotransformer": "swiglu",
        "convlm": "gelu",
        "tinylstm": "smelu_1",
    }
    agrees(by_model.idxmin(axis=1)[list(chosen)].to_dict(), chosen, "lowest loss")
    holds((again.loc[[*chosen.items()], "p_holm"] < 0.05).all(), "significantly")
    gains = again.loc[[*chosen.items()], "difference"].iloc[:4]
    agrees(gains, [-0.019, -0.047, -0.045, -0.035], "by", digits=3)
    agrees(by_model.idxmax(axis=1)["tinylstm"], "swiglu", "worst in the LSTM")
    worse = again.loc[("tinylstm", "swiglu")]
    agrees(worse["difference"], 0.215, "by", digits=3)
    holds(worse["p_holm"] < 0.05, "significantly worse")
    holds((again.loc["hybridlm", "p_holm"] >= 0.05).all(), "in hybridlm none differs significantly")
    tuning = actlab.load("answer-tuning")[0].query("model == 'tinylstm' and activation == 'swiglu'")
    agrees(tuning["learning_rate"].max(), 0.004, "highest rate that was tried")


def check_accuracy(ranking: pd.DataFrame, study: str) -> None:
    """Averaged over the architectures."""
    bigram = actlab.load_baselines(study).loc["bigram", "val_accuracy"]
    found = [*ranking.loc[["swiglu", "relu"], "estimate"], bigram, ranking.loc["swiglu", "difference"]]
    holds(np.abs(np.subtract(found, [40.75, 37.09, 26.98, 3.66])).max() < 0.006, "40.7, 37.1, 27.0%; 3.7 points more")
    below = ranking.index[(ranking["difference"] < 0) & (ranking["p_holm"] < 0.05)]
    agrees({*below}, {"gelu", "swish", "smelu_1"}, "significantly below ReLU")
    holds(ranking.loc["smelu_05", "p_holm"] >= 0.05, "smelu_05 does not differ significantly")


def check_trade_off(within: pd.Series, means: pd.DataFrame, metric: str, across: pd.DataFrame) -> None:
    """Accuracy and agreement."""
    agrees(within, [0.78, 0.07, 1], "within architectures", digits=2)
    agrees(means["val_accuracy"].corr(means[metric], method="spearman"), 0.57, "over configurations", digits=2)
    most = [across["val_accuracy"].idxmax(), across[metric].idxmax()]
    agrees(most, ["convlm", "nanotransformer"], "most accurate, least agreeing")


def check_tukey(
    tests: pd.DataFrame,
    counted: pd.DataFrame,
    differ_there: pd.Series,
    loss: pd.DataFrame,
    trials: pd.DataFrame,
    other: str,
) -> None:
    """Tukey's test beside the paired ones."""
    holds((tests["p"] < 0.05).all() and len(tests) == 6, "the analysis of variance is significant in all six")
    paired = actlab.contrasts(actlab.load(other)[0], "val_loss")["p_holm"] < 0.05
    agrees(differ_there.tolist(), [27, 22], "differ from ReLU (Tukey), here and in the other study")
    agrees(int(paired.sum()), 21, "paired tests of the other study")
    agrees([len(trials) / 6 - 6, loss["df"].max()], [12, 2], "degrees of freedom")
    spread = trials.groupby(ARM)["val_loss"].std()["tinylstm"]
    holds(60 < spread["relu"] / spread["gelu"] < 70, "over 60 times as widely as GELU's")
    holds(counted.loc[("repro-partial", "tinylstm"), "gelu"], "GELU counts as different for Tukey")
    gelu = loss.set_index(ARM).loc[("tinylstm", "gelu"), "p"]
    holds(gelu >= 0.05, "for Tukey alone")
    agrees(actlab.load(other)[0]["seed"].nunique(), 5, "seeds of the other study")


def check_variance(squares: pd.Series, sensitivity: pd.DataFrame, trials: pd.DataFrame, metric: str) -> None:
    """Shares of the variance."""
    percent = 100 * squares / squares["all"]
    shares = [percent["architecture"], percent["arm"] - percent["architecture"]]
    agrees(shares, [93, 7], "architecture; activation with its interaction", digits=0)
    holds(percent["seed"] < 0.01, "the seed less than 0.01%")
    few = trials[trials["model"] != "tinylstm"]
    of_model, of_arm = (few.groupby(by)["val_loss"].transform("mean") for by in (["model"], ARM))
    agrees(100 * (of_arm - of_model).var() / few["val_loss"].var(), 12, "without tinylstm", digits=0)
    agrees(100 * sensitivity["share"].agg(["min", "max"]), [93, 99], "within an architecture", digits=0)
    ranged = sensitivity["range of loss"]
    agrees([ranged.idxmax(), ranged.idxmin()], ["tinylstm", "hybridlm"], "most and least sensitive")
    agrees(ranged.agg(["max", "min"]), [0.74, 0.11], "range of loss", digits=2)
    agrees(sensitivity.loc["tinylstm", f"CV of {metric}"], 65, "CV of tinylstm", digits=0)


def check_two_scales(summary: pd.DataFrame, grown: pd.DataFrame, study: str, other: str, metric: str) -> None:
    """Smaller networks beside larger ones."""
    agrees(summary["same sign"].tolist(), [28, 27], "same sign")
    agrees(len(grown), 60, "differences")
    middle = summary[[f"median |difference|, {name}" for name in (other, study)]]
    agrees(middle.loc["val_loss"], [0.033, 0.066], "median difference of loss", digits=3)
    holds((middle.loc[metric] - 0.8).abs().max() < 0.15, "between two seeds near 0.8 points")
    batches = [{*actlab.load(name)[0]["batch_size"]} for name in (other, study)]
    agrees(batches, [{32}, {64}], "twice the batch")


def check_sizes(growth: pd.DataFrame, shares: pd.DataFrame) -> None:
    """charlm from 34 thousand to a million parameters."""
    moved = growth.set_index("activation")
    holds((moved["difference"] > 0).all() and (moved["p_holm"] < 0.05).all(), "all move away significantly")
    agrees([len(moved), moved["difference"].idxmax(), *set(moved["n"])], [4, "swish", 3], "four, farthest, n")
    agrees(moved.loc["swish", SIDES].astype(float), [0.136, 0.104, 0.169], "Swish", digits=3)
    ordered = shares.sort_values("parameters")
    small, large = ordered.iloc[0], ordered.iloc[-1]
    agrees(100 * small[["value", "low", "high"]], [79, 15, 89], "share in the smallest network", digits=0)
    agrees(100 * large[["value", "low", "high"]], [96, 45, 98], "share in the largest network", digits=0)
    falls = shares["parameters"].corr(shares["value"], method="spearman") == -1 and large["high"] < small["low"]
    holds(not falls and not large["low"] > small["high"], "we could not tell by the rule")
    agrees([small["parameters"], large["parameters"]], [33728, 1017200], "parameters")


def check_cost(trials: pd.DataFrame, spent: pd.DataFrame, study: str, other: str) -> None:
    """Parameters, seconds and loss."""
    for table in (trials, actlab.load(other)[0]):
        place = table.groupby("model")[["val_loss", "parameters"]].mean().rank()
        agrees(place.loc["convlm"].tolist(), [1, 2], "convlm: lowest loss, fewer parameters than four others")
        agrees(place.loc["tinylstm"].tolist(), [6, 1], "tinylstm: highest loss, fewest parameters")
    agrees(spent.loc[(study, "hybridlm"), ["min", "max"]], [33, 245], "seconds of hybridlm", digits=0)
    agrees(spent["max"].idxmax(), (other, "minigpt"), "longest run")
    agrees(spent["max"].max(), 2559, "its seconds", digits=0)


def check_calibration(votes: pd.DataFrame) -> None:
    """Churn and errors."""
    found = [votes[name].agg(end) for name in ("churn", "error") for end in ("min", "max")]
    agrees(found, [6, 27, 51, 82], "another character, and errors (%)", digits=0)
    holds((votes["churn / error"] < 0.5).all(), "churn is far below error")
    holds((votes["both wrong"] > 0.5).all(), "both are wrong in more than half of the cases")
    times = votes["SD of accuracy"] / votes["SD if independent"]
    agrees(times.agg(["min", "max"]), [3, 25], "times as much as independent errors", digits=0)
