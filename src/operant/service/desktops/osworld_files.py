"""The calls of OSWorld's protocol that carry a form: files to and from a machine, and the size of a window."""

from __future__ import annotations

import urllib.parse
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any

from fastapi import Response

from operant.desktop.osworld.guest import GuestMachine
from operant.errors import OperantError
from operant.service.desktops.osworld_words import jsonified, text, text_field

__all__ = ["FILE_ROUTES"]

Fields = Mapping[str, Any]


def get_file(guest: GuestMachine, fields: Fields) -> Response:
    path = text_field(fields, "file_path")
    if not path:
        return jsonified({"error": "file_path is required"}, 400)
    try:
        data = guest.read_file(path)
    except (FileNotFoundError, NotADirectoryError):
        return jsonified({"error": "File not found"}, 404)
    except (OperantError, OSError) as failure:
        return jsonified({"error": f"Failed to serve file: {failure}"}, 500)
    name = urllib.parse.quote(PurePosixPath(path).name)
    headers = {"content-disposition": f"attachment; filename*=UTF-8''{name}"}
    return Response(data, media_type="application/octet-stream", headers=headers)


def upload(guest: GuestMachine, fields: Fields) -> Response:
    path, data = text_field(fields, "file_path"), fields.get("file_data")
    if not path or data is None:
        return jsonified({"error": "file_path and file_data are required"}, 400)
    content = data if isinstance(data, bytes) else str(data).encode()
    try:
        guest.write_file(path, content)
    except (OperantError, OSError) as failure:
        guest.remove_file(path)
        return jsonified({"error": f"Failed to upload file: {failure}"}, 500)
    return text(f"File Uploaded: {len(content)} bytes")


def window_size(guest: GuestMachine, fields: Fields) -> Response:
    name = text_field(fields, "app_class_name")
    if not name:
        return jsonified({"error": "app_class_name is required"}, 400)
    size = guest.window_size(name)
    if size is None:
        return jsonified({"error": f"no window of class {name}"}, 500)
    return jsonified({"width": size[0], "height": size[1]})


#: Every POST whose body is a form.
FILE_ROUTES: Mapping[str, Callable[[GuestMachine, Fields], Response]] = {
    "/file": get_file,
    "/setup/upload": upload,
    "/window_size": window_size,
}
