"""Settings in ini and JSON files and in GSettings."""

from __future__ import annotations

import json

import pytest

from operant.errors import TaskError
from operant.tasks.criteria import Not, Setting

pytestmark = pytest.mark.x11

INI = """
; comment: theme=light
# theme=light
[window]
theme = dark
width=640
shown=true
[other]
theme=blue
"""


@pytest.fixture
def ini(desktop):
    desktop.files.write(".config/app/app.ini", INI)
    return lambda key, equals, **more: Setting(file=".config/app/app.ini", key=key, equals=equals, **more)


def test_a_value_of_an_ini_file(ask, ini):
    assert ask(ini("theme", "dark", section="window"))
    assert ask(ini("width", 640))
    assert ask(ini("width", "640"))
    assert ask(ini("shown", True))
    assert not ask(ini("shown", False))
    assert not ask(ini("theme", "light"))
    assert not ask(ini("theme", "dark", section="other"))
    assert not ask(ini("theme", "dark", section="missing"))
    assert not ask(ini("missing", "x"))
    assert not ask(Setting(file="missing.ini", key="theme", equals="dark"))


@pytest.mark.parametrize(
    "content",
    [
        "",
        "# theme=dark",
        "theme=light # was theme=dark",
        "[theme=dark]",
        "theme=darker",
        "xtheme=dark",
        "theme",
        "[window]\ntheme=dark\ntheme=light",
        "[Window]\ntheme=dark",
        b"[window]\ntheme=dark\xff",
    ],
)
def test_what_an_application_would_not_read_as_that_value(desktop, ask, content):
    desktop.files.write("app.ini", content)
    assert not ask(Setting(file="app.ini", key="theme", equals="dark", section="window"))


def test_settings_over_a_link_do_not_count(ask, shell, ini):
    shell("mkdir x; cp .config/app/app.ini x/; rm -r .config/app; ln -s ~/x .config/app")
    assert not ask(ini("theme", "dark", section="window"))


def of_json(key, equals, **more):
    return Setting(file="settings.json", format="json", key=key, equals=equals, **more)


def test_a_value_of_a_json_file(desktop, ask):
    values = {"editor": {"tab": 4, "wrap": True, "fonts": ["Mono", "Sans"]}, "name": "x", "ratio": 1.5}
    desktop.files.write("settings.json", json.dumps(values))
    assert ask(of_json("editor.tab", 4))
    assert ask(of_json("tab", 4, section="editor"))
    assert ask(of_json("editor.wrap", True))
    assert ask(of_json("editor.fonts.1", "Sans"))
    assert ask(of_json("ratio", 1.5))
    assert not ask(of_json("editor.tab", 8))
    assert not ask(of_json("editor.missing", 4))
    assert not ask(of_json("editor.fonts.7", "Sans"))
    assert not ask(of_json("name.length", 1))


@pytest.mark.parametrize(
    "content",
    [
        '{"tab": "4"}',
        '{"tab": true}',
        '{"tab": 4.5}',
        '{"tab": [4]}',
        '{"x": {"tab": 4}}',
        '{"tab": 4',
        "",
        "4",
        '{"tab": 4, "tab": 5}',
        "[" * 100_000,
        '{"tab": ' + "4" * 50_000 + "}",
        '{"tab": NaN}',
        b'\xff{"tab": 4}',
    ],
    ids=lambda content: str(content[:20]),
)
def test_json_that_does_not_say_so(desktop, ask, content):
    desktop.files.write("settings.json", content)
    assert not ask(of_json("tab", 4))
    assert not ask(of_json("tab", 1))


def test_what_is_no_json_proves_nothing(desktop, ask):
    desktop.files.write("settings.json", "{broken")
    assert not ask(Not(of=of_json("tab", 4)))


VIEW = "org.xfce.mousepad.preferences.view"


def test_gsettings(desktop, ask, shell):
    shown = Setting(schema=VIEW, key="show-line-numbers", equals=True)
    assert not ask(shown), "by default they are not shown"
    assert ask(Setting(schema=VIEW, key="show-line-numbers", equals=False)), "defaults count"
    shell(f"gsettings set {VIEW} show-line-numbers true")
    assert ask(shown)
    shell(f"gsettings set {VIEW} font-name 'Mono 14'; gsettings set {VIEW} tab-width 3")
    assert ask(Setting(schema=VIEW, key="font-name", equals="Mono 14"))
    assert ask(Setting(schema=VIEW, key="tab-width", equals=3))
    assert not ask(Setting(schema=VIEW, key="tab-width", equals=4))


def test_gsettings_in_a_file_that_nobody_reads(ask, shell):
    shell(
        "mkdir -p .config/glib-2.0/settings; printf '[org/xfce/mousepad]\\nshow-line-numbers=true' "
        "> .config/glib-2.0/settings/keyfile"
    )
    assert not ask(Setting(schema=VIEW, key="show-line-numbers", equals=True)), "another path"
    shell("printf 'garbage\\xff' > .config/glib-2.0/settings/keyfile")
    assert not ask(Setting(schema=VIEW, key="show-line-numbers", equals=True))


def test_a_schema_that_is_not_there_proves_nothing(ask):
    missing = Setting(schema="org.example.missing", key="a", equals=1)
    assert not ask(missing)
    assert not ask(Not(of=missing))


def test_a_setting_has_one_place():
    for places in ({}, {"file": "a.ini", "schema": "org.a"}, {"file": "/etc/x.ini"}):
        with pytest.raises(TaskError):
            Setting(key="a", equals=1, **places)
