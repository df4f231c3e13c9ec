"""The text of a URDF as a tree of elements, read as leniently as ROS and Drake read it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from xml.parsers import expat

from footfall.errors import RobotError

COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
DECLARATION = re.compile(r"^\s*<\?xml\b.*?\?>", re.DOTALL)
ENCODING = re.compile(rb"^[^>]*\bencoding\s*=\s*[\"']([A-Za-z0-9._-]+)")
FIRST_ELEMENT = re.compile(r"<([A-Za-z_][^\s/>]*)")


def root_name(path: Path) -> str:
    """The name of the root element of an XML file, empty where it has none."""
    found = FIRST_ELEMENT.search(_text(path))
    return found[1] if found else ""


def read_tree(path: Path) -> ElementTree.Element:
    """The root element of a URDF, with prefixes of other tools (``drake:``) as part of the names.

    Comments and the XML declaration are not checked, and a prefix need not be declared: other readers take such files.
    """
    builder = ElementTree.TreeBuilder()
    parser = expat.ParserCreate()
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(_text(path), True)
    except expat.ExpatError as error:
        raise RobotError(f"'{path}' is not well-formed XML: {error}") from error
    return builder.close()


def _text(path: Path) -> str:
    """The text of an XML file without comments and declaration, in as many lines."""
    content = path.read_bytes()
    named = ENCODING.match(content)
    for encoding in (named[1].decode() if named else "utf-8-sig", "utf-8-sig", "latin-1"):
        try:
            text = content.decode(encoding)
            break
        except (LookupError, UnicodeDecodeError):
            continue
    text = DECLARATION.sub("", text.removeprefix("\ufeff"))
    return COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
