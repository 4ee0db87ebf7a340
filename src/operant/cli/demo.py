"""``operant demo``: starts a desktop, lets the shipped agent use a program on it, then trains a small agent.

The note in the editor is scripted; it goes through the same actions that the agent has.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from operant.cli.data_flags import DATA_DIR
from operant.cli.output_flags import FileOption

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

app = typer.Typer()

PICTURE_WIDTH = 800
HOLD_MS, LAST_MS = 250, 2500  # how long the pictures of the animation stay
T = TypeVar("T")
LEARNED = "core/files-open-folder-v1"
REQUEST, RESULT = "Open calculator and compute 15 + 27", "42"


@app.command()
def demo(
    out: Annotated[
        Path | None,
        FileOption(help="Where the moving picture goes.", show_default=f"{DATA_DIR}/demo/demo.gif"),
    ] = None,
    train: Annotated[
        bool, typer.Option(help="Also train a small agent: behaviour cloning, then PPO.")
    ] = True,
    minutes: Annotated[float, typer.Option(min=0.1, help="How long PPO trains.")] = 1.0,
    demonstrations: Annotated[
        int,
        typer.Option(
            min=0, help="Demonstrations of each task to clone before PPO; 0: PPO from random weights."
        ),
    ] = 40,
    tasks: Annotated[
        str, typer.Option(help="The tasks that it is trained on: ids, separated by commas.")
    ] = LEARNED,
) -> None:
    """Start a desktop, let the shipped agent use it, then train a small agent: cloning, PPO, success after each."""
    from rich.console import Console
    from rich.table import Table

    from operant.agents.registry import make_agent
    from operant.config.desktop import DesktopConfig
    from operant.config.places import place
    from operant.desktop.sandbox import SandboxDesktop

    console = Console()
    log = Log()
    with console.status("starting a desktop ..."):
        agent = log.timed("load the shipped agent", lambda: make_agent("hierarchical"))
        start = "start a sandboxed desktop (X server, window manager, bus, panel, icons)"
        desktop = log.timed(start, lambda: _shown(SandboxDesktop(DesktopConfig(profile="full"))))
        with desktop:
            film = DemoFilm(desktop)
            total = _by_itself(desktop, console, agent, log, film)
            _write_note(desktop, log, film, total)
            log.timed("read Mousepad's widgets from outside (accessibility)", desktop.accessibility)
            steps, resets = film.steps, [_ms(lambda: desktop.reset("bare")) for _ in range(5)]
    log.rows.append(("reset to a bare desktop (median of 5)", sorted(resets)[2]))
    to = out or place("demo") / "demo.gif"
    film.save(to)
    table = Table("what", "ms", title="One desktop, from start to reset")
    table.columns[1].justify = "right"
    for what, milliseconds in log.rows:
        table.add_row(what, f"{milliseconds:.1f}")
    console.print(table)
    console.print(f"{steps} actions, each until the screen had settled: median {film.median_ms:.1f} ms")
    console.print(f"{total} computed and noted; moving picture in {to}", soft_wrap=True)
    if train:
        _learn(console, to.parent / "learning", minutes, demonstrations, tasks.split(","))
    console.print("demo: done", soft_wrap=True)


def _learn(console: Any, directory: Path, minutes: float, demonstrations: int, tasks: list[str]) -> None:
    """Train a small agent on easy tasks and show what cloning and PPO each brought."""
    from rich.table import Table

    from operant.train.show import learn_and_show

    shown = learn_and_show(
        tasks,
        directory,
        minutes=minutes,
        demonstrations=demonstrations,
        on_progress=lambda line: console.print(line, soft_wrap=True),
    )
    table = Table(
        "agent", "success", "95 % interval", title=f"What each part of training brought: {', '.join(tasks)}"
    )
    parts = [("random weights", shown.before)]
    if shown.cloned is not None:
        parts.append((f"+ behaviour cloning of {demonstrations} demonstrations per task", shown.cloned))
    parts.append((f"+ PPO, {shown.steps} steps in {shown.seconds:.0f} s", shown.after))
    for name, summary in parts:
        overall = summary["overall"]
        table.add_row(name, f"{overall['success']:.0%}", f"{overall['low']:.0%} to {overall['high']:.0%}")
    console.print(table)
    console.print(
        f"each on {shown.after['overall']['n']} held-out instances; agent in {shown.checkpoint}, "
        f"moving picture in {shown.gif}",
        soft_wrap=True,
    )


def _shown(desktop: Desktop) -> Desktop:
    desktop.frame()  # waits until panel and icons are drawn
    return desktop


def _by_itself(desktop: Desktop, console: Any, agent: Any, log: Log, film: DemoFilm) -> str:
    """Let the shipped agent do what it is asked for; returns what the calculator shows then."""
    from operant.envs.task_environment import TaskEnvironment
    from operant.rollout.loop import run_episode
    from operant.tasks.criteria import Accessible
    from operant.tasks.task import Task
    from operant.types import Difficulty

    shown = Accessible(app="mate-calc", role="editbar", text=RESULT)
    task = Task(
        "demo/compute-v1",
        REQUEST,
        Difficulty.EASY,
        success=shown,
        profile="full",
        max_steps=15,
        apps=("mate-calc",),
    )
    environment = TaskEnvironment(desktop, with_tree=True)
    play = f'the agent, asked to "{REQUEST}"'
    result = log.timed(play, lambda: run_episode(agent, environment, task, film, prepared=True))
    solved = "solved" if result.success else "not solved"
    console.print(
        f'"{REQUEST}": {solved} by the shipped agent in {result.steps} steps: {result.why}', soft_wrap=True
    )
    return RESULT if result.success else "unknown"


def _write_note(desktop: Desktop, log: Log, film: DemoFilm, total: str) -> None:
    """Open an editor and type the result into a line with characters that no keyboard layout has."""
    from operant.types import Action

    log.timed("open the editor (Mousepad)", lambda: desktop.launch("mousepad"))
    film.take()
    for text in ("Dear all,\n\n", f"the total is {total}", " — “naïve” <quotes>, ß, Ελληνικά\n"):
        film.perform(Action.type(text))
    film.perform(Action.key("ctrl", "a"))
    film.perform(Action.key("end"))


class Log:
    """What was done and how long it took."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, float]] = []

    def timed(self, what: str, function: Callable[[], T]) -> T:
        began = time.perf_counter()
        result = function()
        self.rows.append((what, (time.perf_counter() - began) * 1000))
        return result


class DemoFilm:
    """The frames after each action, as they will be shown; also a recorder of what an agent does."""

    def __init__(self, desktop: Desktop) -> None:
        self._desktop = desktop
        self._pictures: list[Any] = []
        self._times: list[float] = []

    @property
    def steps(self) -> int:
        return len(self._times)

    @property
    def median_ms(self) -> float:
        return sorted(self._times)[len(self._times) // 2]

    def perform(self, action: Any) -> None:
        self._times.append(_ms(lambda: self._desktop.perform(action)))
        self.take()

    def begin(self, task: Any) -> None: ...

    def look(self, observation: Any) -> None:
        self.take()

    def step(self, step: Any, observation: Any) -> None:
        self._times.append(self._desktop.last_step.waited_ms)
        self.take()

    def end(self, result: Any) -> None: ...

    def abandon(self) -> None: ...

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
