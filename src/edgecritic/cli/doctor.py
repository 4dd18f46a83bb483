"""``edgecritic doctor``: say what is wrong with predictions and truths before they are scored."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from edgecritic.cli._options import add_data_options, add_json, add_quiet, add_truth

if TYPE_CHECKING:
    from edgecritic.datasets.doctor import Diagnosis, Finding

__all__ = ["add_parser", "run"]

_SHOWN = 4


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to a parser."""
    parser = subparsers.add_parser(
        "doctor",
        help="check predictions and truths for what would falsify a score",
        description="Read every file once and say what is wrong: grey or inverted maps, sizes that differ, "
        "missing names, lossy files. Exits with 1 if anything would falsify a score.",
    )
    parser.add_argument("predictions", metavar="FOLDER", help="predictions, one file per image; or one file")
    add_truth(parser)
    add_data_options(parser)
    add_json(parser)
    add_quiet(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the diagnosis; return 0 if no error was found, else 1."""
    from edgecritic.cli._output import print_json, progress
    from edgecritic.datasets.doctor import diagnose

    with progress("looking", unit="image", quiet=args.quiet) as step:
        diagnosis = diagnose(
            args.predictions,
            args.truth,
            images=args.images,
            masks=args.masks,
            split=args.split,
            binarize=args.binarize,
            progress=step,
        )
    if args.json:
        print_json(diagnosis.as_dict())
    else:
        print(render(diagnosis))
    return 0 if diagnosis.ok else 1


def render(diagnosis: Diagnosis) -> str:
    """Return the diagnosis as text: findings of one kind share a paragraph."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in diagnosis.findings:
        groups.setdefault((finding.severity, finding.kind), []).append(finding)
    low, high = diagnosis.annotators
    people = "1 annotator" if high == 1 else f"{low if low == high else f'{low} to {high}'} annotators"
    images = f"{diagnosis.cases} image{'s' * (diagnosis.cases != 1)}"
    lines = [f"{images}, {people} each, truth layout: {diagnosis.layout or 'none'}"]
    for (severity, kind), findings in groups.items():
        files = f" ({len(findings)} files)" if len(findings) > 1 else ""
        lines.append(f"\n{severity.upper():8}{kind}{files}")
        lines += [f"        {finding.file}: {finding.what}" for finding in findings[:_SHOWN]]
        if len(findings) > _SHOWN:
            lines.append(f"        … and {len(findings) - _SHOWN} more (see --json)")
        remedies = dict.fromkeys(finding.remedy for finding in findings if finding.remedy)
        lines += [f"     →  {remedy}" for remedy in list(remedies)[:_SHOWN]]
    lines.append(f"\n{_verdict(diagnosis)}")
    return "\n".join(lines)


def _verdict(diagnosis: Diagnosis) -> str:
    if not diagnosis.ok:
        count = len(diagnosis.errors)
        return f"{count} error{'s' * (count != 1)}: fix {'them' if count != 1 else 'it'} first."
    if any(finding.kind == "volumes" for finding in diagnosis.findings):
        return "No errors: ready for edgecritic score, or for bench --protocol volume."
    return "No errors: ready to be scored."
