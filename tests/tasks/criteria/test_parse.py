"""Criteria as task files write them, and the errors that they make in them."""

from __future__ import annotations

import pytest

from operant.errors import TaskError
from operant.tasks.criteria import (
    CRITERIA,
    Accessible,
    AllOf,
    AnyOf,
    Criterion,
    FileContains,
    FileExists,
    Not,
    Setting,
    WindowTitle,
    parse_criterion,
)

WHERE = "tasks.json: task 7: success_criteria"
KEYS = {
    "file_exists",
    "file_not_exists",
    "file_contains",
    "file_equals",
    "directory_contains",
    "window_title",
    "window_absent",
    "window_geometry",
    "process_running",
    "clipboard_equals",
    "command_output",
    "accessible",
    "url",
    "setting",
    "spreadsheet_cell",
    "document_text",
    "image_similar",
    "answer",
    "all",
    "any",
    "not",
}


def test_every_key_of_the_format_is_known():
    assert set(CRITERIA) >= KEYS
    assert all(issubclass(kind, Criterion) and kind.__doc__ for kind in CRITERIA.values())
    for kind in CRITERIA.values():
        assert all(field.description for field in kind.model_fields.values()), kind


@pytest.mark.parametrize(
    ("data", "criterion"),
    [
        ({"file_exists": "output.txt"}, FileExists(path="output.txt")),
        ({"file_exists": {"path": "d", "kind": "directory"}}, FileExists(path="d", kind="directory")),
        ({"window_title": "Calculator"}, WindowTitle(title="Calculator")),
        ({"not": {"file_exists": "a"}}, Not(of=FileExists(path="a"))),
        (
            {"any": [{"file_exists": "a"}, {"window_title": "b"}]},
            AnyOf(of=(FileExists(path="a"), WindowTitle(title="b"))),
        ),
        (
            {"all": {"file_exists": "a", "window_title": "b"}},
            AllOf(of=(FileExists(path="a"), WindowTitle(title="b"))),
        ),
        ({"file_exists": "a", "window_title": "b"}, AllOf(of=(FileExists(path="a"), WindowTitle(title="b")))),
        (
            [{"file_exists": "a"}, {"window_title": "b"}],
            AllOf(of=(FileExists(path="a"), WindowTitle(title="b"))),
        ),
        ({"file_exists": ["a", "b"]}, AllOf(of=(FileExists(path="a"), FileExists(path="b")))),
        (
            {"file_contains": {"path": "a", "text": "b", "times": 2}},
            FileContains(path="a", text="b", times=2),
        ),
        (
            {"setting": {"schema": "org.a", "key": "k", "equals": True}},
            Setting(schema="org.a", key="k", equals=True),
        ),
        ({"accessible": {"app": "galculator", "text": "36"}}, Accessible(app="galculator", text="36")),
    ],
)
def test_criteria_are_read(data, criterion):
    assert parse_criterion(data, WHERE) == criterion


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"file_exist": "a"}, ["file_exist", "'file_exists'"]),
        ({"windows_title": "a"}, ["'window_title'"]),
        ({"python": "os.system('x')"}, ["python", "valid:"]),
        ({"file_exists": {"pth": "a"}}, ["file_exists.pth", "'path'"]),
        ({"setting": {"schemas": "a", "key": "k", "equals": 1}}, ["'schema'"]),
        ({"file_exists": {"path": "a", "kind": "folder"}}, ["file_exists.kind", "'folder'"]),
        ({"file_exists": {}}, ["file_exists.path"]),
        ({"file_exists": 7}, ["file_exists", "7"]),
        ({"file_exists": None}, ["file_exists"]),
        ({"file_exists": "/etc/passwd"}, ["file_exists", "/etc/passwd", "outside"]),
        ({"file_exists": "../../x"}, ["outside"]),
        (
            {"not": {"any": [{"file_exists": "a"}, {"file_exists": "/x"}]}},
            ["not.any[1].file_exists", "outside"],
        ),
        ({"file_contains": {"path": "a", "text": 42}}, ["file_contains.text", "quotes"]),
        ({"any": []}, ["any"]),
        ({"any": "file_exists"}, ["any", "list"]),
        ({}, ["no criterion"]),
        ([], ["no criterion"]),
        ("file_exists", ["file_exists"]),
        (None, ["None"]),
        ({"directory_contains": "d"}, ["directory_contains", "mapping with path, names"]),
        ({"command_output": "ls"}, ["command_output", "command"]),
        ({3: "x"}, ["3"]),
    ],
)
def test_mistakes_are_named(data, words):
    with pytest.raises(TaskError) as caught:
        parse_criterion(data, WHERE)
    told = str(caught.value)
    assert told.startswith(WHERE)
    for word in words:
        assert word in told


def test_criteria_that_are_nested_without_end():
    data: dict[str, object] = {"file_exists": "a"}
    for _ in range(1000):
        data = {"not": data}
    with pytest.raises(TaskError, match="too deeply"):
        parse_criterion(data, WHERE)
