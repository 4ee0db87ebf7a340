"""Results as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table

from operant.evaluation.comparison import Comparison, ComparisonRow

__all__ = ["comparison_tables", "summary_tables", "used_text"]


def summary_tables(summary: Mapping[str, Any], *, tasks: bool = True) -> Iterator[Table]:
    """By difficulty, by application and by task: n, success, interval, mean steps, infra errors apart."""
    title = f"{summary['agent']}, {_commit(summary['commit'])}, seeds {_seeds(summary['seeds'])}"
    if summary["splits"]:
        title += f", {' and '.join(summary['splits'])}"
    first = _table(title, "difficulty")
    for name, rates in summary["by_difficulty"].items():
        if rates["n"]:
            first.add_row(name, *_cells(rates))
    if summary["by_novelty"]["unseen"]["n"] and summary["by_novelty"]["seen"]["n"]:
        first.add_section()
        for name, rates in summary["by_novelty"].items():
            first.add_row(f"templates {name}", *_cells(rates))
    first.add_section()
    first.add_row("[bold]overall[/]", *_cells(summary["overall"]))
    left = {
        name: count for name, count in summary["outcomes"].items() if name in ("verifier_error", "missing")
    }
    notes = [f"{count} {name.replace('_', ' ')}" for name, count in left.items() if count]
    if notes:
        first.caption = f"{' and '.join(notes)}: counted in n, and not as success"
    if (used := summary["overall"].get("usage")) is not None:
        said = used_text(used)
        first.caption = f"{first.caption}; {said}" if first.caption else said
    yield first
    for name, groups in (("application", "by_app"), ("task", "by_task")):
        if summary[groups] and (tasks or name != "task"):
            table = _table(None, name)
            for key, rates in summary[groups].items():
                table.add_row(key, *_cells(rates))
            yield table


def used_text(used: Mapping[str, Any]) -> str:
    """Tokens and cost in a line; a price that is not known is said so."""
    cost = "unknown" if used["cost"] is None else f"${used['cost']:.4f}"
    return (
        f"{used['input_tokens']} tokens in ({used['cached_tokens']} cached), {used['output_tokens']} out, "
        f"{used['requests']} requests, cost {cost}"
    )


def comparison_tables(comparison: Comparison, first: str, second: str) -> Iterator[Table]:
    """Both rates, what changed and how sure that is."""
    table = Table(title=f"{first} -> {second}", title_justify="left")
    table.add_column("")
    for column in (first, second, "change", "95 % interval"):
        table.add_column(column, justify="right")
    group = "overall"
    for row in comparison.rows:
        if row.first[1] + row.second[1] == 0:
            continue
        if row.group != group:
            table.add_section()
            group = row.group
        table.add_row(row.name, _share(row.first), _share(row.second), *_change(row))
    both, first_only, second_only = comparison.both, comparison.only_first, comparison.only_second
    table.caption = (
        f"of {both + first_only + second_only + comparison.neither} episodes in both: {both} solved by both, "
        f"{first_only} only by the first, {second_only} only by the second, {comparison.neither} by neither"
    )
    yield table


def _table(title: str | None, first: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column(first)
    for column in ("n", "success", "95 % interval", "mean steps", "infra errors"):
        table.add_column(column, justify="right")
    return table


def _cells(rates: Mapping[str, Any]) -> tuple[str, ...]:
    infra = rates["infra_errors"]
    return (
        str(rates["n"]),
        _percent(rates["success"]),
        "" if rates["low"] is None else f"{_percent(rates['low'])} - {_percent(rates['high'])}",
        "" if rates["mean_steps"] is None else f"{rates['mean_steps']:.1f}",
        f"[yellow]{infra}[/]" if infra else "0",
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


def _seeds(seeds: Sequence[int]) -> str:
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[-1] + 1)):
        return f"{seeds[0]}-{seeds[-1]}"
    return ", ".join(map(str, seeds)) or "none"
