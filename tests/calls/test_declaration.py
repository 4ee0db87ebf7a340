"""Declarations of functions: what is read from their source, and which arguments they take."""

from __future__ import annotations

import pytest

from operant.calls.catalog import (
    ALWAYS,
    BUILT_IN,
    built_in_apis,
    code_place,
    find_function,
    offered_functions,
)
from operant.calls.declaration import MAX_ITEMS, MAX_TEXT
from operant.calls.reading import read_api
from operant.errors import BadArguments, ConfigError, UnknownFunction

SOURCE = '''
"""A notebook."""
import os
from typing import Literal

WM_CLASS = "Notebook"
TIME_LIMITS = {"note": 20}


def note(text: str, page: int = 1, marks: list[str] | None = None, how: Literal["add", "replace"] = "add") -> str:
    """Write a note.

    It stays.
    """
    os.unlink("/never/run")


def weigh(grams: float, table: dict[str, int], anything: object = None) -> float:
    """Weigh."""


def _hidden(x):
    pass
'''


def test_reads_signatures_docstrings_and_limits_without_running_anything() -> None:
    api = read_api("notebook", SOURCE)
    note, weigh = api.functions
    assert (api.doc, api.wm_class) == ("A notebook.", "Notebook")
    assert note.signature == (
        "notebook.note(text: str, page: int = 1, marks: list[str] | None = None,"
        " how: Literal['add', 'replace'] = 'add') -> str"
    )
    assert note.doc == "Write a note.\n\nIt stays."
    assert (note.time_limit_s, weigh.time_limit_s) == (20.0, 10.0)
    assert note.schema() == {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "page": {"type": "integer", "default": 1},
            "marks": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
            "how": {"type": "string", "enum": ["add", "replace"], "default": "add"},
        },
        "required": ["text"],
        "additionalProperties": False,
    }


def test_binds_arguments_by_place_and_by_name() -> None:
    note, weigh = read_api("notebook", SOURCE).functions
    assert note.bind(("a", 2), (("how", "replace"),)) == {"text": "a", "page": 2, "how": "replace"}
    assert note.bind((), (("text", ""), ("marks", None))) == {"text": "", "marks": None}
    assert weigh.bind((1, {"a": 1}), ()) == {"grams": 1, "table": {"a": 1}}


@pytest.mark.parametrize(
    ("args", "kwargs", "said"),
    [
        ((), {}, "needs text"),
        (("a", 1, None, "add", 5), {}, "takes 4 arguments"),
        (("a",), {"text": "b"}, "'text' twice"),
        (("a",), {"pages": 2}, "did you mean page?"),
        (("a",), {"__class__": 2}, "takes no argument '__class__'"),
        ((3,), {}, "text must be a text, not 3"),
        (("a", True), {}, "page must be a whole number, not true"),
        (("a", 1.5), {}, "page must be a whole number"),
        (("a", 2**70), {}, "an integer of 71 bits"),
        (("a", 1, ["x", 3]), {}, r"marks\[1\] must be a text"),
        (("a",), {"how": "ad"}, "one of 'add', 'replace'"),
        (("a\0",), {}, "no text may"),
        (("\ud800",), {}, "no text may"),
        (("a" * (MAX_TEXT + 1),), {}, f"{MAX_TEXT + 1} characters"),
        (("a", 1, ["x"] * (MAX_ITEMS + 1)), {}, f"more than {MAX_ITEMS} values"),
        ((object(),), {}, "not a object"),
    ],
)
def test_says_what_is_wrong_with_arguments(
    args: tuple[object, ...], kwargs: dict[str, object], said: str
) -> None:
    note = read_api("notebook", SOURCE).functions[0]
    with pytest.raises(BadArguments, match=said):
        note.bind(args, tuple(kwargs.items()))


def test_bounds_what_may_be_anything() -> None:
    weigh = read_api("notebook", SOURCE).functions[1]
    deep: list[object] = []
    for _ in range(1000):
        deep = [deep]
    endless: list[object] = []
    endless.append(endless)
    for value in (deep, endless, {1: 2}, float("nan"), {"a": object()}, b"bytes"):
        with pytest.raises(BadArguments):
            weigh.bind((1.0, {}, value), ())
    with pytest.raises(BadArguments, match="grams is inf"):
        weigh.bind((float("inf"), {}), ())


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def f(:", "is not Python"),
        ("x = 1", "has no functions"),
        ("def f() -> str:\n    pass", "has no docstring"),
        ("def f(x) -> str:\n    '''D.'''", "x has no type"),
        ("def f(x: bytes) -> str:\n    '''D.'''", "'bytes' is not a type"),
        ("def f(x: str):\n    '''D.'''", "does not say what it returns"),
        ("def f(*x: str) -> str:\n    '''D.'''", "by place or by name"),
        ("def f(x: str = open('a')) -> str:\n    '''D.'''", "is not a literal"),
        ("TIME_LIMITS = {'g': 1}\ndef f() -> str:\n    '''D.'''", "a time limit for g"),
    ],
)
def test_an_api_that_can_not_be_declared_is_an_error(source: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        read_api("mine", source)


def test_lists_every_module_that_is_there() -> None:
    there = {entry.name.removesuffix(".py") for entry in (code_place() / "api").iterdir()}
    assert there - {"__init__", "__pycache__"} == set(BUILT_IN)
    tools = [one.tool_name for api in built_in_apis().values() for one in api.functions]
    assert len(set(tools)) == len(tools)
    assert all(len(name) <= 64 for name in tools), "tools of hosted models have short names"


def test_finds_functions_and_suggests_the_nearest() -> None:
    assert find_function("files.move") is find_function("Files.move")
    assert find_function("Agent.open_app").full_name == "windows.open_application"
    with pytest.raises(UnknownFunction, match=r"did you mean files\.move"):
        find_function("files.mov")
    with pytest.raises(UnknownFunction, match="files has list_folder"):
        find_function("files.__globals__")
    for name in ("os.system", "", ".", "files.move.__call__", "files", "x" * 10**6, "files.move\n"):
        with pytest.raises(UnknownFunction):
            find_function(name)


def test_offers_what_belongs_to_the_focused_window() -> None:
    assert offered_functions("gui", "Mousepad") == ()
    offered = {one.api for one in offered_functions("both", "SomethingElse")}
    assert offered == set(ALWAYS)
    everything = {one.api for one in offered_functions("api", None, everything=True)}
    assert everything == set(BUILT_IN)
