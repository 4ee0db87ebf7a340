"""Files: of the desktop, of the cache, and what a task file says itself."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from operant.errors import TaskError
from operant.tasks.criteria.question import Refuted
from operant.tasks.osworld.cache import as_list, golds_of
from operant.tasks.osworld.getters.evidence import Evidence
from operant.tasks.osworld.steps import outputs_of

__all__ = ["GETTERS"]


def _vm_file(source: Mapping[str, Any], evidence: Evidence) -> Any:
    """Copies of files; those that ``gives`` names are the result, the others lie beside them."""
    paths, names = as_list(source["path"]), as_list(source.get("dest"))
    if len(paths) != len(names):
        names = [posixpath.basename(path) for path in paths]
    found = [evidence.fetch(path, name) for path, name in zip(paths, names, strict=True)]
    return _given(found, source)


def _cloud_file(source: Mapping[str, Any], evidence: Evidence) -> Any:
    """Gold files. They lie in one directory of the cache, as metrics of several files expect."""
    found: list[Path | None] = [evidence.cache.find(one) for one in golds_of(source, evidence.cache.task)]
    return _given(found, source)


def _given(found: list[Path | None], source: Mapping[str, Any]) -> Any:
    if str(source.get("multi", False)).lower() != "true":
        return found[0]
    chosen = [found[index] for index in source.get("gives", [0]) if index < len(found)]
    return chosen[0] if len(chosen) == 1 else chosen


def _cache_file(source: Mapping[str, Any], evidence: Evidence) -> Path:
    """What an earlier ``execute`` kept of its output."""
    name = str(source["path"])
    kept = outputs_of(evidence.desktop)
    if name not in kept:
        raise Refuted(f"no step kept {name}")
    return evidence.keep(name, kept[name])


def _rule(source: Mapping[str, Any], evidence: Evidence) -> Any:
    if "rules" not in source:
        raise TaskError(f"{evidence.cache.task}: a rule without rules")
    return source["rules"]


def _vlc_config(source: Mapping[str, Any], evidence: Evidence) -> Path | None:
    return evidence.fetch("~/.config/vlc/vlcrc")


def _gimp_config(source: Mapping[str, Any], evidence: Evidence) -> Path | None:
    name = posixpath.basename(str(source["file_name"]))
    return evidence.fetch(f"~/.config/GIMP/2.10/{name}")


def _list_directory(source: Mapping[str, Any], evidence: Evidence) -> list[str] | None:
    """Names of the files that lie in a directory, at any depth."""
    found = evidence.desktop.run(
        ["find", "--", str(source["path"]), "-type", "f", "-printf", r"%P\0"], timeout_s=20.0
    )
    if found.returncode:
        return None
    return sorted(posixpath.basename(name) for name in found.output.split("\0") if name)


GETTERS: dict[str, Callable[[Mapping[str, Any], Evidence], Any]] = {
    "vm_file": _vm_file,
    "cloud_file": _cloud_file,
    "cache_file": _cache_file,
    "rule": _rule,
    "vlc_config": _vlc_config,
    "gimp_config_file": _gimp_config,
    "list_directory": _list_directory,
}
