"""Pages and requests of people who label."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from edgecritic.errors import InputError
from edgecritic.inputs import BoolArray
from edgecritic.maps.fold import runs_of
from edgecritic.studio import (
    auth,
    judge_views,
    labelling,
    layers,
    projects,
    reviews,
    subject_views,
    teamwork,
    volumes,
)
from edgecritic.studio.app import (
    client,
    ended_for,
    guest_cookie,
    guest_of,
    page,
    set_cookie,
    studio_of,
    whole,
)
from edgecritic.studio.exports import MEDIA_TYPES, encode_map
from edgecritic.studio.large import coarse_level
from edgecritic.studio.models import Annotation, Image, Invitation, Project, now
from edgecritic.studio.pictures import decode_png, encode_png, read_map_file, thumbnail
from edgecritic.studio.problems import NotFound, Refused, ended
from edgecritic.studio.routing import EDITS, SMALL, UPLOAD, RuledRoute, get, post

if TYPE_CHECKING:
    from edgecritic.matching import Matching

__all__ = ["TILE_PATH", "routes", "send_file", "send_tile"]

TILE_PATH = "tiles/{kind}/{level:id}/{row:id}/{column:id}"

FILES = ("photo", "proposal", "gradient", "deep")
_KEEP = {"cache-control": "private, max-age=31536000, immutable"}


def routes() -> list[RuledRoute]:
    """Return the routes."""
    guest = "/g/{guest:id}"
    work = f"{guest}/annotations/{{annotation:id}}"
    return [
        get("/i/{token}", enter, "anyone", locks="invitation, if the token is right"),
        get(f"{guest}/", guest_page, "guest"),
        get(f"{guest}/label/{{image:id}}", label_page, "guest", locks="invitation"),
        get(f"{guest}/images/{{image:id}}/{{kind}}", guest_file, "guest"),
        get(f"{guest}/images/{{image:id}}/{TILE_PATH}", guest_tile, "guest"),
        get(f"{work}/events", events, "guest"),
        post(f"{work}/events", append, "guest", EDITS, locks="annotation"),
        get(f"{work}/versions", versions, "guest"),
        get(f"{work}/versions/{{version:id}}", version, "guest"),
        post(f"{work}/versions", keep_version, "guest", EDITS, locks="annotation"),
        post(f"{work}/submit", submit, "guest", SMALL, locks="annotation"),
        post(f"{work}/import", import_file, "guest", UPLOAD, locks="annotation"),
        get(f"{work}/scores", scores, "guest"),
        get(f"{work}/compare", compare_page, "guest"),
        get(f"{work}/overlay.png", overlay, "guest"),
        get(f"{work}/layers/{{kind}}", layer, "guest"),
        get(f"{work}/map.{{kind}}", map_file, "guest"),
        get(f"{work}/before", map_before, "guest"),
        get(f"{work}/comments", comments, "guest"),
        post(f"{work}/comments/{{comment:id}}", comment_done, "guest", SMALL, locks="annotation"),
    ]


def enter(request: Request, session: Session) -> Response:
    """Take an invitation: this browser may enter, and the link leaves the address bar.

    The token is looked up before the session writes, so that strangers with wrong ones take no lock.
    """
    studio = studio_of(request)
    token = request.path_params["token"]
    with studio.database.reading() as reading:
        known = auth.find_invitation(reading, token) is not None
    invitation = auth.find_invitation(session, token) if known else None
    if invitation is None:
        studio.token_limit.check(client(request))
        raise ended(NotFound, "unknown")
    if code := auth.why_ended(session, invitation):
        raise ended_for(session, invitation, code)
    invitation.opened = invitation.opened or now()
    secret = auth.start_session(session, invitation, studio.settings.session_hours)
    response = RedirectResponse(f"/g/{invitation.id}/", 303)
    set_cookie(response, studio.settings, guest_cookie(invitation.id), secret, f"/g/{invitation.id}")
    return response


def guest_page(request: Request, session: Session) -> Response:
    """Show what the invitation is for."""
    invitation = guest_of(request, session)
    if invitation.project_id is None:
        return subject_views.subject_page(request, session, invitation)
    mine = {
        one.image_id: one
        for one in session.scalars(
            select(Annotation).where(Annotation.invitation_id == invitation.id, projects.is_begun())
        )
    }
    images = teamwork.images_for(session, invitation)
    states = {one.id: _state_of(mine.get(one.id)) for one in images}
    return page(
        request,
        "images.html",
        guest=invitation,
        project=session.get_one(Project, invitation.project_id),
        images=images,
        mine=mine,
        states=states,
        after=next((one.id for one in images if states[one.id] != "done"), None),
    )


def _state_of(work: Annotation | None) -> str:
    """Return how far a person is with an image: ``new``, ``open``, ``back`` (sent back) or ``done``."""
    if work is None:
        return "new"
    if work.returned is not None:
        return "back"
    return "open" if work.submitted is None else "done"


def label_page(request: Request, session: Session) -> Response:
    """Show the tool."""
    invitation = guest_of(request, session)
    annotation = labelling.open_annotation(session, invitation, whole(request, "image"))
    image = session.get_one(Image, annotation.image_id)
    order = [one.id for one in teamwork.images_for(session, invitation)]
    if image.id not in order:
        raise NotFound("this image was given to others")
    here = order.index(image.id)
    return page(
        request,
        "label.html",
        guest=invitation,
        project=session.get_one(Project, image.project_id),
        image=image,
        annotation=annotation,
        is_deep=projects.is_deep(session, image.id),
        coarse=coarse_level(image.width, image.height),
        has_tiles=projects.has_tiles(session, image.id),
        is_slice=volumes.slice_of(session, image.id) is not None,
        has_gradient=projects.has_gradient(session, image.id),
        before=order[here - 1] if here else None,
        after=order[here + 1] if here + 1 < len(order) else None,
        number=here + 1,
        count=len(order),
    )


def guest_file(request: Request, session: Session) -> Response:
    """Send a file of an image of the person's project or schedule."""
    invitation = guest_of(request, session)
    image_id, kind = whole(request, "image"), request.path_params["kind"]
    if invitation.project_id is not None:
        projects.get_image(session, image_id, invitation.project_id)
    elif kind != "photo" or not judge_views.subject_may_see(session, invitation, image_id):
        raise NotFound("there is no such image")
    return send_file(session, image_id, kind)


def send_file(session: Session, image_id: int, kind: str) -> Response:
    """Send a stored file; it never changes, so a browser may keep it."""
    if kind == "thumb":
        if projects.has_file(session, image_id, "thumb"):
            content = projects.file_of(session, image_id, "thumb").content
        else:  # an image of an earlier version
            content = thumbnail(decode_png(projects.file_of(session, image_id, "photo").content))
        return Response(content, media_type="image/jpeg", headers=_KEEP)
    if kind not in FILES:
        raise NotFound("there is no such file")
    found = projects.file_of(session, image_id, kind)
    return Response(found.content, media_type=found.media_type, headers=_KEEP)


def send_tile(request: Request, session: Session) -> Response:
    """Send a tile; browsers unpack those of maps by themselves."""
    places = (whole(request, name) for name in ("level", "row", "column"))
    found = projects.tile_of(session, whole(request, "image"), request.path_params["kind"], *places)
    packed = {} if found.media_type == "image/jpeg" else {"content-encoding": "gzip"}
    return Response(found.content, media_type=found.media_type, headers=_KEEP | packed)


def guest_tile(request: Request, session: Session) -> Response:
    """Send a tile of an image of the person's project."""
    invitation = guest_of(request, session)
    if invitation.project_id is None:
        raise NotFound("there is no such image")
    projects.get_image(session, whole(request, "image"), invitation.project_id)
    return send_tile(request, session)


def events(request: Request, session: Session) -> Response:
    """Send some of the edits, from the one whose number the query gives; there are `count` in all."""
    _, annotation = _work(request, session)
    start = request.query_params.get("from", "0")
    if not re.fullmatch("[0-9]{1,9}", start):
        raise InputError("from must be the number of an edit")
    page = labelling.event_page(session, annotation, int(start))
    count, submitted = labelling.count_events(session, annotation), annotation.submitted is not None
    content = f'{{"count": {count}, "submitted": {json.dumps(submitted)}, "events": [{", ".join(page)}]}}'
    return Response(content, media_type="application/json")


def append(request: Request, session: Session, document: Any) -> Response:
    """Store edits; the reply is sent after the commit."""
    _, annotation = _work(request, session)
    given = labelling.parse_events(document, session.get_one(Image, annotation.image_id))
    return JSONResponse({"count": labelling.append_events(session, annotation, given)})


def keep_version(request: Request, session: Session, document: Any) -> Response:
    """Keep edits that do not follow those that are stored, as another version of the map."""
    _, annotation = _work(request, session)
    return JSONResponse({"id": labelling.keep_version(session, annotation, document).id}, 201)


def versions(request: Request, session: Session) -> Response:
    """List the other versions of the map."""
    _, annotation = _work(request, session)
    listed = [
        {"id": one.id, "edits": len(one.edits), "created": one.created.isoformat()}
        for one in labelling.versions_of(session, annotation)
    ]
    return JSONResponse({"versions": listed})


def version(request: Request, session: Session) -> Response:
    """Send the edits of another version, which follow the first `base` ones of the map."""
    _, annotation = _work(request, session)
    wanted = whole(request, "version")
    found = next((one for one in labelling.versions_of(session, annotation) if one.id == wanted), None)
    if found is None:
        raise NotFound("there is no such version")
    return JSONResponse({"base": found.base, "events": found.edits})


def submit(request: Request, session: Session, document: Any) -> Response:
    """Finish a map, if the browser knows all of its edits."""
    _, annotation = _work(request, session)
    known = document.get("count") if isinstance(document, dict) else None
    labelling.submit(session, annotation, known)
    return JSONResponse({"submitted": True})


def import_file(request: Request, session: Session, content: bytes) -> Response:
    """Replace the map by an uploaded one."""
    studio = studio_of(request)
    with studio.database.reading() as reading:
        image = reading.get_one(Image, _work(request, reading)[1].image_id)
    maps = read_map_file(content, "label", (image.height, image.width), studio.settings.upload_pixels)
    _, annotation = _work(request, session)
    return JSONResponse({"count": labelling.import_map(session, annotation, maps[0]), "maps": len(maps)})


def scores(request: Request, session: Session) -> Response:
    """Send the scores of the map against all others."""
    invitation, annotation = _work(request, session)
    mine, others = _others(session, invitation, annotation)
    return JSONResponse({"scores": [dataclasses.asdict(one) for one in labelling.scores_of(mine, others)]})


def compare_page(request: Request, session: Session) -> Response:
    """Show a submitted map beside those of others."""
    invitation, annotation = _work(request, session)
    mine, others = _others(session, invitation, annotation)
    shown = [
        {
            "kind": "radio",
            "name": other.name,
            "path": f"layers/{other.key}",
            "colours": layers.MATCHING,
            "key": (),
            "shown": place == 0,
        }
        for place, other in enumerate(others)
    ]
    return page(
        request,
        "compare.html",
        layers=shown,
        has_tiles=projects.has_tiles(session, annotation.image_id),
        guest=invitation,
        annotation=annotation,
        image=session.get_one(Image, annotation.image_id),
        pixels=int(mine.sum()),
        scores=labelling.scores_of(mine, others),
        strong=_strength_shares([mine, *(other.map for other in others)]) if others else None,
        after=_next_open(session, invitation, annotation.image_id),
    )


def _next_open(session: Session, invitation: Invitation, image_id: int) -> int | None:
    """Return the image after this one, from the start again at the end, that the person has not submitted."""
    order = [one.id for one in teamwork.images_for(session, invitation)]
    mine = select(Annotation.image_id).where(
        Annotation.invitation_id == invitation.id, Annotation.submitted.is_not(None)
    )
    done = {image_id, *session.scalars(mine)}
    here = order.index(image_id) if image_id in order else 0
    return next((one for one in order[here:] + order[:here] if one not in done), None)


def overlay(request: Request, session: Session) -> Response:
    """Send the matching of the map with another one as a picture."""
    found = _matched(request, session, request.query_params.get("with", ""))
    return Response(encode_png(found.overlay()), media_type="image/png")


def layer(request: Request, session: Session) -> Response:
    """Send the matching of the map with another one, as the page draws it over the photo."""
    return layers.send_layer(layers.matching_layer(_matched(request, session, request.path_params["kind"])))


def _matched(request: Request, session: Session, wanted: str) -> Matching:
    """Return the matching of the person's map with that of another one."""
    from edgecritic.matching import match

    invitation, annotation = _work(request, session)
    mine, others = _others(session, invitation, annotation)
    other = next((one for one in others if one.key == wanted), None)
    if other is None:
        raise NotFound("there is no such map")
    return match(mine, other.map, relative_tolerance=0.0075)


def map_file(request: Request, session: Session) -> Response:
    """Send the map as a file."""
    _, annotation = _work(request, session)
    kind = request.path_params["kind"]
    if kind not in MEDIA_TYPES:
        raise NotFound(f"a map is written as {', '.join(MEDIA_TYPES)}")
    name = session.get_one(Image, annotation.image_id).name
    content = encode_map([labelling.map_of(session, annotation)], kind)
    plain = projects.file_name(name).encode("ascii", "replace").decode().replace("?", "_")
    headers = {"content-disposition": f'attachment; filename="{plain}.{kind}"'}
    return Response(content, media_type=MEDIA_TYPES[kind], headers=headers)


def map_before(request: Request, session: Session) -> Response:
    """Send the person's map of the neighbouring slice of a volume, as runs."""
    _, annotation = _work(request, session)
    return JSONResponse({"runs": runs_of(volumes.map_before(session, annotation))})


def comments(request: Request, session: Session) -> Response:
    """Send what the owner says of the map."""
    _, annotation = _work(request, session)
    listed = [
        {"id": one.id, "x": one.x, "y": one.y, "text": one.text, "done": one.done is not None}
        for one in reviews.comments_of(session, annotation.id)
    ]
    return JSONResponse({"comments": listed})


def comment_done(request: Request, session: Session, document: Any) -> Response:
    """Mark a comment as done, or as open again."""
    _, annotation = _work(request, session)
    done = document.get("done") if isinstance(document, dict) else None
    if not isinstance(done, bool):
        raise InputError("done must be true or false")
    reviews.set_done(session, annotation, whole(request, "comment"), done=done)
    return JSONResponse({"done": done})


def _work(request: Request, session: Session) -> tuple[Invitation, Annotation]:
    invitation = guest_of(request, session)
    return invitation, labelling.find_annotation(session, invitation, whole(request, "annotation"))


def _others(
    session: Session, invitation: Invitation, annotation: Annotation
) -> tuple[BoolArray, list[labelling.Label]]:
    """Return the person's map and those of others, which are shown only after the own was submitted."""
    if annotation.submitted is None and not invitation.is_owner:
        raise Refused("the maps of others are shown after yours is submitted")
    labels = labelling.labels_of(session, annotation.image_id)
    others = [label for label in labels if label.person != invitation.id]
    return labelling.map_of(session, annotation), others


def _strength_shares(maps: list[BoolArray]) -> list[dict[str, Any]]:
    """Return how many of the first map's pixels were drawn by 1, 2, … of all annotators."""
    from edgecritic.annotators import strength

    found = strength(maps)
    partners = found.partners[0]
    count = np.bincount(partners, minlength=len(maps))
    return [
        {"people": number + 1, "pixels": int(pixels), "share": float(pixels) / max(int(partners.size), 1)}
        for number, pixels in enumerate(count)
    ]
