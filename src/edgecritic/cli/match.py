"""``edgecritic match``: compare one candidate map with one truth."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgecritic.cli._options import (
    add_binarize,
    add_json,
    add_resample,
    add_spacing,
    add_tiles,
    add_tolerance,
    read_spacing,
)

if TYPE_CHECKING:
    from edgecritic.inputs import BoolArray
    from edgecritic.matching import Matching
    from edgecritic.matching.tiled import TiledMatching

__all__ = ["add_parser", "run"]

_FILES = "picture, .npy, .npz, .mat, .seg, NIfTI, NRRD or MetaImage file"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to a parser."""
    parser = subparsers.add_parser(
        "match",
        help="count hits, false alarms and misses of one map",
        description="Find which edge pixels of a binary candidate correspond to which pixels of a truth.",
        epilog="Example: edgecritic match canny.png truth.mat --tolerance 4 --overlay matched.png",
    )
    parser.add_argument("candidate", metavar="CANDIDATE", help=f"binary map: {_FILES}")
    parser.add_argument("truth", metavar="TRUTH", help=f"binary map of the same size: {_FILES}")
    rule = parser.add_argument_group("algorithm")
    rule.add_argument(
        "-s",
        "--strategy",
        default="exact",
        metavar="ID",
        help="such as exact or 'eps(window=7)'; see edgecritic list strategies (default: %(default)s)",
    )
    add_tolerance(rule)
    add_spacing(rule)
    add_resample(rule)
    files = parser.add_argument_group("input")
    files.add_argument(
        "--annotator", type=int, metavar="N", help="which map of a truth file with several (default: 1)"
    )
    files.add_argument(
        "--candidate-annotator", type=int, metavar="N", help="the same for the candidate's file (default: 1)"
    )
    add_binarize(files, "maps")
    add_tiles(files)
    output = parser.add_argument_group("output")
    output.add_argument(
        "--overlay",
        type=Path,
        metavar="FILE.png",
        help="draw hits green, false alarms orange, misses blue",
    )
    output.add_argument("--image", metavar="FILE", help="a photo to show faintly below the overlay")
    add_json(output)
    output.add_argument(
        "--pairs",
        action="store_true",
        help="with --json: the matched pixels of candidate and truth as well, and their distances",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Match, print the counts, draw the overlay."""
    from edgecritic.datasets.geometry import find_grid
    from edgecritic.datasets.rasters import is_large
    from edgecritic.errors import InputError
    from edgecritic.geometry import judged_text
    from edgecritic.matching import match

    if args.pairs and not args.json:
        raise InputError("--pairs needs --json")
    if args.overlay is not None and args.overlay.suffix.lower() != ".png":
        raise InputError(f"--overlay must name a .png file, got {args.overlay}")
    if args.tiles or any(map(is_large, (args.candidate, args.truth))):
        return _run_in_tiles(args)
    candidate, _ = _read(args.candidate, args.candidate_annotator, args.binarize, "--candidate-annotator")
    truth, several = _read(args.truth, args.annotator, args.binarize, "--annotator")
    grid = find_grid(args.candidate, [args.truth], spacing=read_spacing(args.spacing), resample=args.resample)
    found = match(
        grid.bring(args.candidate, candidate),
        truth,
        strategy=args.strategy,
        tolerance=args.tolerance,
        relative_tolerance=args.relative_tolerance,
        spacing=grid.spacing,
    )
    notes = [f"truth: {several}"] if several else []
    notes += [judged_text(found.truth.shape, found.spacing), *grid.notes]
    if args.overlay is not None:
        notes.append(_draw(found, args.overlay, args.image))
    if args.json:
        from edgecritic.cli._output import print_json

        told = {"notes": list(grid.notes)} if grid.notes else {}
        figures = {"coherence": found.coherence, "jumps": found.jumps}
        print_json({**found.as_dict(), **figures, **told, **(_pairs(found) if args.pairs else {})})
    else:
        print(render(found))
        if found.coherence is not None and found.jumps is not None:
            print(
                f"offsets of neighbouring matched pixels differ by {found.coherence:.3f} on average, "
                f"{found.jumps:.1%} of them by more than two pixels"
            )
        for note in notes:
            print(note)
    return 0


def _run_in_tiles(args: argparse.Namespace) -> int:
    """Match maps that are read in bands of rows; what needs the whole maps is refused."""
    from edgecritic.cli._output import print_json
    from edgecritic.errors import InputError
    from edgecritic.geometry import judged_text
    from edgecritic.matching.tiled import match_pixels
    from edgecritic.run.rasters import read_pixels

    wrong = [
        f"--{name.replace('_', '-')}"
        for name in ("overlay", "image", "pairs", "annotator", "candidate_annotator")
        if getattr(args, name)
    ]
    if wrong:
        raise InputError("needs the whole maps, which are judged in tiles", remedy=f"leave {wrong[0]} out")
    given = read_pixels(
        args.candidate,
        [args.truth],
        binarize=args.binarize,
        spacing=read_spacing(args.spacing),
        resample=args.resample,
    )
    found = match_pixels(
        given.candidate,
        given.truths[0],
        given.shape,
        strategy=args.strategy,
        tolerance=args.tolerance,
        relative_tolerance=args.relative_tolerance,
        spacing=given.spacing,
    )
    if args.json:
        print_json({**found.as_dict(), **({"notes": list(given.notes)} if given.notes else {})})
        return 0
    print(render(found))
    told = judged_text(given.shape, found.spacing)
    for note in (f"{told}, in {found.tiles} tile(s), with the result of the whole", *given.notes):
        print(note)
    return 0


def render(found: Matching | TiledMatching) -> str:
    """Return the result as a small table."""
    from edgecritic.tables import cell_text, text_table

    unit = " px" if found.spacing is None else ""
    if found.tolerance is None:
        reach = "a window"
    else:
        share = found.tolerance / _diagonal(found) if unit else None
        reach = f"{found.tolerance:.4g}{unit}" + (f" ({share:.4g} of the diagonal)" if share else "")
    rows = [
        ["strategy", found.strategy],
        ["tolerance", reach],
        ["hits", str(found.tp)],
        ["false alarms", str(found.fp)],
        ["misses", str(found.fn)],
        ["precision", cell_text(found.precision)],
        ["recall", cell_text(found.recall)],
        ["F", cell_text(found.f())],
    ]
    if found.mean_distance is not None:
        rows.append(["mean distance", f"{found.mean_distance:.4f}{unit}"])
    return text_table(rows)


def _pairs(found: Matching) -> dict[str, Any]:
    """Return the matched pairs, each with its two places and their distance; none if there are no pairs."""
    if found.pairs is None or found.distances is None:
        return {"pairs": None}
    rows = zip(found.pairs.tolist(), found.distances.tolist(), strict=True)
    return {"pairs": [{"candidate": one, "truth": two, "distance": far} for (one, two), far in rows]}


def _read(path: str, wanted: int | None, binarize: float | None, option: str) -> tuple[BoolArray, str]:
    """Return the wanted map of a file and, if it holds several, a sentence that says so."""
    from edgecritic.datasets.files import read_truths
    from edgecritic.errors import InputError

    maps = read_truths(path, binarize=binarize)
    number = 1 if wanted is None else wanted
    if not 1 <= number <= len(maps):
        raise InputError(
            f"holds {len(maps)} map(s); {option} must lie in 1…{len(maps)}, got {number}", path=path
        )
    told = f"annotator {number} of {len(maps)} ({option} N chooses)" if len(maps) > 1 else ""
    return maps[number - 1], told


def _draw(found: Matching, path: Path, photo: str | None) -> str:
    """Write the overlay; of a volume the plane with most edge pixels."""
    from edgecritic.datasets.files import read_image
    from edgecritic.datasets.write import write_image

    picture = found.overlay(None if photo is None else read_image(photo))
    plane = ""
    if found.truth.ndim == 3:
        index = int((found.truth | found.candidate).sum(axis=(1, 2)).argmax())
        picture, plane = picture[index], f" (plane {index} of {found.truth.shape[0]})"
    write_image(path, picture / 255.0)
    return f"overlay: {path}{plane}"


def _diagonal(found: Matching | TiledMatching) -> float:
    from edgecritic.inputs import diagonal

    shape = found.shape
    return diagonal(shape, (1.0,) * len(shape))
