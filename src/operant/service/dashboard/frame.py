"""What all pages share: the bar, the menu, the look, and the words for "nothing here" and "it went wrong"."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from nicegui import context, ui

from operant.errors import OperantError
from operant.service.runtime import Runtime

__all__ = [
    "MENU",
    "PATIENCE_S",
    "empty",
    "failure",
    "framed",
    "keep_on_phones",
    "live",
    "number",
    "outcome_pill",
    "pill",
    "runtime",
    "set_runtime",
]

MENU = (
    ("/", "Overview", "space_dashboard"),
    ("/wall", "Live wall", "grid_view"),
    ("/control", "Control", "touch_app"),
    ("/tasks", "Tasks", "checklist"),
    ("/episodes", "Episodes", "movie"),
    ("/training", "Training", "show_chart"),
    ("/results", "Results", "leaderboard"),
)
DARK = "operant_dark"
PHONE_PX = 600
PATIENCE_S = 30.0  # how long a page may take to be made on a busy machine
HEAD = """<link rel="stylesheet" href="/static/style.css"><link rel="manifest" href="/manifest.webmanifest">
<meta name="theme-color" content="#1f6f8b"><script src="/static/desktop.js" defer></script>
<script>if ("serviceWorker" in navigator) navigator.serviceWorker.register("/service-worker.js").catch(() => {});</script>"""

SIGN_OUT = "fetch('/logout', {method: 'POST'}).then(() => location.assign('/login'))"

T = TypeVar("T")

_runtime: list[Runtime] = []


def set_runtime(runtime: Runtime) -> None:
    """The pages are registered once in a process; they show the service that was made last."""
    _runtime[:] = [runtime]


def runtime() -> Runtime:
    return _runtime[0]


@asynccontextmanager
async def framed(here: str, title: str, subtitle: str = "") -> AsyncIterator[Any]:
    """A page: everything inside goes into its column. Failures become a sentence and not a blank page."""
    ui.add_head_html(HEAD)
    ui.page_title(f"{title} · Operant")
    ui.colors(primary="#1f6f8b", positive="#2a9d8f", negative="#d64550", warning="#c98a1b")
    cookies = context.client.request.cookies if context.client.request is not None else {}
    dark = ui.dark_mode({"1": True, "0": False}.get(cookies.get(DARK, "")))
    drawer = (
        ui.left_drawer(value=None, fixed=True).props("width=220 breakpoint=1000").classes("op-nav q-pa-sm")
    )
    with drawer:
        for path, name, icon in MENU:
            with ui.link(target=path).classes("op-here" if path == here else ""):
                ui.icon(icon, size="20px")
                ui.label(name)
    with ui.header().classes("op-bar items-center q-py-xs q-px-md no-wrap"):
        ui.button(icon="menu", on_click=drawer.toggle).props("flat round dense color=primary aria-label=Menu")
        ui.image("/static/icon.svg").classes("w-7 h-7")
        ui.label("Operant").classes("text-base font-semibold")
        ui.space()
        ui.link("API", "/docs", new_tab=True).classes("op-sub gt-xs")

        def toggle() -> None:
            dark.value = not dark.value
            ui.run_javascript(
                f"document.cookie='{DARK}={int(bool(dark.value))};path=/;max-age=31536000;SameSite=Lax'"
            )

        if runtime().config.token is not None:
            ui.button(icon="logout", on_click=lambda: ui.run_javascript(SIGN_OUT)).props(
                "flat round dense color=primary aria-label='Sign out'"
            ).tooltip("Sign out")
        ui.button(icon="contrast", on_click=toggle).props(
            "flat round dense color=primary aria-label='Dark or light'"
        )
    with ui.column().classes("op-page") as column:
        with ui.column().classes("gap-0"):
            ui.label(title).classes("op-title").props("role=heading aria-level=1")
            if subtitle:
                ui.label(subtitle).classes("op-sub")
        try:
            yield column
        except OperantError as error:
            failure(error)


async def live(
    seconds: float,
    gather: Callable[[], Awaitable[T]],
    draw: Callable[[T], None],
    key: Callable[[T], Any] | None = None,
) -> None:
    """A part of a page that is drawn anew so often. What it shows is gathered first, so that it is never blank.

    With ``key`` only when that changes: a button that is replaced while it is pressed does nothing.
    """
    part = ui.column().classes("op-part w-full gap-2")
    drawn: list[Any] = []

    async def refresh() -> None:
        try:
            found = await gather()
        except OperantError as error:
            part.clear()
            with part:
                failure(error)
            return
        if key is not None:
            if drawn == [key(found)]:
                return
            drawn[:] = [key(found)]
        part.clear()
        with part:
            draw(found)

    await refresh()
    ui.timer(seconds, refresh)


def empty(text: str, hint: str = "") -> None:
    with ui.column().classes("op-empty items-center gap-1"):
        ui.icon("inbox", size="32px")
        ui.label(text)
        if hint:
            ui.label(hint).classes("op-sub")


def failure(error: OperantError) -> None:
    with ui.row().classes("op-card items-center no-wrap").props("role=alert"):
        ui.icon("error_outline", size="28px").classes("op-bad")
        with ui.column().classes("gap-0"):
            ui.label(error.message)
            if error.hint:
                ui.label(error.hint).classes("op-sub")


def number(label: str, value: str, kind: str = "") -> None:
    """A figure in large letters; words are longer, so they are smaller."""
    small = len(value) > (8 if value[:1].isdigit() else 5)
    size = "op-number op-word" if small else "op-number"
    with ui.column().classes("op-card gap-1"):
        ui.label(label).classes("op-label")
        ui.label(value).classes(f"{size} {kind}").tooltip(value)


def keep_on_phones(table: ui.table, columns: Sequence[Mapping[str, Any]], *names: str) -> None:
    """Show only these columns where there is no room for all of them."""
    every = [column["name"] for column in columns]
    table.props[":visible-columns"] = f"window.innerWidth < {PHONE_PX} ? {list(names)} : {every}"


def pill(text: str, kind: str = "soft") -> None:
    ui.label(text).classes(f"op-pill op-{kind}")


def outcome_pill(outcome: str | None) -> None:
    kinds = {
        "success": "good",
        "failure": "bad",
        "truncated": "wait",
        "infra_error": "bad",
        "verifier_error": "soft",
    }
    pill((outcome or "unfinished").replace("_", " "), kinds.get(outcome or "", "soft"))
