"""What an owner's clients compete for while a laboratory works: names, texts, shares, comments, deletions."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from edgecritic.geometry import Geometry
from edgecritic.maps.fold import runs_of
from edgecritic.studio import labelling, projects, volumes
from edgecritic.studio.models import (
    Annotation,
    Assignment,
    Comment,
    Event,
    Image,
    ImageFile,
    Invitation,
    LabelMap,
    Project,
    Volume,
)
from studio_writers import Client, Contest, frame, uses


class Names(Contest):
    """Renaming while others rename, and one name for two images."""

    turns = ("rename", "rename_image", "rename_image", "write", "sort")

    def prepare(self, session: Session) -> None:
        self.project = projects.create_project(session, "Before").id
        self.images = [
            projects.add_image(session, self.project, name, self.world.upload).id for name in ("a", "b")
        ]
        self.given: list[int] = []

    @uses("POST /projects/{project:id}/rename")
    def rename(self, client: Client) -> None:
        self.send(client, f"/projects/{self.project}/rename", 303, data={"name": f"After {client.number}"})

    @uses("POST /projects/{project:id}/images/{image:id}/rename")
    def rename_image(self, client: Client) -> None:
        image = self.images[client.number % 2]
        path = f"/projects/{self.project}/images/{image}/rename"
        if self.send(client, path, 303, 409, data={"name": "same"}).status_code == 303:
            self.given.append(image)

    @uses("POST /projects/{project:id}/guideline")
    def write(self, client: Client) -> None:
        path = f"/projects/{self.project}/guideline"
        self.send(client, path, 303, data={"text": f"Text {client.number}\n\nMore"})

    @uses("POST /projects/{project:id}/classes")
    def sort(self, client: Client) -> None:
        self.send(client, f"/projects/{self.project}/classes", 303, data={"names": "road\ncar"})

    def problems(self, session: Session) -> Iterator[str]:
        project = session.get_one(Project, self.project)
        yield from self.expect(project.name in ("After 0", "After 5"), f"named {project.name}")
        yield from self.expect(project.guideline == "Text 3\n\nMore", "another guideline")
        yield from self.expect(project.classes == ["road", "car"], f"classes {project.classes}")
        same = session.scalars(
            select(Image.id).where(Image.project_id == self.project, Image.name == "same")
        ).all()
        yield from self.expect(
            len(same) == 1 and set(self.given) == set(same), f"told {self.given}, named {same}"
        )


class Sharing(Contest):
    """Images are shared out while others share them out too."""

    turns = ("share", "share", "all")

    def prepare(self, session: Session) -> None:
        self.project = projects.create_project(session, "Shared").id
        for name in ("a", "b", "c"):
            projects.add_image(session, self.project, name, self.world.upload)
        for _ in range(3):
            projects.invite(session, "Ada", project_id=self.project)

    @uses("POST /projects/{project:id}/assign")
    def share(self, client: Client) -> None:
        self.send(client, f"/projects/{self.project}/assign", 303, data={"each": "2"})

    @uses("POST /projects/{project:id}/assign")
    def all(self, client: Client) -> None:
        self.send(client, f"/projects/{self.project}/assign", 303, data={"each": ""})

    def problems(self, session: Session) -> Iterator[str]:
        rows = session.execute(
            select(Assignment.invitation_id, func.count())
            .join(Image, Image.id == Assignment.image_id)
            .where(Image.project_id == self.project)
            .group_by(Assignment.invitation_id)
        ).all()
        counts = [count for _, count in rows]
        yield from self.expect(counts in ([], [2, 2, 2]), f"shares of {counts} images")


class Comments(Contest):
    """A map is commented, sent back and edited at once; each comment is stored once."""

    turns = ("say", "say", "say", "back", "tick", "forget")

    def prepare(self, session: Session) -> None:
        self.person = self.world.guest(session, project_id=self.world.project)
        person = session.get_one(Invitation, self.person.id)
        annotation = labelling.open_annotation(session, person, self.world.image)
        labelling.submit(session, annotation, 0)
        self.annotation = annotation.id
        known = [Comment(annotation_id=annotation.id, x=1, y=1, text=text) for text in ("tick", "forget")]
        session.add_all(known)
        session.flush()
        self.ticked, self.forgotten = (one.id for one in known)
        self.path = f"/annotations/{annotation.id}"

    @uses("POST /annotations/{annotation:id}/comments")
    def say(self, client: Client) -> None:
        given = {"x": client.number, "y": 2, "text": "Here"}
        self.told.append(self.send(client, f"{self.path}/comments", 201, json=given).json()["id"])

    @uses("POST /annotations/{annotation:id}/return")
    def back(self, client: Client) -> None:
        self.send(client, f"{self.path}/return", 303)

    @uses("POST /g/{guest:id}/annotations/{annotation:id}/comments/{comment:id}")
    def tick(self, client: Client) -> None:
        path = f"/g/{self.person.id}{self.path}/comments/{self.ticked}"
        self.send(client, path, 200, cookie=self.person.cookie, json={"done": True})

    @uses("POST /annotations/{annotation:id}/comments/{comment:id}/delete")
    def forget(self, client: Client) -> None:
        self.send(client, f"{self.path}/comments/{self.forgotten}/delete", 200, 404, json={})

    def problems(self, session: Session) -> Iterator[str]:
        stored = session.scalars(select(Comment).where(Comment.annotation_id == self.annotation)).all()
        yield from self.expect(
            {one.id for one in stored} == {*self.told, self.ticked}, "comments are missing or doubled"
        )
        done = [one.id for one in stored if one.done is not None]
        yield from self.expect(done == [self.ticked], f"done are {done}")
        annotation = session.get_one(Annotation, self.annotation)
        yield from self.expect(
            annotation.submitted is None and annotation.returned is not None, "the map was not sent back"
        )


class Agreeing(Contest):
    """A consensus is built by several windows: one place, one map, each building an edit."""

    turns = ("build",)

    def prepare(self, session: Session) -> None:
        self.project = projects.create_project(session, "Agreed").id
        image = projects.add_image(session, self.project, "one", self.world.upload)
        self.image = image.id
        for number in range(2):
            projects.add_maps(session, image, "label", f"person {number}", [frame(0)])

    @uses("POST /projects/{project:id}/images/{image:id}/consensus")
    def build(self, client: Client) -> None:
        path = f"/projects/{self.project}/images/{self.image}/consensus"
        reply = self.send(client, path, 303, data={"rule": "2"})
        self.told.append(int(reply.headers["location"].split("/")[2]))

    def problems(self, session: Session) -> Iterator[str]:
        places = session.scalars(
            select(Invitation.id).where(Invitation.project_id == self.project, Invitation.is_consensus)
        ).all()
        yield from self.expect(set(self.told) == set(places) and len(places) == 1, f"{len(places)} places")
        runs = session.scalars(
            select(Event.data)
            .join(Annotation, Annotation.id == Event.annotation_id)
            .where(Annotation.image_id == self.image)
        ).all()
        wanted = {"runs": runs_of(frame(0))}
        yield from self.expect(
            len(runs) == len(self.told) and all(one == wanted for one in runs), "edits of the consensus"
        )


class Deleting(Contest):
    """Maps, images and a project are deleted while others use them: gone at once, nothing left over."""

    turns = ("drop_map", "drop", "edit", "drop", "drop_volume", "end", "end", "edit")

    def prepare(self, session: Session) -> None:
        self.project = projects.create_project(session, "Gone").id
        image = projects.add_image(session, self.project, "one", self.world.upload)
        projects.add_maps(session, image, "label", "person", [frame(0)])
        self.image = image.id
        upload = volumes.VolumeUpload(Geometry.of_spacing((1, 1, 1), (64, 48, 1)), (self.world.upload,))
        volume, [self.slice] = volumes.add_volume(session, self.project, "solid.nii", upload)
        self.volume = volume.id
        self.map = session.scalars(select(LabelMap.id).where(LabelMap.image_id == image.id)).one()
        self.person = self.world.guest(session, project_id=self.project)
        person = session.get_one(Invitation, self.person.id)
        self.annotation = labelling.open_annotation(session, person, image.id).id

    @uses("POST /projects/{project:id}/images/{image:id}/maps/{map:id}/delete")
    def drop_map(self, client: Client) -> None:
        path = f"/projects/{self.project}/images/{self.image}/maps/{self.map}/delete"
        self.send(client, path, 303, 404)

    @uses("POST /projects/{project:id}/images/{image:id}/delete")
    def drop(self, client: Client) -> None:
        self.send(client, f"/projects/{self.project}/images/{self.image}/delete", 303, 404)

    @uses("POST /projects/{project:id}/volumes/{volume:id}/delete")
    def drop_volume(self, client: Client) -> None:
        self.send(client, f"/projects/{self.project}/volumes/{self.volume}/delete", 303, 404)

    @uses("POST /g/{guest:id}/annotations/{annotation:id}/events")
    def edit(self, client: Client) -> None:
        edit = {"seq": 0, "key": f"k{client.number}", "op": "draw", "data": {"points": [1, 1, 4, 4]}}
        path = f"/g/{self.person.id}/annotations/{self.annotation}/events"
        self.send(client, path, 200, 404, 409, cookie=self.person.cookie, json={"events": [edit]})

    @uses("POST /projects/{project:id}/delete")
    def end(self, client: Client) -> None:
        self.send(client, f"/projects/{self.project}/delete", 303, 404, data={"name": "Gone"})

    def problems(self, session: Session) -> Iterator[str]:
        yield from self.expect(session.get(Project, self.project) is None, "the project is still there")
        yield from self.expect(session.get(Volume, self.volume) is None, "the volume is still there")
        for model, column in ((ImageFile, "image_id"), (Annotation, "image_id"), (LabelMap, "image_id")):
            left = session.scalar(
                select(func.count()).select_from(model).where(getattr(model, column) == self.image)
            )
            yield from self.expect(not left, f"{left} rows of {model.__name__} are left over")


LAB_CONTESTS: tuple[type[Contest], ...] = (Names, Sharing, Comments, Agreeing, Deleting)
