"""What clients of the studio compete for: every route that writes is in a contest.

A test compares the routes of `CONTESTS` with those of the application, so that a new one needs a contest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from edgecritic.annotators.answers import trials_json
from edgecritic.annotators.choice import Segment, Trial
from edgecritic.maps.fold import runs_of
from edgecritic.studio import auth, experiments, labelling, participation, projects
from edgecritic.studio.models import (
    Annotation,
    Answer,
    Event,
    Experiment,
    Image,
    ImageFile,
    Invitation,
    LabelMap,
    LoginSession,
    Participation,
    Project,
    Slot,
    Version,
)
from edgecritic.studio.models import Trial as TrialRow
from edgecritic.studio.pictures import as_map, encode_png
from studio_lab_contests import LAB_CONTESTS
from studio_writers import PASSWORD, Client, Contest, Guest, frame, uses

EDITS = 40


class Projects(Contest):
    turns = ("create",)

    def prepare(self, session: Session) -> None:  # noqa: ARG002
        self.name = f"Race {self.world.rng.random()}"

    @uses("POST /projects")
    def create(self, client: Client) -> None:
        reply = self.send(client, "/projects", 303, data={"name": self.name})
        self.told.append(int(reply.headers["location"].split("/")[-1]))

    def problems(self, session: Session) -> Iterator[str]:
        stored = session.scalars(select(Project.id).where(Project.name == self.name)).all()
        yield from self.expect(sorted(stored) == sorted(self.told), f"told {self.told}, stored {stored}")


class Experiments(Contest):
    turns = ("create", "create", "load")

    def prepare(self, session: Session) -> None:  # noqa: ARG002
        self.loaded: list[int] = []

    @uses("POST /projects/{project:id}/experiments")
    def create(self, client: Client) -> None:
        form = {"name": "Race", "seed": "5", "square": "11", "practice": "0", "checks": "1"}
        reply = self.send(client, f"/projects/{self.world.project}/experiments", 303, data=form)
        self.told.append(int(reply.headers["location"].split("/")[-1]))

    @uses("POST /projects/{project:id}/trials")
    def load(self, client: Client) -> None:
        segments = [Segment(kind=kind, centre=(5, 5), pixels=((5, 5),)) for kind in ("false alarm", "label")]
        about = {"image": "one", "detector": "some", "mode": "hard"}
        text = trials_json(Trial.of(*segments, "left", id=str(n), **about) for n in range(5))
        path = f"/projects/{self.world.project}/trials?name=trials.json"
        self.loaded.append(self.send(client, path, 201, content=text.encode()).json()["id"])

    def problems(self, session: Session) -> Iterator[str]:
        made = [*self.told, *self.loaded]
        yield from self.expect(len(set(made)) == len(made), f"one experiment for two: {made}")
        for experiment in self.loaded:
            query = select(func.count()).select_from(TrialRow).where(TrialRow.experiment_id == experiment)
            stored = session.scalar(query)
            yield from self.expect(stored == 5, f"of 5 trials of a file {stored} are stored")
        drawn = set()
        for experiment in self.told:
            rows = session.execute(
                select(TrialRow.alarm, TrialRow.label)
                .where(TrialRow.experiment_id == experiment)
                .order_by(TrialRow.id)
            )
            drawn.add(str([tuple(row) for row in rows]))
        yield from self.expect(len(drawn) == 1 and drawn != {"[]"}, "equal seeds have drawn different trials")


class Images(Contest):
    turns = ("add",)

    def prepare(self, session: Session) -> None:
        self.project = projects.create_project(session, "Images").id

    @uses("POST /projects/{project:id}/images")
    def add(self, client: Client) -> None:
        path = f"/projects/{self.project}/images?name=same.png"
        reply = self.send(client, path, 201, 409, content=self.world.photo)
        if reply.status_code == 201:
            self.told.append(reply.json()["id"])

    def problems(self, session: Session) -> Iterator[str]:
        stored = session.scalars(select(Image.id).where(Image.project_id == self.project)).all()
        files = session.scalar(
            select(func.count()).select_from(ImageFile).where(ImageFile.image_id.in_(stored))
        )
        yield from self.expect(list(stored) == self.told, f"told {self.told}, stored {stored}")
        yield from self.expect((len(stored), files) == (1, 4), f"{len(stored)} images, {files} files")


class Maps(Contest):
    turns = ("add", "add", "add_strength", "detect")

    def prepare(self, session: Session) -> None:
        self.project = projects.create_project(session, "Maps").id
        self.image = projects.add_image(session, self.project, "one", self.world.upload).id

    @uses("POST /projects/{project:id}/maps")
    def add(self, client: Client) -> None:
        path = f"/projects/{self.project}/maps?kind=label&name=Ada&file=one.png"
        self.send(client, path, 201, content=encode_png(frame(client.number)))
        self.told.append(client.number)

    @uses("POST /projects/{project:id}/maps")
    def add_strength(self, client: Client) -> None:
        path = f"/projects/{self.project}/maps?kind=detector&name=sobel&file=one.png"
        self.send(client, path, 201, content=encode_png(frame(client.number)))

    @uses("POST /projects/{project:id}/detect")
    def detect(self, client: Client) -> None:
        self.send(client, f"/projects/{self.project}/detect", 303, data={"detector": "sobel"})

    def problems(self, session: Session) -> Iterator[str]:
        rows = session.scalars(select(LabelMap).where(LabelMap.image_id == self.image)).all()
        names = sorted((row.kind, row.name) for row in rows)
        yield from self.expect(names == [("detector", "sobel"), ("label", "Ada")], f"stored {names}")
        stored = [as_map(row.content) for row in rows if row.kind == "label"]
        kept = any(np.array_equal(stored[0], frame(number)) for number in self.told)
        yield from self.expect(kept, "the label map is none of those that were sent")


class People(Contest):
    turns = ("invite",)

    def prepare(self, session: Session) -> None:
        self.project = projects.create_project(session, "People").id

    @uses("POST /projects/{project:id}/people")
    def invite(self, client: Client) -> None:
        reply = self.send(client, f"/projects/{self.project}/people", 200, json={"names": ["Ada", "Ada"]})
        self.told += [one["path"].removeprefix("/i/") for one in reply.json()["invited"]]

    def problems(self, session: Session) -> Iterator[str]:
        stored = session.scalars(
            select(Invitation.token_hash).where(Invitation.project_id == self.project)
        ).all()
        wanted = sorted(auth.hash_token(token) for token in self.told)
        yield from self.expect(sorted(map(str, stored)) == wanted, "invitations are missing or doubled")


class OwnerPlaces(Contest):
    turns = ("label",)

    def prepare(self, session: Session) -> None:
        self.project = projects.create_project(session, "Place").id

    @uses("POST /projects/{project:id}/label")
    def label(self, client: Client) -> None:
        reply = self.send(client, f"/projects/{self.project}/label", 303)
        self.told.append(int(reply.headers["location"].split("/")[2]))

    def problems(self, session: Session) -> Iterator[str]:
        stored = session.scalars(select(Invitation.id).where(Invitation.project_id == self.project)).all()
        yield from self.expect(
            len(stored) == 1 and set(self.told) == set(stored), f"told {self.told}, owner's places {stored}"
        )


class Entering(Contest):
    turns = ("enter", "enter", "enter", "enter", "enter", "revoke")

    def prepare(self, session: Session) -> None:
        self.person = self.world.guest(session, project_id=self.world.project)

    @uses("GET /i/{token}")
    def enter(self, client: Client) -> None:
        reply = self.send(client, f"/i/{self.person.token}", 303, 404, 429, method="GET")
        if reply.status_code == 303:
            self.told.append(reply.headers["set-cookie"].split("=", 1)[1].split(";")[0])

    @uses("POST /invitations/{invitation:id}/revoke")
    def revoke(self, client: Client) -> None:
        self.send(client, f"/invitations/{self.person.id}/revoke", 303)

    def problems(self, session: Session) -> Iterator[str]:
        mine = session.get_one(Invitation, self.person.id)
        rows = session.scalars(select(LoginSession).where(LoginSession.invitation_id == mine.id)).all()
        wanted = sorted(auth.hash_token(one) for one in [self.person.secret, *self.told])
        yield from self.expect(
            sorted(row.secret_hash for row in rows) == wanted, "browser sessions are missing or doubled"
        )
        yield from self.expect((mine.opened is not None) == bool(self.told), "`opened` is wrong")
        late = mine.revoked is None or any(row.created > mine.revoked for row in rows)
        yield from self.expect(not late, "somebody has entered after the invitation was revoked")


class Renewing(Contest):
    """A person gets new links in several windows: one of them works, and no browser of an older one."""

    turns = ("renew",)

    def prepare(self, session: Session) -> None:
        self.person = self.world.guest(session, project_id=self.world.project)

    @uses("POST /invitations/{invitation:id}/renew")
    def renew(self, client: Client) -> None:
        reply = self.send(client, f"/invitations/{self.person.id}/renew", 200, json={})
        self.told.append(reply.json()["invited"][0]["path"].removeprefix("/i/"))

    def problems(self, session: Session) -> Iterator[str]:
        mine = session.get_one(Invitation, self.person.id)
        known = mine.token_hash in {auth.hash_token(token) for token in self.told}
        yield from self.expect(known, "the link is none of those that were told")
        rows = session.scalars(select(LoginSession).where(LoginSession.invitation_id == mine.id)).all()
        yield from self.expect(not rows, "a browser of an older link may still enter")


class Opening(Contest):
    turns = ("open",)

    def prepare(self, session: Session) -> None:
        self.person = self.world.guest(session, project_id=self.world.project)

    @uses("GET /g/{guest:id}/label/{image:id}")
    def open(self, client: Client) -> None:
        path = f"/g/{self.person.id}/label/{self.world.image}"
        self.send(client, path, 200, method="GET", cookie=self.person.cookie)

    def problems(self, session: Session) -> Iterator[str]:
        query = select(Annotation.id).where(Annotation.invitation_id == self.person.id)
        stored = session.scalars(query).all()
        yield from self.expect(len(stored) == 1, f"{len(stored)} annotations of one person and image")


class Editing(Contest):
    """Edits, imports and the end of the work in several windows."""

    turns = ("import_map", "edit", "import_map", "submit", "edit")

    def prepare(self, session: Session) -> None:
        self.person = self.world.guest(session, project_id=self.world.project)
        person = session.get_one(Invitation, self.person.id)
        self.annotation = labelling.open_annotation(session, person, self.world.image).id
        self.path = f"/g/{self.person.id}/annotations/{self.annotation}"
        self.edits: dict[int, str] = {}
        self.refused: set[str] = set()
        self.submits: list[int] = []

    def post(self, client: Client, what: str, *allowed: int, **body: Any) -> httpx.Response:
        return self.send(client, f"{self.path}/{what}", *allowed, cookie=self.person.cookie, **body)

    def known(self, client: Client) -> int:
        reply = self.post(client, "events", 200, method="GET")
        return len(reply.json()["events"])

    @uses("POST /g/{guest:id}/annotations/{annotation:id}/events")
    def edit(self, client: Client) -> None:
        start = self.known(client)
        sent = {start + place: f"{client.number}-{start + place}" for place in range(EDITS)}
        rows = [
            {"seq": seq, "key": key, "op": "draw", "data": {"points": [client.number, 1, client.number, 5]}}
            for seq, key in sent.items()
        ]
        if self.post(client, "events", 200, 409, json={"events": rows}).status_code == 200:
            self.edits |= sent
        else:
            self.refused |= set(sent.values())

    @uses("POST /g/{guest:id}/annotations/{annotation:id}/import")
    def import_map(self, client: Client) -> None:
        reply = self.post(client, "import", 200, 409, content=encode_png(frame(client.number)))
        if reply.status_code == 200:
            self.told.append(runs_of(frame(client.number)))

    @uses("POST /g/{guest:id}/annotations/{annotation:id}/submit")
    def submit(self, client: Client) -> None:
        known = self.known(client)
        if self.post(client, "submit", 200, 400, json={"count": known}).status_code == 200:
            self.submits.append(known)

    def problems(self, session: Session) -> Iterator[str]:
        query = select(Event).where(Event.annotation_id == self.annotation).order_by(Event.seq)
        rows = session.scalars(query).all()
        drawn = {row.seq: row.key for row in rows if row.op == "draw"}
        yield from self.expect([row.seq for row in rows] == list(range(len(rows))), "the edits have gaps")
        yield from self.expect(
            drawn == self.edits, f"{len(self.edits)} edits acknowledged, {len(drawn)} stored"
        )
        imports = sorted(row.data["runs"] for row in rows if row.op == "replace")
        yield from self.expect(
            imports == sorted(self.told), f"{len(self.told)} imports acknowledged, {len(imports)} stored"
        )
        yield from self.ended(session.get_one(Annotation, self.annotation), len(rows))

    def ended(self, annotation: Annotation, count: int) -> Iterator[str]:
        done = annotation.submitted is not None
        yield from self.expect(done == bool(self.submits), "the map is submitted or not, but not as told")
        yield from self.expect(
            not done or set(self.submits) == {count}, f"submitted with {self.submits} edits, stored {count}"
        )


class Versions(Contest):
    """Two windows keep the same edits beside the map."""

    turns = ("keep",)

    def prepare(self, session: Session) -> None:
        self.person = self.world.guest(session, project_id=self.world.project)
        person = session.get_one(Invitation, self.person.id)
        self.annotation = labelling.open_annotation(session, person, self.world.image).id

    @uses("POST /g/{guest:id}/annotations/{annotation:id}/versions")
    def keep(self, client: Client) -> None:
        edits = [{"seq": 0, "key": "a", "op": "draw", "data": {"points": [1, 1, 4, 4]}}]
        body = {"key": f"v{client.number % 2}", "base": 0, "events": edits}
        path = f"/g/{self.person.id}/annotations/{self.annotation}/versions"
        reply = self.send(client, path, 201, cookie=self.person.cookie, json=body)
        self.told.append(reply.json()["id"])

    def problems(self, session: Session) -> Iterator[str]:
        stored = session.scalars(select(Version).where(Version.annotation_id == self.annotation)).all()
        yield from self.expect(
            {one.id for one in stored} == set(self.told), "versions are missing or doubled"
        )
        yield from self.expect(len(stored) == len({one.key for one in stored}), "one version twice")


class Reopening(Editing):
    """The same while the owner gives the work back, again and again."""

    turns = ("submit", "edit", "reopen", "import_map", "submit", "reopen")

    @uses("POST /annotations/{annotation:id}/reopen")
    def reopen(self, client: Client) -> None:
        self.send(client, f"/annotations/{self.annotation}/reopen", 303)

    def ended(self, annotation: Annotation, count: int) -> Iterator[str]:
        yield from self.expect(
            annotation.submitted is None or self.submits, "the map is submitted, but nobody was told"
        )
        yield from self.expect(max(self.submits, default=0) <= count, "edits of a submitted map are missing")


class Subjects(Contest):
    turns = ("invite", "invite", "invite", "invite", "invite", "invite", "close")

    def prepare(self, session: Session) -> None:
        self.experiment = self.world.experiment(session)

    @uses("POST /experiments/{experiment:id}/subjects")
    def invite(self, client: Client) -> None:
        path = f"/experiments/{self.experiment}/subjects"
        reply = self.send(client, path, 200, 409, json={"names": ["Ada"]})
        if reply.status_code == 200:
            self.told += [one["path"].removeprefix("/i/") for one in reply.json()["invited"]]

    @uses("POST /experiments/{experiment:id}/close")
    def close(self, client: Client) -> None:
        self.send(client, f"/experiments/{self.experiment}/close", 303)

    def problems(self, session: Session) -> Iterator[str]:
        query = select(Invitation).where(Invitation.experiment_id == self.experiment).order_by(Invitation.id)
        people = session.scalars(query).all()
        stored = sorted(str(one.token_hash) for one in people)
        wanted = sorted(auth.hash_token(token) for token in self.told)
        yield from self.expect(stored == wanted, "subjects are missing or doubled")
        orders, sides = [], []
        for one in people:
            rows = session.execute(
                select(Slot.trial_id, Slot.alarm_side)
                .where(Slot.invitation_id == one.id)
                .order_by(Slot.position)
            ).all()
            orders.append(tuple(row.trial_id for row in rows))
            sides.append({row.trial_id: row.alarm_side for row in rows})
        yield from self.expect(len(set(orders)) == len(orders), "two subjects have one schedule")
        mirrored = all(
            first[trial] != second[trial]
            for first, second in zip(sides[::2], sides[1::2], strict=False)
            for trial in first
        )
        yield from self.expect(mirrored, "two subjects in succession are not mirrored")
        closed = session.get_one(Experiment, self.experiment).closed
        late = closed is not None and any(one.created > closed for one in people)
        yield from self.expect(not late, "somebody was invited after the experiment was closed")


class Answers(Contest):
    def prepare(self, session: Session) -> None:
        self.experiment = self.world.experiment(session)
        experiment = session.get_one(Experiment, self.experiment)
        (person, token), *_ = experiments.invite_subjects(session, experiment, ["Ada"])
        self.person = Guest(person.id, token, auth.start_session(session, person, 1))
        self.slots = session.scalars(select(Slot.id).where(Slot.invitation_id == person.id)).all()
        end = self.world.rng.choice(["close", "revoke"])
        self.turns = ("answer", "answer", "answer", "answer", "answer", end)

    @uses("POST /g/{guest:id}/answers")
    def answer(self, client: Client) -> None:
        slot, side = self.slots[client.number % 3], ("left", "right")[client.number % 2]
        given = {"slot": slot, "side": side, "reaction_ms": 500}
        path = f"/g/{self.person.id}/answers"
        reply = self.send(client, path, 200, 403, cookie=self.person.cookie, json=given)
        if reply.status_code == 200:
            self.told.append((reply.json()["slot"], reply.json()["side"]))

    @uses("POST /experiments/{experiment:id}/close")
    def close(self, client: Client) -> None:
        self.send(client, f"/experiments/{self.experiment}/close", 303)

    @uses("POST /invitations/{invitation:id}/revoke")
    def revoke(self, client: Client) -> None:
        self.send(client, f"/invitations/{self.person.id}/revoke", 303)

    def problems(self, session: Session) -> Iterator[str]:
        rows = session.scalars(select(Answer).where(Answer.slot_id.in_(self.slots))).all()
        stored = {(row.slot_id, row.side) for row in rows}
        yield from self.expect(stored == set(self.told), f"told {self.told}, stored {stored}")
        closed = session.get_one(Experiment, self.experiment).closed
        ended = closed or session.get_one(Invitation, self.person.id).revoked
        late = ended is not None and any(row.server_time > ended for row in rows)
        yield from self.expect(not late, "an answer was taken after the end")


class Recruits(Contest):
    """People come with one link, some of them twice at once, to fewer places; the owner makes a new link."""

    turns = ("join", "join", "join", "join", "join", "join", "join", "recruit")

    def prepare(self, session: Session) -> None:
        self.experiment = self.world.experiment(session)
        self.token = participation.recruit(session, self.experiment, 2)

    @uses("POST /join/{token}")
    def join(self, client: Client) -> None:
        given = {"participant": f"p{client.number % 3}", "agree": "yes"}
        reply = self.send(client, f"/join/{self.token}", 303, 404, 409, data=given)
        if reply.status_code == 303:
            self.told.append((given["participant"], int(reply.headers["location"].strip("/").split("/")[-1])))

    @uses("POST /experiments/{experiment:id}/recruit")
    def recruit(self, client: Client) -> None:
        self.send(client, f"/experiments/{self.experiment}/recruit", 200, json={"places": 2})

    def problems(self, session: Session) -> Iterator[str]:
        rows = session.scalars(select(Participation).where(Participation.experiment_id == self.experiment))
        stored = {(row.participant, row.invitation_id) for row in rows}
        yield from self.expect(stored == set(self.told), f"told {self.told}, stored {stored}")
        yield from self.expect(len(stored) <= 2, "there are more people than places")


class Procedures(Contest):
    """The owner changes what subjects see in several windows and invites: what is fixed was told."""

    turns = ("change", "change", "change", "change", "invite")

    def prepare(self, session: Session) -> None:
        self.experiment = self.world.experiment(session)

    @uses("POST /experiments/{experiment:id}/procedure")
    def change(self, client: Client) -> None:
        given = {"procedure": {"consent": f"Version {client.number}"}}
        reply = self.send(client, f"/experiments/{self.experiment}/procedure", 200, 409, json=given)
        if reply.status_code == 200:
            self.told.append(given["procedure"]["consent"])

    @uses("POST /experiments/{experiment:id}/subjects")
    def invite(self, client: Client) -> None:
        self.send(client, f"/experiments/{self.experiment}/subjects", 200, json={"names": ["Ada"]})

    def problems(self, session: Session) -> Iterator[str]:
        experiment = session.get_one(Experiment, self.experiment)
        consent = experiments.procedure_of(experiment).consent
        yield from self.expect(consent in ("", *self.told), f"told {self.told}, stored {consent!r}")
        yield from self.expect(consent or not self.told, "nothing is stored of what was told")
        rows = session.scalars(select(Participation).where(Participation.experiment_id == self.experiment))
        fits = all((row.began is None) == bool(consent) for row in rows)
        yield from self.expect(fits, "subjects begin by another procedure than the stored one")


class Participating(Contest):
    """A subject agrees and answers questions in several windows while the owner deletes or forgets."""

    def prepare(self, session: Session) -> None:
        self.experiment = self.world.experiment(session)
        experiment = session.get_one(Experiment, self.experiment)
        question = {"key": "age", "kind": "number", "text": "Age?"}
        asked = experiments.Procedure.from_dict({"consent": "Yes?", "before": [question]})
        experiments.change_procedure(session, self.experiment, asked)
        (person, token), *_ = experiments.invite_subjects(session, experiment, ["Ada"])
        self.person = Guest(person.id, token, auth.start_session(session, person, 1))
        participation.agree(session, person, asked)
        end = self.world.rng.choice(["delete", "forget"])
        self.turns = ("agree", "answer", "answer", "answer", end)

    @uses("POST /g/{guest:id}/consent")
    def agree(self, client: Client) -> None:
        path = f"/g/{self.person.id}/consent"
        self.send(client, path, 303, 404, cookie=self.person.cookie, data={"agree": "yes"})

    @uses("POST /g/{guest:id}/questions")
    def answer(self, client: Client) -> None:
        given = {"part": "before", "age": str(20 + client.number)}
        path = f"/g/{self.person.id}/questions"
        reply = self.send(client, path, 303, 404, cookie=self.person.cookie, data=given)
        if reply.status_code == 303:
            self.told.append(20 + client.number)

    @uses("POST /experiments/{experiment:id}/subjects/{invitation:id}/delete")
    def delete(self, client: Client) -> None:
        self.send(client, f"/experiments/{self.experiment}/subjects/{self.person.id}/delete", 303)

    @uses("POST /experiments/{experiment:id}/forget")
    def forget(self, client: Client) -> None:
        self.send(client, f"/experiments/{self.experiment}/forget", 303)

    def problems(self, session: Session) -> Iterator[str]:
        said = session.get(Participation, self.person.id)
        person = session.get_one(Invitation, self.person.id)
        yield from self.expect(person.name != "Ada", "the name is still there")
        yield from self.expect(said is None or said.before == {}, "an answer is still there")
        left = session.scalar(select(func.count()).where(Slot.invitation_id == self.person.id))
        yield from self.expect(
            bool(left) == (person.deleted is None), "the schedule is not what it should be"
        )


class Logins(Contest):
    turns = ("login", "logout", "logout", "logout")

    def prepare(self, session: Session) -> None:
        self.shared = auth.start_session(session, None, 1)

    @uses("POST /login")
    def login(self, client: Client) -> None:
        reply = self.send(client, "/login", 303, data={"password": PASSWORD})
        if reply.status_code == 303:
            self.told.append(reply.headers["set-cookie"].split("=", 1)[1].split(";")[0])

    @uses("POST /logout")
    def logout(self, client: Client) -> None:
        self.send(client, "/logout", 303, cookie=f"edgecritic_owner={self.shared}")

    def problems(self, session: Session) -> Iterator[str]:
        held = [auth.session_of(session, secret) is not None for secret in self.told]
        yield from self.expect(all(held), "a browser that has logged in is not known")
        yield from self.expect(auth.session_of(session, self.shared) is None, "a browser was not logged out")


class Links(Contest):
    """The owner's link, which lets one browser in."""

    turns = ("enter",)

    def prepare(self, session: Session) -> None:
        self.token = auth.new_link(session)

    @uses("GET /enter/{token}")
    def enter(self, client: Client) -> None:
        reply = self.send(client, f"/enter/{self.token}", 303, 404, 429, method="GET", cookie="none=1")
        if reply.status_code == 303:
            self.told.append(reply.headers["set-cookie"].split("=", 1)[1].split(";")[0])

    def problems(self, session: Session) -> Iterator[str]:
        yield from self.expect(len(self.told) == 1, f"the link has let {len(self.told)} browsers in")
        held = [auth.session_of(session, secret) is not None for secret in self.told]
        yield from self.expect(all(held), "the browser that the link has let in is not known")


CONTESTS: tuple[type[Contest], ...] = (
    *(Projects, Experiments, Images, Maps, People, OwnerPlaces, Entering),
    *(Opening, Editing, Reopening, Subjects, Answers, Logins, Links, Renewing, Versions),
    *LAB_CONTESTS,
    *(Recruits, Procedures, Participating),
)
