"""``operant demos``: what can't be collected is told before any desktop starts."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from operant.errors import ConfigError
from operant.rollout.demonstrations import is_demonstration, label_of
from operant.rollout.store import find_episodes, read_episode
from operant.testing import FakeDesktop
from operant.testing.chat_server import ChatServer
from operant.train.tasks import training_templates


def test_a_difficulty_that_does_not_exist_is_named() -> None:
    with pytest.raises(ConfigError, match="'EASYY' is not a difficulty") as caught:
        training_templates("core", "easyy".upper())
    assert caught.value.hint == "did you mean 'EASY'?"


def test_unseen_templates_are_never_learned() -> None:
    assert not any(template.unseen for template in training_templates("core"))
    with pytest.raises(ConfigError, match="that may be learned is chosen"):
        training_templates("core", only="archives-replace-file")


@pytest.mark.x11
def test_demonstrations_are_collected(tmp_path: Path) -> None:
    from operant.agents.hierarchical.labeler import HierarchicalLabeler
    from operant.rollout.demonstration_collector import collect_demonstrations
    from operant.rollout.demonstrations import find_demonstrations
    from operant.rollout.lessons import LessonView

    (template,) = training_templates("core", only="calculator-type-sum")
    tasks = [template.instance(seed, "train") for seed in range(2)]
    view = LessonView(HierarchicalLabeler(), tmp_path / "cache")
    done = collect_demonstrations(tasks, tmp_path / "demos", view, workers=2)
    assert (done.episodes, done.successes, done.infra_errors) == (2, 2, 0)
    found = find_demonstrations([tmp_path / "demos"])
    assert [path.name for path in found] == [
        f"{template.id.replace('/', '.')}.train.{seed}" for seed in range(2)
    ]
    assert done.steps == sum(len(view.read(path)) for path in found)
    assert len(list((tmp_path / "cache").rglob("*.safetensors.zst"))) == 2
    size = sum(file.stat().st_size for path in found for file in path.iterdir())
    assert size / done.steps <= 60_000


def test_a_collection_that_was_cut_off_is_resumed(
    fake: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from operant.rollout import demonstration_collector

    monkeypatch.setitem(
        demonstration_collector.collect_demonstrations.__kwdefaults__, "desktops", FakeDesktop.factory
    )
    collect = ("demos", "collect", "--suite", "pretend", "--only", "press-button", "--out", "demos", "--json")
    told = json.loads(fake(*collect, "--episodes", "2")[0])
    assert (told["already_there"], told["episodes"]) == (0, 2)
    first = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "demos").iterdir()}
    out, err = fake(*collect, "--episodes", "5", "--resume")
    told = json.loads(out)
    assert (told["already_there"], told["episodes"]) == (2, 3)
    assert "5/5" in err
    now = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "demos").iterdir()}
    assert len(now) == 5
    assert first.items() <= now.items(), "what was there is not recorded again"
    assert json.loads(fake(*collect, "--episodes", "5", "--resume")[0])["episodes"] == 0

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(demonstration_collector, "collect_demonstrations", interrupted)
    _, err = fake(*collect, code=130)
    assert "stopped; demos keeps what was recorded: the same command with --resume records the rest" in err


# By an agent.

MODEL = "vendor: chat\nmodel: any\nobservation: a11y_tree\n"
PRICES = "any: {input: 10, cached: 1, output: 100}\n"


@pytest.fixture
def moody(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """A model that presses the buttons of its task in the first turn, and gives up in every third episode."""
    from operant.rollout.demonstration_collector import collect_demonstrations

    episodes = itertools.count()

    def answer(request: Any) -> str:
        messages = request["messages"]
        if any(one["role"] == "assistant" for one in messages):
            return '{"kind": "answer", "text": "It is done."}'
        if next(episodes) % 3 == 2:
            return '{"kind": "done"}'
        task, widgets = (part["text"] for part in messages[1]["content"])
        points = []
        for name in re.findall(r"[A-Z][a-z]+", task.removeprefix("Task: Press")):
            found = re.search(rf"'{name}' \((\d+), (\d+)\)", widgets)
            points += [[int(found[1]), int(found[2])]] if found else []
        return json.dumps([{"kind": "click", "point": point} for point in points])

    with ChatServer(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setitem(collect_demonstrations.__kwdefaults__, "desktops", FakeDesktop.factory)
        yield server


def collection(*more: str | Path) -> list[str | Path]:
    wanted = ["--suite", "pretend", "--only", "press-in-order", "--workers", "1"]
    return ["demos", "collect", "--agent", "agent.yaml", "--out", "demos", *wanted, "--json", *more]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "agent.yaml").write_text(MODEL)
    (tmp_path / "prices.yaml").write_text(PRICES)
    return tmp_path


def test_only_verified_successes_of_an_agent_are_kept_and_can_be_learned_from(
    fake: Any, moody: ChatServer, files: Path
) -> None:
    out, _ = fake(*collection("--episodes", "5", "--prices", "prices.yaml"))
    told = json.loads(out)
    assert (told["episodes"], told["successes"], told["inexpressible"]) == (5, 4, {})
    assert told["usage"]["cost"] == pytest.approx((60 * 10 + 40 + 10 * 100) / 1e6 * (4 * 2 + 1))
    kept = [read_episode(path) for path in find_episodes(files / "demos")]
    assert [episode.seed for episode in kept] == [0, 1, 3, 4]
    for episode in kept:
        assert is_demonstration(episode)
        assert (episode.agent, episode.header["privileged"]) == ("agent.yaml", False)
        labels = [label_of(step) for step in episode.steps]
        assert [one and (one[0].kind.value, one[1]) for one in labels] == [
            ("click", False), ("click", False), ("done", False),
        ], "the sentence at the end answers no question"  # fmt: skip
        assert all(seen.tree is not None for seen in episode.observations()), "also between two actions"
    fake("train", "clone", "--demos", "demos", "--out", "out.pt", "--minutes", "0.01")
    assert (files / "out.pt").exists()
    assert told["steps"] == 12


def test_a_collection_has_a_budget(fake: Any, moody: ChatServer, files: Path) -> None:
    _, err = fake(*collection("--episodes", "9", "--max-tokens", "400"), code=130)
    assert "440 tokens are used, of 400; go on with --seed 2" in " ".join(err.split())
    assert len(find_episodes(files / "demos")) == 2
    _, err = fake(*collection("--max-cost", "1"), code=2)
    assert "the price of chat:any is unknown" in err
