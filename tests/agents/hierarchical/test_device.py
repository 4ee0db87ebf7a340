"""The agent on a device that is not the CPU: everything it makes is made there, and what it does is the same."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.agents.hierarchical.other_device import DEVICE, Remote, elsewhere, only_there

from operant.agents.hierarchical.agent import HierarchicalAgent
from operant.agents.hierarchical.policy import HierarchicalPolicy
from operant.agents.registry import agent_factory
from operant.errors import ConfigError
from operant.types import Observation


def test_the_device_of_these_tests_mixes_with_nothing() -> None:
    with only_there():
        here, there = torch.ones(2), torch.ones(2).to(DEVICE)
        assert isinstance(there, Remote)
        assert (there + there).device == torch.zeros(1, device=DEVICE).device == DEVICE
        assert (there * 2).cpu().tolist() == [2.0, 2.0]
        with pytest.raises(RuntimeError, match="two devices"):
            here + there
        with pytest.raises((RuntimeError, TypeError)):
            there.numpy()


def moved(policy: HierarchicalPolicy) -> HierarchicalPolicy:
    torch.manual_seed(0)
    other = HierarchicalPolicy(policy.config).eval()
    other.load_state_dict(policy.state_dict())
    elsewhere(other)
    assert other.device == DEVICE
    return other


@pytest.mark.parametrize("deterministic", [True, False])
def test_what_is_sampled_and_judged_stays_on_the_device(
    policy: HierarchicalPolicy, observations: list[Observation], deterministic: bool
) -> None:
    other = moved(policy)
    screens = [one.screen for one in observations]
    generator = torch.Generator()
    expected = policy.sample(
        policy.perceive(observations),
        screens,
        deterministic=deterministic,
        generator=generator.manual_seed(7),
    )
    with only_there(), torch.no_grad():
        seen = other.perceive(observations)
        sampled = other.sample(seen, screens, deterministic=deterministic, generator=generator.manual_seed(7))
        judged = other.judge(seen, sampled.actions)
        for name, part in {**seen, **sampled.actions, "log_prob": sampled.log_prob}.items():
            assert part.device == DEVICE, name
        assert judged.value.device == judged.log_prob.device == DEVICE
        actions = other.to_environment(sampled.actions)
        torch.testing.assert_close(judged.log_prob.cpu(), expected.log_prob, atol=1e-4, rtol=1e-4)
    for there, here in zip(actions, policy.to_environment(expected.actions), strict=True):
        assert (there.kind, there.keys, there.text) == (here.kind, here.keys, here.text)
        if here.point is not None:
            assert (there.point.x, there.point.y) == pytest.approx((here.point.x, here.point.y), abs=1e-5)


def test_the_agent_plays_there_as_it_does_here(
    policy: HierarchicalPolicy,
    observations: list[Observation],
    tmp_path: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "agent.pt"
    policy.save(path)
    here = HierarchicalAgent(path)
    other = moved(policy)
    monkeypatch.setattr(HierarchicalPolicy, "from_checkpoint", lambda *_, **__: other)
    asked: list[torch.device] = []
    generator = torch.Generator

    def recorded(device: torch.device) -> torch.Generator:
        asked.append(device)
        return generator()

    monkeypatch.setattr(torch, "Generator", recorded)
    with only_there():
        there = HierarchicalAgent(path, device=str(DEVICE))
        assert asked == [DEVICE]
        for wanted in ([True] * len(observations), [False, True] * len(observations)):
            wanted = wanted[: len(observations)]
            assert len(there.act_all(observations, deterministic=wanted)) == len(observations)
        likeliest = [True] * len(observations)
        assert there.act_all(observations, deterministic=likeliest) == here.act_all(
            observations, deterministic=likeliest
        )


def test_agents_of_two_devices_share_no_weights(policy: HierarchicalPolicy, tmp_path: Any) -> None:
    path = tmp_path / "agent.pt"
    policy.save(path)
    make = agent_factory(f"hierarchical:{path}", device="cpu")
    one, two = make(), make()
    assert one.policy is two.policy  # type: ignore[attr-defined]
    assert one.policy is not HierarchicalAgent(path, device="cpu:0").policy  # type: ignore[attr-defined]


def test_a_device_that_is_not_there_is_an_error_before_anything_is_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(HierarchicalPolicy, "from_checkpoint", lambda *_, **__: pytest.fail("it was loaded"))
    with pytest.raises(ConfigError, match="no device 'cuda:99'") as caught:
        agent_factory("hierarchical", device="cuda:99")
    assert "cpu" in str(caught.value.hint)
    agent_factory("random", device="cuda:99")  # has no network
