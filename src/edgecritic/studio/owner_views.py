"""Pages and requests of the owner: log in, projects, images, people, review."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

from edgecritic.errors import InputError
from edgecritic.studio import auth, experiments, labelling, layers, projects, reviews, teamwork, volumes
from edgecritic.studio.app import (
    OWNER_COOKIE,
    client,
    page,
    set_cookie,
    studio_of,
    whole,
)
from edgecritic.studio.exports import project_zip, send_zip
from edgecritic.studio.guard import is_direct
from edgecritic.studio.label_views import TILE_PATH, send_file, send_tile
from edgecritic.studio.models import Annotation, Image, Invitation, Project
from edgecritic.studio.pictures import decode_png, encode_png, levels_of, read_map_file, read_photo
from edgecritic.studio.problems import NotFound, Refused
from edgecritic.studio.routing import FORM, NAMES, SMALL, UPLOAD, RuledRoute, get, post

__all__ = ["routes"]


def routes() -> list[RuledRoute]:
    """Return the routes."""
    project = "/projects/{project:id}"
    image = f"{project}/images/{{image:id}}"
    return [
        get("/", home, "owner"),
        get("/healthz", healthz, "anyone"),
        get("/login", login_page, "anyone"),
        post("/login", login, "anyone", FORM, locks="session, if the password is right"),
        get("/enter/{token}", enter, "anyone", locks="link, if the token is right"),
        post("/logout", logout, "anyone", FORM, locks="session, if there is one"),
        post("/projects", create_project, "owner", FORM, locks="new project"),
        get(project, project_page, "owner"),
        get(f"{project}/people", people_page, "owner"),
        get(f"{project}/experiments", experiments_page, "owner"),
        post(f"{project}/images", add_image, "owner", UPLOAD, locks="project"),
        post(f"{project}/maps", add_map, "owner", UPLOAD, locks="image"),
        post(f"{project}/detect", detect, "owner", FORM, locks="project"),
        post(f"{project}/people", invite, "owner", NAMES, locks="project"),
        post(f"{project}/label", label, "owner", FORM, locks="project"),
        get(f"{project}/export.zip", export, "owner"),
        get(image, image_page, "owner"),
        get(f"{image}/strength.png", strength_picture, "owner"),
        get(f"{image}/{TILE_PATH}", image_tile, "owner"),
        get(f"{image}/layers/{{kind}}", layer, "owner"),
        get(f"{image}/{{kind}}", image_file, "owner"),
        post("/annotations/{annotation:id}/reopen", reopen, "owner", FORM, locks="annotation"),
        post("/invitations/{invitation:id}/revoke", revoke, "owner", FORM, locks="invitation"),
        post("/invitations/{invitation:id}/renew", renew, "owner", SMALL, locks="invitation"),
    ]


async def healthz(_request: Request) -> Response:
    """Say that the server is up."""
    return PlainTextResponse("ok")


def home(request: Request, session: Session) -> Response:
    """Show the projects."""
    rows = session.execute(select(Image.project_id, func.count()).group_by(Image.project_id))
    counts = {project: count for project, count in rows}  # noqa: C416 - rows are no pairs for the type checker
    listed = session.scalars(select(Project).order_by(Project.id)).all()
    return page(request, "home.html", projects=listed, counts=counts, has_password=auth.has_password(session))


def login_page(request: Request, session: Session) -> Response:
    """Ask for the password."""
    if studio_of(request).is_owner(request, session):
        return RedirectResponse("/", 303)
    return page(request, "login.html", message="", has_password=auth.has_password(session))


async def login(request: Request, form: dict[str, str]) -> Response:
    """Check the password."""
    if await studio_of(request).is_password(request, form.get("password", "")):
        database = studio_of(request).database
        return await run_in_threadpool(database.write, lambda session: _welcome(request, session))
    return page(request, "login.html", 403, message="That is not the password.", has_password=True)


def enter(request: Request, session: Session) -> Response:
    """Take the link that the command has shown: this browser is the owner's, and the link is used up.

    The token is looked up before the session writes, so that strangers with wrong ones take no lock.
    """
    studio = studio_of(request)
    token = request.path_params["token"]
    with studio.database.reading() as reading:
        known = auth.is_link(reading, token)
        here = is_direct(request, studio.settings) or auth.has_password(reading)
    if request.method == "HEAD":  # programs that look whether there is a page do not use it up
        return Response()
    if known and not here:
        raise Refused("while no password is set, this link works on the studio's own computer only")
    if not (known and auth.use_link(session, token)):
        studio.token_limit.check(client(request))
        raise NotFound("this link is not valid (any more); edgecritic studio --link makes a new one")
    return _welcome(request, session)


def _welcome(request: Request, session: Session) -> Response:
    """Begin a session of the owner."""
    studio = studio_of(request)
    secret = auth.start_session(session, None, studio.settings.session_hours)
    response = RedirectResponse("/", 303)
    set_cookie(response, studio.settings, OWNER_COOKIE, secret, "/")
    return response


def logout(request: Request, session: Session, _form: dict[str, str]) -> Response:
    """Forget this browser."""
    secret = request.cookies.get(OWNER_COOKIE)
    with studio_of(request).database.reading() as reading:
        known = auth.session_of(reading, secret) is not None
    if known:
        auth.end_session(session, secret)
    response = RedirectResponse("/login", 303)
    response.delete_cookie(OWNER_COOKIE)
    return response


def create_project(_request: Request, session: Session, form: dict[str, str]) -> Response:
    """Make a project."""
    made = projects.create_project(session, form.get("name", ""))
    return RedirectResponse(f"/projects/{made.id}", 303)


def project_page(request: Request, session: Session) -> Response:
    """Show the images of a project."""
    return _project(request, session, "images")


def people_page(request: Request, session: Session) -> Response:
    """Show who labels the images of a project, and how far they are."""
    return _project(request, session, "people")


def experiments_page(request: Request, session: Session) -> Response:
    """Show the experiments of a project."""
    return _project(request, session, "experiments")


def _project(request: Request, session: Session, tab: str) -> Response:
    from edgecritic.detectors import detectors

    project = projects.get_project(session, whole(request, "project"))
    rows = projects.image_rows(session, project.id)
    return page(
        request,
        "project.html",
        tab=tab,
        project=project,
        rows=rows,
        people=projects.people_of(session, project_id=project.id),
        progress=projects.progress_of(session, project.id) if tab == "people" else {},
        assigned=teamwork.assigned_counts(session, project.id) if tab == "people" else {},
        experiments=experiments.experiments_of(session, project.id),
        detectors=sorted(detectors.names()),
        volumes=volumes.volumes_of(session, project.id) if tab == "images" else [],
        ready=sum(row.detectors > 0 and row.labels + row.submitted >= 2 for row in rows),
    )


def add_image(request: Request, session: Session, content: bytes) -> Response:
    """Take a photo, or a volume, whose slices become images; the content decides what it is."""
    most, name = studio_of(request).settings.upload_pixels, request.query_params.get("name", "")
    if volumes.is_volume(content):
        slices = volumes.read_slices(content, most)
        volume, images = volumes.add_volume(session, whole(request, "project"), name, slices)
        return JSONResponse({"id": images[0].id, "name": volume.name, "slices": len(images)}, 201)
    upload = read_photo(content, most)
    made = projects.add_image(session, whole(request, "project"), name, upload)
    return JSONResponse({"id": made.id, "name": made.name}, 201)


def add_map(request: Request, session: Session, content: bytes) -> Response:
    """Take a label or a detector's map for the image of the same name."""
    kind, query = request.query_params.get("kind", ""), request.query_params
    if kind not in ("label", "detector"):
        raise InputError("kind must be label or detector")
    stem = projects.stem_of(query.get("file", ""))
    with studio_of(request).database.reading() as reading:
        image = reading.scalar(
            select(Image).where(Image.project_id == whole(request, "project"), Image.name == stem)
        )
    if image is None:
        raise NotFound(f"the project has no image {stem!r}; the map must have the photo's name")
    most = studio_of(request).settings.upload_pixels
    maps = read_map_file(content, kind, (image.height, image.width), most)
    stored = projects.add_maps(session, image, kind, query.get("name", "") or "imported", maps)
    return JSONResponse({"image": image.name, "maps": stored}, 201)


def detect(request: Request, session: Session, form: dict[str, str]) -> Response:
    """Run a detector of the toolkit on every image."""
    from edgecritic.detectors import detect as find

    number = whole(request, "project")
    name = projects.clean_name(form.get("detector", ""), "detector")
    found = []
    with studio_of(request).database.reading() as reading:
        projects.get_project(reading, number)
        for image in projects.images_of(reading, number):
            photo = decode_png(projects.file_of(reading, image.id, "photo").content)
            found.append((image.id, levels_of(np.square(find(photo, name).thin))))
    for image_id, levels in found:
        projects.add_maps(
            session, projects.get_image(session, image_id, number), "detector", name, [levels / 255]
        )
    return RedirectResponse(f"/projects/{number}", 303)


def invite(request: Request, session: Session, document: Any) -> Response:
    """Invite people to label; their links are shown once."""
    names = document.get("names") if isinstance(document, dict) else None
    if not isinstance(names, list) or not 1 <= len(names) <= 100:
        raise InputError("names must be a list of 1 to 100 names")
    project = projects.get_project(session, whole(request, "project"))
    invited = [projects.invite(session, name, project_id=project.id) for name in names]
    listed = [{"id": one.id, "name": one.name, "path": f"/i/{token}"} for one, token in invited]
    return JSONResponse({"invited": listed})


def revoke(request: Request, session: Session, _form: dict[str, str]) -> Response:
    """Take an invitation back."""
    found = projects.revoke(session, whole(request, "invitation"))
    project, experiment = found.project_id, found.experiment_id
    target = f"/projects/{project}/people" if project else f"/experiments/{experiment}"
    return RedirectResponse(target, 303)


def renew(request: Request, session: Session, _given: Any) -> Response:
    """Give the same person a new link; the old one, and browsers that have used it, lose access."""
    found, token = projects.renew(session, whole(request, "invitation"))
    return JSONResponse({"invited": [{"id": found.id, "name": found.name, "path": f"/i/{token}"}]})


def label(request: Request, session: Session, form: dict[str, str]) -> Response:
    """Let the owner label."""
    mine = projects.owner_invitation(session, whole(request, "project"))
    image = form.get("image", "")
    target = f"label/{int(image)}" if image.isdecimal() and len(image) < 10 else ""
    return RedirectResponse(f"/g/{mine.id}/{target}", 303)


def export(request: Request, session: Session) -> Response:
    """Send the whole project as one file."""
    project = projects.get_project(session, whole(request, "project"))
    return send_zip(lambda path: project_zip(session, project.id, path), project.name)


def image_page(request: Request, session: Session) -> Response:
    """Show the labels of an image: who agrees with whom, and how strong they are."""
    from edgecritic.annotators import strength

    image = projects.get_image(session, whole(request, "image"), whole(request, "project"))
    labels = labelling.labels_of(session, image.id)
    maps = [label.map for label in labels]
    found = strength(maps) if len(maps) >= 2 else None
    work = session.execute(
        select(Annotation, Invitation.name)
        .join(Invitation, Invitation.id == Annotation.invitation_id)
        .where(Annotation.image_id == image.id, projects.is_begun(), Invitation.is_consensus.is_(False))
        .order_by(Annotation.id)
    ).all()
    return page(
        request,
        "image.html",
        project=projects.get_project(session, image.project_id),
        image=image,
        has_tiles=projects.has_tiles(session, image.id),
        layers=_shown_layers(f"/projects/{image.project_id}/images/{image.id}", labels),
        work=work,
        open_comments=reviews.open_comments(session, [annotation.id for annotation, _ in work]),
        imported=projects.imported_maps(session, image.id),
        agreed=labelling.consensus_of(session, image.id),
        labels=labels,
        agreement=None if found is None else found.agreement.tolist(),
        pixels=[int(one.sum()) for one in maps],
        orphans=None if found is None else [int(one.sum()) for one in found.orphans()],
        consensus=None if found is None else [int(one.sum()) for one in found.consensus()],
    )


def strength_picture(request: Request, session: Session) -> Response:
    """Draw all labels, the more annotators agree the darker."""
    from edgecritic.annotators import strength

    image = projects.get_image(session, whole(request, "image"), whole(request, "project"))
    maps = [label.map for label in labelling.labels_of(session, image.id)]
    if not maps:
        raise NotFound("nobody has labelled this image yet")
    values = strength(maps).strengths if len(maps) >= 2 else [maps[0].astype(float)]
    return Response(encode_png(255 - np.rint(255 * np.max(values, axis=0))), media_type="image/png")


def image_file(request: Request, session: Session) -> Response:
    """Send a file of an image."""
    image = projects.get_image(session, whole(request, "image"), whole(request, "project"))
    return send_file(session, image.id, request.path_params["kind"])


def layer(request: Request, session: Session) -> Response:
    """Send a label map, or the agreement of all, as the page draws it over the photo."""
    image = projects.get_image(session, whole(request, "image"), whole(request, "project"))
    labels, wanted = labelling.labels_of(session, image.id), request.path_params["kind"]
    if wanted == "agreement" and labels:
        return layers.send_layer(layers.agreement_layer([one.map for one in labels]))
    found = next((one for one in labels if one.key == wanted), None)
    if found is None:
        raise NotFound("there is no such map")
    return layers.send_layer(layers.layer_of(found.map.astype(np.uint8)))


def _shown_layers(base: str, labels: Sequence[labelling.Label]) -> list[dict[str, Any]]:
    """Return what the page lets switch on and off: the agreement, and the map of each person."""
    colours = [(one, layers.PEOPLE[place % len(layers.PEOPLE)]) for place, one in enumerate(labels)]
    people = [
        {
            "kind": "checkbox",
            "name": one.name,
            "path": f"{base}/layers/{one.key}",
            "colours": [colour, colour],
            "key": [colour],
            "shown": False,
        }
        for one, colour in colours
    ]
    agreement = {
        "kind": "checkbox",
        "name": "all, the darker the more agree",
        "path": f"{base}/layers/agreement",
        "colours": layers.AGREEMENT,
        "key": layers.AGREEMENT[1:4],
        "shown": True,
    }
    return [agreement, *people] if labels else []


def image_tile(request: Request, session: Session) -> Response:
    """Send a tile of a large image."""
    projects.get_image(session, whole(request, "image"), whole(request, "project"))
    return send_tile(request, session)


def reopen(request: Request, session: Session, _form: dict[str, str]) -> Response:
    """Let a person go on with a submitted map."""
    annotation = session.get(Annotation, whole(request, "annotation"))
    if annotation is None:
        raise NotFound("there is no such annotation")
    labelling.reopen(session, annotation)
    image = session.get_one(Image, annotation.image_id)
    return RedirectResponse(f"/projects/{image.project_id}/images/{image.id}", 303)
