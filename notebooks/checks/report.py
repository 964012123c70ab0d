"""Numbers of notebooks/report.ipynb: partial scale, full scale, and the published report's questions."""

import numpy as np
import pandas as pd

import actlab
from actlab import paths
from actlab.checks import agrees, holds
from actlab.files import read_yaml
from actlab.records.tables import load_records
from actlab.statistics.significance import detectable_paired
from actlab_audit import ledger, numbers

ARM = ["model", "activation"]
SIDES = ["difference", "low", "high"]
INTERVAL = ["estimate", "low", "high"]
ABLE = ["charlm", "minigpt", "nanotransformer", "convlm", "hybridlm"]
"""Without tinylstm, which has learned too little at the smaller size."""


def check_the_example(by_step: pd.DataFrame, by_loss: pd.DataFrame) -> None:
    """SmeLU-1 minus ReLU in charlm, at three steps and at ten losses."""
    agrees(by_step.loc[[50, 200, 750], "difference"], [5.3, -2.5, 2.6], "after 50, 200 and 750 steps", digits=1)
    holds(by_step.loc[[50, 750], "low"].gt(0).all() and by_step.loc[200, "high"] < 0, "each of the three is significant")
    holds(len(by_loss) == 10 and by_loss["difference"].gt(0).all(), "at ten losses SmeLU-1's differ by more")
    agrees((by_loss["low"] > 0).sum(), 6, "of them significantly")
    agrees({*by_step["n"], *by_loss["n"]}, {10}, "seeds")
    curves = actlab.load_curves("answer-rate").query("model == 'charlm'")
    agrees({*curves["learning_rate"][curves["activation"].isin(["relu", "smelu_1"])]}, {0.002}, "its rate")
    losses = curves.pivot_table("val_loss", "iteration", "activation")
    holds((losses["smelu_1"] > losses["relu"]).loc[50:].all(), "SmeLU-1's loss is higher throughout")
    agrees(by_step.loc[200, "reference"], 16.9, "two seeds under ReLU after 200 steps", digits=1)


def check_the_networks(results: pd.DataFrame, both: dict[str, pd.DataFrame]) -> None:
    """A higher loss, and seeds that agree more, over five networks."""
    agrees(results.loc["rank correlation", "repro-lite"], "-0.84", "five smaller networks")
    holds(float(results.loc["rank correlation", "repro-partial"]) < 0, "and in the larger ones it is below 0")
    agrees([rows["model"].nunique() for rows in both.values()], [5, 5, 1], "networks that learned")
    agrees(results.loc["two seeds: significant"].tolist()[:2], ["4 of 30", "0 of 30"], "differences between seeds")
    agrees(results.loc["loss: significant", "repro-lite"], "21 of 30", "differences of loss")
    sizes = [actlab.load(name)[0].groupby("model")["parameters"].max() for name in ("repro-lite", "repro-partial")]
    holds((sizes[1] / sizes[0]).round().between(3, 4).all(), "three to four times the size")
    apart = both["repro-lite"].set_index(ARM).loc[("charlm", "gelu")]
    agrees(apart["reference"], 12, "two seeds of charlm, ReLU", digits=0)


def check_within_a_network(within: pd.DataFrame) -> None:
    """The smaller networks, each one's own mean taken out, with SwiGLU and without it."""
    out = within.loc["repro-lite", "own means out"].astype(float)
    agrees(out, [-0.70, -0.49], "own means out, and without SwiGLU", digits=2)


def check_swaps(swaps: pd.DataFrame, other: str, tuned: str) -> None:
    """One choice changed, the rest the same: points of accuracy."""
    grid = swaps["estimate"].unstack(sort=False)
    agrees([*grid.columns], ["network", "activation", "seed"], "the three choices")
    sets = ["these networks", "without tinylstm", "another size", "tuned rates"]
    agrees([*grid.index], sets, "the sets of runs")
    agrees(grid.loc["these networks"].tolist(), [12.0, 2.7, 0.4], "network, activation, seed", digits=1)
    agrees(grid.loc["without tinylstm"].tolist()[:2], [6.7, 2.2], "network, activation", digits=1)
    agrees(grid.loc[sets[3]].tolist(), [5.3, 1.9, 0.7], "at tuned rates", digits=1)
    sizes = [actlab.load(name)[0].groupby(ARM)["parameters"].first() for name in (other, tuned)]
    holds(sizes[0].sort_index().equals(sizes[1].sort_index()), "the same smaller networks")
    for name, rows in swaps.groupby(level=0):
        apart = rows["low"].to_numpy()[:2] > rows["high"].to_numpy()[1:]
        holds(apart.all(), f"the same order in {name}, and the intervals lie apart")


def tables(which: int, metric: str) -> list[pd.DataFrame]:
    """Differences from ReLU in the loss (``which`` 0) or between seeds (1), a table a study."""
    loaded = [actlab.load(study)[which] for study in ["repro-lite", "repro-partial"]]
    return [actlab.contrasts(table, metric).set_index(ARM) for table in loaded]


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


def check_answers(networks: pd.DataFrame, right: pd.DataFrame, trials: pd.DataFrame, study: str, differs: str) -> None:
    """Accuracy of the six networks under their best and worst activations."""
    more = networks["best", "more (points)"].astype(float)
    agrees(more.drop("tinylstm").agg(["min", "max"]), [3, 7], "points from worst to best", digits=0)
    agrees(more["tinylstm"], 11, "points in the LSTM", digits=0)
    table = actlab.load_baselines(study).loc["unigram", "val_accuracy"]
    few = right.loc["tinylstm", ["relu", "gelu", "swish"]] - table
    holds(few.abs().max() < 0.02, "guess like a table of how often each character occurs")
    of_lstm = trials.query("model == 'tinylstm'").groupby("activation")["val_loss"].mean()
    frequencies = actlab.load_baselines(study).loc["unigram", "val_loss"]
    agrees({*of_lstm.index[of_lstm > frequencies]}, {"gelu", "swish"}, "no better than character frequencies")
    apart = networks[differs, "mean"].astype(float)
    agrees(apart.drop("tinylstm").agg(["min", "max"]), [10, 18], "points between two seeds", digits=0)
    agrees(apart["tinylstm"], 5, "points in the LSTM", digits=0)
    holds(trials["parameters"].between(1.05e6, 1.75e6).all(), "1.1 to 1.7 million parameters")
    settings = trials["seed"].nunique(), {*trials["iterations"]}, {*trials["learning_rate"]}
    agrees(settings, (3, {500}, {0.0003}), "seeds, steps, rate")
    agrees({*(trials["iterations"] * trials["batch_size"] * 256 / 1_003_854).round()}, {8}, "passes over the text")


def check_other_settings(leads: pd.DataFrame, settings_of: dict[str, object]) -> None:
    """SwiGLU minus the best other activation, in points of accuracy."""
    agrees([*settings_of], ["repro-lite", "repro-partial", "repro-full", "answer"], "the sets of runs")
    ahead = leads["lead"].dropna().round(1)
    holds((ahead["repro-partial"] > 0).all() and len(ahead["repro-partial"]) == 6, "ahead in all six networks")
    smaller = ahead["repro-lite"]
    agrees([int((smaller > 0).sum()), len(smaller)], [4, 6], "ahead in four of six smaller ones")
    behind = leads.loc["repro-lite", "over"][smaller < 0].to_dict()
    agrees(behind, {"minigpt": "relu", "convlm": "gelu"}, "which lead instead")
    agrees(ahead["repro-full"].to_dict(), {"charlm": -1.2}, "behind at full scale")
    agrees(leads.loc[("repro-full", "charlm"), "over"], "swish", "behind Swish")
    full = actlab.load("repro-full")[0].query("model == 'charlm'").groupby("activation")["val_accuracy"].mean()
    agrees([full.idxmin(), len(full)], ["swiglu", 5], "last of five")
    rated = ahead["answer"]
    holds((rated[["charlm", "minigpt", "nanotransformer"]] > 0.5).all(), "ahead in the transformers at tuned rates")
    agrees(rated[["convlm", "tinylstm"]], [0.0, -6.0], "level in convlm, behind in the LSTM", digits=1)
    agrees(leads.loc[("answer", "convlm"), "over"], "gelu", "level with GELU")
    agrees(rated["hybridlm"], -0.4, "behind in hybridlm", digits=1)
    tuning = actlab.load("answer-tuning")[0].query("model == 'tinylstm' and activation == 'swiglu'")
    agrees(tuning["learning_rate"].max(), 0.004, "highest rate that was tried")


def check_published() -> None:
    """What the report answers, and its result for every activation."""
    said = ledger.claims()
    rows = {"T12": "80%", "T25": "93.6%", "T27": "0.028", "T33": "trade-off", "T16": "p = 0.019"}
    agrees(said.loc[[*rows], "reported"].to_dict(), rows, "the published answers")
    agrees(said.loc["T87", "claim"], "Sensitivity to the activation falls steadily with scale", "on size")
    ranked = pd.Series(numbers.average_accuracy).sort_values(ascending=False).head(2)
    agrees(ranked.to_dict(), {"gelu": 30.03, "relu": 30.02}, "its ranking")


def check_results(
    ahead: pd.DataFrame,
    right_apart: pd.DataFrame,
    significant: pd.DataFrame,
    loss_apart: dict[str, pd.DataFrame],
    seeds_apart: dict[str, pd.DataFrame],
    study: str,
    sensitivity: pd.DataFrame,
) -> None:
    """Differences from ReLU at partial scale."""
    loss, between = loss_apart[study], seeds_apart[study]
    agrees({*ahead["activation"]}, {"swiglu"}, "the best on average")
    own, means = ahead.iloc[:6], ahead.iloc[6:]
    agrees(means["networks"].tolist(), [6, 5], "networks that have both")
    holds((own["difference"] > 0).all(), "above ReLU in each network")
    found = own.index[own["p_holm"] < 0.05]
    agrees({*found}, {"hybridlm", "tinylstm", "convlm", "minigpt"}, "significant in four")
    lower = loss.query("activation == 'swiglu' and p_holm < 0.05 and difference < 0")["model"]
    agrees({*lower}, {"hybridlm", "tinylstm"}, "its loss in two")
    holds(own.loc["charlm", "low"] > 0 and own.loc["charlm", "p_holm"] > 0.05, "charlm: the interval leaves out 0")
    agrees(means["difference"].tolist(), [3.7, 2.1], "points on average, and without the LSTM", digits=1)
    agrees([len(loss), len(between), len(right_apart)], [30, 30, 30], "differences")
    agrees(significant.loc["all"].tolist(), [11, 11, 0], "significant ones")
    agrees(significant.loc["nanotransformer"].tolist(), [0, 0, 0], "in nanotransformer")
    agrees(int(100 * sensitivity["low"].min()), 59, "at least this share of the variance")


def check_the_smaller_networks(other: str) -> None:
    """Five seeds."""
    runs, couples = actlab.load(other)
    agrees(runs["seed"].nunique(), 5, "seeds")
    holds(runs["parameters"].between(2.5e5, 4.5e5).all(), "0.3 to 0.4 million parameters")
    tests = actlab.contrasts(runs, "val_loss"), actlab.contrasts(couples, "total_variation")
    agrees([int((each["p_holm"] < 0.05).sum()) for each in tests], [21, 4], "significant differences")
    agrees([len(each) for each in tests], [30, 30], "differences")


def check_turned_signs(turned: pd.DataFrame, grown: pd.DataFrame, other: str) -> None:
    """Losses that lie on another side of ReLU's at the other size."""
    agrees({*turned.index}, {("minigpt", "swiglu"), ("convlm", "swiglu")}, "both are SwiGLU's")
    holds((turned[other] > 0).all(), "it helps only at the larger size")
    of_lstm = actlab.load(other)[0].query("model == 'tinylstm'").groupby("activation")["val_loss"].mean()
    frequencies = actlab.load_baselines(other).loc["unigram", "val_loss"]
    few = of_lstm.index[(of_lstm - frequencies).abs() < 0.01]
    agrees({*few}, {"relu", "gelu", "swish", "smelu_05", "smelu_1"}, "learned nothing but under SwiGLU")
    holds(not {*turned.index.get_level_values("model")} & {"tinylstm"}, "the LSTM's signs are the same")


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
    agrees({*(ends["parameters"] / 1e6).round(1)}, {10.8}, "million parameters")
    agrees({*ends["iterations"]}, {5000}, "steps")
    agrees({*(ends["iterations"] * ends["batch_size"] * 256 / 1_003_854).round()}, {82}, "passes over the text")


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
    agrees(nano["val_loss"], 3.647, "ends at", digits=3)
    off = (measured[["val_loss", "val_accuracy"]] - published[["val_loss", "val_accuracy"]]).astype(float)
    agrees(off["val_loss"].abs().agg(["min", "max"]), [0.009, 0.060], "from the published losses", digits=3)
    agrees({*off.drop("charlm")["val_accuracy"].round(1)}, {0.4}, "above the published accuracy")
    agrees(-off.loc["charlm", "val_accuracy"].agg(["max", "min"]), [1.2, 2.6], "below it in charlm", digits=1)
    agrees([int((ends["rise"] > 0).sum()), len(ends)], [20, 21], "runs whose loss rises again")
    rises = ends.groupby(ARM)["rise"].mean()
    agrees(rises["charlm"].idxmin(), "swish", "rises least in charlm")
    agrees(rises.idxmax(), ("nanotransformer", "relu"), "rises most")
    agrees(measured["total_variation"].corr(rises, method="spearman"), 0.96, "rank correlation", digits=2)
    for name in ("val_loss", "best_val_loss"):
        first = of_charlm.pivot(index="seed", columns="activation", values=name).idxmin(axis=1)
        holds((first == "swish").all(), f"Swish has the lowest {name} in each of the three seeds")


def check_agreement_at_full_scale(measured: pd.DataFrame, published: pd.DataFrame) -> None:
    """Two seeds on the same inputs."""
    apart = measured["total_variation"]
    agrees(apart["nanotransformer", "relu"], 42.5, "total variation, points", digits=1)
    agrees(apart.agg(["min", "max"]), [17, 42], "points between two seeds, all seven", digits=0)
    others = apart.drop(("nanotransformer", "relu"))
    agrees(others.agg(["min", "max"]), [16.6, 24.8], "of the others", digits=1)
    agrees(published["total_variation"].astype(float).agg(["min", "max"]), [89.65, 93.63], "published", digits=2)
    partial = 100 * actlab.load("repro-partial")[1].groupby(ARM)["total_variation"].mean()
    agrees(partial["nanotransformer", "relu"], 18.9, "at partial scale", digits=1)
    holds((apart / published["total_variation"]).max() < 0.5, "less than half of the published")


def check_swish(beside_relu: pd.DataFrame, measured: pd.DataFrame) -> None:
    """charlm at full scale, four comparisons with ReLU."""
    swish, gated = (beside_relu.xs(name, level="activation") for name in ("swish", "swiglu"))
    lead = -swish[SIDES].astype(float)
    agrees(lead.loc["val_loss", ["difference", "high", "low"]], [0.080, 0.055, 0.104], "at the end", digits=3)
    p = swish["p_holm"].astype(float)
    agrees([p["val_loss"] < 0.05, p["best_val_loss"] < 0.05], [True, False], "significant")
    holds(
        lead.loc["rise", "difference"] / lead.loc["val_loss", "difference"] > 0.75, "most comes after the lowest loss"
    )
    agrees(swish.loc["rise", ["estimate", "reference"]].astype(float), [0.013, 0.077], "rises", digits=3)
    agrees(swish.loc["train_loss", ["estimate", "reference"]].astype(float), [1.146, 1.036], "training text", digits=3)
    slowest = actlab.load("repro-full")[0].query("model == 'charlm'").groupby("activation")["train_loss"].mean()
    agrees([slowest.idxmax(), len(slowest)], ["swish", 5], "learns the training text slowest of five")
    rises = measured["rise"]["charlm"]
    agrees(rises.idxmax(), "swiglu", "overfits most in charlm")
    above = gated[SIDES].astype(float)
    agrees(above.loc["val_loss"], [0.227, 0.134, 0.321], "SwiGLU at the end", digits=3)
    holds(gated.loc["best_val_loss", "p_holm"] >= 0.05, "we could not tell SwiGLU's lowest loss from ReLU's")
    agrees(above.loc["total_variation", "difference"], 5.8, "SwiGLU's seeds, points more", digits=1)
    agrees(measured.loc[("charlm", "swiglu"), "total_variation"], 24.8, "SwiGLU's seeds (%)", digits=1)
    agrees(float(gated.loc["rise", "estimate"]), 0.292, "SwiGLU rises", digits=3)
    holds((gated.loc[["val_loss", "total_variation"], "p_holm"] < 0.05).all(), "both significantly")
    apart = beside_relu.loc["total_variation", "p_holm"].drop("swiglu")
    holds(apart.min() > 0.05 and len(apart) == 3, "we could not tell the agreement under three")


def check_power() -> None:
    """In standard deviations of the paired differences; and the larger plan."""
    agrees(detectable_paired(3, 0.05 / 4), 6.5, "four comparisons, three seeds", digits=1)
    agrees(detectable_paired(3, 0.05 / 30), 18, "thirty comparisons, three seeds", digits=0)
    agrees(detectable_paired(10, 0.05 / 30), 1.7, "thirty comparisons, ten seeds", digits=1)
    larger = read_yaml(paths.ROOT / "params" / "scale-gpu.yaml")
    agrees([len(larger["scale"]), *larger["scale"][2:]], [4, "39m", "101m"], "sizes")
    agrees(larger["dataset"], "novels", "text")


def check_advice(advice: pd.DataFrame, trials: pd.DataFrame) -> None:
    """What to choose at this rate."""
    lowest = advice.loc["lowest loss"]
    agrees(lowest["activation"].tolist(), ["swiglu"] * 6, "lowest loss in all six")
    agrees({*lowest.index[lowest["p_holm"] < 0.05]}, {"hybridlm", "tinylstm"}, "significant in two")
    hybrid = lowest.loc["hybridlm", ["difference", "low of it", "high of it"]]
    agrees(hybrid.astype(float), [-0.075, -0.080, -0.071], "SwiGLU in hybridlm", digits=3)
    agreement = advice.loc["agreement"]
    holds(not (agreement["p_holm"] < 0.05).any(), "no gain over ReLU is significant")
    own = actlab.means(trials, "val_loss").set_index(ARM)
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


def check_accuracy(ranking: pd.DataFrame, study: str) -> None:
    """Averaged over the architectures."""
    bigram = actlab.load_baselines(study).loc["bigram", "val_accuracy"]
    found = [*ranking.loc[["swiglu", "relu"], "estimate"], bigram, ranking.loc["swiglu", "difference"]]
    agrees(found, [40.8, 37.1, 27.0, 3.7], "guessed by SwiGLU, ReLU, character pairs; points more", digits=1)
    below = ranking.index[(ranking["difference"] < 0) & (ranking["p_holm"] < 0.05)]
    agrees({*below}, {"gelu", "swish", "smelu_1"}, "significantly below ReLU")
    holds(ranking.loc["smelu_05", "p_holm"] >= 0.05, "smelu_05 does not differ significantly")


def check_tukey(
    tests: pd.DataFrame,
    loss_apart: dict[str, pd.DataFrame],
    trials: pd.DataFrame,
    study: str,
    other: str,
    reference: str,
) -> None:
    """Tukey's test beside the paired ones."""
    loss = loss_apart[study]
    here = tests.loc[study]
    holds((here["p"] < 0.05).all() and len(here) == 6, "the analysis of variance is significant in all six")
    found = [int(tests.loc[name, "differ (Tukey)"].map(len).sum()) for name in (study, other)]
    agrees(found, [27, 22], "differ from ReLU (Tukey), here and in the other study")
    paired = [int(tests.loc[name, "differ (paired, Holm)"].sum()) for name in (study, other)]
    agrees(paired, [11, 21], "the same by paired tests")
    agrees([len(trials) / 6 - 6, loss["df"].max()], [12, 2], "degrees of freedom")
    spread = trials.groupby(ARM)["val_loss"].std()["tinylstm"]
    holds(60 < spread[reference] / spread["gelu"] < 70, "over 60 times as widely as GELU's")
    holds("gelu" in here.loc["tinylstm", "differ (Tukey)"], "GELU counts as different for Tukey")
    gelu = loss.set_index(ARM).loc[("tinylstm", "gelu"), "p"]
    holds(gelu >= 0.05, "for Tukey alone")
    agrees(actlab.load(other)[0]["seed"].nunique(), 5, "seeds of the other study")


def check_variance(squares: pd.Series, spread: pd.DataFrame, trials: pd.DataFrame) -> None:
    """Shares of the variance."""
    percent = 100 * squares / squares["all"]
    shares = [percent["architecture"], percent["arm"] - percent["architecture"]]
    agrees(shares, [93, 7], "architecture; activation with its interaction", digits=0)
    holds(percent["seed"] < 0.01, "the seed less than 0.01%")
    few = trials[trials["model"] != "tinylstm"]
    of_model, of_arm = (few.groupby(by)["val_loss"].transform("mean") for by in (["model"], ARM))
    agrees(100 * (of_arm - of_model).var() / few["val_loss"].var(), 12, "without tinylstm", digits=0)
    agrees(spread["variance (%), value"].agg(["min", "max"]), [93, 99], "within an architecture", digits=0)
    ranged = spread["range, loss"]
    agrees([ranged.idxmax(), ranged.idxmin()], ["tinylstm", "hybridlm"], "most and least sensitive")
    agrees(ranged.agg(["max", "min"]), [0.74, 0.11], "range of loss", digits=2)


def check_two_scales(summary: pd.DataFrame, grown: pd.DataFrame, study: str, other: str) -> None:
    """Smaller networks beside larger ones."""
    agrees(summary.loc["val_loss", "same sign"], 28, "same sign")
    agrees(len(grown), 60, "differences")
    middle = summary[[f"median difference, {name}" for name in (other, study)]]
    agrees(middle.loc["val_loss"], [0.033, 0.066], "median difference of loss", digits=3)
    batches = [{*actlab.load(name)[0]["batch_size"]} for name in (other, study)]
    agrees(batches, [{32}, {64}], "twice the batch")


def check_sizes(growth: pd.DataFrame, sized_shares: pd.DataFrame) -> None:
    """charlm from 34 thousand to a million parameters."""
    moved = growth["difference"].astype(float)
    holds((growth["p_holm"] < 0.05).all() and len(growth) == 4, "all four move significantly")
    agrees([moved.abs().idxmax(), *{*growth["n"]}], ["swish", 3], "farthest, n")
    gated = growth.loc["swiglu", ["in the smallest", "in the largest"]].astype(float)
    agrees(np.sign(gated).tolist(), [1, -1], "SwiGLU's from above to below")
    holds((growth["in the smallest"].drop("swiglu") > 0).all(), "the others start above")
    holds((moved.drop("swiglu") > 0).all(), "and go further above")
    agrees(growth.loc["swish", SIDES].astype(float), [0.136, 0.104, 0.169], "Swish", digits=3)
    agrees(moved["smelu_1"], 0.135, "SmeLU-1", digits=3)
    losses = actlab.load("scale")[0].pivot_table("val_loss", "scale", "activation")
    minus = losses["swiglu"] - losses["relu"]
    holds(minus["1m"] > minus["lite"], "SwiGLU's goes no further after 430 thousand")
    ordered = sized_shares.sort_values("parameters")
    small, large = ordered.iloc[0], ordered.iloc[-1]
    agrees(small["lead (points)"], -0.2, "SwiGLU in the smallest network", digits=1)
    agrees(100 * small[["value", "low", "high"]], [79, 15, 89], "share in the smallest network", digits=0)
    agrees(100 * large[["value", "low", "high"]], [96, 45, 98], "share in the largest network", digits=0)
    falls = (
        sized_shares["parameters"].corr(sized_shares["value"], method="spearman") == -1 and large["high"] < small["low"]
    )
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
