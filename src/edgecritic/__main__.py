"""``python -m edgecritic`` is the command ``edgecritic``."""

import sys

from edgecritic.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
