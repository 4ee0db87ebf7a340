"""``operant bench``: measure, show side by side, and keep the numbers with their command and commit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from operant.cli.bench_clients import chat, mcp
from operant.cli.bench_learning import ablations, ppo, vlm_learning
from operant.cli.bench_output import Json, Out, deliver, plain_table, progress_on_stderr
from operant.cli.desktop_flags import Actions, Screen
from operant.cli.output_flags import FileOption
from operant.cli.task_flags import Suite, TaskIds, task_ids

app = typer.Typer(
    no_args_is_help=True, help="Measure how fast desktops and environments are on this machine."
)
for elsewhere in (ppo, vlm_learning, ablations, mcp, chat):
    app.command()(elsewhere)


@app.command()
def desktop(
    as_json: Json = False,
    out: Out = None,
    scale: Annotated[float, typer.Option(min=0.01, help="Repetitions, as a multiple of the usual.")] = 1.0,
    baseline_python: Annotated[
        str | None, typer.Option(help="An interpreter with pyautogui and mss, for the comparison.")
    ] = None,
) -> None:
    """Start, reset, step, frame, click, memory; and PyAutoGUI with mss on the same display."""
    from operant.bench.desktop import measure_desktop
    from operant.bench.record import provenance

    with progress_on_stderr() as progress:
        result = {**provenance(), **measure_desktop(progress, scale=scale, baseline_python=baseline_python)}
    deliver(result, as_json, out, _desktop_table)


@app.command()
def osworld(
    suite: Annotated[
        str, typer.Option(help="Tasks to play: osworld:PATH, with its options.")
    ] = "osworld:examples/osworld?cache=examples/osworld/cache",
    times: Annotated[int, typer.Option(min=1, help="Set-ups of each office task.")] = 3,
    workers: Annotated[int, typer.Option(min=1, help="Desktops at once.")] = 2,
    as_json: Json = False,
    out: Out = None,
) -> None:
    """Set-up of OSWorld's office tasks, and a do-nothing audit of all that can run here."""
    from operant.bench.osworld import measure_osworld
    from operant.bench.record import provenance
    from operant.tasks.osworld.template import load_osworld

    templates = load_osworld(suite.removeprefix("osworld:"))
    with progress_on_stderr() as progress:
        result = {**provenance(), **measure_osworld(templates, times=times, workers=workers, say=progress)}
    deliver(result, as_json, out, plain_table)


@app.command()
def density(
    as_json: Json = False,
    out: Out = None,
    count: Annotated[int, typer.Option(min=1, help="How many desktops to have up at once.")] = 64,
    steps: Annotated[int, typer.Option(min=1, help="How often each of them is stepped.")] = 5,
    application: Annotated[str, typer.Option(help="What to open on each; empty: nothing.")] = "mousepad",
) -> None:
    """Start many desktops, step them all in turn, end them all, and count what is left."""
    from operant.bench.density import measure_density
    from operant.bench.record import provenance

    with progress_on_stderr() as progress:
        result = {
            **provenance(),
            **measure_density(progress, count=count, steps=steps, application=application),
        }
    deliver(result, as_json, out, plain_table)


@app.command()
def typing(
    as_json: Json = False,
    out: Out = None,
    count: Annotated[int, typer.Option(min=1, help="How many texts to type into each application.")] = 100,
    application: Annotated[
        list[str] | None, typer.Option("--application", help="Only this one; may be given again.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Which texts.")] = 0,
) -> None:
    """Type random sums, file names, paths and paragraphs into applications, and read back what arrived."""
    from operant.bench.record import provenance
    from operant.bench.typing import measure_typing

    with progress_on_stderr() as progress:
        result = {**provenance(), **measure_typing(progress, count, application or (), seed)}
    deliver(result, as_json, out, _typing_table)


@app.command()
def settle(
    as_json: Json = False,
    out: Out = None,
    count: Annotated[int, typer.Option(min=1, help="How many actions in each application and mode.")] = 30,
    application: Annotated[
        list[str] | None, typer.Option("--application", help="Only this one; may be given again.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Which widgets are clicked.")] = 0,
) -> None:
    """Whether settled frames stay as they are: act in applications, then watch the screen for a second."""
    from operant.bench.record import provenance
    from operant.bench.settle import measure_settling

    with progress_on_stderr() as progress:
        result = {**provenance(), **measure_settling(progress, count, application or (), seed)}
    deliver(result, as_json, out, _settle_table)


@app.command()
def calls(
    as_json: Json = False,
    out: Out = None,
    count: Annotated[int, typer.Option(min=1, help="How many calls to time.")] = 200,
    hostile: Annotated[int, typer.Option(min=0, help="How many hostile calls to try.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Which hostile calls.")] = 0,
) -> None:
    """What a call of a function costs beyond the function, and whether hostile calls do anything."""
    from operant.bench.calls import GOALS, measure_calls
    from operant.bench.record import provenance

    with progress_on_stderr() as progress:
        result = {**provenance(), **measure_calls(progress, count, hostile, seed)}
    deliver(result, as_json, out, lambda result: _goal_table("Calls", result, GOALS))


@app.command("api-gui")
def api_gui(
    as_json: Json = False,
    out: Out = None,
    suite: Suite = "core,office",
    seeds: Annotated[int, typer.Option(min=1, help="Instances of every template.")] = 1,
    workers: Annotated[int, typer.Option(min=1, help="Desktops at once.")] = 2,
    only: Annotated[str, typer.Option(help="Only tasks whose id contains this.")] = "",
) -> None:
    """Steps and time of oracles with pointer and keyboard, with calls, and with both."""
    from operant.bench.api_gui import GOALS, measure_api_gui
    from operant.bench.record import provenance

    with progress_on_stderr() as progress:
        result = {**provenance(), **measure_api_gui(progress, suite, seeds, workers, only)}
    deliver(result, as_json, out, lambda result: _goal_table("API-GUI", result, GOALS))


@app.command()
def env(
    as_json: Json = False,
    out: Out = None,
    num_envs: Annotated[int, typer.Option(min=1, help="How many desktops to step at once.")] = 8,
    spares: Annotated[int | None, typer.Option(min=1, help="How many more to prepare episodes on.")] = None,
    seconds: Annotated[float, typer.Option(min=0.5, help="How long to measure each way of stepping.")] = 30.0,
    sb3: Annotated[bool, typer.Option(help="Also measure stable-baselines3's SubprocVecEnv.")] = True,
    oracles: Annotated[bool, typer.Option(help="Also time the oracles of the suite.")] = True,
    suite: Suite = "core",
) -> None:
    """Environments, everything included: a random agent on a suite's easy tasks, seen at 160x100."""
    from operant.bench.env import GOALS, measure_env
    from operant.bench.record import provenance

    with progress_on_stderr() as progress:
        measured = measure_env(
            progress,
            num_envs=num_envs,
            spares=spares,
            seconds=seconds,
            sb3=sb3,
            oracles=oracles,
            suite=suite,
        )
        result = {**provenance(), **measured}
    deliver(result, as_json, out, lambda result: _goal_table("Environments", result, GOALS))


@app.command()
def agent(
    as_json: Json = False,
    out: Out = None,
    num_envs: Annotated[int, typer.Option(min=1, help="Desktops to train on.")] = 8,
    rollout_steps: Annotated[int, typer.Option(min=16, help="Steps between updates.")] = 256,
    updates: Annotated[int, typer.Option(min=1, help="Updates that are measured.")] = 3,
    train: Annotated[bool, typer.Option(help="Also train, and let stable-baselines3 train.")] = True,
) -> None:
    """How fast the hierarchical agent predicts and learns, beside EfficientNet and stable-baselines3."""
    from operant.bench.agent import GOALS, measure_agent
    from operant.bench.record import provenance

    with progress_on_stderr() as progress:
        measured = measure_agent(
            progress, num_envs=num_envs, rollout=rollout_steps, updates=updates, train=train
        )
        result = {**provenance(), **measured}
    deliver(result, as_json, out, lambda result: _goal_table("The hierarchical agent", result, GOALS))


@app.command()
def service(
    as_json: Json = False,
    out: Out = None,
    seconds: Annotated[float, typer.Option(min=0.5, help="How long to measure each kind of load.")] = 10.0,
    agent: Annotated[str, typer.Option(help="Who answers.")] = "hierarchical",
) -> None:
    """The service under load: predictions alone and together, a live stream, idle desktops."""
    from operant.bench.record import provenance
    from operant.bench.service import GOALS, measure_service

    with progress_on_stderr() as progress:
        result = {**provenance(), **measure_service(progress, seconds=seconds, agent=agent)}
    deliver(result, as_json, out, lambda result: _goal_table("Service", result, GOALS))


@app.command()
def soak(
    as_json: Json = False,
    out: Out = None,
    seconds: Annotated[float, typer.Option(min=1.0, help="How long.")] = 600.0,
) -> None:
    """The service while its desktops are killed at random: what is lost, and what is left behind."""
    from operant.bench.record import provenance
    from operant.bench.soak import GOALS
    from operant.bench.soak import soak as measure

    with progress_on_stderr() as progress:
        result = {**provenance(), **measure(progress, seconds=seconds)}
    deliver(result, as_json, out, lambda result: _goal_table("Soak", result, GOALS))


@app.command()
def phrasings(
    as_json: Json = False,
    out: Out = None,
    agent: Annotated[str, typer.Option(help="Who is asked: a name, or a checkpoint.")] = "hierarchical",
    repeats: Annotated[int, typer.Option(min=1, help="How often each phrasing is sent.")] = 5,
    desktops: Annotated[int, typer.Option(min=1, help="Requests, and desktops, at once.")] = 1,
    deterministic: Annotated[
        bool, typer.Option("--deterministic", help="The likeliest actions instead of drawn ones.")
    ] = False,
) -> None:
    """Opening the calculator and computing with it, in twenty phrasings, through the API of a fresh service."""
    from operant.bench.phrasings import GOALS, measure_phrasings
    from operant.bench.record import provenance

    with progress_on_stderr() as progress:
        measured = measure_phrasings(
            progress, agent=agent, repeats=repeats, desktops=desktops, deterministic=deterministic
        )
        result = {**provenance(), **measured}
    deliver(result, as_json, out, lambda result: _phrasing_table(result, GOALS))


@app.command()
def team(
    as_json: Json = False,
    out: Out = None,
    only: Annotated[
        str | None, typer.Option(help="faults or desktops; both if left out.", show_default="both")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Instances of each task.")] = 1,
    prefix: Annotated[str, typer.Option(help="HARD tasks of core whose ids begin with it.")] = "core/chores-",
    latency: Annotated[float, typer.Option(min=0, help="Seconds that a model takes for a turn.")] = 2.0,
    repeat: Annotated[int, typer.Option(min=1, help="How often wall times are measured.")] = 1,
) -> None:
    """A team against a single agent when a member fails, hangs or lies; four parts on four desktops against one."""
    from operant.bench import team as faults
    from operant.bench import team_desktops as desktops
    from operant.bench.record import provenance
    from operant.errors import ConfigError

    if only not in (None, "faults", "desktops"):
        raise ConfigError(f"there is no measurement {only!r}", hint="faults or desktops")
    result: dict[str, Any] = dict(provenance())
    goals: dict[str, tuple[float, bool]] = {}
    with progress_on_stderr() as progress:
        if only != "desktops":
            result |= faults.measure_team(progress, prefix=prefix, seeds=seeds)
            goals |= faults.GOALS
        if only != "faults":
            result |= {"desktops": desktops.measure_desktops(progress, latency_s=latency, repeat=repeat)}
            result["speedup_on_four_desktops"] = result["desktops"]["speedup_on_four_desktops"]
            goals |= desktops.GOALS
    deliver(result, as_json, out, lambda result: _goal_table("Teams", result, goals))


@app.command()
def agents(
    as_json: Json = False,
    out: Out = None,
    templates: Annotated[int, typer.Option(min=1, help="Templates of each difficulty.")] = 10,
    suite: Suite = "core,launch",
    task: TaskIds = None,
    dialect: Annotated[list[str] | None, typer.Option(help="Only this one; may be given again.")] = None,
    screen: Screen = None,
    actions: Actions = None,
    num_workers: Annotated[int, typer.Option(min=1, help="Episodes at once.")] = 8,
    faults: Annotated[bool, typer.Option(help="Let the servers fail now and then, as vendors do.")] = True,
    seed: Annotated[int, typer.Option(help="Which instance of each template.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Keep the dialects that --out holds.")] = False,
) -> None:
    """Hosted agents in every dialect: the oracle behind strict servers that speak the vendors' protocols.

    --out is written after each dialect; the same command with --resume goes on.
    """
    from operant.bench.agents import measure_agents
    from operant.config.desktop import DesktopConfig

    with progress_on_stderr() as progress:
        result = measure_agents(
            progress,
            per_difficulty=templates,
            suite=suite,
            desktop=DesktopConfig.build(
                **({"size": screen} if screen else {}), **({"actions": actions} if actions else {})
            ),
            task_ids=task_ids(task) or (),
            dialects=dialect or (),
            workers=num_workers,
            faults=faults,
            seed=seed,
            out=out,
            resume=resume,
        )
    deliver(result, as_json, out, _dialects_table)


OnCluster = Annotated[str, typer.Option(help="Ray: local, auto, or ray://HOST:PORT.")]
Recorded = Annotated[
    Path | None,
    typer.Option(
        "--latencies",
        help="What real desktops took, of `operant bench latencies`.",
        show_default="those that come with Operant",
    ),
]


@app.command()
def vlm(
    as_json: Json = False,
    out: Out = None,
    latencies: Recorded = None,
    updates: Annotated[int, typer.Option(min=4, help="Updates of each run.")] = 8,
    epochs: Annotated[int, typer.Option(min=1, help="Passes of an update: how long learning takes.")] = 2,
    rounds: Annotated[int, typer.Option(min=1, help="How often each way is measured, in turns.")] = 2,
    cluster: OnCluster = "local",
) -> None:
    """Asynchronous against synchronous training of a tiny model on Ray, and batched inference."""
    from operant.bench.record import provenance
    from operant.bench.recorded_latencies import Latencies, shipped_latencies
    from operant.bench.vlm import GOALS, measure_vlm

    recorded = Latencies.load(latencies or shipped_latencies())
    with progress_on_stderr() as progress:
        result = {
            **provenance(),
            **measure_vlm(progress, recorded, updates=updates, epochs=epochs, rounds=rounds, address=cluster),
        }
    deliver(result, as_json, out, lambda result: _goal_table("Vision-language training", result, GOALS))


@app.command()
def scaling(
    as_json: Json = False,
    out: Out = None,
    latencies: Recorded = None,
    sizes: Annotated[str | None, typer.Option(help="Numbers of desktops, as 1,10,100.")] = None,
    seconds: Annotated[float, typer.Option(min=2.0, help="How long each is measured.")] = 20.0,
    figure: Annotated[Path | None, typer.Option(help="Also draw it, into this file.")] = None,
    cluster: OnCluster = "local",
) -> None:
    """A simulated cluster on Ray on this machine, of one desktop to a thousand."""
    from operant.bench.record import provenance
    from operant.bench.recorded_latencies import Latencies, shipped_latencies
    from operant.bench.scaling import SIZES, draw_scaling, measure_scaling

    recorded = Latencies.load(latencies or shipped_latencies())
    chosen = SIZES if sizes is None else [int(size) for size in sizes.split(",")]
    with progress_on_stderr() as progress:
        result = {**provenance(), **measure_scaling(progress, recorded, chosen, seconds, cluster)}
    if figure is not None:
        draw_scaling(result, figure)
    deliver(result, as_json, out, _scaling_table)


@app.command()
def experience(
    as_json: Json = False,
    out: Out = None,
    demos: Annotated[
        list[Path] | None,
        typer.Option(
            help="Measure these demonstrations; may be given again. Otherwise the oracle plays some."
        ),
    ] = None,
    episodes: Annotated[int, typer.Option(min=1, help="How many templates the oracle plays.")] = 30,
    workers: Annotated[int, typer.Option(min=1, help="Desktops at once.")] = 2,
) -> None:
    """Bytes of a step on disk, and how fast episodes become lessons, without and with the cache."""
    import tempfile

    from operant.bench.experience import collect_episodes, measure_experience
    from operant.bench.record import provenance

    about = provenance()
    with progress_on_stderr() as progress, tempfile.TemporaryDirectory(prefix="operant-bench-") as place:
        if not demos:
            collect_episodes(progress, Path(place), templates=episodes, workers=workers)
        result = {**about, **measure_experience(progress, demos or [Path(place)])}
    goals = {"bytes_per_step": (60_000.0, True), "warm_load_s": (float(result["npz_load_s"]), True)}
    deliver(result, as_json, out, lambda found: _goal_table("Experience", found, goals))


@app.command()
def latencies(
    episodes: Annotated[int, typer.Option(min=1, help="How many.")] = 64,
    out: Annotated[Path, FileOption("--out", help="The file to write.")] = Path("benchmarks/latencies.json"),
) -> None:
    """Record how long real desktops take, for simulations of many: oracles play easy tasks."""
    from operant.bench.latencies import record_latencies
    from operant.bench.record import provenance

    about = {**provenance(), "suite": "core", "difficulty": "EASY", "seed": 0}
    with progress_on_stderr() as progress:
        found = record_latencies(progress, episodes)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(found.plain(about)) + "\n")
    typer.echo(
        f"{len(found.episodes)} episodes, {found.mean_s:.2f} s and {found.mean_steps:.1f} steps each: {out}"
    )


def _desktop_table(result: dict[str, Any]) -> Any:
    from rich.table import Table

    from operant.bench.desktop import GOALS

    usual = result.get("pyautogui", {})
    others = {
        "frame_p50_ms": ("mss", usual.get("frame_ms")),
        "click_p50_ms": ("PyAutoGUI", usual.get("click_ms")),
        "step_p50_ms": ("PyAutoGUI + mss, unsettled", usual.get("click_frame_ms")),
    }
    table = Table(title=f"Desktops on this machine, {result['date']}, commit {result['commit']}")
    for column in ("measure", "here", "goal", "", "compared with", "ratio"):
        table.add_column(column, justify="left" if column in ("measure", "compared with") else "right")
    for key, value in result.items():
        if not isinstance(value, float):
            continue
        goal, smaller = GOALS.get(key, (None, True))
        met = "" if goal is None else ("met" if (value <= goal) == smaller else "missed")
        sign = "<=" if smaller else ">="
        other, theirs = others.get(key, ("", None))
        table.add_row(
            key,
            f"{value:.3g}",
            "" if goal is None else f"{sign} {goal:g}",
            f"[green]{met}[/]" if met == "met" else f"[red]{met}[/]",
            f"{other}: {theirs:.3g}" if theirs else "",
            f"{theirs / value:.1f}x" if theirs else "",
        )
    if "note" in usual:
        table.caption = usual["note"]
    return table


def _dialects_table(result: dict[str, Any]) -> Any:
    from rich.table import Table

    table = Table(
        *(
            "dialect",
            "success",
            "steps (oracle's)",
            "turns",
            "own time ms p50",
            "KB a turn",
            "episodes a minute",
        ),
        "said otherwise",
        title=f"Hosted agents, {len(result['tasks'])} tasks, {result['date']}, commit {result['commit']}",
    )
    for name, one in result["dialects"].items():
        table.add_row(
            name,
            f"{one['success']:.1%}",
            f"{one['steps']} ({one['oracle_steps']})",
            str(one["turns"]),
            f"{one['client_overhead_ms']['p50']:.1f}",
            f"{one['bytes_per_turn'] / 1000:.0f}",
            f"{one['episodes_per_minute']:.1f}",
            "; ".join(one["differences"]),
        )
    return table


def _goal_table(title: str, result: dict[str, Any], goals: dict[str, tuple[float, bool]]) -> Any:
    """Every number, and how it stands to its goal."""
    from rich.table import Table

    table = Table(
        "measure", "here", "goal", "", title=f"{title}, {result['date']}, commit {result['commit']}"
    )
    for key, value in result.items():
        if not isinstance(value, (int, float)):
            continue
        bound, smaller = goals.get(key, (None, True))
        met = "" if bound is None else ("[green]met[/]" if (value <= bound) == smaller else "[red]missed[/]")
        goal = "" if bound is None else f"{'<=' if smaller else '>='} {bound:g}"
        table.add_row(key, f"{value:.3g}" if isinstance(value, float) else str(value), goal, met)
    return table


def _phrasing_table(result: dict[str, Any], goals: dict[str, tuple[float, bool]]) -> Any:
    from rich.table import Table

    low, high = result["interval_95"]
    table = Table("phrasing", "trained", "successes", title=f"{result['agent']}, commit {result['commit']}")
    for words, found in result["by_phrasing"].items():
        table.add_row(words, "yes" if found["trained"] else "no", f"{found['successes']} of {found['n']}")
    met = "met" if result["success_rate"] >= goals["success_rate"][0] else "missed"
    table.caption = (
        f"{result['successes']} of {result['n']} ({low:.0%} to {high:.0%}), "
        f"goal {goals['success_rate'][0]:.0%}: {met}; {result['unverified']} not verified"
    )
    return table


def _typing_table(result: dict[str, Any]) -> Any:
    from rich.table import Table

    title = f"Typing, {result['date']}, commit {result['commit']}"
    table = Table("application", "right", "of", "p50 s", "slowest s", title=title)
    for name, one in result["applications"].items():
        if "missing" in one:
            table.add_row(name, f"[red]{one['missing']}[/]", "", "", "")
        else:
            numbers = (one["right"], one["texts"], one["p50_s"], one["slowest_s"])
            table.add_row(name, *map(str, numbers))
    return table


def _settle_table(result: dict[str, Any]) -> Any:
    from rich.table import Table

    from operant.bench.settle import GOALS, MODES

    title = f"Settling, {result['date']}, commit {result['commit']}"
    table = Table("application", "mode", "steps", "stale content", "step p50 ms", title=title)
    for name, one in result["applications"].items():
        if "missing" in one:
            table.add_row(name, f"[red]{one['missing']}[/]", "", "", "")
            continue
        for mode in MODES:
            found = one[mode]
            figures = (f"{found['stale_content']:.1%}", f"{found['step_p50_ms']:g}")
            table.add_row(name, mode, str(found["steps"]), *figures)
    table.caption = ", ".join(
        f"{key} {result[key]:g} ({'met' if result[key] <= goal else 'missed'}: <= {goal:g})"
        for key, goal in GOALS.items()
    )
    return table


def _scaling_table(result: dict[str, Any]) -> Any:
    from rich.table import Table

    columns = {
        "desktops": ".0f",
        "episodes_per_s": ".2f",
        "efficiency": ".2f",
        "mean_staleness": ".2f",
        "waiting_actors": ".0f",
        "queued_groups": ".1f",
        "store_delay_p50_ms": ".1f",
        "machine_busy_cores": ".2f",
    }
    table = Table(*columns, title=f"Scaling, {result['date']}, commit {result['commit']}")
    for point in result["points"]:
        table.add_row(*(f"{point[name]:{form}}" for name, form in columns.items()))
    return table
