"""What code of a model may not be made of."""

from __future__ import annotations

import pytest

from operant.building.candidate import BLOCK
from operant.building.lint import lint

from .offers import GOOD


@pytest.mark.parametrize("name", sorted(GOOD))
def test_good_code_is_allowed(name: str) -> None:
    (code,) = (text for language, text in BLOCK.findall(GOOD[name][-1]) if language == "python")
    assert lint(code) == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("return eval(x)", "the name eval"),
        ("return getattr(x, x)", "the name getattr"),
        ("return open(x)", "the name open"),
        ("return __import__(x)", "the name __import__"),
        ("return x.__class__", "the attribute __class__"),
        ("return x._sock", "the attribute _sock"),
        ("return x.gi_frame", "the attribute gi_frame"),
        ("return re.sys", "re.sys"),
        ("return json.codecs", "json.codecs"),
        ("m = re\n    return m.sys", "the module re as a value"),
        ("return programs.subprocess", "programs.subprocess"),
        ("programs.run = x", "an assignment to the attribute run"),
        ("r = programs.run\n    return r([x])", "run as a value"),
        ("return programs.run([x])", "a program that is not named"),
        ("return programs.run(x)", "a program that is not named"),
        ('return programs.run(["curl", x])', "the program 'curl'"),
        ('return "{0.a}".format(x)', "the attribute format"),
        ('return x["__globals__"]', "a text with two underscores"),
        ("import os", "the module os"),
        ("from re import sys", "re.sys"),
        ("from re import *", "re.*"),
        ("from . import bus", "the module ."),
        ("class A: pass", "a class"),
        ("yield x", "a generator"),
        ("return nothing_of_that_name", "the unknown name"),
        ("re = x", "the name of a module, re, for something else"),
        ("match x:\n        case str(_a=y): return y", "a class pattern"),
        ("return x  # type: ignore", "the comment"),
        ("return (", "this is not Python"),
        ("return " + "-" * 30_000 + "1", "over the limit"),
        ("return " + "-" * 15_000 + "1", "this is not Python"),
    ],
)
def test_what_is_forbidden_is_named(line: str, said: str) -> None:
    found = lint(
        f"import re\nimport json\nimport programs\n\n\ndef f(x: str) -> str:\n    {line}\n", ["mousepad"]
    )
    assert any(said in one for one in found), found


@pytest.mark.parametrize(
    "line", ["print(1)", "x = open('a')", "if 1:\n    x = 1", "while 1: pass", "@f\ndef g(): pass"]
)
def test_nothing_runs_when_a_module_is_loaded(line: str) -> None:
    assert lint(line)


def test_the_applications_own_program_is_allowed() -> None:
    code = 'import programs\n\n\ndef f(x: str) -> str:\n    programs.run(["mousepad", x])\n    return x\n'
    assert lint(code, ["mousepad"]) == []
    assert lint(code) == ["line 5: the program 'mousepad' is not allowed"]
