"""What was done is ticked off on the words it was done with."""

from __future__ import annotations

import numpy as np

from operant.agents.hierarchical.config import HierarchicalConfig
from operant.agents.hierarchical.features import RowFeature
from operant.agents.hierarchical.perception import Perception
from operant.agents.hierarchical.progress import FARTHEST, MARKS, TaskProgress
from operant.types import Action, Node, Observation, PastAction, Point

SHOWING = frozenset({"showing"})
MIDDLE = Point(0.5, 0.5)


def see(instruction: str, *nodes: Node, history: tuple[PastAction, ...] = ()) -> dict[str, np.ndarray]:
    tree = Node("frame", "", SHOWING, None, children=nodes)
    screen = np.zeros((800, 1280, 3), np.uint8)
    observation = Observation(screen, instruction, 0, 15, MIDDLE, tree=tree, history=history)
    return Perception(HierarchicalConfig()).encode(observation)


def button(name: str, x: int = 100, y: int = 100, role: str = "push button") -> Node:
    return Node(role, name, SHOWING | {"focusable"}, (x, y, 40, 30))


def marked(seen: dict[str, np.ndarray], mark: str) -> list[str]:
    source = seen["source"].tobytes()
    rows = np.flatnonzero(seen["token_marks"][:, MARKS.index(mark)])
    return [source[slice(*seen["token_span"][row])].decode() for row in rows]


def column(seen: dict[str, np.ndarray], feature: RowFeature) -> list[float]:
    count = int((seen["row_segment"] == 1).sum())
    return [round(float(value), 3) for value in seen["row_features"][:count, feature]]


def click(name: str, x: float = 0.09, y: float = 0.14) -> PastAction:
    return PastAction(Action.click(Point(x, y)), name)


def test_what_was_typed_is_marked_as_a_whole_wherever_it_stands() -> None:
    done = (PastAction(Action.type("oak tree\n")), PastAction(Action.type("elm")))
    seen = see("Write oak tree, elm and oak, then oak tree again.", history=done)
    assert marked(seen, "typed") == ["oak", "tree", "elm", "oak", "tree"]
    assert marked(seen, "typed last") == ["elm"]


def test_a_part_of_a_word_is_not_the_word() -> None:
    assert marked(see("Write oaks.", history=(PastAction(Action.type("oak")),)), "typed") == []


def test_what_was_clicked_is_marked_in_any_case() -> None:
    seen = see("Tick Quiet Harbor and Green Lamp.", history=(click("quiet harbor"), click("Green Lamp")))
    assert marked(seen, "clicked") == ["Quiet", "Harbor", "Green", "Lamp"]
    assert marked(seen, "clicked last") == ["Green", "Lamp"]


def test_a_window_and_a_line_stand_for_what_the_instruction_says_of_them() -> None:
    said = "Indent the lines about buckets and screws in keen-donkey.txt, then close tender-ember.txt."
    done = (click("5 buckets for Sofia"), click("~/keen-donkey.txt - Mousepad"), click("5 buckets for Sofia"))
    seen = see(said, history=done)
    assert marked(seen, "clicked") == ["buckets", "keen", "-", "donkey", ".", "txt"]
    assert marked(seen, "clicked last") == ["buckets"]
    times = seen["token_marks"][:, MARKS.index("times clicked")]
    assert sorted(set(times.tolist())) == [0.0, 0.25, 0.5]
    assert marked(see(said, history=(click("a long text about buckets " * 9),)), "clicked") == []


def test_a_column_knows_whether_it_is_sorted() -> None:
    def cells(*values: int) -> list[Node]:
        return [
            button(f"{value} KB", y=100 + 30 * place, role="table cell") for place, value in enumerate(values)
        ]

    for values, order in (((3, 7, 7, 9), 1.0), ((9, 7, 3), -1.0), ((3, 9, 7), 0.0)):
        assert set(column(see("x", *cells(*values)), RowFeature.COLUMN_ORDER)) == {order}


def test_a_number_goes_on_with_its_next_digit() -> None:
    digits = [button(sign, 100 + 50 * index) for index, sign in enumerate("0123456789")]
    seen = see("Click 48 and 1.5 into it.", *digits)
    assert np.flatnonzero(column(seen, RowFeature.NEXT_SIGN)).tolist() == [1, 4]
    seen = see("Click 48 and 1.5 into it.", *digits, history=(click("4"),))
    assert np.flatnonzero(column(seen, RowFeature.NEXT_SIGN)).tolist() == [8]
    assert seen["match"][8].nonzero()[0].tolist() == [1]  # 48 is the second token
    seen = see("Click 48 and 1.5 into it.", *digits, history=(click("4"), click("8"), click("+")))
    assert np.flatnonzero(column(seen, RowFeature.NEXT_SIGN)).tolist() == [1]
    assert marked(seen, "entered") == ["48"]


def test_anything_else_ends_a_number() -> None:
    assert TaskProgress.of((click("4"), click("File"), click("8"))).entered == ("8",)
    assert TaskProgress.of((click("4"), PastAction(Action.wait()), click("8"))).entered == ("48",)


def test_a_row_knows_whether_it_was_clicked_and_holds_what_was_typed() -> None:
    entry = Node("text", "", SHOWING | {"editable"}, (300, 100, 100, 30), text="lamp post")
    seen = see("x", button("A"), entry, history=(click("A"), PastAction(Action.type("post"))))
    assert column(seen, RowFeature.TIMES_CLICKED) == [0.25, 0.0]
    assert column(seen, RowFeature.CLICKED_LAST) == [1.0, 0.0]
    assert column(seen, RowFeature.HOLDS_TYPED_TEXT) == [0.0, 1.0]


def test_rows_of_a_column_know_their_place_and_the_rank_of_their_number() -> None:
    cells = [
        button(name, 100, 100 + 40 * row, "table cell") for row, name in enumerate(("9 bytes", "2 KB", "77"))
    ]
    seen = see("x", *cells, button("3", 500))
    assert column(seen, RowFeature.NUMBER_RANK) == [0.0, 1.0, 0.5, 0.0]
    assert column(seen, RowFeature.PLACE_IN_COLUMN) == [0.062, 0.125, 0.188, 0.0]
    assert column(seen, RowFeature.PLACE_FROM_END) == [0.188, 0.125, 0.062, 0.0]


def test_only_a_whole_name_is_said_by_the_instruction() -> None:
    seen = see("Open quiet-harbor.txt.", button("quiet-harbor.txt"), button("quiet-garden.txt"))
    assert column(seen, RowFeature.NAMED_IN_INSTRUCTION) == [1.0, 0.0]


def test_a_past_action_that_changed_nothing_shows_it() -> None:
    history = (click("A"), PastAction(Action.click(MIDDLE), "A", changed=False))
    seen = see("x", button("A"), history=history)
    memory = seen["row_segment"] == 2
    assert seen["row_features"][memory, RowFeature.CHANGED_SCREEN].tolist() == [1.0, 0.0]


def test_tokens_know_how_far_they_are_from_what_was_typed_and_clicked_last() -> None:
    seen = see("Enter oak, elm and fir.", history=(PastAction(Action.type("oak\n")), click("Fir")))
    middle = FARTHEST + 1
    typed, clicked = seen["token_distance"][:7].T.tolist()
    assert typed == [middle - 2, middle - 1, middle, middle + 1, middle + 2, middle + 3, middle + 4]
    assert clicked == [middle - 6, middle - 5, middle - 4, middle - 3, middle - 2, middle - 1, middle]
    assert not see("Enter oak.")["token_distance"].any()
