"""A function that a model offers, with its tests, read from its reply and checked as text.

A test is data, not code: files and an application to begin with, arguments, and the exact outcome. So a test can't assert
nothing, and every claim is compared by Operant itself. Knows no desktop.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from operant.calls.admitted import declared
from operant.calls.catalog import canonical_name, find_function
from operant.calls.declaration import Function
from operant.calls.reading import read_type
from operant.errors import BadArguments, ConfigError, UnknownFunction

__all__ = [
    "CallOutcome",
    "Candidate",
    "FunctionTest",
    "Proposal",
    "check_result",
    "problems_of_tests",
    "read_candidate",
    "read_proposals",
]

BLOCK = re.compile(r"^```(\w+)[ \t]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
MOST_TESTS, MOST_MUTATIONS, MOST_PROPOSALS = 8, 12, 20
MOST_SECONDS = 30.0  # that a function may ask for
NAME = r"[a-z][a-z0-9_]{1,40}"
F = TypeVar("F", bound=BaseModel)


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FurtherCall(_Form):
    """A call of a function that there is already, and what it answers."""

    function: str = Field(max_length=100)
    arguments: dict[str, Any] = {}
    result: Any = None


class CallOutcome(_Form):
    """What a call leads to. What is not stated must not happen."""

    result: Any = None
    """Exactly what it returns."""
    refused: str | None = Field(default=None, max_length=300)
    """Instead of a result: a part of the message with which it refuses."""
    changes: dict[str, str | None] = Field(default={}, max_length=20)
    """Files below HOME that it changes, with all of their text; null for one that it removes."""
    windows: int = 0
    """By how many the number of windows grows."""
    starts: list[str] = Field(default=[], max_length=5)
    """Programs that run on afterwards."""
    clipboard: str | None = None
    """What the clipboard holds afterwards, where it is changed."""
    then: list[FurtherCall] = Field(default=[], max_length=5)
    """What other functions answer afterwards."""

    @property
    def states_something(self) -> bool:
        return self.result is not None or self.refused is not None or bool(self.changes or self.then)


class Mutation(_Form):
    """The same test with other arguments, and the other outcome that they lead to."""

    arguments: dict[str, Any] = Field(min_length=1, max_length=10)
    expect: CallOutcome


class FunctionTest(_Form):
    """One test: what there is before, the arguments, and the outcome."""

    files: dict[str, str] = Field(default={}, max_length=20)
    """Text files below HOME."""
    open: list[str] | None = Field(default=None, max_length=10)
    """Arguments with which the application is opened first; not opened without them."""
    arguments: dict[str, Any] = Field(default={}, max_length=20)
    expect: CallOutcome
    mutations: list[Mutation] = Field(default=[], max_length=MOST_MUTATIONS)


class Proposal(_Form):
    """A function that a model finds missing."""

    name: str = Field(pattern=f"^{NAME}$")
    signature: str = Field(default="", max_length=500)
    doc: str = Field(min_length=1, max_length=1000)


class Candidate(_Form):
    """Code and tests of one function."""

    model_config = ConfigDict(arbitrary_types_allowed=True, frozen=True)

    function: Any
    code: str
    tests: list[FunctionTest]

    @property
    def declaration(self) -> Function:
        assert isinstance(self.function, Function)
        return self.function


def read_proposals(reply: str) -> list[Proposal]:
    """The functions that a model lists; ``ConfigError`` says what is wrong with the list."""
    given = _json(_block(reply, "json"))
    listed = given.get("functions") if isinstance(given, dict) else given
    if not isinstance(listed, list):
        raise ConfigError('the list of functions must be {"functions": [...]}')
    return [_form(Proposal, one, f"function {n}") for n, one in enumerate(listed[:MOST_PROPOSALS], 1)]


def read_candidate(reply: str, api: str, name: str) -> Candidate:
    """The code and the tests of a reply; ``ConfigError`` says what can't be read. Nothing is run."""
    code = _block(reply, "python")
    function = declared(api, name, code)
    if canonical_name(function.full_name) is not None:
        raise ConfigError(f"there is a function {function.full_name} already")
    if function.time_limit_s > MOST_SECONDS:
        raise ConfigError(f"a function may take at most {MOST_SECONDS:g} s")
    given = _json(_block(reply, "json"))
    listed = given.get("tests") if isinstance(given, dict) else given
    if not isinstance(listed, list) or not listed:
        raise ConfigError('the tests must be {"tests": [...]} with at least one test')
    if len(listed) > MOST_TESTS:
        raise ConfigError(f"there may be {MOST_TESTS} tests")
    tests = [_form(FunctionTest, one, f"test {number}") for number, one in enumerate(listed, 1)]
    return Candidate(function=function, code=code, tests=tests)


def problems_of_tests(candidate: Candidate) -> list[str]:
    """Why the tests prove nothing, or can't be run; empty if they may count."""
    function, said = candidate.declaration, []
    for number, test in enumerate(candidate.tests, 1):
        runs = [("", test.arguments, test.expect)]
        runs += [
            (f", mutation {n}", {**test.arguments, **one.arguments}, one.expect)
            for n, one in enumerate(test.mutations, 1)
        ]
        for which, arguments, expected in runs:
            said += [f"test {number}{which}: {why}" for why in _wrong(function, arguments, expected)]
        for n, one in enumerate(test.mutations, 1):
            if one.expect == test.expect:
                said.append(f"test {number}, mutation {n}: states the same outcome as the test")
    if all(test.expect.refused is not None for test in candidate.tests):
        said.append("no test states that the function succeeds")
    mutated = {
        name
        for test in candidate.tests
        for one in test.mutations
        for name in one.arguments
        if len(one.arguments) == 1 and one.expect != test.expect
    }
    for parameter in function.parameters:
        if parameter.name not in mutated:
            said.append(f"no test has a mutation of {parameter.name} alone that changes the outcome")
    outcomes = [test.expect for test in candidate.tests]
    if not function.parameters and all(one == outcomes[0] for one in outcomes):
        said.append("a function without parameters needs two tests with different outcomes")
    return [*said, *_given_away(candidate)]


def _wrong(function: Function, arguments: Mapping[str, Any], expected: CallOutcome) -> list[str]:
    said = []
    try:
        function.bind((), tuple(arguments.items()))
    except BadArguments as error:
        said.append(error.message)
    if not expected.states_something:
        said.append("asserts nothing: state result, refused, changes or then")
    if expected.refused is not None and (expected.result is not None or len(expected.refused.strip()) < 3):
        said.append("a refusal is stated by at least three characters of its message, and has no result")
    for path in expected.changes:
        if path.startswith(("/", "~")) or ".." in path.split("/"):
            said.append(f"{path[:60]!r} is no path below HOME")
    for call in expected.then:
        try:
            find_function(call.function).bind((), tuple(call.arguments.items()))
        except (UnknownFunction, BadArguments) as error:
            said.append(error.message)
    return said


def _given_away(candidate: Candidate) -> list[str]:
    """Values of the tests that the code names: it may answer the tests and nothing else."""
    values = {
        one
        for test in candidate.tests
        for one in _texts([test.arguments, test.files, *(m.arguments for m in test.mutations)])
    }
    choices = {
        one
        for parameter in candidate.declaration.parameters
        for one in _texts([list(parameter.type.choices)])
    }
    tree = ast.parse(candidate.code)
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    named = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    }
    found = sorted(one for one in named & values - choices if len(one) >= 3)
    return [f"the code names {one[:40]!r}, a value of its own tests" for one in found]


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [one for pair in value.items() for part in pair for one in _texts(part)]
    return [one for part in value for one in _texts(part)] if isinstance(value, list | tuple) else []


def check_result(function: Function, value: object) -> None:
    """``BadArguments`` unless a result is of the type that the function says."""
    kind = read_type(function.full_name, ast.parse(function.result, mode="eval").body)
    kind.check_alone(value, "the result")


def _block(reply: str, language: str) -> str:
    found = [text for named, text in BLOCK.findall(reply) if named.lower() == language]
    if len(found) != 1:
        raise ConfigError(f"the reply must have one block ```{language}, and has {len(found)}")
    return str(found[0])


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"the JSON can't be read: {error}") from error


def _form(kind: type[F], given: object, where: str) -> F:
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ConfigError(f"{where}: {place}: {first['msg']}") from error
