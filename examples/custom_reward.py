"""A shaping term of your own. It is logged apart, so it can never be taken for success.

python examples/custom_reward.py

In a training run, from this directory:

    environment: {reward_terms: [{use: "custom_reward:CalmHands", weight: 0.5}]}
"""

from __future__ import annotations

from operant.envs.rewards import Moment, Reward, RewardTerm, StepCost
from operant.envs.stage import Coding, Stage
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.types import Action, ActionKind


class CalmHands(RewardTerm):
    """A little less for every drag: people seldom need one."""

    name = "calm_hands"

    def score(self, moment: Moment) -> float:
        last = moment.observation.last_action
        return -0.05 if last is not None and last.kind is ActionKind.DRAG else 0.0


def main() -> None:
    reward = Reward(terms=[StepCost(0.01), CalmHands()])
    coding = Coding.of(action_mode="canonical", reward=reward)
    stage = Stage(FakeDesktop(), coding)  # type: ignore[arg-type]
    stage.begin(FAKE_TEMPLATES[0].instance(3))
    print("task:", stage.task.instruction)
    assert stage.task.oracle is not None
    print("terms of the reward:", sorted(term.name for term in reward.terms))
    print("an agent that waits:", [round(stage.step(Action.wait())[0], 3) for _ in range(2)])


if __name__ == "__main__":
    main()
