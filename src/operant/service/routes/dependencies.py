"""What routes ask for, declared once."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path
from starlette.requests import HTTPConnection

from operant.service.runtime import Runtime

__all__ = ["Name", "RuntimeDep"]


def _runtime(connection: HTTPConnection) -> Runtime:
    runtime: Runtime = connection.app.state.runtime
    return runtime


RuntimeDep = Annotated[Runtime, Depends(_runtime)]
Name = Annotated[str, Path(min_length=1, max_length=64, description="As it was given when it was made.")]
