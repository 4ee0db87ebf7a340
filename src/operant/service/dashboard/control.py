"""One desktop under one's own hands: mouse, keyboard, an on-screen keyboard for phones, and the take-over switch."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from operant.apps import App, app_names, load_app
from operant.errors import DesktopError, OperantError, TaskError
from operant.service.attempts.attempt import Attempt, Result
from operant.service.attempts.criteria import criterion_of_text
from operant.service.attempts.free import free_task, task_for
from operant.service.dashboard.frame import PATIENCE_S, empty, framed, runtime
from operant.service.dashboard.lease import lease_form
from operant.service.dashboard.usage import used_text
from operant.service.sessions.session import Session
from operant.types import Action

__all__ = ["register"]

KEYS = (
    *(
        ("Esc", ("esc",)),
        ("Tab", ("tab",)),
        ("⌫", ("backspace",)),
        ("Del", ("delete",)),
        ("Enter", ("enter",)),
    ),
    *(
        ("←", ("left",)),
        ("↑", ("up",)),
        ("↓", ("down",)),
        ("→", ("right",)),
        ("Home", ("home",)),
        ("End", ("end",)),
    ),
    *(("Copy", ("ctrl", "c")), ("Paste", ("ctrl", "v")), ("Undo", ("ctrl", "z")), ("Save", ("ctrl", "s"))),
    *(("Select all", ("ctrl", "a")), ("Close", ("alt", "f4"))),
)
STEPS = 20
CRITERIA = '{"window_title": "Calculator"}'


def register() -> None:
    @ui.page("/control", response_timeout=PATIENCE_S)
    async def control(session: str = "") -> None:
        async with framed("/control", "Control", "Click, drag, scroll and type on a live desktop") as page:
            service = runtime()
            known = [one for one in service.sessions.list() if not one.closed]
            chosen = next((one for one in known if one.id == session), None)
            if session and chosen is None:
                empty(f"There is no desktop {session!r} any more.", "Choose or lease another one.")
            with ui.row().classes("op-row"):
                if known:
                    ui.select(
                        {one.id: one.id for one in known},
                        value=chosen.id if chosen else None,
                        label="Desktop",
                        on_change=lambda event: ui.navigate.to(f"/control?session={event.value}"),
                    ).props("outlined dense").classes("w-48")
                lease_form()
                if chosen is not None:
                    ui.button("Hand back", icon="logout", on_click=lambda: _hand_back(chosen)).props("flat")
            if chosen is None:
                if not session:
                    empty("Choose a desktop, or lease a new one.")
                return
            with page:
                _desk(chosen)


def _desk(session: Session) -> None:
    with ui.column().classes("op-card gap-3"):
        with ui.row().classes("op-row"):
            doing = ui.label("").classes("op-sub grow")
            taken = ui.switch(
                "Take over", value=session.taken_over, on_change=lambda e: session.take_over(e.value)
            )
            taken.props("aria-label='Take over from the agent'")
        ui.element("operant-desktop").props(f'session="{session.id}" control fps=25 quality=80')
        _keyboard(session)
    if not session.live:
        _work(session)

    def refresh() -> None:
        if session.closed:
            doing.text = "this desktop was handed back"
        elif session.attempt:
            who = "waits for you" if session.taken_over else "is at work"
            doing.text = f"{session.model} {who}: {session.instruction}"
        else:
            doing.text = f"session {session.id}, no agent at work"
        if taken.value != session.taken_over:
            taken.value = session.taken_over

    refresh()
    ui.timer(0.7, refresh)


def _keyboard(session: Session) -> None:
    with ui.row().classes("op-row no-wrap"):
        text = ui.input("Text to type").props("outlined dense").classes("grow")
        secret = ui.checkbox("secret").tooltip("masked in logs, episodes and metrics")
        secret.on_value_change(lambda event: text.props(f"type={'password' if event.value else 'text'}"))

        async def type_it() -> None:
            if text.value:
                await _do(session, Action.type(text.value), secret=bool(secret.value))
                text.value = ""

        text.on("keydown.enter", type_it)
        ui.button(icon="keyboard_return", on_click=type_it).props("unelevated aria-label='Type the text'")
    with ui.row().classes("op-keys"):
        for label, keys in KEYS:
            ui.button(label, on_click=lambda keys=keys: _do(session, Action.key(*keys))).props(
                "outline no-caps dense"
            )


async def _do(session: Session, action: Action, *, secret: bool = False) -> None:
    service = runtime()
    try:
        await service.at_desk(session.perform, action, secret=secret)
        service.metrics.acted("person", action.kind.value)
    except OperantError as error:
        if isinstance(error, DesktopError):
            service.sessions.broken(session, error)
        ui.notify(error.message, type="negative", caption=error.hint or "")


def _work(session: Session) -> None:
    with ui.column().classes("op-card gap-3"):
        ui.label("Let the agent work here").classes("text-base font-semibold")
        with ui.row().classes("op-row"):
            wish = ui.input("Instruction", placeholder="Open calculator and compute 15 + 27")
            wish.props("outlined dense").classes("grow").style("min-width: 220px")
            start = ui.button("Start", icon="play_arrow").props("unelevated")
            stop = ui.button("Stop", icon="stop").props("flat color=negative")
        criteria = (
            ui.textarea("Success criteria (JSON)", placeholder=CRITERIA)
            .props(
                'outlined dense autogrow input-style="font-family: monospace; min-height: 2.6em" '
                f"hint='For example {CRITERIA}, as in config/tasks.json. Left empty, the attempt ends unverified.'"
            )
            .classes("w-full")
        )
        told = ui.label("").classes("op-sub").props("role=status")
        with ui.row().classes("op-keys items-center"):
            ui.label("Open:").classes("op-sub")
            for app in _openable():
                ui.button(app.name, on_click=lambda app=app: _open(session, app)).props(
                    "outline no-caps dense"
                ).tooltip(app.title)

        started: list[Attempt] = []

        def begin() -> None:
            service = runtime()
            if not wish.value:
                ui.notify("Say what to do first.", type="warning")
                return
            try:
                success = criterion_of_text(criteria.value or "")
            except TaskError as error:
                criteria.error = ": ".join([error.message, *([error.hint] if error.hint else [])])
                return
            criteria.error = None
            try:
                task = task_for(session, free_task(wish.value, STEPS, success))
                started[:] = [
                    service.attempts.start(task, service.models.current, deterministic=True, session=session)
                ]
            except OperantError as error:
                ui.notify(error.message, type="negative", caption=error.hint or "")

        def tell() -> None:
            told.text = _told(started[0]) if started else ""

        def end() -> None:
            if session.attempt:
                runtime().attempts.cancel(runtime().attempts.find(session.attempt))

        start.on_click(begin)
        stop.on_click(end)
        ui.timer(0.5, tell)


def _told(attempt: Attempt) -> str:
    """How it went, in the words of the API."""
    used = used_text(attempt.usage)
    counted = ", ".join([f"{len(attempt.steps)} steps", *([used] if used else [])])
    if attempt.result is None:
        return (
            f"{attempt.status}: {attempt.error.message}" if attempt.error else f"{attempt.status}, {counted}"
        )
    return f"{_verdict(attempt.result)} ({counted})"


def _verdict(result: Result) -> str:
    if result.verified:
        return f"{'success' if result.success else 'failure'}, verified: {result.why}"
    return (
        f"{result.outcome.replace('_', ' ')}, {'claimed' if result.claimed else 'not claimed'}: {result.why}"
    )


def _openable() -> list[App]:
    """Known applications. The parts of a desktop, such as its window manager, are there already."""
    return [app for app in map(load_app, app_names()) if not app.part_of_desktop]


async def _open(session: Session, app: App) -> None:
    def launch() -> None:
        desktop: Any = session.desktop
        with session.exclusive_access():
            desktop.launch(app.argv())

    try:
        await runtime().at_desk(launch)
    except OperantError as error:
        ui.notify(error.message, type="negative", caption=error.hint or "")


async def _hand_back(session: Session) -> None:
    service = runtime()
    if session.attempt:
        service.attempts.cancel(service.attempts.find(session.attempt))
    await service.at_desk(service.sessions.end, session)
    ui.navigate.to("/control")
