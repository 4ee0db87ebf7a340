"""Reading office files: ZIP archives with XML in them, from untrusted sources. Sizes are bounded at every step.

No document type declarations (so no entities that multiply), no more bytes out of an archive than a small
multiple of a sensible document.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from operant.tasks.criteria.question import NoEvidence, Refuted

__all__ = ["Package", "parse_xml"]

MAX_MEMBER = 32 << 20
MAX_MEMBERS = 10_000
MAX_PACKAGE = 64 << 20  # of all members together, for those that are read whole
XML_ENDINGS = (".xml", ".rels")
MAX_ELEMENTS = 500_000
MAX_DEPTH = 200


class Package:
    """The members of a ZIP archive."""

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise Refuted(f"{name} is not what its name says: {error}") from error
        if len(self._archive.namelist()) > MAX_MEMBERS:
            raise NoEvidence(f"{name} has too many parts")

    def screen(self) -> None:
        """Refuse what a library that reads whole packages should not be given: too much of it, or XML with entities."""
        left = MAX_PACKAGE
        for name in self._archive.namelist():
            if name.lower().endswith(XML_ENDINGS):
                self.xml(name)
            left -= len(self._bytes(name, left) or b"")

    def xml(self, member: str) -> Element:
        """A member as XML."""
        found = self.find_xml(member)
        if found is None:
            raise Refuted(f"{self.name} has no {member}")
        return found

    def find_xml(self, member: str) -> Element | None:
        data = self._bytes(member)
        return None if data is None else parse_xml(data, f"{self.name}: {member}")

    def _bytes(self, member: str, limit: int = MAX_MEMBER) -> bytes | None:
        try:
            with self._archive.open(member) as file:
                data = file.read(limit + 1)  # what the header says about its size is not believed
        except KeyError:
            return None
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            RuntimeError,
            NotImplementedError,
            OSError,
            ValueError,
        ) as error:
            raise Refuted(f"{self.name}: {member} can't be read: {error}") from error
        if len(data) > limit:
            raise NoEvidence(f"{self.name}: {member} is larger than what is looked at")
        return data


def parse_xml(data: bytes, name: str) -> Element:
    """The root element; tags are ``{namespace}name``."""
    builder = TreeBuilder()
    parser = expat.ParserCreate(namespace_separator="}")
    count = depth = 0

    def refuse(*_: object) -> None:
        raise NoEvidence(f"{name} declares a document type")

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count, depth
        count, depth = count + 1, depth + 1
        if count > MAX_ELEMENTS or depth > MAX_DEPTH:
            raise NoEvidence(f"{name} has more elements than what is looked at")
        builder.start(_braced(tag), {_braced(key): value for key, value in attributes.items()})

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(_braced(tag))

    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise Refuted(f"{name} is broken: {error}") from error
    return builder.close()


def _braced(tag: str) -> str:
    return "{" + tag if "}" in tag else tag
