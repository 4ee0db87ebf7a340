"""A small policy, and observations of fake desktops with their oracles' actions."""

from __future__ import annotations

import pytest
import torch

from operant.agents.hierarchical.config import EncoderConfig, HierarchicalConfig
from operant.agents.hierarchical.policy import HierarchicalPolicy
from operant.apps.view import View
from operant.envs.task_environment import TaskEnvironment
from operant.testing import FakeDesktop
from operant.testing.fake_tasks import FAKE_TEMPLATES
from operant.types import Action, Observation

SMALL = HierarchicalConfig(
    encoder=EncoderConfig(width=32, heads=2, widgets=40, history=6, vocabulary=512, text_layers=1)
)

Shown = list[tuple[Observation, Action]]


def demonstrate(seed: int = 3) -> Shown:
    """Every step of the oracle of every fake task."""
    shown: Shown = []
    for template in FAKE_TEMPLATES:
        with FakeDesktop() as desktop:
            task = template.instance(seed)
            environment = TaskEnvironment(desktop, with_tree=True)
            observation = environment.begin(task)
            while True:
                assert task.oracle is not None
                action = task.oracle.act(View(desktop, observation.last_action))
                shown.append((observation, action))
                transition = environment.step(action)
                observation = transition.observation
                if transition.over:
                    break
    return shown


@pytest.fixture(scope="session")
def shown() -> Shown:
    return demonstrate()


@pytest.fixture(scope="session")
def observations(shown: Shown) -> list[Observation]:
    return [observation for observation, _ in shown]


@pytest.fixture
def policy() -> HierarchicalPolicy:
    torch.manual_seed(0)
    return HierarchicalPolicy(SMALL).eval()
