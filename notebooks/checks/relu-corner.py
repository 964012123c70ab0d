"""Numbers of notebooks/relu-corner.ipynb."""

import numpy as np
import pandas as pd

from actlab.checks import agrees, holds

MODELS = ["convlm", "charlm", "nanotransformer"]


def check_what_was_trained(networks: pd.DataFrame, cut: pd.DataFrame) -> None:
    """Sizes, steps, seeds of the copied gates."""
    agrees((networks["parameters"] / 1e6).agg(["min", "max"]), [0.28, 0.43], "million parameters", digits=2)
    agrees(({*networks["iterations"]}, {*cut["n"]}), ({500}, {5}), "steps and seeds")


def check_the_rounded_corner(narrow: pd.DataFrame, dose: pd.DataFrame, loss: pd.DataFrame) -> None:
    """One bit under ReLU and with a corner rounded by 0.3."""
    table = narrow.loc[MODELS]
    agrees(set(table["seeds"]), {5}, "five seeds")
    agrees(table["times smaller"].iloc[:1], [6000], "times smaller in convlm", digits=-3)
    agrees(table["times smaller"].iloc[1:2], [2400], "times smaller in charlm", digits=-2)
    agrees(table["times smaller"].iloc[2:], [30], "times smaller in nanotransformer", digits=-1)
    agrees(table["at least"].iloc[2:], [1.4], "there at least", digits=1)
    agrees(table["at most"].iloc[2:], [640], "there at most", digits=-1)
    agrees(table["loss: difference"], [0.002, 0.012, 0.020], "nats higher", digits=3)
    holds(((table["loss: low"] < 0) & (table["loss: high"] > 0)).all(), "each interval includes 0")
    agrees(dose.columns[dose.loc[1] > dose.loc[0.3]], ["charlm", "nanotransformer"], "larger again at 1")
    worse = (loss.loc[1] - loss.loc[0])[["loss, charlm", "loss, convlm"]]
    agrees(worse.max(), 0.18, "nats higher at a half-width of 1 (two networks on a CPU)", digits=2)


def check_sharpness(rising: pd.DataFrame) -> None:
    """GELU and Swish, ever closer to ReLU."""
    bit = rising["after one bit"]
    agrees(bit["gelu", 3], 0.00002, "GELU at a sharpness of 3", digits=5)
    agrees(bit["swish", 3], 0.000003, "Swish at a sharpness of 3", digits=6)
    agrees(bit.xs(100, level="sharpness")[["gelu", "swish"]], [0.075, 0.068], "at a sharpness of 100", digits=3)
    agrees(bit["relu"], [0.085], "ReLU on the same GPU", digits=3)


def check_copied_gates(six: pd.DataFrame, cut: pd.DataFrame) -> None:
    """Geometric means over seeds, six networks."""
    times = six["times"]
    agrees(times["convlm"], 140_000, "times less in convlm", digits=-4)
    agrees(times.drop(["minigpt", "tinylstm"]).min(), 310, "times less in four, at least", digits=-1)
    agrees(times["minigpt"], 29, "times less in minigpt", digits=0)
    holds(six.loc["minigpt", "at least"] < 1, "which may be chance")
    agrees(six.loc["tinylstm", ["times", "at least", "at most"]], [0.89, 0.77, 1.03], "tinylstm", digits=2)
    least = six["at least"].drop(["minigpt", "tinylstm"]).sort_values()
    agrees(least.iloc[:3], [16, 38, 92], "at least, in three", digits=0)
    agrees(six.loc["convlm", "at least"], 86_000, "at least in convlm", digits=-3)
    three = six.loc[MODELS, "copied, %"]
    agrees(three["convlm"], 0.00006, "left in convlm (%)", digits=5)
    agrees(three.max(), 0.05, "left at most in the three networks of the control (%)", digits=2)
    adjusted = cut["p_holm"]
    agrees(adjusted["convlm"], 2e-6, "Holm, convlm", digits=6)
    agrees(adjusted[["charlm", "hybridlm", "minigpt", "tinylstm"]], [0.01, 0.01, 0.12, 0.12], "Holm", digits=2)
    agrees(adjusted["nanotransformer"], 0.018, "Holm, nanotransformer", digits=3)


def check_the_control(ratios: pd.DataFrame, results: pd.DataFrame, end: pd.DataFrame) -> None:
    """Copied otherwise, in float32."""
    single = results.loc["float32"]
    agrees(100 * single.loc["own", MODELS], [1.1, 0.6, 1.0], "own gates (%)", digits=1)
    holds((100 * single.loc["copied", MODELS] < 0.0001).all(), "copied gates (%)")
    agrees(set(end.groupby(["study", "model"])["seed"].nunique()), {3}, "three seeds")
    holds((ratios["near / copied"] == 1).all(axis=None), "near the corner or everywhere: equal")
    rest = 100 * ratios["elsewhere / own"]
    agrees([rest.min(axis=None), rest.max(axis=None)], [54, 80], "all others copied (%)", digits=0)
    third = ratios["third to first / own"]
    agrees([third.min(axis=None), third.max(axis=None)], [1, 1], "where its own leader ends", digits=2)
    copied = 100 * single.loc["third to own", MODELS]
    agrees([copied.min(), copied.max()], [0.00003, 0.00006], "from the one that it copies (%)", digits=5)
    pairs = ratios[["own / untrained gates", "own / another seed's gates"]]
    agrees(pairs.min(axis=None), 277, "times as close, at least", digits=0)
    holds(pairs.loc["convlm"].min() > 10_000, "ten thousand times in convlm")
    other = 100 * (ratios["another seed, copying / not"] - 1)
    agrees(other.loc["convlm"], [27, 38], "another seed, further away in convlm (%)", digits=0)
    nearer = -other.loc[["charlm", "nanotransformer"]]
    agrees([nearer.min(axis=None), nearer.max(axis=None)], [6, 22], "nearer in the transformers (%)", digits=0)
    loss = end.groupby(["model", "seed", "what"])["val_loss_as_trained"].first().unstack()
    more = loss[["frozen-bit", "driven-bit"]].sub(loss["copied"], axis=0)
    agrees([more.min(axis=None), more.max(axis=None)], [0.0, 0.1], "nats more with others' gates", digits=1)


def check_float64(ratios: pd.DataFrame, exact: pd.DataFrame, first: pd.Series) -> None:
    """Networks that differ in the size of the first change alone."""
    times = ratios["1e-9 copied / 1e-12 own"]
    agrees([times.min(axis=None), times.max(axis=None)], [994, 1002], "times as far", digits=0)
    steps = first.unstack("variant")
    holds(steps["own-1e-12"].isna().all(), "none crosses at 1e-12")
    crossed = steps["own-1e-9"].dropna()
    agrees(
        [len(steps), len(crossed), crossed.min(), crossed.max()], [9, 7, 15, 55], "seeds, steps of the first crossing"
    )
    apart, grown = exact["own-1e-9"], exact["own-1e-9"] / exact["copied-1e-9"]
    agrees((100 * apart[crossed.index]).agg(["min", "max"]), [0.3, 0.8], "how far they end apart (%)", digits=1)
    holds(grown.drop(crossed.index).eq(1).all(), "equal where none crosses")
    agrees(grown[crossed.index].min(), 146_000, "times as far, at least", digits=-3)
    holds(exact["own-ulp"].between(4e-16, 5e-15).all(), "one bit of a double")


def check_float64_for_longer(longest: pd.DataFrame, at_end: pd.DataFrame, crossed: pd.DataFrame) -> None:
    """Five hundred steps, five seeds."""
    agrees(set(at_end.groupby("model").size()), {5}, "seeds")
    times = longest["1e-9 copied / 1e-12 own"]
    agrees([times["min"].min(), times["max"].max()], [998.6, 1004.7], "times as far", digits=1)
    steps = crossed["own-1e-9"] + 1
    holds(steps.notna().all(), "one crosses in each seed")
    agrees(steps.agg(["min", "max"]), [19, 222], "steps of the first crossing")
    agrees((100 * at_end["own-1e-9"]).agg(["min", "max"]), [4.7, 16.5], "end so far apart (%)", digits=1)
    grown = longest["1e-9 own / copied", "min"]
    holds(grown["convlm"] >= 1e7, "at least ten million times as far in convlm")
    agrees(grown["charlm"], 160_000, "at least so many times in charlm", digits=-4)
    agrees(grown["nanotransformer"], 1200, "at least so many times in nanotransformer", digits=-2)
    late = crossed["own-1e-12"].dropna() + 1
    agrees(sorted(late), [184, 213, 276, 335], "steps at which 1e-12 crosses")
    agrees({*late.index.get_level_values("model")}, {"charlm", "nanotransformer"}, "where it does")
    ends = 100 * at_end.loc[late.index]
    agrees(ends["own-1e-12"].agg(["min", "max"]), [6, 12], "where 1e-12 then ends (%)", digits=0)
    agrees(ends["copied-1e-9"].min(), 0.00001, "where copied networks end, at least (%)", digits=5)
    agrees(ends["copied-1e-9"].max(), 0.013, "where copied networks end, at most (%)", digits=3)


def check_one_flipped_gate(flipped: pd.DataFrame, after_flip: pd.api.typing.SeriesGroupBy) -> None:
    """In percent, smallest and largest of three seeds."""
    agrees(set(after_flip.size()), {3}, "three seeds")
    early, late = flipped[["flip-1", "flip-50"]], flipped["flip-250"]
    agrees([early.min(axis=None), early.max(axis=None)], [5, 13], "flipped in step 1 or 50", digits=0)
    agrees([late.min(axis=None), late.max(axis=None)], [1.4, 4.7], "flipped in step 250", digits=1)


def check_how_much_the_corner_adds(decades: pd.DataFrame, last: pd.DataFrame) -> None:
    """Powers of ten of the distance of the weights."""
    five = decades.drop("tinylstm")
    agrees(five["AdamW's first step"].agg(["min", "max"]), [3.2, 4.5], "AdamW's first step", digits=1)
    agrees(five["without crossings"].agg(["min", "max"]), [1.1, 4.2], "growth without crossings", digits=1)
    agrees(five["crossings"].agg(["min", "max"]), [1.8, 5.0], "crossings", digits=1)
    agrees(decades.drop(columns="whole", errors="ignore").loc["tinylstm"], [2.7, 8.4, 0.1], "in the LSTM", digits=1)
    larger = five.index[five["without crossings"] > five["crossings"]]
    agrees({*larger}, {"charlm", "hybridlm", "minigpt", "nanotransformer"}, "where growth without crossings is larger")
    agrees(last["own"].drop("tinylstm").agg(["min", "max"]), [9.8, 10.3], "the whole", digits=1)


def check_the_first_crossing(both: pd.DataFrame, share: float, crossing: pd.DataFrame) -> None:
    """One step, in most seeds."""
    agrees((len(both), round(share * len(both))), (25, 22), "seeds in which the two steps are one")
    rest = crossing.drop("tinylstm")
    agrees([rest["times"].min(), rest["times"].max()], [6, 504], "how much further apart the gradients are", digits=0)
    before = rest["a step before, %"].sort_values()
    agrees({*before.index[-3:].get_level_values("model")}, {"hybridlm"}, "where gradients have grown before")
    holds(before.iloc[-4] < 0.00005, "before it gradients differ by less (%)")
    agrees([before.iloc[-3], before.iloc[-1]], [0.0002, 0.0005], "in three seeds of hybridlm (%)", digits=4)
    agrees(crossing.loc["tinylstm", "a step before, %"].max(), 0.015, "in the LSTM by up to (%)", digits=3)
    four = crossing["most of copied, %"].drop(["convlm", "tinylstm"])
    agrees(((four > 0.1).sum(), len(four)), (16, 20), "seeds that pass a thousandth")


def check_a_part_of_the_steps(timed: pd.DataFrame) -> None:
    """Copied for a part of the steps, in percent."""
    when = timed["convlm"]
    agrees(when["copied"], 0.00005, "copied from the start", digits=5)
    agrees(when["own-10"], 0.017, "copied from step 10 on", digits=3)
    agrees(when["own-150"], 1.6, "from step 150 on", digits=1)
    holds(when[["copied", "own-10", "own-50", "own-150", "own"]].is_monotonic_increasing, "the later, the less")
    agrees(timed["nanotransformer"][["own-50", "own"]], [28, 16], "in nanotransformer", digits=0)
    early = timed.loc[["copied-10", "copied-50"]] / timed.loc["own"]
    holds((early > 0.9).all(axis=None), "copying at first does not help")


def check_tangents_and_optimizers(straight: pd.DataFrame, other: pd.DataFrame, closer: pd.DataFrame) -> None:
    """Curvature; AdamW with another eps, and SGD."""
    times = straight["times"].loc["nanotransformer", "gelu"]
    agrees([times.min(), times.max()], [0.56, 1.21], "times smaller with the tangent", digits=2)
    agrees(closer.loc["gates-eps", ["times", "at least"]], [223_000, 189_000], "times less, eps 1e-4", digits=-3)
    agrees(sorted(other.loc["gates-sgd", "times"])[1:], [1_300, 4_900], "times less in two seeds", digits=-2)
    agrees(min(other.loc["gates-sgd", "times"]), 3.5, "times less in the third", digits=1)


def check_the_verdicts(plan: pd.DataFrame) -> None:
    """By the rules of the plans."""
    said = {
        "control": ["held"] * 6,
        "control-float64": ["held", "held", "undecided"],
        "control-long": ["held"] * 3,
        "control-flip": ["held"],
        "control-law": ["held"],
        "control-law-small": ["held"],
        "control-large": ["held"],
        "gates": ["undecided", "held", "held"],
        "gates-eps": ["held"],
        "gates-sgd": ["undecided"],
        "gates-until": ["undecided"],
        "gates-smooth": ["failed"],
        "corner": ["failed", "undecided", "held"],
        "sharpness": ["held"],
    }
    for name, outcomes in said.items():
        agrees([*plan.loc[[name], "outcome"]], outcomes, f"what the rules of {name} say")


def check_the_law(law: pd.DataFrame, within: pd.DataFrame, dated: pd.DataFrame, beyond: pd.DataFrame) -> None:
    """Steps of the first crossing."""
    agrees([*within.loc[["lite", "quick"]].sum()], [48, 50], "cases within the predicted range")
    large = dated[dated["scale"] == "full"].set_index("size")
    agrees(large.loc[1e-7, ["seen", "early", "late"]], [2, 2, 3], "steps of 11 million parameters, 1e-7")
    agrees(large.loc[1e-8, ["seen", "early"]], [5, 2], "steps at 1e-8")
    agrees(large.loc[1e-9, "early"], 5, "first step at 1e-9")
    holds(large["seen"].isna().sum() == 2 and large["late"].isna().sum() == 3, "not seen, or not bounded, within six")
    least = law[(law["variant"] == "own-1e-12") & (law["scale"] == "lite")]
    weights = least.pivot(index="model", columns="iteration", values="weight_distance")
    grown = weights[50] / weights[0]
    agrees(grown["minigpt"], 3000, "times in minigpt within 50 steps", digits=-2)
    agrees(grown.drop("minigpt").agg(["min", "max"]), [1.3, 61], "times in the other four", digits=1)
    holds(dated.query("scale == 'lite' and model == 'minigpt'")["seen"].max() == 52, "before a first crossing there")
    both = dated.dropna(subset=["seen", "median"])
    holds(abs(np.log(both["seen"] / both["median"]).mean()) < 0.2, "the median is neither early nor late")
    agrees(dated["size"][dated["seen"].notna()].agg(["min", "max"]), [1e-12, 1e-5], "sizes with a crossing", digits=13)
    here = beyond["float32"].drop("GPT-2 small, one sequence")
    agrees([here.min(), here.max()], [0.3, 0.6], "expected in the second step", digits=1)
    agrees(beyond.loc["GPT-2 small, one sequence", ["float32"]], [3], "in one sequence of GPT-2 small", digits=0)
    agrees(beyond.loc["GPT-2 small, one sequence", ["bfloat16"]], [200_000], "in bfloat16", digits=-5)
