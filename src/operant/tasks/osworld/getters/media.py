"""Pictures and sounds inside presentations, and what VLC plays."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

from operant.tasks.criteria.question import Refuted
from operant.tasks.osworld.getters.evidence import MAX_RESULT, Evidence

__all__ = ["GETTERS"]

DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
PRESENTATION = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
PACKAGE = "{http://schemas.openxmlformats.org/package/2006/relationships}"
VLC_STATUS = """\
import base64, sys, urllib.request
request = urllib.request.Request("http://127.0.0.1:8080/requests/status.xml")
request.add_header("Authorization", "Basic " + base64.b64encode(b":password").decode())
sys.stdout.buffer.write(urllib.request.urlopen(request, timeout=5).read(1 << 20))
"""


def _audio_in_slide(source: Mapping[str, Any], evidence: Evidence) -> Path | None:
    return _from_slide(source, evidence, lambda id, kind, slide: kind.endswith(("/audio", "/media")))


def _background_in_slide(source: Mapping[str, Any], evidence: Evidence) -> Path | None:
    def is_background(id: str, kind: str, slide: ElementTree.Element) -> bool:
        used = [
            blip.get(f"{RELATION}embed")
            for background in slide.iter(f"{PRESENTATION}bgPr")
            for blip in background.iter(f"{DRAWING}blip")
        ]
        return kind.endswith("/image") and id in used

    return _from_slide(source, evidence, is_background)


def _from_slide(
    source: Mapping[str, Any], evidence: Evidence, meant: Callable[[str, str, ElementTree.Element], bool]
) -> Path | None:
    """The file of the first relation of a slide that is meant: one inside the presentation, or one of the desktop."""
    place = evidence.fetch(str(source["ppt_file_path"]))
    if place is None:
        return None
    name = f"slide{int(source['slide_index']) + 1}.xml"
    try:
        with zipfile.ZipFile(place) as package:
            slide = ElementTree.fromstring(_part(package, f"ppt/slides/{name}"))
            relations = ElementTree.fromstring(_part(package, f"ppt/slides/_rels/{name}.rels"))
            for one in relations.iter(f"{PACKAGE}Relationship"):
                if meant(one.get("Id", ""), one.get("Type", ""), slide):
                    target = one.get("Target", "")
                    if target.startswith("file:"):
                        return evidence.fetch(unquote(urlsplit(target).path), str(source.get("dest", "")))
                    inside = posixpath.normpath(posixpath.join("ppt/slides", target)).lstrip("/")
                    return evidence.keep(str(source.get("dest", target)), _part(package, inside))
    except (zipfile.BadZipFile, KeyError, ElementTree.ParseError) as error:
        raise Refuted(f"{place.name} is no presentation with that slide: {error}") from error
    return None


def _part(package: zipfile.ZipFile, name: str) -> bytes:
    if package.getinfo(name).file_size > MAX_RESULT:
        raise Refuted(f"{name} is too large")
    return package.read(name)


def _vlc_playing(source: Mapping[str, Any], evidence: Evidence) -> Path | None:
    """The status of VLC's web interface, asked for inside the desktop."""
    found = evidence.desktop.run(["/usr/bin/python3", "-I", "-c", VLC_STATUS], timeout_s=20.0)
    if found.returncode:
        raise Refuted("VLC's web interface does not answer")
    return evidence.keep("status.xml", found.stdout)


GETTERS: dict[str, Callable[[Mapping[str, Any], Evidence], Any]] = {
    "audio_in_slide": _audio_in_slide,
    "background_image_in_slide": _background_in_slide,
    "vlc_playing_info": _vlc_playing,
}
