"""``edgecritic tune``: choose thresholds and detectors by measures, for an image or a data set."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from edgecritic.protocols.tuning import Tuning

__all__ = ["add_parser", "run"]

_FAVOURITES = ("sk", "psi", "fom", "f", "baddeley", "complexity")


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to a parser."""
    parser = subparsers.add_parser(
        "tune",
        help="find the best threshold of detectors by measures",
        description="Sweep the threshold of detectors over one image or many and let measures choose: "
        "supervised with --truth, without it by the statistical complexity of the edge map.",
    )
    parser.add_argument("images", nargs="+", help="image files, volumes, or folders of them")
    parser.add_argument("--truth", help="truth file of one image, or folder of truths called like the images")
    what = parser.add_argument_group("algorithm")
    what.add_argument("-d", "--detectors", nargs="+", metavar="ID", help="ids of detectors")
    what.add_argument("-m", "--measures", nargs="+", metavar="ID", help="ids of measures")
    what.add_argument(
        "--thresholds",
        default="101",
        metavar="N",
        help="how many from 0 to 1, or 'matlab' for the grids of the complexity paper",
    )
    what.add_argument("--gray", action="store_true", help="use the luminance of colour images")
    work = parser.add_argument_group("work")
    work.add_argument("-j", "--jobs", type=int, default=1, metavar="N", help="images at a time (1)")
    work.add_argument("--cluster", metavar="tcp://HOST:PORT", help="run on the workers of a Dask scheduler")
    form = parser.add_argument_group("output")
    form.add_argument("-o", "--out", help="folder for figures, tables and the best maps")
    form.add_argument("--json", action="store_true", help="print one JSON document")
    form.add_argument("-q", "--quiet", action="store_true", help="no progress bar")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the table; return 0 if every image was used, else 1."""
    import json
    import sys

    from edgecritic.detectors.base import bind
    from edgecritic.measures.scoring import choose
    from edgecritic.protocols.tuning_summary import summarise_tunings

    args.thresholds = _thresholds(args.thresholds)
    for detector in args.detectors or ():
        bind(detector)
    choose(args.measures, ())
    cases = _cases(args)
    found: dict[str, Tuning] = {}
    failures: dict[str, str] = {}
    for name, result in _all(cases, args):
        if isinstance(result, str):
            failures[name] = result
        else:
            found[name] = result
    found = {name: found[name] for name in cases if name in found}
    failures = {name: failures[name] for name in cases if name in failures}
    summary = summarise_tunings(found) if found else None
    if args.json:
        images = {name: each.as_dict() for name, each in found.items()}
        print(json.dumps({"images": images, "failures": failures}, indent=2, ensure_ascii=False))
    elif summary is not None:
        print(next(iter(found.values())) if len(found) == 1 else summary)
    if args.out and summary is not None:
        _save_all(Path(args.out), summary)
    for message in failures.values():
        print(f"error: {message}", file=sys.stderr)
    return 1 if failures else 0


def _cases(args: argparse.Namespace) -> dict[str, tuple[Path, tuple[Path, ...]]]:
    from edgecritic.cli.detect import list_images
    from edgecritic.datasets.folder import list_truths
    from edgecritic.datasets.names import split_name
    from edgecritic.errors import InputError

    files = {split_name(file.name)[0]: file for file in list_images(args.images)}
    if args.truth is None:
        return {name: (file, ()) for name, file in files.items()}
    truth = Path(args.truth)
    if not truth.is_dir():
        if len(files) != 1:
            raise InputError(f"--truth {truth} is one file for {len(files)} images; give a folder of truths")
        return {name: (file, (truth,)) for name, file in files.items()}
    known = list_truths(truth, list(files)).files
    missing = [name for name in files if name not in known]
    if missing:
        raise InputError(f"{truth}: holds no truth for {', '.join(missing[:5])}; names must be the same")
    return {name: (file, known[name]) for name, file in files.items()}


def _all(
    cases: dict[str, tuple[Path, tuple[Path, ...]]], args: argparse.Namespace
) -> Iterator[tuple[str, Tuning | str]]:
    """Tune every image and save its files; what failed is said in words."""
    from contextlib import nullcontext

    from edgecritic.cli._output import progress
    from edgecritic.errors import EdgeCriticError
    from edgecritic.run.executor import run_tasks

    work = [
        (name, path.absolute(), tuple(truth.absolute() for truth in truths), args)
        for name, (path, truths) in cases.items()
    ]
    with nullcontext() if args.quiet or args.json else progress("tuning", unit="image") as step:
        for name, found in run_tasks(_try, work, jobs=args.jobs, cluster=args.cluster, progress=step):
            if isinstance(found, str):
                path = cases[name][0]
                yield name, found if str(path) in found else f"{path}: {found}"
                continue
            image, result = found
            try:
                if args.out:
                    _save_one(Path(args.out), name, image, result)
            except EdgeCriticError as error:
                yield name, f"{cases[name][0]}: {error}"
                continue
            yield name, result


def _try(task: tuple[str, Path, tuple[Path, ...], argparse.Namespace]) -> tuple[str, Any]:
    from edgecritic.errors import EdgeCriticError

    name, path, truths, args = task
    try:
        return name, _one(name, path, truths, args)
    except EdgeCriticError as error:
        return name, str(error)


def _one(name: str, path: Path, truths: tuple[Path, ...], args: argparse.Namespace) -> tuple[Any, Tuning]:
    from edgecritic.cli.detect import load_image
    from edgecritic.datasets.files import read_truths
    from edgecritic.protocols.tuning import tune

    image, kind = load_image(path, gray=args.gray)
    maps = [found for file in truths for found in read_truths(file)] or None
    result = tune(
        image,
        maps,
        detectors=args.detectors,
        measures=args.measures,
        thresholds=args.thresholds,
        kind=kind,
        name=name,
    )
    return image, result


def _save_one(out: Path, name: str, image: Any, found: Tuning) -> None:
    import json

    from edgecritic.datasets.write import write_map
    from edgecritic.report.tuning import draw_curves, draw_montage, draw_rates

    folder = out / name
    folder.mkdir(parents=True, exist_ok=True)
    shown = [measure for measure in _FAVOURITES if measure in found.measures] or list(found.measures[:6])
    draw_curves(found, folder / "curves.png")
    if found.truths:
        draw_rates(found, folder / "rates.png")
    flat = found.best_map(found.detectors[0], shown[0]).ndim == 2
    if flat:
        draw_montage(found, image, folder / "montage.png", measures=shown)
    for measure in shown:
        for detector in found.detectors:
            target = folder / "best" / measure / f"{detector}.{'png' if flat else 'npy'}"
            write_map(target, found.best_map(detector, measure))
    (folder / "tuning.json").write_text(json.dumps(found.as_dict(), indent=2), encoding="utf-8")


def _save_all(out: Path, summary: Any) -> None:
    import csv

    from edgecritic.report.tuning import draw_boxes

    rows = summary.rows()
    with (out / "table.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    if len(summary.images) > 1:
        draw_boxes(summary, out / "boxes.png")


def _thresholds(text: str) -> Any:
    from edgecritic.errors import InputError

    if text == "matlab":
        return text
    if not text.isdigit():
        raise InputError(f"--thresholds must be a whole number or 'matlab', got {text!r}")
    return int(text)
