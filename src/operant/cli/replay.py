"""``operant replay``: step through an episode in the terminal, or make a moving picture of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from operant.cli.output_flags import FileOption

if TYPE_CHECKING:
    from operant.rollout.episode import Episode

app = typer.Typer()


@app.command()
def replay(
    episode: Annotated[Path, typer.Argument(help="The directory of an episode.")],
    gif: Annotated[Path | None, FileOption(help="Make an animated GIF instead.")] = None,
    mp4: Annotated[Path | None, FileOption(help="Make an mp4 instead.")] = None,
    width: Annotated[int, typer.Option(min=64, max=4096, help="Width of the GIF in pixels.")] = 800,
    pictures: Annotated[
        bool | None, typer.Option(help="Show the screens, coarsely, between the lines.")
    ] = None,
    pause: Annotated[bool | None, typer.Option(help="Wait for Enter after each step.")] = None,
) -> None:
    """Step through an episode: what was done, what came of it, and why it ended as it did."""
    from operant.rollout.store import read_episode

    found = read_episode(episode.parent if episode.is_file() else episode)
    if gif is not None or mp4 is not None:
        from operant.pictures.film import write_gif, write_mp4

        if gif is not None:
            write_gif(found, gif, width=width)
            typer.echo(str(gif))
        if mp4 is not None:
            mp4.parent.mkdir(parents=True, exist_ok=True)
            write_mp4(found, mp4)
            typer.echo(str(mp4))
        return
    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    _step_through(found, terminal if pictures is None else pictures, terminal if pause is None else pause)


def _step_through(episode: Episode, pictures: bool, pause: bool) -> None:
    from rich.console import Console
    from rich.text import Text

    from operant.actions.describe import describe
    from operant.types import Size

    console = Console(soft_wrap=True, highlight=False)
    header = episode.header
    screen = Size(*header["screen"]) if "screen" in header else None
    facts = [episode.agent, episode.difficulty.value.lower(), *episode.apps]
    if episode.seed is not None:
        facts.append(f"{episode.split or ''} seed {episode.seed}".strip())
    console.print(Text(episode.task, style="bold"), Text(f"({', '.join(facts)})", style="dim"))
    console.print(Text(episode.instruction))
    if pictures:
        _show(console, episode, 0)
    turn = 0
    for step in episode.steps:
        if pause and console.input("[dim]Enter for the next step, q to leave[/] ").strip().lower().startswith(
            "q"
        ):
            return
        if step.turn != turn:
            turn = step.turn
            console.print(Text(f"turn {turn}" + (f", {step.who}" if step.who else ""), style="dim"))
        line = Text(f"{step.number:3}. ", style="dim").append(
            describe(step.action, screen), style="not dim bold"
        )
        line.append(f"  {step.agent_ms:.0f} ms to decide, {step.desktop_ms:.0f} ms to do", style="dim")
        console.print(line)
        if step.invalid:
            console.print(Text(f"     invalid: {step.invalid}", style="yellow"))
        if step.response:
            console.print(Text(f"     said: {step.response}", style="dim"))
        if answer := step.info.get("result"):
            console.print(Text(f"     answered: {answer}"[:400], style="dim"))
        if step.usage is not None:
            console.print(Text(f"     used: {step.usage}", style="dim"))
        if skipped := step.info.get("skipped"):
            console.print(
                Text(f"     {skipped} further actions of the turn were not performed", style="yellow")
            )
        if pictures:
            _show(console, episode, step.number)
    if episode.outcome is None:
        console.print(Text(f"cut short after {len(episode.steps)} steps", style="yellow"))
        return
    style = "bold green" if episode.outcome.value == "success" else "bold red"
    console.print(Text(episode.outcome.value.replace("_", " "), style=style), Text(episode.why))
    if episode.called:
        console.print(Text(episode.called, style="dim"))
    if episode.usage is not None:
        ended = f", ended by: {end.replace('_', ' ')}" if (end := episode.header.get("end")) else ""
        console.print(Text(f"{episode.turns} turns, {episode.usage}{ended}", style="dim"))


def _show(console: object, episode: Episode, number: int) -> None:
    """The screen in half blocks, two pixels a character."""
    import numpy as np
    from PIL import Image
    from rich.color import Color
    from rich.console import Console
    from rich.style import Style
    from rich.text import Text

    from operant.errors import ResultsError

    assert isinstance(console, Console)
    try:
        image = Image.fromarray(episode.frame(number))
    except ResultsError as error:
        console.print(Text(error.message, style="yellow"))
        return
    columns = min(console.width, 120)
    rows = max(2, round(columns * image.height / image.width)) // 2 * 2
    pixels = np.asarray(image.resize((columns, rows), Image.Resampling.BOX)).tolist()
    for uppers, lowers in zip(pixels[::2], pixels[1::2], strict=True):
        line = Text()
        for upper, lower in zip(uppers, lowers, strict=True):
            line.append("▀", Style(color=Color.from_rgb(*upper), bgcolor=Color.from_rgb(*lower)))
        console.print(line)
