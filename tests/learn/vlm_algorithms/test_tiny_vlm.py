"""A real model learns what a picture means, from rewards alone, through the sampled tokens."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from operant.agents.vlm.prompt import Prompt
from operant.agents.vlm.trajectory import Generation, Trajectory, Turn
from operant.agents.vlm.wrapper import VLMWrapper
from operant.config.vlm import SamplingSettings
from operant.learn.vlm.grpo import GRPO
from operant.learn.vlm.sft import SFT
from operant.learn.vlm.trainer import Trainer
from operant.testing.tiny_vlm import build_tiny_vlm
from operant.types import Outcome

WORDS = ("yes", "no")
DARK, BRIGHT = (np.full((28, 56, 3), value, np.uint8) for value in (20, 230))
PROMPTS = (Prompt.of(DARK, "dark?"), Prompt.of(BRIGHT, "dark?"))


def rollouts(vlm: VLMWrapper, round: int, count: int = 8) -> list[Trajectory]:
    made = []
    for right, prompt in zip(WORDS, PROMPTS, strict=True):
        seeds = [1000 * round + number for number in range(count)]
        for answer in vlm.generate([prompt] * count, seeds=seeds):
            won = answer.text == right
            outcome = Outcome.SUCCESS if won else Outcome.FAILURE
            turn = Turn(prompt, answer, reward=float(won))
            made.append(Trajectory("dark", (turn,), outcome, f"{right}{round}"))
    return made


def chance(vlm: VLMWrapper) -> float:
    """How likely the right words are, over both pictures."""
    answers = [vlm.tokens(word) for word in WORDS]
    return float(vlm.judge(PROMPTS, answers).log_probs.detach().sum(dim=1).exp().mean())


@pytest.mark.learning
@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_grpo_teaches_a_tiny_model_to_look(tmp_path: Path) -> None:
    sampling = SamplingSettings(temperature=1.0, max_new_tokens=4)
    vlm = VLMWrapper(
        build_tiny_vlm(tmp_path, "qwen2_vl", width=32, layers=1), sampling=sampling, max_pixels=2000
    )
    shown = [
        Trajectory(
            "dark", (Turn(prompt, Generation(word, tuple(vlm.tokens(word)), (), ())),), Outcome.SUCCESS
        )
        for prompt in PROMPTS
        for word in WORDS  # either word for either picture: they know how to answer, not what
    ]
    trainer = Trainer(vlm, GRPO(epochs=2), batch_size=16, micro_batch=16, learning_rate=0.003)
    for step in range(300):
        trainer.train_step(shown, SFT(), reuse=True)
        if step % 10 == 9 and chance(vlm) > 0.4:
            break
    assert 0.4 < chance(vlm) < 0.6
    for round in range(40):
        trainer.train_step(rollouts(vlm, round))
        if round % 5 == 4 and chance(vlm) > 0.95:
            break
    assert chance(vlm) > 0.9
