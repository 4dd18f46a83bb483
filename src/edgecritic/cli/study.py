"""``edgecritic study``: the experiments of the source papers, redone."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from edgecritic.cli._options import (
    add_cluster,
    add_fresh,
    add_ids,
    add_jobs,
    add_json,
    add_out,
    read_numbers,
    whole_number,
)

__all__ = ["add_parser", "run"]

_STUDIES = {
    "matching": "does the choice of the matching strategy matter?",
    "pairing": "how close do cheap pairings come to the optimal one, and how fast are they?",
    "complexity": "can edge maps be chosen without truth?",
    "labels": "how strong are the labels of a data set, and what do they do to detectors?",
    "noise": "which detector finds shapes in noise, and which measures say so?",
    "displacement": "how do measures grow with the displacement of an edge?",
}
_WITHOUT_DATA = ("noise", "displacement")
_KEPT = ("matching", "complexity", "labels")
"""Studies that keep finished work in ``--out``."""


def add_parser(subparsers: Any) -> None:
    """Add the sub-command."""
    parser = subparsers.add_parser(
        "study",
        help="redo the experiments of the papers that EdgeCritic is built on",
        description="Run a study: figure, table, JSON and a short text. Without --data a small generated "
        "data set is used.",
    )
    names = parser.add_subparsers(title="studies", metavar="NAME", required=True)
    for name, text in _STUDIES.items():
        one = names.add_parser(name, help=text, description=text[0].upper() + text[1:])
        one.set_defaults(run=run, study=name)
        _common(one, name)
        _OPTIONS.get(name, _no_options)(one)


def run(args: argparse.Namespace) -> int:
    """Run the chosen study."""
    return int(_RUNNERS[args.study](args))


def _common(parser: argparse.ArgumentParser, name: str) -> None:
    if name not in _WITHOUT_DATA:
        parser.add_argument("--data", metavar="FOLDER", help=_DATA_HELP.get(name, _DATA_HELP["matching"]))
    if name not in (*_WITHOUT_DATA, "pairing"):
        parser.add_argument("--split", metavar="NAME", help="which split of the data set")
        parser.add_argument("--images", metavar="FOLDER", help="photos, if they are not beside the truths")
    output = parser.add_argument_group("output")
    add_out(output, "results, figures and report")
    add_json(output)
    if name != "displacement":
        work = parser.add_argument_group("work")
        add_jobs(work, "tasks")
        add_cluster(work)
    if name in _KEPT:
        add_fresh(work)


_DATA_HELP = {
    "matching": "a data set with several annotators per image, such as the folder of BSDS500",
    "pairing": "the folder of the MNI152 template, for real sub-images",
}


def _matching_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--most", type=whole_number(1), metavar="N", help="only the first N images")
    parser.add_argument(
        "--inter",
        default="24",
        metavar="N|all",
        help="compare across N images with one map each (default: 24); all: every map with every other",
    )
    parser.add_argument(
        "--canny", default="16", metavar="N|all", help="compare with Canny maps on N images (default: 16)"
    )
    parser.add_argument("--tolerances", default="2.5,5,10", metavar="LIST", help="in pixels (2.5,5,10)")
    parser.add_argument("--triplet", metavar="REF,ONE,TWO", help="draw these maps: IMAGE#NUMBER,…")
    scale = parser.add_argument_group("large runs")
    scale.add_argument("--plan", action="store_true", help="say what the run needs, and stop")
    scale.add_argument(
        "--share", metavar="N/TOTAL", help="run one share of the work, such as 3/1000, into --out"
    )
    scale.add_argument(
        "--combine", nargs="+", metavar="FOLDER", help="analyse the shares in these folders; computes nothing"
    )


def _pairing_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--samples", type=whole_number(2), default=200, metavar="N", help="sub-images per side (200)"
    )
    parser.add_argument("--detector", default="sobel", metavar="ID", help="for the real slices (sobel)")
    parser.add_argument(
        "--points", default="300,1000,3000,10000,30000", metavar="LIST", help="sizes that are timed"
    )


def _complexity_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--most", type=whole_number(1), default=8, metavar="N", help="only the first N images (8)"
    )


def _labels_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--predictions",
        action="append",
        default=[],
        metavar="NAME=FOLDER",
        help="soft maps of a detector; repeatable (default: Canny on the photos)",
    )
    parser.add_argument(
        "--most", type=whole_number(1), default=12, metavar="N", help="run Canny on N images (12)"
    )
    parser.add_argument("--draws", type=whole_number(0), default=10, metavar="N", help="of the control (10)")
    parser.add_argument("--answers", metavar="FILE", help="answers to the trials, CSV or JSON")


def _noise_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--snr",
        default="0,2,3.3,4,6,10",
        metavar="LIST",
        help="signal-to-noise ratios in dB (0,2,3.3,4,6,10)",
    )
    parser.add_argument("--scenes", type=whole_number(1), default=3, metavar="N", help="per ratio (3)")
    add_ids(parser, "-d", "--detectors", text="default: all, at stated scales")
    add_ids(parser, "-m", "--measures", text="default: all without matching")
    parser.add_argument(
        "--thresholds", type=whole_number(2), default=51, metavar="N", help="to choose from (51)"
    )


def _no_options(parser: argparse.ArgumentParser) -> None:
    del parser


_OPTIONS = {
    "matching": _matching_options,
    "pairing": _pairing_options,
    "complexity": _complexity_options,
    "labels": _labels_options,
    "noise": _noise_options,
}


def _run_matching(args: argparse.Namespace) -> int:
    from edgecritic.cli._output import complain
    from edgecritic.errors import InputError
    from edgecritic.report.matching import matching_figures, matching_report, triplet_figure
    from edgecritic.run.matching import (
        canny_note,
        combine_parts,
        make_plan,
        parse_share,
        run_parts,
        study_parts,
    )

    if args.share is not None and args.out is None:
        raise InputError("--share needs --out, the folder where finished tasks are kept")
    if args.triplet is not None and args.out is None:
        raise InputError("--triplet needs --out, the folder that the drawing is written into")
    with _cases(args) as cases:
        drawn = []
        if args.triplet is not None:
            reference, *candidates = _triplet(args.triplet)
            drawn = [triplet_figure(cases, reference, candidates, tolerance=5.0)]
        note = canny_note(cases, images=args.most, canny=_count(args.canny, "--canny"))
        if note is not None:
            complain(f"warning: {note}")
        parts = study_parts(
            cases,
            tolerances=read_numbers(args.tolerances, "--tolerances"),
            images=args.most,
            inter=_count(args.inter, "--inter"),
            canny=_count(args.canny, "--canny"),
        )
        if args.plan:
            print(make_plan(parts, args.out))
            return 0
        problems: list[str] = []
        if args.combine:
            studies = combine_parts(parts, folders=[*args.combine, *([args.out] if args.out else [])])
        else:
            share = (1, 1) if args.share is None else parse_share(args.share)
            with _progress("comparing", "task") as step:
                scores, problems = run_parts(
                    parts,
                    out=args.out,
                    share=share,
                    jobs=args.jobs,
                    cluster=args.cluster,
                    fresh=args.fresh,
                    progress=step,
                )
            if args.share is not None:
                print(f"share {args.share}: {len(scores)} tasks are finished")
                return _complain(problems)
            studies = combine_parts(parts, scores, failures=problems)
        if args.out is not None:
            worst = [row for study in studies for row in study.extremes]
            if worst and not drawn:
                most = min(worst, key=lambda row: row["margin"])
                drawn = [
                    triplet_figure(cases, most["reference"], most["candidates"], tolerance=most["tolerance"])
                ]
            drawn = [*matching_figures(studies), *drawn]
        notes = [] if note is None else [note]
        report = matching_report(studies, figures=drawn, notes=notes, problems=problems)
        results = {"studies": [study.as_dict() for study in studies]}
        return _finish(args, report, results, problems)


def _triplet(text: str) -> list[str]:
    """Read the names of three maps; those such as 12#canny(1,2) hold commas themselves."""
    from edgecritic.errors import InputError

    names: list[str] = []
    for part in text.split(","):
        if names and names[-1].count("(") > names[-1].count(")"):
            names[-1] += f",{part}"
        else:
            names.append(part)
    if len(names) != 3:
        raise InputError(f"--triplet expects three maps, REF,ONE,TWO, got {text!r}")
    return names


def _run_pairing(args: argparse.Namespace) -> int:
    from edgecritic.report.studies import pairing_report, pairing_times_report
    from edgecritic.run.studies import run_pairing

    with _progress("pairing", "task") as step:
        study = run_pairing(
            args.data,
            samples=args.samples,
            points=read_numbers(args.points, "--points"),
            detector=args.detector,
            jobs=args.jobs,
            cluster=args.cluster,
            progress=step,
        )
    results = study.as_dict()
    timed = (pairing_times_report(study), {"times": results.pop("times")})
    return _finish(args, pairing_report(study), results, [], timed)


def _run_complexity(args: argparse.Namespace) -> int:
    from edgecritic.report.studies import complexity_report
    from edgecritic.run.studies import run_complexity
    from edgecritic.studies.complexity import best_maps

    with _cases(args) as cases:
        with _progress("studying", "image") as step:
            study, problems = run_complexity(
                cases[: args.most],
                out=args.out,
                jobs=args.jobs,
                cluster=args.cluster,
                fresh=args.fresh,
                progress=step,
            )
        by_id = {case.id: case for case in cases}
        shown = [(one.image, best_maps(by_id[one.image].load_image(), one)) for one in study.curves[:3]]
        report = complexity_report(study, photos=shown, problems=problems)
        return _finish(args, report, study.as_dict(), problems)


def _run_labels(args: argparse.Namespace) -> int:
    from edgecritic.cli.bench import _named
    from edgecritic.report.studies import labels_report
    from edgecritic.run.studies import run_labels

    with _home(args) as (truth, photos, out), _progress("weighing", "image") as step:
        study = run_labels(
            truth,
            out,
            predictions=_named(args.predictions, must_name=True),
            images=photos,
            split=args.split,
            most=args.most,
            draws=args.draws,
            answers=args.answers,
            jobs=args.jobs,
            cluster=args.cluster,
            fresh=args.fresh,
            progress=step,
        )
        failures = list(study.annotators.results["failures"])
        if study.strength is not None:
            failures += study.strength["failures"]
        problems = [f"{row['id']}: {row['message']}" for row in failures]
        return _finish(args, labels_report(study), study.as_dict(), problems)


def _run_noise(args: argparse.Namespace) -> int:
    from edgecritic.report.noise import noise_report
    from edgecritic.run.executor import run_tasks
    from edgecritic.studies.noise import DETECTORS, combine, noise_tasks, noise_trial

    tasks = noise_tasks(
        detectors=args.detectors or DETECTORS,
        measures=args.measures,
        ratios=read_numbers(args.snr, "--snr"),
        seeds=args.scenes,
        thresholds=args.thresholds,
    )
    with _progress("judging", "scene") as step:
        trials = run_tasks(noise_trial, tasks, jobs=args.jobs, cluster=args.cluster, progress=step)
        study = combine(trials)
    report = noise_report(study, figure=args.out is not None)
    return _finish(args, report, study.as_dict(), [])


def _run_displacement(args: argparse.Namespace) -> int:
    from edgecritic.report.displacement import displacement_report
    from edgecritic.studies.displacement import displacement

    study = displacement()
    report = displacement_report(study, figure=args.out is not None)
    return _finish(args, report, study.as_dict(), [])


_RUNNERS = {
    "matching": _run_matching,
    "pairing": _run_pairing,
    "complexity": _run_complexity,
    "labels": _run_labels,
    "noise": _run_noise,
    "displacement": _run_displacement,
}


@contextmanager
def _home(args: argparse.Namespace) -> Iterator[tuple[Path, Path | None, Path]]:
    """Give the truths, the photos and a folder for results; generate a data set where none is given."""
    import tempfile

    from edgecritic.datasets.synthetic import write

    with tempfile.TemporaryDirectory() as spare:
        out = Path(spare) / "out" if args.out is None else Path(args.out)
        if args.data is not None:
            yield Path(args.data), None if args.images is None else Path(args.images), out
        else:
            home = write((Path(spare) if args.out is None else out) / "data", 8)
            yield home / "truth", home / "images", out


@contextmanager
def _cases(args: argparse.Namespace) -> Iterator[list[Any]]:
    from edgecritic.datasets.cases import find_cases

    with _home(args) as (truth, photos, _):
        found = find_cases(
            None,
            truth.absolute(),
            images=None if photos is None else photos.absolute(),
            split=args.split,
        )
        yield list(found.cases)


def _finish(
    args: argparse.Namespace,
    report: Any,
    results: dict[str, Any],
    problems: list[str],
    timed: tuple[Any, dict[str, Any]] | None = None,
) -> int:
    """Print the study and write its files; what was timed goes into the folder ``times``.

    Times differ from run to run: apart from that folder the same input gives the same bytes.
    """
    from edgecritic.cli._output import jsonable, print_json, report_page
    from edgecritic.cli._wide import terminal_width
    from edgecritic.report.text import report_text
    from edgecritic.report.write import write_report

    if args.out is not None:
        write_report(args.out, report, jsonable(results), name=args.study)
        if timed is not None:
            write_report(Path(args.out) / "times", timed[0], jsonable(timed[1]), name="times")
    if args.json:
        print_json(results | (timed[1] if timed else {}))
    else:
        print(report_text(report, width=terminal_width()))
        if timed is not None:
            print(f"\n{report_text(timed[0], width=terminal_width())}")
        if args.out is not None:
            print(f"\nReport: {report_page(args.out)}")
    return _complain(problems)


def _complain(problems: list[str]) -> int:
    from edgecritic.cli._output import complain

    for problem in problems:
        complain(problem)
    return 1 if problems else 0


def _progress(text: str, unit: str) -> Any:
    from edgecritic.cli._output import progress

    return progress(text, unit=unit)


def _count(text: str, option: str) -> int | None:
    from edgecritic.errors import InputError

    if text == "all":
        return None
    if not text.isdigit():
        raise InputError(f"{option} expects a number or all, got {text!r}")
    return int(text)
