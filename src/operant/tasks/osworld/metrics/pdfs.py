"""PDFs and archives of files."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from operant.errors import TaskError
from operant.tasks.criteria.question import Refuted
from operant.tasks.osworld.cache import as_list
from operant.tasks.osworld.metrics import documents, images, slides, tables, text
from operant.tasks.osworld.metrics.rules import ORDERS

__all__ = ["METRICS", "compare_pdfs"]

MAX_UNPACKED = 1 << 30
Options = Mapping[str, Any]


def _reader(path: Path) -> Any:
    import pypdf

    return pypdf.PdfReader(str(path))


def _words(path: Path) -> str:
    return "".join(page.extract_text() for page in _reader(path).pages).strip()


def compare_pdfs(result: Any, expected: Any, options: Options) -> float:
    """How similar the texts are, on average over several files."""
    from rapidfuzz import fuzz

    found, wanted = as_list(result), as_list(expected)
    scores = [
        0.0 if one is None or other is None else fuzz.ratio(_words(one), _words(other)) / 100
        for one, other in zip(found, wanted, strict=True)
    ]
    return sum(scores) / len(scores)


def _pages(result: Path, rules: Options, options: Options) -> float:
    count = len(_reader(result).pages)
    if rules["relation"] not in ORDERS:
        raise TaskError(f"{rules['relation']!r} is not a way to compare numbers")
    if not ORDERS[rules["relation"]](count, rules["ref_value"]):
        raise Refuted(f"it has {count} pages")
    return 1.0


def _pictures(result: Path, expected: Path, options: Options) -> float:
    """The share of pictures that look the same, in the order of the pages."""
    found, wanted = (_grey_pictures(path) for path in (result, expected))
    if len(found) != len(wanted):
        raise Refuted(f"it has {len(found)} pictures instead of {len(wanted)}")
    alike = [images.look_alike(one, other) for one, other in zip(found, wanted, strict=True)]
    return sum(alike) / len(alike) if alike else 1.0


def _grey_pictures(path: Path) -> list[Any]:
    return [images.grey(one.image) for page in _reader(path).pages for one in page.images if one.image]


def _same_zip(result: Path, expected: Path, options: Options) -> float:
    """The same names, and the same bytes; PDFs may differ in all but their text."""
    with _Unpacked(result) as found, _Unpacked(expected) as wanted:
        if found.names != wanted.names:
            raise Refuted("there are other files in it")
        for name in found.names:
            one, other = found.place / name, wanted.place / name
            if name.lower().endswith(".pdf"):
                same = compare_pdfs(one, other, {}) >= 0.95
            else:
                same = one.read_bytes() == other.read_bytes()
            if not same:
                raise Refuted(f"{name} differs")
    return 1.0


def _archive(result: Path, expected: Path, options: Options) -> float:
    """The same names, and files that are alike by the metric of their kind."""
    kind = options.get("file_type", "text")
    if kind not in COMPARE:
        raise TaskError(f"{kind!r} is not a kind of files")
    rest = {name: value for name, value in options.items() if name not in ("file_type", "file_path")}
    below = str(options.get("file_path", "")).strip("/")
    with _Unpacked(result) as found, _Unpacked(expected) as wanted:
        names = [[name for name in one.names if name.startswith(below)] for one in (found, wanted)]
        if names[0] != names[1]:
            raise Refuted("there are other files in it")
        scores = [COMPARE[kind](found.place / name, wanted.place / name, rest) for name in names[0]]
    return sum(scores) / len(scores) if scores else 0.0


COMPARE: dict[str, Callable[[Any, Any, Options], float]] = {
    "text": text.METRICS["compare_text_file"],
    "csv": text.METRICS["compare_csv"],
    "pdf": compare_pdfs,
    "docx": documents.compare_docx,
    "ppt": slides.compare_pptx,
    "image": images.compare_images,
    "table": tables.compare_table,
}


class _Unpacked:
    """The files of an archive in a directory of their own; links and paths that lead out of it are refused."""

    def __init__(self, archive: Path) -> None:
        self.archive = archive
        self.names: list[str] = []

    def __enter__(self) -> _Unpacked:
        self._directory = tempfile.TemporaryDirectory(prefix="operant-archive-")
        self.place = Path(self._directory.name)
        try:
            self._unpack()
        except BaseException:
            self._directory.cleanup()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._directory.cleanup()

    def _unpack(self) -> None:
        import tarfile

        if zipfile.is_zipfile(self.archive):
            with zipfile.ZipFile(self.archive) as package:
                files = [
                    (one.filename, one.file_size, package.read)
                    for one in package.infolist()
                    if not one.is_dir()
                ]
                self._check(files)
                for name, _, read in files:
                    self._keep(name, read(name))
            return
        with tarfile.open(self.archive) as tar:
            members = [one for one in tar.getmembers() if one.isfile()]
            self._check([(one.name, one.size, None) for one in members])
            for member in members:
                stream = tar.extractfile(member)
                self._keep(member.name, b"" if stream is None else stream.read())

    def _check(self, files: list[tuple[str, int, Any]]) -> None:
        if sum(size for _, size, _ in files) > MAX_UNPACKED:
            raise Refuted(f"{self.archive.name} is too large")

    def _keep(self, name: str, data: bytes) -> None:
        plain = Path(name)
        if plain.is_absolute() or ".." in plain.parts:
            raise Refuted(f"{name!r} leads out of {self.archive.name}")
        path = self.place / plain
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        self.names = sorted([*self.names, str(plain)])


METRICS: dict[str, Callable[[Any, Any, Options], float]] = {
    "compare_pdfs": compare_pdfs,
    "compare_pdf_images": _pictures,
    "check_pdf_pages": _pages,
    "compare_archive": _archive,
    "compare_zip_files": _same_zip,
}
