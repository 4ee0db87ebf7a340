"""GIMP, the picture editor: open, change and save the picture that is open in its window.

Functions run in the instance that is seen, by its interface for scripts on the session bus. Each one is a step of Undo.
"""

from __future__ import annotations

import json
import os
import re
import time
from typing import Any, Literal
from urllib.parse import quote

import programs
from bus import session_bus
from display import XDisplay, wait_until
from opening import open_program
from refusal import Refused

WM_CLASS = "Gimp"
TIME_LIMITS = {"open_picture": 60, "save_as": 30}
PLACE = ("org.gimp.GIMP.UI", "/org/gimp/GIMP/UI", "org.gimp.GIMP.UI")
INTERPRETER = "plug-in-script-fu-eval"
ANSWER_S = 8.0
STARTED_S = 40.0
COLOR = re.compile(r"#[0-9a-fA-F]{6}")
FORMATS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".xcf", ".webp")


def open_picture(path: str) -> str:
    """Open a picture in the editor; the editor is started if it does not run."""
    place = programs.path_of(path)
    if not os.path.isfile(place):
        raise Refused("there is no file %s" % programs.shown(place))
    if not _windows():
        return open_program(["gimp", "--no-splash", place])
    with session_bus() as bus:
        taken = bus.call(*PLACE, "Open", "s", ("file://" + quote(place),), timeout_s=STARTED_S)[0]
    if not taken:
        raise Refused("the editor can't open %s" % programs.shown(place))
    return "opened %s" % programs.shown(place)


def get_info() -> dict[str, object]:
    """Tell the file of the picture, its size in pixels, its layers and whether it was changed since it was saved."""
    said = _done(
        "(list (car (gimp-image-get-filename image)) (car (gimp-image-width image))"
        " (car (gimp-image-height image)) (car (gimp-image-is-dirty image))"
        " (map (lambda (layer) (car (gimp-item-get-name layer)))"
        " (vector->list (cadr (gimp-image-get-layers image)))))"
    )
    file, width, height, changed, layers = said
    return {
        "file": programs.shown(str(file)) if file else "",
        "width": width,
        "height": height,
        "changed": bool(changed),
        "layers": layers,
    }


def scale(width: int, height: int) -> str:
    """Scale the picture to that size in pixels."""
    _check_size(width, height)
    return _changed("(gimp-image-scale image %d %d)" % (width, height))


def crop(x: int, y: int, width: int, height: int) -> str:
    """Crop the picture to that area in pixels."""
    _check_size(width, height)
    return _changed("(gimp-image-crop image %d %d %d %d)" % (width, height, x, y))


def rotate(degrees: Literal["90", "180", "270"]) -> str:
    """Turn the picture clockwise."""
    return _changed("(gimp-image-rotate image %d)" % (int(degrees) // 90 - 1))


def flip(direction: Literal["horizontal", "vertical"]) -> str:
    """Mirror the picture."""
    return _changed("(gimp-image-flip image %d)" % (direction == "vertical"))


def set_brightness_and_contrast(brightness: int = 0, contrast: int = 0) -> str:
    """Change brightness and contrast of the layer, each from -100 to 100."""
    if not (-100 <= brightness <= 100 and -100 <= contrast <= 100):
        raise Refused("brightness and contrast go from -100 to 100")
    values = (brightness / 200, contrast / 200)
    return _changed("(gimp-drawable-brightness-contrast layer %.4f %.4f)" % values)


def set_saturation(saturation: int) -> str:
    """Change the saturation of the layer, from -100 (grey) to 100."""
    if not -100 <= saturation <= 100:
        raise Refused("the saturation goes from -100 to 100")
    return _changed("(gimp-drawable-hue-saturation layer HUE-RANGE-ALL 0 0 %d 0)" % saturation)


def to_grayscale() -> str:
    """Turn the picture into shades of grey."""
    return _changed(
        "(if (= (car (gimp-image-base-type image)) GRAY) #t (gimp-image-convert-grayscale image))"
    )


def invert_colors() -> str:
    """Invert the colours of the layer."""
    return _changed("(gimp-drawable-invert layer FALSE)")


def fill_background(color: str) -> str:
    """Put a colour such as #ff0000 behind what is transparent, and merge all layers."""
    _check_color(color)
    return _changed("(begin %s (gimp-image-flatten image))" % _background(color))


def add_text(text: str, x: int, y: int, size: int = 24, color: str = "#000000") -> str:
    """Write a text on a layer of its own, its upper left corner at that pixel."""
    _check_color(color)
    if not text or not 1 <= size <= 2000:
        raise Refused("a text is not empty, and its size is 1 to 2000 pixels")
    return _changed(
        "(begin (gimp-context-set-foreground '(%d %d %d))" % _parts(color)
        + ' (gimp-text-fontname image -1 %d %d %s 0 TRUE %d PIXELS "Sans"))' % (x, y, _quoted(text), size)
    )


def new_layer(name: str) -> str:
    """Add a transparent layer above the others."""
    return _changed(
        "(let* ((new (car (gimp-layer-new image (car (gimp-image-width image))"
        " (car (gimp-image-height image)) (+ 1 (* 2 (car (gimp-image-base-type image)))) %s 100 LAYER-MODE-NORMAL))))"
        " (gimp-image-insert-layer image new 0 0))" % _quoted(name)
    )


def merge_layers() -> str:
    """Merge all layers into one."""
    return _changed("(gimp-image-flatten image)")


def undo_all() -> str:
    """Load the picture again as it was saved last."""
    info = get_info()
    if not info["file"]:
        raise Refused("the picture has no file yet")
    _done("(gimp-image-clean-all image)")
    return open_picture(str(info["file"]))


def save() -> str:
    """Save the picture to its own file, in the format of that file."""
    info = get_info()
    if not info["file"]:
        raise Refused("the picture has no file yet: save_as gives it one")
    return _saved(programs.path_of(str(info["file"])))


def save_as(path: str, overwrite: bool = False) -> str:
    """Save the picture to another file; the extension says the format."""
    place = programs.path_of(path)
    if not place.lower().endswith(FORMATS):
        raise Refused("pictures are saved as %s" % ", ".join(FORMATS))
    if not os.path.isdir(os.path.dirname(place)):
        raise Refused("there is no folder %s" % programs.shown(os.path.dirname(place)))
    if os.path.lexists(place) and not overwrite:
        raise Refused("%s is there already; overwrite=True replaces a file" % programs.shown(place))
    return _saved(place)


def _saved(place: str) -> str:
    name = _quoted(place)
    if place.lower().endswith(".xcf"):
        write = "(gimp-xcf-save 0 image layer %s %s)" % (name, name)
    else:
        # A copy with one layer is written, so the picture that is seen keeps its layers.
        write = (
            "(let* ((copy (car (gimp-image-duplicate image)))"
            " (flat (car (gimp-image-merge-visible-layers copy CLIP-TO-IMAGE))))"
            " (gimp-file-save RUN-NONINTERACTIVE copy flat %s %s) (gimp-image-delete copy))" % (name, name)
        )
    before = os.stat(place).st_mtime_ns if os.path.exists(place) else 0
    _done("(begin %s (gimp-image-clean-all image) 1)" % write)
    if not os.path.exists(place) or os.stat(place).st_mtime_ns == before:
        raise Refused("the picture could not be saved to %s" % programs.shown(place))
    return "saved to %s" % programs.shown(place)


def _changed(command: str) -> str:
    """A change as one step of Undo; the size of the picture afterwards."""
    width, height = _done(
        "(begin (gimp-image-undo-group-start image) %s (gimp-image-undo-group-end image)"
        " (gimp-displays-flush) (list (car (gimp-image-width image)) (car (gimp-image-height image))))"
        % command
    )
    return "done; the picture has %d x %d pixels" % (width, height)


def _done(expression: str) -> Any:
    """What an expression says of the picture that was opened last. Texts of agents are quoted in it, never read."""
    windows = _windows()
    if not windows:
        raise Refused("gimp is not running: open_picture starts it")
    dialogs = [one.title for one in windows if one.modal]
    if dialogs:
        raise Refused("the dialog %r of gimp is open: close it first" % dialogs[-1])
    answer = os.path.join(os.environ["XDG_RUNTIME_DIR"], "gimp-%d" % time.monotonic_ns())
    command = """
      (define (said value) (cond
        ((string? value) (string-append "{\\"text\\":" (said (map char->integer (string->list value))) "}"))
        ((number? value) (number->string value))
        ((pair? value) (string-append "[" (said (car value))
          (apply string-append (map (lambda (one) (string-append "," (said one))) (cdr value))) "]"))
        ((null? value) "[]") (#t "1")))
      (define (tell text) (let ((port (open-output-file %s))) (display text port) (close-output-port port)))
      (if (= (car (gimp-image-list)) 0) (tell "none")
        (let* ((image (vector-ref (cadr (gimp-image-list)) 0))
               (layer (let ((found (car (gimp-image-get-active-drawable image))))
                 (if (= found -1) (vector-ref (cadr (gimp-image-get-layers image)) 0) found))))
          (catch (tell "refused") (tell (string-append "[" (said %s) "]")))))
    """ % (_quoted(answer), expression)
    with session_bus() as bus:
        bus.tell(*PLACE, "BatchRun", "ss", (INTERPRETER, command))
    if not wait_until(lambda: os.path.exists(answer) and os.path.getsize(answer) > 0, ANSWER_S, 0.02):
        raise Refused("the editor refused it, or does not answer")
    with open(answer, encoding="utf-8") as file:
        text = file.read()
    os.unlink(answer)
    if text == "none":
        raise Refused("no picture is open: open_picture opens one")
    if text == "refused":
        raise Refused("the editor can't do this to the picture")
    return _read(json.loads(text)[0])


def _read(value: Any) -> Any:
    """A value as the script wrote it: texts as the numbers of their characters."""
    if isinstance(value, dict):
        return "".join(map(chr, value["text"]))
    return [_read(one) for one in value] if isinstance(value, list) else value


def _windows() -> list[Any]:
    with XDisplay() as display:
        return [one for one in display.windows() if one.wm_class.startswith(WM_CLASS)]


def _quoted(text: str) -> str:
    """A text of the script language; nothing in it is read as a command."""
    if any(ord(sign) < 32 and sign not in "\n\t" for sign in text):
        raise Refused("a text with control characters")
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"')


def _parts(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _background(color: str) -> str:
    return "(gimp-context-set-background '(%d %d %d))" % _parts(color)


def _check_color(color: str) -> None:
    if not COLOR.fullmatch(color):
        raise Refused("a colour is written as #rrggbb, such as #ff0000")


def _check_size(width: int, height: int) -> None:
    if not (1 <= width <= 20000 and 1 <= height <= 20000):
        raise Refused("a picture can't have %d x %d pixels" % (width, height))
