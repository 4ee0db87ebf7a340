"""Settings files of GIMP, VLC and VS Code."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from operant.errors import TaskError
from operant.tasks.criteria.question import Refuted
from operant.tasks.osworld.metrics.text import read_json, read_lines, read_text

__all__ = ["METRICS"]

BLACKISH = 100
VLC_SLIDER = "153;210;153;20;210;20;255;199;15;245;39;29"
Options = Mapping[str, Any]


# GIMP: lines such as (undo-levels 100).


def _gimp_setting(result: Path, rules: Options, options: Options) -> float:
    keys = [rules["key"]] if isinstance(rules["key"], str) else list(rules["key"])
    for line in read_lines(result):
        words = line.strip().strip("()").split()
        if words[: len(keys)] == keys and words[-1] == rules["value"]:
            return 1.0
    raise Refuted(f"{' '.join(keys)} is not {rules['value']}")


# VLC: lines such as play-and-exit=1; those that begin with # are defaults.


def _vlc_value(path: Path, key: str, default: str) -> str:
    for line in read_lines(path):
        name, equals, value = line.partition("=")
        if equals and name.strip() == key:
            return value.strip()
    return default


def _vlc_setting(key: str, default: str, rule: str) -> Callable[[Path, Options, Options], float]:
    def check(result: Path, rules: Options, options: Options) -> float:
        found = _vlc_value(result, key, default)
        if found != str(rules[rule]):
            raise Refuted(f"{key} is {found}")
        return 1.0

    return check


def _vlc_recordings(result: Path, rules: Options, options: Options) -> float:
    found = _vlc_value(result, "input-record-path", "")
    if not found or posixpath.normpath(found) != posixpath.normpath(rules["recording_file_path"]):
        raise Refuted(f"recordings go to {found or 'where they always went'}")
    return 1.0


def _vlc_slider(result: Path, rules: Options, options: Options) -> float:
    found = _vlc_value(result, "qt-slider-colours", VLC_SLIDER)
    if rules["type"] == "match":
        return float(found == rules["expected_qt_slider_colours"])
    if rules["type"] != "blackish":
        raise TaskError(f"{rules['type']!r} is not a rule about colours")
    return float(all(int(part) < BLACKISH for part in found.split(";")))


def _vlc_global_key(result: Path, rules: Options, options: Options) -> float:
    found = "1" if _vlc_value(result, "global-key-play-pause", "") else "0"
    return float(found == str(rules["expected_global_key_play_pause"]))


def _vlc_playing(result: Path, rules: Options, options: Options) -> float:
    status = ElementTree.fromstring(read_text(result))
    if status.findtext("state") != "playing":
        raise Refuted("nothing is played")
    told = [
        one.text
        for category in status.iter("category")
        if category.get("name") == "meta"
        for one in category
        if one.get("name") in ("filename", "title", "uri", "url", "location", "name") and one.text
    ]
    wanted = str(rules["file_name" if rules["type"] == "file_name" else "url"])
    if not any(text == wanted or text.endswith("/" + wanted) for text in told):
        raise Refuted(f"{', '.join(told)[:120]} is played")
    return 1.0


def _vlc_fullscreen(result: Options, expected: Options, options: Options) -> float:
    """The screen and the window have the same size."""
    return float(expected is not None and dict(result) == dict(expected))


# VS Code.


def _json_settings(result: Path, rules: Options, options: Options) -> float:
    data = read_json(result)
    for key, value in rules["expected"].items():
        if not isinstance(data, dict) or key not in data or data[key] != value:
            raise Refuted(f"{key} is not {value!r:.80}")
    return 1.0


def _keybindings(result: Path, rules: Options, options: Options) -> float:
    """The file may begin with a line of comment."""
    lines = read_lines(result)
    for text in ("\n".join(lines), "\n".join(lines[1:])):
        try:
            data = json.loads(text)
        except ValueError:
            continue
        if isinstance(data, list):
            return float(rules["expected"] in data)
    raise Refuted("it is no list of key bindings")


def _compare_config(result: Path, rules: Options, options: Options) -> float:
    """The settings of a text are among those of the file; with ``containment_ok: false``, they are all of them."""
    text, wanted = read_text(result), str(rules["expected"])
    try:
        found, expected = json.loads(text), json.loads(wanted)
    except ValueError:
        held = wanted.strip() in text if options.get("containment_ok", True) else wanted == text
    else:
        held = _contains(found, expected) if options.get("containment_ok", True) else found == expected
    return float(held)


def _contains(found: Any, wanted: Any) -> bool:
    if not isinstance(wanted, dict):
        return bool(found == wanted)
    return isinstance(found, dict) and all(
        key in found and _contains(found[key], value) for key, value in wanted.items()
    )


def _contains_word(result: str, rules: Options, options: Options) -> float:
    """Whether a command's output has a word; ``ls`` was meant to be searched, and is."""
    kinds = {"contain": True, "not_contain": False}
    if rules["type"] not in kinds:
        raise TaskError(f"{rules['type']!r} is not a rule about output")
    return float((rules["expected"] in result) is kinds[rules["type"]])


def _answer(result: Any, rules: Options, options: Options) -> float:
    return float(result == rules["expected"])


METRICS: dict[str, Callable[[Any, Any, Options], float]] = {
    "check_config_status": _gimp_setting,
    "check_play_and_exit": _vlc_setting("play-and-exit", "0", "expected_play_and_exit"),
    "check_qt_bgcone": _vlc_setting("qt-bgcone", "1", "expected_qt_bgcone"),
    "check_qt_max_volume": _vlc_setting("qt-max-volume", "125", "expected_qt_max_volume"),
    "check_qt_minimal_view": _vlc_setting("qt-minimal-view", "0", "expected_qt_minimal_view"),
    "check_one_instance_when_started_from_file": _vlc_setting(
        "one-instance-when-started-from-file", "1", "expected_one_instance_when_started_from_file"
    ),
    "is_vlc_recordings_folder": _vlc_recordings,
    "check_qt_slider_colours": _vlc_slider,
    "check_global_key_play_pause": _vlc_global_key,
    "is_vlc_playing": _vlc_playing,
    "is_vlc_fullscreen": _vlc_fullscreen,
    "check_json_settings": _json_settings,
    "check_json_keybindings": _keybindings,
    "compare_config": _compare_config,
    "is_extension_installed": _contains_word,
    "compare_answer": _answer,
}
