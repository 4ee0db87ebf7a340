"""The functions that there are, by name, and which of them are offered while an application has the focus.

``gui`` offers no function, ``api`` functions only, ``both`` pointer, keyboard and functions. Of the functions, those of
the focused application are offered with those for windows, files and clipboard, or all of them.
"""

from __future__ import annotations

import functools
import io
import zipfile
from collections.abc import Iterable, Mapping
from importlib import resources
from importlib.resources.abc import Traversable

from operant.calls.admitted import admitted_code, admitted_functions
from operant.calls.declaration import Api, Function, nearest
from operant.calls.reading import read_api
from operant.errors import UnknownFunction
from operant.types import ActionMode

__all__ = [
    "ALWAYS",
    "BUILT_IN",
    "built_in_apis",
    "canonical_name",
    "find_function",
    "function_lines",
    "functions_of",
    "offered_functions",
    "packed_code",
]

#: The modules of ``inside/api``.
BUILT_IN = (
    "archives",
    "atril",
    "calc",
    "chromium",
    "clipboard",
    "files",
    "galculator",
    "gimp",
    "impress",
    "mousepad",
    "settings",
    "terminal",
    "viewnior",
    "vlc",
    "windows",
    "writer",
)
#: Offered whatever has the focus.
ALWAYS = ("windows", "files", "clipboard")
#: ComputerRL's words for functions that every desktop has.
ALIASES: Mapping[str, str] = {
    "Agent.open_app": "windows.open_application",
    "Agent.switch_window": "windows.focus",
}
MAX_NAME = 200


def code_place() -> Traversable:
    """The directory of what runs inside a desktop."""
    return resources.files("operant.calls") / "inside"


@functools.cache
def built_in_apis() -> Mapping[str, Api]:
    """Every API by its name."""
    place = code_place() / "api"
    return {name: read_api(name, (place / f"{name}.py").read_text("utf-8")) for name in BUILT_IN}


@functools.cache
def _by_name() -> Mapping[str, Function]:
    return {one.full_name: one for api in built_in_apis().values() for one in api.functions}


def find_function(name: str) -> Function:
    """The function of that name; ``UnknownFunction`` names the nearest one.

    An application's name may be capitalised, as ComputerRL writes it (``Files.move``).
    """
    known = canonical_name(name)
    if known is not None:
        return _by_name().get(known) or _admitted()[known][1]
    shown = name if len(name) <= 60 else name[:57] + "..."
    api = name.partition(".")[0]
    if api in built_in_apis():
        names = [one.full_name for one in built_in_apis()[api].functions]
        said = nearest(name, names) or f"; {api} has {', '.join(one.partition('.')[2] for one in names)}"
        raise UnknownFunction(f"there is no function {shown!r}{said}")
    raise UnknownFunction(
        f"there is no function {shown!r}{nearest(name[:MAX_NAME], [*_by_name(), *built_in_apis()])}"
        f"; functions are of {', '.join(built_in_apis())}"
    )


def canonical_name(name: str) -> str | None:
    """The full name that is meant; None if there is no such function."""
    if len(name) > MAX_NAME:
        return None
    name = ALIASES.get(name, name)
    forms = (name, name[:1].lower() + name[1:])
    for form in forms:
        if form in _by_name():
            return form
    admitted = _admitted()  # read from the disk, so only where it is needed
    return next((form for form in forms if form in admitted), None)


def _admitted() -> Mapping[str, tuple[str, Function]]:
    """The class of the windows and the function of each that was admitted; none hides one that is built in."""
    return {
        one.full_name: (one.wm_class, one.function)
        for one in admitted_functions()
        if one.function is not None and one.full_name not in _by_name()
    }


def functions_of(names: Iterable[str]) -> tuple[Function, ...]:
    return tuple(one for name in names for one in built_in_apis()[name].functions)


def offered_functions(
    mode: ActionMode, focused_class: str | None = None, *, everything: bool = False
) -> tuple[Function, ...]:
    """The functions to tell an agent of, those of the focused application first."""
    if mode == "gui":
        return ()
    if everything:
        return (*functions_of(built_in_apis()), *(function for _, function in _admitted().values()))
    owned = [
        name
        for name, api in built_in_apis().items()
        if focused_class and api.wm_class.lower() == focused_class.lower() and name not in ALWAYS
    ]
    written = [
        function
        for wm_class, function in _admitted().values()
        if function.api in ALWAYS or (focused_class and wm_class.lower() == focused_class.lower())
    ]
    return (*functions_of(owned), *written, *functions_of(ALWAYS))


def function_lines(functions: Iterable[Function]) -> str:
    """Functions as a model is told of them: a signature and the first line of the docstring each."""
    lines = [f"{one.signature}: {one.doc.partition(chr(10))[0]}" for one in functions]
    return "\n".join(["Functions that you can call:", *lines]) if lines else ""


def packed_code(more: Mapping[str, bytes] | None = None) -> bytes:
    """What runs inside a desktop, as one archive that Python runs: with the admitted functions, or with ``more``."""
    return _packed(tuple(sorted((admitted_code() if more is None else more).items())))


@functools.lru_cache(maxsize=4)
def _packed(more: tuple[tuple[str, bytes], ...]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path, content in [*sorted(_sources(code_place(), "")), *more]:
            archive.writestr(zipfile.ZipInfo(path), content)
    return packed.getvalue()


def _sources(place: Traversable, prefix: str) -> Iterable[tuple[str, bytes]]:
    for entry in place.iterdir():
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _sources(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".py"):
            yield prefix + entry.name, entry.read_bytes()
