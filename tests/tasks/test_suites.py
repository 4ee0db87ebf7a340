"""What may stand after ``--suite``: names, modules, files, entry points, mixes of them, and every way to get it wrong."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from loguru import logger

from operant.agents.registry import agent_names, make_agent
from operant.apps import app_names, load_app
from operant.config import entry_points
from operant.errors import ConfigError, TaskError, UnknownAgent, UnknownApplication, UnknownSuite
from operant.tasks import suites
from operant.tasks.criteria.base import Criterion
from operant.tasks.criteria.files import FileExists
from operant.tasks.draw import Draw
from operant.tasks.loaders import load_templates
from operant.tasks.oracle import Oracle
from operant.tasks.suites import load_suite, select, suite_names, with_absolute_files
from operant.tasks.template import Params, Template

SOURCE = """
from operant.tasks.criteria.files import FileExists
from operant.tasks.template import Template
from operant.types import Difficulty

class Make(Template):
    id = "{suite}/make-v1"
    apps = ("xterm",)
    skill = "type"
    family = "files"
    difficulty = Difficulty.EASY
    instructions = ("Make the file {{name}}.",)

    def parameters(self, draw):
        return {{"name": draw.file_name("txt")}}

    def success(self, p):
        return FileExists(path=p.name)

    def oracle(self, p):
        return None

class Again(Make):
    id = "{suite}/again-v1"

class Half(Template):
    id = "{suite}/half-v1"

class Nameless(Make):
    skill = None
    def __init__(self, name):
        self.name = name

TEMPLATES = [Make, Again()]
TWICE = (Make, type("Other", (Make,), {{}}))
HALF = [Half]
ARGUMENTS = [Nameless]
NUMBERS = [1, 2]
TEXT = "Make"
"""
TASK = {
    "id": "open it",
    "instruction": "Make it",
    "difficulty": "EASY",
    "success_criteria": {"file_exists": "a"},
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory with a module and a file of tasks, which is the current one and not on the path."""
    (tmp_path / "my_suite_here.py").write_text(SOURCE.format(suite="mine"))
    (tmp_path / "wreck_here.py").write_text("raise ValueError('at import')")
    (tmp_path / "mine.json").write_text(json.dumps([TASK]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Installs a package with entry points, as far as Python can tell."""

    def install(name: str, groups: Mapping[str, Mapping[str, str]], modules: Mapping[str, str]) -> None:
        root = tmp_path / f"site-{name}"
        about = root / f"{name}-1.2.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
        lines = [
            line
            for group, entries in groups.items()
            for line in (f"[{group}]", *(f"{key} = {value}" for key, value in entries.items()))
        ]
        (about / "entry_points.txt").write_text("\n".join(lines) + "\n")
        for module, source in modules.items():
            (root / f"{module}.py").write_text(source)
        monkeypatch.syspath_prepend(str(root))

    return install


@pytest.fixture
def warnings(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    monkeypatch.setattr(entry_points, "_warned", set())
    said: list[str] = []
    number = logger.add(lambda message: said.append(str(message)), level="WARNING", format="{message}")
    yield said
    logger.remove(number)


def ids(suite: str) -> list[str]:
    return [template.id for template in load_suite(suite)]


def test_a_module_of_the_current_directory() -> None:
    assert ids("my_suite_here:TEMPLATES") == ["mine/again-v1", "mine/make-v1"]
    assert all(isinstance(template, Template) for template in load_suite("my_suite_here:TEMPLATES"))


def test_a_file_of_tasks() -> None:
    assert ids("mine.json") == ids("./mine.json") == ids("file:mine.json") == ["mine/open-it-v1"]
    (template,) = load_suite("mine.json")
    assert isinstance(template, Template)
    assert template.instance(0).instruction == template.instructions[0] == "Make it"


def test_a_mix_is_one_suite_in_the_order_of_ids() -> None:
    mixed = ids("my_suite_here:TEMPLATES, mine.json,clicks,mine.json")
    assert mixed == sorted([*ids("my_suite_here:TEMPLATES"), *ids("mine.json"), *ids("clicks")])
    assert ids("clicks,operant.tasks.suites.clicks:TEMPLATES") == ids("clicks")


def test_two_tasks_of_one_id_are_an_error(here: Path) -> None:
    with pytest.raises(TaskError, match=r"called mine/make-v1, both in my_suite_here:TWICE"):
        load_suite("my_suite_here:TWICE")
    (here / "other.json").write_text(json.dumps([{**TASK, "id": "mine/make"}]))
    with pytest.raises(TaskError, match=r"in my_suite_here:TEMPLATES and in other\.json"):
        load_suite("my_suite_here:TEMPLATES,other.json")


@pytest.mark.parametrize(
    ("suite", "error", "message", "hint"),
    [
        ("cor", UnknownSuite, "there is no suite 'cor'", "did you mean 'core'?"),
        ("", UnknownSuite, "names no suite", None),
        ("core,,clicks", UnknownSuite, "an empty part", None),
        ("zzz", UnknownSuite, "there is no suite 'zzz'", "module:TEMPLATES, or a file"),
        ("my_suite_here:TEMPLATE", UnknownSuite, "has no TEMPLATE", "did you mean 'TEMPLATES'?"),
        ("my_suite_here:SUITE", UnknownSuite, "has no SUITE", "it has Make, Again, Half"),
        ("my_suite_here:", UnknownSuite, "is not module:TEMPLATES", "my_suite:TEMPLATES"),
        ("my_suite_here:NUMBERS", TaskError, "my_suite_here:NUMBERS[0]: 1 is not a template", "subclass"),
        ("my_suite_here:TEXT", TaskError, "is a str, not a list of templates", None),
        ("my_suite_here:HALF", TaskError, "my_suite_here:HALF[0]: Can't instantiate", None),
        ("my_suite_here:ARGUMENTS", TaskError, "'name'", "list an instance"),
        ("no_such_module:TEMPLATES", UnknownSuite, "no_such_module can't be imported", "current directory"),
        ("wreck_here:TEMPLATES", UnknownSuite, "can't be imported: ValueError: at import", None),
        ("__import__('os').system('true'):x", UnknownSuite, "is not module:TEMPLATES", None),
        ("missing.yaml", TaskError, "missing.yaml can't be read: No such file", None),
        ("./missing", TaskError, "missing can't be read", None),
        ("my_suite_here.py", UnknownSuite, "there is no suite 'my_suite_here.py'", None),
    ],
)
def test_mistakes_name_the_thing_and_the_way_out(
    suite: str, error: type[TaskError], message: str, hint: str | None
) -> None:
    with pytest.raises(error) as caught:
        load_suite(suite)
    assert message in caught.value.message
    assert hint is None or hint in (caught.value.hint or "")


def test_a_file_with_an_error_names_the_file_and_the_field(here: Path) -> None:
    (here / "bad.json").write_text(json.dumps([{**TASK, "difficulty": "EASYY"}]))
    with pytest.raises(TaskError, match=r"bad\.json: task open it\.difficulty: 'EASYY'") as caught:
        load_suite("clicks,bad.json")
    assert caught.value.hint == "did you mean 'EASY'?"


def test_an_attribute_that_a_template_lacks_is_named(here: Path) -> None:
    source = SOURCE.format(suite="lacking").replace('    skill = "type"\n', "")
    (here / "lacking_here.py").write_text(source)
    with pytest.raises(TaskError, match=r"lacking_here:TEMPLATES\[0\]: Make has no skill"):
        load_suite("lacking_here:TEMPLATES")


def test_a_prefix_of_its_own_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(suites.LOADERS, "elsewhere", lambda rest: load_templates(f"{rest}.json"))
    assert ids("elsewhere:mine") == ["mine/open-it-v1"]
    assert ids("elsewhere:./mine,clicks")[-1] == "mine/open-it-v1"


def test_tasks_are_selected_by_id() -> None:
    templates = load_suite("my_suite_here:TEMPLATES")
    assert select(templates, (), "mine") == templates
    assert [one.id for one in select(templates, ["mine/make-v1"], "mine")] == ["mine/make-v1"]
    with pytest.raises(TaskError) as caught:
        select(templates, ["mine/mak-v1"], "mine")
    assert caught.value.hint == "did you mean 'mine/make-v1'?"
    with pytest.raises(TaskError) as caught:
        select(templates, ["tasks.yaml"], "mine")
    assert caught.value.hint == "a file of tasks is a suite: --suite tasks.yaml"


def test_files_are_named_for_other_working_directories(here: Path) -> None:
    told = with_absolute_files("core,mine.json,a.b:TEMPLATES")
    assert told == f"core,{here / 'mine.json'},a.b:TEMPLATES"


# Entry points.


def test_packages_bring_suites_and_agents(package: Any) -> None:
    agent = (
        "from operant.agents.fixed import DoneAgent\n"
        "class Mine(DoneAgent):\n"
        "    def __init__(self, path=''):\n"
        "        self.path = path\n"
    )
    package(
        "acme-desk",
        {"operant.suites": {"acme": "acme_tasks:TEMPLATES"}, "operant.agents": {"acme": "acme_agents:Mine"}},
        {"acme_tasks": SOURCE.format(suite="acme"), "acme_agents": agent},
    )
    assert ids("acme") == ["acme/again-v1", "acme/make-v1"]
    assert ids("acme,clicks")[:2] == ids("acme")
    assert suite_names()[-1] == "acme"
    assert agent_names()[-1] == "acme"
    assert make_agent("acme:weights").path == "weights"  # type: ignore[attr-defined]
    with pytest.raises(UnknownSuite) as caught:
        load_suite("acne")
    assert caught.value.hint == "did you mean 'acme'?"
    with pytest.raises(UnknownAgent) as unknown:
        make_agent("acne")
    assert unknown.value.hint == "did you mean 'acme'?"


def test_packages_bring_applications(package: Any) -> None:
    source = "from operant.apps.xterm import APP\nNUMBER = 1\n"
    entries = {"acme-term": "acme_apps:APP", "wreck": "acme_apps:NONE", "number": "acme_apps:NUMBER"}
    package("acme-apps", {"operant.apps": entries}, {"acme_apps": source})
    assert load_app("acme-term") is load_app("acme_apps:APP") is load_app("xterm")
    assert {"acme-term", "wreck"} < set(app_names())
    with pytest.raises(ConfigError, match=r"'wreck' of the package acme-apps 1\.2: .*has no NONE"):
        load_app("wreck")
    with pytest.raises(ConfigError, match="'number' is a int, not an App"):
        load_app("number")
    with pytest.raises(UnknownApplication) as caught:
        load_app("acme-trem")
    assert caught.value.hint == "did you mean 'acme-term'?"


def test_a_broken_package_is_named_and_breaks_no_other(package: Any) -> None:
    package(
        "broken",
        {
            "operant.suites": {
                "wreck": "acme_wreck:TEMPLATES",
                "formless": "acme wreck",
                "bare": "acme_wreck",
            },
            "operant.agents": {"wreck": "acme_wreck:Agent"},
        },
        {"acme_wreck": "raise RuntimeError('half installed')"},
    )
    assert ids("clicks")
    make_agent("noop")
    assert "wreck" in suite_names()
    with pytest.raises(UnknownSuite, match=r"'wreck' of the package broken 1\.2: .*half installed") as caught:
        load_suite("wreck")
    assert "mend or uninstall that package" in (caught.value.hint or "")
    for name in ("formless", "bare"):
        with pytest.raises(
            UnknownSuite, match=f"'{name}' of the package broken 1.2: .*is not module:TEMPLATES"
        ):
            load_suite(name)
    with pytest.raises(UnknownAgent, match=r"'wreck' of the package broken 1\.2: .*half installed"):
        make_agent("wreck")


def test_a_name_that_is_taken_stays_where_it_is(package: Any, warnings: list[str]) -> None:
    modules = {"acme_tasks": SOURCE.format(suite="acme")}
    package("first", {"operant.suites": {"acme": "acme_tasks:TEMPLATES"}}, modules)
    package("second", {"operant.suites": {"acme": "other:TEMPLATES", "core": "other:TEMPLATES"}}, {})
    package("third", {"operant.suites": {"acme": "acme_tasks:TEMPLATES"}}, modules)
    assert ids("acme") == ["acme/again-v1", "acme/make-v1"]
    assert ids("core")[0].startswith("core/")
    assert suite_names().count("acme") == 1
    assert len(warnings) == 2  # once each
    assert any("the name 'core' of the package second 1.2 is taken by operant" in one for one in warnings)
    assert any("'acme'" in one and "package second" in one for one in warnings)


# Held-out instances.


class Plain(Template):
    """Nothing is drawn."""

    id = "plain/nothing-v1"
    apps = ("xterm",)
    skill = family = "any"
    difficulty = load_suite("clicks")[0].difficulty
    instructions = ("Make the file a.",)

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {}

    def success(self, p: Params) -> Criterion:
        return FileExists(path="a")

    def oracle(self, p: Params) -> Oracle | None:
        return None


def test_a_template_in_which_nothing_is_drawn_may_be_played_in_either_split(warnings: list[str]) -> None:
    plain = Plain()
    assert plain.instance(0).split is None
    assert not warnings
    assert plain.instance(3, "heldout") == plain.instance(3)
    assert plain.instance(4, "heldout").instruction == "Make the file a."
    (warning,) = warnings
    assert "plain/nothing-v1: nothing is drawn in 'Make the file a.'" in warning
