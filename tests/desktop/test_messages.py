"""D-Bus messages: what jeepney writes is read, what is written jeepney reads, and garbage is refused."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jeepney import DBusAddress, new_error, new_method_call, new_method_return
from jeepney.low_level import HeaderFields, Message, MessageType

from operant.desktop.messages import Inbox, MalformedMessage, encode_call

ITEMS = "a((so)(so)(so)iiassusau)"
ADDRESS = DBusAddress("/a/b", "org.operant.Test", "org.operant.Face")


def asked(serial: int = 7) -> Message:
    call = new_method_call(ADDRESS, "Do")
    call.header.serial = serial
    call.header.fields[HeaderFields.sender] = ":1.1"
    return call


def answered(signature: str, body: tuple[Any, ...], serial: int = 7) -> bytes:
    return bytes(new_method_return(asked(serial), signature, body).serialise(serial=99))


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
UINT, INT = st.integers(0, 2**32 - 1), st.integers(-(2**31), 2**31 - 1)
REFERENCE = st.tuples(TEXT, st.just("/a/b/c1"))
ITEM = st.tuples(
    REFERENCE, REFERENCE, REFERENCE, INT, INT, st.lists(TEXT, max_size=3), TEXT, UINT, TEXT,
    st.lists(UINT, min_size=2, max_size=2),
)  # fmt: skip


@given(st.lists(ITEM, max_size=4))
def test_the_items_of_a_cache_are_read(items: list[Any]) -> None:
    (answer,) = Inbox().add(answered(ITEMS, (items,)))
    assert answer.serial == 7
    assert not answer.failed
    assert answer.body == (items,)


@pytest.mark.parametrize(
    ("signature", "body"),
    [
        ("v", (("s", "Mousepad"),)),
        ("v", (("d", 2.5),)),
        ("a{sv}", ({"a": ("i", -3), "b": ("as", ["x", "y"])},)),
        ("a{ss}", ({"DocURL": "file:///x", "Title": "é"},)),
        ("(iiii)", ((-1, 2, 3, 4),)),
        ("bytxnqd", (True, 200, 2**60, -(2**60), -5, 60000, 0.1)),
        ("a(so)", ([(":1.4", "/a"), (":1.5", "/b")],)),
        ("as", ([],)),
        ("aai", ([[1, 2], [], [3]],)),
        ("og", ("/a/b", "a{sv}")),
    ],
)
def test_answers_of_other_shapes_are_read(signature: str, body: tuple[Any, ...]) -> None:
    assert Inbox().add(answered(signature, body))[0].body == body


def test_an_answer_may_come_in_pieces_and_with_others() -> None:
    stream = answered("s", ("one",), 1) + answered("s", ("two",), 2) + answered("", (), 3)
    inbox, found = Inbox(), []
    for start in range(0, len(stream), 5):
        found += inbox.add(stream[start : start + 5])
    assert [(one.serial, one.body) for one in found] == [(1, ("one",)), (2, ("two",)), (3, ())]


def test_errors_are_told_from_answers_and_calls_from_both() -> None:
    failed = new_error(asked(), "org.operant.Failed", "s", ("no",)).serialise(serial=3)
    call = asked().serialise(serial=4)
    (answer,) = Inbox().add(failed + call)
    assert answer.failed
    assert answer.body == ("no",)


@pytest.mark.parametrize(
    ("signature", "body"), [(None, ()), ("ss", ("org.a.B", "Näme")), ("u", (0,)), ("iiu", (-1, 100_000, 2))]
)
@pytest.mark.parametrize("destination", ["org.operant.Test", None])
def test_calls_are_written_as_jeepney_reads_them(
    signature: str | None, body: tuple[Any, ...], destination: str | None
) -> None:
    raw = encode_call(12, "/a/b", "org.operant.Face", "Do", destination, signature, body)
    message = Message.from_buffer(raw)
    assert message.header.message_type is MessageType.method_call
    assert message.header.serial == 12
    fields = message.header.fields
    assert fields[HeaderFields.path] == "/a/b"
    assert fields[HeaderFields.interface] == "org.operant.Face"
    assert fields[HeaderFields.member] == "Do"
    assert fields.get(HeaderFields.destination) == destination
    assert message.body == body


@given(st.binary(min_size=16, max_size=200))
def test_garbage_is_refused_or_waited_for_but_never_anything_else(raw: bytes) -> None:
    with contextlib.suppress(MalformedMessage):
        Inbox().add(raw)


@given(st.data())
def test_a_damaged_answer_is_refused_or_read_but_never_anything_else(data: st.DataObject) -> None:
    raw = bytearray(
        answered(ITEMS, ([(("a", "/b"), ("c", "/d"), ("e", "/f"), 1, 2, ["g"], "h", 3, "i", [4, 5])],))
    )
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(MalformedMessage):
        Inbox().add(bytes(raw))


def test_a_message_that_says_it_is_huge_is_refused_at_once() -> None:
    raw = bytearray(answered("s", ("x",)))
    raw[4:8] = (0x7FFFFFFF).to_bytes(4, "little")
    with pytest.raises(MalformedMessage, match="bytes"):
        Inbox().add(bytes(raw))


def test_types_without_end_are_refused() -> None:
    deep = "a" * 100 + "i"
    raw = answered("g", (deep,))
    assert Inbox().add(raw)[0].body == (deep,)  # a signature as a value is only text
    variant = bytearray(answered("v", (("s", "x" * 200),)))
    at = variant.index(b"\x01s\x00", 80) if b"\x01s\x00" in variant[80:] else variant.rindex(b"\x01s\x00")
    variant[at : at + 103] = bytes((101,)) + deep.encode() + b"\0"
    with pytest.raises(MalformedMessage):
        Inbox().add(bytes(variant))
