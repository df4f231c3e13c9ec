"""`footfall new`: a small working file to start from."""

from __future__ import annotations

import re
from keyword import iskeyword
from pathlib import Path
from typing import Literal

from footfall.cli.shared.output import tell, text_of
from footfall.cli.shared.usage import JsonOption, UsageError, argument

ENDINGS = {"controller": ".py", "law": ".py", "policy": ".toml", "study": ".toml"}
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


class New(JsonOption):
    """Write a small file that works as it is, to start from: a controller, a contact law, a study for sweep, or the
    contract of a learned policy.

    footfall new law rubber

    The file says how it is run.
    """

    what: Literal["controller", "law", "study", "policy"] = argument("controller|law|study|policy", "what to begin")
    name: str = argument("NAME", "what to call it, and the file: NAME.py or NAME.toml")

    def run(self) -> int:
        from footfall.files.atomic_write import write_text

        if not NAME.fullmatch(self.name) or iskeyword(self.name):
            raise UsageError(f"'{self.name}' is not a valid name: use a letter first, then letters, digits, - and _")
        function, ending = self.name.replace("-", "_"), ENDINGS[self.what]
        path = Path(function + ending)
        if path.exists():
            raise UsageError(f"'{path}' is there already: give another name")
        write_text(path, text_of(f"{self.what}{ending}.txt", name=self.name, function=function, file=path))
        run = f"footfall run ROBOT.xml --controller {function}.onnx --contract {path}"
        how = {"study": f"footfall sweep {path}", "policy": run}.get(self.what, f"python {path}")
        return tell(self.json, {"file": str(path), "run": how}, f"Wrote {path}. Run it: {how}")
