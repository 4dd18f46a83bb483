"""The layouts of files and folders that are recognised, one line each."""

from __future__ import annotations

from types import MappingProxyType

__all__ = ["LAYOUTS"]

LAYOUTS = MappingProxyType(
    {
        "synthetic": "generated scenes with several simulated annotators, seeded, no download",
        "bsds": "BSDS500 or BSDS300 folder: groundTruth/SPLIT/NAME.mat or NAME.seg, images/SPLIT/NAME.jpg",
        "folder": "one file per image with equal names: picture, .npy, .npz, .mat, .seg, .nii, .nii.gz",
        "folders": "one folder per image with one file per annotator: NAME/1.png, NAME/2.png, …",
        "numbered": "annotators by number in one folder: NAME.1.png … NAME.6.png",
        "list": "pair list: .lst or .txt with image and truth per line, or .json",
    }
)
"""Name and description of every layout."""
