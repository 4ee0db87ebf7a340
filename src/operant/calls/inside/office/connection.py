"""The running LibreOffice, reached over a pipe with UNO, its interface for scripts.

UNO is a module of the system's Python. It is imported with the first call that needs it.
"""

from __future__ import annotations

import sys
import threading
from typing import Any, Callable, List

import programs
from display import wait_until
from refusal import Refused

PIPE = "uno:pipe,name=operant;urp;StarOffice.ComponentContext"
SYSTEM_MODULES = "/usr/lib/python3/dist-packages"
ANSWER_S = 2.0  # how long it may take to say that it is there
START_S = 40.0  # how long it may take to start on a busy machine

_contexts: List[Any] = []


def load_uno() -> Any:
    """The module ``uno``."""
    if SYSTEM_MODULES not in sys.path:
        sys.path.append(SYSTEM_MODULES)
    try:
        import uno
    except ImportError:
        raise Refused("LibreOffice can't be called: the package python3-uno is not installed") from None
    return uno


def struct(name: str, **members: Any) -> Any:
    """A structure of UNO, such as ``table.BorderLine2``."""
    made = load_uno().createUnoStruct("com.sun.star." + name)
    for member, value in members.items():
        setattr(made, member, value)
    return made


def enum(name: str, value: str) -> Any:
    """A value of an enumeration of UNO."""
    return load_uno().Enum("com.sun.star." + name, value)


def typed(kind: str, value: Any) -> Any:
    """A value whose type can't be told from Python's."""
    return load_uno().Any(kind, value)


def properties(**values: Any) -> Any:
    """Named values, as loading and saving take them."""
    return tuple(struct("beans.PropertyValue", Name=name, Value=value) for name, value in values.items())


def url_of(path: str) -> str:
    return str(load_uno().systemPathToFileUrl(path))


def path_of_url(url: str) -> str:
    return str(load_uno().fileUrlToSystemPath(url)) if url.startswith("file:") else url


def context() -> Any:
    """The context of the running instance; ``Refused`` if there is none or it does not answer."""
    if _contexts:
        alive = within(ANSWER_S, lambda: bool(_contexts[0].getServiceManager()))
        if alive is True:
            return _contexts[0]
        forget()
    found = within(ANSWER_S, _connect)
    if found is None:
        raise Refused("LibreOffice is not running: open_document and new_document start it")
    _contexts.append(found)
    return found


def forget() -> None:
    """Drop the connection, as after the instance ended."""
    _contexts.clear()


def is_running() -> bool:
    try:
        context()
    except Refused:
        return False
    return True


def start(*arguments: str) -> None:
    """Start LibreOffice and wait until it can be called."""
    process = programs.start(["soffice", "--norestore", "--nologo", *arguments])

    def ready() -> bool:
        if is_running():
            return True
        if process.poll() not in (None, 0):
            raise Refused("LibreOffice ended with code %d" % process.returncode)
        return False

    if not wait_until(ready, START_S, 0.1):
        raise Refused("LibreOffice did not start within %g s" % START_S)


def service(name: str) -> Any:
    """A service of the running instance."""
    there = context()
    return there.getServiceManager().createInstanceWithContext("com.sun.star." + name, there)


def within(seconds: float, ask: Callable[[], Any]) -> Any:
    """What is answered; None if LibreOffice is gone. A silent one is ``Refused``: its thread is left behind."""
    answers: List[Any] = []

    def run() -> None:
        try:
            answers.append(ask())
        except Exception as error:  # noqa: BLE001 - UNO's errors can't be named before it is loaded
            answers.append(error)

    load_uno()
    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    worker.join(seconds)
    if not answers:
        forget()
        raise Refused("LibreOffice does not answer")
    return None if isinstance(answers[0], Exception) else answers[0]


def _connect() -> Any:
    local = load_uno().getComponentContext()
    manager = local.getServiceManager()
    resolver = manager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
    return resolver.resolve(PIPE)
