"""Functions of VLC and GIMP, called on a real desktop, and what they did looked at from outside."""

from __future__ import annotations

import io
import wave
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image

from operant.apps.gimp import APP as GIMP
from operant.apps.gimp import GimpPicture
from operant.apps.vlc import APP as VLC
from operant.apps.vlc import VlcState, settings
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import CallFailed

pytestmark = pytest.mark.x11

Call = Callable[..., Any]


def silence(seconds: int) -> bytes:
    made = io.BytesIO()
    with wave.open(made, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(1)
        file.setframerate(8000)
        file.writeframes(b"\x80" * 8000 * seconds)
    return made.getvalue()


def test_vlc_plays_what_it_is_told(desktop: SandboxDesktop, call: Call, eventually: Any) -> None:
    with pytest.raises(CallFailed, match="vlc is not running"):
        call("vlc.get_state")
    for name in ("one", "two"):
        desktop.files.write(f"Music/{name}.wav", silence(30))
    assert call("vlc.get_media_files") == ["~/Music/one.wav", "~/Music/two.wav"]
    assert "VLC" in call("vlc.open_media", path="Music/one.wav"), "no dialog comes first"
    assert eventually(lambda: VLC.state(desktop).playing) == "one.wav"
    assert call("vlc.pause") == "paused"
    call("vlc.seek", position=12.5)
    call("vlc.set_volume", percent=40)
    call("vlc.set_repeat", mode="all")
    state = call("vlc.get_state")
    assert (state["state"], state["file"], state["position"]) == ("paused", "~/Music/one.wav", 12.5)
    assert (state["volume"], state["repeat"], state["length"]) == (40, "all", 30.0)
    assert VLC.state(desktop) == VlcState(
        "one.wav", "paused", "/home/user/Music/one.wav", 12.5, 30.0, volume=40, repeat="all"
    )
    assert [one.title for one in desktop.windows()] == ["one.wav - VLC media player"], "no error about sound"
    call("vlc.add_to_playlist", path="Music/two.wav")
    call("vlc.next")
    assert eventually(lambda: VLC.state(desktop).playing) == "two.wav"
    for name, arguments, said in (
        ("open_media", {"path": "no.wav"}, "there is no file"),
        ("seek", {"position": 99.0}, "30 s long"),
        ("set_volume", {"percent": 500}, "0 to 125"),
        ("go_to", {"number": 9}, "counted from 1"),
        ("set_setting", {"name": "a b", "value": "1"}, "has a name such as"),
    ):
        with pytest.raises(CallFailed, match=said):
            call(f"vlc.{name}", **arguments)
    assert settings(desktop)["alsa-audio-device"] == "null"
    for window in desktop.windows():
        desktop.close_window(window)
    assert eventually(lambda: VLC.state(desktop) == VlcState(None))


def test_gimp_changes_and_saves_the_picture_that_is_seen(
    desktop: SandboxDesktop, call: Call, eventually: Any
) -> None:
    with pytest.raises(CallFailed, match="gimp is not running"):
        call("gimp.get_info")
    made = io.BytesIO()
    Image.new("RGB", (200, 100), "red").save(made, "PNG")
    desktop.files.write("a.png", made.getvalue())
    call("gimp.open_picture", path="a.png")
    kind = "RGB color 8-bit gamma integer"
    assert eventually(lambda: GIMP.state(desktop).picture) == GimpPicture(
        "a", kind, 200, 100, 1, False, False
    )
    call("gimp.scale", width=100, height=50)
    assert eventually(lambda: GIMP.state(desktop).picture == GimpPicture("a", kind, 100, 50, 1, True, False))
    call("gimp.rotate", degrees="90")
    hostile = 'a"b\\") (gimp-quit TRUE) ("'
    call("gimp.add_text", text=hostile, x=1, y=2, size=10, color="#0000ff")
    info = call("gimp.get_info")
    assert (info["width"], info["height"], info["changed"]) == (50, 100, True)
    assert info["layers"][-1] == "a.png"
    assert len(info["layers"]) == 2
    assert call("gimp.save") == "saved to ~/a.png"
    picture = Image.open(io.BytesIO(desktop.files.read("a.png")))
    assert picture.size == (50, 100)
    assert picture.convert("RGB").getpixel((40, 90)) == (255, 0, 0)
    call("gimp.invert_colors")
    call("gimp.save_as", path="b.png")
    assert len(call("gimp.get_info")["layers"]) == 2, "what is seen keeps its layers"
    for name, arguments, said in (
        ("save_as", {"path": "b.png"}, "is there already"),
        ("save_as", {"path": "b.doc"}, "pictures are saved as"),
        ("scale", {"width": 0, "height": 5}, "can't have"),
        ("fill_background", {"color": "red"}, "#rrggbb"),
        ("open_picture", {"path": "no.png"}, "there is no file"),
    ):
        with pytest.raises(CallFailed, match=said):
            call(f"gimp.{name}", **arguments)
