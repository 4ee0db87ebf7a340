"""The calls of OSWorld's protocol that carry JSON: commands, set-up steps, windows, recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import Response

from operant.desktop.osworld.commands import expand_path
from operant.desktop.osworld.guest import BASH_S, EXECUTE_S, GuestMachine
from operant.desktop.osworld.wallpaper import change_wallpaper as set_wallpaper
from operant.desktop.osworld.wallpaper import find_wallpaper
from operant.errors import ApplicationError, CommandTimeout, InvalidAction, WindowTimeout
from operant.service.desktops.osworld_words import (
    command_of,
    error,
    flag,
    jsonified,
    seconds,
    text,
    text_field,
)
from operant.types import RunResult

__all__ = ["JSON_ROUTES"]

Data = Mapping[str, Any]
Work = Callable[[GuestMachine, Data], Response]


def execute(guest: GuestMachine, data: Data) -> Response:
    try:
        done = guest.execute(
            command_of(data), shell=flag(data, "shell"), timeout_s=seconds(data, "timeout", EXECUTE_S)
        )
    except ApplicationError as failure:
        return error(500, failure.message)
    return jsonified(_result(done))


def execute_with_verification(guest: GuestMachine, data: Data) -> Response:
    wanted = data.get("verification") or {}
    if not isinstance(wanted, dict) or not isinstance(wanted.get("command_success", ""), (str, list)):
        raise InvalidAction("verification is an object")
    wait_s = seconds(data, "max_wait_time", 10.0)
    interval_s = seconds(data, "check_interval", 1.0)
    try:
        done = guest.execute(command_of(data), shell=flag(data, "shell"))
    except ApplicationError as failure:
        return error(500, failure.message)
    if not wanted:
        return jsonified(_result(done))
    took = guest.verify(wanted, wait_s, interval_s)
    if took is None:
        failed = {"status": "verification_failed", "verification": "failed", "wait_time": wait_s}
        return jsonified({**_result(done), **failed}, 500)
    return jsonified({**_result(done), "verification": "passed", "wait_time": took})


def launch(guest: GuestMachine, data: Data) -> Response:
    command = command_of(data)
    try:
        guest.launch(command, shell=flag(data, "shell"))
    except ApplicationError as failure:
        return error(500, failure.message)
    return text(f"{command if isinstance(command, str) else ' '.join(command)} launched successfully")


def run_python(guest: GuestMachine, data: Data) -> Response:
    code = text_field(data, "code")
    if not code:
        return error(400, "Code not supplied!")
    try:
        done = guest.run_python(code)
    except CommandTimeout:
        late = {
            "status": "error",
            "message": "Execution timeout: Code took too long to execute",
            "error": "TimeoutExpired",
            "need_more": False,
            "output": None,
        }
        return jsonified(late, 500)
    said = _result(done)
    if done.returncode and not said["error"]:
        said["error"] = f"Process exited with code {done.returncode}"
    return jsonified(
        {
            "status": "error" if done.returncode else "success",
            "message": "\n".join(part for part in (said["output"], said["error"]) if part),
            "need_more": False,
            "output": said["output"],
            "error": said["error"],
            "return_code": done.returncode,
        }
    )


def run_bash_script(guest: GuestMachine, data: Data) -> Response:
    def failed(said: str, status: int) -> Response:
        return jsonified({"status": "error", "output": said, "error": "", "returncode": -1}, status)

    script, place = text_field(data, "script"), text_field(data, "working_dir")
    timeout_s = seconds(data, "timeout", BASH_S)
    if not script:
        return failed("Script not supplied!", 400)
    place = expand_path(place) if place else ""
    if place:
        info = guest.desktop.files.info(place)
        if info is None or not info.is_dir:
            return failed(f"Working directory does not exist: {place}", 400)
    try:
        done = guest.run_bash(script, timeout_s=timeout_s, working_dir=place or None)
    except CommandTimeout:
        return failed(f"Script execution timed out after {timeout_s:g} seconds", 500)
    except ApplicationError as failure:
        return failed(f"Failed to execute script: {failure.message}", 500)
    return jsonified({**_result(done), "status": "error" if done.returncode else "success", "error": ""})


def _result(done: RunResult) -> dict[str, Any]:
    return {
        "status": "success",
        "output": done.stdout.decode("utf-8", "replace"),
        "error": done.stderr.decode("utf-8", "replace"),
        "returncode": done.returncode,
    }


# Files and windows.


def open_file(guest: GuestMachine, data: Data) -> Response:
    path = text_field(data, "path")
    if not path:
        return text("Path not supplied!", 400)
    try:
        guest.open(path)
    except FileNotFoundError:
        return text(f"Application/file not found: {path}", 404)
    except WindowTimeout as failure:
        return text(failure.message, 500)
    except ApplicationError as failure:
        return text(f"Failed to open {path}. Error: {failure.message}", 500)
    return text("File opened and window activated successfully")


def activate_window(guest: GuestMachine, data: Data) -> Response:
    name = text_field(data, "window_name")
    if not name:
        return text("window_name required", 400)
    guest.activate_window(name, strict=flag(data, "strict"), by_class=flag(data, "by_class"))
    return text("Window activated successfully")


def close_window(guest: GuestMachine, data: Data) -> Response:
    name = text_field(data, "window_name")
    if not name:
        return text("window_name required", 400)
    guest.close_window(name, strict=flag(data, "strict"), by_class=flag(data, "by_class"))
    return text("Window closed successfully.")


def change_wallpaper(guest: GuestMachine, data: Data) -> Response:
    path = text_field(data, "path")
    if not path:
        return text("Path not supplied!", 400)
    full = expand_path(path)
    if not guest.desktop.files.exists(full):
        return text(f"File not found: {full}", 404)
    try:
        set_wallpaper(guest.desktop, full)
    except ApplicationError as failure:
        return text(f"Failed to change wallpaper. Error: {failure.message}", 500)
    return text("Wallpaper changed successfully")


def wallpaper(guest: GuestMachine, data: Data) -> Response:
    path = find_wallpaper(guest.desktop)
    if path is None:
        return text("Wallpaper file not found", 404)
    return Response(guest.read_file(path), media_type="image/png")


def download_file(guest: GuestMachine, data: Data) -> Response:
    url, path = text_field(data, "url"), text_field(data, "path")
    if not url or not path:
        return text("Path or URL not supplied!", 400)
    try:
        size = guest.download(url, path)
    except ApplicationError as failure:
        return text(f"Failed to download {url}. No retries left. Error: {failure.message}", 500)
    return text(f"File downloaded successfully: {size} bytes")


def list_directory(guest: GuestMachine, data: Data) -> Response:
    path = text_field(data, "path")
    if not path:
        return jsonified({"error": "Missing 'path' parameter"}, 400)
    try:
        return jsonified({"directory_tree": guest.directory_tree(path)})
    except NotADirectoryError:
        return jsonified({"error": "The provided path is not a directory"}, 400)


def desktop_path(guest: GuestMachine, data: Data) -> Response:
    path = expand_path("~/Desktop")
    if not guest.desktop.files.exists(path):
        return jsonified({"error": "Unsupported operating system or desktop path not found"}, 404)
    return jsonified({"desktop_path": path})


def screen_size(guest: GuestMachine, data: Data) -> Response:
    width, height = guest.desktop.size
    return jsonified({"width": width, "height": height})


# Films.


def start_recording(guest: GuestMachine, data: Data) -> Response:
    if not guest.start_recording():
        return error(400, "Recording is already in progress.")
    return jsonified({"status": "success", "message": "Started recording successfully."})


def end_recording(guest: GuestMachine, data: Data) -> Response:
    film = guest.end_recording()
    if film is None:
        return error(400, "No recording in progress to stop.")
    if not film:
        return error(500, "Recording failed. The output file is missing or empty.")
    headers = {"content-disposition": "attachment; filename=recording.mp4"}
    return Response(film, media_type="video/mp4", headers=headers)


#: Every POST whose body is a JSON object, or empty.
JSON_ROUTES: Mapping[str, Work] = {
    "/execute": execute,
    "/setup/execute": execute,
    "/execute_with_verification": execute_with_verification,
    "/setup/execute_with_verification": execute_with_verification,
    "/setup/launch": launch,
    "/run_python": run_python,
    "/run_bash_script": run_bash_script,
    "/setup/open_file": open_file,
    "/setup/activate_window": activate_window,
    "/setup/close_window": close_window,
    "/setup/change_wallpaper": change_wallpaper,
    "/wallpaper": wallpaper,
    "/setup/download_file": download_file,
    "/list_directory": list_directory,
    "/desktop_path": desktop_path,
    "/screen_size": screen_size,
    "/start_recording": start_recording,
    "/end_recording": end_recording,
}
