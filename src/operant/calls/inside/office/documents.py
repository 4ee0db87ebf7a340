"""Open documents of LibreOffice: which one is meant, whether a dialog is in its way, loading and saving."""

from __future__ import annotations

import contextlib
import difflib
import os
from typing import Any, Dict, Iterator, List, NamedTuple, Optional

import programs
from display import TopWindow, XDisplay, wait_until
from office import connection
from office.connection import path_of_url, properties, url_of
from refusal import Refused

LOADED_S = 20.0


class Kind(NamedTuple):
    """One of LibreOffice's applications."""

    name: str
    document: str
    """What a document of it is called."""
    service: str
    factory: str
    filters: Dict[str, str]
    """How a file is written, by its extension."""
    pdf: str


CALC = Kind(
    "calc",
    "spreadsheet",
    "com.sun.star.sheet.SpreadsheetDocument",
    "scalc",
    {
        ".xlsx": "Calc MS Excel 2007 XML",
        ".ods": "calc8",
        ".xls": "MS Excel 97",
        ".csv": "Text - txt - csv (StarCalc)",
    },
    "calc_pdf_Export",
)
WRITER = Kind(
    "writer",
    "text document",
    "com.sun.star.text.TextDocument",
    "swriter",
    {
        ".docx": "MS Word 2007 XML",
        ".odt": "writer8",
        ".doc": "MS Word 97",
        ".rtf": "Rich Text Format",
        ".txt": "Text (encoded)",
        ".html": "HTML (StarWriter)",
    },
    "writer_pdf_Export",
)
IMPRESS = Kind(
    "impress",
    "presentation",
    "com.sun.star.presentation.PresentationDocument",
    "simpress",
    {
        ".pptx": "Impress MS PowerPoint 2007 XML",
        ".odp": "impress8",
        ".ppt": "MS PowerPoint 97",
    },
    "impress_pdf_Export",
)
OPTIONS = {".csv": "44,34,76,1,,0,false,true,false", ".txt": "UTF8,LF"}


@contextlib.contextmanager
def reading(kind: Kind, document: Optional[str] = None) -> Iterator[Any]:
    """The topmost document of a kind, or the one of that title or path."""
    with _told():
        connection.context()  # first: says whether it runs at all
        with XDisplay() as display:
            windows = display.windows()
            model = _choose(kind, document, windows)
            _check_no_dialog(display, windows, model)
        yield model


@contextlib.contextmanager
def changing(kind: Kind, document: Optional[str] = None) -> Iterator[Any]:
    """As ``reading``, for a change, which Undo takes back as one."""
    with reading(kind, document) as model:
        if model.isReadonly():
            raise Refused("%s is read-only: save_as makes a copy that can be changed" % model.getTitle())
        undo = model.getUndoManager()
        undo.enterUndoContext("Call")
        try:
            yield model
        finally:
            undo.leaveUndoContext()


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Errors of UNO in words."""
    try:
        yield
    except (Refused, OSError):
        raise
    except Exception as error:  # noqa: BLE001 - UNO's errors can't be named before it is loaded
        name = type(error).__name__.rpartition(".")[2]
        if name in ("DisposedException", "ConnectionSetupException", "NoConnectException"):
            connection.forget()
            raise Refused("LibreOffice ended, or closed the document, during the call") from None
        said = str(getattr(error, "Message", "") or error).strip().partition("\n")[0]
        raise Refused("LibreOffice refuses (%s)%s" % (name, ": " + said if said else "")) from None


def all_documents(kind: Optional[Kind] = None) -> List[Any]:
    """The documents that have a window, of one kind or all."""
    listed = connection.service("frame.Desktop").getComponents().createEnumeration()
    found = []
    while listed.hasMoreElements():
        one = listed.nextElement()
        if not hasattr(one, "getCurrentController") or one.getCurrentController() is None:
            continue
        if kind is None or one.supportsService(kind.service):
            found.append(one)
    return found


def _choose(kind: Kind, document: Optional[str], windows: List[TopWindow]) -> Any:
    found = all_documents(kind)
    if not found:
        raise Refused("no %s is open: %s.open_document opens one" % (kind.document, kind.name))
    if document is not None:
        named = [one for one in found if document == one.getTitle() or _is_at(one, document)]
        if not named:
            raise Refused(no_such("open " + kind.document, document, [one.getTitle() for one in found]))
        found = named
    order = {window.title: place for place, window in enumerate(windows)}
    return max(found, key=lambda one: order.get(_window_title(one), -1))


def _is_at(model: Any, path: str) -> bool:
    return bool(model.getURL()) and path_of_url(model.getURL()) == programs.path_of(path)


def _window_title(model: Any) -> str:
    return str(model.getCurrentController().getFrame().getTitle())


def _check_no_dialog(display: XDisplay, windows: List[TopWindow], model: Any) -> None:
    """Refuse while a dialog waits in front of the document. Those of other documents are not in the way."""
    by_id = {window.id: window for window in windows}
    title = _window_title(model)
    for dialog in windows:
        if not dialog.modal or not dialog.wm_class.lower().startswith(("soffice", "libreoffice")):
            continue
        owner, seen = dialog, {dialog.id}
        while owner.modal and (above := display.owner(owner.id)) in by_id and above not in seen:
            seen.add(above)
            owner = by_id[above]
        if owner.modal or owner.title == title:
            raise Refused(
                "the dialog %r of LibreOffice is open: close it first" % (dialog.title or "untitled")
            )


def no_such(what: str, name: str, names: List[str]) -> str:
    """A sentence that names the nearest one, or those that there are."""
    close = difflib.get_close_matches(name[:60], names, n=1)
    if close:
        return "there is no %s %r (did you mean %s?)" % (what, name[:80], close[0])
    return "there is no %s %r; there are: %s" % (what, name[:80], ", ".join(names[:20])[:400])


# What the applications have in common.


def open_file(kind: Kind, path: str) -> str:
    """Show a file in a window of its own; start LibreOffice if it does not run."""
    place = programs.path_of(path)
    if not os.path.isfile(place):
        raise Refused("there is no file %s" % programs.shown(place))
    with _told():
        if not connection.is_running() or not any(_is_at(one, place) for one in all_documents()):
            connection.start(place)  # one that runs is handed the file, and loads it as after a double click
        opened = wait_until(lambda: [one for one in all_documents() if _is_at(one, place)], LOADED_S, 0.05)
        if not opened:
            raise Refused("LibreOffice showed no window with %s%s" % (programs.shown(place), _dialog_said()))
        if not opened[0].supportsService(kind.service):
            raise Refused("%s is open now, but it is no %s" % (programs.shown(place), kind.document))
        _wait_for_window(opened[0])
        return "opened %s%s" % (programs.shown(place), " (read-only)" if opened[0].isReadonly() else "")


def new(kind: Kind) -> str:
    """Show an empty document."""
    with _told():
        before = {one.getTitle() for one in all_documents(kind)} if connection.is_running() else set()
        connection.start("--" + kind.name)
        found = wait_until(
            lambda: [one for one in all_documents(kind) if one.getTitle() not in before], LOADED_S, 0.05
        )
        model = found[0] if found else None
        if model is None:
            raise Refused("LibreOffice showed no new %s%s" % (kind.document, _dialog_said()))
        _wait_for_window(model)
        return "opened %s" % model.getTitle()


def _wait_for_window(model: Any) -> None:
    """Until the window manager knows it: by its window the topmost document is told."""
    with XDisplay() as display:
        wait_until(lambda: any(one.title == _window_title(model) for one in display.windows()), LOADED_S)


def _dialog_said() -> str:
    with XDisplay() as display:
        open_ones = [one.title for one in display.windows() if one.modal]
    return ": the dialog %r is open" % open_ones[-1] if open_ones else ""


def listed(kind: Kind) -> List[Dict[str, Any]]:
    """The open documents of a kind."""
    with _told():
        return [facts(one) for one in all_documents(kind)]


def facts(model: Any) -> Dict[str, Any]:
    """What every document can tell of itself."""
    url = model.getURL()
    return {
        "document": model.getTitle(),
        "path": programs.shown(path_of_url(url)) if url else None,
        "modified": bool(model.isModified()),
        "read_only": bool(model.isReadonly()),
    }


def save(kind: Kind, document: Optional[str]) -> str:
    """Write a document to its file, in the file's own format."""
    with reading(kind, document) as model:
        if not model.hasLocation():
            raise Refused("%s has no file yet: save_as gives it one" % model.getTitle())
        if model.isReadonly():
            raise Refused("%s is read-only: save_as makes a copy" % model.getTitle())
        place = path_of_url(model.getURL())
        _stored(place, lambda: model.store())
        return "saved %s" % programs.shown(place)


def save_as(kind: Kind, path: str, overwrite: bool, document: Optional[str]) -> str:
    """Write a document to another file, which becomes its own. The extension says the format."""
    place = target(path, overwrite)
    ending = os.path.splitext(place)[1].lower()
    if ending not in kind.filters:
        raise Refused("a %s is saved as %s, not as %r" % (kind.document, ", ".join(kind.filters), ending))
    options = {"FilterName": kind.filters[ending], "Overwrite": True}
    if ending in OPTIONS:
        options["FilterOptions"] = OPTIONS[ending]
    with reading(kind, document) as model:
        _stored(place, lambda: model.storeAsURL(url_of(place), properties(**options)))
        return "saved to %s" % programs.shown(place)


def export(kind: Kind, path: str, overwrite: bool, document: Optional[str], **options: Any) -> str:
    """Write a copy in another format, by default PDF. The document keeps its own file."""
    place = target(path, overwrite)
    store_copy(kind, place, document, **options)
    return "exported to %s (%d bytes)" % (programs.shown(place), os.path.getsize(place))


def store_copy(kind: Kind, place: str, document: Optional[str], **options: Any) -> None:
    with reading(kind, document) as model:
        chosen = {"FilterName": kind.pdf, "Overwrite": True, **options}
        _stored(place, lambda: model.storeToURL(url_of(place), properties(**chosen)))


def close(kind: Kind, discard_changes: bool, document: Optional[str]) -> str:
    """Close the window of a document."""
    with reading(kind, document) as model:
        title = model.getTitle()
        if model.isModified() and not discard_changes:
            raise Refused("%s has changes that are not saved: save it, or pass discard_changes=True" % title)
        model.setModified(False)
        model.getCurrentController().getFrame().close(True)
        return "closed %s" % title


def target(path: str, overwrite: bool) -> str:
    place = programs.path_of(path)
    folder = os.path.dirname(place)
    if not os.path.isdir(folder):
        raise Refused("there is no folder %s" % programs.shown(folder))
    if os.path.isdir(place) or (os.path.lexists(place) and not overwrite):
        raise Refused("%s is there already; overwrite=True replaces a file" % programs.shown(place))
    return place


def _stored(place: str, write: Any) -> None:
    try:
        write()
    except Exception as error:
        if "IOException" not in type(error).__name__:
            raise
        raise Refused("%s could not be written" % programs.shown(place)) from None
