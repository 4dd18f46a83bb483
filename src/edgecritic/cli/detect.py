"""``edgecritic detect``: run a detector on images and write maps that a benchmark reads."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgecritic.cli._options import add_json, add_out

if TYPE_CHECKING:
    from edgecritic.detectors import Detection

__all__ = ["add_parser", "run"]


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to a parser."""
    parser = subparsers.add_parser(
        "detect",
        help="run an edge detector on images and write its maps",
        description="Run a detector and write one map per image, called like the image. Images that cannot "
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
        "rules of its edge(); 'auto' chooses T by the image",
    )
    form = parser.add_argument_group("output")
    form.add_argument("--format", choices=("png", "npy"), help="default png, npy for volumes")
    form.add_argument("--bits", type=int, choices=(8, 16), default=8, help="depth of .png files")
    add_json(form)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the maps; return 0 if every image was used, else 1."""
    from edgecritic.cli._images import list_images
    from edgecritic.cli._output import complain, print_json
    from edgecritic.detectors.base import bind
    from edgecritic.errors import EdgeCriticError, OutputError
    from edgecritic.tables import text_table

    style = {"style": args.style} if args.style else {}
    bound = bind(args.detector, **style)
    level = _level(args.threshold)
    rows: list[dict[str, Any]] = []
    failures: list[dict[str, str]] = []
    for file in list_images(args.images):
        try:
            rows.append(_one(file, bound.id, level, args))
        except OutputError:
            raise  # no other image would fare better
        except EdgeCriticError as error:
            text = str(error) if str(file) in str(error) else f"{file}: {error}"
            failures.append({"image": str(file), "message": text})
    if args.json:
        document = {"detector": str(bound), "images": rows, "failures": failures}
        print_json(document)
    elif rows:
        shown = [[Path(row["image"]).name, str(row["pixels"]), f"{row['maximum']:.5g}"] for row in rows]
        print(bound)
        print(text_table(shown, ["image", "edge pixels", "maximum"], align="lr"))
    for failure in failures:
        complain(failure["message"])
    return 1 if failures else 0


def _one(file: Path, detector: Any, level: float | str | None, args: argparse.Namespace) -> dict[str, Any]:
    import numpy as np

    from edgecritic.cli._images import load_image
    from edgecritic.datasets.names import split_name
    from edgecritic.datasets.write import write_map
    from edgecritic.detectors.base import detect

    image, kind = load_image(file, grey=args.grey)
    found = detect(detector, image, kind=kind)
    edges = _chosen(found, image, level, args)
    ending = args.format or ("npy" if kind == "volume" else "png")
    target = Path(args.out) / f"{split_name(file.name)[0]}.{ending}"
    write_map(target, edges, bits=args.bits)
    pixels = int(np.count_nonzero(found.thin if level is None else edges))
    return {"image": str(file), "map": str(target), "pixels": pixels, "maximum": found.maximum}


def _chosen(found: Detection, image: Any, level: float | str | None, args: argparse.Namespace) -> Any:
    from typing import cast

    from edgecritic.detectors.matlab import edge_matlab
    from edgecritic.ids import Id

    if level is None:
        return found.thin if args.thin else found.strength
    parsed = Id.parse(found.detector)
    if parsed.options.get("style") == "matlab":
        sigma = cast("float | None", parsed.options.get("sigma"))
        method = cast("Any", parsed.name)
        return edge_matlab(image, method, None if isinstance(level, str) else level, sigma=sigma).edges
    return found.hysteresis() if isinstance(level, str) else found.binary(level)


def _level(text: str | None) -> float | str | None:
    from edgecritic.errors import InputError

    if text is None or text == "auto":
        return text
    try:
        level = float(text)
    except ValueError as error:
        raise InputError(f"--threshold must be a number or 'auto', got {text!r}") from error
    if not 0 <= level <= 1:
        raise InputError(f"--threshold is a share of the strongest edge, from 0 to 1, got {text}")
    return level
