"""Weights fit by name and shape, or what differs is named."""

from __future__ import annotations

import pytest
from torch import Tensor, nn

from operant.agents.weights import check_weights
from operant.errors import CheckpointError


def network(width: int = 4, layers: int = 1) -> nn.Module:
    return nn.Sequential(*(nn.Linear(width, width) for _ in range(layers)))


def refused(weights: object) -> CheckpointError:
    with pytest.raises(CheckpointError) as caught:
        check_weights(network(), weights, "agent.pt", hint="another one")
    return caught.value


def test_its_own_weights_fit() -> None:
    check_weights(network(), network().state_dict(), "agent.pt", hint="")


def test_what_differs_is_named() -> None:
    fewer: dict[str, Tensor] = network().state_dict()
    fewer.pop("0.bias")
    assert refused(fewer).message == "agent.pt was made for another network: it lacks 0.bias"
    message = refused(network(layers=4).state_dict()).message
    assert message.endswith("it also has 1.weight, 1.bias, 2.weight and 3 more")
    assert "0.weight (5x5 there, 4x4 here)" in refused(network(5).state_dict()).message
    assert refused(network(5).state_dict()).hint == "another one"


def test_weights_of_a_wrapped_network_are_recognised() -> None:
    error = refused(nn.DataParallel(network()).state_dict())
    assert "it lacks 0.weight" in error.message
    assert error.hint is not None
    assert "save wrapper.module" in error.hint


@pytest.mark.parametrize("weights", [None, 3, {"0.weight": 1.0}, {1: None}], ids=str)
def test_what_is_no_state_dict_at_all(weights: object) -> None:
    assert "no weights by name" in refused(weights).message
