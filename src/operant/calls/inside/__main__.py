"""The process that carries out calls: reads one from its standard input, a socket, answers, and waits for the next.

Ends when the other side closes the socket. Only functions that the API modules define themselves are called, by their
names.
"""

from __future__ import annotations

import importlib
import json
import time
import types
from typing import Any, Callable

import owner
import programs
from refusal import Refused

LONGEST_RESULT = 64 * 1024  # bytes of JSON
LONGEST_ERROR = 1000  # characters


def main() -> None:
    owner.connect()
    while True:
        request = owner.receive()
        if request is None:
            return
        programs.reap()
        began = time.perf_counter()
        said = answer(request)
        owner.send({**said, "took_ms": (time.perf_counter() - began) * 1000})


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """What becomes of a call: its result, or why there is none."""
    number = request["number"]
    try:
        result = find(request["module"], request["function"])(**request["arguments"])
        text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        size = len(text.encode("utf-8", "replace"))
        if size > LONGEST_RESULT:
            raise Refused(
                "the result has %d bytes, and at most %d are returned: ask for less" % (size, LONGEST_RESULT)
            )
    except Refused as error:
        said = str(error)
    except OSError as error:
        said = "%s: %s" % (error.strerror or error, error.filename) if error.filename else str(error)
    except Exception as error:  # noqa: BLE001 - whatever it is, the agent is told of it and the next call is served
        said = "%s: %s" % (type(error).__name__, error)
    else:
        return {"number": number, "result": "" if result is None else text}
    return {"number": number, "error": said[:LONGEST_ERROR] or "it failed"}


def find(place: str, name: str) -> Callable[..., Any]:
    """The function of a module that lies beside this one: of an API, or of one that was admitted."""
    try:
        module = importlib.import_module(place)
    except ModuleNotFoundError as error:
        if not place.startswith(str(error.name)):
            raise
        raise Refused("this desktop does not have %s: it may be older than the function" % name) from None
    found = vars(module).get(name)
    if (
        name.startswith("_")
        or not isinstance(found, types.FunctionType)
        or found.__module__ != module.__name__
    ):
        raise Refused("there is no function %s.%s" % (place, name))
    return found


if __name__ == "__main__":
    main()
