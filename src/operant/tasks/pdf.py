"""Small PDF documents, written by hand, for tasks of document viewers."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["pdf"]


def pdf(pages: Sequence[Sequence[str]]) -> str:
    """A small PDF: each page some lines of large text."""
    kids = " ".join(f"{4 + 2 * index} 0 R" for index in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for index, lines in enumerate(pages):
        drawn = " ".join(f"({line}) Tj T*" for line in lines)
        content = f"BT /F1 20 Tf 30 TL 50 520 Td {drawn} ET"
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 420 595] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * index} 0 R >>"
        )
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    return _file_of(objects)


def _file_of(objects: Sequence[str]) -> str:
    """The objects with the table that says where each begins."""
    text, places = "%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(text))
        text += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    return (
        f"{text}xref\n0 {size}\n0000000000 65535 f \n{table}"
        f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(text)}\n%%EOF\n"
    )
