"""Everything of an experiment as one folder: data, code book, procedure, and what reproduces the result."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from edgecritic.annotators import answers as files
from edgecritic.annotators import choice, votes
from edgecritic.annotators.exclusion import excluded, without
from edgecritic.datasets.write import UndatedZip
from edgecritic.studio import codebook, experiments, labelling, participation, projects, results
from edgecritic.studio.exports import encode_map, photo_png, unused
from edgecritic.studio.models import Experiment, Image, Participation, Trial
from edgecritic.studio.pictures import encode_png
from edgecritic.studio.procedure import SURROUND, Procedure
from edgecritic.studio.trials import MAPS

__all__ = ["experiment_json", "experiment_zip", "subjects_csv"]


def experiment_json(session: Session, experiment: Experiment) -> str:
    """Return trials with their pixels, answers, settings with the procedure, and whom the rules leave out."""
    about = {name: getattr(experiment, name) for name in ("name", "mode", "seed", "settings")}
    trials, answers = results.choices_of(session, experiment)
    about["excluded"] = excluded(trials, answers, experiments.rules_of(experiment))
    people = projects.people_of(session, experiment_id=experiment.id)
    about["deleted"] = sum(one.deleted is not None for one in people)
    return files.trials_json(trials, answers, **about)


def experiment_zip(session: Session, experiment: Experiment, path: Path) -> None:
    """Write everything of an experiment into a zip file.

    ``data/truth``, ``data/images`` and ``predictions`` are those of the images that trials show: what
    ``edgecritic study labels`` reads. ``README.md`` has the commands, and ``reproduce.sh`` runs them.
    """
    trials, answers = results.choices_of(session, experiment)
    left_out = excluded(trials, answers, experiments.rules_of(experiment))
    kept = without(answers, left_out)
    procedure = experiments.procedure_of(experiment)
    names = {str(one.id): one.name for one in projects.people_of(session, experiment_id=experiment.id)}
    with UndatedZip(path, "w") as archive:
        add = archive.writestr
        add("experiment.json", experiment_json(session, experiment))
        add("answers.csv", files.comparisons_csv(trials, answers, names))
        add("kept.csv", files.comparisons_csv(trials, kept, names))
        add("votes.csv", files.votes_csv(trials, answers))
        add("risks.csv", _risks_csv(trials, {"kept": kept, "all": answers}))
        add("subjects.csv", subjects_csv(session, experiment))
        add("procedure.json", _json(_fixed(experiment, procedure)))
        add("codebook.csv", codebook.codebook_csv(procedure))
        add("codebook.json", _json([one._asdict() for one in codebook.codebook(procedure)]))
        folders, has_truth = _add_data(session, experiment, archive)
        commands = _commands(experiment, folders, has_truth)
        add("reproduce.sh", '#!/bin/sh\nset -e\ncd "$(dirname "$0")"\n' + "\n".join(commands) + "\n")
        add("README.md", _readme(experiment, commands))


def subjects_csv(session: Session, experiment: Experiment) -> str:
    """Return a line for every subject: ids, times, how the subject did, answers to questions."""
    trials, answers = results.choices_of(session, experiment)
    seen, places = votes.screening(trials, answers), results.places_of(session, experiment)
    left_out = excluded(trials, answers, experiments.rules_of(experiment))
    said, procedure = participation.of_experiment(session, experiment), experiments.procedure_of(experiment)
    asked = [(part, one.key) for part in ("before", "after") for one in getattr(procedure, part)]
    table = []
    for one in projects.people_of(session, experiment_id=experiment.id):
        did = seen.get(str(one.id)) or votes.Screening(subject=str(one.id))
        mine = said.get(one.id) or Participation(ids={}, code="", recruited=False)
        given = {"before": mine.before or {}, "after": mine.after or {}}
        moments = (one.created, one.opened, mine.consented, mine.began, did.last, mine.finished)
        shares = (did.checks_passed, did.alarm_share, did.left_share, did.with_majority, did.median_ms)
        table.append(
            [
                *(one.id, one.name, mine.participant or ""),
                *(mine.ids.get("study", ""), mine.ids.get("session", ""), mine.recruited),
                participation.code_of(mine, procedure) if one.deleted is None else "",
                *(_moment(moment) for moment in moments),
                *(did.answered, places.get(one.id, 0)),
                *("" if share is None else share for share in shares),
                *("; ".join(left_out.get(str(one.id), ())), _moment(one.deleted)),
                *(_cell(given[part].get(key)) for part, key in asked),
            ]
        )
    return files.exact_csv((*codebook.SUBJECT, *(f"{part}_{key}" for part, key in asked)), table)


def _risks_csv(trials: Sequence[choice.Trial], groups: dict[str, Sequence[choice.Answer]]) -> str:
    table = [
        [name, *(one.as_dict()[column] for column in codebook.RISK[1:])]
        for name, answers in groups.items()
        for one in votes.risks(trials, answers)
    ]
    return files.exact_csv(codebook.RISK, table)


def _fixed(experiment: Experiment, procedure: Procedure) -> dict[str, Any]:
    """Return what subjects have gone through: everything that was fixed at the start, with all texts."""
    return {
        "name": experiment.name,
        "mode": experiment.mode,
        "seed": experiment.seed,
        "started": _moment(experiment.started),
        "closed": _moment(experiment.closed),
        "forgotten": _moment(experiment.forgotten),
        "settings": experiment.settings,
        "surround": SURROUND,
        "texts": procedure.words,
    }


def _add_data(session: Session, experiment: Experiment, archive: UndatedZip) -> tuple[dict[str, str], bool]:
    """Add photos, labels and maps of the images that trials show; return the detectors' folders."""
    taken: set[str] = set()
    folders: dict[str, str] = {}
    used: set[str] = set()
    has_truth = False
    for image in _images(session, experiment):
        name = unused(projects.file_name(image.name), taken)
        archive.writestr(f"data/images/{name}.png", photo_png(session, image.id))
        labels = labelling.labels_of(session, image.id)
        if labels:
            has_truth = True
            archive.writestr(f"data/truth/{name}.mat", encode_map([one.map for one in labels], "mat"))
        for detector, strength in projects.detector_maps(session, image.id).items():
            if detector not in folders:
                folders[detector] = unused(projects.file_name(detector), used)
            place = f"predictions/{folders[detector]}/{name}.png"
            archive.writestr(place, encode_png(np.rint(255 * strength)))
    return folders, has_truth


def _images(session: Session, experiment: Experiment) -> Iterator[Image]:
    shown = select(Trial.image_id).where(Trial.experiment_id == experiment.id)
    yield from session.scalars(select(Image).where(Image.id.in_(shown)).order_by(Image.name))


def _commands(experiment: Experiment, folders: dict[str, str], has_truth: bool) -> list[str]:
    """Return the commands that find the same result in the folder; names of detectors lose their ``=``."""
    data = ["--data", "data/truth", "--images", "data/images"] if has_truth else []
    if experiment.mode == MAPS:
        words = ["edgecritic", "study", "preference", "--answers"]
        return [shlex.join([*words, file, *data[:2], "--out", out]) for file, out in _RUNS]
    maps = [
        part
        for name, folder in sorted(folders.items())
        for part in ("--predictions", f"{name.replace('=', '_')}=predictions/{folder}")
    ]
    words = ["edgecritic", "study", "labels", *data, *(maps if has_truth else [])]
    return [shlex.join([*words, "--answers", file, "--out", out]) for file, out in _RUNS]


_RUNS = (("experiment.json", "result-all"), ("kept.csv", "result-kept"))
"""With everybody, and without those whom the rules leave out."""


def _readme(experiment: Experiment, commands: Sequence[str]) -> str:
    shown = "\n".join(commands)
    maps = experiment.mode == MAPS
    found = "the scale and which measures agree" if maps else "the risks of risks.csv"
    return _README.format(name=" ".join(experiment.name.split()), commands=shown, found=found)


_README = """\
# {name}

| file | has |
|---|---|
| experiment.json | the trials with their pixels, all answers, the settings |
| answers.csv | a line for every answer |
| kept.csv | the same without the subjects whom the rules leave out |
| votes.csv | the majority of every main trial |
| risks.csv | the dataset risk by mode and detector, without those subjects and with everybody |
| subjects.csv | a line for every subject: ids, times, how the subject did, answers to questions |
| procedure.json | what was fixed at the start: all texts, questions, sizes, breaks, rules |
| codebook.csv, codebook.json | what every column means |
| data/images, data/truth | photos and labels (BSDS form) of the images that trials show |
| predictions | strength maps of the detectors |

The same result, {found}, without the studio (`sh reproduce.sh`, in this folder):

```sh
{commands}
```

The first finds it with everybody, the second without those whom the rules leave out. Of subjects whose
data were deleted nothing is here.
"""


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def _moment(value: datetime | None) -> str:
    return "" if value is None else value.isoformat()


def _cell(value: Any) -> Any:
    return "" if value is None else value
