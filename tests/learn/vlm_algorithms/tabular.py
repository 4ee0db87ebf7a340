"""A policy that is a table, for tests of learning that take milliseconds, and a bandit for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from operant.agents.vlm.prompt import Prompt
from operant.agents.vlm.trajectory import Generation, Trajectory, Turn
from operant.agents.vlm.wrapper import JudgedTokens
from operant.types import Outcome

TOKENS = 4
CONTEXTS = 6
PICTURE = np.zeros((1, 1, 3), np.uint8)


def prompt(context: int) -> Prompt:
    return Prompt(({"role": "user", "content": [{"type": "text", "text": str(context)}]},), (PICTURE,))


def context_of(asked: Prompt) -> int:
    return int(asked.messages[0]["content"][0]["text"])


class TabularPolicy:
    """Logits for each context and position; its hidden state is which context it sees."""

    def __init__(self, seed: int = 0, length: int = 3, spread: float = 0.5) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.length = length
        self.logits = nn.Parameter(spread * torch.randn(CONTEXTS, length, TOKENS, generator=generator))
        self.width = CONTEXTS

    def trainable(self) -> dict[str, nn.Parameter]:
        return {"logits": self.logits}

    def judge(
        self, prompts: Sequence[Prompt], answers: Sequence[Sequence[int]], *, temperature: float | None = None
    ) -> JudgedTokens:
        rows = [context_of(asked) for asked in prompts]
        longest = max(len(answer) for answer in answers)
        all_log_probs = self.logits[rows, :longest].log_softmax(-1)
        mask = torch.tensor([[i < len(answer) for i in range(longest)] for answer in answers])
        tokens = torch.tensor([[*answer, *[0] * (longest - len(answer))] for answer in answers])
        return JudgedTokens(
            log_probs=all_log_probs.gather(2, tokens[:, :, None])[:, :, 0].masked_fill(~mask, 0.0),
            entropy=-(all_log_probs.exp() * all_log_probs).sum(-1).masked_fill(~mask, 0.0),
            mask=mask,
            state=torch.eye(CONTEXTS)[rows],
        )

    @torch.no_grad()
    def answer(
        self, context: int, generator: torch.Generator, length: int = 1, version: int = 0
    ) -> Generation:
        log_probs = self.logits[context, :length].log_softmax(-1)
        drawn = torch.multinomial(log_probs.exp(), 1, generator=generator)
        chosen = log_probs.gather(1, drawn)[:, 0].tolist()
        tokens = tuple(drawn[:, 0].tolist())
        return Generation(str(tokens), tokens, tuple(chosen), (version,) * length)


class TwoTurnBandit:
    """Each task has two turns, in contexts of its own; the reward comes at the end, if both were right."""

    tasks = CONTEXTS // 2

    def __init__(self, seed: int = 0) -> None:
        self.generator = torch.Generator().manual_seed(seed)
        self.groups = 0

    def right(self, context: int) -> int:
        return (context * 7 + 1) % TOKENS

    def rollout(self, policy: TabularPolicy, task: int, group: str, version: int = 0) -> Trajectory:
        contexts = (2 * task, 2 * task + 1)
        answers = [policy.answer(context, self.generator, version=version) for context in contexts]
        won = all(
            answer.token_ids[0] == self.right(context)
            for context, answer in zip(contexts, answers, strict=True)
        )
        turns = (
            Turn(prompt(contexts[0]), answers[0]),
            Turn(prompt(contexts[1]), answers[1], reward=float(won)),
        )
        outcome = Outcome.SUCCESS if won else Outcome.FAILURE
        return Trajectory(f"bandit/task-{task}-v1", turns, outcome, group)

    def collect(self, policy: TabularPolicy, per_task: int = 12, version: int = 0) -> list[Trajectory]:
        self.groups += 1
        return [
            self.rollout(policy, task, f"{task}/{self.groups}", version)
            for task in range(self.tasks)
            for _ in range(per_task)
        ]

    def success_rate(self, policy: TabularPolicy) -> float:
        chances = policy.logits.detach()[:, 0].softmax(-1)
        per_context = [chances[context, self.right(context)].item() for context in range(CONTEXTS)]
        wins = [per_context[2 * task] * per_context[2 * task + 1] for task in range(self.tasks)]
        return sum(wins) / len(wins)


def random_trajectories(policy: TabularPolicy, seed: int = 0, *, stale: float = 0.3) -> list[Trajectory]:
    """Groups with answers of different lengths, invalid turns, and tokens drawn by another policy."""
    generator = torch.Generator().manual_seed(seed)
    old = TabularPolicy(seed + 100, policy.length)
    with torch.no_grad():
        old.logits.copy_(policy.logits + stale * torch.randn(policy.logits.shape, generator=generator))
    made = []
    for index in range(8):
        turns = []
        for step in range(1 + index % 3):
            length = 1 + (index + step) % policy.length
            context = int(torch.randint(CONTEXTS, (1,), generator=generator))
            answer = old.answer(context, generator, length)
            turns.append(Turn(prompt(context), answer, valid=(index + step) % 4 != 3))
        success = index % 3 != 0
        last = Turn(turns[-1].prompt, turns[-1].answer, turns[-1].valid, reward=float(success))
        outcome = Outcome.SUCCESS if success else Outcome.FAILURE
        group = "one" if index < 4 else "two"
        made.append(Trajectory(group, (*turns[:-1], last), outcome, group))
    return made
