"""Windows: those that are open, and those that only say so."""

from __future__ import annotations

import pytest

from operant.errors import TaskError
from operant.tasks.criteria import WindowAbsent, WindowGeometry, WindowTitle
from operant.types import Action, Monitor, Point, Window

pytestmark = pytest.mark.x11


def terminal(desktop, *options):
    return desktop.launch(["xterm", *options])


# window_title


def test_a_window_by_its_title(desktop, ask):
    assert not ask(WindowTitle(title="galculator"))
    window = desktop.launch("galculator")
    assert ask(WindowTitle(title=window.title, exact=True))
    assert ask(WindowTitle(title="alcul"))
    assert ask(WindowTitle(title="galculator", wm_class="Galculator"))
    assert not ask(WindowTitle(title="alcul", exact=True))
    assert not ask(WindowTitle(title="galculator", wm_class="Mousepad"))
    verdict = ask(WindowTitle(title="Spreadsheet"))
    assert not verdict
    assert "galculator" in verdict.why


def test_the_plain_name_of_an_application_stands_for_its_windows(desktop, ask):
    names = {
        "galculator": "Calculator",
        "mousepad": "Text Editor",
        "pcmanfm": "File Manager",
        "xterm": "Terminal",
    }
    for program in names:
        desktop.launch(program)
    for name in names.values():
        assert ask(WindowTitle(title=name)), name
    assert not ask(WindowTitle(title="Browser"))


def test_a_window_with_the_focus(desktop, ask):
    desktop.launch("galculator")
    desktop.launch("mousepad")
    assert ask(WindowTitle(title="Mousepad", focused=True))
    assert not ask(WindowTitle(title="galculator", focused=True))
    assert ask(WindowTitle(title="galculator", focused=False))


def test_a_window_that_was_closed_is_not_open(desktop, ask):
    window = desktop.launch("galculator")
    desktop.close_window(window)
    assert not ask(WindowTitle(title="Calculator"))


@pytest.mark.parametrize("title", ["Calculator", "galculator"])
@pytest.mark.parametrize("wm_class", [None, "Galculator"])
def test_a_terminal_that_calls_itself_a_calculator_is_none(desktop, ask, title, wm_class):
    terminal(desktop, "-T", title, "-class", "Galculator", "-name", "galculator")
    verdict = ask(WindowTitle(title=title, wm_class=wm_class))
    assert not verdict
    assert not ask(WindowTitle(title=title, wm_class=wm_class, exact=True))


def test_a_terminal_whose_title_was_set_by_a_command(desktop, ask, eventually):
    terminal(desktop, "-e", "sh", "-c", r"printf '\033]0;report.txt - Mousepad\007'; sleep 60")
    eventually(lambda: any("Mousepad" in window.title for window in desktop.windows()))
    assert not ask(WindowTitle(title="report.txt - Mousepad"))
    assert not ask(WindowTitle(title="report.txt - Mousepad", wm_class="Mousepad"))


def test_a_terminal_counts_where_a_terminal_is_asked_for(desktop, ask):
    terminal(desktop, "-T", "build log")
    assert ask(WindowTitle(title="build log", wm_class="XTerm"))
    assert ask(WindowTitle(title="Terminal"))
    assert not ask(WindowTitle(title="build log"))


@pytest.mark.parametrize("name", ["Calculator", "galculator"])
def test_an_editor_with_a_file_of_that_name_is_not_the_application(desktop, ask, name):
    desktop.files.write(name, "x")
    desktop.launch(["mousepad", name])
    assert not ask(WindowTitle(title=name))


def test_another_application_under_a_borrowed_name_and_class(desktop, ask):
    desktop.launch(["bash", "-c", "exec -a galculator mousepad --class=Galculator --name=galculator"])
    assert not ask(WindowTitle(title="Calculator"))
    assert not ask(WindowTitle(title="Mousepad", wm_class="Galculator"))


def test_a_forged_owner_is_not_believed(desktop, ask):
    """The process that a window names must exist, and be an installed program."""
    window = terminal(desktop, "-T", "Calculator", "-class", "Galculator")
    desktop.run(["xprop", "-id", str(window.id), "-remove", "_NET_WM_PID"])
    assert not ask(WindowTitle(title="Calculator"))
    assert not ask(WindowTitle(title="Calculator", wm_class="Galculator"))
    desktop.run(["xprop", "-id", str(window.id), "-f", "_NET_WM_PID", "32c", "-set", "_NET_WM_PID", "99999"])
    assert not ask(WindowTitle(title="Calculator"))


def test_a_copy_of_a_program_is_not_the_program(desktop, ask):
    desktop.run(["cp", "/usr/bin/galculator", "mycalc"])
    desktop.launch(["./mycalc"])
    assert not ask(WindowTitle(title="Calculator"))
    assert not ask(WindowTitle(title="galculator", exact=True))


def test_a_window_of_a_script_is_no_application(made_up):
    window = Window(1, "notes.txt - Mousepad", "Mousepad", 7, 0, 0, 100, 100, True)
    made_up.show(window, "python3.11")
    assert not made_up.ask(WindowTitle(title="notes.txt"))
    assert not made_up.ask(WindowTitle(title="notes.txt", wm_class="Mousepad"))


# window_absent


def test_a_window_is_absent(desktop, ask):
    assert ask(WindowAbsent(title="galculator"))
    window = desktop.launch("galculator")
    assert not ask(WindowAbsent(title="galculator"))
    assert not ask(WindowAbsent(title="Calculator"))
    assert not ask(WindowAbsent(wm_class="galculator"))
    assert ask(WindowAbsent(title="galculator", wm_class="Mousepad"))
    desktop.close_window(window)
    assert ask(WindowAbsent(wm_class="Galculator"))


def test_hiding_a_window_does_not_close_it(desktop, ask, eventually):
    window = desktop.launch("galculator")
    desktop.launch("mousepad")  # covers nothing away
    desktop.run(["sh", "-c", f"xprop -id {window.id} -f _NET_WM_NAME 8u -set _NET_WM_NAME gone"])
    desktop.run(["sh", "-c", f"xprop -id {window.id} -f WM_CLASS 8s -set WM_CLASS gone"])
    assert not ask(WindowAbsent(title="Calculator")), "renamed is not closed"
    desktop.activate_window(window)
    desktop.perform(Action.key("alt", "F9"))
    desktop.place_window(window, 5000, 5000, 100, 100)
    assert not ask(WindowAbsent(title="Calculator")), "out of sight is not closed"


def test_a_criterion_on_no_window_at_all_is_refused():
    with pytest.raises(TaskError):
        WindowAbsent()
    with pytest.raises(TaskError):
        WindowGeometry(x=1)
    with pytest.raises(TaskError, match="asks nothing"):
        WindowGeometry(title="a")


# window_geometry


def test_the_place_and_the_size_of_a_window(desktop, ask):
    window = desktop.launch("mousepad")
    desktop.place_window(window, 100, 120, 500, 400)
    assert ask(WindowGeometry(title="Mousepad", x=100, y=120, width=500, height=400, tolerance=2))
    assert ask(WindowGeometry(wm_class="Mousepad", x=104))
    assert not ask(WindowGeometry(wm_class="Mousepad", x=104, tolerance=3))
    assert not ask(WindowGeometry(title="Mousepad", x=100, y=400))
    assert not ask(WindowGeometry(title="Mousepad", width=640))
    assert not ask(WindowGeometry(title="galculator", x=100))


def test_a_maximized_window(desktop, ask):
    window = desktop.launch("mousepad")
    assert not ask(WindowGeometry(title="Mousepad", maximized=True))
    assert ask(WindowGeometry(title="Mousepad", maximized=False))
    desktop.place_window(window, 0, 0, 1280, 780)
    assert not ask(WindowGeometry(title="Mousepad", maximized=True)), "large is not maximized"
    desktop.place_window(window, 200, 200, 400, 300)
    desktop.perform(Action.click(Point.from_pixel(400, 190, desktop.size), clicks=2))  # on its title bar
    assert ask(WindowGeometry(title="Mousepad", maximized=True))
    assert not ask(WindowGeometry(title="Mousepad", maximized=False))


def test_a_window_that_only_says_that_it_is_maximized(desktop, ask):
    window = desktop.launch("mousepad")
    atoms = "_NET_WM_STATE_MAXIMIZED_HORZ, _NET_WM_STATE_MAXIMIZED_VERT"
    desktop.run(
        ["xprop", "-id", str(window.id), "-f", "_NET_WM_STATE", "32a", "-set", "_NET_WM_STATE", atoms]
    )
    assert not ask(WindowGeometry(title="Mousepad", maximized=True))


def test_a_minimized_window(made_up):
    made_up.show(
        Window(1, "a - Mousepad", "Mousepad", 7, 10, 20, 300, 200, False, minimized=True), "mousepad"
    )
    assert made_up.ask(WindowGeometry(title="Mousepad", minimized=True))
    assert not made_up.ask(WindowGeometry(title="Mousepad", minimized=False))
    assert not made_up.ask(WindowGeometry(title="Mousepad", x=10)), "a place where nobody sees it is none"
    assert made_up.ask(WindowGeometry(title="Mousepad", x=10, minimized=True))


def test_the_monitor_counts_not_the_whole_screen(made_up):
    made_up.monitors = (Monitor(0, 0, 640, 800), Monitor(640, 0, 640, 800))
    made_up.show(Window(1, "a", "Mousepad", 7, 640, 20, 640, 780, True, maximized=True), "mousepad")
    assert made_up.ask(WindowGeometry(title="a", maximized=True))


def test_a_terminal_in_the_right_place_is_the_wrong_window(desktop, ask):
    window = terminal(desktop, "-T", "Calculator")
    desktop.place_window(window, 100, 120, 500, 400)
    assert not ask(WindowGeometry(title="Calculator", x=100, y=120))
