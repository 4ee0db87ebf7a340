"""Archives (zip and tar): list, extract and create them without a window."""

from __future__ import annotations

import os
import tarfile
import zipfile
from typing import Any

from programs import path_of, shown
from refusal import Refused

WM_CLASS = "Xarchiver"
TIME_LIMITS = {"extract": 60, "create": 60, "list_archive": 20}
MOST_ENTRIES = 1000
TAR_MODES = {".tar": "w", ".tar.gz": "w:gz", ".tgz": "w:gz", ".tar.bz2": "w:bz2", ".tar.xz": "w:xz"}


def list_archive(archive: str) -> list[str]:
    """List the files and folders in an archive."""
    place = _existing(archive)
    if zipfile.is_zipfile(place):
        with zipfile.ZipFile(place) as packed:
            names = packed.namelist()
    else:
        with _tar(place) as tar:
            names = [one.name + ("/" if one.isdir() else "") for one in tar]
    if len(names) > MOST_ENTRIES:
        raise Refused("%s has %d entries, more than can be listed" % (shown(place), len(names)))
    return names


def extract(archive: str, folder: str, names: list[str] | None = None) -> str:
    """Extract an archive, or only the entries that are named, into a folder; it is made if there is none."""
    place, goal = _existing(archive), path_of(folder)
    os.makedirs(goal, exist_ok=True)
    if zipfile.is_zipfile(place):
        with zipfile.ZipFile(place) as packed:
            chosen: Any = _chosen(packed.namelist(), names)
            packed.extractall(goal, chosen)  # never outside the folder: zipfile drops .. and leading slashes
    else:
        with _tar(place) as tar:
            members = {one.name: one for one in tar}
            chosen = _chosen(list(members), names)
            for name in chosen:
                _check_member(members[name], goal)
                tar.extract(members[name], goal, set_attrs=False)
    return "extracted %d entries to %s" % (len(chosen), shown(goal))


def create(archive: str, paths: list[str], overwrite: bool = False) -> str:
    """Pack files and folders into a new archive: .zip, .tar, .tar.gz, .tgz, .tar.bz2 or .tar.xz."""
    place = path_of(archive)
    if not paths:
        raise Refused("nothing to pack")
    if os.path.isdir(place) or (os.path.lexists(place) and not overwrite):
        raise Refused("%s is there already; overwrite=True replaces a file" % shown(place))
    if not os.path.isdir(os.path.dirname(place)):
        raise Refused("there is no folder %s" % shown(os.path.dirname(place)))
    sources = [_existing(one) for one in paths]
    mode = next((how for end, how in TAR_MODES.items() if place.endswith(end)), None)
    if mode is not None:
        with tarfile.open(place, mode) as tar:  # type: ignore[call-overload]
            for one in sources:
                tar.add(one, os.path.basename(one))
    elif place.endswith(".zip"):
        with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as packed:
            for one in sources:
                _add(packed, one)
    else:
        raise Refused("the name of an archive ends with .zip, %s" % ", ".join(TAR_MODES))
    return "packed %d paths into %s" % (len(sources), shown(place))


def _existing(path: str) -> str:
    place = path_of(path)
    if not os.path.exists(place):
        raise Refused("there is no %s" % shown(place))
    return place


def _tar(place: str) -> tarfile.TarFile:
    try:
        return tarfile.open(place)
    except tarfile.TarError:
        raise Refused("%s is no archive that can be read" % shown(place)) from None


def _chosen(there: list[str], names: list[str] | None) -> list[str]:
    if names is None:
        return there
    missing = sorted(set(names) - set(there))
    if missing:
        raise Refused("the archive has no entry %r" % missing[0])
    return names


def _check_member(member: tarfile.TarInfo, goal: str) -> None:
    """No entry leads out of the folder, by its name or as a link."""
    target = os.path.realpath(os.path.join(goal, member.name))
    inside = target == os.path.realpath(goal) or target.startswith(os.path.realpath(goal) + "/")
    if not inside or not (member.isfile() or member.isdir()):
        raise Refused("the entry %r leads out of the folder, or is no file" % member.name)


def _add(packed: zipfile.ZipFile, source: str) -> None:
    base = os.path.dirname(source)
    packed.write(source, os.path.relpath(source, base))
    for place, folders, names in os.walk(source):
        for name in sorted(folders + names):
            path = os.path.join(place, name)
            packed.write(path, os.path.relpath(path, base))
