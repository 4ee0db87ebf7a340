"""Write the files that the example tasks download, and their gold files, into a cache in OSWorld's layout.

    python examples/osworld/make_assets.py [DIRECTORY]      (default: examples/osworld/cache)

Then: operant tasks check --suite osworld:examples/osworld --cache examples/osworld/cache
"""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def workbook(path: Path, gold: bool, task: str) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Sheet1"
    for row in (["Item", "Price", "Count"], ["Pen", 2, 10], ["Ink", 5, 3], ["Pad", 4, 6]):
        sheet.append(row)
    if gold and task == "calc-total":
        sheet["C5"] = 19
    if gold and task == "calc-rename-sheet":
        sheet.title = "Prices"
    if gold and task == "calc-freeze":
        sheet.freeze_panes = "A2"
    book.save(path)


def document(path: Path, gold: bool, task: str) -> None:
    import docx
    from docx.enum.text import WD_ALIGN_PARAGRAPH

    book = docx.Document()
    for text in ("A short letter", "Dear reader,", "this is all."):
        book.add_paragraph(text)
    if gold and task == "writer-append":
        book.add_paragraph("Goodbye.")
    if gold and task == "writer-centre":
        book.paragraphs[0].alignment = WD_ALIGN_PARAGRAPH.CENTER
    if gold and task == "writer-double-spacing":
        for paragraph in book.paragraphs:
            paragraph.paragraph_format.line_spacing = 2.0
    book.save(path)


def slides(path: Path, gold: bool, task: str) -> None:
    import pptx

    book = pptx.Presentation()
    for text in ("Plans", "Costs"):
        book.slides.add_slide(book.slide_layouts[5]).shapes.title.text = text
    if gold and task == "impress-title":
        book.slides[1].shapes.title.text = "Prices"
    if gold and task == "impress-notes":
        book.slides[0].notes_slide.notes_text_frame.text = "Begin slowly"
    if gold and task == "impress-portrait":
        book.slide_width, book.slide_height = book.slide_height, book.slide_width
    book.save(path)


def picture(path: Path, gold: bool, task: str) -> None:
    from PIL import Image, ImageEnhance, ImageOps

    shown = Image.linear_gradient("L").resize((160, 120)).convert("RGB")
    shown.paste((220, 60, 40), (20, 20, 60, 50))
    if gold and task == "gimp-resize":
        shown = shown.resize((80, 60))
    if gold and task == "gimp-darker":
        shown = ImageEnhance.Brightness(shown).enhance(0.5)
    if gold and task == "gimp-mirror":
        shown = ImageOps.mirror(shown)
    shown.save(path)


def text(path: Path, gold: bool, task: str) -> None:
    lines = ["one", "two", "three"]
    if gold and task == "editor-replace":
        lines[1] = "TWO"
    if gold and task == "editor-sort":
        lines.sort()
    path.write_text("\n".join(lines) + "\n")


WRITERS: dict[str, Callable[[Path, bool, str], None]] = {
    ".xlsx": workbook,
    ".docx": document,
    ".pptx": slides,
    ".png": picture,
    ".txt": text,
}


def main(target: Path) -> None:
    for file in sorted((HERE / "evaluation_examples" / "examples").glob("*/*.json")):
        task: dict[str, Any] = json.loads(file.read_text())
        place = target / task["id"]
        for step in task["config"]:
            if step["type"] == "download":
                for one in step["parameters"]["files"]:
                    name = f"{uuid.uuid5(uuid.NAMESPACE_URL, one['url'])}_{Path(one['path']).name}"
                    write(place / name, False, task["id"])
        given = task["evaluator"].get("expected") or []
        for expected in given if isinstance(given, list) else [given]:
            if expected["type"] == "cloud_file":
                # A gold file that is the picture before the change is named "original".
                write(place / expected["dest"], "original" not in expected["dest"], task["id"])


def write(path: Path, gold: bool, task: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    WRITERS[path.suffix](path, gold, task)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "cache")
