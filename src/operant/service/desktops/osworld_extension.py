"""What OSWorld's protocol lacks: leases of machines, and going back to the start without another machine.

All of it is below ``/operant``, at the port of any machine; a reset is for the machine of its port.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Body, FastAPI, Request, Response
from starlette.concurrency import run_in_threadpool

from operant import __version__
from operant.errors import ConfigError
from operant.service.desktops.osworld_machines import OSWorldMachine, OSWorldMachines

__all__ = ["add_extension"]

NAME = re.compile(r"[\w-]{16,64}", re.ASCII)
Given = Annotated[dict[str, Any] | None, Body()]


def add_extension(app: FastAPI, machines: OSWorldMachines, here: Callable[[Request], OSWorldMachine]) -> None:
    @app.get("/operant/about")
    def about() -> dict[str, Any]:
        width, height = machines.config.size
        return {
            "protocol": "osworld",
            "version": __version__,
            "size": [width, height],
            "idle_s": machines.idle_s,
            "machines": [machines.describe(one) for one in machines.machines],
        }

    @app.post("/operant/lease")
    async def lease(given: Given = None) -> dict[str, Any]:
        name = _name(given) or secrets.token_urlsafe(16)
        machine = await run_in_threadpool(machines.lease, name)
        return {"lease": name, "idle_s": machines.idle_s, **machines.describe(machine)}

    @app.delete("/operant/lease/{name}", status_code=204)
    async def release(name: str) -> Response:
        await run_in_threadpool(machines.release, name)
        return Response(status_code=204)

    @app.post("/operant/reset")
    async def reset(request: Request, given: Given = None) -> dict[str, str]:
        await run_in_threadpool(machines.reset, here(request), _name(given))
        return {"status": "success"}


def _name(given: dict[str, Any] | None) -> str | None:
    name = (given or {}).get("lease")
    if name is not None and not (isinstance(name, str) and NAME.fullmatch(name)):
        raise ConfigError("a lease has a name of 16 to 64 letters, digits, - and _, drawn by its client")
    return name
