"""The experience store as a plain object: leases, interruptions of either side, and the bound on staleness."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from operant.agents.vlm.prompt import Prompt
from operant.agents.vlm.trajectory import Generation, Trajectory, Turn
from operant.cluster.experience_actor import ExperienceActor, Ticket, UpdateBatch
from operant.rollout.job_runner import PlayStats
from operant.testing import FAKE_TEMPLATES
from operant.train.vlm.trajectory_store import decode, encode
from operant.types import Outcome

from .conftest import settings

PICTURE = np.zeros((4, 4, 3), np.uint8)
SOON = 0.05


def store(directory: Path, **training: Any) -> ExperienceActor:
    return ExperienceActor(settings(training=training), directory, FAKE_TEMPLATES)


def episode(ticket: Ticket, id: str) -> bytes:
    turn = Turn(Prompt.of(PICTURE, "Task"), Generation("x", (1,), (-1.0,), (0,)))
    return encode(Trajectory(ticket.task, (turn,), Outcome.SUCCESS, ticket.group, ticket.task_seed or 0, id))


async def play(experience: ExperienceActor, worker: str = "a", id: str | None = None) -> str:
    ticket = await asyncio.wait_for(experience.take(worker), 5)
    assert ticket is not None
    id = id or f"{ticket.group}-{ticket.number}"
    await experience.add(ticket, episode(ticket, id), worker, PlayStats(1, 1, playing_s=1.0))
    return id


def ids(batch: UpdateBatch | None) -> list[str]:
    assert batch is not None
    return [decode(data).id for data in batch.encoded]


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


async def opened(directory: Path, **training: Any) -> ExperienceActor:
    experience = store(directory, **training)
    assert (await experience.open(0, [], None)).waiting == 0
    await experience.start()
    return experience


def test_rollouts_begin_within_the_bound_and_go_on_with_each_update(tmp_path: Path) -> None:
    async def scenario() -> None:
        experience = store(tmp_path, max_staleness=0)
        early = asyncio.ensure_future(experience.take("a"))
        await asyncio.sleep(SOON)
        assert not early.done()  # nobody plays before the learner has spoken
        await experience.open(0, [], None)
        await experience.start()
        first = await asyncio.wait_for(early, 5)
        assert first is not None
        await experience.add(first, episode(first, "first"), "a", PlayStats())
        played = ["first", *[await play(experience) for _ in range(3)]]
        waiting = asyncio.ensure_future(experience.take("a"))
        await asyncio.sleep(SOON)
        assert not waiting.done()
        assert (await experience.status()).waiting_actors == 1
        assert sorted(ids(await experience.gather(1, 5))) == sorted(played)
        await experience.advance(1)
        assert await asyncio.wait_for(waiting, 5) is not None
        await experience.end()
        assert await experience.take("a") is None

    run(scenario())


def test_what_a_dead_environment_had_is_played_by_another(tmp_path: Path) -> None:
    async def scenario() -> None:
        experience = await opened(tmp_path)
        lost = [await experience.take("dies") for _ in range(2)]
        kept = await experience.take("lives")
        assert await experience.release("dies") == 2
        again = {await experience.take("lives") for _ in range(2)}
        assert again == set(lost)
        assert kept not in again
        assert (await experience.status()).running == 3

    run(scenario())


def test_the_same_update_gets_the_same_again_and_a_new_learner_what_the_old_one_had(tmp_path: Path) -> None:
    async def scenario() -> None:
        experience = await opened(tmp_path)
        first = [await play(experience) for _ in range(4)]
        assert sorted(ids(await experience.gather(1, 5))) == sorted(first)
        assert sorted(ids(await experience.gather(1, 5))) == sorted(first)  # an answer that got lost
        await experience.advance(1)
        second = [await play(experience) for _ in range(4)]
        abandoned = asyncio.ensure_future(experience.gather(3, 60))
        assert sorted(ids(await experience.gather(2, 5))) == sorted(second)
        # The learner dies; its checkpoint knows the first update only.
        assert (await experience.open(1, first, {})).waiting == 4
        with pytest.raises(LookupError):
            await abandoned
        assert sorted(ids(await experience.gather(2, 5))) == sorted(second)
        await experience.learned([*first, *second])
        assert not list((tmp_path / "experience").glob("*.npz"))

    run(scenario())


def test_a_store_that_was_started_again_finds_everything_on_disk(tmp_path: Path) -> None:
    async def scenario() -> None:
        experience = await opened(tmp_path)
        whole = [await play(experience) for _ in range(2)]
        half = await play(experience)
        out = await experience.take("a")
        assert out is not None
        # It crashes; rollouts that are being played then end before and after the learner opens it again.
        experience = store(tmp_path)
        with pytest.raises(LookupError):
            await experience.gather(1, 5)
        await experience.add(out, episode(out, "before"), "a", PlayStats())
        assert (await experience.open(0, [], None)).waiting == 4
        await experience.start()
        assert sorted(ids(await experience.gather(1, 5))) == sorted([*whole, half, "before"])
        await experience.add(out, episode(out, "after"), "a", PlayStats())
        rest = await play(experience, "a", "rest")
        await experience.advance(1)
        more = [await play(experience) for _ in range(2)]
        assert sorted(ids(await experience.gather(2, 5))) == sorted(["after", rest, *more])

    run(scenario())


def test_groups_that_teach_nothing_are_replaced(tmp_path: Path) -> None:
    async def scenario() -> None:
        experience = await opened(tmp_path, algorithm="grpo", refill_limit=0)
        for _ in range(2):
            await play(experience)  # successes only: nothing to compare
        batch = await experience.gather(1, 5)
        assert batch is not None
        assert batch.encoded == []
        assert batch.filtered == 1
        assert len(batch.seen) == 2
        assert not list((tmp_path / "experience").glob("*.npz"))
        assert (await experience.status()).accepted == 0

    run(scenario())


def test_a_rollout_that_can_not_be_played_leaves_its_group(tmp_path: Path) -> None:
    async def scenario() -> None:
        experience = await opened(tmp_path, groups_per_update=1)
        first = await experience.take("a")
        other = await play(experience)
        assert first is not None
        await experience.drop(first)
        assert ids(await experience.gather(1, 5)) == [other]
        await experience.drop(replace(first, number=7))  # of nobody
        assert await experience.gather(2, SOON) is None

    run(scenario())
