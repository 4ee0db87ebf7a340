"""What a model is told when it builds functions: what there is, what code may use, and the form of its replies."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from operant.building.allowed import MODULES, TOOLS
from operant.building.candidate import Proposal

__all__ = ["function_question", "list_question", "system_words"]

MOST_OFFER = 24_000  # characters
MOST_TASKS = 40

_FORM = """\
Reply with two blocks and nothing else of that kind. ```python holds a module with a docstring, its imports, literal
constants, one public function with annotations and a docstring, and private functions whose names begin with an
underscore. ```json holds its tests:
{"tests": [{"files": {"a.txt": "text"}, "open": ["a.txt"], "arguments": {"path": "a.txt"},
  "expect": {"result": 1, "changes": {"b.txt": "all of its text"}},
  "mutations": [{"arguments": {"path": "c.txt"}, "expect": {"refused": "there is no file"}}]}]}
files: text files below HOME before the call. open: the application is opened with these arguments first (leave it out if
it is not needed). expect states the outcome exactly: result; or refused, a part of the message; changes: every file below
HOME that the call changes, null for one that it removes; windows: by how many their number grows; starts: programs that
run on; clipboard; then: [{"function", "arguments", "result"}], calls of functions that exist. What is not stated must not
happen. A mutation changes some arguments of its test and states another outcome. Each parameter needs a mutation of it
alone. A function without parameters needs two tests with different outcomes. The code must not name values of the tests.
"""


def system_words(programs: Collection[str]) -> str:
    """What holds for all questions."""
    modules = "\n".join(
        f"  {name}: {', '.join(sorted(names)) or 'everything public'}" for name, names in MODULES.items()
    )
    return (
        "You write Python functions that operate an application inside a sandboxed Linux desktop without a network. "
        "They are type-checked by mypy --strict, linted, and tested on three fresh desktops. Parameters and results are"
        " str, int, float, bool, list[...], dict[str, ...], Literal[...] or object. Raise Refused with a sentence where a"
        " call can't be done. A function has 10 seconds; TIME_LIMITS = {name: seconds} gives it up to 30.\n"
        f"Only these modules and names may be used:\n{modules}\n"
        "home_files reads and writes text below HOME; bus speaks D-Bus: `with session_bus() as bus: bus.call(destination,"
        " path, interface, member, signature, arguments)`; widgets reads the accessibility tree; programs.run(argv) and"
        " opening.open_program(argv) take a literal list whose first word is one of "
        f"{', '.join(sorted({*programs, *TOOLS}))}. No classes, generators, decorators, underscored attributes,"
        " str.format, eval, open, os, subprocess, sockets or threads."
    )


def list_question(app: str, offer: str, functions: str, tasks: Sequence[str]) -> str:
    wanted = "\n".join(f"- {task}" for task in tasks[:MOST_TASKS])
    return (
        f"The application {app} offers this:\n{offer[:MOST_OFFER]}\n\n{functions or 'There are no functions yet.'}\n\n"
        f"Tasks that an agent has to do with it:\n{wanted}\n\n"
        "Which functions are missing that would shorten these tasks? Reply with one block ```json:\n"
        '{"functions": [{"name": "snake_case", "signature": "(path: str) -> int", "doc": "What it does."}]}'
    )


def function_question(app: str, offer: str, functions: str, wanted: Proposal) -> str:
    return (
        f"The application {app} offers this:\n{offer[:MOST_OFFER]}\n\n{functions}\n\n"
        f"Write the function {wanted.name}{wanted.signature}: {wanted.doc}\n\n{_FORM}"
    )
