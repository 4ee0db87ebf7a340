"""Spreadsheets and documents, honest, broken and explosive."""

from __future__ import annotations

import io
import time
import zipfile

import pytest

from operant.errors import TaskError
from operant.tasks.criteria import DocumentText, SpreadsheetCell

ODF = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
)
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


@pytest.fixture
def desktop(made_up):
    """Files are all that it takes here."""
    return made_up


def packed(**members: str | bytes) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return data.getvalue()


def ods(body: str) -> bytes:
    inner = f"<office:body><office:spreadsheet>{body}</office:spreadsheet></office:body>"
    return packed(**{"content.xml": f"<office:document-content {ODF}>{inner}</office:document-content>"})


def xlsx(rows: str, strings: str = "", target: str = "worksheets/sheet1.xml", **more: str) -> bytes:
    return packed(
        **{
            "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets>'
            '<sheet name="Costs" sheetId="1" r:id="rId1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f'<All><Relationship Id="rId1" Target="{target}"/></All>',
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{MAIN}">{rows}</worksheet>',
            "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}">{strings}</sst>',
            **more,
        }
    )


def odt(text: str) -> bytes:
    return packed(**{"content.xml": f"<office:document-content {ODF}>{text}</office:document-content>"})


def docx(text: str) -> bytes:
    return packed(**{"word/document.xml": f'<w:document xmlns:w="{WORD}">{text}</w:document>'})


TABLE = """<table:table table:name="Costs">
<table:table-row table:number-rows-repeated="2">
<table:table-cell><text:p>head</text:p></table:table-cell></table:table-row>
<table:table-row><table:table-cell table:number-columns-repeated="2"/>
<table:table-cell office:value-type="float" office:value="42.5"><text:p>42,50</text:p></table:table-cell>
<table:table-cell><text:p>two</text:p><text:p>lines</text:p></table:table-cell></table:table-row>
</table:table><table:table table:name="Other"/>"""


# spreadsheet_cell


def test_a_cell_of_a_csv_file(desktop, ask):
    desktop.files.write("a.csv", 'item,price\n"lamp, red",12.50\nchair,"1\n2"\n')
    assert ask(SpreadsheetCell(path="a.csv", cell="A2", equals="lamp, red"))
    assert ask(SpreadsheetCell(path="a.csv", cell="b2", equals=12.5))
    assert ask(SpreadsheetCell(path="a.csv", cell="B2", equals="12.5"))
    assert ask(SpreadsheetCell(path="a.csv", cell="A3", equals="chair"))
    assert not ask(SpreadsheetCell(path="a.csv", cell="B2", equals=12))
    assert not ask(SpreadsheetCell(path="a.csv", cell="C2", equals=12.5))
    assert not ask(SpreadsheetCell(path="a.csv", cell="A9", equals=12.5))
    desktop.files.write("b.csv", "item;price\nlamp;3,5\n")
    assert ask(SpreadsheetCell(path="b.csv", cell="B2", equals="3,5"))


def test_a_cell_of_an_ods_file(desktop, ask):
    desktop.files.write("a.ods", ods(TABLE))
    assert ask(SpreadsheetCell(path="a.ods", cell="C3", equals=42.5))
    assert ask(SpreadsheetCell(path="a.ods", cell="A2", equals="head", sheet="Costs"))
    assert ask(SpreadsheetCell(path="a.ods", cell="D3", equals="two\nlines"))
    assert not ask(SpreadsheetCell(path="a.ods", cell="C2", equals=42.5))
    assert not ask(SpreadsheetCell(path="a.ods", cell="C3", equals=42.5, sheet="Other"))
    assert not ask(SpreadsheetCell(path="a.ods", cell="C3", equals=42.5, sheet="Missing"))


def test_a_cell_of_an_xlsx_file(desktop, ask):
    inline = '<c r="C1" t="inlineStr"><is><t>in</t></is></c>'
    rows = f'<row><c r="A1" t="s"><v>1</v></c><c r="B1"><v>42.5</v></c>{inline}</row>'
    desktop.files.write("a.xlsx", xlsx(rows, "<si><t>no</t></si><si><r><t>la</t></r><r><t>mp</t></r></si>"))
    assert ask(SpreadsheetCell(path="a.xlsx", cell="A1", equals="lamp"))
    assert ask(SpreadsheetCell(path="a.xlsx", cell="B1", equals=42.5, sheet="Costs"))
    assert ask(SpreadsheetCell(path="a.xlsx", cell="C1", equals="in"))
    assert not ask(SpreadsheetCell(path="a.xlsx", cell="B1", equals=42))
    assert not ask(SpreadsheetCell(path="a.xlsx", cell="D1", equals=42.5))
    assert not ask(SpreadsheetCell(path="a.xlsx", cell="B1", equals=42.5, sheet="Missing"))


BOMB = (
    '<!DOCTYPE a [<!ENTITY a "42">'
    + "".join(f'<!ENTITY a{i} "{f"&a{i - 1 if i else str()};" * 10}">' for i in range(12))
    + "]><x>&a11;</x>"
)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"42",
        b"PK\x03\x04 not really",
        packed(**{"content.xml": BOMB, "xl/workbook.xml": BOMB, "word/document.xml": BOMB}),
        packed(**{"content.xml": BOMB.encode("utf-16"), "xl/workbook.xml": BOMB.encode("utf-16")}),
        packed(**{"content.xml": b"<x>" + b" " * (40 << 20), "xl/workbook.xml": b"<x>" + b" " * (40 << 20)}),
        packed(**{"content.xml": "<x>" * 100_000, "xl/workbook.xml": "<x>" * 100_000}),
        packed(**{"content.xml": "<x>42", "xl/workbook.xml": "<x>42"}),
        packed(
            **{
                "content.xml": b"\xff\xfe\x00",
                "xl/workbook.xml": '<?xml version="1.0" encoding="nonsense"?><x/>',
            }
        ),
        packed(**{"other.xml": "<x>42</x>"}),
        xlsx('<row><c r="A1" t="s"><v>99999999999999999999</v></c></row>'),
        xlsx('<row><c r="A1"><v>42</v></c></row>', target="../../../../etc/passwd"),
        ods(
            '<table:table><table:table-row table:number-rows-repeated="99999999999999999999"/></table:table>'
        ),
    ],
    ids=[
        "empty",
        "text",
        "torn",
        "entities",
        "entities in UTF-16",
        "zip bomb",
        "deep",
        "unclosed",
        "encoding",
        "member",
        "index",
        "outside",
        "repeated",
    ],
)
@pytest.mark.parametrize("name", ["a.ods", "a.xlsx", "a.odt", "a.docx"])
def test_broken_and_explosive_files(desktop, ask, data, name):
    desktop.files.write(name, data)
    before = time.monotonic()
    if name in ("a.ods", "a.xlsx"):
        assert not ask(SpreadsheetCell(path=name, cell="A1", equals=42))
    else:
        assert not ask(DocumentText(path=name, contains="42"))
    assert time.monotonic() - before < 2


def test_a_spreadsheet_of_another_kind_does_not_pass(desktop, ask):
    desktop.files.write("a.xlsx", "42\n")
    desktop.files.write("a.ods", xlsx('<row><c r="A1"><v>42</v></c></row>'))
    desktop.files.write("a.csv", ods(TABLE))
    for name in ("a.xlsx", "a.ods", "a.csv"):
        assert not ask(SpreadsheetCell(path=name, cell="A1", equals=42))


def test_cells_that_are_none():
    for cell in ("1A", "A0", "A", "AAAA1", "A1:B2", "A99999999"):
        with pytest.raises(TaskError):
            SpreadsheetCell(path="a.csv", cell=cell, equals=1)
    with pytest.raises(TaskError):
        SpreadsheetCell(path="a.txt", cell="A1", equals=1)


@pytest.mark.parametrize("found", ["nan", "inf", "1e999", "42 43", "=6*7", "4_2"])
def test_what_is_not_the_number(desktop, ask, found):
    desktop.files.write("a.csv", found + "\n")
    assert not ask(SpreadsheetCell(path="a.csv", cell="A1", equals=42))


# document_text


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.txt", b"Dear  Anna,\nthe total is 42.\n"),
        ("a.html", b"<title>x</title><style>p{}</style><p>Dear Anna,<p>the <b>total</b> is 42."),
        ("a.odt", odt("<text:h>Dear Anna,</text:h><text:p>the <text:span>total</text:span> is 42.</text:p>")),
        (
            "a.docx",
            docx(
                "<w:p><w:r><w:t>Dear Anna,</w:t></w:r></w:p>"
                "<w:p><w:r><w:t>the total</w:t></w:r><w:r><w:t> is 42.</w:t></w:r></w:p>"
            ),
        ),
    ],
)
def test_the_text_of_a_document(desktop, ask, name, data):
    desktop.files.write(name, data)
    assert ask(DocumentText(path=name, contains="the total is 42"))
    assert ask(DocumentText(path=name, equals="Dear Anna, the total is 42."))
    assert not ask(DocumentText(path=name, contains="the total is 43"))
    assert not ask(DocumentText(path=name, equals="Dear Anna,"))
    assert not ask(DocumentText(path="missing" + name, contains="42"))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.html", b"<script>'right'</script><!-- right --><p title=right>wrong"),
        ("a.html", b"<style>right</style><title>right</title>"),
        ("a.odt", b"right"),
        ("a.odt", packed(**{"other.xml": "right"})),
        ("a.docx", docx("<w:p right='right'/>")),
        ("a.pdf", b"right"),
        ("a.pdf", b""),
        ("a.txt", b""),
    ],
)
def test_a_text_that_nobody_would_see(desktop, ask, name, data):
    desktop.files.write(name, data)
    assert not ask(DocumentText(path=name, contains="right"))


def test_a_document_text_asks_something():
    with pytest.raises(TaskError):
        DocumentText(path="a.txt")
