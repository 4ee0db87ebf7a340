"""One training run on a page of its own, for ``operant train --visualize``: the dashboard's training page without the rest.

A process of its own (``python -m operant.service.training.page DIRECTORY PORT PARENT``) on 127.0.0.1 that prints its
address and ends with the process that trains.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Response
from nicegui import ui
from starlette.staticfiles import StaticFiles

from operant.service.dashboard.frame import PATIENCE_S
from operant.service.dashboard.training import Watched, show_runs
from operant.service.listening import listen
from operant.service.training.live import read_picture
from operant.service.training.runs import TrainingRun

__all__ = ["main"]

STATIC = Path(__file__).parents[1] / "dashboard" / "static"
PARENT_S = 1.0  # between two looks for the process that trains


def main(directory: Path, port: int, parent: int) -> None:
    """Serve the page until the training process is gone."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    began = time.time()

    @app.get("/desktops/{index}")
    def picture(index: int) -> Response:
        found = read_picture(directory, index)
        return Response(found or b"", 404 if found is None else 200, media_type="image/jpeg")

    @ui.page("/", response_timeout=PATIENCE_S)
    async def page() -> None:
        ui.add_head_html('<link rel="stylesheet" href="/static/style.css">')
        ui.page_title("Training · Operant")
        with ui.column().classes("op-page"):
            ui.label("Training").classes("op-title").props("role=heading aria-level=1")
            ui.label(str(directory)).classes("op-sub")
            run = TrainingRun(directory.name, directory, (), {}, began, "running")

            async def look() -> list[Watched]:
                return [await asyncio.to_thread(Watched.of, run)]

            await show_runs(look, lambda _, index: f"/desktops/{index}", steerable=False)

    ui.run_with(app, title="Training · Operant", show_welcome_message=False)
    listening = listen("127.0.0.1", port)
    listening.listen()  # who reads the address may come at once
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1))

    def follow_parent() -> None:
        while os.getppid() == parent:
            time.sleep(PARENT_S)
        server.should_exit = True

    threading.Thread(target=follow_parent, daemon=True).start()
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/", flush=True)
    server.run(sockets=[listening])


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
