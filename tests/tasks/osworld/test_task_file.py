from __future__ import annotations

import json
from pathlib import Path

import pytest

from operant.errors import TaskError
from operant.tasks.osworld.task_file import read_examples
from operant.tasks.osworld.template import load_osworld, with_options
from operant.tasks.suites import desktop_of, load_suite, with_absolute_files


def rule(text: str = "yes") -> dict[str, object]:
    return {
        "func": "exact_match",
        "result": {"type": "vm_command_line", "command": "true"},
        "expected": {"type": "rule", "rules": {"expected": text}},
    }


def test_a_checkout_and_its_directory_are_the_same(checkout) -> None:
    root = checkout(one=("os", {}), two=("vlc", {"evaluator": rule()}))
    assert [task.id for task in read_examples(root)] == ["one", "two"]
    assert read_examples(root) == read_examples(root / "evaluation_examples")


def test_a_meta_file_and_domains_choose(checkout) -> None:
    root = checkout(one=("os", {}), two=("vlc", {}), three=("vlc", {}))
    (root / "evaluation_examples" / "some.json").write_text(json.dumps({"vlc": ["three"], "os": ["one"]}))
    assert [task.id for task in read_examples(root, "some.json")] == ["three", "one"]
    assert [task.id for task in read_examples(root, None, ["vlc"])] == ["two", "three"]
    with pytest.raises(TaskError, match="no domain 'vcl'") as caught:
        read_examples(root, None, ["vcl"])
    assert "vlc" in str(caught.value.hint)
    with pytest.raises(TaskError, match=r"no meta file 'sum.json'"):
        read_examples(root, "sum.json")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"evaluator": None}, "evaluator: it is missing"),
        ({"instruction": 3}, "instruction"),
        ({"config": [{"parameters": {}}]}, r"config\[0\]"),
        ({"config": [{"type": "open", "parameters": []}]}, r"config\[0\].parameters"),
        ({"evaluator": {"func": ["a", "b"], "result": [{}]}}, "there are 2 metrics"),
        ({"evaluator": {"func": "a", "conj": "xor"}}, "neither and nor or"),
        ({"evaluator": {"func": []}}, "names no metric"),
    ],
)
def test_a_wrong_field_is_named(checkout, fields: dict[str, object], told: str) -> None:
    root = checkout(one=("os", fields))
    with pytest.raises(TaskError, match=told) as caught:
        read_examples(root)
    assert "one.json" in caught.value.message


def test_no_task_file_leads_out_of_the_checkout(checkout) -> None:
    root = checkout(one=("os", {}))
    (root / "evaluation_examples" / "bad.json").write_text(json.dumps({"os": ["../../secret"]}))
    with pytest.raises(TaskError, match="is not a task"):
        read_examples(root, "bad.json")


def test_a_place_without_tasks_says_what_to_name(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="no directory 'examples'"):
        load_osworld(str(tmp_path))
    with pytest.raises(TaskError, match="needs a path"):
        load_osworld("")


def test_classes_follow_from_the_file(checkout) -> None:
    download = {"type": "download", "parameters": {"files": [{"url": "http://x/a", "path": "/home/user/a"}]}}
    install = {"type": "execute", "parameters": {"command": ["sudo", "apt-get", "install", "-y", "jq"]}}
    root = checkout(
        free=("os", {"evaluator": rule()}),
        cached=("os", {"evaluator": rule(), "config": [download]}),
        never=("os", {}),
        packaged=("os", {"evaluator": rule(), "config": [download, install]}),
        live=("os", {"evaluator": rule(), "proxy": True}),
    )
    found = {template.file.id: template.about()["class"] for template in load_osworld(str(root))}
    assert found == {"free": "Z", "cached": "A", "never": "I", "packaged": "P", "live": "N1"}
    assert [t.file.id for t in load_osworld(f"{root}?class=z+i")] == ["free", "never"]
    with pytest.raises(TaskError, match="'Q' is not a class"):
        load_osworld(f"{root}?class=Q")


def test_what_is_not_covered_is_left_out_and_named(checkout) -> None:
    strange = {"func": "taste", "result": {"type": "smell"}, "expected": {"type": "rule", "rules": {}}}
    table = {"func": "compare_table", "options": {"rules": [{"type": "mood"}]}, "result": {"type": "vm_file"}}
    root = checkout(
        known=("os", {}),
        strange=("os", {"evaluator": strange, "config": [{"type": "dance"}]}),
        mood=("os", {"evaluator": table}),
    )
    assert [t.file.id for t in load_osworld(str(root))] == ["known"]
    reasons = {t.file.id: t.reasons for t in load_osworld(f"{root}?uncovered=yes")}
    assert reasons["strange"] == ["set-up 'dance'", "metric 'taste'", "getter 'smell'"]
    assert reasons["mood"] == ["compare_table rule 'mood'"]
    template = next(t for t in load_osworld(f"{root}?uncovered=yes") if t.file.id == "strange")
    with pytest.raises(TaskError, match="'taste'"):
        template.instance(0)


def test_options_are_part_of_the_suite(checkout) -> None:
    root = checkout(one=("os", {}), two=("vlc", {}))
    suite = with_options(f"osworld:{root}", {"domain": "os,vlc", "class": "I", "meta": None})
    assert suite == f"osworld:{root}?domain=os+vlc&class=I"
    assert [template.id for template in load_suite(suite)] == ["osworld/one-v1", "osworld/two-v1"]
    desktop = desktop_of(suite)
    assert (desktop["width"], desktop["height"]) == (1920, 1080)
    assert desktop["environment"]["PATH"].startswith("/run/operant/osworld/bin:")
    assert desktop_of("core") == {}
    assert with_absolute_files("osworld:here?class=I") == f"osworld:{Path.cwd()}/here?class=I"
    with pytest.raises(TaskError, match="'klass' is not an option"):
        load_suite(f"osworld:{root}?klass=I")
