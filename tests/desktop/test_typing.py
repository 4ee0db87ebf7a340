"""Text asked for is text received: every character, whatever the layout, however busy the machine."""

from __future__ import annotations

import random
import subprocess
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from operant.desktop.sandbox import SandboxDesktop
from operant.errors import InvalidAction
from operant.types import Action

pytestmark = pytest.mark.x11

ASCII = "".join(map(chr, range(0x20, 0x7F)))
LATIN_1 = "".join(chr(code) for code in range(0xA1, 0x100) if code != 0xAD)
LAYOUTS = {
    "us": ["-layout", "us"],
    "de": ["-layout", "de"],
    "fr": ["-layout", "fr"],
    "ru": ["-layout", "ru"],
    "dvorak": ["-layout", "us", "-variant", "dvorak"],
    "us-intl": ["-layout", "us", "-variant", "intl"],
    # Not into xterm, which takes this one's Q for its own command: KP_Add lies on the same key, levels away.
    "neo": ["-layout", "de", "-variant", "neo"],
    "swapped": ["-layout", "us", "-option", "ctrl:nocaps"],
}
PANGRAM = "<>|\"'\\`~^ @#{}[] aA1!zZyYqQ;:,.-_ €éßñÅ жЖ 漢字 😀"


def random_text(seed: int, length: int, *, astral: bool = False) -> str:
    """Characters that exist and that programs keep as they are, most of them in no layout."""
    rng, found = random.Random(seed), []
    while len(found) < length:
        character = chr(rng.randrange(0x21, 0x2FFFF if astral else 0xFFFD))
        # Spaces that programs may turn into others, and what is not a character, would blame the wrong one.
        if unicodedata.category(character)[0] in "LNPSM":
            found.append(character)
    return "".join(found)


@pytest.fixture
def load() -> Iterator[None]:
    """Three programs that do nothing but keep both processors busy."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
    yield
    for process in busy:
        process.kill()
        process.wait()


class Terminal:
    """An xterm whose program keeps every byte that it reads."""

    def __init__(self, desktop: SandboxDesktop) -> None:
        self.desktop = desktop
        # Raw input: lines may be longer than a terminal's line editor lets them be, and no byte is special.
        script = "stty raw -echo; printf ready > ready; exec cat > out.txt"
        desktop.launch(["xterm", "-u8", "-e", "sh", "-c", script])

    def expect(self, text: str, eventually: Callable[..., Any]) -> None:
        eventually(lambda: len(self.text()) >= len(text), 20.0)
        self.desktop.settle()
        assert self.text() == text

    def text(self) -> str:
        return self.desktop.files.read("out.txt").decode("utf-8", "replace").replace("\r", "\n")


@pytest.fixture
def terminal(desktop: SandboxDesktop, eventually: Callable[..., Any]) -> Terminal:
    found = Terminal(desktop)
    eventually(lambda: desktop.files.exists("ready"))
    return found


TEXTS = {
    "ascii": ASCII,
    "latin-1": LATIN_1,
    "quotes": '<"é ß> </a href="x"> \'x\' `y` a<b>c',
    "cjk": "漢字かなカナ한글中文",
    "astral": "😀👩‍💻🇩🇪𝔘𝕏𐍈🀄",
    "combining": "a\u0301e\u0308o\u0302 n\u0303 क्षि",
    "right-to-left": "שלום עולם مرحبا بالعالم",
    "mathematics": "∀x∈ℝ: ⌈x⌉ = −⌊−x⌋, α ∧ ¬β, √2 ≈ 1.4142",
    # By their last 16 bits these would be dead keys and the Compose key, for which GTK can take them.
    "like dead keys": "a＠e ﹐﹑o﹒x﹘a﹗ ﹙﹚﹛﹜ ＠＠'e",
    "the same again": "éééßßß<<<>>>éßéß" * 5,
}


def test_text_arrives_as_it_was_asked_for_in_gtk(editor: Any) -> None:
    for text in TEXTS.values():
        editor.type(text)
        editor.expect(text)
        editor.clear()


def test_text_arrives_as_it_was_asked_for_in_xterm(terminal: Terminal, eventually: Any) -> None:
    expected = ""
    for text in TEXTS.values():
        terminal.desktop.perform(Action.type(text))
        expected += text
        terminal.expect(expected, eventually)


def test_lines_and_tabs_arrive(editor: Any) -> None:
    text = "one\n\ttwo\n\nthree\tfour\n"
    editor.type(text)
    # Mousepad indents a line as the last one was, which is its doing: it shows that Return was typed.
    assert editor.text().replace("\t", "").split("\n") == text.replace("\t", "").split("\n")
    editor.clear()
    editor.type("a\tb\r\nc\td")
    editor.expect("a\tb\nc\td")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_layout_makes_no_difference(editor: Any, layout: str) -> None:
    editor.desktop.run(["setxkbmap", *LAYOUTS[layout]])
    for text in (PANGRAM, ASCII):
        editor.type(text)
        editor.expect(text)
        editor.clear()


@pytest.mark.parametrize("layout", ["de", "fr", "ru", "dvorak", "us-intl"])
def test_the_layout_makes_no_difference_in_xterm(terminal: Terminal, eventually: Any, layout: str) -> None:
    terminal.desktop.run(["setxkbmap", *LAYOUTS[layout]])
    terminal.desktop.perform(Action.type(PANGRAM))
    terminal.desktop.perform(Action.type(ASCII))
    terminal.expect(PANGRAM + ASCII, eventually)


def lock_group(desktop: SandboxDesktop, group: int) -> None:
    keyboard = desktop._seat.display.xkb
    keyboard.LatchLockState(0x100, 0, 0, True, group, 0, False, 0)
    desktop._seat.display.sync()


@pytest.mark.parametrize("layout", ["us,ru", "ru,us", "us,de,fr,ru"])
def test_a_locked_second_layout_makes_no_difference(editor: Any, layout: str) -> None:
    editor.desktop.run(["setxkbmap", "-layout", layout])
    for group in range(layout.count(",") + 1):
        lock_group(editor.desktop, group)
        editor.type(PANGRAM)
        editor.expect(PANGRAM)
        editor.clear()


def test_a_layout_that_changes_between_two_texts_makes_no_difference(editor: Any) -> None:
    expected = ""
    for layout in ["de", "us", "fr", "ru", "de", "dvorak", "us"] * 2:
        editor.desktop.run(["setxkbmap", *LAYOUTS[layout]])
        editor.type('<yz>"ß漢')
        expected += '<yz>"ß漢'
    editor.expect(expected)


def test_swapped_keys_make_no_difference(editor: Any) -> None:
    editor.desktop.run(
        ["xmodmap", "-e", "keycode 38 = q Q", "-e", "keycode 24 = a A", "-e", "keycode 59 = greater less"]
    )
    editor.type("aq AQ , <>")
    editor.expect("aq AQ , <>")


def locked(desktop: SandboxDesktop) -> int:
    return int(desktop._seat.display.xkb.GetState(0x100).reply().lockedMods)


@pytest.mark.parametrize(
    "modifiers", [0x02, 0x10, 0x12, 0x01, 0x80], ids=["caps", "num", "both", "shift", "level 3"]
)
def test_locked_modifiers_make_no_difference_and_stay_locked(editor: Any, modifiers: int) -> None:
    desktop = editor.desktop
    desktop.run(["setxkbmap", "-layout", "de"])
    desktop._seat.display.xkb.LatchLockState(0x100, modifiers, modifiers, False, 0, 0, False, 0)
    editor.type(PANGRAM)
    editor.expect(PANGRAM)
    assert locked(desktop) == modifiers


def test_caps_lock_is_what_its_key_makes_it(editor: Any) -> None:
    editor.desktop.perform(Action.key("capslock"))
    assert locked(editor.desktop) == 0x02
    editor.type("Not SHOUTING é")
    editor.expect("Not SHOUTING é")
    editor.desktop.perform(Action.key("a"))
    editor.expect("Not SHOUTING éA")
    editor.desktop.perform(Action.key("capslock"))
    assert locked(editor.desktop) == 0


@pytest.mark.parametrize("seed", range(2))
def test_more_characters_than_there_are_keys_arrive_in_gtk(editor: Any, seed: int) -> None:
    text = random_text(seed, 500, astral=seed % 2 == 1)
    editor.type(text)
    editor.expect(text, 30.0)


@pytest.mark.parametrize("seed", range(2))
def test_more_keys_than_there_are_arrive_in_xterm(terminal: Terminal, eventually: Any, seed: int) -> None:
    text = random_text(100 + seed, 500)
    terminal.desktop.perform(Action.type(text))
    terminal.expect(text, eventually)


def test_a_busy_machine_makes_no_difference_in_gtk(editor: Any, load: None) -> None:
    for seed in range(2):
        text = random_text(200 + seed, 120) + ASCII
        editor.type(text)
        editor.expect(text, 30.0)
        editor.clear()


def test_a_busy_machine_makes_no_difference_in_xterm(terminal: Terminal, eventually: Any, load: None) -> None:
    text = "".join(random_text(300 + seed, 200) + ASCII for seed in range(3))
    terminal.desktop.perform(Action.type(text))
    terminal.expect(text, eventually)


def test_a_busy_program_in_the_desktop_makes_no_difference(editor: Any) -> None:
    for _ in range(3):
        editor.desktop.start(["sh", "-c", "while :; do :; done"])
    text = random_text(400, 200)
    editor.type(text)
    editor.expect(text, 30.0)


def test_a_long_text_arrives(editor: Any) -> None:
    rng = random.Random(5)
    text = "".join(rng.choice(ASCII + "éß\n") for _ in range(5000)).replace("\n ", "\n")
    editor.type(text)
    editor.expect(text, 60.0)


def test_many_small_texts_arrive(editor: Any) -> None:
    rng, expected = random.Random(6), ""
    for _ in range(60):
        piece = random_text(rng.randrange(10**9), rng.randrange(1, 4))
        editor.type(piece)
        expected += piece
    editor.expect(expected)


def test_text_arrives_in_a_gtk_2_entry(desktop: SandboxDesktop, eventually: Any) -> None:
    desktop.launch("pcmanfm")
    desktop.perform(Action.key("ctrl", "l"))
    desktop.perform(Action.key("ctrl", "a"))
    text = '/<"é"> ß漢字😀 ' + random_text(7, 60)
    desktop.perform(Action.type(text))
    eventually(lambda: any(n.text == text for n in desktop.accessibility(app="pcmanfm", timeout_s=5).walk()))


def test_text_arrives_in_a_dialog_entry_of_gtk(editor: Any, eventually: Any) -> None:
    editor.desktop.perform(Action.key("ctrl", "f"))
    text = 'a<b>"c" éß漢😀'
    editor.type(text)
    eventually(
        lambda: any(n.text == text for n in editor.desktop.accessibility(app="mousepad", timeout_s=5).walk())
    )


# Buttons that keys press.


class Calculator:
    """Galculator, whose digits are buttons that take no second press within a tenth of a second."""

    def __init__(self, desktop: SandboxDesktop) -> None:
        self.desktop = desktop
        desktop.launch("galculator")

    def shown(self) -> str:
        found = self.desktop.accessibility(app="galculator", timeout_s=10.0).find("text")
        assert found is not None
        return found.text or ""


@pytest.fixture
def calculator(desktop: SandboxDesktop) -> Calculator:
    return Calculator(desktop)


def test_digits_that_repeat_arrive(calculator: Calculator, eventually: Any) -> None:
    calculator.desktop.perform(Action.type("844+448\n"))
    eventually(lambda: calculator.shown() == "1292")


def test_digits_that_repeat_arrive_on_a_busy_machine(
    calculator: Calculator, eventually: Any, load: None
) -> None:
    rng = random.Random(9)
    for _ in range(4):
        one, other = rng.choice([111, 3333, 7447]), rng.randrange(1000)
        calculator.desktop.perform(Action.type(f"{one}+{other}\n"))
        eventually(lambda one=one, other=other: calculator.shown() == str(one + other))
        calculator.desktop.perform(Action.key("escape"))


def test_digits_of_several_actions_arrive(calculator: Calculator, eventually: Any) -> None:
    for text in ("1", "1", "12", "21"):
        calculator.desktop.perform(Action.type(text))
    for key in "2211":
        calculator.desktop.perform(Action.key(key))
    eventually(lambda: calculator.shown() == "1112212211")


def test_text_fields_are_not_typed_into_at_the_pace_of_buttons(editor: Any) -> None:
    editor.type("warm up")
    began = time.monotonic()
    editor.type("mississippi " * 8)  # a tenth of a second for each letter that repeats would be many seconds
    assert time.monotonic() - began < 3.0
    editor.expect("warm up" + "mississippi " * 8)


@pytest.mark.parametrize(
    ("program", "expected"),
    [("galculator", False), ("kcalc", False), ("mousepad", True), ("featherpad", True), ("xterm", True)],
)
def test_buttons_are_told_from_text_fields(desktop: SandboxDesktop, program: str, expected: bool) -> None:
    desktop.launch(program)
    assert [desktop._takes_text() for _ in range(3)] == [expected] * 3


def test_the_focus_is_followed_from_field_to_field(editor: Any) -> None:
    desktop = editor.desktop
    assert desktop._takes_text()
    desktop.perform(Action.key("ctrl", "f"))
    assert desktop._takes_text()
    desktop.launch("galculator")
    assert not desktop._takes_text()
    desktop.activate_window(editor.window)
    assert desktop._takes_text()


def test_asking_for_the_focus_starts_no_registry(desktop: SandboxDesktop) -> None:
    desktop.launch("xterm")
    desktop.perform(Action.type("aa bb"))
    assert not [one for one in desktop.processes() if "registryd" in " ".join(one.command)]


def test_neither_the_focus_nor_a_tree_makes_us_a_screen_reader(
    desktop: SandboxDesktop, eventually: Any
) -> None:
    """GTK asks screen readers about every key and waits for the answer, which makes typing slow."""
    desktop.launch("mousepad")
    desktop.files.write("heard.txt", "")
    desktop.start(["sh", "-c", "exec dbus-monitor --session > heard.txt"])
    eventually(lambda: b"NameAcquired" in desktop.files.read("heard.txt"))
    desktop.perform(Action.type("aa bb"))
    desktop.accessibility()
    desktop.settle()
    desktop.perform(Action.type("aa bb"))
    desktop.run("dbus-send --session --type=signal / test.all.Said")
    eventually(lambda: b"member=Said" in desktop.files.read("heard.txt"))
    heard = desktop.files.read("heard.txt")
    assert b"GetState" in heard
    assert b"GetApplicationBusAddress" in heard
    assert b"NotifyListenersSync" not in heard


def test_a_long_text_does_not_keep_qt_waiting(desktop: SandboxDesktop, eventually: Any) -> None:
    """Qt answers pings in a way of its own; unheard, each long text took a quarter of a minute."""
    desktop.launch("featherpad")
    text = "the quick brown fox " * 10
    began = time.monotonic()
    desktop.perform(Action.type(text))
    assert time.monotonic() - began < 5.0
    desktop.perform(Action.key("ctrl", "a"))
    desktop.perform(Action.key("ctrl", "c"))
    eventually(lambda: desktop.clipboard.get() == text)


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\ud800", "\x7f", "\x9f"])
def test_what_has_no_key_is_refused_and_nothing_is_typed(editor: Any, character: str) -> None:
    with pytest.raises(InvalidAction, match=f"U\\+{ord(character):04X}"):
        editor.type("abc" + character)
    assert editor.text() == ""


def test_typing_leaves_no_key_bound_after_a_reset(desktop: SandboxDesktop, edit: Any) -> None:
    keys, displays = desktop.run("xmodmap -pke").output, desktop.resets_of_display
    editor = edit(desktop)
    editor.type(random_text(8, 300))
    assert desktop.run("xmodmap -pke").output != keys  # the way it works: or this test proves nothing
    desktop.reset()
    assert desktop.run("xmodmap -pke").output == keys
    assert desktop.resets_of_display == displays
