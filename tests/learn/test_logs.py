"""What a run tells people and TensorBoard."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from operant.agents.device import pick_device
from operant.errors import ConfigError
from operant.learn import PPOTrainer
from operant.learn.logs import ConsoleLog, StatusLog, TensorBoardLog, line_of_status
from operant.learn.progress import RunStatus, TrainingProgress
from operant.learn.threads import use_threads
from operant.learn.time_left import in_words
from operant.testing.toys import ToyEnvironments, ToyPolicy


def test_a_run_leaves_lines_curves_histograms_and_frames(tmp_path: Path) -> None:
    said = io.StringIO()
    console = ConsoleLog(200, Console(file=said, width=200))
    board = TensorBoardLog(tmp_path, frame=lambda: np.full((20, 30, 3), 90, np.uint8), frame_every=2)
    training = PPOTrainer(
        ToyPolicy(),
        ToyEnvironments(4, lost=[5]),
        listeners=[console, board],
        buffer_size=64,
        action_names=["click", "type", "key"],
    )
    result = training.train(total_timesteps=200)
    console.close()
    board.close()

    lines = said.getvalue().splitlines()
    assert any(line.startswith("Update 1/4 | Step 64/200 | FPS: ") for line in lines)
    assert any(
        "Mean Reward: " in line and "Success Rate: " in line and "Value Loss: " in line for line in lines
    )
    assert any("1 episodes lost to the machine" in line for line in lines)
    assert "200/200 steps" in said.getvalue()

    events = EventAccumulator(str(tmp_path), size_guidance={"images": 0})
    events.Reload()
    tags = events.Tags()
    assert {
        "episodes/success_rate", "loss/policy", "entropy/kind", "actions/click", "tasks/toy/task0-v1", "speed/fps",
    } <= set(tags["scalars"])  # fmt: skip
    assert [event.step for event in events.Scalars("episodes/success_rate")] == [64, 128, 192, 256]
    assert events.Scalars("episodes/success_rate")[-1].value == pytest.approx(result.success_rate)
    assert tags["histograms"] == ["action_types"]
    assert [event.step for event in events.Images("desktop")] == [64, 192]


def test_a_device_that_is_not_there_is_one_line() -> None:
    assert pick_device("cpu").type == "cpu"
    assert pick_device("auto").type in ("cpu", "cuda")
    for name in ("cuda:77", "gpu", ""):
        with pytest.raises(ConfigError, match="there is no device") as told:
            pick_device(name)
        assert told.value.hint is not None
        assert "cpu" in told.value.hint


def test_threads_leave_room_for_desktops() -> None:
    before = torch.get_num_threads()
    try:
        assert use_threads(None) >= 1
        assert use_threads(3) == torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


STATUS = RunStatus("collecting", 312, 100_000, 56, 128, 2, 14, 0, 3 / 14, 14, 10.4, 9585.3, 30.0)


def test_where_a_run_is_in_words() -> None:
    assert line_of_status(STATUS) == (
        "Step 312/100000 | 14 episodes | 21% success of the last 14 | 10.4 steps/s | 2 h 40 min left"
        " | collecting 56/128"
    )
    nothing = TrainingProgress().status("starting", 100, (0, 0))
    assert line_of_status(nothing) == "Step 0/100 | 0 episodes | starting desktops"
    assert [in_words(seconds) for seconds in (3.2, 59, 61, 3600)] == ["3 s", "59 s", "1 min", "1 h 0 min"]


def test_where_no_bar_can_be_a_line_comes_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    console = ConsoleLog(100_000, Console(file=said, width=200))
    for _ in range(3):
        console.status(STATUS)
    assert said.getvalue().splitlines() == [line_of_status(STATUS)]
    monkeypatch.setattr("operant.learn.logs.LINE_S", 0.0)
    console.status(STATUS)
    assert said.getvalue().splitlines() == [line_of_status(STATUS)] * 2
    console.close()


def test_a_bar_counts_while_a_rollout_is_collected() -> None:
    said = io.StringIO()
    console = ConsoleLog(100_000, Console(file=said, width=80, force_terminal=True))
    console.status(STATUS)
    console.close()
    shown = said.getvalue()
    assert "312/100000 steps" in shown
    assert "14 episodes, 21% success, 10.4/s, 2 h 40 min left" in shown


def test_a_file_says_where_the_run_is_and_goes_with_it(tmp_path: Path) -> None:
    log = StatusLog(tmp_path)
    log.status(STATUS)
    told = json.loads((tmp_path / "status.json").read_text())
    assert (told["step"], told["episodes"], told["phase"]) == (312, 14, "collecting")
    log.close()
    assert not list(tmp_path.iterdir())
