"""Lease a desktop from a page, with a name if one is wanted."""

from __future__ import annotations

from nicegui import ui

from operant.errors import OperantError
from operant.service.dashboard.frame import runtime
from operant.service.sessions.session import Session

__all__ = ["lease_form"]


def lease_form() -> None:
    """A field and a button; the page of the new desktop opens."""
    name = ui.input("Name, if you like").props("outlined dense maxlength=64").classes("w-48")

    async def lease() -> None:
        try:
            session = await runtime().at_desk(_lease, (name.value or "").strip())
        except OperantError as error:
            ui.notify(error.message, type="negative", caption=error.hint or "")
        else:
            ui.navigate.to(f"/control?session={session.id}")

    name.on("keydown.enter", lease)
    ui.button("New desktop", icon="add", on_click=lease).props("unelevated")


def _lease(name: str) -> Session:
    sessions = runtime().sessions
    if not name:
        return sessions.create()
    sessions.check_name(name)
    return sessions.create(name)
