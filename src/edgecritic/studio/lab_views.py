"""What the owner does with the work of others: guidelines, shares, reviews, consensus, deletions."""

from __future__ import annotations

from typing import Any

import numpy as np
from sqlalchemy.orm import Session
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from edgecritic.errors import InputError
from edgecritic.studio import labelling, layers, projects, reviews, teamwork, volumes
from edgecritic.studio.app import page, whole
from edgecritic.studio.models import Annotation, Image, Invitation
from edgecritic.studio.problems import NotFound
from edgecritic.studio.routing import FORM, PARAGRAPHS, SMALL, TEXT, RuledRoute, get, post

__all__ = ["routes"]


def routes() -> list[RuledRoute]:
    """Return the routes."""
    project = "/projects/{project:id}"
    image = f"{project}/images/{{image:id}}"
    work = "/annotations/{annotation:id}"
    return [
        post(f"{project}/rename", rename_project, "owner", FORM, locks="project"),
        post(f"{project}/delete", delete_project, "owner", FORM, locks="project"),
        post(f"{project}/guideline", guideline, "owner", TEXT, locks="project"),
        post(f"{project}/classes", classes, "owner", TEXT, locks="project"),
        post(f"{project}/assign", assign, "owner", FORM, locks="project"),
        post(f"{image}/rename", rename_image, "owner", FORM, locks="project"),
        post(f"{image}/delete", delete_image, "owner", FORM, locks="project"),
        post(f"{image}/maps/{{map:id}}/delete", delete_map, "owner", FORM, locks="image"),
        post(f"{project}/volumes/{{volume:id}}/delete", delete_volume, "owner", FORM, locks="project"),
        post(f"{image}/consensus", consensus, "owner", FORM, locks="project"),
        get(f"{work}/review", review_page, "owner"),
        get(f"{work}/layer", layer, "owner"),
        post(f"{work}/comments", add_comment, "owner", PARAGRAPHS, locks="annotation"),
        post(f"{work}/comments/{{comment:id}}/delete", delete_comment, "owner", SMALL, locks="annotation"),
        post(f"{work}/return", send_back, "owner", FORM, locks="annotation"),
    ]


def rename_project(request: Request, session: Session, form: dict[str, str]) -> Response:
    """Give a project another name."""
    number = whole(request, "project")
    teamwork.rename_project(session, number, form.get("name", ""))
    return RedirectResponse(f"/projects/{number}", 303)


def delete_project(request: Request, session: Session, form: dict[str, str]) -> Response:
    """Delete a project, if its name was typed."""
    teamwork.delete_project(session, whole(request, "project"), form.get("name", ""))
    return RedirectResponse("/", 303)


def guideline(request: Request, session: Session, form: dict[str, str]) -> Response:
    """Take the text that annotators read."""
    number = whole(request, "project")
    teamwork.set_guideline(session, number, form.get("text", ""))
    return RedirectResponse(f"/projects/{number}/people", 303)


def classes(request: Request, session: Session, form: dict[str, str]) -> Response:
    """Take the names of the classes that edges may belong to."""
    number = whole(request, "project")
    teamwork.set_classes(session, number, form.get("names", ""))
    return RedirectResponse(f"/projects/{number}/people", 303)


def assign(request: Request, session: Session, form: dict[str, str]) -> Response:
    """Share the images out, or give all to all."""
    number, each = whole(request, "project"), form.get("each", "").strip()
    if each and not (each.isdecimal() and 1 <= int(each[:6]) <= 100):
        raise InputError("how many people an image is given to must be a number from 1 to 100, or nothing")
    teamwork.assign(session, number, int(each) if each else None)
    return RedirectResponse(f"/projects/{number}/people", 303)


def rename_image(request: Request, session: Session, form: dict[str, str]) -> Response:
    """Give an image another name."""
    number, image = whole(request, "project"), whole(request, "image")
    teamwork.rename_image(session, number, image, form.get("name", ""))
    return RedirectResponse(f"/projects/{number}/images/{image}", 303)


def delete_image(request: Request, session: Session, _form: dict[str, str]) -> Response:
    """Delete an image with all work on it."""
    number = whole(request, "project")
    teamwork.delete_image(session, number, whole(request, "image"))
    return RedirectResponse(f"/projects/{number}", 303)


def delete_map(request: Request, session: Session, _form: dict[str, str]) -> Response:
    """Delete an imported label or a detector's map."""
    number, image = whole(request, "project"), whole(request, "image")
    teamwork.delete_map(session, number, image, whole(request, "map"))
    return RedirectResponse(f"/projects/{number}/images/{image}", 303)


def delete_volume(request: Request, session: Session, _form: dict[str, str]) -> Response:
    """Delete a volume with all of its slices."""
    number = whole(request, "project")
    volumes.delete_volume(session, number, whole(request, "volume"))
    return RedirectResponse(f"/projects/{number}", 303)


def consensus(request: Request, session: Session, form: dict[str, str]) -> Response:
    """Build a map from those of several people, and let the owner edit it."""
    image = projects.get_image(session, whole(request, "image"), whole(request, "project"))
    place = reviews.build_consensus(session, image, form.get("rule", ""))
    return RedirectResponse(f"/g/{place}/label/{image.id}", 303)


def review_page(request: Request, session: Session) -> Response:
    """Show one person's map, as it is now, with what was said of it."""
    annotation = _annotation(request, session)
    image = session.get_one(Image, annotation.image_id)
    shown = {
        "kind": "checkbox",
        "name": "the map",
        "path": f"/annotations/{annotation.id}/layer",
        "colours": ["#000000", layers.PEOPLE[0]],
        "key": [layers.PEOPLE[0]],
        "shown": True,
    }
    return page(
        request,
        "review.html",
        project=projects.get_project(session, image.project_id),
        image=image,
        annotation=annotation,
        person=session.get_one(Invitation, annotation.invitation_id),
        comments=reviews.comments_of(session, annotation.id),
        has_tiles=projects.has_tiles(session, image.id),
        layers=[shown],
    )


def layer(request: Request, session: Session) -> Response:
    """Send one person's map, as the page draws it over the photo."""
    found = labelling.map_of(session, _annotation(request, session))
    return layers.send_layer(layers.layer_of(found.astype(np.uint8)))


def add_comment(request: Request, session: Session, document: Any) -> Response:
    """Say something about a place."""
    made = reviews.add_comment(session, whole(request, "annotation"), document)
    return JSONResponse({"id": made.id, "x": made.x, "y": made.y, "text": made.text}, 201)


def delete_comment(request: Request, session: Session, _given: Any) -> Response:
    """Take a comment back."""
    reviews.delete_comment(session, whole(request, "annotation"), whole(request, "comment"))
    return JSONResponse({"deleted": True})


def send_back(request: Request, session: Session, _form: dict[str, str]) -> Response:
    """Ask the person to go on with the map."""
    annotation = reviews.send_back(session, whole(request, "annotation"))
    return RedirectResponse(f"/annotations/{annotation.id}/review", 303)


def _annotation(request: Request, session: Session) -> Annotation:
    found = session.get(Annotation, whole(request, "annotation"))
    if found is None:
        raise NotFound("there is no such annotation")
    return found
