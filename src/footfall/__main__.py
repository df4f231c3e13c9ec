"""``python -m footfall``: the command line."""

import sys

from footfall.cli import main

if __name__ == "__main__":
    sys.exit(main())
