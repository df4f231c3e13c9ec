"""The README as the package index shows it: links and pictures of the repository get their address on the forge."""

from __future__ import annotations

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

#: The target of a link or of a picture, in a file of this repository.
TARGET = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)\s]+)\)")


class IndexReadme(MetadataHookInterface):
    """Sets ``readme``, which pyproject.toml leaves to this file."""

    def update(self, metadata: dict[str, object]) -> None:
        source = metadata["urls"]["Source"]  # type: ignore[index]
        raw = source.replace("github.com", "raw.githubusercontent.com") + "/main/"

        def absolute(found: re.Match[str]) -> str:
            picture, text, target = found.groups()
            return f"{picture}[{text}]({raw if picture else source + '/blob/main/'}{target})"

        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": TARGET.sub(absolute, text)}
