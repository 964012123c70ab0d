"""A user's own token shards: trained on, and checked against the vocabulary."""

import numpy as np
import pytest
import tiny

from actlab.data.tokens import write_shard
from actlab.errors import DataError
from actlab.study.run import run
from actlab.study.tokens import TokenStudy


def test_own_shards(data_folder):
    for folder, split, tokens in (
        ("mine", "train", np.arange(1000) % 512),
        ("mine", "val", np.arange(1000) % 512),
        ("foreign", "train", [600] * 200),
        ("foreign", "val", [1] * 200),
    ):
        write_shard(data_folder / folder / f"{split}.bin", tokens)
    mine, foreign = (
        TokenStudy.parse({**tiny.ABLATION, "shards": name, "optimizer": "sgdm"}).replace(
            symmetry="bQ", activation="gelu"
        )
        for name in ("mine", "foreign")
    )
    (record,) = run(mine).present
    assert (record["trials"][0]["status"], record["provenance"]["data"]["vocab_size"]) == ("done", 512)
    with pytest.raises(DataError, match="token 600, but the vocabulary has 512"):
        foreign.arms()[0].trials[0].data()
