"""Episodes on disk: what is written, what a crash leaves, and that reading forgives only that."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from operant.agents.base import Agent, Decision
from operant.agents.oracle import OracleAgent
from operant.envs.task_environment import TaskEnvironment
from operant.errors import DesktopDied, ResultsError
from operant.rollout import layout
from operant.rollout.loop import run_episode
from operant.rollout.store import EpisodeWriter, find_episodes, read_episode
from operant.tasks.task import Task
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.types import Action, Observation, Outcome

ABOUT = {"agent": "oracle", "observation_type": "screenshot"}


class Sequence(Agent):
    def __init__(self, *decisions: Any) -> None:
        self.decisions = list(decisions)

    def act(self, observation: Observation) -> Any:
        return self.decisions.pop(0)


def play(directory: Path, agent: Agent | None = None, task: Task | None = None, **more: Any) -> EpisodeWriter:
    writer = EpisodeWriter(directory, ABOUT, **more)
    desktop: Any = FakeDesktop()
    run_episode(
        agent or OracleAgent(),
        TaskEnvironment(desktop),
        task or FAKE_TEMPLATES[1].instance(3, "heldout"),
        writer,
    )
    return writer


def test_an_episode_reads_back_as_it_was_played(tmp_path: Path) -> None:
    play(tmp_path / "one")
    episode = read_episode(tmp_path / "one")
    assert episode.outcome is Outcome.SUCCESS
    assert episode.finished
    assert (episode.task, episode.seed, episode.split) == ("fake/press-in-order-v1", 3, "heldout")
    assert [step.action.kind.value for step in episode.steps if step.action] == ["click", "click", "done"]
    assert [step.done for step in episode.steps] == [False, False, True]
    header = episode.header
    assert header["actions"] == [
        json.loads(line)["operant"]["action"] for line in (tmp_path / "one/traj.jsonl").open()
    ]
    assert header["reward"] == 1.0
    assert header["screen"] == [1280, 800]
    assert set(header["seconds"]) == {"agent", "desktop", "total"}
    assert header["commit"]


def test_the_files_are_those_that_osworlds_tools_know(tmp_path: Path) -> None:
    play(tmp_path / "one")
    assert float((tmp_path / "one/result.txt").read_text()) == 1.0
    lines = [json.loads(line) for line in (tmp_path / "one/traj.jsonl").open()]
    theirs = {
        "step_num",
        "action_timestamp",
        "action",
        "response",
        "reward",
        "done",
        "info",
        "screenshot_file",
    }
    for number, line in enumerate(lines, 1):
        assert theirs <= set(line)
        assert line["step_num"] == number
        assert line["screenshot_file"] == f"step_{number}_{line['action_timestamp']}.png"
        with Image.open(tmp_path / "one" / line["screenshot_file"]) as image:
            assert (image.format, image.size) == ("PNG", (1280, 800))
    assert lines[0]["action"].startswith("pyautogui.click(")
    assert lines[-1]["action"] == "DONE"


def test_screenshots_are_the_screens_bit_for_bit(tmp_path: Path) -> None:
    screens = []

    class Watching(EpisodeWriter):
        def look(self, observation: Observation) -> None:
            screens.append(observation.screen.copy())
            super().look(observation)

        def step(self, step: Any, observation: Observation) -> None:
            screens.append(observation.screen.copy())
            super().step(step, observation)

    desktop: Any = FakeDesktop()
    run_episode(
        OracleAgent(),
        TaskEnvironment(desktop),
        FAKE_TEMPLATES[2].instance(0),
        Watching(tmp_path / "a", ABOUT),
    )
    episode = read_episode(tmp_path / "a")
    assert len(screens) == len(episode.steps) + 1
    for number, screen in enumerate(screens):
        assert np.array_equal(episode.frame(number), screen)


def test_an_episode_without_pictures_has_its_screens_all_the_same(tmp_path: Path) -> None:
    play(tmp_path / "with")
    play(tmp_path / "without", pictures=False)
    assert not list((tmp_path / "without").glob("*.png"))
    one, other = read_episode(tmp_path / "with"), read_episode(tmp_path / "without")
    assert other.screenshots == (None,) * 4
    assert other.picture_names() == ("step_0.png", "step_1.png", "step_2.png", "step_3.png")
    assert one.picture_names() == tuple(path.name for path in one.screenshots if path)
    for number in range(4):
        assert np.array_equal(one.frame(number), other.frame(number))


def test_what_was_observed_reads_back_as_it_was(tmp_path: Path) -> None:
    seen: list[Observation] = []

    class Noting(OracleAgent):
        def act(self, observation: Observation) -> Action:
            seen.append(observation)
            return super().act(observation)

    writer, desktop = EpisodeWriter(tmp_path / "a", ABOUT), FakeDesktop()
    environment = TaskEnvironment(desktop, with_tree=True)  # type: ignore[arg-type]
    run_episode(Noting(), environment, FAKE_TEMPLATES[1].instance(3), writer)
    found = list(read_episode(tmp_path / "a").observations())
    assert len(found) == len(seen) + 1
    assert seen[0].tree is not None
    for one, other in zip(seen, found, strict=False):
        for field in fields(Observation):
            if field.name == "results":  # not stored: the steps of the turn tell it
                continue
            assert np.array_equal(getattr(one, field.name), getattr(other, field.name)), field.name


def old(directory: Path) -> Path:
    """An episode as it was before observations were kept."""
    (directory / "observations.bin").unlink()
    header = json.loads((directory / "episode.json").read_text())
    header["format"] = 1
    del header["id"]
    (directory / "episode.json").write_text(json.dumps(header))
    return directory


def test_episodes_of_format_1_are_still_read(tmp_path: Path) -> None:
    play(tmp_path / "a")
    frames = [read_episode(tmp_path / "a").frame(number) for number in range(4)]
    episode = read_episode(old(tmp_path / "a"))
    assert episode.outcome is Outcome.SUCCESS
    assert all(np.array_equal(episode.frame(number), frame) for number, frame in enumerate(frames))
    with pytest.raises(ResultsError, match="not what else was observed") as caught:
        episode.observations()
    assert "play the task again" in str(caught.value.hint)


def test_damaged_observations_are_an_error_that_names_the_file(tmp_path: Path) -> None:
    play(tmp_path / "a")
    path = tmp_path / "a/observations.bin"
    path.write_bytes(b"rubbish")
    with pytest.raises(ResultsError, match=r"observations\.bin"):
        read_episode(tmp_path / "a").frame(0)
    path.unlink()
    with pytest.raises(ResultsError, match=r"observations\.bin can't be read"):
        read_episode(tmp_path / "a").frame(0)


def test_an_episode_can_be_removed(tmp_path: Path) -> None:
    play(tmp_path / "a").remove()
    assert not list(tmp_path.iterdir())


def test_a_screen_that_did_not_change_takes_no_room(tmp_path: Path) -> None:
    play(tmp_path / "a", Sequence(Action.wait(), Action.wait(), Action.done()))
    screenshots = read_episode(tmp_path / "a").screenshots
    assert len({os.stat(path).st_ino for path in screenshots if path}) == 1


def test_what_an_agent_keeps_may_be_arrays_and_odd_things(tmp_path: Path) -> None:
    record = {
        "logp": np.float32(-0.5),
        "ids": np.arange(3),
        "odd": {"x"},
        "thing": object,
        "nan": float("nan"),
    }
    play(tmp_path / "a", Sequence(Decision((Action.done(),), "said\nthis \ud800", record=record)))
    (step,) = read_episode(tmp_path / "a").steps
    assert step.record["logp"] == -0.5
    assert step.record["ids"] == [0, 1, 2]
    assert step.response == "said\nthis \ud800"


def test_garbage_actions_are_kept_as_invalid(tmp_path: Path) -> None:
    play(tmp_path / "a", Sequence("garbage", Action.done()))
    first, _ = read_episode(tmp_path / "a").steps
    assert first.action is None
    assert "garbage" in str(first.invalid)
    assert read_episode(tmp_path / "a").header["actions"][0] is None


def test_another_attempt_replaces_the_last_one_wholly(tmp_path: Path) -> None:
    play(tmp_path / "a", Sequence(*[Action.wait()] * 5, Action.done()))
    play(tmp_path / "a", Sequence(Action.done()))
    episode = read_episode(tmp_path / "a")
    assert len(episode.steps) == 1
    assert len(list((tmp_path / "a").glob("step_*.png"))) == 2


def test_an_infra_error_has_no_result_file_and_is_not_finished(tmp_path: Path) -> None:
    desktop: Any = FakeDesktop()

    class Kills(Agent):
        def act(self, observation: Observation) -> Action:
            desktop.break_with(DesktopDied("killed"))
            return Action.wait()

    run_episode(
        Kills(), TaskEnvironment(desktop), FAKE_TEMPLATES[0].instance(0), EpisodeWriter(tmp_path / "a", ABOUT)
    )
    episode = read_episode(tmp_path / "a")
    assert episode.outcome is Outcome.INFRA_ERROR
    assert not episode.finished
    assert not (tmp_path / "a/result.txt").exists()


# What a crash leaves.

KILLED = """
import os, signal, sys
from pathlib import Path
from operant.agents.base import Agent
from operant.envs.task_environment import TaskEnvironment
from operant.rollout.loop import run_episode
from operant.rollout.store import EpisodeWriter
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.types import Action
import time

class Slow(Agent):
    def act(self, observation):
        if observation.step == 3:
            print("now", flush=True)
            time.sleep(60)
        return Action.type("x")

run_episode(Slow(), TaskEnvironment(FakeDesktop()), FAKE_TEMPLATES[3].instance(0),
            EpisodeWriter(Path(sys.argv[1]), {"agent": "slow"}))
"""


def test_a_killed_process_leaves_a_readable_episode(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path / "a")], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    deadline = time.monotonic() + 10
    while (tmp_path / "a/traj.jsonl").read_bytes().count(b"\n") < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert find_episodes(tmp_path) == [tmp_path / "a"]
    episode = read_episode(tmp_path / "a")
    assert episode.outcome is None
    assert not episode.finished
    assert [step.number for step in episode.steps] == [1, 2, 3]
    assert episode.frame(3).shape == (800, 1280, 3)
    play(tmp_path / "a")
    assert read_episode(tmp_path / "a").finished


@pytest.mark.parametrize("cut", [1, 10, 200])
def test_a_last_line_that_was_cut_is_left_out(tmp_path: Path, cut: int) -> None:
    play(tmp_path / "a")
    path = tmp_path / "a/traj.jsonl"
    path.write_bytes(path.read_bytes()[:-cut])
    assert len(read_episode(tmp_path / "a").steps) == 2


def test_an_empty_or_missing_trajectory_has_no_steps(tmp_path: Path) -> None:
    play(tmp_path / "a")
    (tmp_path / "a/traj.jsonl").write_text("")
    assert read_episode(tmp_path / "a").steps == ()
    (tmp_path / "a/traj.jsonl").unlink()
    assert read_episode(tmp_path / "a").steps == ()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("traj.jsonl", "rubbish\n", "line 1"),
        ("traj.jsonl", "{}\n", "line 1: KeyError"),
        ("episode.json", "{", "can't be read"),
        ("episode.json", "[]", "is not an episode"),
        ("episode.json", '{"format": 99}', "is not an episode of format 1"),
        ("episode.json", '{"format": 1}', "lacks agent"),
    ],
)
def test_damage_is_an_error_that_names_the_file(tmp_path: Path, name: str, text: str, said: str) -> None:
    play(tmp_path / "a")
    (tmp_path / "a" / name).write_text(text)
    with pytest.raises(ResultsError, match=said) as caught:
        read_episode(tmp_path / "a")
    assert name in caught.value.message


def test_an_episode_can_not_point_at_files_elsewhere(tmp_path: Path) -> None:
    play(tmp_path / "a")
    path = tmp_path / "a/traj.jsonl"
    line = json.loads(path.read_text().splitlines()[0])
    line["screenshot_file"] = "../../etc/passwd"
    path.write_text(json.dumps(line) + "\n")
    with pytest.raises(ResultsError, match="not the name of a screenshot"):
        read_episode(tmp_path / "a")


def test_a_directory_without_an_episode_says_what_one_is(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="holds no episode") as caught:
        read_episode(tmp_path)
    assert "episode.json" in str(caught.value.hint)


def test_a_place_that_can_not_be_written_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsError, match="can't be written"):
        play(tmp_path / "file/a")


def test_a_disk_that_fails_midway_is_a_typed_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("operant.rollout.store._write_png", full)
    with pytest.raises(ResultsError, match="no space left on"):
        play(tmp_path / "a")


# Names.


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("oracle", "oracle"),
        ("my.module:make", "my.module%3Amake"),
        ("../../etc", "%2E.%2F..%2Fetc"),
        ("..", "%2E."),
        ("", "%00"),
        ("grün 7", "grün%207"),
        ("a\0b\n", "a%00b%0A"),
    ],
)
def test_names_are_single_components_of_paths(text: str, name: str) -> None:
    assert layout.safe_name(text) == name
    assert Path(layout.safe_name(text)).name == layout.safe_name(text)


def test_long_names_are_cut_and_stay_different() -> None:
    one, other = layout.safe_name("x" * 500), layout.safe_name("x" * 499 + "y")
    assert one != other
    assert len(one.encode()) <= layout.LONGEST_NAME


def test_the_layout_is_osworlds() -> None:
    assert layout.agent_directory(Path("results"), "screenshot", "random") == Path(
        "results/pyautogui/screenshot/random"
    )
    assert layout.episode_name("core/note-v1", "heldout", 7) == "core.note-v1.heldout.7"
    assert layout.episode_name("task_001", None, None) == "task_001"
    assert [layout.domain(apps) for apps in ((), ("xterm",), ("xterm", "mousepad"))] == [
        "desktop",
        "xterm",
        "multi_apps",
    ]
