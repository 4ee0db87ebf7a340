"""Metrics of texts and settings: what is right scores 1, and what is nearly right does not."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from operant.errors import TaskError
from operant.tasks.criteria.question import Refuted
from operant.tasks.osworld.metrics import METRICS

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def put(text: str) -> Path:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.txt"
        path.write_text(text)
        return path

    return put


def score(metric: str, result: Any, expected: Any = None, **options: Any) -> float:
    try:
        return METRICS[metric](result, expected, options)
    except Refuted:
        return 0.0


VALUES: list[tuple[str, Any, Any, Any]] = [
    # metric, expected, a right result, a wrong one
    ("check_include_exclude", {"include": ["a", "b"], "exclude": ["c"]}, "b a", "a b c"),
    ("check_include_exclude", {"include": ["a", "b"]}, "ab", "a"),
    ("exact_match", {"expected": "yes\n"}, "yes\n", "yes"),
    ("match_in_list", {"expected": ["Bing", "Microsoft Bing"]}, "Bing", "Google"),
    ("is_in_list", {"expected": "a"}, ["a", "b"], ["b"]),
    ("literal_match", "a", "a", "b"),
    ("check_direct_json_object", {"expected": {"a": 1}}, "{'a': 1, 'b': 2}", "{'a': 2}"),
    ("check_direct_json_object", {"expected": {"a": ["x", "y"]}, "expect_in_result": True}, {"a": "y"}, {"a": "z"}),
    ("check_gnome_favorite_apps", {"expected": ["a.desktop", "b.desktop"]}, "['b.desktop', 'a.desktop']", "['a.desktop']"),
    ("check_moved_jpgs", {"expected": ["a.jpg", "b.jpg"]}, ["b.jpg", "a.jpg"], ["a.jpg", "b.jpg", "c.png"]),
    ("is_utc_0", None, "x\n   Time zone: Etc/UTC (UTC, +0000)\ny", "   Time zone: Asia/Tokyo (JST, +0900)"),
    ("check_text_enlarged", None, "1.25\n", "1.0"),
    ("is_expected_active_tab_approximate", {"type": "url", "url": "chrome://a/b"}, "chrome://a/b?x=1", "chrome://a/c"),
    ("is_expected_url_pattern_match", {"expected": ["^chrome://a/?$"]}, "chrome://a/", "chrome://a/b"),
    ("check_font_size", {"type": "range", "min": 16, "max": 99}, {"default_font_size": 20}, {"default_font_size": 16}),
    ("check_font_size", {"type": "value", "value": 20}, {"default_font_size": 20}, {"default_font_size": 21}),
    ("is_extension_installed", {"type": "contain", "expected": "test.py"}, "a\ntest.py\n", "a\n"),
    ("is_extension_installed", {"type": "not_contain", "expected": "x"}, "a", "x"),
    ("compare_answer", {"expected": "4"}, "4", "5"),
    ("is_vlc_fullscreen", {"width": 1920, "height": 1080}, {"width": 1920, "height": 1080}, {"width": 1920, "height": 900}),
    (
        "is_expected_bookmarks",
        {"type": "bookmark_bar_folders_names", "names": ["Favorites"]},
        {"bookmark_bar": {"children": [{"type": "folder", "name": "Favorites"}, {"type": "url", "url": "x"}]}},
        {"bookmark_bar": {"children": [{"type": "url", "url": "x"}]}},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("metric", "expected", "right", "wrong"), VALUES, ids=lambda value: str(value)[:40])
def test_values(metric: str, expected: Any, right: Any, wrong: Any) -> None:
    assert score(metric, right, expected) == 1
    assert score(metric, wrong, expected) == 0


PREFS = 'user_pref("mail.a", true);\nuser_pref("mail.sig", "Me\\nLab");\n'
FILTERS = """name="one"
enabled="yes"
type="17"
action="Move to folder"
actionValue="mailbox://x/Promotions"
condition="AND (subject,contains,discount)"
name="two"
enabled="no"
action="Forward"
condition="ALL"
"""
PLAYING = """<root><state>playing</state><information><category name="meta">
<info name="filename">film.mp4</info></category></information></root>"""

FILES: list[tuple[str, Any, str, str]] = [
    # metric, rules, a right file, a wrong one
    ("check_list", {"expect": [r"\bA\.msf"], "unexpect": ["error"]}, "x\nA.msf\n", "x\nA.msf\nerror\n"),
    ("check_csv", {"unexpect": [{"user": "me"}]}, "url,user\nx,you\n", "url,user\nx,me\n"),
    ("check_csv", {"expect": [{"user": "me", "url": "x"}]}, "url,user\nx,me\n", "url,user\ny,me\n"),
    ("check_json", {"expect": [{"key": ["a", "b"], "method": "re", "ref": r"\bsmart"}]}, '{"a": {"b": "smart"}}', "{}"),
    ("check_json_settings", {"expected": {"wrap": 50}}, '{"wrap": 50, "b": 1}', '{"wrap": 51}'),
    ("check_json_keybindings", {"expected": {"key": "j"}}, '// mine\n[{"key": "j"}]', '[{"key": "k"}]'),
    ("compare_config", {"expected": '{"a": {"b": 1}}'}, '{"a": {"b": 1, "c": 2}}', '{"a": {"c": 2}}'),
    ("compare_config", {"expected": "project"}, "the project\n", "another\n"),
    ("check_config_status", {"key": "undo-levels", "value": "100"}, "# x\n(undo-levels 100)\n", "(undo-levels 5)\n"),
    ("check_config_status", {"key": ["a", "b"], "value": "yes"}, "(a b yes)\n", "(a c yes)\n"),
    ("check_thunderbird_prefs", {"expect": {"mail.a": {"method": "eq", "ref": True}}}, PREFS, "\n"),
    ("check_thunderbird_prefs", {"expect": {"mail.sig": {"method": "re.S", "ref": "Me.Lab"}}}, PREFS, "\n"),
    ("check_thunderbird_prefs", {"unexpect": {"mail.a": {"method": "eq", "ref": True}}}, "\n", PREFS),
    (
        "check_thunderbird_filter",
        {"expect": [{"enabled": "yes", "condition": ["AND (subject,contains,discount)"]}]},
        FILTERS,
        FILTERS.replace("discount", "sale"),
    ),
    ("check_thunderbird_filter", {"expect": [{"action": "Forward", "condition": ["ALL"]}]}, FILTERS, ""),
    ("check_qt_bgcone", {"expected_qt_bgcone": 0}, "qt-bgcone=0\n", "#qt-bgcone=0\n"),
    ("check_qt_max_volume", {"expected_qt_max_volume": 200}, "qt-max-volume=200", "qt-max-volume=125"),
    ("check_qt_minimal_view", {"expected_qt_minimal_view": 1}, "qt-minimal-view=1", ""),
    ("check_play_and_exit", {"expected_play_and_exit": 0}, "", "play-and-exit=1"),
    (
        "check_one_instance_when_started_from_file",
        {"expected_one_instance_when_started_from_file": 0},
        "one-instance-when-started-from-file=0",
        "",
    ),
    ("is_vlc_recordings_folder", {"recording_file_path": "/home/user/Desktop"}, "input-record-path=/home/user/Desktop/",
     "input-record-path=/tmp"),
    ("check_qt_slider_colours", {"type": "blackish"}, "qt-slider-colours=0;0;0;20;20;20", ""),
    ("check_global_key_play_pause", {"expected_global_key_play_pause": 1}, "global-key-play-pause=Space",
     "global-key-play-pause="),
    ("is_vlc_playing", {"type": "file_name", "file_name": "film.mp4"}, PLAYING, PLAYING.replace("film", "another film")),
]  # fmt: skip


@pytest.mark.parametrize(("metric", "rules", "right", "wrong"), FILES, ids=lambda value: str(value)[:40])
def test_files_and_rules(write: Write, metric: str, rules: Any, right: str, wrong: str) -> None:
    assert score(metric, write(right), rules) == 1
    assert score(metric, write(wrong), rules) == 0


def test_two_texts(write: Write) -> None:
    gold = write("one\ntwo\n")
    assert score("compare_text_file", write("one\ntwo\n"), gold) == 1
    assert score("compare_text_file", write("one\n\n two\n"), gold) == 0
    assert score("compare_text_file", write("ONE  two"), gold, ignore_blanks=True, ignore_case=True) == 1
    assert score("compare_csv", write("one\ntwo"), [write("x"), gold]) == 1
    assert score("compare_csv", write("one\ntwo\nthree"), [write("x"), gold]) == 0
    assert score("compare_csv", write("ONE \ntwo"), gold, strict=False, ignore_case=True) == 1
    assert score("compare_result_files", write(" 3.00004\n"), write("3.0")) == 1
    assert score("compare_result_files", write("3.1"), write("3.0")) == 0
    assert score("compare_result_files", write("it is 42 kg"), write("42")) == 1
    assert score("diff_text_file", write("one\nthree\n"), gold) == pytest.approx(0.5)
    assert score("fuzzy_match", "abcd", {"expected": "abce"}) == pytest.approx(0.75)


def test_a_query_reads_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "mail.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("create table mail (id integer)")
        database.execute("insert into mail values (7)")
    assert score("run_sqlite3", path, {"sql": "select count(*) = 1 from mail"}) == 1
    assert score("run_sqlite3", path, {"sql": "SELECT count(*) > 1 FROM mail"}) == 0
    with pytest.raises(TaskError, match="is no query"):
        score("run_sqlite3", path, {"sql": "drop table mail"})


def test_a_file_that_is_not_json_scores_nothing(write: Write) -> None:
    assert score("check_json_settings", write("{"), {"expected": {}}) == 0


@pytest.mark.parametrize(
    ("method", "ref", "right", "wrong"),
    [
        ("eq", 1, 1, 2), ("ne", 1, 2, 1), ("lt", 260, 100, 260), ("ge", 2, 2, "x"), ("re.I", "ab", "xAB", "b"),
        ("approx:0.1", 1.0, 1.05, 1.2), ("range.te", [0, 2], 2, 0), ("str_list_eq", ["a", "b"], '"a,b"', "b,a"),
        ("str_set_eq", ["a", "b"], '"b,a"', "a"), ("spreadsheet_range", ["D2:D9", "D1:D99"], "D2:D20", "C2:D20"),
    ],
)  # fmt: skip
def test_rules_about_values(method: str, ref: Any, right: Any, wrong: Any) -> None:
    from operant.tasks.osworld.metrics.rules import matches_rule

    assert matches_rule(right, {"method": method, "ref": ref})
    assert not matches_rule(wrong, {"method": method, "ref": ref})


def test_an_unknown_method_is_an_error_and_no_score() -> None:
    from operant.tasks.osworld.metrics.rules import matches_rule

    with pytest.raises(TaskError, match="__import__"):
        matches_rule(1, {"method": "__import__", "ref": 1})
