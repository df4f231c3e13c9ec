"""Report unused code in the paths given, by vulture, with the settings of pyproject.toml.

Vulture itself cannot be told that setting a field of somebody else's object (`spec.option.timestep = dt`) is
use enough, so attributes are left out here, nor that a paper.toml names the functions of its experiments. Nor
does it remember: what was found to be clean is not read again until a file, the settings, vulture or this program
change.
"""

import fnmatch
import hashlib
import re
import sys
import tomllib
from pathlib import Path

from vulture import Vulture, __version__

CLEAN = Path("build") / "no-dead-code"

settings = tomllib.loads(Path("pyproject.toml").read_text())["tool"]["vulture"]
files = sorted(file for path in map(Path, sys.argv[1:]) for file in path.rglob("*.py"))
papers = [tomllib.loads(file.read_text()) for path in map(Path, sys.argv[1:]) for file in path.rglob("paper.toml")]
experiments = [one for paper in papers for one in paper["experiments"].values()]
digest = hashlib.sha256(repr((sys.argv[1:], sys.version, __version__, settings, experiments)).encode())
for file in [Path(__file__), *files]:
    digest.update(repr((str(file), file.read_bytes())).encode())
if CLEAN.exists() and CLEAN.read_text() == digest.hexdigest():
    sys.exit(0)
named = [f"{part}_{one['functions'].split('.')[1]}" for one in experiments for part in ("run", "judge", "draw")]
vulture = Vulture(ignore_decorators=settings["ignore_decorators"])
vulture.scavenge(sys.argv[1:])
# Names to ignore are looked for among what is unused: vulture would hold every definition against every one of them.
known = re.compile("|".join(map(fnmatch.translate, settings["ignore_names"] + named)))
unused = [
    item
    for item in vulture.get_unused_code(settings["min_confidence"])
    if item.typ != "attribute" and not known.match(item.name)
]
for item in unused:
    print(item.get_report())
if unused or vulture.exit_code:
    sys.exit(1)
CLEAN.parent.mkdir(exist_ok=True)
CLEAN.write_text(digest.hexdigest())
