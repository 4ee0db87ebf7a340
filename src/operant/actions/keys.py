"""Names of keys: one canonical name each, and what other systems call them.

A printable character is its own name, upper case included ("A" is the key that types A). Every other
key has a lower-case name. Left and right modifiers are one key here, except AltGr. Not known: keyboard
layouts, key codes, and X's names for accented letters (say "é" or "U00E9" instead).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from operant.actions.payload import MAX_ITEMS, check_items, check_text, malformed, nearest

__all__ = [
    "KEYSYM_NAMES",
    "PYAUTOGUI_NAMES",
    "canonical_key",
    "canonical_keys",
    "keysym_name",
    "parse_chord",
    "pyautogui_name",
]

#: name: (X keysym, pyautogui's name or "", further names). The case of a name and any "_", "-" and
#: space in it make no difference, so those spellings are not listed.
_KEYS: dict[str, tuple[str, str, str]] = {
    "ctrl": ("Control_L", "ctrl", "control controlr ctrll ctrlr ctrlleft ctrlright controlleft controlright"),
    "shift": ("Shift_L", "shift", "shiftr shiftleft shiftright"),
    "alt": ("Alt_L", "alt", "altr altleft altright option optionleft optionright"),
    "super": (
        "Super_L",
        "win",
        "superr winleft winright windows command cmd meta metal metar metaleft metaright hyperl os",
    ),
    "altgr": ("ISO_Level3_Shift", "", "altgraph"),
    "enter": ("Return", "enter", "ret linefeed newline"),
    "tab": ("Tab", "tab", "isolefttab"),
    "esc": ("Escape", "esc", ""),
    "space": ("space", " ", "spacebar"),
    "backspace": ("BackSpace", "backspace", "bksp"),
    "delete": ("Delete", "delete", "del"),
    "insert": ("Insert", "insert", "ins"),
    "home": ("Home", "home", ""),
    "end": ("End", "end", ""),
    "pageup": ("Page_Up", "pageup", "pgup prior"),
    "pagedown": ("Page_Down", "pagedown", "pgdn pgdown next"),
    "up": ("Up", "up", "arrowup uparrow"),
    "down": ("Down", "down", "arrowdown downarrow"),
    "left": ("Left", "left", "arrowleft leftarrow"),
    "right": ("Right", "right", "arrowright rightarrow"),
    "capslock": ("Caps_Lock", "capslock", "caps"),
    "numlock": ("Num_Lock", "numlock", ""),
    "scrolllock": ("Scroll_Lock", "scrolllock", ""),
    "printscreen": ("Print", "printscreen", "prntscrn prtsc prtscr prtscn sysreq"),
    "pause": ("Pause", "pause", "break"),
    "menu": ("Menu", "apps", "contextmenu app"),
    "compose": ("Multi_key", "", ""),
    "help": ("Help", "help", ""),
    "select": ("Select", "select", ""),
    "execute": ("Execute", "execute", ""),
    "clear": ("Clear", "clear", ""),
    "cancel": ("Cancel", "", ""),
    "undo": ("Undo", "", ""),
    "redo": ("Redo", "", ""),
    "find": ("Find", "", ""),
    "modechange": ("Mode_switch", "modechange", ""),
    "convert": ("Henkan_Mode", "convert", "henkan"),
    "nonconvert": ("Muhenkan", "nonconvert", ""),
    "kana": ("Hiragana_Katakana", "kana", ""),
    "kanji": ("Kanji", "kanji", ""),
    "hangul": ("Hangul", "hangul", "hanguel"),
    "hanja": ("Hangul_Hanja", "hanja", ""),
    "volumeup": ("XF86AudioRaiseVolume", "volumeup", "audiovolumeup"),
    "volumedown": ("XF86AudioLowerVolume", "volumedown", "audiovolumedown"),
    "volumemute": ("XF86AudioMute", "volumemute", "mute audiovolumemute"),
    "playpause": ("XF86AudioPlay", "playpause", "mediaplaypause"),
    "mediastop": ("XF86AudioStop", "stop", ""),
    "nexttrack": ("XF86AudioNext", "nexttrack", "medianexttrack mediatracknext"),
    "prevtrack": ("XF86AudioPrev", "prevtrack", "mediaprevioustrack mediatrackprevious"),
    "brightnessup": ("XF86MonBrightnessUp", "", ""),
    "brightnessdown": ("XF86MonBrightnessDown", "", ""),
    "browserback": ("XF86Back", "browserback", ""),
    "browserforward": ("XF86Forward", "browserforward", ""),
    "browserrefresh": ("XF86Refresh", "browserrefresh", ""),
    "browserstop": ("XF86Stop", "browserstop", ""),
    "browserhome": ("XF86HomePage", "browserhome", ""),
    "browsersearch": ("XF86Search", "browsersearch", ""),
    "browserfavorites": ("XF86Favorites", "browserfavorites", ""),
    "launchmail": ("XF86Mail", "launchmail", ""),
    "launchmediaselect": ("XF86AudioMedia", "launchmediaselect", ""),
    "launchapp1": ("XF86MyComputer", "launchapp1", ""),
    "launchapp2": ("XF86Calculator", "launchapp2", ""),
    "sleep": ("XF86Sleep", "sleep", ""),
    "kp_enter": ("KP_Enter", "", "numpadenter numenter"),
    "kp_add": ("KP_Add", "add", "numpadadd"),
    "kp_subtract": ("KP_Subtract", "subtract", "numpadsubtract"),
    "kp_multiply": ("KP_Multiply", "multiply", "numpadmultiply"),
    "kp_divide": ("KP_Divide", "divide", "numpaddivide"),
    "kp_decimal": ("KP_Decimal", "decimal", "numpaddecimal"),
    "kp_separator": ("KP_Separator", "separator", ""),
    "kp_equal": ("KP_Equal", "", ""),
    "kp_home": ("KP_Home", "", ""),
    "kp_end": ("KP_End", "", ""),
    "kp_pageup": ("KP_Page_Up", "", "kpprior"),
    "kp_pagedown": ("KP_Page_Down", "", "kpnext"),
    "kp_up": ("KP_Up", "", ""),
    "kp_down": ("KP_Down", "", ""),
    "kp_left": ("KP_Left", "", ""),
    "kp_right": ("KP_Right", "", ""),
    "kp_begin": ("KP_Begin", "", ""),
    "kp_insert": ("KP_Insert", "", ""),
    "kp_delete": ("KP_Delete", "", ""),
    **{f"kp_{n}": (f"KP_{n}", f"num{n}", f"numpad{n}") for n in range(10)},
    **{f"f{n}": (f"F{n}", f"f{n}", "") for n in range(1, 25)},
}

#: X's names for the printable characters of ASCII that are neither letters nor digits.
_CHARACTER_NAMES: dict[str, str] = {
    "!": "exclam",
    '"': "quotedbl",
    "#": "numbersign",
    "$": "dollar",
    "%": "percent",
    "&": "ampersand",
    "'": "apostrophe",
    "(": "parenleft",
    ")": "parenright",
    "*": "asterisk",
    "+": "plus",
    ",": "comma",
    "-": "minus",
    ".": "period",
    "/": "slash",
    ":": "colon",
    ";": "semicolon",
    "<": "less",
    "=": "equal",
    ">": "greater",
    "?": "question",
    "@": "at",
    "[": "bracketleft",
    "\\": "backslash",
    "]": "bracketright",
    "^": "asciicircum",
    "_": "underscore",
    "`": "grave",
    "{": "braceleft",
    "|": "bar",
    "}": "braceright",
    "~": "asciitilde",
}
_CONTROL_CHARACTERS = {
    " ": "space",
    "\t": "tab",
    "\n": "enter",
    "\r": "enter",
    "\b": "backspace",
    "\x1b": "esc",
    "\x7f": "delete",
}
_UNICODE_KEYSYM = re.compile(r"U[0-9A-Fa-f]{4,6}")

#: Canonical name -> X keysym name (as xdotool takes it), for every key that is not a character.
KEYSYM_NAMES: Mapping[str, str] = {name: keysym for name, (keysym, _, _) in _KEYS.items()}
#: Canonical name -> pyautogui's name, for the keys that it can press and that are not characters.
PYAUTOGUI_NAMES: Mapping[str, str] = {name: theirs for name, (_, theirs, _) in _KEYS.items() if theirs}


def _compact(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "").replace(" ", "")


def _aliases() -> dict[str, str]:
    found = {keysym: character for character, keysym in _CHARACTER_NAMES.items()}
    found |= {"quoteleft": "`", "quoteright": "'", "yen": "¥", "eurosign": "€", "sterling": "£"}
    for name, (keysym, theirs, more) in _KEYS.items():
        for alias in (name, keysym, theirs, *more.split()):
            found[_compact(alias)] = name
    found.pop("", None)
    return found


_ALIASES: Mapping[str, str] = _aliases()


def canonical_key(name: str) -> str:
    """The canonical name of a key that another system calls ``name``.

    >>> [canonical_key(name) for name in ("Return", "ctrlleft", "ARROWLEFT", "Page_Up", "plus", "A")]
    ['enter', 'ctrl', 'left', 'pageup', '+', 'A']
    """
    check_text(name)
    if len(name) == 1:
        key = _CONTROL_CHARACTERS.get(name, name)
    elif _UNICODE_KEYSYM.fullmatch(name) and int(name[1:], 16) < 0x110000:
        key = chr(int(name[1:], 16))
    else:
        key = _ALIASES.get(_compact(name), "")
    if not key or (len(key) == 1 and (not key.isprintable() or key == " ")):
        raise malformed("unknown key", name, nearest(_compact(name[:40]), {*_ALIASES, *_KEYS}))
    return key


def canonical_keys(names: object) -> tuple[str, ...]:
    """The canonical names of a list of keys."""
    return tuple(canonical_key(check_text(name)) for name in check_items(names, "keys"))


def parse_chord(text: str, separators: str = "+") -> tuple[str, ...]:
    """The keys of a chord. A separator stands for its own key where a key has to begin.

    >>> parse_chord("ctrl+shift+t"), parse_chord("ctrl++"), parse_chord("ctrl c", " ")
    (('ctrl', 'shift', 't'), ('ctrl', '+'), ('ctrl', 'c'))
    """
    names: list[str] = []
    start = 0
    for position, character in enumerate(check_text(text)):
        if character in separators and (position > start or character.isspace()):
            if position > start:
                names.append(text[start:position])
            start = position + 1
    if start < len(text) or not (text and text[-1].isspace()):
        names.append(text[start:])
    if "" in names or not 0 < len(names) <= MAX_ITEMS:
        raise malformed("a chord with a key missing", text)
    return tuple(canonical_key(name) for name in names)


def keysym_name(key: str) -> str:
    """The name that X and xdotool have for a canonical key, characters included."""
    if len(key) > 1:
        return KEYSYM_NAMES[key]
    if key.isascii():
        return _CHARACTER_NAMES.get(key, key)
    return f"U{ord(key):04X}"


def pyautogui_name(key: str) -> str | None:
    """The name that pyautogui has for a canonical key, or None: it knows no characters beyond ASCII."""
    if len(key) > 1:
        return PYAUTOGUI_NAMES.get(key)
    return key if key.isascii() else None
