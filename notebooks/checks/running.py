"""Numbers of notebooks/running.ipynb: replays, injected faults, speed."""

from typing import Any

import pandas as pd

from actlab.checks import agrees, holds

Record = dict[str, Any]


def check_replays(replays: pd.DataFrame) -> None:
    """The recorded bits, where the kind of processor is the recorded one."""
    elsewhere = replays["repeated with"] == "another kind of processor"
    agrees([int((~elsewhere).sum()), int(replays.loc[~elsewhere, "equal"].sum())], [21, 21], "on the recorded kind")
    same = replays.loc[~elsewhere, "repeated with"] == "same processor, same code"
    agrees(int(same.sum()), 2, "of them with the same code")
    agrees([int(elsewhere.sum()), int(replays.loc[elsewhere, "equal"].sum())], [72, 0], "on another kind")


def check_faults(faults: pd.DataFrame) -> None:
    """Injected faults."""
    agrees([int(faults["times"].sum()), int(faults["lost"].sum())], [75, 0], "faults, and results lost")
    kills = faults["fault"].str.startswith("kill -9")
    agrees(int(faults.loc[kills, "times"].sum()), 41, "of them kills")


def check_peers(slower: pd.DataFrame, peers: Record, measured: list[Record]) -> None:
    """CPU time at equal protocol."""
    named = slower[slower["way"] != "ours in bfloat16"]
    agrees(named["estimate"].median(), 32, "more CPU time in the median (%)", digits=0)
    ways = {"plain reference", "PyTorch Lightning, our model", "nanoGPT-style loop and layers"}
    agrees(set(named["way"]), ways, "peers")
    agrees([len(named), int((named["low"] < 0).sum())], [8, 2], "comparisons, and intervals that include 0")
    holds((named["low"] > 0).mean() > 0.5, "most peers take more CPU time than actlab in float32")
    half = slower.loc[slower["way"] == "ours in bfloat16", "high"]
    holds(half.max() < 0, "training in bfloat16 takes less on this processor")
    machine = [record for record in measured if record["name"] == "peers"][-1]["provenance"]["machine"]
    holds("AMX" in machine["capability"], "an Intel with AMX")
    agrees([peers["iterations"], peers["evaluations"]], [500, 11], "steps and evaluations of a run")


def check_commands(commands: pd.DataFrame) -> None:
    """Whole commands in bfloat16, by kind of processor."""
    half = (commands["float32"] / commands["bfloat16"]).groupby("processor").median().round(1)
    agrees(half[half.index.str.startswith("AMD")].tolist(), [1.7], "times as fast on an AMD")
    without = half.index.str.contains("Intel") & ~half.index.str.contains("AMX")
    agrees(half[without].tolist(), [0.8], "on an Intel without AMX")


def check_durations(took: pd.DataFrame) -> None:
    """The largest networks."""
    large = took[took["study"] == "repro-full"]
    agrees(set((large["parameters"] / 1e6).round(1)), {10.8}, "million parameters at full scale")
