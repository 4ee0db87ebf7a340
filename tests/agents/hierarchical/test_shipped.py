"""The shipped checkpoint perceives and does on a stored episode what it did when the episode was stored.

``stored/predictions.json`` was written by the code that trained the checkpoint. A change of perception that means to
keep the checkpoint must keep the digests; one that does not must ship another checkpoint and other predictions.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from operant.actions.json_actions import from_json
from operant.agents.hierarchical import policy as module
from operant.agents.hierarchical.features import ROW_FEATURES, STATES, RowFeature
from operant.agents.hierarchical.policy import HierarchicalPolicy
from operant.rollout.store import read_episode

STORED = Path(__file__).parent / "stored"


def test_the_shipped_checkpoint_predicts_as_before() -> None:
    policy = HierarchicalPolicy.from_checkpoint(Path(module.__file__).with_name("default.pt"))
    wanted = json.loads((STORED / "predictions.json").read_text())
    observations = list(read_episode(STORED).observations())
    assert len(observations) == len(wanted) == 11
    for observation, expected in zip(observations, wanted, strict=True):
        seen = policy.perception.encode(observation)
        digest = hashlib.sha256()
        for name in sorted(seen):
            digest.update(name.encode() + np.ascontiguousarray(seen[name]).tobytes())
        assert digest.hexdigest() == expected["perceived"]
        with torch.inference_mode():
            sampled = policy.sample(policy.perceive([observation]), [observation.screen], deterministic=True)
        (action,) = policy.to_environment(sampled.actions)
        known = from_json(expected["action"])
        assert (action.kind, action.text, action.keys) == (known.kind, known.text, known.keys)
        if known.point is not None:
            assert (action.point.x, action.point.y) == pytest.approx((known.point.x, known.point.y), abs=1e-4)
        assert float(sampled.value[0]) == pytest.approx(expected["value"], abs=1e-3)
        assert float(sampled.log_prob[0]) == pytest.approx(expected["log_prob"], abs=1e-2)


def test_every_feature_has_a_name_a_unit_and_a_reason() -> None:
    assert [int(feature) for feature in RowFeature] == list(range(21))
    assert 21 + len(STATES) == ROW_FEATURES
    assert all(feature.unit and feature.reason for feature in RowFeature)
    assert len({feature.reason for feature in RowFeature}) == len(RowFeature)
