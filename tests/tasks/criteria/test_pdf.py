"""The text of a PDF, which a program inside the desktop takes out."""

from __future__ import annotations

import pytest

from operant.errors import VerifierError
from operant.tasks.criteria import DocumentText

pytestmark = pytest.mark.x11

PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 100]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj
4 0 obj<</Length 37>>stream
BT /F 12 Tf 10 50 Td (Total 42) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R>>
"""


def test_the_text_of_a_pdf(desktop, ask):
    desktop.files.write("a.pdf", PDF)
    if not desktop.files.exists("/usr/bin/pdftotext"):
        with pytest.raises(VerifierError, match="pdftotext"):
            ask(DocumentText(path="a.pdf", contains="Total 42"))
        return
    assert ask(DocumentText(path="a.pdf", contains="Total 42"))
    assert not ask(DocumentText(path="a.pdf", contains="Total 43"))
    desktop.files.write("a.pdf", PDF[:60])
    assert not ask(DocumentText(path="a.pdf", contains="Total"))
