"""Atril, the document viewer: open a document at a page, and read what a PDF says."""

from __future__ import annotations

import os

import programs
from opening import open_program
from programs import path_of, shown
from refusal import Refused

WM_CLASS = "Atril"
TIME_LIMITS = {"open_document": 30, "read_pages": 30}


def open_document(path: str, page: int = 1) -> str:
    """Show a document in the viewer at that page, counted from 1."""
    place = _existing(path)
    if page < 1:
        raise Refused("pages are counted from 1")
    return open_program(["atril", "--page-index=%d" % page, place])


def read_pages(path: str, first: int = 1, last: int | None = None) -> str:
    """Read the text of a PDF's pages from first to last, counted from 1; all pages unless they are named."""
    place = _existing(path)
    if first < 1 or (last is not None and last < first):
        raise Refused("pages are counted from 1")
    more = ["-l", str(last)] if last is not None else []
    result = programs.run(["pdftotext", "-layout", "-f", str(first), *more, place, "-"], timeout_s=20)
    if result.returncode != 0:
        said = " ".join(result.stderr.decode("utf-8", "replace").split())[:200]
        raise Refused("%s can't be read: %s" % (shown(place), said))
    return result.stdout.decode("utf-8", "replace")


def get_info(path: str) -> dict[str, str]:
    """Tell title, author, number of pages and page size of a PDF."""
    place = _existing(path)
    result = programs.run(["pdfinfo", place], timeout_s=20)
    if result.returncode != 0:
        raise Refused("%s can't be read" % shown(place))
    rows = (row.partition(":") for row in result.stdout.decode("utf-8", "replace").splitlines())
    return {name.strip(): value.strip() for name, _colon, value in rows if value.strip()}


def _existing(path: str) -> str:
    place = path_of(path)
    if not os.path.isfile(place):
        raise Refused("there is no file %s" % shown(place))
    return place
