"""One trial on two processes: the losses of one process with the whole batch, one record, and parts of a batch that are
the batch."""

import json
import os
import sys

import numpy as np
import pytest
import torch
from tiny import ran

from actlab.data.tokens import TokenStream, write_shard
from actlab.errors import BadInput
from actlab.trainers.distributed import Group

STUDY = """
kind: ablation
study: together
optimizers: [ecd, adamw]
symmetry: bQbV
activations: gelu
vocab_size: 300
iterations: 6
evaluate_every: 3
batch_size: 4
micro_batches: 2
validation_windows: 8
"""


def test_parts_make_the_batch(tmp_path):
    """The parts of all processes, side by side, are the whole batch."""
    shard = write_shard(tmp_path / "train_000.bin", np.arange(1000) % 251)
    whole, *parts = (TokenStream([shard], 8, 4, None, part) for part in ((0, 1), (0, 2), (1, 2)))
    for number in range(3):
        inputs, targets = whole.batch(number)
        halves = [part.batch(number) for part in parts]
        assert torch.cat([half[0] for half in halves]).equal(inputs)
        assert torch.cat([half[1] for half in halves]).equal(targets)


def test_a_batch_that_cannot_be_shared_is_refused():
    """The error names both numbers."""
    Group(0, 4).check(8)
    with pytest.raises(BadInput, match="a batch of 9 sequences cannot be shared equally by 4 processes"):
        Group(0, 4).check(9)


def run(tmp_path, name, *launcher):
    """Optimizer -> record of the study, run by a launcher of its own."""
    file = tmp_path / "together.yaml"
    file.write_text(STUDY)
    folders = {"ACTLAB_RESULTS": str(tmp_path / name), "ACTLAB_CACHE": str(tmp_path / f"{name}-cache")}
    command = [sys.executable, *launcher, "-m", "actlab", "run", str(file), "--workers", "1"]
    ran(command, env=os.environ | folders)
    records = [json.loads(path.read_text()) for path in sorted((tmp_path / name / "together").glob("*.json"))]
    return {record["optimizer"]: record for record in records}


@pytest.mark.slow
def test_two_processes_have_the_loss_curve_of_one(tmp_path):
    """Through `torchrun`, with gloo: same arms, same losses up to rounding, for an optimizer that reads the loss and
    one that does not."""
    one = run(tmp_path, "one")
    two = run(tmp_path, "two", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    assert set(one) == set(two) == {"ecd", "adamw"}
    for name in one:
        assert one[name]["arm"] == two[name]["arm"]
        (alone,), (shared,) = one[name]["trials"], two[name]["trials"]
        assert [e["tokens"] for e in alone["history"]] == [e["tokens"] for e in shared["history"]]
        for key in ("val_loss", "train_loss"):
            expected = [e[key] for e in alone["history"]]
            assert [e[key] for e in shared["history"]] == pytest.approx(expected, rel=2e-5, nan_ok=True)
        assert alone["history"][-1]["val_loss"] < alone["history"][0]["val_loss"] - 0.02
        assert two[name]["provenance"]["processes"] == 2
        assert "processes" not in one[name]["provenance"]
