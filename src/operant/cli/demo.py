"""``operant demo``: a desktop from nothing, two applications operated in it, and a moving picture of it.

Everything that it does goes through the actions that an agent has.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

if TYPE_CHECKING:
    from operant.desktop.sandbox import SandboxDesktop

app = typer.Typer()

PICTURE_WIDTH = 800
HOLD_MS, LAST_MS = 250, 2500  # how long the pictures of the animation stay
T = TypeVar("T")
LEARNED = "core/files-open-folder-v1"


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where the moving picture goes.")] = Path("out/demo.gif"),
    train: Annotated[bool, typer.Option(help="Also let an agent learn easy tasks.")] = True,
    minutes: Annotated[float, typer.Option(min=0.1, help="How long it learns by PPO.")] = 2.0,
    demonstrations: Annotated[
        int, typer.Option(min=0, help="Instances that the oracle shows first; 0: PPO from nothing.")
    ] = 40,
    tasks: Annotated[str, typer.Option(help="What it learns: ids, separated by commas.")] = LEARNED,
) -> None:
    """Start a desktop, operate applications in it, then let an agent learn: success before and after, pictures."""
    from rich.console import Console
    from rich.table import Table

    from operant.desktop.sandbox import SandboxDesktop

    console = Console()
    log = Log()
    with console.status("a desktop, from nothing ..."):
        desktop = log.timed("start a sandboxed desktop (X server, window manager, bus)", SandboxDesktop)
        with desktop:
            film = Film(desktop)
            total = _compute(desktop, log, film)
            _write_note(desktop, log, film, total)
            log.timed("read Mousepad's widgets from outside (accessibility)", desktop.accessibility)
            steps, resets = film.steps, [_ms(desktop.reset) for _ in range(5)]
    log.rows.append(("reset to the initial state (median of 5)", sorted(resets)[2]))
    film.save(out)
    table = Table("what", "ms", title="One desktop, from nothing to done")
    table.columns[1].justify = "right"
    for what, milliseconds in log.rows:
        table.add_row(what, f"{milliseconds:.1f}")
    console.print(table)
    console.print(f"{steps} actions, each until the screen had settled: median {film.median_ms:.1f} ms")
    console.print(f"{total} computed and noted; moving picture in {out}", soft_wrap=True)
    if train:
        _learn(console, out.parent / "learning", minutes, demonstrations, tasks.split(","))
    console.print("demo: done", soft_wrap=True)


def _learn(console: Any, directory: Path, minutes: float, demonstrations: int, tasks: list[str]) -> None:
    """An agent that knows nothing, on easy tasks."""
    from operant.train.show import learn_and_show

    shown = learn_and_show(
        tasks,
        directory,
        minutes=minutes,
        demonstrations=demonstrations,
        tell=lambda line: console.print(line, soft_wrap=True),
    )
    before, after = shown.before["overall"], shown.after["overall"]
    console.print(
        f"learned {', '.join(tasks)}: {before['success']:.0%} -> {after['success']:.0%} of "
        f"{after['n']} held-out instances after {shown.steps} steps in {shown.seconds:.0f} s; "
        f"agent in {shown.checkpoint}, moving picture in {shown.gif}",
        soft_wrap=True,
    )


def _compute(desktop: SandboxDesktop, log: Log, film: Film) -> str:
    """Add two numbers with the calculator's buttons and copy the result."""
    from operant.types import Action, Point

    log.timed("open the calculator (galculator)", lambda: desktop.launch("galculator"))
    film.take()
    tree = desktop.accessibility()
    for label in ("4", "8", "6", "+", "1", "5", "="):
        button = tree.find(name=label)
        if button is None or button.box is None:
            raise typer.Exit(1)
        x, y, width, height = button.box
        film.step(Action.click(Point.from_pixel(x + width // 2, y + height // 2, desktop.size)))
    film.step(Action.key("ctrl", "c"))
    copied = desktop.clipboard.get()
    return (copied or "").strip()


def _write_note(desktop: SandboxDesktop, log: Log, film: Film, total: str) -> None:
    """Open an editor, type a line with characters that no keyboard layout has, and paste the result."""
    from operant.types import Action

    log.timed("open the editor (Mousepad)", lambda: desktop.launch("mousepad"))
    film.take()
    for text in (
        "Dear all,\n\n",
        "the total is ",
    ):
        film.step(Action.type(text))
    film.step(Action.key("ctrl", "v"))
    film.step(Action.type(" — “naïve” <quotes>, ß, Ελληνικά\n"))
    film.step(Action.key("ctrl", "a"))
    film.step(Action.key("end"))


class Log:
    """What was done and how long it took."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, float]] = []

    def timed(self, what: str, function: Callable[[], T]) -> T:
        began = time.perf_counter()
        result = function()
        self.rows.append((what, (time.perf_counter() - began) * 1000))
        return result


class Film:
    """The frames after each action, as they will be shown."""

    def __init__(self, desktop: SandboxDesktop) -> None:
        self._desktop = desktop
        self._pictures: list[Any] = []
        self._times: list[float] = []

    @property
    def steps(self) -> int:
        return len(self._times)

    @property
    def median_ms(self) -> float:
        return sorted(self._times)[len(self._times) // 2]

    def step(self, action: Any) -> None:
        self._times.append(_ms(lambda: self._desktop.perform(action)))
        self.take()

    def take(self) -> None:
        from PIL import Image

        frame = Image.fromarray(self._desktop.frame().copy(order="C"))
        height = round(frame.height * PICTURE_WIDTH / frame.width)
        self._pictures.append(frame.resize((PICTURE_WIDTH, height), Image.Resampling.LANCZOS))

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        held = [HOLD_MS] * (len(self._pictures) - 1) + [LAST_MS]
        first, *rest = self._pictures
        first.save(path, save_all=True, append_images=rest, duration=held, loop=0, optimize=True)


def _ms(function: Callable[[], object]) -> float:
    began = time.perf_counter()
    function()
    return (time.perf_counter() - began) * 1000
