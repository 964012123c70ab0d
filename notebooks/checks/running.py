"""Numbers of notebooks/running.ipynb: replays, injected faults, speed."""

import pandas as pd

from actlab.checks import agrees


def check_replays(replays: pd.DataFrame) -> None:
    """The recorded bits, where the kind of processor is the recorded one."""
    elsewhere = replays["repeated with"] == "another kind of processor"
    agrees([int((~elsewhere).sum()), int(replays.loc[~elsewhere, "equal"].sum())], [21, 21], "on the recorded kind")
    same = replays.loc[~elsewhere, "repeated with"] == "same processor, same code"
    agrees(int(same.sum()), 2, "of them with the same code")
    agrees([int(elsewhere.sum()), int(replays.loc[elsewhere, "equal"].sum())], [72, 0], "on another kind")
    machines = [each["machine"] for each in replays["provenance"]]
    agrees((len(machines), {machine["gpu"] for machine in machines}), (93, {None}), "all on CPUs")
    here = replays[~elsewhere]
    network = here["arm"].str.extract(r"^(tinylstm|charlm|convlm|nanotransformer)-")[0]
    network = network.fillna(here["study"].str.partition("-")[0])
    counted = {"tinylstm": 4, "charlm": 3, "convlm": 2, "nanotransformer": 1, "ablation": 6, "mnist": 5}
    agrees(network.value_counts().to_dict(), counted, "of which networks")
    agrees(100 * (1 - 0.025 ** (1 / len(here))), 16, "% of failures that so many successes allow", digits=0)


def check_faults(faults: pd.DataFrame) -> None:
    """Injected faults."""
    agrees([int(faults["times"].sum()), int(faults["lost"].sum())], [75, 0], "faults, and results lost")
    kills = faults["fault"].str.startswith("kill -9")
    agrees(int(faults.loc[kills, "times"].sum()), 41, "of them kills")


def check_commands(commands: pd.DataFrame, times: pd.DataFrame) -> None:
    """Whole commands, by kind of processor."""
    agrees(times["float32"].median(), 2, "times as fast as the reference in float32", digits=0)
    half = (commands["float32"] / commands["bfloat16"]).groupby("processor").median().round(1)
    agrees(half[half.index.str.startswith("AMD")].tolist(), [1.7], "times as fast on an AMD")
    agrees(half[half.index.str.contains("with AMX")].tolist(), [1.6], "on an Intel with AMX")
    amx = times["bfloat16"][times.index.get_level_values("processor").str.contains("with AMX")].droplevel("processor")
    agrees(amx[["convlm", "minigpt"]].tolist(), [2.9, 4.3], "as the reference, with AMX", digits=1)
    agrees([amx.idxmin(), amx.idxmax()], ["convlm", "minigpt"], "the least and the most")
    without = half.index.str.contains("Intel") & ~half.index.str.contains("AMX")
    agrees(half[without].tolist(), [0.8], "on an Intel without AMX")


def check_durations(took: pd.DataFrame) -> None:
    """The largest networks."""
    large = took[took["study"] == "repro-full"]
    agrees(set((large["parameters"] / 1e6).round(1)), {10.8}, "million parameters at full scale")
