"""``edgecritic detect``: run a detector on images and write maps that a benchmark reads."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Literal, cast

from edgecritic.cli._options import add_jobs, add_json, add_out, add_quiet, add_seen

__all__ = ["add_parser", "run"]


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to a parser."""
    parser = subparsers.add_parser(
        "detect",
        help="run an edge detector on images and write its maps",
        description="Run a detector and write one map per image, called like the image. Voxel sizes "
        "that files tell are used where the detector can, else the command says so. Images that cannot "
        "be used are reported, the others are finished, and the command exits with 1.",
    )
    parser.add_argument("detector", help="id such as canny or 'anisotropic(sigma_v=7, step=10)'")
    parser.add_argument("images", nargs="+", help="image files, volumes, or folders of them")
    add_out(parser, "the maps", required=True)
    what = parser.add_argument_group("algorithm")
    what.add_argument("--thin", action="store_true", help="write crests only (non-maximum suppression)")
    what.add_argument("--style", choices=("native", "matlab"), help="scaling and thinning rules")
    what.add_argument("--grey", action="store_true", help="use the luminance of colour images")
    what.add_argument(
        "--threshold",
        metavar="T",
        help="write binary maps: crests of at least T of the strongest (0 to 1), with --style matlab the "
        "rules of its edge(); 'auto' takes hysteresis with thresholds by the image, 'rosin' and 'otsu' one",
    )
    add_seen(what)
    form = parser.add_argument_group("output")
    form.add_argument(
        "--format",
        choices=("png", "npy", "nii", "nii.gz"),
        help="default png, npy for volumes, nii.gz for those that know where their voxels lie",
    )
    form.add_argument("--bits", type=int, choices=(8, 16), default=8, help="depth of .png files")
    add_json(form)
    add_quiet(form)
    add_jobs(parser.add_argument_group("work"))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the maps; return 0 if every image was used, else 1."""
    from edgecritic.cli._output import print_json, progress, tell_failures
    from edgecritic.run.detect import detect_folder
    from edgecritic.tables import text_table

    with progress("detecting", unit="image", quiet=args.quiet) as step:
        found = detect_folder(
            args.images,
            args.detector,
            args.out,
            style=args.style,
            thin=args.thin,
            threshold=_level(args.threshold),
            grey=args.grey,
            ending=args.format,
            bits=args.bits,
            seen=args.seen,
            jobs=args.jobs,
            progress=step,
        )
    if args.json:
        print_json(found.as_dict())
    elif found.images:
        shown = [[Path(one.image).name, str(one.pixels), f"{one.maximum:.5g}"] for one in found.images]
        print(found.detector)
        print(text_table(shown, ["image", "edge pixels", "maximum"], align="lr"))
        for note in dict.fromkeys(
            f"{Path(one.image).name}: {text}" for one in found.images for text in one.notes
        ):
            print(note)
    return tell_failures(found.failures)


def _level(text: str | None) -> float | Literal["auto", "rosin", "otsu"] | None:
    from edgecritic.errors import InputError

    if text is None:
        return None
    if text in ("auto", "rosin", "otsu"):
        return cast("Literal['auto', 'rosin', 'otsu']", text)
    try:
        level = float(text)
    except ValueError as error:
        raise InputError(
            f"--threshold must be a number, or 'auto', 'rosin' or 'otsu', got {text!r}"
        ) from error
    if not 0 <= level <= 1:
        raise InputError(f"--threshold is a share of the strongest edge, from 0 to 1, got {text}")
    return level
