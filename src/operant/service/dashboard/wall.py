"""All desktops at a glance, live, with what is being done to each."""

from __future__ import annotations

from nicegui import ui

from operant.service.dashboard.frame import PATIENCE_S, empty, framed, pill, runtime
from operant.service.dashboard.lease import lease_form
from operant.service.sessions.session import Session

__all__ = ["register"]

FPS, WIDTH = 8, 480


def register() -> None:
    @ui.page("/wall", response_timeout=PATIENCE_S)
    async def wall() -> None:
        async with framed("/wall", "Live wall", "Every desktop in use"):
            with ui.row().classes("op-row"):
                lease_form()
            nothing = ui.column().classes("w-full")
            with nothing:
                empty("No desktop is in use.", "Lease one, or let an agent try a task.")
            grid = ui.element("div").classes("op-grid op-wide")
            tiles: dict[str, tuple[ui.element, ui.label, ui.row]] = {}

            def refresh() -> None:
                """Tiles come and go one by one, so that the pictures of the others are not disturbed."""
                sessions = {session.id: session for session in runtime().sessions.list()}
                for gone in set(tiles) - set(sessions):
                    tiles.pop(gone)[0].delete()
                with grid:
                    for name, session in sessions.items():
                        if name not in tiles:
                            tiles[name] = _tile(session)
                        _, doing, pills = tiles[name]
                        doing.text = session.instruction or "no agent at work"
                        pills.clear()
                        with pills:
                            _pills(session)
                nothing.set_visibility(not sessions)

            refresh()
            ui.timer(1.0, refresh)


def _tile(session: Session) -> tuple[ui.element, ui.label, ui.row]:
    with ui.column().classes("op-card gap-2") as tile:
        ui.element("operant-desktop").props(f'session="{session.id}" fps={FPS} width={WIDTH} quality=60')
        with ui.row().classes("op-row no-wrap"):
            with ui.column().classes("gap-0 grow").style("min-width:0"):
                ui.link(session.id, f"/control?session={session.id}").classes("font-semibold")
                doing = ui.label("").classes("op-sub ellipsis").style("max-width:100%")
            pills = ui.row().classes("gap-1 no-wrap")
    return tile, doing, pills


def _pills(session: Session) -> None:
    if session.live:
        pill("your own screen", "bad")
    if session.taken_over:
        pill("taken over", "wait")
    elif session.attempt:
        pill(session.model, "good")
