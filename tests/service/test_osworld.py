"""OSWorld's protocol, spoken by a client that is written from the facts: statuses, bodies and texts that it compares."""

from __future__ import annotations

import io
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest
from PIL import Image

pytest.importorskip("fastapi", reason="the service is an extra")

from operant.config.desktop import DesktopConfig
from operant.errors import ConfigError
from operant.service.desktops.app import guard_settings
from operant.service.desktops.osworld_machines import machine_config
from operant.service.desktops.osworld_server import OSWorldServer

pytestmark = pytest.mark.x11
ACTIVE = "{https://accessibility.ubuntu.example.org/ns/state}active"
PREFIX = "import pyautogui; import time; pyautogui.FAILSAFE = False; "


class Client:
    """What OSWorld's controllers send."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60)

    def post(self, url: str, /, **body: Any) -> httpx.Response:
        return self.http.post(url, content=json.dumps(body), headers={"content-type": "application/json"})

    def python(self, command: str) -> dict[str, Any]:
        answer = self.post("/execute", command=["python", "-c", PREFIX + command], shell=False)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def file(self, path: str) -> httpx.Response:
        return self.http.post("/file", data={"file_path": path})

    def upload(self, path: str, data: bytes) -> httpx.Response:
        name = path.rpartition("/")[2]
        return self.http.post(
            "/setup/upload", data={"file_path": path}, files={"file_data": (name, io.BytesIO(data))}
        )

    def tree(self) -> ElementTree.Element:
        return ElementTree.fromstring(self.http.get("/accessibility").json()["AT"])


def make_server(
    count: int = 1, *, idle_s: float = 300.0, token: str | None = None, **more: Any
) -> OSWorldServer:
    config = machine_config(DesktopConfig.build(**{"profile": "bare", **more}))
    guard = guard_settings("127.0.0.1", 0, token)
    return OSWorldServer(count, guard, config, chromium_port=0, vlc_port=0, idle_s=idle_s)


@pytest.fixture(scope="module")
def server() -> Iterator[OSWorldServer]:
    with make_server(profile="full") as server:
        yield server


@pytest.fixture
def client(server: OSWorldServer) -> Iterator[Client]:
    """Of a machine that was just reset."""
    client = Client(server.machines.machines[0].ports.server)
    assert client.http.post("/operant/reset").json() == {"status": "success"}
    yield client
    client.http.close()


def test_a_machine_says_what_it_is(client: Client) -> None:
    assert client.python("import platform; print(platform.system())")["output"].strip() == "Linux"
    home = client.python("import os; print(os.path.expanduser('~/.config/vlc/vlcrc'))")["output"]
    assert home == "/home/user/.config/vlc/vlcrc\n"
    assert client.http.post("/screen_size").json() == {"width": 1920, "height": 1080}
    assert client.http.get("/platform").text == "Linux"
    assert client.http.post("/desktop_path").json() == {"desktop_path": "/home/user/Desktop"}
    assert client.http.get("/terminal").json() == {"output": None, "status": "success"}
    assert client.http.head("/screenshot").status_code == 200
    shown = Image.open(io.BytesIO(client.http.get("/screenshot").content))
    assert (shown.format, shown.size) == ("PNG", (1920, 1080))


def test_commands_answer_as_upstream_does(client: Client) -> None:
    done = client.post("/setup/execute", command="echo out; echo err >&2; exit 3", shell=True)
    assert done.status_code == 200
    assert done.json() == {"status": "success", "output": "out\n", "error": "err\n", "returncode": 3}
    # A list with shell: the first word is the command, as Python's subprocess has it.
    assert client.post("/execute", command=["echo $HOME"], shell=True).json()["output"] == "/home/user\n"
    assert client.post("/execute", command="ls ~/Desktop 'a b'").json()["returncode"] == 2
    missing = client.post("/execute", command=["nonesuch"])
    assert missing.status_code == 500
    assert missing.json() == {
        "status": "error",
        "message": "[Errno 2] No such file or directory: 'nonesuch'",
    }
    late = client.post("/execute", command=["sleep", "30"], timeout=1)
    assert late.status_code == 500
    assert late.json()["message"] == "Command '['sleep', '30']' timed out after 1 seconds"


def test_pyautogui_is_played_and_what_it_can_not_say_is_run(client: Client) -> None:
    assert client.post("/setup/launch", command=["mousepad"]).text == "mousepad launched successfully"
    check = {"window_exists": "MOUSEPAD", "command_success": "pgrep mousepad"}
    shown = client.post("/setup/execute_with_verification", command=["true"], verification=check)
    assert shown.json()["verification"] == "passed"
    began = time.monotonic()
    # One press for each character, as agents write it: pyautogui itself would pause for 0.1 s after each.
    client.python("; ".join(f"pyautogui.press({letter!r})" for letter in "thirty-characters-one-by-one.."))
    assert time.monotonic() - began < 2.5
    client.python("[pyautogui.write(word) for word in (' <one>', ' \"two\"')]")
    text = client.tree().find(".//text")
    assert text is not None
    assert text.text == 'thirty-characters-one-by-one.. <one> "two"'
    client.python("pyautogui.moveTo(100, 200, 0.5, pyautogui.easeInQuad)")
    assert client.http.get("/cursor_position").json() == [100, 200]


def test_files_go_in_and_out(client: Client) -> None:
    sent = client.upload("~/Desktop/new/räum.bin", bytes(range(256)) * 400)
    assert (sent.status_code, sent.text) == (200, "File Uploaded: 102400 bytes")
    assert client.file("$HOME/Desktop/new/räum.bin").content == bytes(range(256)) * 400
    assert client.file("/home/user/none").status_code == 404
    assert client.file("/home/user/none").json() == {"error": "File not found"}
    assert client.http.post("/file").status_code == 400
    assert client.upload("/usr/bin/evil", b"x").status_code == 500
    tree = client.post("/list_directory", path="/home/user/Desktop").json()["directory_tree"]
    assert tree == {
        "type": "directory",
        "name": "Desktop",
        "children": [
            {"type": "directory", "name": "new", "children": [{"type": "file", "name": "räum.bin"}]}
        ],
    }
    assert client.post("/list_directory", path="/home/user/none").status_code == 400


def test_open_returns_when_the_window_is_there_and_windows_are_found_as_wmctrl_does(client: Client) -> None:
    client.upload("/home/user/notes.txt", b"first")
    opened = client.post("/setup/open_file", path="/home/user/notes.txt")
    assert (opened.status_code, opened.text) == (200, "File opened and window activated successfully")
    assert client.post("/setup/open_file", path="/home/user/none.txt").status_code == 404
    assert client.post("/setup/open_file", path="xterm").status_code == 200

    def await_active(title: str) -> None:
        deadline = time.monotonic() + 20
        while [one.get("name") for one in client.tree().iter("frame") if one.get(ACTIVE)] != [title]:
            assert time.monotonic() < deadline, ElementTree.tostring(client.tree())

    await_active("xterm")
    for name, more in (("NOTES.TXT", {}), ("mousepad.Mousepad", {"by_class": True, "strict": True})):
        client.post("/setup/activate_window", window_name="xterm")
        done = client.post("/setup/activate_window", window_name=name, **more)
        assert (done.status_code, done.text) == (200, "Window activated successfully")
        await_active("~/notes.txt - Mousepad")
    # No window of that title: upstream answers 200 as well.
    assert client.post("/setup/activate_window", window_name="notes", strict=True).status_code == 200
    assert client.http.post("/window_size", data={"app_class_name": "MOUSEPAD"}).json()["width"] > 100
    assert client.post("/setup/close_window", window_name="notes.txt").text == "Window closed successfully."
    deadline = time.monotonic() + 20
    while client.http.post("/window_size", data={"app_class_name": "mousepad"}).status_code != 500:
        assert time.monotonic() < deadline


def test_scripts(client: Client) -> None:
    done = client.post("/run_python", code="import sys; print('a'); sys.exit(4)").json()
    assert (done["status"], done["output"], done["return_code"], done["need_more"]) == (
        "error",
        "a\n",
        4,
        False,
    )
    assert client.post("/run_python").status_code == 400
    done = client.post("/run_bash_script", script="echo a; pwd; echo b >&2", timeout=30, working_dir="/tmp")
    assert done.json() == {"status": "success", "output": "a\n/tmp\nb\n", "error": "", "returncode": 0}
    late = client.post("/run_bash_script", script="sleep 20", timeout=1)
    assert (late.status_code, late.json()["output"]) == (500, "Script execution timed out after 1 seconds")
    gone = client.post("/run_bash_script", script="pwd", working_dir="/none")
    assert (gone.status_code, gone.json()["returncode"]) == (400, -1)
    refused = client.post("/setup/download_file", url="http://127.0.0.1:9/x", path="~/x")
    assert refused.status_code == 500
    assert refused.text.startswith("Failed to download http://127.0.0.1:9/x.")


def test_a_terminal_is_read(client: Client) -> None:
    client.post("/setup/open_file", path="xterm")
    client.python("pyautogui.write('echo $((6*7))'); pyautogui.press('enter')")
    deadline = time.monotonic() + 10
    while "\n42" not in (said := client.http.get("/terminal").json()["output"] or ""):
        assert time.monotonic() < deadline, said


def test_a_recording_is_an_mp4_of_the_screen(client: Client) -> None:
    import av

    assert client.http.post("/end_recording").status_code == 400
    assert client.http.post("/start_recording").json()["status"] == "success"
    assert client.http.post("/start_recording").status_code == 400
    client.post("/setup/open_file", path="xterm")
    film = client.http.post("/end_recording")
    assert film.status_code == 200
    with av.open(io.BytesIO(film.content)) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    assert frames[0].shape == (1080, 1920, 3)
    assert (abs(frames[0].astype(int) - frames[-1]) > 40).any()
    client.http.post("/start_recording")
    client.http.post("/operant/reset")
    assert client.http.post("/end_recording").status_code == 400


def test_ports_of_programs_inside_are_reached_from_outside(server: OSWorldServer, client: Client) -> None:
    ports = server.machines.machines[0].ports
    client.upload("/home/user/served/json/version", b'{"Browser": "x"}')
    for outside, inside in ((ports.chromium, 1337), (ports.vlc, 8080), (ports.chromium, 9222)):
        with pytest.raises(httpx.RemoteProtocolError):  # nothing listens in there yet
            httpx.get(f"http://127.0.0.1:{outside}/json/version", trust_env=False)
        command = ["python3", "-m", "http.server", str(inside), "--directory", "/home/user/served"]
        client.post("/setup/launch", command=command)
        deadline = time.monotonic() + 20
        while True:
            try:
                found = httpx.get(f"http://127.0.0.1:{outside}/json/version", trust_env=False)
                break
            except httpx.HTTPError:
                assert time.monotonic() < deadline
        assert found.json() == {"Browser": "x"}
        client.http.post("/operant/reset")
        client.upload("/home/user/served/json/version", b'{"Browser": "x"}')


def test_bad_bodies_are_refused_and_harm_nothing(client: Client) -> None:
    for body in (
        b"{",
        b"[]",
        b'{"command": 7}',
        b'{"command": ["a", 3]}',
        b'{"command": "a", "timeout": "x"}',
    ):
        answer = client.http.post("/execute", content=body)
        assert (answer.status_code, answer.json()["status"]) == (400, "error"), body
    assert client.http.post("/execute", content=b'{"command": "\'"}').status_code == 400
    assert client.post("/setup/activate_window").status_code == 400
    assert client.post("/setup/open_file").status_code == 400
    assert client.http.post("/setup/upload", data={"file_path": "/tmp/x"}).status_code == 400
    assert client.http.get("/screenshot").status_code == 200


def test_a_desktop_that_dies_is_replaced(server: OSWorldServer, client: Client) -> None:
    machine = server.machines.machines[0]
    client.upload("/home/user/left.txt", b"x")
    before = machine.guest.desktop
    before._supervised.process.kill()  # type: ignore[attr-defined]
    answers = []
    deadline = time.monotonic() + 60
    while not answers or answers[-1] != 200 or machine.guest.desktop is before:
        assert time.monotonic() < deadline, answers
        answers.append(client.post("/execute", command="true").status_code)
    assert machine.guest.desktop is not before
    assert client.file("/home/user/left.txt").status_code == 404
    assert set(answers) == {200, 500}


def test_leases_give_clean_machines_to_one_client_each() -> None:
    with make_server(2, idle_s=300, width=640, height=480) as server:
        first, second = (Client(one.ports.server) for one in server.machines.machines)
        about = first.http.get("/operant/about").json()
        assert (about["protocol"], len(about["machines"]), about["size"]) == ("osworld", 2, [640, 480])
        first.upload("/home/user/mine.txt", b"x")  # a client of the original protocol: it leases nothing
        lease = first.http.post("/operant/lease", json={"lease": "a-client-of-its-own"}).json()
        assert lease["server_port"] == second.port
        again = first.http.post("/operant/lease", json={"lease": "a-client-of-its-own"}).json()
        assert again == lease
        full = first.http.post("/operant/lease")
        assert (full.status_code, full.json()["code"]) == (503, "no_free_desktop")
        second.upload("/home/user/theirs.txt", b"x")
        assert second.http.post("/operant/reset").status_code == 409
        assert second.http.post("/operant/reset", json={"lease": lease["lease"]}).status_code == 200
        assert second.file("/home/user/theirs.txt").status_code == 404
        second.upload("/home/user/theirs.txt", b"x")
        assert first.http.delete(f"/operant/lease/{lease['lease']}").status_code == 204
        assert second.file("/home/user/theirs.txt").status_code == 404
        assert first.http.post("/operant/lease", json={"lease": "x"}).status_code == 422


def test_the_original_protocol_is_for_this_machine_and_others_need_the_token() -> None:
    with pytest.raises(ConfigError, match="token"):
        guard_settings("0.0.0.0", 0, None)
    with make_server(token="a-long-enough-token", width=640, height=480) as server:
        client = Client(server.machines.machines[0].ports.server)
        assert client.http.get("/screenshot").status_code == 401
        assert client.post("/execute", command="true").status_code == 401
        shown = client.http.get("/screenshot", headers={"authorization": "Bearer a-long-enough-token"})
        assert shown.status_code == 200


def test_a_taken_port_is_an_error_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        guard = guard_settings("127.0.0.1", 0, None)
        with pytest.raises(ConfigError, match="can't listen") as raised:
            OSWorldServer(1, guard, DesktopConfig(), chromium_port=taken.getsockname()[1], vlc_port=0)
        assert raised.value.hint == "choose another --chromium-port"


def test_the_command_serves_and_leaves_nothing(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "operant", "desktop", "serve", "--protocol", "osworld", "--desktops", "1"]
    words += ["--port", "0", "--chromium-port", "0", "--vlc-port", "0", "--width", "640", "--height", "480"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert " at 127.0.0.1:" in line, line
        client = Client(int(line.partition("127.0.0.1:")[2].partition(":")[0]))
        assert client.http.post("/screen_size").json() == {"width": 640, "height": 480}
        pids = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=True)
    finally:
        process.terminate()
        process.wait(30)
    alive = [pid for pid in pids.stdout.split() if Path(f"/proc/{pid}").exists()]
    assert pids.stdout.split()
    assert not alive


def test_the_service_serves_machines_beside_itself(tmp_path: Path) -> None:
    words = [
        sys.executable,
        "-m",
        "operant",
        "serve",
        "--port",
        "0",
        "--osworld-desktops",
        "1",
        "--osworld-port",
        "0",
    ]
    words += ["--desktops", "1", "--screen", "640x480", "--no-dashboard", "--data-dir", str(tmp_path)]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    try:
        assert process.stderr is not None
        line = next(line for line in process.stderr if "machine 1 of 640x480" in line)
        client = Client(int(line.partition("127.0.0.1:")[2].partition(":")[0]))
        assert client.post("/execute", command="pwd").json()["output"] == "/home/user\n"
    finally:
        process.terminate()
        process.communicate(timeout=30)
