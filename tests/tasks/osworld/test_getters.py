"""Getters and steps that need a program on a real desktop: VLC, Chromium, a terminal, a wallpaper, slides."""

from __future__ import annotations

import io
import json
import time
import wave
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pptx
import pytest
from PIL import Image
from pptx.oxml import parse_xml
from pptx.util import Inches

from operant.desktop.osworld.machine_image import prepare_home
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import SetupFailed
from operant.tasks.criteria.question import Refuted
from operant.tasks.osworld.cache import Cache
from operant.tasks.osworld.getters import GETTERS, Evidence
from operant.tasks.osworld.steps import GuestStep
from operant.types import Action, ActionKind

pytestmark = pytest.mark.x11
LONGEST_S = 40.0
Get = Callable[..., Any]
Step = Callable[..., None]


@pytest.fixture(scope="module")
def one_desktop() -> Iterator[SandboxDesktop]:
    with SandboxDesktop() as one:
        yield one


@pytest.fixture
def desktop(one_desktop: SandboxDesktop) -> SandboxDesktop:
    one_desktop.reset()
    prepare_home(one_desktop)
    return one_desktop


@pytest.fixture
def get(desktop: SandboxDesktop, tmp_path: Path) -> Get:
    def look(type: str, **source: Any) -> Any:
        return GETTERS[type]({"type": type, **source}, Evidence(desktop, Cache(tmp_path, "x"), tmp_path))

    return look


@pytest.fixture
def step(desktop: SandboxDesktop, tmp_path: Path) -> Step:
    def apply(type: str, **parameters: Any) -> None:
        one = GuestStep(
            type=type, parameters=parameters, task="x", cache=tmp_path, root=tmp_path, where="x.json"
        )
        one.apply(desktop)

    return apply


def wait_for(look: Callable[[], Any], meant: Callable[[Any], Any] = bool) -> Any:
    """What is seen once it is what was meant."""
    deadline = time.monotonic() + LONGEST_S
    while not meant(found := look()):
        assert time.monotonic() < deadline, found
        time.sleep(0.1)
    return found


def picture(colour: str) -> bytes:
    data = io.BytesIO()
    Image.new("RGB", (40, 30), colour).save(data, "PNG")
    return data.getvalue()


def tone() -> bytes:
    data = io.BytesIO()
    with wave.open(data, "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(b"\0\1" * 8000 * 30)
    return data.getvalue()


def test_vlc_tells_what_it_plays(desktop: SandboxDesktop, get: Get, step: Step) -> None:
    with pytest.raises(Refuted, match="does not answer"):
        get("vlc_playing_info")
    desktop.files.write("/home/user/Desktop/tone.wav", tone())
    step("launch", command="VLC_VERBOSE=-1 vlc --no-audio --loop ~/Desktop/tone.wav", shell=True)

    def status() -> str:
        try:
            return str(get("vlc_playing_info").read_text())
        except Refuted:
            return ""

    wait_for(status, lambda said: "tone.wav" in said)


def test_the_wallpaper_is_what_a_step_made_it(desktop: SandboxDesktop, get: Get, step: Step) -> None:
    for colour in ("red", "blue"):
        desktop.files.write(f"/home/user/{colour} sky.png", picture(colour))
        step("change_wallpaper", path=f"~/{colour} sky.png")
        assert get("vm_wallpaper").read_bytes() == picture(colour)
    with pytest.raises(SetupFailed, match=r"none\.png"):
        step("change_wallpaper", path="/home/user/none.png")


def test_a_terminal_shows_what_was_typed(desktop: SandboxDesktop, get: Get, step: Step) -> None:
    assert get("vm_terminal_output") is None
    step("launch", command=["gnome-terminal", "--working-directory=/tmp"])
    desktop.perform(Action(ActionKind.TYPE, text="echo $((6*7))-$PWD\n"))
    wait_for(lambda: "42-/tmp" in get("vm_terminal_output"))


def test_sounds_and_backgrounds_of_slides(desktop: SandboxDesktop, get: Get, tmp_path: Path) -> None:
    book = pptx.Presentation()
    full = [book.slides.add_slide(book.slide_layouts[6]) for _ in range(2)][1]
    full.shapes.add_movie(
        io.BytesIO(tone()), Inches(1), Inches(1), Inches(1), Inches(1), mime_type="audio/wav"
    )
    _, id = full.part.get_or_add_image_part(io.BytesIO(picture("green")))
    full.shapes.add_picture(io.BytesIO(picture("red")), 0, 0)  # another picture, which is not the background
    namespaces = " ".join(f"xmlns:{short}='{name}'" for short, name in (
        ("a", "http://schemas.openxmlformats.org/drawingml/2006/main"),
        ("p", "http://schemas.openxmlformats.org/presentationml/2006/main"),
        ("r", "http://schemas.openxmlformats.org/officeDocument/2006/relationships"),
    ))  # fmt: skip
    full._element.cSld.insert(0, parse_xml(
        f"<p:bg {namespaces}><p:bgPr><a:blipFill><a:blip r:embed='{id}'/></a:blipFill><a:effectLst/></p:bgPr></p:bg>"
    ))  # fmt: skip
    book.save(str(tmp_path / "deck.pptx"))
    desktop.files.write("/home/user/deck.pptx", (tmp_path / "deck.pptx").read_bytes())

    def of(getter: str, slide: int) -> Path | None:
        return get(getter, ppt_file_path="/home/user/deck.pptx", slide_index=slide, dest="found")

    background = of("background_image_in_slide", 1)
    assert background is not None
    assert background.read_bytes() == picture("green")
    sound = of("audio_in_slide", 1)
    assert sound is not None
    assert sound.read_bytes() == tone()
    assert of("audio_in_slide", 0) is None
    assert of("background_image_in_slide", 0) is None
    with pytest.raises(Refuted):
        of("audio_in_slide", 7)
    assert get("audio_in_slide", ppt_file_path="/home/user/none.pptx", slide_index=0) is None


def test_tabs_open_and_the_one_in_front_has_an_address(desktop: SandboxDesktop, get: Get, step: Step) -> None:
    for name in ("one", "two"):
        desktop.files.write(f"/home/user/{name}.html", f"<title>{name}</title><h1>{name}</h1>")
    addresses = [f"file:///home/user/{name}.html" for name in ("one", "two")]
    assert get("active_url_from_accessTree") is None
    step("chrome_open_tabs", urls_to_open=addresses)
    wait_for(lambda: get("active_url_from_accessTree", goto_prefix="https://www.") in addresses)
    tree = wait_for(lambda: get("accessibility_tree"), lambda seen: "page-tab" in seen)
    assert "Google Chrome" in tree
    assert 'name="one' in tree
    assert 'name="two' in tree
    assert desktop.files.exists("/home/user/.config/google-chrome/Default")
    with pytest.raises(SetupFailed, match="dash"):
        step("chrome_open_tabs", urls_to_open=["--no-sandbox"])


def test_windows_are_named_by_instance_and_class_as_wmctrl_does(desktop: SandboxDesktop, step: Step) -> None:
    step("launch", command=["xterm"])
    step("close_window", window_name="xterm.Other", by_class=True)
    step("close_window", window_name="XTerm", by_class=True, strict=True)  # only a part of it
    assert [window.wm_class for window in desktop.windows()] == ["XTerm"]
    step("activate_window", window_name="XTERM.xterm", by_class=True)
    step("close_window", window_name="xterm.XTerm", by_class=True, strict=True)
    wait_for(lambda: not desktop.windows())


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (None, "false"),
        ({"has_migrated_local_network_access": True}, "false"),
        ({"cookies": 1}, "false"),
        ({"cookies": 4}, "true"),
    ],
)
def test_data_that_is_deleted_when_chrome_closes(
    desktop: SandboxDesktop, get: Get, values: Any, said: str
) -> None:
    profile = {} if values is None else {"default_content_setting_values": values}
    desktop.files.write(
        "/home/user/.config/google-chrome/Default/Preferences", json.dumps({"profile": profile})
    )
    assert get("data_delete_automacally") == said
