"""``python -m edgecritic`` is the command ``edgecritic``."""

import sys

from edgecritic.cli.main import command

if __name__ == "__main__":
    sys.exit(command())
