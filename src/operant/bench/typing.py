"""Types random sums, file names, paths and paragraphs into applications, and reads back what has arrived.

What an application holds is read by accessibility, from its clipboard or from files that it wrote, never assumed.
Most of the applications are those that Operant offers; the others stand for toolkits: Qt, Tk, and GTK's calculators.
"""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from operant.apps import chromium
from operant.bench.record import check_measured, median
from operant.desktop.protocol import Desktop
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import AccessibilityError
from operant.types import Action, Point

__all__ = ["APPLICATIONS", "GOALS", "TextKind", "TypedApplication", "measure_typing", "random_texts"]

Progress = Callable[[str], None]
TextKind = str

#: (bound, whether smaller is better)
GOALS: dict[str, tuple[float, bool]] = {"wrong": (0.0, True), "slowest_s": (1.0, True)}

ARRIVES_S = 2.0  # how long what was typed may take to be seen
READY_S = 20.0
PROSE = (
    "of and to in is was for on with as by at from about between under a new old better small café naïve Straße "
    'résumé don\'t "quoted" (maybe) well-known e.g. 42 1,250 3.14 50% committee balloon bookkeeper mississippi '
    "assess success address coffee look see all will still off add too"
)


def _sum(rng: random.Random) -> str:
    return f"{rng.randrange(1, 10_000)}+{rng.randrange(1, 10_000)}"


def _file_name(rng: random.Random) -> str:
    stem = "".join(rng.choice("aabcdeeffgillmnooprsstt0011_- ") for _ in range(rng.randrange(3, 16))).strip(
        "- "
    )
    return f"{stem or 'x'}{rng.randrange(100)}.{rng.choice(['txt', 'tar.gz', 'jpeg', 'ods', 'csv'])}"


def _path(rng: random.Random) -> str:
    return "/".join(
        [
            "/home/user",
            *(_file_name(rng).partition(".")[0] for _ in range(rng.randrange(1, 4))),
            _file_name(rng),
        ]
    )


def _paragraph(rng: random.Random) -> str:
    words = [rng.choice(PROSE.split()) for _ in range(rng.randrange(12, 40))]
    return " ".join(words).capitalize() + rng.choice(".!?")


KINDS: dict[TextKind, Callable[[random.Random], str]] = {
    "sum": _sum,
    "file name": _file_name,
    "path": _path,
    "paragraph": _paragraph,
}
ALL = tuple(KINDS)


def random_texts(kinds: Sequence[TextKind], count: int, seed: int) -> Iterator[str]:
    """So many texts of these kinds in turn."""
    rng = random.Random(seed)
    for index in range(count):
        yield KINDS[kinds[index % len(kinds)]](rng)


@dataclass(frozen=True)
class TypedApplication:
    """An application and how text is typed into it, removed again, and read."""

    program: str
    open: Callable[[Desktop], None]
    read: Callable[[Desktop], str | None]
    clear: Callable[[Desktop], None]
    kinds: tuple[TextKind, ...] = ALL
    typed: Callable[[str], str] = str
    """What is typed for a text."""
    expected: Callable[[str], str] = str
    """What is then to be read."""


# Ways to open, read and clear.


def _launch(*command: str) -> Callable[[Desktop], None]:
    def launch(desktop: Desktop) -> None:
        desktop.launch(list(command), timeout_s=READY_S)

    return launch


def _press(*chords: str) -> Callable[[Desktop], None]:
    """Chords of keys one after the other, as "ctrl+a"."""

    def press(desktop: Desktop) -> None:
        for chord in chords:
            desktop.perform(Action.key(*chord.split("+")))

    return press


def _both(*steps: Callable[[Desktop], None]) -> Callable[[Desktop], None]:
    def both(desktop: Desktop) -> None:
        for step in steps:
            step(desktop)

    return both


def _focused_text(desktop: Desktop) -> str | None:
    """The text of the widget with the focus, by accessibility."""
    try:
        tree = desktop.accessibility(timeout_s=5.0)
    except AccessibilityError:
        return None
    return next(
        (node.text for node in tree.walk() if "focused" in node.states and node.text is not None), None
    )


def _copied(*chords: str) -> Callable[[Desktop], str | None]:
    """What these keys copy to the clipboard."""

    def copied(desktop: Desktop) -> str | None:
        _press(*chords)(desktop)
        return desktop.clipboard.get()

    return copied


def _written(desktop: Desktop) -> str | None:
    """What a program of ours has written down."""
    return (
        desktop.files.read("out.txt").decode("utf-8", "replace") if desktop.files.exists("out.txt") else None
    )


def _await_file(desktop: Desktop, path: str) -> None:
    deadline = time.monotonic() + READY_S
    while not desktop.files.exists(path) and time.monotonic() < deadline:
        time.sleep(0.01)
    desktop.settle()


# Applications that need more than a line.


def _open_terminal(desktop: Desktop) -> None:
    # Raw input: no byte is special. Each text begins a file of its own when Ctrl+U is typed.
    script = (
        "import os,sys,tty; tty.setraw(0); open('ready','w'); out=open('out.txt','wb',0)\n"
        "while True:\n"
        " data=os.read(0,4096).rpartition(b'\\x15')\n"
        " if data[1]: out.seek(0); out.truncate()\n"
        " out.write(data[2])"
    )
    desktop.launch(["xterm", "-u8", "-e", "python3", "-c", script])
    _await_file(desktop, "ready")


def _open_tk(desktop: Desktop) -> None:
    script = """
        entry .e -textvariable v -width 100; pack .e; focus -force .e
        proc note args { set f [open out.txt w]; fconfigure $f -encoding utf-8
                         puts -nonewline $f $::v; close $f }
        trace add variable v write note
    """
    desktop.files.write("entry.tcl", script)
    desktop.launch(["wish", "entry.tcl"])


def _open_page(desktop: Desktop) -> None:
    desktop.files.write(
        "page.html", "<meta charset=utf-8><title>Page</title><textarea autofocus rows=20 cols=80></textarea>"
    )
    desktop.launch(chromium.APP.argv("file:///home/user/page.html"), timeout_s=READY_S)
    deadline = time.monotonic() + READY_S
    while _focused_text(desktop) is None and time.monotonic() < deadline:
        desktop.perform(Action.click(Point(0.3, 0.4)))


def _open_document(desktop: Desktop) -> None:
    desktop.files.write("page.pdf", PDF)
    desktop.launch(["atril", "page.pdf"], timeout_s=READY_S)
    _press("ctrl+f")(desktop)


def _open_picture(desktop: Desktop) -> None:
    """A picture, because viewnior opens no second one without a first; then the place in the file dialog."""
    desktop.files.write("dot.ppm", b"P6 64 64 255\n" + bytes(64 * 64 * 3))
    desktop.launch(["viewnior", "dot.ppm"], timeout_s=READY_S)
    _press("ctrl+o", "ctrl+l")(desktop)


def _open_folder(desktop: Desktop) -> None:
    desktop.files.write("folder/first", "")
    desktop.launch(["pcmanfm", "folder"], timeout_s=READY_S)


def _rename(desktop: Desktop) -> None:
    """Begin to rename the only file of the folder; the window learns of its last name a moment after the disk."""
    name, deadline = _renamed(desktop), time.monotonic() + READY_S
    while _focused_text(desktop) != name and time.monotonic() < deadline:
        _press("escape", "ctrl+a", "f2")(desktop)
    _press("ctrl+a")(desktop)


def _renamed(desktop: Desktop) -> str | None:
    names = [entry.name for entry in desktop.files.list("folder")]
    return names[0] if len(names) == 1 else None


PDF = b"""%PDF-1.4
1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj
2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj
3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 300 300]>> endobj
trailer <</Root 1 0 R>>
"""


def _result(text: str) -> str:
    return str(sum(map(int, text.split("+"))))


def _entered(text: str) -> str:
    return text + "\n"


def _calculator(program: str, read: Callable[[Desktop], str | None]) -> TypedApplication:
    return TypedApplication(program, _launch(program), read, _press("escape"), ("sum",), _entered, _result)


OVERWRITE = _press("ctrl+a", "delete")


def _text(program: str, *chords: str, kinds: tuple[TextKind, ...] = ALL) -> TypedApplication:
    """An application that has a text field in focus once these keys are pressed."""
    start = _both(_launch(program), _press(*chords))
    return TypedApplication(program, start, _focused_text, OVERWRITE, kinds)


APPLICATIONS: dict[str, TypedApplication] = {
    # Those that Operant offers; lxappearance has no field for text.
    "galculator": _calculator("galculator", _focused_text),
    "mousepad": _text("mousepad"),
    "pcmanfm": _text("pcmanfm", "ctrl+l"),
    "pcmanfm-rename": TypedApplication("pcmanfm", _open_folder, _renamed, _rename, ("file name",), _entered),
    "xterm": TypedApplication("xterm", _open_terminal, _written, _press("ctrl+u")),
    "chromium": TypedApplication("chromium", _open_page, _focused_text, OVERWRITE),
    "atril": TypedApplication("atril", _open_document, _focused_text, OVERWRITE),
    "viewnior": TypedApplication("viewnior", _open_picture, _focused_text, OVERWRITE),
    "ristretto": _text("ristretto", "ctrl+o", "ctrl+l"),
    "xarchiver": _text("xarchiver", "ctrl+o", "ctrl+l"),
    # One or more for each toolkit: GTK 3, Qt 5, Tk.
    "mate-calc": _calculator("mate-calc", _focused_text),
    "qalculate-gtk": _text("qalculate-gtk", kinds=("sum",)),
    "l3afpad": _text("l3afpad"),
    "featherpad": TypedApplication(
        "featherpad", _launch("featherpad"), _copied("ctrl+a", "ctrl+c"), OVERWRITE
    ),
    "kcalc": _calculator("kcalc", _copied("ctrl+c")),
    "tk": TypedApplication("wish", _open_tk, _written, _press("ctrl+/", "delete")),
}


def measure_typing(
    progress: Progress, count: int, applications: Sequence[str] = (), seed: int = 0
) -> dict[str, Any]:
    """Type so many texts into each application; say how many arrived, and how long they took."""
    check_measured(applications, APPLICATIONS)
    found: dict[str, Any] = {}
    with SandboxDesktop() as desktop:
        for name in applications or APPLICATIONS:
            if shutil.which(APPLICATIONS[name].program) is None:
                found[name] = {"missing": f"{APPLICATIONS[name].program} is not installed"}
                continue
            progress(name)
            desktop.reset()
            found[name] = type_into(desktop, APPLICATIONS[name], count, seed)
    measured = [one for one in found.values() if "missing" not in one]
    return {
        "texts": sum(one["texts"] for one in measured),
        "wrong": sum(one["texts"] - one["right"] for one in measured),
        "slowest_s": max((one["slowest_s"] for one in measured), default=0.0),
        "applications": found,
    }


def type_into(desktop: Desktop, application: TypedApplication, count: int, seed: int) -> dict[str, Any]:
    """Open one application, type so many texts one after the other, and compare what it then holds."""
    application.open(desktop)
    seconds: list[float] = []
    wrong: list[dict[str, Any]] = []
    for text in random_texts(application.kinds, count, seed):
        application.clear(desktop)
        began = time.monotonic()
        desktop.perform(Action.type(application.typed(text)))
        seconds.append(time.monotonic() - began)
        expected = application.expected(text)
        deadline = time.monotonic() + ARRIVES_S
        while (read := application.read(desktop)) != expected and time.monotonic() < deadline:
            time.sleep(0.02)
        if read != expected:
            wrong.append({"typed": text, "expected": expected, "read": read})
    return {
        "texts": count,
        "right": count - len(wrong),
        "p50_s": round(median(seconds), 4),
        "slowest_s": round(max(seconds), 4),
        "wrong": wrong[:10],
    }
