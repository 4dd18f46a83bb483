"""``edgecritic tune``: choose thresholds and detectors by measures, for an image or a data set."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgecritic.cli._options import add_cluster, add_ids, add_jobs, add_json, add_out

if TYPE_CHECKING:
    from edgecritic.tuning.result import Tuning

__all__ = ["add_parser", "run"]


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
    add_ids(
        what,
        "-d",
        "--detectors",
        text="ids of detectors, or folders of saved maps (default: six classical ones)",
    )
    add_ids(what, "-m", "--measures", text="ids such as 'baddeley(k=1)' (default: all)")
    what.add_argument(
        "--thresholds",
        default="101",
        metavar="N|LIST",
        help="how many from 0 to 1 (default: 101), which ones (0.1,0.2,0.4), or 'matlab' for the grids of "
        "the complexity paper",
    )
    what.add_argument(
        "-s", "--strategy", metavar="ID", help="draw ROC and precision-recall curves under this strategy too"
    )
    what.add_argument("--grey", action="store_true", help="use the luminance of colour images")
    work = parser.add_argument_group("work")
    add_jobs(work)
    add_cluster(work)
    form = parser.add_argument_group("output")
    add_out(form, "figures, tables and the best maps")
    add_json(form)
    form.add_argument("-q", "--quiet", action="store_true", help="no progress bar")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the table; return 0 if every image was used, else 1."""
    from edgecritic.cli._output import complain, print_json
    from edgecritic.cli._wide import terminal_width
    from edgecritic.measures.scoring import choose
    from edgecritic.tuning.summary import summarise_tunings

    args.thresholds = _thresholds(args.thresholds)
    args.detectors = _detectors(args.detectors)
    args.measures = _measures(args)
    choose(args.measures, ())
    found, failures = _tune_all(_cases(args), args)
    summary = summarise_tunings(found) if found else None
    if args.out and summary is not None:
        from edgecritic.report.tuning import write_summary

        write_summary(Path(args.out), summary)
    if args.json:
        images = {name: each.as_dict() for name, each in found.items()}
        print_json({"images": images, "failures": failures})
    elif summary is not None:
        print((next(iter(found.values())) if len(found) == 1 else summary).table(terminal_width()))
        if args.out:
            print(f"\nTables, figures and the best maps: {args.out}")
    for message in failures.values():
        complain(message)
    return 1 if failures else 0


def _tune_all(
    cases: dict[str, tuple[Path, tuple[Path, ...]]], args: argparse.Namespace
) -> tuple[dict[str, Tuning], dict[str, str]]:
    """Tune all images, some at a time, and save their files; return results and messages by name."""
    from contextlib import nullcontext

    from edgecritic.cli._output import progress
    from edgecritic.errors import EdgeCriticError, OutputError
    from edgecritic.report.tuning import write_tuning
    from edgecritic.run.executor import run_tasks

    work = [
        (name, path.absolute(), tuple(truth.absolute() for truth in truths), args)
        for name, (path, truths) in cases.items()
    ]
    results: dict[str, Tuning] = {}
    messages: dict[str, str] = {}
    hidden = nullcontext(None) if args.quiet or args.json else progress("tuning", unit="image")
    with hidden as step:
        for name, found in run_tasks(_try, work, jobs=args.jobs, cluster=args.cluster, progress=step):
            try:
                if isinstance(found, EdgeCriticError):
                    raise found
                image, result = found
                if args.out:
                    write_tuning(Path(args.out) / name, result, image, matching=args.strategy)
                results[name] = result.without_maps()
            except OutputError:
                raise  # no other image would fare better
            except EdgeCriticError as error:
                messages[name] = str(error.at(cases[name][0]))
    return (
        {name: results[name] for name in cases if name in results},
        {name: messages[name] for name in cases if name in messages},
    )


def _try(task: tuple[str, Path, tuple[Path, ...], argparse.Namespace]) -> tuple[str, Any]:
    """Return the name with image and tuning, or with what went wrong."""
    from edgecritic.errors import EdgeCriticError

    name, path, truths, args = task
    try:
        return name, _one(name, path, truths, args)
    except EdgeCriticError as error:
        return name, error


def _detectors(given: list[str] | None) -> list[Any] | None:
    """Return ids as they are, folders of saved maps as detectors."""
    from edgecritic.detectors.base import bind
    from edgecritic.detectors.external import FolderDetector

    if given is None:
        return None
    chosen: list[Any] = [FolderDetector(name) if Path(name).is_dir() else name for name in given]
    for each in chosen:
        if isinstance(each, str):
            bind(each)
    return chosen


def _measures(args: argparse.Namespace) -> list[str] | None:
    """Return the chosen measures, with those that the curves under a matching strategy need."""
    if args.strategy is None:
        return list(args.measures) if args.measures else None
    from edgecritic.errors import InputError
    from edgecritic.matching import match
    from edgecritic.measures.scoring import default_measures
    from edgecritic.tuning.result import matched_measures

    if args.truth is None:
        raise InputError("--strategy needs --truth")
    match([[True]], [[True]], strategy=args.strategy)
    return [*(args.measures or default_measures(starred=True)), *matched_measures(args.strategy)]


def _cases(args: argparse.Namespace) -> dict[str, tuple[Path, tuple[Path, ...]]]:
    from edgecritic.cli._images import list_images
    from edgecritic.datasets.layouts import find_truths
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
    known = find_truths(truth, list(files)).files
    missing = [name for name in files if name not in known]
    if missing:
        raise InputError(f"{truth}: holds no truth for {', '.join(missing[:5])}; names must be the same")
    return {name: (file, known[name]) for name, file in files.items()}


def _one(name: str, path: Path, truths: tuple[Path, ...], args: argparse.Namespace) -> tuple[Any, Tuning]:
    from edgecritic.cli._images import load_image
    from edgecritic.datasets.files import read_truths
    from edgecritic.tuning.tune import tune

    image, kind = load_image(path, grey=args.grey)
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


def _thresholds(text: str) -> Any:
    from edgecritic.errors import InputError

    if text == "matlab":
        return text
    if text.isdigit():
        return int(text)
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            f"--thresholds must be a whole number, numbers such as 0.1,0.2,0.4, or 'matlab', got {text!r}"
        ) from None
