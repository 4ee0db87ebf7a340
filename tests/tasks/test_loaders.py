"""Tasks from files: what is shipped works, what is wrong is named."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from loguru import logger

from operant.apps.view import View
from operant.desktop.sandbox import SandboxDesktop
from operant.envs.task_environment import TaskEnvironment
from operant.errors import TaskError
from operant.tasks import template as template_module
from operant.tasks.criteria import AllOf, Answer, FileEquals, FileExists, WindowTitle, World
from operant.tasks.loaders import load_tasks, load_templates
from operant.tasks.setup import Launch, WriteFile
from operant.tasks.task import Task
from operant.types import Action, Difficulty, Outcome

CONFIG = Path(__file__).parents[2] / "config"
SHIPPED = sorted(path for path in CONFIG.iterdir() if path.name.startswith("tasks"))

SEED = {
    "id": 7,
    "instruction": "Your custom task instruction",
    "difficulty": "MEDIUM",
    "num_steps": 12,
    "success_criteria": {"file_exists": "output.txt"},
}
BLANKS = {
    "id": "note",
    "instruction": "Write {word} into {file}",
    "difficulty": "EASY",
    "parameters": {"word": {"word": "nouns"}, "file": {"file_name": "txt"}},
    "setup": [{"write_file": {"path": "{file}", "text": "{{not a blank}} {word}"}}],
    "success": {"file_equals": {"path": "{file}", "text": "{word}"}},
}


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """A file of tasks."""

    def write(data: Any, name: str = "my tasks.json") -> Path:
        path = tmp_path / name
        path.write_text(data if isinstance(data, str) else json.dumps(data))
        return path

    return write


# What loads.


def test_the_form_of_the_seeds_loads_as_it_is(written):
    calculator = {
        "id": 1,
        "instruction": "Open the calculator",
        "difficulty": "EASY",
        "num_steps": 5,
        "success_criteria": {"window_title": "Calculator"},
    }
    first, second = load_tasks(written([calculator, SEED]))
    assert (first.id, second.id) == ("my_tasks/1-v1", "my_tasks/7-v1")
    assert first.instruction == "Open the calculator"
    assert first.success == WindowTitle(title="Calculator")
    assert second.success == FileExists(path="output.txt")
    assert (first.difficulty, second.difficulty) == (Difficulty.EASY, Difficulty.MEDIUM)
    assert first.max_steps >= 10
    assert second.max_steps >= 24
    assert first.oracle is None
    assert (first.profile, first.setup) == ("full", ()), "programs can be opened"


@pytest.mark.parametrize("form", [SEED, [SEED], {"tasks": [SEED]}, {"suite": "mine", "tasks": [SEED]}])
def test_one_task_or_many(written, form):
    (task,) = load_tasks(written(form))
    assert task.id == ("mine/7-v1" if "suite" in form else "my_tasks/7-v1")


def test_yaml_loads_as_json_does(written):
    (task,) = load_tasks(
        written("- id: 7\n  instruction: x\n  difficulty: easy\n  success: {file_exists: a}\n", "t.yml")
    )
    assert task.id == "t/7-v1"
    assert task.difficulty is Difficulty.EASY


@pytest.mark.parametrize(
    ("given", "made"),
    [
        (3, "f/3-v1"),
        ("Open It!", "f/open-it-v1"),
        ("a-v2", "f/a-v2"),
        ("other/a", "other/a-v1"),
        ("a_b", "f/a-b-v1"),
    ],
)
def test_ids(written, given, made):
    assert load_tasks(written({**SEED, "id": given}, "f.json"))[0].id == made


@pytest.mark.parametrize(
    ("fields", "profile"),
    [
        ({}, "full"),
        ({"setup": []}, "bare"),
        ({"setup": [], "profile": "full"}, "full"),
        ({"profile": "bare"}, "bare"),
    ],
)
def test_a_task_that_does_not_say_where_it_begins_has_a_full_desktop(written, fields, profile):
    (task,) = load_tasks(written({**SEED, **fields}))
    assert (task.profile, task.setup) == (profile, ())


def test_a_profile_that_is_not_there(written):
    with pytest.raises(TaskError, match="profile") as caught:
        load_tasks(written({**SEED, "profile": "ful"}))
    assert "full" in caught.value.hint


def test_braces_are_braces_without_parameters(written):
    text = 'a {color: red} {"b": 1} {} ${HOME}'
    setup = [{"write_file": {"path": "a.css", "text": text}}]
    (task,) = load_tasks(written({**SEED, "instruction": "Write {{x}}", "setup": setup}))
    assert task.instruction == "Write {x}"
    assert task.setup == (WriteFile(path="a.css", text=text),)
    assert (task.seed, task.split) == (None, None)


@pytest.mark.parametrize(
    ("field", "where"),
    [
        ({"instruction": "hi {who}"}, "instruction"),
        ({"setup": [{"write_file": {"path": "{who}", "text": "a"}}]}, "setup[0].write_file.path"),
        ({"success_criteria": {"file_exists": "{who}"}}, "success_criteria.file_exists"),
        ({"oracle": [{"type": "{who}"}]}, "oracle[0].type"),
    ],
)
def test_a_blank_without_a_parameter_is_an_error(written, field, where):
    with pytest.raises(TaskError, match=r"no parameter fills the blank '\{who\}'") as caught:
        load_tasks(written({**SEED, **field}))
    assert where in caught.value.message
    assert "{{who}}" in caught.value.hint


def test_every_phrasing_is_checked_when_a_file_is_loaded(written):
    phrasings = [*(f"Write {{word}} {number}" for number in range(30)), "Write {wrod}"]
    entry = {name: value for name, value in SEED.items() if name != "instruction"}
    with pytest.raises(TaskError, match=r"\{wrod\}"):
        load_tasks(written({**entry, "instructions": phrasings, "parameters": {"word": {"word": "nouns"}}}))


def test_a_program_that_is_not_installed_is_answered_with_those_that_are(written, monkeypatch):
    there = ("xterm", "mousepad")
    monkeypatch.setattr(
        shutil, "which", lambda name, path=None: f"/usr/bin/{name}" if name in there else None
    )
    for command, hint in (("nosuch", "installed here: mousepad, xterm"), ("xtrem", "did you mean 'xterm'?")):
        with pytest.raises(TaskError, match="no such program is installed") as caught:
            load_tasks(written({**SEED, "setup": [{"launch": {"command": [command]}}]}))
        assert caught.value.hint == hint


# Blanks.


def test_a_seed_fills_the_blanks(written):
    (template,) = load_templates(written(BLANKS))
    task = template.instance(3)
    word, file = task.parameters["word"], task.parameters["file"]
    assert task.instruction == f"Write {word} into {file}"
    assert task.setup == (WriteFile(path=file, text=f"{{not a blank}} {word}"),)
    assert task.success == FileEquals(path=file, text=word)
    assert (task.seed, task.split) == (3, "train")
    assert template.instance(3) == task
    assert len({template.instance(seed).instruction for seed in range(20)}) > 10


def test_training_and_held_out_instances_share_no_instruction(written):
    (template,) = load_templates(written(BLANKS))
    train = {template.instance(seed).instruction for seed in range(300)}
    heldout = {template.instance(seed, "heldout").instruction for seed in range(300)}
    assert not train & heldout


def test_a_task_in_which_nothing_is_drawn_is_the_same_in_both_splits(written, monkeypatch):
    monkeypatch.setattr(template_module, "_warned", set())
    warnings = []
    number = logger.add(warnings.append, level="WARNING", format="{message}")
    try:
        (plain,) = load_templates(written(SEED))
        assert not warnings
        assert plain.instance(0, "heldout") == plain.instance(0)
        assert plain.instance(1, "heldout").split is None
    finally:
        logger.remove(number)
    (warning,) = warnings
    assert "my_tasks/7-v1: nothing is drawn in 'Your custom task instruction'" in warning


def test_every_way_to_fill_a_blank(written):
    parameters = {
        "a": {"number": [10, 99]},
        "b": {"number": [10, 99]},
        "sum": {"sum": ["a", "b"]},
        "product": {"product": ["a", "b"]},
        "rest": {"difference": ["a", "b"]},
        "some": [1, "two"],
        "one": {"choice": ["x"]},
        "fixed": "as it is",
        "words": {"phrase": 2},
        "place": {"place": [300, 200]},
    }
    text = "{a} {b} {sum} {product} {rest} {some} {one} {fixed} {words}"
    launch = {"launch": {"command": ["xterm"], "place": "{place}"}}
    (template,) = load_templates(
        written(
            {
                **BLANKS,
                "instruction": text,
                "parameters": parameters,
                "setup": [launch],
                "success": {"answer": {"text": "{sum}", "numeric": True}},
            }
        )
    )
    task = template.instance(1)
    p = task.parameters
    assert p["sum"] == p["a"] + p["b"]
    assert p["product"] == p["a"] * p["b"]
    assert p["rest"] == p["a"] - p["b"]
    assert task.instruction == " ".join(
        str(p[name]) for name in ("a", "b", "sum", "product", "rest", "some", "one", "fixed", "words")
    )
    assert task.success == Answer(text=str(p["sum"]), numeric=True)
    assert isinstance(task.setup[0], Launch)
    assert task.setup[0].place == tuple(p["place"])


def test_what_fills_a_blank_is_never_filled_or_evaluated_itself(written):
    parameters = {"a": "{b}", "b": "{0.__class__}", "word": {"word": "nouns"}}
    (task,) = load_tasks(
        written(
            {
                **BLANKS,
                "instruction": "{a} {b} {word}",
                "parameters": parameters,
                "setup": [],
                "success": {"file_exists": "{word}"},
            }
        )
    )
    assert task.instruction.startswith("{b} {0.__class__} ")


# Mistakes.


def changed(**fields: Any) -> dict[str, Any]:
    return {key: value for key, value in {**SEED, **fields}.items() if value is not ...}


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (changed(sucess_criteria={}), ["sucess_criteria", "'success_criteria'"]),
        (changed(id=...), ["id"]),
        (changed(id=True), ["id"]),
        (changed(id=""), ["id"]),
        (changed(id="???"), ["id"]),
        (changed(instruction=...), ["instruction", "missing"]),
        (changed(instruction=""), ["instruction"]),
        (changed(instruction=["a", 3]), ["instruction"]),
        (changed(instructions=["x"]), ["instruction", "twice"]),
        (changed(success={"file_exists": "a"}), ["success_criteria", "twice"]),
        (changed(success_criteria=...), ["success_criteria", "missing"]),
        (changed(success_criteria={"file_exist": "a"}), ["success_criteria.file_exist", "'file_exists'"]),
        (changed(success_criteria={"file_exists": "/etc/x"}), ["success_criteria.file_exists", "outside"]),
        (changed(success_criteria={}), ["success_criteria", "no criterion"]),
        (changed(difficulty="EASYY"), ["difficulty", "'EASYY'", "'EASY'"]),
        (changed(difficulty=3), ["difficulty"]),
        (changed(difficulty=..., num_steps=...), ["difficulty"]),
        (changed(num_steps=0), ["num_steps", "0"]),
        (changed(num_steps="12"), ["num_steps"]),
        (changed(max_steps=10**9), ["max_steps"]),
        (changed(apps=["galculater"]), ["apps", "galculater", "'galculator'"]),
        (changed(apps=3), ["apps"]),
        (changed(unseen="no"), ["unseen"]),
        (changed(skill=3), ["skill"]),
        (changed(setup={"run": {}}), ["setup", "list"]),
        (changed(setup=[{"lunch": {"command": ["xterm"]}}]), ["setup[0]", "'lunch'", "'launch'"]),
        (changed(setup=[{"launch": {"comand": ["xterm"]}}]), ["setup[0].launch.comand", "'command'"]),
        (changed(setup=[{"launch": {"command": []}}]), ["setup[0].launch.command"]),
        (
            changed(setup=[{"launch": {"command": ["galculater"]}}]),
            ["setup[0].launch.command", "'galculator'"],
        ),
        (changed(setup=[{"launch": {"command": "xterm"}}]), ["setup[0].launch.command"]),
        (changed(setup=[{"launch": {"command": ["xterm"]}, "run": {}}]), ["setup[0]"]),
        (
            changed(setup=[{"write_file": {"path": "/etc/x", "text": ""}}]),
            ["setup[0].write_file.path", "outside"],
        ),
        (changed(setup=[{"serve": {"directory": "../.."}}]), ["setup[0].serve.directory", "outside"]),
        (changed(oracle=[]), ["oracle"]),
        (changed(oracle=["click"]), ["oracle[0]"]),
        (changed(oracle=[{"clik": {"name": "OK"}}]), ["oracle[0].clik", "'click'"]),
        (changed(oracle=[{"click": {"nam": "OK"}}]), ["oracle[0].click.nam", "'name'"]),
        (changed(oracle=[{"click": {}}]), ["oracle[0].click"]),
        (changed(oracle=[{"key": "ctrl+nonsense"}]), ["oracle[0].key", "nonsense"]),
        (changed(oracle=[{"type": 42}]), ["oracle[0].type", "quotes"]),
        (changed(oracle=[{"wait": "long"}]), ["oracle[0].wait"]),
        (changed(oracle=[{"wait": 1e9}]), ["oracle[0].wait"]),
        (changed(oracle=[{"type": "a", "key": "b"}]), ["oracle[0]", "one thing"]),
        (changed(oracle=[{"type": "a", "until": {"fil": "x"}}]), ["oracle[0].until.fil"]),
        (changed(parameters=[]), ["parameters"]),
        (changed(parameters={"A b": 1}), ["parameters", "'A b'"]),
        (changed(parameters={"a": {"wrod": "nouns"}}), ["parameters.a", "'wrod'", "'word'"]),
        (changed(parameters={"a": {"word": "nuons"}}), ["parameters.a", "'nuons'", "nouns"]),
        (changed(parameters={"a": {"word": "nouns", "number": [1, 2]}}), ["parameters.a"]),
        (changed(parameters={"a": {"number": [9, 1]}}), ["parameters.a", "9"]),
        (changed(parameters={"a": {"number": [0, 10**12]}}), ["parameters.a"]),
        (changed(parameters={"a": {"number": "1-9"}}), ["parameters.a"]),
        (changed(parameters={"a": []}), ["parameters.a"]),
        (changed(parameters={"a": {"sum": ["b"]}}), ["parameters.a", "'b'"]),
        (changed(parameters={"a": "x", "b": {"sum": ["a"]}}), ["parameters.b", "not a number"]),
        (changed(parameters={"word": "x"}, instruction="{wrd}"), ["instruction", "'{wrd}'", "'word'"]),
        (
            changed(parameters={"word": "x"}, success_criteria={"file_exists": "{word.x}"}),
            ["success_criteria", "blank"],
        ),
    ],
)
def test_mistakes_name_the_file_the_task_and_the_field(written, entry, words):
    path = written([entry])
    with pytest.raises(TaskError) as caught:
        load_tasks(path)
    told = str(caught.value)
    assert str(path) in told
    assert "task 7" in told or "id" in words, told
    for word in words:
        assert word in told


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("", "a.json", ["line 1"]),
        ("[{]", "a.json", ["line 1"]),
        ("[]", "a.json", ["no tasks"]),
        ("null", "a.yaml", ["no tasks"]),
        ("3", "a.json", ["no tasks"]),
        ("[3]", "a.json", ["task 1", "3"]),
        ("tasks: []\nsuit: a", "a.yaml", ["'suit'", "'suite'"]),
        ("a: [1\nb: 2", "a.yaml", ["line 2"]),
        ('{"id": 1, "id": 2}', "a.json", ["'id'", "twice"]),
        ("id: 1\nid: 2", "a.yaml", ["'id'", "twice"]),
        ("!!python/object/apply:os.system ['true']", "a.yaml", ["a.yaml"]),
        ("? [a]\n: b", "a.yaml", ["a.yaml"]),
        ("&a [*a]", "a.yaml", ["a.yaml"]),
        ("[" * 100_000, "a.json", ["a.json"]),
        ("[" * 400, "a.yaml", ["a.yaml"]),
        ("x", "a.toml", [".yaml"]),
        ("\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), "a.json", ["a.json"]),
    ],
    ids=lambda value: str(value)[:20],
)
def test_files_that_are_none(written, text, name, words):
    with pytest.raises(TaskError) as caught:
        load_tasks(written(text, name))
    for word in words:
        assert word in str(caught.value)


def test_files_that_are_not_there_or_not_text(tmp_path):
    with pytest.raises(TaskError, match="can't be read"):
        load_tasks(tmp_path / "missing.json")
    with pytest.raises(TaskError, match="can't be read"):
        load_tasks(tmp_path)
    (tmp_path / "a.json").write_bytes(b"\xff\xfe")
    with pytest.raises(TaskError, match="UTF-8"):
        load_tasks(tmp_path / "a.json")


def test_references_that_multiply_without_end(written):
    lines = ["a0: &a0 {file_exists: x}"] + [
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)
    ]
    text = "id: 1\ninstruction: x\ndifficulty: EASY\nsuccess:\n  all: *a9\n"
    anchors = "\n".join(f"  - {line.partition(': ')[2]}" for line in lines)
    with pytest.raises(TaskError, match="too much"):
        load_tasks(written(f"skill:\n{anchors}\n{text}", "a.yaml"))


def test_two_tasks_of_one_name(written):
    with pytest.raises(TaskError, match="two tasks"):
        load_tasks(written([SEED, {**SEED, "id": "7"}]))


# What is shipped.


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_every_shipped_file_loads(path):
    templates = load_templates(path)
    assert templates
    for template in templates:
        for seed in range(5):
            task = template.instance(seed)
            assert task.max_steps > 0
            assert task.success
            if task.parameters:
                template.instance(seed, "heldout")


def test_what_is_shipped_is_in_both_forms():
    assert {path.suffix for path in SHIPPED} == {".json", ".yaml"}


@pytest.fixture(scope="module")
def _kept() -> Iterator[SandboxDesktop]:
    with SandboxDesktop() as desktop:
        yield desktop


@pytest.fixture
def environment(_kept: SandboxDesktop) -> TaskEnvironment:
    _kept.reset()
    return TaskEnvironment(_kept)


@pytest.mark.x11
@pytest.mark.parametrize(
    "template", load_templates(CONFIG / "tasks.example.yaml"), ids=lambda template: template.id
)
def test_the_oracles_of_the_example_solve_it(environment, template):
    task = template.instance(1, "heldout")
    assert task.oracle is not None
    observation = environment.begin(task)
    assert not task.success.check(World(environment.desktop)), "nothing is done yet"
    for _ in range(2):  # the same oracle shows it again
        while True:
            transition = environment.step(task.oracle.act(View(environment.desktop, observation.last_action)))
            observation = transition.observation
            if transition.over:
                break
        assert transition.outcome is Outcome.SUCCESS, transition.info
        assert Difficulty.of_steps(observation.step) is task.difficulty
        environment.desktop.reset()
        observation = environment.begin(task)


TERMINAL = [("alt", "f2"), "xterm\n", "XTerm"]
SHELL = {
    1: [("alt", "f2"), "mate-calc\n"],
    2: [("alt", "f2"), "mousepad\n"],
    3: [*TERMINAL, "touch output.txt\n"],
    4: [("alt", "f2"), "mate-calc\n", "Mate-calc", "128*46\n"],
    5: [*TERMINAL, "mkdir Notes; echo Meeting at noon > Notes/reminder.txt\n", "exit\n"],
    6: [
        *TERMINAL,
        "mkdir Photos; echo -n holiday | xclip -selection clipboard -i; pcmanfm Photos &\n",
        "Pcmanfm",
        ("super", "up"),
    ],
}


@pytest.mark.x11
@pytest.mark.parametrize("task", load_tasks(CONFIG / "tasks.json"), ids=lambda task: task.id)
def test_the_shipped_short_tasks_can_be_done(environment, task: Task):
    environment.begin(task)
    assert not environment.verify(), "nothing is done yet"
    for step in SHELL[int(task.id.partition("/")[2].partition("-")[0])]:
        if isinstance(step, tuple):
            environment.step(Action.key(*step))
            _wait_for_window(environment.desktop, "Lxpanel" if step == ("alt", "f2") else None)
        elif step.endswith("\n"):
            environment.step(Action.type(step))
        else:
            _wait_for_window(environment.desktop, step)
    _eventually(lambda: environment.verify())
    assert environment.step(Action.done()).outcome is Outcome.SUCCESS


def _wait_for_window(desktop: SandboxDesktop, wm_class: str | None) -> None:
    _eventually(lambda: any(one.focused and wm_class in (None, one.wm_class) for one in desktop.windows()))
    desktop.settle()


def _eventually(predicate: Callable[[], Any], timeout: float = 10.0) -> None:
    deadline = time.monotonic() + timeout
    while not (found := predicate()):
        assert time.monotonic() < deadline, found
        time.sleep(0.02)


def test_several_criteria_in_one_mapping_must_all_hold():
    task = load_tasks(CONFIG / "tasks.json")[4]
    assert isinstance(task.success, AllOf)
