"""Whole tasks: set-up, the agent, what comes after it, and the score."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from operant.desktop.sandbox import SandboxDesktop
from operant.envs.task_environment import TaskEnvironment
from operant.errors import MissingAsset, SetupFailed, VerifierError
from operant.tasks.criteria.base import World
from operant.tasks.osworld.template import load_osworld
from operant.types import Action, Outcome

URL = "https://assets.example/x/data.txt"


def shown(command: str, text: str = "yes\n") -> dict[str, Any]:
    return {
        "func": "exact_match",
        "result": {"type": "vm_command_line", "command": command, "shell": True},
        "expected": {"type": "rule", "rules": {"expected": text}},
    }


def play(root: Path, desktop: SandboxDesktop, *actions: Action, cache: Path | None = None) -> Any:
    """The transition that ends the only task of a checkout."""
    place = f"{root}?cache={cache}" if cache else str(root)
    task = load_osworld(place)[0].instance(0)
    desktop.reset()
    environment = TaskEnvironment(desktop)
    environment.begin(task)
    for action in actions:
        last = environment.step(action)
    return last


@pytest.fixture(scope="module")
def desktop():
    with SandboxDesktop() as one:
        yield one


def execute(command: Any, **more: Any) -> dict[str, Any]:
    return {"type": "execute", "parameters": {"command": command, **more}}


@pytest.mark.x11
class TestOnADesktop:
    def test_doing_nothing_fails_and_the_right_state_succeeds(self, checkout, desktop) -> None:
        root = checkout(one=("os", {"evaluator": shown("[ -d ~/Desktop/done ] && echo yes")}))
        assert play(root, desktop, Action.done()).outcome is Outcome.FAILURE
        made = execute("mkdir ~/Desktop/done", shell=True)
        root = checkout(
            one=("os", {"config": [made], "evaluator": shown("[ -d ~/Desktop/done ] && echo yes")})
        )
        ended = play(root, desktop, Action.done())
        assert ended.outcome is Outcome.SUCCESS
        assert ended.reward == 1

    def test_fail_is_the_success_of_infeasible_tasks_only(self, checkout, desktop) -> None:
        root = checkout(never=("os", {}))
        assert play(root, desktop, Action.fail()).outcome is Outcome.SUCCESS
        assert play(root, desktop, Action.done()).outcome is Outcome.FAILURE
        root = checkout(always=("os", {"evaluator": shown("echo yes")}))
        assert play(root, desktop, Action.fail()).outcome is Outcome.FAILURE
        assert play(root, desktop, Action.done()).outcome is Outcome.SUCCESS

    def test_scores_are_kept(self, checkout, desktop) -> None:
        one = {"type": "vm_command_line", "command": "echo abcd", "shell": True}
        rule = {"type": "rule", "rules": {"expected": "abce\n"}}
        evaluator = {"func": ["fuzzy_match", "fuzzy_match"], "result": [one, one], "expected": [rule, rule]}
        ended = play(checkout(half=("os", {"evaluator": evaluator})), desktop, Action.done())
        assert ended.outcome is Outcome.FAILURE
        assert 0.5 < ended.reward < 1

    @pytest.mark.parametrize(("conj", "reward"), [("and", 0), ("or", 1)])
    def test_metrics_combine(self, checkout, desktop, conj: str, reward: int) -> None:
        rights = [shown("echo yes"), shown("echo no")]
        evaluator = {"func": ["exact_match"] * 2, "conj": conj,
                     **{key: [one[key] for one in rights] for key in ("result", "expected")}}  # fmt: skip
        ended = play(checkout(both=("os", {"evaluator": evaluator})), desktop, Action.done())
        assert ended.reward == reward

    def test_steps_after_the_agent_keep_output_and_placeholders_are_filled(self, checkout, desktop) -> None:
        evaluator = {
            "postconfig": [
                execute("echo {SCREEN_WIDTH}x{SCREEN_HEIGHT_HALF} > ~/size; echo kept", shell=True, stdout="said.txt"),
                execute(["bash", "-c", "echo more"], until={"stdout": "more"}),
                {"type": "sleep", "parameters": {"seconds": 5}},
            ],
            "func": ["check_list", "check_include_exclude"],
            "result": [{"type": "cache_file", "path": "said.txt"},
                       {"type": "vm_command_line", "command": ["cat", "~/size"]}],
            "expected": [{"type": "rule", "rules": {"expect": ["^kept$"]}},
                         {"type": "rule", "rules": {"include": ["1280x400"]}}],
        }  # fmt: skip
        ended = play(checkout(after=("os", {"evaluator": evaluator})), desktop, Action.done())
        assert ended.outcome is Outcome.SUCCESS, ended.info

    def test_pyautogui_is_played_with_pointer_and_keyboard(self, checkout, desktop) -> None:
        source = "import pyautogui; import time; time.sleep(1); pyautogui.write('hello'); pyautogui.hotkey('ctrl', 's')"
        config = [
            execute("touch ~/Desktop/note.txt", shell=True),
            {"type": "open", "parameters": {"path": "/home/user/Desktop/note.txt"}},
            {"type": "activate_window", "parameters": {"window_name": "note.txt"}},
        ]
        evaluator = {
            **shown("cat ~/Desktop/note.txt", "hello"),
            "postconfig": [execute(["python", "-c", source])],
        }
        ended = play(
            checkout(typed=("os", {"config": config, "evaluator": evaluator})), desktop, Action.done()
        )
        assert ended.outcome is Outcome.SUCCESS, ended.info

    def test_files_come_from_the_cache(self, checkout, desktop, tmp_path: Path) -> None:
        download = {
            "type": "download",
            "parameters": {"files": [{"url": URL, "path": "/home/user/Desktop/data.txt"}]},
        }
        evaluator = {
            "func": "compare_text_file",
            "result": {"type": "vm_file", "path": "/home/user/Desktop/data.txt", "dest": "data.txt"},
            "expected": {"type": "cloud_file", "path": "https://assets.example/gold.txt", "dest": "gold.txt"},
        }
        root, cache = (
            checkout(cached=("os", {"config": [download], "evaluator": evaluator})),
            tmp_path / "cache",
        )
        with pytest.raises(MissingAsset, match=r"assets\.example") as caught:
            play(root, desktop, Action.done(), cache=cache)
        assert str(cache / "cached") in str(caught.value.hint)
        (cache / "cached").mkdir(parents=True)
        name = f"{uuid.uuid5(uuid.NAMESPACE_URL, URL)}_data.txt"
        (cache / "cached" / name).write_text("same")
        (cache / "cached" / "gold.txt").write_text("same")
        assert play(root, desktop, Action.done(), cache=cache).outcome is Outcome.SUCCESS
        (cache / "cached" / "gold.txt").write_text("other")
        assert play(root, desktop, Action.done(), cache=cache).reward == 0

    def test_a_broken_gold_file_is_no_failure_of_the_agent(self, checkout, desktop, tmp_path: Path) -> None:
        evaluator = {
            "func": "compare_docx_files",
            "result": {"type": "vm_file", "path": "/home/user/a.docx", "dest": "a.docx"},
            "expected": {
                "type": "cloud_file",
                "path": "https://assets.example/gold.docx",
                "dest": "gold.docx",
            },
        }
        config = [execute("echo broken > ~/a.docx", shell=True)]
        root, cache = checkout(gold=("os", {"config": config, "evaluator": evaluator})), tmp_path / "cache"
        (cache / "gold").mkdir(parents=True)
        (cache / "gold" / "gold.docx").write_text("no document")
        template = load_osworld(f"{root}?cache={cache}")[0]
        task = template.instance(0)
        desktop.reset()
        task.begin(desktop)
        with pytest.raises(VerifierError, match=r"gold\.docx"):
            task.success.check(World(desktop))
        import docx

        docx.Document().save(str(cache / "gold" / "gold.docx"))
        verdict = task.success.check(World(desktop))
        assert verdict.score == 0

    def test_a_proxy_and_files_of_this_machine_are_refused(self, checkout, desktop) -> None:
        with pytest.raises(SetupFailed, match="wants a proxy"):
            play(checkout(live=("os", {"proxy": True})), desktop, Action.done())
        upload = {
            "type": "upload_file",
            "parameters": {"files": [{"local_path": "/etc/hostname", "path": "/tmp/x"}]},
        }
        with pytest.raises(SetupFailed, match="no file of"):
            play(checkout(outside=("os", {"config": [upload]})), desktop, Action.done())

    def test_getters_of_screen_and_settings(self, checkout, desktop) -> None:
        from operant.tasks.osworld.cache import Cache
        from operant.tasks.osworld.getters import GETTERS, Evidence

        desktop.reset()
        write = desktop.files.write
        write(".config/google-chrome/Default/Preferences", json.dumps(
            {"enable_do_not_track": True, "profile": {"name": "Tom"}, "browser": {"theme": {"color_scheme2": 2}}}))  # fmt: skip
        write(".config/google-chrome/Default/Bookmarks", json.dumps({"roots": {"bookmark_bar": {}}}))
        write(".config/vlc/vlcrc", "a=1\n")
        write(".config/GIMP/2.10/gimprc", "(a 1)\n")
        write("pictures/one.jpg", b"x")
        scratch = Path(checkout(x=("os", {})))
        evidence = Evidence(desktop, Cache(scratch, "x"), scratch)

        def get(type: str, **source: Any) -> Any:
            return GETTERS[type]({"type": type, **source}, evidence)

        assert get("enable_do_not_track") == "true"
        assert get("profile_name") == "Tom"
        assert get("default_search_engine") == "Google"
        assert get("data_delete_automacally") == "false"
        assert get("chrome_font_size")["default_font_size"] == 16
        assert get("chrome_appearance_mode_ui") == "dark"
        assert get("bookmarks") == {"bookmark_bar": {}}
        assert get("vlc_config").read_text() == "a=1\n"
        assert get("gimp_config_file", file_name="gimprc").read_text() == "(a 1)\n"
        assert get("list_directory", path="/home/user/pictures") == ["one.jpg"]
        assert get("list_directory", path="/home/user/none") is None
        assert get("vm_screen_size") == {"width": 1280, "height": 800}
        assert get("vm_window_size", app_class_name="vlc") is None
        assert get("vm_file", path=["/home/user/none", "/home/user/pictures/one.jpg"], dest=["a", "b"], multi=True,
                   gives=[1]).read_bytes() == b"x"  # fmt: skip
        assert get("vm_file", path="/home/user/none", dest="a") is None
        assert get("default_video_player")
