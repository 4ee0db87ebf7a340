"""D-Bus messages: what jeepney writes is read, what is written jeepney reads, and garbage is refused."""

from __future__ import annotations

import contextlib
import struct
from pathlib import Path
from random import Random
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


def corpus() -> list[bytes]:
    """Answers that real applications gave, and further types that D-Bus has."""
    stream, found = (Path(__file__).parent / "recorded" / "answers.bin").read_bytes(), []
    while stream:
        body, _serial, fields = struct.unpack_from("<III", stream, 4)
        size = 16 + fields + -fields % 8 + body
        found.append(stream[:size])
        stream = stream[size:]
    item = (("a", "/b"), ("c", "/d"), ("e", "/f"), 1, 2, ["g"], "h", 3, "i", [4, 5])
    found += [answered(ITEMS, ([item, item],)), answered("a{sv}", ({"a": ("i", -3), "b": ("as", ["x"])},))]
    found += [answered("a{ss}", ({"DocURL": "x", "Title": "é"},)), answered("aai", ([[1, 2], [], [3]],))]
    found += [
        answered("a{oa{sv}}", ({"/a": {"b": ("v", ("d", 0.5))}},)),
        answered("bytxnqdg", (True, 1, 2, 3, 4, 5, 0.1, "s")),
    ]
    return found


def mutate(random: Random, raw: bytes, others: list[bytes]) -> bytes:
    """One change or a few, of the kinds that break readers: bits, lengths, types, ends, pieces of something else."""
    data = bytearray(raw)
    for _ in range(random.randint(1, 3)):
        at = random.randrange(len(data)) if data else 0
        how = random.randrange(6)
        if how == 0 and data:
            data[at] ^= 1 << random.randrange(8)
        elif how == 1:
            data[at // 4 * 4 : at // 4 * 4 + 4] = struct.pack("<I", random.choice(LENGTHS) & 0xFFFFFFFF)
        elif how == 2 and data:
            data[at] = random.choice(b"ybnqiuxtdsogvah({)}l\x00\x01\xff")
        elif how == 3:
            del data[at : at + random.randint(1, 9)]
        elif how == 4:
            other = random.choice(others)
            start = random.randrange(len(other))
            data[at : at + random.randint(0, 9)] = other[start : start + random.randint(1, 60)]
        else:
            types = "".join(random.choices("ybnqiuxtdsogva({)}", k=random.randint(1, 8))).encode()
            place = data.find(b"\x08\x01g\0")  # the signature of the body
            if place >= 0:
                data[place + 4 : place + 5 + len(types)] = bytes((len(types),)) + types
    if random.random() < 0.7 and len(data) >= 16:  # a header whose sizes fit, so that the rest is read at all
        fields = struct.unpack_from("<I", data, 12)[0] % 200
        data[12:16] = struct.pack("<I", fields)
        data[4:8] = struct.pack("<I", max(0, len(data) - 16 - fields - -fields % 8))
    return bytes(data)


LENGTHS = (0, 1, 3, 7, 8, 63, 255, 4096, 1 << 16, (1 << 24) - 1, 1 << 26, 0x7FFFFFFF, 0xFFFFFFFF, 0xFFFFFFF8)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_hundred_thousand_damaged_messages_are_read_or_refused() -> None:
    random, originals = Random(15), corpus()
    small = [raw for raw in originals if len(raw) < 2000]
    read = refused = 0
    for count in range(100_000):
        raw = mutate(random, random.choice(originals if count % 50 == 0 else small), small)
        try:
            read += len(Inbox().add(raw))
        except MalformedMessage:
            refused += 1
        except Exception as error:  # noqa: BLE001 - which one and on what is the finding
            pytest.fail(f"message {count}: {type(error).__name__}: {error}: {raw[:200].hex()}")
    assert read > 10_000
    assert refused > 10_000


@pytest.mark.parametrize(
    "signature", ["a{ass}", "a{vs}", "a{(i)s}", "a{sss}", "a{s}", "{ss}", "(i}", "a{ss)", "a", "()"]
)
def test_types_that_there_can_not_be_are_refused(signature: str) -> None:
    raw = answered("s" * len(signature), ("a" * 8,) * len(signature))
    raw = raw.replace(b"s" * len(signature), signature.encode(), 1)
    with pytest.raises(MalformedMessage):
        Inbox().add(raw)


def test_keys_that_can_not_be_hashed_are_refused() -> None:
    """They raised TypeError: an array of one entry, whose key is an array of one number."""
    raw = answered("uuuiib", (12, 0, 4, 1, 2, False)).replace(b"uuuiib", b"a{aii}", 1)
    with pytest.raises(MalformedMessage):
        Inbox().add(raw)


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
