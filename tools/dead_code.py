"""Report unused code in the paths given, by vulture, with the settings of pyproject.toml.

Vulture itself cannot be told that setting a field of somebody else's object (`spec.option.timestep = dt`) is
use enough, so attributes are left out here.
"""

import sys
import tomllib
from pathlib import Path

from vulture import Vulture

settings = tomllib.loads(Path("pyproject.toml").read_text())["tool"]["vulture"]
vulture = Vulture(ignore_names=settings["ignore_names"], ignore_decorators=settings["ignore_decorators"])
vulture.scavenge(sys.argv[1:])
unused = [item for item in vulture.get_unused_code(settings["min_confidence"]) if item.typ != "attribute"]
for item in unused:
    print(item.get_report())
sys.exit(bool(unused) or int(vulture.exit_code))
