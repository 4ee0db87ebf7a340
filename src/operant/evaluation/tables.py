"""Results as tables for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.markup import escape
from rich.table import Table

from operant.agents.usage import Usage, cost_text, count_text
from operant.evaluation.comparison import Comparison, ComparisonRow
from operant.evaluation.summary import seeds_in_words

__all__ = [
    "MoreColumns",
    "comparison_tables",
    "comparison_words",
    "ends_text",
    "summary_tables",
    "used_text",
    "worst_first",
]

MOST_FAILURES = 20
#: Columns of agents that count what they use.
USED = ("mean turns", "tokens in", "cached", "out", "cost")
#: Columns of runs in which functions could be called.
CALLED = ("mean calls", "mean gui actions")


@dataclass(frozen=True)
class MoreColumns:
    """The columns that only some runs have: tables stay as narrow as they can be."""

    called: bool = False
    used: bool = False

    @classmethod
    def of(cls, *summaries: Mapping[str, Any]) -> MoreColumns:
        """Those that any of the summaries fills."""
        return cls(
            any(one.get("actions", "gui") != "gui" or one.get("calls") for one in summaries),
            any(one["overall"].get("usage") is not None for one in summaries),
        )

    @property
    def heads(self) -> tuple[str, ...]:
        return (*(CALLED if self.called else ()), *(USED if self.used else ()))

    def cells(self, rates: Mapping[str, Any]) -> tuple[str, ...]:
        """The cells below ``heads``: calls and turns of an episode, tokens and cost of all of them."""
        called = (_mean(rates.get("mean_calls")), _mean(rates.get("mean_gui_actions")))
        return (*(called if self.called else ()), *(_used(rates) if self.used else ()))


def summary_tables(summary: Mapping[str, Any], *, tasks: bool = True) -> Iterator[Table]:
    """What failed, then rates by task, by application and by difficulty, the worst first; the overall rate is the last
    line."""
    more = MoreColumns.of(summary)
    if tasks and summary["failures"]:
        yield _failures(summary["failures"])
    for name, groups in (("task", "by_task"), ("application", "by_app")):
        if summary[groups] and (tasks or name != "task"):
            table = _table(None, name, more)
            for key, rates in worst_first(summary[groups]):
                table.add_row(escape(key), *_cells(rates, more))
            yield table
    title = f"{summary['agent']}, {_commit(summary['commit'])}, seeds {seeds_in_words(summary['seeds'])}"
    if summary["splits"]:
        title += f", {' and '.join(summary['splits'])}"
    first = _table(title, "difficulty", more)
    for name, rates in summary["by_difficulty"].items():
        if rates["n"]:
            first.add_row(name, *_cells(rates, more))
    if summary["by_novelty"]["unseen"]["n"] and summary["by_novelty"]["seen"]["n"]:
        first.add_section()
        for name, rates in summary["by_novelty"].items():
            first.add_row(f"templates {name}", *_cells(rates, more))
    first.add_section()
    first.add_row("[bold]overall[/]", *_cells(summary["overall"], more))
    left = {
        name: count for name, count in summary["outcomes"].items() if name in ("verifier_error", "missing")
    }
    notes = [f"{count} {name.replace('_', ' ')}" for name, count in left.items() if count]
    if notes:
        first.caption = f"{' and '.join(notes)}: counted in n, and not as success"
    said = [first.caption, ends_text(summary), used_text(summary["overall"]["usage"]) if more.used else ""]
    first.caption = "\n".join(str(line) for line in said if line)
    yield first


def ends_text(summary: Mapping[str, Any]) -> str:
    """What ended the episodes, the most frequent first: ``ended by: 5 done, 2 token limit, 1 refusal``."""
    ends = [f"{count} {name.replace('_', ' ')}" for name, count in (summary.get("ends") or {}).items()]
    return f"ended by: {', '.join(ends)}" if ends else ""


def worst_first(groups: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, Mapping[str, Any]]]:
    """Groups of a summary, those with the lowest success first."""
    return sorted(groups.items(), key=lambda item: (item[1]["success"], item[0]))


def _failures(failures: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(title=f"{len(failures)} without success", title_justify="left")
    table.add_column("task", overflow="fold")
    table.add_column("seed", justify="right")
    table.add_column("outcome")
    table.add_column("what was found", overflow="fold")
    for one in failures[:MOST_FAILURES]:
        seed = "" if one["seed"] is None else str(one["seed"])
        table.add_row(escape(one["task"]), seed, one["outcome"].replace("_", " "), escape(one["why"]))
    if len(failures) > MOST_FAILURES:
        table.caption = f"the first {MOST_FAILURES}; report.html shows all"
    return table


def used_text(used: Mapping[str, Any]) -> str:
    """Tokens and cost in a line; a price that is not known is said so."""
    return str(Usage.from_json(used))


def _used(rates: Mapping[str, Any]) -> tuple[str, ...]:
    turns = _mean(rates["mean_turns"])
    if rates["usage"] is None:
        return (turns, "", "", "", "")
    used = Usage.from_json(rates["usage"])
    tokens = (used.input_tokens, used.cached_tokens, used.output_tokens)
    return (turns, *map(count_text, tokens), cost_text(used.cost))


def _mean(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def comparison_tables(comparison: Comparison, first: str, second: str) -> Iterator[Table]:
    """What changed: episodes that got worse, those that got better, rates that differ; the overall rate is last."""
    if comparison.changed:
        yield _changed_episodes(comparison)
    called = any(one.get("calls") for row in comparison.rows for one in row.means)
    # With calls a row is wide: it goes without spaces beside the lines.
    table = Table(title=escape(f"{first} -> {second}"), title_justify="left", padding=0 if called else (0, 1))
    table.add_column("", overflow="fold")
    for column in (first, second, "change", "95 % interval"):
        table.add_column(column, justify="right", overflow="fold")
    means = ("steps", "calls", "gui_actions") if called else ("steps",)
    for name in means:
        table.add_column("mean\n" + name.replace("_", "\n"), justify="right", no_wrap=True)
    group = ""
    for row in reversed(comparison.rows):
        if row.group != "overall" and not (row.first[1] and row.second[1]):
            continue
        # With calls, what the same success took is of interest too.
        if (
            row.group != "overall"
            and row.first == row.second
            and (not called or row.means[0] == row.means[1])
        ):
            continue
        if group and row.group != group:
            table.add_section()
        group = row.group
        moved = ["->".join(_mean(one.get(name)) or "-" for one in row.means) for name in means]
        table.add_row(escape(row.name), _share(row.first), _share(row.second), *_change(row), *moved)
    yield table


def comparison_words(comparison: Comparison) -> str:
    """The pairs and the sign test in a sentence."""
    if not comparison.pairs:
        return "no episode is in both: play the same tasks and seeds to compare them pair by pair"
    said = (
        f"{comparison.pairs} episodes in both: {comparison.both} solved by both, "
        f"{comparison.only_first} only by the first, {comparison.only_second} only by the second, "
        f"{comparison.neither} by neither"
    )
    if not comparison.changed:
        return f"{said}; nothing changed"
    sure = "a clear difference" if comparison.sign_test < 0.05 else "chance alone may do that"
    return f"{said}; sign test p = {comparison.sign_test:.3g}: {sure}"


def _changed_episodes(comparison: Comparison) -> Table:
    worse, better = comparison.only_first, comparison.only_second
    table = Table(title=f"{worse} got worse, {better} got better", title_justify="left")
    table.add_column("")
    table.add_column("task", overflow="fold")
    table.add_column("seed", justify="right")
    table.add_column("what the failed one found", overflow="fold")
    for one in comparison.changed:
        mark = "[green]better[/]" if one.better else "[red]worse[/]"
        table.add_row(mark, escape(one.task), "" if one.seed is None else str(one.seed), escape(one.why))
    return table


def _table(title: str | None, first: str, more: MoreColumns) -> Table:
    # With both groups of columns a row is wide: it goes without spaces beside the lines.
    table = Table(title=title, title_justify="left", padding=0 if more.called and more.used else (0, 1))
    # Ids of tasks are long and may be folded; the others are short, and so are their headings.
    table.add_column(first, overflow="fold", no_wrap=first != "task")
    for column in ("n", "success", "95 % interval", "mean steps", "infra errors", *more.heads):
        # In several lines, so that a row fits into one.
        table.add_column(re.sub(r"(?<=[a-z]) ", "\n", column), justify="right")
    return table


def _cells(rates: Mapping[str, Any], more: MoreColumns) -> tuple[str, ...]:
    infra = rates["infra_errors"]
    return (
        str(rates["n"]),
        _percent(rates["success"]),
        "" if rates["low"] is None else f"{_percent(rates['low'])} - {_percent(rates['high'])}",
        _mean(rates["mean_steps"]),
        f"[yellow]{infra}[/]" if infra else "0",
        *more.cells(rates),
    )


def _percent(rate: float | None) -> str:
    return "" if rate is None else f"{100 * rate:.1f} %"


def _share(count: tuple[int, int]) -> str:
    return f"{_percent(count[0] / count[1])} of {count[1]}" if count[1] else "-"


def _change(row: ComparisonRow) -> tuple[str, str]:
    if not (row.first[1] and row.second[1]):
        return "", ""
    text = f"{100 * row.change:+.1f}"
    if row.is_clear:
        text = f"[{'green' if row.change > 0 else 'red'}]{text}[/]"
    return text, f"{100 * row.low:+.1f} to {100 * row.high:+.1f}"


def _commit(commit: str | Sequence[str] | None) -> str:
    if commit is None:
        return "no commit known"
    return f"commit {commit}" if isinstance(commit, str) else f"commits {', '.join(commit)}"
