"""Settings of learning: how PPO updates, and which tasks are played when.

``usual`` says between what they usually lie: settings outside are warned about, and docs/training.md has the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import ConfigDict, Field, field_validator

from operant.config.base import Config
from operant.config.usual import Usual

__all__ = ["STRATEGIES", "CurriculumConfig", "PPOConfig"]

STRATEGIES = ("none", "stages", "learning_progress", "variance")


class PPOConfig(Config):
    """Proximal policy optimisation, and the rollouts that it learns from."""

    model_config = ConfigDict(allow_inf_nan=False)

    usual: ClassVar[Mapping[str, Usual]] = {
        "learning_rate": Usual(
            1e-05,
            0.001,
            "Start with 0.0003; take 0.0001 when success falls again or KL jumps, and for fine-tuning.",
        ),
        "clip_epsilon": Usual(0.1, 0.3, "Leave it at 0.2; smaller is steadier and slower."),
        "gamma": Usual(0.95, 0.999, "0.99 for tasks of up to some 30 steps; more for longer ones."),
        "gae_lambda": Usual(
            0.8, 0.99, "0.95; less when rewards come at every step, more while the critic is young."
        ),
        "buffer_size": Usual(
            512, 8192, "At least 64 steps of each desktop. More is steadier and learns later."
        ),
        "update_epochs": Usual(
            1, 10, "4; fewer when updates end early at target_kl, or take longer than collecting."
        ),
        "minibatch_size": Usual(
            32, 1024, "As much as memory allows, down to 64: activations of so many screens are kept at once."
        ),
        "value_coefficient": Usual(0.25, 1.0, "Leave it at 0.5."),
        "entropy_coefficient": Usual(
            0.0, 0.02, "0.01 from scratch, 0 after imitation; more when one kind of action takes over."
        ),
        "max_grad_norm": Usual(0.1, 1.0, "0.5; less when the loss jumps."),
        "target_kl": Usual(0.01, 0.1, "0.03; larger lets few updates do more, at the risk of unlearning."),
    }

    learning_rate: float = Field(3e-4, gt=0)
    """Step size of Adam."""
    anneal: bool = False
    """Whether the learning rate falls linearly to zero over the run."""
    clip_epsilon: float = Field(0.2, gt=0)
    """How far the probability of an action may move before its gradient is cut off."""
    gamma: float = Field(0.99, ge=0, le=1)
    """Discount of rewards to come."""
    gae_lambda: float = Field(0.95, ge=0, le=1)
    """Between one-step (0) and Monte-Carlo (1) advantages."""
    bootstrap_truncated: bool = False
    """Whether an episode that the step cap cut off counts as going on. Agents that see how many steps are left, as ours
    do, learn better when it counts as over."""
    buffer_size: int = Field(2048, ge=1)
    """Environment steps between updates, over all environments."""
    first_rollout: int | None = Field(None, ge=1)
    """Environment steps before the first update; each of the next rollouts is twice as long, up to ``buffer_size``. None:
    all have ``buffer_size``, as they have while the critic is warmed up."""
    update_epochs: int = Field(4, ge=1)
    """How often each step is learned from."""
    minibatch_size: int = Field(256, ge=1)
    """Steps in one gradient step."""
    value_coefficient: float = Field(0.5, ge=0)
    """Weight of the critic's loss."""
    value_clip: float | None = Field(None, gt=0)
    """How far a value may move in one update before its gradient is cut off; none: as far as it likes."""
    critic_warmup: int = Field(0, ge=0)
    """Rollouts at the beginning that teach the critic alone, by what really came of them. A policy that imitation has
    taught has a critic that knows nothing, and would unlearn."""
    entropy_coefficient: float = Field(0.01, ge=0)
    """Weight of the entropy bonus of every head that has none of its own."""
    entropy_coefficients: dict[str, float] = Field(default_factory=dict)
    """Weights of the entropy bonus by head."""
    normalize_advantages: bool = True
    """Whether advantages are brought to mean 0 and deviation 1 in each rollout."""
    max_grad_norm: float = Field(0.5, gt=0)
    """Longest gradient; longer ones are cut down to it."""
    target_kl: float | None = Field(0.03, gt=0)
    """An update ends early once the policy has moved this far; none: never."""
    most_skipped: int = Field(10, ge=1)
    """So many gradient steps in a row without a finite loss end the run."""
    precision: Literal["fp32", "bf16", "fp16"] = "fp32"
    """Numbers that the network calculates with while it learns."""
    gradient_checkpointing: bool = False
    """Whether activations are calculated a second time instead of kept, to save memory."""
    asynchronous: bool = True
    """Whether environments that are ready go on without waiting for the others; off: runs can be repeated exactly."""
    overlap: bool = False
    """Whether the next rollout is collected, with the weights as they were, while an update runs."""

    @field_validator("entropy_coefficients")
    @classmethod
    def _finite(cls, given: dict[str, float]) -> dict[str, float]:
        wrong = [head for head, weight in given.items() if weight < 0]
        if wrong:
            raise ValueError(f"the weight of {wrong[0]} is negative")
        return given


class CurriculumConfig(Config):
    """Which tasks are played when."""

    model_config = ConfigDict(allow_inf_nan=False)

    usual: ClassVar[Mapping[str, Usual]] = {
        "easy_threshold": Usual(0.4, 0.9, "0.6; higher when MEDIUM tasks make EASY ones worse."),
        "medium_threshold": Usual(0.3, 0.9, "0.5; lower when HARD is never reached."),
        "min_steps_per_stage": Usual(5000, 500000, "50000; some rollouts at least, or chance ends a stage."),
        "window": Usual(20, 500, "100; fewer are noisy, more are late."),
        "rehearsal": Usual(0.05, 0.3, "0.1; more when earlier tasks are unlearned."),
    }

    strategy: Literal["none", "stages", "learning_progress", "variance"] = "none"
    """none: all alike; stages: EASY, MEDIUM, HARD; learning_progress: where success changes; variance: where it is
    least certain."""
    easy_threshold: float = Field(0.6, ge=0, le=1)
    """Success rate at which MEDIUM tasks begin."""
    medium_threshold: float = Field(0.5, ge=0, le=1)
    """Success rate at which HARD tasks begin."""
    min_steps_per_stage: int = Field(50_000, ge=0)
    """Environment steps that a stage lasts at least."""
    window: int = Field(100, ge=1)
    """Episodes that a success rate is taken over."""
    rehearsal: float = Field(0.1, ge=0, le=1)
    """Share of episodes that go to tasks of stages that are over, or to all alike."""
