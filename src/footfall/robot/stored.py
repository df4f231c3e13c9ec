"""Checks of robots stored in a recording: their XML may neither read other files nor ask for absurd memory.

Footfall writes such XML itself (``MjSpec.to_xml``): includes are resolved, replicas expanded, files kept by plain name
in ``assets``. Whatever is written otherwise was not written by Footfall.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping

from footfall.errors import RobotError

#: Elements that read other files or libraries, or replicate; MuJoCo resolves them when it writes XML.
RESOLVED = frozenset(("include", "model", "attach", "replicate", "composite", "flexcomp", "extension", "plugin"))
FOLDERS = ("meshdir", "texturedir", "assetdir")
#: The most entries of a height field or texture, and the most bytes or items of an attribute of <size>.
LARGEST_TABLE, LARGEST_SIZE = 2**25, 2**33
UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50, "E": 2**60}


def check_stored(mjcf: str, assets: Mapping[str, bytes]) -> None:
    """Raise a ``RobotError`` where stored XML reaches outside ``assets`` or asks for an absurd amount of memory."""
    if "<!DOCTYPE" in mjcf or "<!ENTITY" in mjcf:
        raise RobotError("its model has a document type, which Footfall does not write")
    try:
        root = ElementTree.fromstring(mjcf)
    except ElementTree.ParseError as error:
        raise RobotError(f"its model is not XML: {error}") from error
    for element in root.iter():
        _check(element, assets)


def _check(element: ElementTree.Element, assets: Mapping[str, bytes]) -> None:
    tag = element.tag
    if tag in RESOLVED:
        raise RobotError(f"its model has an element <{tag}>, which could read other files; Footfall does not write it")
    for name, value in element.attrib.items():
        if name.startswith("file") and value not in assets:
            raise RobotError(f"its model reads the file '{value}', which is not inside the recording")
        if name in FOLDERS and value.strip("./"):
            raise RobotError(f"its model reads files in the folder '{value}', which is not inside the recording")
    if tag == "size":
        for name, value in element.attrib.items():
            if _number(value) > LARGEST_SIZE:
                raise RobotError(f"its model asks for a {name} of {value}")
    for rows, columns in (("nrow", "ncol"), ("width", "height")):
        entries = _number(element.get(rows, "0")) * _number(element.get(columns, "0"))
        if tag in ("hfield", "texture") and not entries <= LARGEST_TABLE:
            raise RobotError(f"its model has a {tag} of {element.get(rows)} x {element.get(columns)} entries")


def _number(text: str) -> float:
    """The number in an attribute, with MuJoCo's units of memory; anything else is left to MuJoCo."""
    text = text.strip()
    unit = UNITS.get(text[-1:].upper(), 1)
    try:
        value = float(text if unit == 1 else text[:-1]) * unit
    except ValueError:
        return 0.0
    return math.inf if math.isnan(value) else value
