"""What the agent perceives of a desktop."""

from __future__ import annotations

import numpy as np
import pytest

from operant.agents.hierarchical.config import EncoderConfig, HierarchicalConfig
from operant.agents.hierarchical.perception import Perception
from operant.agents.hierarchical.rows import read_rows
from operant.agents.hierarchical.words import hash_word, shape_of, words_of
from operant.types import Action, Node, Observation, PastAction, Point, Window

SHOWING = frozenset({"showing"})


def observation(
    instruction: str, *nodes: Node, windows: tuple[Window, ...] = (), history: tuple[PastAction, ...] = ()
) -> Observation:
    tree = Node("frame", "", SHOWING, None, children=nodes)
    return Observation(
        np.zeros((800, 1280, 3), np.uint8), instruction, 0, 15, Point(0.5, 0.5),
        windows=windows, tree=tree, history=history,
    )  # fmt: skip


def button(name: str, x: int = 100) -> Node:
    return Node("push button", name, SHOWING | {"focusable"}, (x, 100, 80, 30))


def test_a_word_is_hashed_the_same_way_everywhere_and_apart_from_others() -> None:
    assert hash_word("harbor", 512) == hash_word("harbor", 512)
    assert hash_word("harbor", 8192)[0] != hash_word("garden", 8192)[0]
    assert all(0 < row < 512 for row in hash_word("quiet", 512))
    assert words_of("Save as quiet-harbor.txt") == ["save", "as", "quiet", "harbor", "txt"]
    assert shape_of("1234") != shape_of("abcd")


def test_a_widget_is_matched_with_the_words_of_the_instruction_that_name_it() -> None:
    perception = Perception(HierarchicalConfig())
    seen = perception.encode(observation("Press the button Harbor.", button("Garden"), button("Harbor", 300)))
    assert seen["match"][0].sum() == 0
    assert seen["match"][1].nonzero()[0].tolist() == [3]  # Press the button Harbor
    assert seen["row_box"][1].tolist() == [300, 100, 80, 30]


def test_common_words_match_nothing() -> None:
    perception = Perception(HierarchicalConfig())
    assert perception.encode(observation("Close the window.", button("the")))["match"].sum() == 0


def test_numbers_that_are_shown_can_be_read_with_their_decimals() -> None:
    perception = Perception(HierarchicalConfig())
    node = Node("text", "", SHOWING, (0, 0, 100, 20), text="Total: 37.75")
    seen = perception.encode(observation("Answer with the total.", node))
    tokens = np.flatnonzero(seen["token_segment"] == 2)
    spans = [tuple(seen["token_span"][token]) for token in tokens]
    assert b"37.75" in [seen["source"].tobytes()[begin:end] for begin, end in spans]


def test_a_word_of_the_instruction_has_a_place_of_its_own_in_a_line_of_text() -> None:
    line = Node("line", "", SHOWING, (100, 200, 200, 18), text="two rulers for Sofia")
    rows = read_rows(observation("change rulers to mugs", line), 50, frozenset({"rulers", "mugs"}))
    word = next(row for row in rows if row.role == "word")
    assert word.box == (140, 200, 60, 18)  # characters 4 to 10 of 20


def test_windows_offer_their_title_bars_unless_they_are_minimized() -> None:
    shown = Window(1, "notes", "Mousepad", 1, 100, 60, 400, 300, True)
    hidden = Window(2, "sums", "Galculator", 2, 0, 0, 10, 10, False, minimized=True)
    rows = read_rows(observation("close it", windows=(hidden, shown)), 50, frozenset())
    assert [row.role for row in rows] == ["window", "window", "title", *["title button"] * 3, "corner"]
    close, maximize, minimize = rows[3:6]
    assert (close.words, close.box) == (("close", "notes"), (483, 38, 17, 22))
    assert (maximize.box[0], minimize.box[0]) == (466, 449)


def test_the_past_is_remembered_with_what_it_was_aimed_at() -> None:
    perception = Perception(HierarchicalConfig())
    past = (PastAction(Action.click(Point(0.5, 0.5)), "Harbor"), PastAction(Action.key("ctrl", "s")))
    seen = perception.encode(observation("Press Harbor", button("Garden"), history=past))
    assert (seen["row_segment"] == 2).sum() == 2
    assert seen["match"][1].sum() == 1  # the click on Harbor


def test_a_crowded_window_keeps_the_windows() -> None:
    window = Window(1, "notes", "Mousepad", 1, 100, 60, 400, 300, True)
    crowd = [button(f"b{index}") for index in range(300)]
    rows = read_rows(observation("x", *crowd, windows=(window,)), 112, frozenset())
    assert len(rows) == 112
    assert rows[-1].role == "corner"


def test_what_lies_below_another_window_is_known_to_be_covered() -> None:
    below = Window(1, "notes", "Mousepad", 1, 100, 100, 400, 300, False)
    above = Window(2, "sums", "Galculator", 2, 300, 60, 400, 300, True)
    rows = read_rows(observation("close it", windows=(below, above)), 50, frozenset())
    title, *buttons = rows[1:5]
    assert title.box == (100, 78, 199, 22)  # what shows of it
    assert not title.covered
    assert all(button.covered for button in buttons)
    assert not any(row.covered for row in rows[6:])


def test_what_is_scrolled_away_is_not_seen() -> None:
    inside = [button("Harbor"), Node("push button", "Garden", SHOWING, (100, 500, 80, 30))]
    away = Node("push button", "Island", SHOWING, (-2147483648, -2147483648, 80, 30))
    pane = Node("scroll pane", "", SHOWING, (0, 0, 400, 300), children=(*inside, away))
    assert [row.name for row in read_rows(observation("x", pane), 50, frozenset())] == ["Harbor"]


def test_a_cell_and_its_text_are_one_thing_at_the_place_of_the_text() -> None:
    text = Node("static", "keys", SHOWING, (110, 103, 37, 19))
    cell = Node("table cell", "keys", SHOWING, (100, 100, 97, 25), children=(text,))
    holder = Node("table cell", "", SHOWING | {"focusable"}, (90, 90, 300, 40), children=(cell,))
    (row,) = read_rows(observation("x", holder), 50, frozenset())
    assert (row.role, row.box) == ("table cell", text.box)


def test_a_number_knows_what_stands_beside_it() -> None:
    def cell(name: str, x: int, y: int) -> Node:
        return Node("table cell", name, SHOWING, (x, y, 90, 20))

    table = [cell("nails", 100, 100), cell("670", 200, 100), cell("keys", 100, 120), cell("183", 200, 120)]
    seen = Perception(HierarchicalConfig()).encode(observation("What do keys cost?", *table))
    assert seen["row_left"][:4].tolist() == [0, 1, 0, 3]


@pytest.mark.parametrize("text", ["", "é" * 2000, "x" * 5000, "a\nb\tc", "日本語 の 名前.txt"])
def test_any_instruction_can_be_perceived(text: str) -> None:
    perception = Perception(HierarchicalConfig(encoder=EncoderConfig(widgets=0, history=0)))
    seen = perception.encode(observation(text))
    assert perception.space.contains(seen)


def test_writing_over_an_old_observation_leaves_nothing_of_it() -> None:
    perception = Perception(HierarchicalConfig())
    out = perception.encode(observation("Press the button Harbor.", *[button(f"b{i}") for i in range(60)]))
    again = perception.encode(observation("Hm.", button("Garden")), out)
    fresh = perception.encode(observation("Hm.", button("Garden")))
    for name, part in fresh.items():
        np.testing.assert_array_equal(again[name], part, err_msg=name)


def shown(seen: dict[str, np.ndarray]) -> list[str]:
    source = seen["source"].tobytes()
    return [source[begin:end].decode() for begin, end in seen["token_span"][seen["token_segment"] == 2]]


def test_what_stands_beside_a_word_of_the_instruction_is_read_before_other_numbers() -> None:
    rooms = [
        Node("static", f"Person {index} room {200 + index}", SHOWING, (100, 18 * index, 80, 18))
        for index in range(40)
    ]
    wanted = Node("static", "Ursula Becker room 887", SHOWING, (100, 740, 80, 18))
    seen = Perception(HierarchicalConfig()).encode(observation("Find Ursula Becker.", *rooms, wanted))
    assert shown(seen)[:2] == ["room", "887"]
    assert len(shown(seen)) == HierarchicalConfig().encoder.reading_tokens


def test_what_is_said_twice_is_read_once() -> None:
    nodes = [Node(role, "costs 457", SHOWING, (100, 100, 80, 20)) for role in ("list item", "static")]
    seen = Perception(HierarchicalConfig()).encode(observation("x", *nodes))
    assert shown(seen) == ["1", "457"]  # there is one such item


def test_lines_that_the_instruction_speaks_of_say_their_number_and_lists_their_length() -> None:
    perception = Perception(HierarchicalConfig())
    line = Node("line", "", SHOWING, (10, 300, 200, 20), text="a helmet", value=41.0)
    other = Node("line", "", SHOWING, (10, 320, 200, 20), text="a lamp", value=42.0)
    assert "41" in shown(perception.encode(observation("On which line is helmet?", line, other)))
    assert "42" not in shown(perception.encode(observation("On which line is helmet?", line, other)))
    cells = [Node("table cell", name, SHOWING, (10, 20 * row, 80, 20)) for row, name in enumerate("abcde")]
    assert shown(perception.encode(observation("How many?", *cells))) == ["5"]


def test_a_name_of_signs_is_a_word_of_its_own() -> None:
    seen = Perception(HierarchicalConfig()).encode(observation("x", button("+/-"), button("=", 200)))
    assert seen["row_words"][0, 0].tolist() == list(hash_word("+/-", 8192))
    assert seen["row_words"][1, 0].tolist() == list(hash_word("=", 8192))


def test_a_token_knows_the_words_around_it() -> None:
    seen = Perception(HierarchicalConfig()).encode(observation("Put oak into Remark."))
    blank = [0] * 4
    near = [[list(hash_word(word, 8192)) if word else blank for word in words] for words in (
        ("", "", "oak"), ("put", "", "into"), ("oak", "put", "remark"), ("into", "oak", "."), ("remark", "into", ""),
    )]  # fmt: skip
    assert seen["token_near"][:5].tolist() == near
