"""Doctests: modules of libraries that are not installed are left out."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("torchmetrics") else ["edgecritic/torch.py"]
