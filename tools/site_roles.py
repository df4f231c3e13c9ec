"""Roles of docstrings (``:class:`footfall.Robot```), links to the source and equations on the pages of the site.

MkDocs would print the first as they are, and refuse the second. Equations are written in TeX, in blocks of the language
``math`` that forges draw, too; here they become MathML, which browsers draw without a script or a request.
"""

from __future__ import annotations

import re
from typing import Any

from latex2mathml.converter import convert

ROLE = re.compile(r":(?:attr|class|data|func|meth|mod):<code>(~?)([\w.]+)</code>")


#: A link to a file of the source, which is beside the pages in the repository but no part of the site.
SOURCE = re.compile(r"\[(`[^`]+`)\]\(\.\./src/[^)]*\)")


#: An equation in TeX.
EQUATION = re.compile(r"^```math\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """MkDocs' hook: names of source files without their links, and equations as MathML."""
    return EQUATION.sub(lambda found: convert(found[1].strip(), display="block"), SOURCE.sub(r"\1", markdown))


def on_page_content(html: str, **_: Any) -> str:
    """MkDocs' hook: the name alone, of one that begins with ~ its last part."""
    return ROLE.sub(lambda role: f"<code>{role[2].rpartition('.')[2] if role[1] else role[2]}</code>", html)
