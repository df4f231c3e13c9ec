"""Roles of docstrings (``:class:`footfall.Robot```) on the pages of the site: MkDocs would print them as they are."""

from __future__ import annotations

import re
from typing import Any

ROLE = re.compile(r":(?:attr|class|data|func|meth|mod):<code>(~?)([\w.]+)</code>")


def on_page_content(html: str, **_: Any) -> str:
    """MkDocs' hook: the name alone, of one that begins with ~ its last part."""
    return ROLE.sub(lambda role: f"<code>{role[2].rpartition('.')[2] if role[1] else role[2]}</code>", html)
