"""Documents, presentations, pictures and PDFs: a copy scores 1, and one with a change does not."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import numpy as np
import pptx
import pytest
from docx.enum.text import WD_ALIGN_PARAGRAPH, WD_BREAK
from docx.shared import Pt, RGBColor
from PIL import Image
from pptx.dml.color import RGBColor as SlideColour
from pptx.util import Inches
from pptx.util import Pt as SlidePt

from operant.errors import TaskError

Change = Callable[[Any], None]
NOTHING: Change = lambda document: None  # noqa: E731


def document(path: Path, change: Change = NOTHING) -> Path:
    book = docx.Document()
    book.add_paragraph("First line").alignment = WD_ALIGN_PARAGRAPH.CENTER
    book.add_paragraph("Second line").paragraph_format.line_spacing = 2.0
    run = book.add_paragraph("H").add_run("2")
    run.font.subscript = True
    book.paragraphs[1].add_run("slanted").italic = True
    book.paragraphs[1].runs[-1].font.size = Pt(14)
    book.paragraphs[1].add_run().add_break(WD_BREAK.PAGE)
    table = book.add_table(1, 2)
    for cell, word, colour in zip(
        table.rows[0].cells, ("apple", "pear"), ((255, 0, 0), (0, 0, 255)), strict=True
    ):
        cell.paragraphs[0].add_run(word).font.color.rgb = RGBColor(*colour)
    book.sections[0].footer.paragraphs[0].text = "Page 1"
    picture = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(picture, "PNG")
    book.add_picture(picture)
    book.add_paragraph().add_run("gone").font.strike = True
    change(book)
    book.save(path)
    return path


def cell(book: Any) -> Any:
    return book.tables[0].rows[0].cells[0].paragraphs[0].runs[0]


GOLD: list[tuple[str, Change]] = [
    ("compare_docx_files", lambda book: book.add_paragraph("more")),
    ("compare_docx_files_and_ignore_new_lines", lambda book: book.add_paragraph("more")),
    ("compare_docx_tables", lambda book: setattr(cell(book), "text", "plum")),
    ("compare_docx_images", lambda book: book.add_picture(str(PICTURE))),
    ("compare_line_spacing", lambda book: setattr(book.paragraphs[0].paragraph_format, "line_spacing", 3.0)),
    ("compare_subscript_contains", lambda book: setattr(book.paragraphs[2].runs[1].font, "subscript", False)),
    ("evaluate_strike_through_last_paragraph", lambda book: setattr(book.paragraphs[-1].runs[0].font, "strike", False)),
    ("check_italic_font_size_14", lambda book: setattr(book.paragraphs[1].runs[1].font, "size", Pt(12))),
    ("evaluate_colored_words_in_tables", lambda book: setattr(cell(book).font.color, "rgb", RGBColor(0, 0, 255))),
    ("check_tabstops", lambda book: book.paragraphs[0].paragraph_format.tab_stops.add_tab_stop(Pt(90))),
]  # fmt: skip
PICTURE = Path(__file__).with_name("picture.png")


@pytest.mark.parametrize(
    ("metric", "change"), GOLD, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_document_and_its_gold_file(
    tmp_path: Path, score, monkeypatch: pytest.MonkeyPatch, metric: str, change: Change
) -> None:
    picture = tmp_path / "picture.png"
    Image.new("RGB", (8, 8), "blue").save(picture)
    monkeypatch.setitem(globals(), "PICTURE", picture)
    gold = document(tmp_path / "gold.docx")
    assert score(metric, document(tmp_path / "same.docx"), gold) == 1
    assert score(metric, document(tmp_path / "wrong.docx", change), gold) == 0


def centre(book: Any) -> None:
    book.paragraphs[0].alignment = WD_ALIGN_PARAGRAPH.LEFT


def empty_footer(book: Any) -> None:
    book.sections[0].footer.paragraphs[0].text = ""


def another_break(book: Any) -> None:
    book.paragraphs[0].add_run().add_break(WD_BREAK.PAGE)


@pytest.mark.parametrize(
    ("metric", "rules", "change"),
    [
        ("is_first_line_centered", None, centre),
        ("has_page_numbers_in_footers", None, empty_footer),
        ("contains_page_break", {"page_break_count": 1}, another_break),
    ],
)
def test_one_property_of_a_document(tmp_path: Path, score, metric: str, rules: Any, change: Change) -> None:
    assert score(metric, document(tmp_path / "right.docx"), rules) == 1
    assert score(metric, document(tmp_path / "wrong.docx", change), rules) == 0


def test_options_of_documents(tmp_path: Path, score) -> None:
    def lines(name: str, *texts: str) -> Path:
        book = docx.Document()
        for text in texts:
            book.add_paragraph(text)
        book.save(tmp_path / name)
        return tmp_path / name

    gold = lines("gold.docx", "one", "two")
    assert (
        score(
            "compare_docx_files", lines("a.docx", "two", "", "ONE"), gold, ignore_case=True, ignore_order=True
        )
        == 1
    )
    assert score("compare_docx_files", lines("b.docx", "one", "", "two"), gold, ignore_blanks=False) == 0
    assert 0.5 < score("compare_docx_files", lines("c.docx", "one", "twice"), gold, content_only=True) < 1
    assert score("compare_font_names", gold, {"font_name": "Arial"}) == 0
    records = lines("records.docx", "a,T1,b,c", "a,T1,d,e", "a,T2,f,g")
    expected = [lines("want.docx", "a,T1,b,c", "a,T2,f,g"), records]
    assert score("compare_unique_train_records", lines("d.docx", "a,T1,d,e", "a,T2,f,g"), expected) == 1
    assert score("compare_unique_train_records", records, expected) == 0


def odt(path: Path, style: str) -> Path:
    content = f"""<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
      xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"
      xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"><style:style style:name="T1">
      <style:text-properties fo:background-color="#ffff00"/></style:style>
      <text:p>Call <text:span text:style-name="{style}">me</text:span></text:p></office:document-content>"""
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("content.xml", content)
    return path


def test_highlights_of_an_open_document(tmp_path: Path, score) -> None:
    gold = odt(tmp_path / "gold.odt", "T0")
    assert score("check_highlighted_words", odt(tmp_path / "right.odt", "T2"), gold) == 1
    assert score("check_highlighted_words", odt(tmp_path / "wrong.odt", "T1"), gold) == 0


# Presentations.


def slides(path: Path, change: Change = NOTHING) -> Path:
    presentation = pptx.Presentation()
    for text in ("One", "Two"):
        slide = presentation.slides.add_slide(presentation.slide_layouts[5])
        slide.shapes.title.text = text
        box = slide.shapes.add_textbox(Inches(1), Inches(2), Inches(3), Inches(1))
        run = box.text_frame.paragraphs[0].add_run()
        run.text, run.font.bold, run.font.size = f"Text of {text}", True, SlidePt(20)
    presentation.slides[0].notes_slide.notes_text_frame.text = "Say hello"
    presentation.slides[0].shapes.add_table(1, 2, Inches(1), Inches(4), Inches(3), Inches(1)).table.cell(
        0, 0
    ).text = "A"
    change(presentation)
    presentation.save(path)
    return path


def run_of(presentation: Any) -> Any:
    return presentation.slides[1].shapes[1].text_frame.paragraphs[0].runs[0]


def blue(presentation: Any) -> None:
    for slide in presentation.slides:
        slide.background.fill.solid()
        slide.background.fill.fore_color.rgb = SlideColour(0, 0, 255)


def portrait(presentation: Any) -> None:
    presentation.slide_width, presentation.slide_height = presentation.slide_height, presentation.slide_width


CHANGES: list[tuple[str, Change]] = [
    ("text", lambda one: setattr(run_of(one), "text", "Another")),
    ("font_bold", lambda one: setattr(run_of(one).font, "bold", False)),
    ("font_italic", lambda one: setattr(run_of(one).font, "italic", True)),
    ("font_size", lambda one: setattr(run_of(one).font, "size", SlidePt(30))),
    ("font_name", lambda one: setattr(run_of(one).font, "name", "Arial")),
    ("font_underline", lambda one: setattr(run_of(one).font, "underline", True)),
    ("strike_through", lambda one: run_of(one).font._element.set("strike", "sngStrike")),
    ("color_rgb", lambda one: setattr(run_of(one).font.color, "rgb", SlideColour(255, 0, 0))),
    ("shape", lambda one: setattr(one.slides[1].shapes[1], "left", Inches(2))),
    ("note", lambda one: setattr(one.slides[0].notes_slide.notes_text_frame, "text", "Bye")),
    ("background_color", blue),
    ("alignment", lambda one: setattr(one.slides[1].shapes[1].text_frame.paragraphs[0], "alignment", 2)),
    ("indent", lambda one: setattr(one.slides[1].shapes[1].text_frame.paragraphs[0], "level", 3)),
    ("", lambda one: one.slides[1].shapes.add_textbox(0, 0, 9, 9)),
    ("", lambda one: setattr(one.slides[0].shapes[2].table.cell(0, 1), "text", "B")),
]


@pytest.mark.parametrize(
    ("option", "change"), CHANGES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_slides_differ_unless_an_option_passes_over_it(
    tmp_path: Path, score, option: str, change: Change
) -> None:
    gold = slides(tmp_path / "gold.pptx")
    assert score("compare_pptx_files", slides(tmp_path / "same.pptx"), gold) == 1
    changed = slides(tmp_path / "changed.pptx", change)
    assert score("compare_pptx_files", changed, gold) == 0
    if option:
        assert score("compare_pptx_files", changed, gold, **{f"examine_{option}": False}) == 1


def test_one_property_of_slides(tmp_path: Path, score) -> None:
    plain = slides(tmp_path / "plain.pptx")
    assert score("check_slide_orientation_Portrait", slides(tmp_path / "tall.pptx", portrait)) == 1
    assert score("check_slide_orientation_Portrait", plain) == 0
    rules = {"rgb": [0, 0, 255], "original_rgb": [255, 255, 255]}
    assert (
        score("evaluate_presentation_fill_to_rgb_distance", slides(tmp_path / "blue.pptx", blue), rules) == 1
    )
    assert score("evaluate_presentation_fill_to_rgb_distance", plain, rules) == 0
    assert score("check_transition", plain, {"slide_idx": 0, "transition_type": "dissolve"}) == 0

    def dissolve(presentation: Any) -> None:
        from lxml import etree

        name = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
        transition = etree.SubElement(presentation.slides[0]._element, f"{name}transition")
        etree.SubElement(transition, f"{name}dissolve")

    changed = slides(tmp_path / "dissolve.pptx", dissolve)
    assert score("check_transition", changed, {"slide_idx": 0, "transition_type": "dissolve"}) == 1


def test_a_stretched_picture(tmp_path: Path, score) -> None:
    picture = tmp_path / "picture.png"
    Image.new("RGB", (40, 30), "red").save(picture)

    def with_picture(stretched: bool) -> Change:
        def change(presentation: Any) -> None:
            shown = presentation.slides[0].shapes.add_picture(str(picture), 0, 0, Inches(1), Inches(1))
            if stretched:
                shown.height = presentation.slide_height
                shown.left = (presentation.slide_width - shown.width) // 2

        return change

    gold = slides(tmp_path / "gold.pptx", with_picture(False))
    assert score("check_image_stretch_and_center", slides(tmp_path / "a.pptx", with_picture(True)), gold) == 1
    assert score("check_image_stretch_and_center", gold, gold) == 0


# Pictures.


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    """A picture with something in it."""
    across, down = np.meshgrid(np.arange(64), np.arange(48))
    pixels = np.stack([across * 3 + 40, down * 3 + 60, (across + down) + 50], axis=2).astype(np.uint8)
    pixels[10:20, 10:30] = (200, 40, 40)
    Image.fromarray(pixels).save(tmp_path / "scene.png")
    return tmp_path / "scene.png"


def changed(path: Path, name: str, change: Callable[[Any], Any]) -> Path:
    with Image.open(path) as picture:
        change(picture.convert("RGB")).save(path.with_name(name))
    return path.with_name(name)


def test_pictures(scene: Path, score) -> None:
    from PIL import ImageEnhance, ImageOps

    noise = scene.with_name("noise.png")
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (48, 64, 3), dtype=np.uint8)).save(noise)
    darker = changed(scene, "darker.png", lambda one: ImageEnhance.Brightness(one).enhance(0.6))
    contrast = changed(scene, "contrast.png", lambda one: ImageEnhance.Contrast(one).enhance(1.5))
    colourful = changed(scene, "colour.png", lambda one: ImageEnhance.Color(one).enhance(2))
    mirrored = changed(scene, "mirror.png", ImageOps.mirror)
    palette = changed(scene, "palette.png", lambda one: one.quantize(256))
    half = changed(scene, "half.png", lambda one: one.resize((32, 24)))
    assert score("compare_images", scene, scene) == pytest.approx(1)
    assert score("compare_images", noise, scene, reference_base_result=0.5) == 0
    assert score("compare_image_list", [scene, scene], [scene, scene]) == 1
    assert score("compare_image_list", [scene, None], [scene, scene]) == 0
    for metric, right, wrong in (
        ("check_structure_sim", scene, noise),
        ("check_structure_sim_with_threshold", scene, noise),
        ("check_file_exists_and_structure_sim", scene, noise),
        ("check_structure_sim_resized", half, noise),
        ("check_brightness_decrease_and_structure_sim", darker, scene),
        ("check_contrast_increase_and_structure_sim", contrast, darker),
        ("check_saturation_increase_and_structure_sim", colourful, scene),
        ("check_image_mirror", mirrored, scene),
        ("check_palette_and_structure_sim", palette, scene),
    ):
        assert score(metric, right, scene) == 1, metric
        assert score(metric, wrong, scene) == 0, metric
    assert score("check_image_size", half, {"height": 24}) == 1
    assert score("check_image_size", scene, {"height": 24}) == 0


def test_painted_pictures(tmp_path: Path, score) -> None:
    def paint(name: str, back: str, front: str, box: tuple[int, int, int, int]) -> Path:
        picture = Image.new("RGB", (100, 100), back)
        picture.paste(front, box)
        picture.save(tmp_path / name)
        return tmp_path / name

    white = paint("white.png", "white", "red", (40, 40, 60, 60))
    assert score("check_green_background", paint("green.png", "#00ff00", "red", (40, 40, 60, 60)), white) == 1
    assert score("check_green_background", white, white) == 0
    assert score("check_triangle_position", paint("mid.png", "white", "yellow", (40, 40, 60, 60))) == 1
    assert score("check_triangle_position", paint("low.png", "white", "yellow", (40, 70, 60, 90))) == 0
    assert score("check_textbox_on_leftside", paint("left.png", "white", "black", (1, 1, 30, 20))) == 1
    assert score("check_textbox_on_leftside", paint("right.png", "white", "black", (50, 1, 80, 20))) == 0


# PDFs, archives, settings.


def pdf(path: Path, pages: int, text: str = "hello") -> Path:
    import matplotlib.pyplot as plot
    from matplotlib.backends.backend_pdf import PdfPages

    with PdfPages(path) as book:
        for number in range(pages):
            figure = plot.figure()
            figure.text(0.1, 0.5, f"{text} {number}")
            book.savefig(figure)
            plot.close(figure)
    return path


def test_pdfs_and_archives(tmp_path: Path, score) -> None:
    one, other = pdf(tmp_path / "one.pdf", 1), pdf(tmp_path / "other.pdf", 2, "quite another text")
    assert score("compare_pdfs", one, one) == 1
    assert score("compare_pdfs", other, one) < 0.8
    assert score("compare_pdfs", [one, None], [one, one]) == 0.5
    assert score("check_pdf_pages", one, {"relation": "eq", "ref_value": 1}) == 1
    assert score("check_pdf_pages", other, {"relation": "eq", "ref_value": 1}) == 0

    def packed(name: str, **files: str) -> Path:
        with zipfile.ZipFile(tmp_path / name, "w") as package:
            for file, text in files.items():
                package.writestr(f"{file}.txt", text)
        return tmp_path / name

    gold = packed("gold.zip", a="1", b="2")
    assert score("compare_zip_files", packed("same.zip", b="2", a="1"), gold) == 1
    assert score("compare_zip_files", packed("wrong.zip", a="1", b="3"), gold) == 0
    assert score("compare_archive", packed("same2.zip", a="1", b="2"), gold) == 1
    assert score("compare_archive", packed("less.zip", a="1"), gold) == 0
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as package:
        package.writestr("../../escaped.txt", "x")
    assert score("compare_archive", tmp_path / "evil.zip", gold) == 0
    with tarfile.open(tmp_path / "pdf.tar.gz", "w:gz") as tar:
        tar.add(one, "one.pdf")
    assert score("compare_archive", tmp_path / "pdf.tar.gz", tmp_path / "pdf.tar.gz", file_type="pdf") == 1


def test_references(tmp_path: Path, score) -> None:
    def cites(name: str, *references: str) -> Path:
        book = docx.Document()
        for line in ("A text.", "References", *references):
            book.add_paragraph(line)
        book.save(str(tmp_path / name))
        return tmp_path / name

    gold = cites("gold.docx", "Ann (2020). First.", "", "Bob (2021). Second.")
    rate = lambda path, **options: score("compare_references", path, gold, **options)  # noqa: E731
    assert rate(cites("same.docx", "Ann (2020). First.", "Bob (2021). Second.")) == 1
    assert rate(cites("less.docx", "Ann (2020). First.")) == 0
    near = cites("near.docx", "Ann (2020). First", "Bob (2021). Secnd.")
    assert 0.8 < rate(near) < 1
    assert rate(near, reference_base_result=0.99) == 0
    plain = document(tmp_path / "plain.docx")
    assert rate(plain) == 0
    assert score("compare_references", plain, plain) == 1


def test_pictures_of_pdfs(tmp_path: Path, score) -> None:
    def printed(name: str, *seeds: int) -> Path:
        pages = [
            Image.fromarray(np.random.default_rng(seed).integers(0, 256, (60, 80, 3), dtype=np.uint8))
            for seed in seeds
        ]
        pages[0].save(tmp_path / name, save_all=True, append_images=pages[1:])
        return tmp_path / name

    gold = printed("gold.pdf", 1, 2)
    assert score("compare_pdf_images", printed("same.pdf", 1, 2), gold) == 1
    assert score("compare_pdf_images", printed("half.pdf", 1, 3), gold) == 0.5
    assert score("compare_pdf_images", printed("less.pdf", 1), gold) == 0


def test_colours_of_page_numbers(tmp_path: Path, score) -> None:
    from pptx.oxml import parse_xml

    def field(colour: str) -> Any:
        fill = f"<a:rPr><a:solidFill><a:srgbClr val='{colour}'/></a:solidFill></a:rPr>"
        name = "http://schemas.openxmlformats.org/drawingml/2006/main"
        return parse_xml(f"<a:fld xmlns:a='{name}' id='{{1}}' type='slidenum'>{fill}<a:t>1</a:t></a:fld>")

    def deck(name: str, master: str | None, *slides: str | None) -> Path:
        book = pptx.Presentation()
        for colour in slides:
            slide = book.slides.add_slide(book.slide_layouts[0])
            if colour:
                slide.shapes[0].text_frame.paragraphs[0]._p.append(field(colour))
        if master:
            book.slide_master.placeholders[0].text_frame.paragraphs[0]._p.append(field(master))
        book.save(str(tmp_path / name))
        return tmp_path / name

    red = {"color": "red"}
    assert score("check_page_number_colors", deck("master.pptx", "C00000", None, None), red) == 1
    assert score("check_page_number_colors", deck("own.pptx", None, "FF0000", "FF0000"), red) == 1
    assert score("check_page_number_colors", deck("one.pptx", None, "FF0000", None), red) == 0
    assert score("check_page_number_colors", deck("other.pptx", "C00000", "0000FF"), red) == 0
    assert score("check_page_number_colors", deck("none.pptx", None, None), red) == 0
    assert score("check_page_number_colors", tmp_path / "other.pptx", {"color": "blue"}) == 1
    with pytest.raises(TaskError, match="mauve"):
        score("check_page_number_colors", tmp_path / "own.pptx", {"color": "mauve"})


REGISTRY = """<oor:items xmlns:oor="http://openoffice.org/2001/registry"><item oor:path="{node}">
<prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item></oor:items>"""


@pytest.mark.parametrize(
    ("metric", "node", "name", "value", "rules"),
    [
        ("check_auto_saving_time", "/org.openoffice.Office.Recovery/AutoSave", "TimeIntervall", "3", {"minutes": 3}),
        ("check_presenter_console_disable", "/org.openoffice.Office.Impress/Misc/Start", "EnablePresenterScreen", "false", None),
        ("find_default_font", "/org.openoffice.Office.Writer/DefaultFont", "Standard", "Arial", {"font_name": "Arial"}),
    ],
)  # fmt: skip
def test_settings_of_the_office(
    tmp_path: Path, score, metric: str, node: str, name: str, value: str, rules: Any
) -> None:
    for given, wanted in ((value, 1), ("7", 0)):
        path = tmp_path / f"{given}.xcu"
        path.write_text(REGISTRY.format(node=node, name=name, value=given))
        assert score(metric, path, rules) == wanted
