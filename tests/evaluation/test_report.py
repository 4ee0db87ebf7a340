"""What people look at: the page, the figure, the tables and comparisons."""

from __future__ import annotations

import html.parser
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from rich.console import Console

from operant.agents.base import Agent, Decision
from operant.config.desktop import DesktopConfig
from operant.desktop.protocol import Desktop
from operant.errors import ResultsError
from operant.evaluation.comparison import compare, pair_runs
from operant.evaluation.evaluation_run import find_runs
from operant.evaluation.report import write_report
from operant.evaluation.summary import lines_of, summarise
from operant.evaluation.tables import comparison_tables, comparison_words, summary_tables
from operant.tasks.task import Task
from operant.testing import FakeDesktop
from operant.types import Action, Observation, Point

Play = Callable[..., Any]
EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)> & \"quoted\" 'too' <!-- {name} $title"


def text_of(tables: Any) -> str:
    console = Console(file=io.StringIO(), width=160, no_color=True)
    for table in tables:
        console.print(table)
    return " ".join(console.file.getvalue().split())  # type: ignore[attr-defined]


class Page(html.parser.HTMLParser):
    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def data_of(source: str) -> list[dict[str, Any]]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', source, re.S)
    assert found is not None
    return json.loads(found[1])  # type: ignore[no-any-return]


def test_a_report_is_written_beside_the_results(play: Play, tasks: list[Task], tmp_path: Path) -> None:
    for agent in ("oracle", "noop"):
        play(agent, tasks)
    root = tmp_path / "results"
    summaries = write_report(find_runs(root), root)
    assert [summary["agent"] for summary in summaries] == ["noop", "oracle"]
    assert json.loads((root / "summary.json").read_text()) == summaries
    with Image.open(root / "figure.png") as figure:
        assert figure.format == "PNG"
        assert figure.width > 600
    source = (root / "report.html").read_text()
    data = data_of(source)
    assert len(data) == 16
    for episode in data:
        assert (root / episode["first"]).exists()
        assert all((root / step["file"]).exists() for step in episode["steps"])
        assert episode["thumbnail"].startswith("data:image/webp;base64,")
    page = Page(source)
    assert "seeds 0, 1 · split" in page.text
    assert "oracle (sees behind the screen)" in page.text
    assert not [a for _, a in page.tags if str(a.get("src", "")).startswith("http") or "href" in a], (
        "self-contained"
    )


def test_nothing_that_an_agent_or_a_task_says_becomes_html(
    play: Play, tasks: list[Task], tmp_path: Path
) -> None:
    class Evil(Agent):
        def act(self, observation: Observation) -> Decision:
            return Decision((Action.type(EVIL) if observation.step == 0 else Action.fail(EVIL),), EVIL)

    evil = replace(tasks[0], id=f"evil/{EVIL}", instruction=EVIL, apps=(EVIL,))
    play(Evil, [evil, tasks[1]])
    root = tmp_path / "results"
    write_report(find_runs(root), root)
    source = (root / "report.html").read_text()
    page = Page(source)
    assert [tag for tag, _ in page.tags if tag == "script"] == ["script"] * 2
    assert not any("onerror" in attributes for _, attributes in page.tags)
    episode = next(one for one in data_of(source) if one["task"].startswith("evil/"))
    assert episode["instruction"] == EVIL
    assert episode["steps"][0]["response"] == EVIL


def test_actions_can_be_drawn_over_the_frames(play: Play, tasks: list[Task], tmp_path: Path) -> None:
    script = [
        Action.click(Point(0.25, 0.5), clicks=2),
        Action.drag(Point(0.5, 0.5)),
        Action.click(),
        Action.done(),
    ]

    class Scripted(Agent):
        def act(self, observation: Observation) -> Action:
            return script[observation.step]

    play(Scripted, tasks[1:2])
    write_report(find_runs(tmp_path), tmp_path)
    (episode,) = data_of((tmp_path / "report.html").read_text())
    double, drag, click, done = episode["steps"]
    assert (double["path"], double["rings"]) == ([[0.25, 0.5]], 2)
    assert len(drag["path"]) == 2
    assert drag["path"][0] == pytest.approx([0.25, 0.5], abs=0.01)
    assert click["path"][0] == pytest.approx([0.5, 0.5], abs=0.01)
    assert "path" not in done


def test_a_damaged_episode_is_counted_as_missing_and_named(
    play: Play, tasks: list[Task], tmp_path: Path
) -> None:
    run = play("oracle", tasks[:2]).run
    (first, second) = (run.episode_directory(asked) for asked in run.asked)
    (first / "episode.json").write_text("{")
    for path in [*second.glob("step_*.png"), second / "observations.bin"]:
        path.write_bytes(path.read_bytes()[:100])
    (summary,) = write_report(find_runs(tmp_path), tmp_path)
    assert summary["outcomes"]["missing"] == 1
    assert summary["damaged"][0].startswith(f"{first / 'episode.json'} can't be read")
    damaged, cut = data_of((tmp_path / "report.html").read_text())
    assert damaged["outcome"] == "damaged"
    assert "episode.json" in damaged["why"]
    assert cut["thumbnail"] is None


def test_tables_show_every_group(play: Play, tasks: list[Task]) -> None:
    run = play("oracle", tasks).run
    shown = text_of(summary_tables(summarise(run, lines_of(run))))
    for expected in ("oracle", "EASY", "overall", "panel", "fake/compute-v1", "100.0 %", "67.6 % - 100.0 %"):
        assert expected in shown
    assert "HARD" not in shown


def test_headings_stay_whole_on_a_narrow_terminal(play: Play, tasks: list[Task]) -> None:
    run = play("noop", tasks).run
    console = Console(file=io.StringIO(), width=60, no_color=True)
    for table in summary_tables(summarise(run, lines_of(run))):
        console.print(table)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert max(map(len, shown.splitlines())) <= 60
    for word in ("difficulty", "application", "success", "interval", "steps", "errors", "overall"):
        assert f" {word} " in shown, word
    assert "…" not in shown


def test_a_comparison_shows_the_change_and_its_interval(
    play: Play, tasks: list[Task], tmp_path: Path
) -> None:
    noop = play("noop", tasks, root=tmp_path / "a").run
    oracle = play("oracle", tasks, root=tmp_path / "b").run
    (pair,) = pair_runs([noop], [oracle])
    result = compare(lines_of(pair[0]), lines_of(pair[1]))
    overall = result.rows[0]
    assert (overall.first, overall.second, overall.change) == ((0, 8), (8, 8), 1.0)
    assert overall.is_clear
    assert (result.both, result.only_first, result.only_second, result.neither) == (0, 0, 8, 0)
    shown = text_of(comparison_tables(result, "noop", "oracle"))
    assert "+100.0" in shown
    assert "0 got worse, 8 got better" in shown
    assert "8 only by the second" in comparison_words(result)
    assert "sign test p = 0.00781: a clear difference" in comparison_words(result)


def test_failures_come_first_in_the_report(play: Play, tasks: list[Task], tmp_path: Path) -> None:
    play("oracle", tasks[:2])
    play("noop", tasks[:2])
    write_report(find_runs(tmp_path), tmp_path)
    shown = data_of((tmp_path / "report.html").read_text())
    assert [one["agent"] for one in shown] == ["noop", "noop", "oracle", "oracle"]
    assert all(one["why"] for one in shown)


def test_runs_are_paired_by_agent_or_refused(play: Play, tasks: list[Task], tmp_path: Path) -> None:
    runs = {name: play(name, tasks[:1], root=tmp_path / "a").run for name in ("noop", "oracle", "done")}
    same = pair_runs([runs["noop"], runs["oracle"]], [runs["oracle"], runs["done"]])
    assert [(one.settings.agent, other.settings.agent) for one, other in same] == [("oracle", "oracle")]
    with pytest.raises(ResultsError, match="no agent in both"):
        pair_runs([runs["noop"], runs["oracle"]], [runs["done"]])


def test_a_directory_without_results_says_how_to_make_some(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="holds no results") as caught:
        find_runs(tmp_path)
    assert "operant eval" in str(caught.value.hint)
    with pytest.raises(ResultsError, match="is not a directory"):
        find_runs(tmp_path / "nowhere")


def test_calls_have_columns_where_they_were_allowed(play: Play, tasks: list[Task], tmp_path: Path) -> None:
    class Caller(Agent):
        def act(self, observation: Observation) -> Action:
            script = [Action.call("files.read", {"path": "a"}), Action.click(), Action.click(), Action.done()]
            return script[observation.step]

    def desktops(config: DesktopConfig) -> Desktop:
        desktop = FakeDesktop(config)
        desktop.answers["files.read"] = "what it says"
        return desktop

    run = play(Caller, tasks[:2], config=DesktopConfig(actions="both"), desktops=desktops).run
    play("noop", tasks[:2])
    summary = summarise(run, lines_of(run))
    assert (summary["actions"], summary["calls"], summary["gui_actions"]) == ("both", 2, 4)
    assert (summary["overall"]["mean_calls"], summary["overall"]["mean_gui_actions"]) == (1.0, 2.0)
    shown = text_of(summary_tables(summary))
    assert "calls" in shown
    assert "gui" in shown
    root = tmp_path / "results"
    noop, _ = write_report(find_runs(root), root)
    assert noop["actions"] == "gui"
    assert "calls" not in text_of(summary_tables(noop))
    source = (root / "report.html").read_text()
    assert "<th>mean calls</th><th>mean gui actions</th>" in source
    episode = next(one for one in data_of(source) if one["agent"] == "own")
    assert episode["called"] == "calls: 1, actions with pointer and keyboard: 2"
    assert episode["steps"][0]["result"] == "what it says"
    compared = compare(lines_of(find_runs(root)[0]), lines_of(run))
    assert compared.rows[0].means[1] == {"steps": 4.0, "calls": 1.0, "gui_actions": 2.0}
    shown = text_of(comparison_tables(compared, "noop", "own"))
    assert "0.0->1.0" in shown
    assert "0.0->2.0" in shown
