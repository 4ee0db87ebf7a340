"""``operant eval``, ``results`` and ``replay``, as people and scripts call them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image

from operant.config.desktop import DesktopConfig
from operant.desktop.providers.sandbox import SandboxProvider
from operant.errors import DesktopDied
from operant.rollout.store import find_episodes, read_episode
from operant.testing import FakeDesktop
from operant.types import Outcome, Size

HERE = Path(__file__).parent

# The command with a suite of three tasks on real applications beside the shipped ones.
COMMAND = f"""
import sys
sys.path.insert(0, {str(HERE)!r})
from operant.tasks.suites import SUITES
SUITES["tiny"] = "tiny_suite:TEMPLATES"
from operant.cli import main
main(sys.argv[1:])
"""
MEANS = {"mean_steps", "mean_turns", "mean_calls", "mean_gui_actions"}
GROUP = {"n", "success", "low", "high", "infra_errors", *MEANS}


def start(*args: str | Path, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "140", "NO_COLOR": "1"},
    )


def call(*args: str | Path, cwd: Path, code: int = 0) -> tuple[str, str]:
    process = start(*args, cwd=cwd)
    out, err = process.communicate(timeout=100)
    assert process.returncode == code, err
    return out, err


def test_a_fake_evaluation_from_start_to_report(fake: Any, tmp_path: Path) -> None:
    out, err = fake(
        "eval", "--agent", "oracle", "--suite", "pretend", "--episodes", "2", "--seed", "5", "--json"
    )
    summary = json.loads(out)
    assert summary["overall"]["n"] == 8
    assert summary["overall"]["success"] == 1.0
    assert summary["seeds"] == [5, 6]
    assert summary["agent"] == "oracle"
    assert "8/8" in err
    out, err = fake("eval", "--agent", "noop", "--suite", "pretend", "--episodes", "2", "--seed", "5")
    assert "fake/compute-v1" in out

    out, err = fake("results", "show", "results")
    assert "oracle" in out
    assert "noop" in out
    assert all(
        (tmp_path / "results" / name).exists() for name in ("report.html", "figure.png", "summary.json")
    )
    summaries = json.loads(fake("results", "show", "results", "--json", "--no-report")[0])
    assert [one["agent"] for one in summaries] == ["noop", "oracle"]

    one, other = ("results/pyautogui/screenshot/" + name for name in ("noop", "oracle"))
    out, _ = fake("results", "compare", one, other)
    assert "+100.0" in out
    assert "0 got worse, 8 got better" in out
    assert out.splitlines()[-1].endswith(
        "8 only by the second, 0 by neither; sign test p = 0.00781: a clear difference"
    )
    (comparison,) = json.loads(fake("results", "compare", one, other, "--json")[0])
    assert comparison["only_second"] == 8
    assert fake("results", "compare", one, one)[0].splitlines()[-1].endswith("nothing changed")

    episode = find_episodes(tmp_path / other)[0]
    out, _ = fake("replay", episode)
    assert "success" in out
    assert "1. " in out
    assert "▀" in fake("replay", episode, "--pictures")[0]
    fake("replay", episode / "episode.json", "--gif", "out/a.gif", "--mp4", "out/a.mp4", "--width", "200")
    with Image.open(tmp_path / "out/a.gif") as gif:
        assert gif.width == 200
    assert (tmp_path / "out/a.mp4").stat().st_size > 1000


def test_finished_episodes_are_not_played_again(fake: Any) -> None:
    fake("eval", "--agent", "done", "--suite", "pretend")
    _, err = fake("eval", "--agent", "done", "--suite", "pretend", "--episodes", "2", "--json")
    assert "4 of 8 episodes are there already" in err
    assert "8/8" in err  # the bar counts from what was there


def test_an_evaluation_in_which_nothing_could_be_played_has_failed(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise DesktopDied("the display is gone")

    monkeypatch.setattr(FakeDesktop, "perform", die)
    out, err = fake("eval", "--agent", "oracle", "--suite", "pretend", "--limit", "1", "--json", code=1)
    assert json.loads(out)["outcomes"]["infra_error"] == 1
    assert "error: no episode could be played" in err
    assert "the display is gone" in err


def test_tasks_are_chosen_by_id_by_text_and_by_number(fake: Any) -> None:
    def played(*flags: str) -> list[str]:
        out, _ = fake("eval", "--agent", "done", "--suite", "pretend", "--json", *flags)
        return list(json.loads(out)["by_task"])

    compute, press = "fake/compute-v1", "fake/press-button-v1"
    assert played("--task", press, "--task", compute) == [compute, press]
    assert played("--tasks", f"{compute},{press}") == [compute, press]
    assert played("--only", "press") == [press, "fake/press-in-order-v1"]
    assert played("--only", "press", "--limit", "1") == [press]
    _, err = fake("eval", "--agent", "done", "--suite", "pretend", "--only", "pres-s", code=2)
    assert "no task of the suite 'pretend' has 'pres-s' in its id" in err
    assert "hint: operant tasks list --suite pretend shows the ids" in err


def test_failures_come_first_and_the_summary_last(fake: Any) -> None:
    out, _ = fake("eval", "--agent", "done", "--suite", "pretend")
    assert out.index("4 without success") < out.index("application") < out.index("overall")
    assert "the display shows" in out


def test_a_damaged_episode_is_named_and_played_again(fake: Any, tmp_path: Path) -> None:
    fake("eval", "--agent", "done", "--suite", "pretend")
    broken = find_episodes(tmp_path / "results")[0] / "episode.json"
    broken.write_text("{")
    out, err = fake("results", "show", "results")
    assert f"damaged: {broken.relative_to(tmp_path)} can't be read" in err
    assert "damaged" in out
    _, err = fake("eval", "--agent", "done", "--suite", "pretend")
    assert f"damaged, and played again: {broken.relative_to(tmp_path)}" in err
    assert "damaged" not in fake("results", "show", "results")[1]


def test_an_agent_of_ones_own_is_found_in_the_current_directory(fake: Any, tmp_path: Path) -> None:
    source = "from operant.agents.fixed import DoneAgent\nclass Mine(DoneAgent): pass\n"
    (tmp_path / "my_agent.py").write_text(source)
    out, _ = fake("eval", "--agent", "my_agent:Mine", "--suite", "pretend", "--json")
    assert json.loads(out)["agent"] == "my_agent:Mine"
    assert (tmp_path / "results/pyautogui/screenshot/my_agent%3AMine/run.json").exists()


def test_a_hostile_agent_does_not_stop_the_evaluation(fake: Any, tmp_path: Path) -> None:
    (tmp_path / "hostile.py").write_text(
        "import sys, time\n"
        "from operant.agents.base import Agent\n"
        "from operant.types import Action, Point, Size\n"
        "class Hostile(Agent):\n"
        "    def act(self, seen):\n"
        "        if 'Enter' in seen.instruction: sys.exit(3)\n"
        "        if 'then' in seen.instruction: time.sleep(60)\n"
        "        if 'button' in seen.instruction or 'Click' in seen.instruction: return 'garbage'\n"
        "        return Action.click(Point.from_pixel(9999, 9999, Size(1280, 800)))\n"
    )
    began = time.monotonic()
    out, _ = fake(
        "eval", "--agent", "hostile:Hostile", "--suite", "pretend", "--action-timeout", "0.5", "--json"
    )
    assert time.monotonic() - began < 30
    summary = json.loads(out)
    assert summary["overall"] | {"low": 0, "high": 0, **dict.fromkeys(MEANS, 0)} == dict.fromkeys(
        GROUP, 0
    ) | {
        "n": 4,
        "success": 0.0,
        "usage": None,
    }
    assert summary["outcomes"]["failure"] == 2
    assert summary["outcomes"]["truncated"] == 2
    assert summary["invalid_steps"] > 4


def test_a_file_of_tasks_is_a_suite(fake: Any, tmp_path: Path) -> None:
    task = {"id": 1, "instruction": "Open it", "difficulty": "EASY", "num_steps": 5, "setup": []}
    criteria = {"success_criteria": {"file_exists": "report.txt"}}
    (tmp_path / "tasks.json").write_text(json.dumps([{**task, **criteria}]))
    out, _ = fake("eval", "--agent", "done", "--suite", "tasks.json", "--episodes", "2", "--json")
    summary = json.loads(out)  # nothing is drawn in it: two episodes would be the same
    assert (summary["overall"]["n"], summary["outcomes"]["failure"]) == (1, 1)
    (tmp_path / "tasks.json").write_text(json.dumps([{**task, "sucess_criteria": {}}]))
    _, err = fake("eval", "--agent", "done", "--suite", "tasks.json", code=2)
    assert "tasks.json: task 1" in err
    assert "success_criteria" in err


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["--agent", "randm", "--suite", "pretend"], 2, "hint: did you mean 'random'?"),
        (["--agent", "random", "--suite", "pretendd"], 2, "hint: did you mean 'pretend'?"),
        (
            ["--agent", "random", "--task", "core/no-such-v1"],
            2,
            "there is no task 'core/no-such-v1' in the suite 'core'",
        ),
        (["--agent", "random"], 2, "name the suite to play; a file of tasks is one, too"),
        (
            ["--agent", "random", "--tasks", "tasks.json"],
            2,
            "name the suite to play; a file of tasks is one, too",
        ),
        (["--suite", "pretend"], 2, "name an agent or a checkpoint"),
        (["--agent", "random", "--checkpoint", __file__, "--suite", "pretend"], 2, "and not both"),
        (["--checkpoint", "nowhere.pt", "--suite", "pretend"], 2, "there is no checkpoint nowhere.pt"),
        (["--checkpoint", __file__, "--suite", "pretend"], 1, "is not a checkpoint"),
        (["--checkpoint", str(HERE), "--suite", "pretend"], 2, "holds no checkpoint"),
        (
            ["--agent", "random", "--suite", "pretend", "--tasks", "tasks.json"],
            2,
            "hint: a file of tasks is a suite: --suite tasks.json",
        ),
        (
            ["--agent", "random", "--suite", "pretend", "--tasks", "fake/press-buton-v1"],
            2,
            "hint: did you mean 'fake/press-button-v1'?",
        ),
        (["--agent", "random", "--suite", "pretend", "--difficulty", "hardest"], 2, "did you mean 'HARD'?"),
        (
            ["--agent", "random", "--suite", "pretend", "--difficulty", "hard"],
            2,
            "no tasks of difficulty HARD",
        ),
        (["--agent", "random", "--suite", "pretend", "--split", "test"], 2, "splits are train and heldout"),
        (["--agent", "random", "--suite", "pretend", "--episodes", "0"], 2, "--episodes"),
        (
            ["--agent", "random", "--suite", "pretend", "--result-dir", "/proc/nothing"],
            2,
            "choose another --result-dir",
        ),
    ],
)
def test_mistakes_are_told_in_words(fake: Any, args: list[str], code: int, said: str) -> None:
    out, err = fake("eval", *args, code=code)
    assert out == ""
    assert said in " ".join(err.replace("│", " ").split())
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["results", "show", "nowhere"], "nowhere is not a directory"),
        (["results", "show", "."], "holds no results"),
        (["replay", "nowhere"], "holds no episode"),
    ],
)
def test_mistakes_about_results_are_told_in_words(fake: Any, args: list[str], said: str) -> None:
    _, err = fake(*args, code=2)
    assert err.startswith("error: ")
    assert said in err


def test_desktops_are_as_flags_and_the_file_say(
    fake: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[DesktopConfig] = []
    start = SandboxProvider.start

    def noted(provider: SandboxProvider, config: DesktopConfig) -> Any:
        made.append(config)
        return start(provider, config)

    monkeypatch.setattr(SandboxProvider, "start", noted)
    (tmp_path / "eval.yaml").write_text("desktop: {width: 640, height: 480, limits: {memory_mb: 512}}\n")
    args = ("eval", "--agent", "done", "--suite", "pretend", "--json", "--config", "eval.yaml")
    fake(*args)
    assert {(one.size, one.limits.memory_mb) for one in made} == {(Size(640, 480), 512)}
    made.clear()
    fake(
        *args,
        "--monitors",
        "800x600,800x600",
        "--result_dir",
        "two",
        "--num_workers",
        "1",
        "--max_steps",
        "2",
    )
    assert {(one.size, one.limits.memory_mb) for one in made} == {(Size(1600, 600), 512)}
    (run,) = (tmp_path / "two").rglob("run.json")
    settings = json.loads(run.read_text())["settings"]
    assert (settings["screen"], settings["max_steps"]) == ([1600, 600], 2)
    assert [one["x"] for one in settings["desktop"]["monitors"]] == [0, 800]
    _, err = fake(*args, "--screen", "1600x600", "--result-dir", "two", "--max-steps", "2", code=2)
    assert (
        "holds results under other settings: desktop was" in err
    )  # the same size with one monitor is another desktop


@pytest.mark.parametrize("profile", ["bare", "full"])
def test_a_profile_that_is_chosen_goes_before_that_of_the_tasks(
    fake: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: str
) -> None:
    used: list[str] = []
    use = FakeDesktop.use_profile
    monkeypatch.setattr(
        FakeDesktop, "use_profile", lambda self, name: (used.append(name), use(self, name))[1]
    )
    fake("eval", "--agent", "done", "--suite", "pretend", "--profile", profile)
    assert set(used) == {profile}
    (run,) = (tmp_path / "results").rglob("run.json")
    assert json.loads(run.read_text())["settings"]["desktop"] == {"profile": profile}
    _, err = fake("eval", "--agent", "done", "--suite", "pretend", "--profile", "ful", code=2)
    assert "hint: did you mean 'full'?" in err


def test_a_proxy_with_a_password_is_not_written_down(fake: Any, tmp_path: Path) -> None:
    fake(
        "eval",
        "--agent",
        "done",
        "--suite",
        "pretend",
        "--network",
        "--proxy",
        "http://me:hunter2@10.0.0.1:3128",
    )
    written = list((tmp_path / "results").rglob("*.json*"))
    assert written
    assert not any("hunter2" in path.read_text() for path in written)


@pytest.mark.parametrize(
    ("variables", "args", "said"),
    [
        ({"DEVICE": "cuda:99"}, ["--agent", "hierarchical"], "error: there is no device 'cuda:99' here"),
        ({}, ["--agent", "hierarchical", "--device", "cuda:99"], "error: there is no device 'cuda:99' here"),
        ({"DEVICE": "tpu"}, ["--agent", "hierarchical"], "error: there is no device 'tpu' here"),
        ({"OPERANT_TOKN": "x"}, ["--agent", "done"], "hint: did you mean OPERANT_TOKEN?"),
        ({"LOG_LEVEL": "LOUD"}, ["--agent", "done"], "log_level: levels are TRACE, DEBUG"),
        ({}, ["--agent", "done", "--config", "none.yaml"], "error: there is no file none.yaml"),
        ({}, ["--agent", "done", "--screen", "wide"], "WIDTHxHEIGHT, such as 1920x1080"),
        ({}, ["--agent", "done", "--proxy", "http://10.0.0.1:1"], "needs the network"),
    ],
)
def test_settings_are_checked_before_anything_starts(
    fake: Any, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], args: list[str], said: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(SandboxProvider, "start", lambda *_: pytest.fail("a desktop was started"))
    out, err = fake("eval", *args, "--suite", "pretend", code=2)
    assert out == ""
    assert said in err
    assert not Path("results").exists()


def test_the_device_and_the_log_level_reach_the_agent(
    fake: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "placed.py").write_text(
        "from loguru import logger\n"
        "from operant.agents.fixed import DoneAgent\n"
        "class Placed(DoneAgent):\n"
        "    def __init__(self, device='nowhere'):\n"
        "        logger.debug('calculates on {}', device)\n"
    )
    monkeypatch.setenv("LOG_LEVEL", "DEBUG")
    monkeypatch.setenv("DEVICE", "auto")
    _, err = fake("eval", "--agent", "placed:Placed", "--suite", "pretend")
    assert f"calculates on {'cuda' if torch.cuda.is_available() else 'cpu'}" in err
    _, err = fake("eval", "--agent", "placed:Placed", "--suite", "pretend", "--log-level", "WARNING")
    assert "calculates on" not in err


# On real desktops.


@pytest.mark.x11
@pytest.mark.slow
def test_two_monitors_of_1920x1080(tmp_path: Path) -> None:
    (tmp_path / "eval.yaml").write_text("desktop: {monitors: [1920x1080, 1920x1080]}\n")
    out, _ = call(
        "eval", "--agent", "oracle", "--suite", "tiny", "--config", "eval.yaml", "--json", cwd=tmp_path
    )
    assert json.loads(out)["overall"] | {
        "low": 0,
        "high": 0,
        **dict.fromkeys(MEANS, 0),
    } == dict.fromkeys(GROUP, 0) | {
        "n": 3,
        "success": 1.0,
        "usage": None,
    }
    pictures = [path for directory in find_episodes(tmp_path) for path in directory.glob("*.png")]
    assert pictures
    for path in pictures:
        with Image.open(path) as picture:
            assert picture.size == (3840, 1080)


@pytest.mark.x11
@pytest.mark.slow
def test_three_agents_on_real_desktops(tmp_path: Path) -> None:
    shown = {}
    for agent in ("oracle", "noop", "random"):
        out, _ = call("eval", "--agent", agent, "--suite", "tiny", "--episodes", "2", "--json", cwd=tmp_path)
        shown[agent] = json.loads(out)
    assert shown["oracle"]["overall"]["success"] == 1.0
    assert shown["oracle"]["by_difficulty"]["MEDIUM"]["n"] == 2
    assert shown["noop"]["overall"]["success"] == shown["random"]["overall"]["success"] == 0.0
    assert all(one["overall"]["n"] == 6 and one["overall"]["infra_errors"] == 0 for one in shown.values())
    call("results", "show", "results", cwd=tmp_path)
    assert (tmp_path / "results/report.html").stat().st_size > 20_000


def outcomes(root: Path) -> list[Outcome | None]:
    return [read_episode(directory).outcome for directory in find_episodes(root)]


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str], timeout_s: float = 60.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


SLOW_AGENT = """
import time
from operant.agents.oracle import OracleAgent
class Slow(OracleAgent):
    def act(self, seen):
        time.sleep(0.4)
        return super().act(seen)
"""
ARGS = ("eval", "--agent", "slow_agent:Slow", "--suite", "tiny", "--episodes", "3", "--json")


@pytest.mark.x11
@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_an_evaluation_that_is_ended_goes_on_later(tmp_path: Path, how: signal.Signals) -> None:
    (tmp_path / "slow_agent.py").write_text(SLOW_AGENT)
    process = start(*ARGS, cwd=tmp_path)
    wait_for(lambda: len(list(tmp_path.rglob("episode.json"))) >= 2, process)
    os.kill(process.pid, how)
    began = time.monotonic()
    out, err = process.communicate(timeout=30)
    assert out == ""
    if how is not signal.SIGKILL:
        assert time.monotonic() - began < 10
        assert process.returncode == 130
        assert "the same command goes on from there" in err
    left = outcomes(tmp_path)
    assert left.count(Outcome.SUCCESS) >= 2
    assert set(left) <= {Outcome.SUCCESS, None}
    done = left.count(Outcome.SUCCESS)
    out, err = call(*ARGS, cwd=tmp_path)
    assert f"{done} of 9 episodes are there already" in err
    assert json.loads(out)["overall"]["success"] == 1.0
    assert outcomes(tmp_path) == [Outcome.SUCCESS] * 9


KILLER = """
import os, signal
from operant.agents.oracle import OracleAgent
killed = []
class Killer(OracleAgent):
    def attach(self, desktop, task):
        super().attach(desktop, task)
        self.desktop = desktop
    def act(self, seen):
        if len(killed) < 2 and seen.step == 1:
            killed.append(self.desktop)
            os.kill(self.desktop._supervised.process.pid, signal.SIGKILL)
        return super().act(seen)
"""


@pytest.mark.x11
@pytest.mark.slow
def test_a_desktop_killed_in_the_middle_is_not_the_agents_failure(tmp_path: Path) -> None:
    (tmp_path / "killer.py").write_text(KILLER)
    out, _ = call("eval", "--agent", "killer:Killer", "--suite", "tiny", "--json", cwd=tmp_path)
    summary = json.loads(out)
    assert summary["overall"]["n"] == 3
    assert summary["overall"]["success"] == 1.0
    assert summary["overall"]["infra_errors"] == 0
    tries = [read_episode(directory).header["failed_tries"] for directory in find_episodes(tmp_path)]
    assert sum(map(len, tries)) == 2
