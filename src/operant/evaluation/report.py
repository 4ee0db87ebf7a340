"""A results directory as files for people: ``summary.json``, ``figure.png`` and ``report.html``.

The page is one static file that needs no server: style, script, tables and thumbnails are inside; the
screenshots of the episodes are fetched from beside it while one looks. Text of tasks and agents is escaped or
put in as text.
"""

from __future__ import annotations

import base64
import html
import importlib.resources
import io
import json
import os
import string
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from operant.actions.describe import describe
from operant.agents.usage import cost_text
from operant.atomic_files import write_atomically
from operant.errors import ResultsError
from operant.evaluation.evaluation_run import EvaluationRun
from operant.evaluation.summary import Line, lines_of, seeds_in_words, summarise
from operant.evaluation.tables import MoreColumns, ends_text, used_text, worst_first
from operant.rollout.episode import Episode, Step
from operant.types import ActionKind, Outcome, Size

__all__ = ["write_report"]

THUMBNAIL_WIDTH = 320
LONGEST_RESPONSE = 2000


def write_report(runs: Sequence[EvaluationRun], directory: Path) -> list[dict[str, Any]]:
    """Write the files into ``directory`` and return the summaries, one a run."""
    from operant.evaluation.figure import write_figure

    lines = [lines_of(run) for run in runs]
    summaries = [summarise(run, its) for run, its in zip(runs, lines, strict=True)]
    try:
        write_atomically(directory / "summary.json", json.dumps(summaries, indent=1) + "\n")
        write_figure(summaries, directory / "figure.png")
        write_atomically(directory / "report.html", _page(runs, lines, summaries, directory))
    except OSError as error:
        raise ResultsError(f"the report can't be written to {directory}: {error}") from error
    return summaries


def _page(
    runs: Sequence[EvaluationRun],
    lines: Sequence[Sequence[Line]],
    summaries: Sequence[Mapping[str, Any]],
    directory: Path,
) -> str:
    data = [_episode(run, line, directory) for run, its in zip(runs, lines, strict=True) for line in its]
    data.sort(key=lambda one: one["outcome"] == Outcome.SUCCESS.value)  # failures first
    title = "Results of " + ", ".join(summary["agent"] for summary in summaries)
    facts = [time.strftime("%Y-%m-%d %H:%M", time.localtime()), f"{len(data)} episodes asked for"]
    if seeds := sorted({seed for summary in summaries for seed in summary["seeds"]}):
        facts.append(f"seeds {seeds_in_words(seeds)}")
    for name, key in (("split", "splits"), ("commit", "commit")):
        values = sorted({str(value) for summary in summaries for value in _many(summary[key])})
        if values:
            facts.append(f"{name} {', '.join(values[:8])}{' …' if len(values) > 8 else ''}")
    return string.Template(_part("report.html")).substitute(
        title=html.escape(title),
        subtitle=html.escape(" · ".join(facts)),
        style=_part("report.css"),
        script=_part("report.js"),
        sections="\n".join(_sections(summaries)),
        # "</script>" and "<!--" must not end the element that holds it.
        data=json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
    )


def _part(name: str) -> str:
    return (importlib.resources.files("operant.evaluation") / "page" / name).read_text(encoding="utf-8")


def _many(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]


# Tables.


def _sections(summaries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if len(summaries) == 1:
        yield f"<section><h2>Success</h2>{''.join(_details(summaries[0]))}</section>"
        return
    more = MoreColumns.of(*summaries)
    rows = [_row(_label(summary), summary["overall"], more) for summary in summaries]
    yield f"<section><h2>All agents</h2>{_table('agent', rows, more)}"
    for summary in summaries:
        name = html.escape(str(summary["agent"]))
        yield f'<details><summary>{name} in detail</summary><div class="inner">'
        yield from _details(summary)
        yield "</div></details>"
    yield "</section>"


def _details(summary: Mapping[str, Any]) -> Iterator[str]:
    """One agent, by difficulty, application and task."""
    more = MoreColumns.of(summary)
    levels = {name.lower(): rates for name, rates in summary["by_difficulty"].items() if rates["n"]}
    rows = [_row(name, rates, more) for name, rates in levels.items()]
    novelty = summary["by_novelty"]
    if novelty["seen"]["n"] and novelty["unseen"]["n"]:
        rows += [_row(f"{name} templates", rates, more) for name, rates in novelty.items()]
    rows.append(_row("overall", summary["overall"], more, total=True))
    yield _table("difficulty", rows, more)
    counts = {name.replace("_", " "): count for name, count in summary["outcomes"].items() if count}
    said = ", ".join(f"{count} {name}" for name, count in counts.items())
    yield f'<p class="quiet note">{html.escape(said)}; every rate divides by all episodes asked for</p>'
    for line in (ends_text(summary), used_text(summary["overall"]["usage"]) if more.used else ""):
        if line:
            yield f'<p class="quiet note">{html.escape(line)}</p>'
    for name, key in (("application", "by_app"), ("task", "by_task")):
        rows = [_row(value, rates, more) for value, rates in worst_first(summary[key])]
        yield f"<details><summary>By {name} ({len(rows)})</summary>{_table(name, rows, more)}</details>"


def _label(summary: Mapping[str, Any]) -> str:
    return str(summary["agent"]) + (" (sees behind the screen)" if summary["privileged"] else "")


def _table(first: str, rows: Sequence[str], more: MoreColumns) -> str:
    usual = (first, "n", "success", "95 % interval", "", "mean steps", "infra errors")
    heads = "".join(f"<th>{head}</th>" for head in (*usual, *more.heads))
    body = f"<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f'<div class="card scroll"><table>{body}</table></div>'


def _row(name: str, rates: Mapping[str, Any], more: MoreColumns, *, total: bool = False) -> str:
    rate, low, high = rates["success"], rates["low"], rates["high"]
    rail = (
        f'<span class="rail"><b style="left:{100 * low:.2f}%;right:{100 - 100 * high:.2f}%"></b>'
        f'<i style="left:{100 * rate:.2f}%"></i></span>'
    )
    infra = rates["infra_errors"]
    cells = (
        html.escape(name),
        str(rates["n"]),
        f"{100 * rate:.1f} %",
        f"{100 * low:.1f} – {100 * high:.1f} %",
        "" if rates["mean_steps"] is None else f"{rates['mean_steps']:.1f}",
        f'<span class="warn">{infra}</span>' if infra else "0",
        *more.cells(rates),
    )
    shown = "".join(f"<td>{cell}</td>" for cell in cells[:4])
    rest = "".join(f"<td>{cell}</td>" for cell in cells[4:])
    return f'<tr{" class=total" if total else ""}>{shown}<td class="bar">{rail}</td>{rest}</tr>'


# Episodes.


def _episode(run: EvaluationRun, line: Line, directory: Path) -> dict[str, Any]:
    asked, episode = line.asked, line.episode
    steps = episode.steps if episode else ()
    size = Size(*episode.header["screen"]) if episode and "screen" in episode.header else None
    pointers = _pointers(episode) if episode else []
    return {
        "id": f"{run.settings.agent}/{asked.directory}",
        "agent": run.settings.agent,
        "task": asked.task,
        "seed": asked.seed,
        "difficulty": asked.difficulty.value,
        "apps": list(asked.apps),
        "instruction": episode.instruction if episode else "",
        "outcome": line.state,
        "why": line.why,
        "end": episode.header.get("end", "") if episode else "",
        **_used(episode),
        **({"called": episode.called} if episode and episode.called else {}),
        "first": _relative(episode.first_screenshot if episode else None, directory),
        "thumbnail": _thumbnail(episode) if episode else None,
        "steps": [
            _step(step, pointer, size, directory) | _before(episode, step, directory)
            for step, pointer in zip(steps, pointers, strict=False)
        ],
    }


def _before(episode: Episode | None, step: Step, directory: Path) -> dict[str, Any]:
    """The picture before a step, where it is not the one after the step before: a team has several desktops."""
    if episode is None or (before := episode.seen_before(step.number)) == step.number - 1:
        return {}
    return {"before": _relative(episode.screenshots[before], directory)}


def _used(episode: Episode | None) -> dict[str, Any]:
    """What the agent used in it, in words."""
    used = None if episode is None else episode.usage
    if used is None or episode is None:
        return {}
    return {"cost": cost_text(used.cost), "used": f"{episode.turns} turns, {used}"}


def _pointers(episode: Episode) -> list[list[float] | None]:
    """Where the pointer was before each step."""
    states = [episode.header.get("first_state", {}), *(step.state for step in episode.steps)]
    return [states[episode.seen_before(step.number)].get("pointer") for step in episode.steps]


def _step(step: Step, pointer: list[float] | None, size: Size | None, directory: Path) -> dict[str, Any]:
    found: dict[str, Any] = {
        "text": describe(step.action, size),
        "file": _relative(step.screenshot, directory),
    }
    if step.who:
        found["who"] = step.who
    if step.turn:
        found["turn"] = step.turn
    if step.invalid:
        found["invalid"] = step.invalid
    if step.response:
        found["response"] = step.response[:LONGEST_RESPONSE]
    if "result" in step.info:
        found["result"] = str(step.info["result"])[:LONGEST_RESPONSE]
    if step.usage is not None:
        found["used"] = str(step.usage)
    action = step.action
    if action is None:
        return found
    if action.kind is ActionKind.DRAG:
        path = [[point.x, point.y] for point in action.path]
        found |= {"path": [pointer, *path] if len(path) == 1 and pointer else path, "rings": 0}
    elif action.kind in (
        ActionKind.CLICK,
        ActionKind.MOVE,
        ActionKind.SCROLL,
        ActionKind.MOUSE_DOWN,
        ActionKind.MOUSE_UP,
    ):
        place = [action.point.x, action.point.y] if action.point else pointer
        if place is not None:
            found |= {"path": [place], "rings": action.clicks}
    return found


def _relative(path: Path | None, directory: Path) -> str | None:
    if path is None or not path.exists():
        return None
    return os.path.relpath(path, directory)


def _thumbnail(episode: Episode) -> str | None:
    """The last screen, small, as a data URL."""
    from PIL import Image

    try:
        screen = Image.fromarray(episode.frame(len(episode.steps)))
    except ResultsError:  # it was not kept, or not written to its end
        return None
    height = max(1, round(screen.height * THUMBNAIL_WIDTH / screen.width))
    small = io.BytesIO()
    screen.resize((THUMBNAIL_WIDTH, height), Image.Resampling.LANCZOS, reducing_gap=2.0).save(
        small, "WEBP", quality=70, method=2
    )
    return "data:image/webp;base64," + base64.b64encode(small.getvalue()).decode("ascii")
