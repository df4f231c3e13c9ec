"""What the pages of the site show beyond their Markdown.

Roles of docstrings (``:class:`footfall.Robot```), which MkDocs would print as they are; links to the source, which it
would refuse; equations, written in TeX in blocks of the language ``math`` that forges draw, too: here they become
MathML, which browsers draw without a script or a request; under the code of a guide what its notebook printed and drew;
and the claims of a paper, folded under how many there are of each verdict.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert

ROLE = re.compile(r":(?:attr|class|data|func|meth|mod):<code>(~?)([\w.]+)</code>")


#: A link to a file of the source, which is beside the pages in the repository but no part of the site.
SOURCE = re.compile(r"\[(`[^`]+`)\]\(\.\./src/[^)]*\)")


#: An equation in TeX.
EQUATION = re.compile(r"^```math\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


#: The claims of an experiment of a paper.
CLAIMS = re.compile(r"<table>(?:(?!</table>).)*<th>verdict</th>.*?</table>", flags=re.DOTALL)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """MkDocs' hook: names of source files without their links, equations as MathML, and the outputs of notebooks."""
    name = Path(page.file.src_uri)
    run = Path(__file__).parents[1] / "docs" / "notebooks" / f"{name.stem}.ipynb"
    if name.parent.name == "guides" and run.exists():
        for cell in json.loads(run.read_text(encoding="utf-8"))["cells"]:
            code = f"```python\n{cell['source']}\n```\n"
            markdown = markdown.replace(code, code + "".join(map(_output, cell.get("outputs", ()))))
    return EQUATION.sub(lambda found: convert(found[1].strip(), display="block"), SOURCE.sub(r"\1", markdown))


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if "image/png" in data:
        return f'\n<img alt="What this draws" src="data:image/png;base64,{data["image/png"]}">\n'
    return f"\n```text\n{output.get('text', data.get('text/plain', '')).rstrip()}\n```\n"


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """MkDocs' hook: names without their roles; in tables numbers in one piece, and commands by a class of their own."""
    html = re.sub(r"(?<=<td>)<code>(?=footfall )", '<code class="command">', html)
    html = re.sub(r"(?<=<td>)([\d.]+) (\S{1,4})(?=</td>)", r"\1&nbsp;\2", html)
    if page.file.src_uri.startswith("papers/"):
        html = CLAIMS.sub(lambda found: _folded(found[0]), html)
    return ROLE.sub(lambda role: f"<code>{role[2].rpartition('.')[2] if role[1] else role[2]}</code>", html)


def _folded(claims: str) -> str:
    verdicts = Counter(re.findall(r"<td><strong>([\w ]+)</strong>", claims))
    told = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
    return f"<details><summary>Claims, and what is measured: {told}</summary>{claims}</details>"
