# ruff: noqa: E501  (scripts for other programs stay in one piece)
"""The walls hold: no network, no files of the host, no sight of other processes, bounded use of everything."""

from __future__ import annotations

import contextlib
import os
import socket
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from operant.desktop.sandbox import SandboxDesktop
from operant.errors import DiskFull, InvalidPath, OperantError, ProcessLimit
from operant.types import Action, Point

pytestmark = pytest.mark.x11


def python(script: str) -> list[str]:
    return ["/usr/bin/python3", "-c", textwrap.dedent(script)]


@pytest.fixture
def listener() -> Iterator[tuple[str, int]]:
    """A server of this machine's that counts on not being reached."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[:2]


# Network.


def test_no_way_to_this_machine_or_beyond(desktop: SandboxDesktop, listener: tuple[str, int]) -> None:
    tried = desktop.run(
        python(f"""
        import errno, socket
        for place in ({listener!r}, ("1.1.1.1", 53), ("8.8.8.8", 80), ("169.254.169.254", 80)):
            try:
                socket.create_connection(place, 2)
                print("reached", place)
            except OSError as error:
                print(errno.errorcode.get(error.errno, error))"""),
        timeout_s=10.0,
    )
    assert tried.output.split() == ["ECONNREFUSED", "ENETUNREACH", "ENETUNREACH", "ENETUNREACH"]


def test_abstract_sockets_of_this_machine_are_out_of_reach(desktop: SandboxDesktop) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0operant-test-of-walls")
        server.listen()
        tried = desktop.run(
            python("""
            import socket
            try: socket.socket(socket.AF_UNIX).connect("\\0operant-test-of-walls"); print("reached")
            except OSError as error: print(error.errno)""")
        )
    assert tried.output.strip() == "111"


def test_the_loopback_inside_works(desktop: SandboxDesktop) -> None:
    done = desktop.run(
        python("""
        import socket
        server = socket.create_server(("127.0.0.1", 0))
        client = socket.create_connection(("localhost", server.getsockname()[1]))
        server.accept()[0].sendall(b"hello")
        print(client.recv(5).decode())""")
    )
    assert done.output == "hello\n"


def test_the_network_is_there_when_asked_for(
    fresh: Callable[..., SandboxDesktop], listener: tuple[str, int]
) -> None:
    done = fresh(network=True).run(
        python(f"import socket; socket.create_connection({listener!r}, 2); print('reached')")
    )
    assert done.output == "reached\n"


def test_desktops_on_the_network_have_displays_of_their_own(fresh: Callable[..., SandboxDesktop]) -> None:
    first, second = fresh(network=True), fresh(network=True)
    first.launch("xterm")
    assert len(first.windows()) == 1
    assert second.windows() == []
    second.reset()
    assert len(first.windows()) == 1


# Files.


def test_the_machines_files_are_invisible(desktop: SandboxDesktop, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("do not read")
    secret.chmod(0o644)
    shown = {"/", "/usr", "/etc"}
    places = {str(secret), str(Path.home()), "/root", str(Path(__file__)), str(Path(__file__).parents[2]), "/work",
              "/boot", "/srv", "/media", "/sys", "/var/log", "/proc/1/root/root", "/run/dbus"} - shown  # fmt: skip
    for place in places:
        assert not desktop.files.exists(place), place
    listed = desktop.run("ls /").output.split()
    assert set(listed) <= {"bin", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "mnt", "operant", "opt",
                           "proc", "run", "sbin", "tmp", "usr", "var"}  # fmt: skip
    assert "do not read" not in desktop.run(["sh", "-c", "cat /tmp/*/* /home/*/* 2>/dev/null"]).output


def test_passwords_of_this_machine_are_invisible(desktop: SandboxDesktop) -> None:
    assert desktop.run("cat /etc/shadow").returncode != 0
    assert len(desktop.files.read_text("/etc/passwd").splitlines()) == 2


def test_the_system_is_read_only(desktop: SandboxDesktop) -> None:
    for place in ("/", "/usr", "/usr/bin", "/etc", "/lib", "/opt", "/var", "/operant", "/mnt", "/run", "/proc", "/dev",
                  "/tmp/.X11-unix", "/run/operant", "/home"):  # fmt: skip
        tried = desktop.run(["sh", "-c", f"touch {place}/mark 2>&1 && echo written"])
        assert "written" not in tried.output, place
    for place in ("/home/user", "/tmp", "/var/tmp", "/dev/shm", "/run/user/1000"):
        assert desktop.run(["touch", f"{place}/mark"]).returncode == 0, place


def test_nothing_but_private_places_can_be_written(desktop: SandboxDesktop) -> None:
    found = desktop.run(
        [
            "sh",
            "-c",
            "find / \\( -path /proc -o -path /usr/share \\) -prune -o -writable -not -type l -print 2>/dev/null",
        ]
    ).output.split("\n")
    private = ("/home/user", "/tmp", "/var/tmp", "/dev/shm", "/run/user/1000")
    devices = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/pts")
    assert [path for path in found if path and not path.startswith((*private, *devices))] == []


def test_no_set_user_id_and_no_devices(desktop: SandboxDesktop) -> None:
    assert desktop.run("mknod /tmp/disk b 8 0").returncode != 0
    devices = set(desktop.run("ls /dev").output.split())
    assert devices <= {"console", "core", "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout",
                       "tty", "urandom", "zero", "mqueue"}  # fmt: skip


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "link-to-root", "up/../../../../../../etc/passwd", "/proc/1/environ", "/proc/1/root"],
)
def test_no_link_leads_files_out_of_the_desktop(desktop: SandboxDesktop, path: str) -> None:
    desktop.run(["sh", "-c", "mkdir up; ln -s /etc/passwd link-to-root; ln -s /root up/root"])
    host = Path("/etc/passwd").read_bytes()
    with contextlib.suppress(OSError):
        assert desktop.files.read(path) != host
    with pytest.raises((OSError, OperantError)):
        desktop.files.write(path, "changed")
    assert Path("/etc/passwd").read_bytes() == host


def test_files_that_are_no_files_do_not_hang_or_fool_the_owner(desktop: SandboxDesktop) -> None:
    desktop.run(["sh", "-c", "mkfifo pipe; mkdir folder; ln -s loop loop; ln -s /dev/zero zero"])
    for name in ("pipe", "folder", "loop", "zero", "/dev/null", "/dev/tty"):
        began = time.monotonic()
        for use in (desktop.files.read, lambda path: desktop.files.write(path, "x")):
            try:
                use(name)
            except OSError:
                continue
            pytest.fail(f"{name} was taken for a file")
        assert time.monotonic() - began < 1.0
    with pytest.raises(InvalidPath):
        desktop.files.read("")
    with pytest.raises(InvalidPath):
        desktop.files.read("a\0b")
    desktop.check()


def test_secrets_of_the_owners_environment_stay_outside(
    fresh: Callable[..., SandboxDesktop], monkeypatch: pytest.MonkeyPatch, pids_of: Any
) -> None:
    monkeypatch.setenv("OPERANT_TEST_SECRET", "hunter2-of-the-owner")
    desktop = fresh(environment={"MINE": "yes"})
    said = desktop.run(["sh", "-c", "env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'"]).output
    assert "hunter2" not in said
    assert "MINE=yes" in said
    for pid in pids_of(desktop):
        assert b"hunter2" not in Path(f"/proc/{pid}/environ").read_bytes()


def test_only_what_is_meant_for_a_program_is_open_in_it(desktop: SandboxDesktop) -> None:
    listed = desktop.run(python("import os; print(*sorted(os.listdir('/proc/self/fd'), key=int))"))
    assert listed.output.split() == ["0", "1", "2", "3"]  # the last is the listing itself


# Processes.


def test_other_processes_are_invisible(desktop: SandboxDesktop) -> None:
    names = set(desktop.run(["sh", "-c", "cat /proc/[0-9]*/comm"]).output.split())
    assert names <= {"python3", "dbus-daemon", "sh", "cat", "at-spi2-registr"}
    assert desktop.run(["sh", "-c", "ls -d /proc/[0-9]* | wc -l"]).output.strip() in {"4", "5"}


def test_the_desktops_own_processes_can_not_be_touched(desktop: SandboxDesktop) -> None:
    tried = desktop.run(
        python("""
        import ctypes, os, signal
        libc = ctypes.CDLL(None, use_errno=True)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGSTOP, signal.SIGKILL):
            try: os.kill(1, number)
            except OSError: pass
        print("traced", libc.ptrace(16, 1, 0, 0))
        for name in ("mem", "environ", "cwd", "root", "fd", "maps", "exe"):
            try: print("saw", os.listdir("/proc/1/" + name) if name == "fd" else open("/proc/1/" + name, "rb").read(1))
            except OSError: pass
        try: os.kill(-1, signal.SIGUSR2)
        except OSError: pass""")
    )
    assert tried.output.splitlines()[:2] == ["traced -1"]
    desktop.check()
    desktop.perform(Action.click(Point(0.5, 0.5)))


def test_no_program_has_or_gets_any_privilege(desktop: SandboxDesktop) -> None:
    status = dict(
        line.split(":\t", 1)
        for line in desktop.run("cat /proc/self/status").output.splitlines()
        if ":\t" in line
    )
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[name], 16) == 0, name
    assert status["NoNewPrivs"] == "1"
    assert status["Uid"].split() == ["1000"] * 4
    assert status["Groups"].split() in ([], ["1000"], ["65534"])


@pytest.mark.parametrize("command", ["mount -t tmpfs none /mnt", "unshare -n true", "/usr/sbin/chroot / true", "hostname evil",
                                     "dmesg", "umount /tmp", "mount -o remount,rw /usr"])  # fmt: skip
def test_privileged_things_fail(desktop: SandboxDesktop, command: str) -> None:
    assert desktop.run(command).returncode != 0


def test_no_program_makes_a_namespace_of_its_own(desktop: SandboxDesktop) -> None:
    """In a user namespace it would have every capability over what it then makes: memory without bounds, say."""
    for _ in range(2):
        for flags in ("-Urm", "-U", "-Ur", "-UrmnpiuC", "-UT", "-n", "-m", "-i", "-u", "-p"):
            tried = desktop.run(
                ["unshare", flags, "sh", "-c", "mount -t tmpfs -o size=8g none /mnt; echo in"]
            )
            assert (tried.returncode, tried.output) == (1, ""), flags
        assert desktop.run("cat /proc/sys/user/max_user_namespaces").output == "0\n"
        assert desktop.run(["sh", "-c", "echo 9 > /proc/sys/user/max_user_namespaces"]).returncode != 0
        desktop.reset()
    assert desktop.run(["bwrap", "--ro-bind", "/", "/", "true"]).returncode != 0


#: By the kernel's headers: what is refused, on x86_64 and aarch64.
CALLS = {
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "setns": (308, 268),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442), "open_tree_attr": (467, 467),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "kexec_load": (246, 104),
    "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225),
    "syslog": (103, 116), "open_by_handle_at": (304, 265), "sethostname": (170, 161), "quotactl": (179, 60),
}  # fmt: skip


def test_calls_that_no_desktop_program_needs_are_refused(desktop: SandboxDesktop) -> None:
    column = {"x86_64": 0, "aarch64": 1}[os.uname().machine]
    numbers = {name: pair[column] for name, pair in CALLS.items()}
    clone, unshare = ((56, 272), (220, 97))[column]
    said = desktop.run(
        python(f"""
        import ctypes, errno, os, socket, threading
        libc = ctypes.CDLL(None, use_errno=True)
        def call(*arguments):
            ctypes.set_errno(0)
            done = libc.syscall(*[ctypes.c_long(one) for one in arguments])
            return errno.errorcode[ctypes.get_errno()] if done < 0 else "done"
        for name, number in {numbers!r}.items():
            print(name, call(number, 0, 0, 0, 0, 0))
        print("clone3", call(435, 0, 0))
        for bit in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
            print(f"clone-{{bit:x}}", call({clone}, bit | 17, 0, 0, 0, 0))
            print(f"unshare-{{bit:x}}", call({unshare}, bit))
        print("files", call({unshare}, 0x400))
        for family in (1, 2, 10, 16, 17, 31, 38, 40):
            try: socket.socket(family, socket.SOCK_DGRAM if family != 40 else socket.SOCK_STREAM).close(); print(f"family-{{family}} made")
            except OSError as error: print(f"family-{{family}}", errno.errorcode[error.errno])
        thread = threading.Thread(target=lambda: print("thread done")); thread.start(); thread.join()
        print("child", os.waitstatus_to_exitcode(os.system("exit 3")))""")
    )
    assert said.returncode == 0, said.stderr
    answers = dict(line.split() for line in said.output.splitlines())
    for name in CALLS:
        assert answers.pop(name) == "EPERM", name
    assert answers.pop("clone3") == "ENOSYS"
    assert [answers.pop(name) for name in list(answers) if name.startswith(("clone-", "unshare-"))] == [
        "EPERM"
    ] * 14
    assert (answers["files"], answers["thread"], answers["child"]) == ("done", "done", "3")
    families = {name: how for name, how in answers.items() if name.startswith("family")}
    assert families == {f"family-{family}": "made" for family in (1, 2, 10, 16)} | {
        f"family-{family}": "EAFNOSUPPORT" for family in (17, 31, 38, 40)
    }


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="int 0x80 and x32 are of x86_64")
def test_calls_of_other_architectures_are_refused(desktop: SandboxDesktop) -> None:
    """By 32-bit numbers, mount would be 21, and x32's 165 plus a bit."""
    script = """
        import ctypes, mmap
        code = mmap.mmap(-1, 4096, prot=7); code.write(bytes.fromhex({code!r}))
        address = ctypes.addressof(ctypes.c_char.from_buffer(code))
        print("asks", flush=True); print(ctypes.CFUNCTYPE(ctypes.c_long)(address)())"""
    getpid_of_i386, getpid_of_x32 = "b814000000cd80c3", "b8270000400f05c3"
    tried = desktop.run(python(script.format(code=getpid_of_i386)))
    assert (tried.output, tried.returncode) == ("asks\n", -31)  # SIGSYS
    tried = desktop.run(python(script.format(code=getpid_of_x32)))
    assert (tried.output, tried.returncode) == ("asks\n-38\n", 0)  # ENOSYS


@pytest.mark.browser
def test_chromium_starts_without_being_told_of_the_walls(desktop: SandboxDesktop) -> None:
    """As from a menu: its own sandbox can't be made here, and it must not ask for it."""
    desktop.files.write("page.html", "<title>Hello of the page</title>")
    window = desktop.launch(["chromium", "--no-first-run", "/home/user/page.html"], timeout_s=40.0)
    assert "Chromium" in window.title


def test_a_shell_in_a_terminal_still_controls_its_jobs(desktop: SandboxDesktop, eventually: Any) -> None:
    desktop.launch(["xterm", "-e", "bash", "--norc"])
    desktop.perform(Action.type("sleep 300 & sleep 1; kill %1; wait %1; echo $? > said\n"))
    eventually(lambda: desktop.files.exists("said") and desktop.files.read_text("said") == "143\n", 15.0)


# Limits.


def test_a_flood_of_processes_is_bounded_and_a_reset_ends_it(
    fresh: Callable[..., SandboxDesktop], pids_of: Any, eventually: Any
) -> None:
    desktop = fresh(limits={"processes": 100})
    desktop.start(
        python("""
        import os, time
        for _ in range(500):
            try:
                if os.fork() == 0: time.sleep(600)
            except BlockingIOError:
                open("full", "w").close()
                time.sleep(600)""")
    )
    eventually(lambda: desktop.files.exists("full"))
    assert 50 < len(pids_of(desktop)) < 140
    with pytest.raises(ProcessLimit):
        desktop.run("true")
    with pytest.raises(ProcessLimit):
        desktop.launch("xterm")
    desktop.perform(Action.click(Point(0.5, 0.5)))
    assert desktop.frame().any()
    began = time.monotonic()
    desktop.reset()
    assert time.monotonic() - began < 2.0
    assert desktop.run("echo well").output == "well\n"
    assert desktop.launch("mousepad").focused


def test_a_fork_bomb_harms_nobody(fresh: Callable[..., SandboxDesktop], desktop: SandboxDesktop) -> None:
    bombed = fresh(limits={"processes": 100})
    bombed.start(
        python("""
        import os
        while True:
            try: os.fork()
            except OSError: pass""")
    )
    assert desktop.run("echo well").output == "well\n"
    desktop.perform(Action.key("a"))
    began = time.monotonic()
    bombed.reset()
    assert time.monotonic() - began < 5.0
    assert bombed.run("echo well").output == "well\n"


GREED = {
    "private": "x = []\nwhile True: x.append(bytearray(1 << 22))",
    "shared": "import mmap\nx = []\nwhile True: x.append(mmap.mmap(-1, 1 << 22)); x[-1].write(b'x' * (1 << 22)); time.sleep(0.02)",
    "in many": "import os\nfor _ in range(8):\n  if os.fork() == 0: x = bytearray(b'x' * (40 << 20)); time.sleep(600)\ntime.sleep(600)",
}


@pytest.mark.parametrize("kind", GREED)
def test_too_much_memory_ends_the_program_and_not_the_desktop(
    fresh: Callable[..., SandboxDesktop], eventually: Any, kind: str
) -> None:
    desktop = fresh(limits={"memory_mb": 128})
    desktop.start(["/usr/bin/python3", "-c", "import time\n" + GREED[kind] + "\n"])

    def bounded() -> bool:
        desktop.perform(
            Action.key("a")
        )  # an owner that never rests must not keep the limit from being enforced
        greedy = [process for process in desktop.processes() if process.name == "python3"]
        return len(greedy) < (9 if kind == "in many" else 1)

    eventually(bounded, 10.0)
    if kind == "in many":
        eventually(lambda: sum(desktop.memory().values()) < 300, 10.0)
    desktop.check()
    desktop.reset()
    assert sum(desktop.memory().values()) < 300


def test_a_full_disk_is_a_typed_error(fresh: Callable[..., SandboxDesktop]) -> None:
    desktop = fresh(limits={"disk_mb": 8, "files": 200})
    with pytest.raises(DiskFull):
        desktop.files.write("big", b"x" * (9 << 20))
    with pytest.raises(DiskFull):
        desktop.files.write("small", b"x" * 4096)
    desktop.run("rm big")
    desktop.files.write("small", b"x" * 4096)
    desktop.run(["sh", "-c", "i=0; while touch f$i 2>/dev/null; do i=$((i+1)); done; true"])
    with pytest.raises(DiskFull):
        desktop.files.write("one-more", "x")
    desktop.check()
    with pytest.raises(OperantError):
        desktop.launch(["sh", "-c", "exit 1"])
    desktop.reset()
    assert desktop.launch("mousepad").focused


def test_a_file_has_a_largest_size(fresh: Callable[..., SandboxDesktop]) -> None:
    desktop = fresh(limits={"file_mb": 1})
    assert desktop.run(["sh", "-c", "head -c 2M /dev/zero > big"]).returncode != 0
    info = desktop.files.info("big")
    assert info is not None
    assert info.size <= 1 << 20


def test_output_without_end_is_cut(desktop: SandboxDesktop) -> None:
    result = desktop.run(["sh", "-c", "head -c 5M /dev/zero; echo done >&2"], limit=1000)
    assert (len(result.stdout), result.stderr, result.truncated) == (1000, b"done\n", True)
    before = threading.active_count()
    with pytest.raises(OperantError):
        desktop.run("yes", limit=10, timeout_s=0.3)
    assert threading.active_count() == before


def test_programs_can_not_make_the_display_hold_without_bounds(fresh: Callable[..., SandboxDesktop]) -> None:
    desktop = fresh(limits={"memory_mb": 128})
    desktop.run(
        python("""
        import ctypes, time
        x = ctypes.CDLL("libX11.so.6"); x.XOpenDisplay.restype = ctypes.c_void_p
        x.XDefaultRootWindow.restype = x.XCreatePixmap.restype = ctypes.c_ulong
        d = ctypes.c_void_p(x.XOpenDisplay(None)); root = ctypes.c_ulong(x.XDefaultRootWindow(d))
        handler = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda *_: 0)
        x.XSetErrorHandler(handler)
        for _ in range(100): x.XCreatePixmap(d, root, 2000, 2000, 24)
        x.XSync(d, 0)""")
    )
    assert desktop.memory()["Xvfb"] < 400
    desktop.check()
    desktop.reset()
    assert desktop.launch("mousepad").focused


def test_the_owner_needs_no_privilege_that_leaks(pids_of: Any, desktop: SandboxDesktop) -> None:
    """Nothing of a desktop runs as root, whoever owns it."""
    for pid in pids_of(desktop):
        status = Path(f"/proc/{pid}/status").read_text()
        assert "Uid:\t0\t" not in status, Path(f"/proc/{pid}/comm").read_text()
