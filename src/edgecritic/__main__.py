"""``python -m edgecritic`` is the command ``edgecritic``."""

from __future__ import annotations

from edgecritic.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
