"""The versions of this package and of what a run is computed with."""

import platform

__version__ = "0.1.0"


def versions() -> dict[str, str]:
    """Versions of everything that a run is computed with."""
    import mujoco
    import numba
    import numpy

    own = {"footfall": __version__, "mujoco": mujoco.__version__, "numba": numba.__version__}
    return own | {"numpy": numpy.__version__, "python": platform.python_version()}
