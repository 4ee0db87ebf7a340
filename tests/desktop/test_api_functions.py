"""The functions of each application, called on a real desktop, and the application's state looked at from outside."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image

from operant.desktop.sandbox import SandboxDesktop
from operant.errors import CallFailed
from operant.tasks.pdf import pdf
from operant.types import Action

pytestmark = pytest.mark.x11

Call = Callable[..., Any]


def test_the_editor_is_read_changed_and_saved(desktop: SandboxDesktop, call: Call) -> None:
    with pytest.raises(CallFailed, match="mousepad is not running"):
        call("mousepad.get_text")
    desktop.files.write("a.txt", "one\ntwo\nthree two\n")
    call("files.open_path", path="a.txt")
    assert (
        call("mousepad.find_and_replace", find="TWO", replacement="2ü", match_case=False)
        == "replaced 2 times"
    )
    call("mousepad.replace_line", line=1, text="ONE")
    call("mousepad.insert_text", text="last\n")
    call("mousepad.insert_text", text="first\n", line=1)
    call("mousepad.delete_lines", first=2, last=2)
    assert call("mousepad.get_text") == "first\n2ü\nthree 2ü\nlast\n"
    assert call("mousepad.get_lines", first=2, last=3) == "2ü\nthree 2ü\n"
    info = call("mousepad.get_info")
    assert (info["modified"], info["lines"]) == (True, 4)
    assert call("mousepad.save") == "saved"
    assert desktop.files.read_text("a.txt") == "first\n2ü\nthree 2ü\nlast\n"
    call("mousepad.go_to_line", line=3)
    caret = desktop.caret()
    assert caret is not None
    assert caret.offset == len("first\n2ü\n")
    call("mousepad.set_option", option="show-line-numbers", on=True)
    for name, arguments, said in (
        ("find_and_replace", {"find": "nowhere", "replacement": ""}, "does not contain 'nowhere'"),
        ("replace_line", {"line": 9, "text": ""}, "has 4 lines"),
        ("save_as", {"path": "no/where.txt"}, "no folder ~/no"),
        ("save_as", {"path": "a.txt"}, "overwrite=True"),
    ):
        with pytest.raises(CallFailed, match=said):
            call(f"mousepad.{name}", **arguments)


def test_the_editor_saves_under_other_names_and_names_a_dialog_in_the_way(
    desktop: SandboxDesktop, call: Call
) -> None:
    desktop.files.write("a.txt", "text\n")
    call("files.open_path", path="a.txt")
    assert call("mousepad.save_as", path="b.txt") == "saved to ~/b.txt"
    assert "b.txt" in call("mousepad.get_info")["title"]
    call("mousepad.new_document")
    call("mousepad.set_text", text="new")
    with pytest.raises(CallFailed, match="no file yet"):
        call("mousepad.save")
    call("mousepad.save_as", path="a.txt", overwrite=True)
    assert desktop.files.read_text("a.txt") == "new"
    desktop.perform(Action.key("ctrl", "o"))
    with pytest.raises(CallFailed, match="the dialog 'Open File' of mousepad is open"):
        call("mousepad.get_text")
    desktop.perform(Action.key("esc"))
    assert call("mousepad.get_text") == "new"


def test_the_calculator_calculates(call: Call) -> None:
    with pytest.raises(CallFailed, match="galculator is not running"):
        call("galculator.read_display")
    call("windows.open_application", application="galculator")
    assert call("galculator.calculate", expression="12 * (3 + 4)") == "84"
    assert call("galculator.calculate", expression="1111111+11") == "1111122", "no press is lost"
    assert call("galculator.press", button="AC") == "0"
    assert call("galculator.read_display") == "0"
    for expression in ("__import__('os')", "", "1" * 201):
        with pytest.raises(CallFailed, match="expression"):
            call("galculator.calculate", expression=expression)


def test_the_terminal_runs_commands_and_shows_them(
    desktop: SandboxDesktop, call: Call, eventually: Any
) -> None:
    assert call("terminal.run", command="echo said; exit 3") == {"exit_code": 3, "output": "said\n"}
    assert call("terminal.run", command="sleep 1000 & echo gone on")["output"] == "gone on\n"
    with pytest.raises(CallFailed, match=r"did not end within 0\.2 s"):
        call("terminal.run", command="sleep 1000", timeout_s=0.2)
    assert call("terminal.run", command="yes | head -c 1000000")["cut"] is True
    call("terminal.open_terminal", command="echo shown on the screen")
    assert any(one.wm_class == "XTerm" for one in desktop.windows())
    eventually(lambda: "shown on the screen" in call("terminal.read_terminal"))


def test_archives_are_made_listed_and_extracted(desktop: SandboxDesktop, call: Call) -> None:
    desktop.files.write("folder/a.txt", "text")
    for name in ("x.zip", "x.tar.gz"):
        call("archives.create", archive=name, paths=["folder"])
        assert "folder/a.txt" in call("archives.list_archive", archive=name)
        call("archives.extract", archive=name, folder=f"out-{name}")
        assert desktop.files.read_text(f"out-{name}/folder/a.txt") == "text"
    with pytest.raises(CallFailed, match="no entry 'b'"):
        call("archives.extract", archive="x.zip", folder="out", names=["b"])
    with pytest.raises(CallFailed, match="no archive"):
        call("archives.list_archive", archive="folder/a.txt")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("../outside.txt"))
    desktop.files.write("evil.tar", packed.getvalue())
    with pytest.raises(CallFailed, match="leads out of the folder"):
        call("archives.extract", archive="evil.tar", folder="inner")
    assert not desktop.files.exists("outside.txt")


def test_documents_are_shown_and_read(desktop: SandboxDesktop, call: Call) -> None:
    desktop.files.write("a.pdf", pdf([["On the first page"]]))
    assert "On the first page" in call("atril.read_pages", path="a.pdf")
    assert call("atril.get_info", path="a.pdf")["Pages"] == "1"
    call("atril.open_document", path="a.pdf")
    assert any(one.wm_class == "Atril" for one in desktop.windows())
    with pytest.raises(CallFailed, match="there is no file"):
        call("atril.read_pages", path="b.pdf")


def test_pictures_are_gone_through(desktop: SandboxDesktop, call: Call) -> None:
    for name in ("1.png", "2.png"):
        picture = io.BytesIO()
        Image.new("RGB", (200, 100), (200, 30, 60)).save(picture, "PNG")
        desktop.files.write(f"pictures/{name}", picture.getvalue())
    with pytest.raises(CallFailed, match="viewnior is not running"):
        call("viewnior.get_info")
    call("viewnior.open_picture", path="pictures/1.png")
    assert call("viewnior.get_info")["picture"] == "1.png"
    assert call("viewnior.next_picture")["picture"] == "2.png"
    assert call("viewnior.previous_picture")["picture"] == "1.png"


def test_settings_are_stored_where_the_settings_dialog_stores_them(
    desktop: SandboxDesktop, call: Call
) -> None:
    call("settings.set_look", name="font", value="DejaVu Sans 13")
    assert call("settings.get_look")["font"] == "DejaVu Sans 13"
    assert 'gtk-font-name="DejaVu Sans 13"' in desktop.files.read_text(".gtkrc-2.0")
    assert "gtk-font-name=DejaVu Sans 13" in desktop.files.read_text(".config/gtk-3.0/settings.ini")
    assert "Adwaita" in call("settings.list_themes", name="icons")
    with pytest.raises(CallFailed, match="there is no theme 'nothing'"):
        call("settings.set_look", name="theme", value="nothing")
    desktop.files.write("a.png", b"x")
    with pytest.raises(CallFailed, match="no wallpaper"):
        call("settings.set_wallpaper", path="a.png")
